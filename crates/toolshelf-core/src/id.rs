//! Who a tool is: validated ids, and the pair of group and tool that is the
//! identity of every tool.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};

/// The longest id that is accepted, in bytes.
pub const MAX_ID_BYTES: usize = 128;

fn check(what: &'static str, text: &str) -> Result<(), Error> {
    match fault(text, MAX_ID_BYTES) {
        None => Ok(()),
        Some(fault) => Err(Error::new(
            ErrorKind::InvalidDefinition,
            // A backtick is seen as an escape: bare, it would end a code span.
            format!("{what} {:?} is not valid: {fault}", bounded(text)).replace('`', "\\u{60}"),
        )),
    }
}

/// What the naming policy has against a text, if anything.
pub(crate) fn fault(text: &str, max_bytes: usize) -> Option<String> {
    // Nearly every name is of these, and histories hold many.
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b',' | b'`');
    if (1..=max_bytes).contains(&text.len()) && text.bytes().all(plain) {
        return None;
    }
    if text.is_empty() {
        Some("it is empty".to_owned())
    } else if text.len() > max_bytes {
        Some(format!(
            "it has {} bytes, more than {max_bytes}",
            text.len()
        ))
    } else if text.trim() != text {
        Some("it begins or ends with a blank".to_owned())
    } else {
        text.chars()
            .find(|c| c.is_control() || is_invisible(*c) || matches!(c, ',' | '`'))
            .map(|c| match c {
                '`' => "it holds a backtick".to_owned(),
                c => format!("it holds the character {c:?}"),
            })
    }
}

/// Characters that a reader does not see, or that change the direction of the
/// text around them; a name that holds one can pass for another.
pub(crate) fn is_invisible(c: char) -> bool {
    // U+FE00..=U+FE0F stay: they only choose between forms of the character before, and
    // emoji need them.
    matches!(c,
        '\u{00ad}' | '\u{034f}' | '\u{061c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

fn bounded(text: &str) -> &str {
    let mut end = text.len().min(MAX_ID_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal, $extra:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks and wraps a name.
            ///
            /// # Errors
            ///
            /// [`ErrorKind::InvalidDefinition`] when the text is empty, longer than
            /// [`MAX_ID_BYTES`], begins or ends with a blank, or holds a comma, a backtick,
            /// a control character or an invisible one.
            pub fn new(text: impl AsRef<str>) -> Result<Self, Error> {
                let text = text.as_ref();
                check($what, text)?;
                let extra: fn(&str) -> Option<&'static str> = $extra;
                if let Some(fault) = extra(text) {
                    return Err(Error::new(
                        ErrorKind::InvalidDefinition,
                        format!("{} {text:?} is not valid: {fault}", $what),
                    ));
                }
                Ok(Self(Arc::from(text)))
            }

            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&*self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                Self::new(text)
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;

            fn try_from(text: String) -> Result<Self, Error> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0.as_ref().to_owned()
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                &*self.0 == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                &*self.0 == *other
            }
        }
    };
}

id! {
    /// The id of a tool group, such as `mcp:github`. It may hold `/` inside, but
    /// neither begin nor end with it.
    ///
    /// ```
    /// use toolshelf_core::GroupId;
    /// assert_eq!(GroupId::new("mcp:github")?.as_str(), "mcp:github");
    /// assert!(GroupId::new("two\nlines").is_err());
    /// # Ok::<(), toolshelf_core::Error>(())
    /// ```
    GroupId, "group id", |text| (text.starts_with('/') || text.ends_with('/'))
        .then_some("it begins or ends with '/', which separates group and tool")
}

id! {
    /// The name of a tool as its group calls it, such as `create_issue`. It is
    /// unique within its group only.
    ToolName, "tool name", |_| None
}

/// The identity of a tool: its group and its name there.
///
/// Written `group/tool`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ToolKey {
    /// The group that the tool belongs to.
    pub group: GroupId,
    /// The name within the group.
    pub tool: ToolName,
}

impl ToolKey {
    /// Puts a key together.
    pub fn new(group: GroupId, tool: ToolName) -> Self {
        Self { group, tool }
    }
}

impl fmt::Display for ToolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.group, self.tool)
    }
}

impl fmt::Debug for ToolKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}

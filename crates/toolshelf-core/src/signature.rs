//! One line that says how a tool is called, for where a whole schema has no room.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::definition::ToolDefinition;
use crate::text::one_line;

/// The most arguments that are named.
const MAX_ARGUMENTS: usize = 24;

/// The longest name of an argument, in bytes.
const MAX_ARGUMENT_BYTES: usize = 64;

/// Name and arguments of a tool, required ones marked with `*`, in the order of the
/// schema: `create_issue(repo*, title*, body)`.
///
/// At most 24 arguments are named; `… +N more` stands for the others. Names are
/// neutralised (see [`one_line`]).
///
/// ```
/// use toolshelf_core::{JsonText, ToolDefinition, ToolName, signature};
/// let schema = r#"{"properties":{"repo":{},"body":{}},"required":["repo"]}"#;
/// let tool = ToolDefinition::new(ToolName::new("create_issue")?, "", JsonText::parse(schema)?)?;
/// assert_eq!(signature(&tool), "create_issue(repo*, body)");
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
pub fn signature(tool: &ToolDefinition) -> String {
    let root: Root<'_> = serde_json::from_str(tool.input_schema().as_str()).unwrap_or_default();
    let Keys(keys) = root
        .properties
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let required: BTreeSet<String> = root
        .required
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let mut line = one_line(tool.name().as_str(), crate::id::MAX_ID_BYTES);
    line.push('(');
    // Required arguments are named whatever happens, so they come first where not all
    // can be.
    let (mut shown, rest): (Vec<&String>, Vec<&String>) = if keys.len() > MAX_ARGUMENTS {
        keys.iter().partition(|key| required.contains(*key))
    } else {
        (keys.iter().collect(), Vec::new())
    };
    shown.extend(rest);
    for (at, key) in shown.iter().take(MAX_ARGUMENTS).enumerate() {
        if at > 0 {
            line.push_str(", ");
        }
        line.push_str(&one_line(key, MAX_ARGUMENT_BYTES));
        if required.contains(key.as_str()) {
            line.push('*');
        }
    }
    if shown.len() > MAX_ARGUMENTS {
        line.push_str(&format!(", … +{} more", shown.len() - MAX_ARGUMENTS));
    }
    line.push(')');
    line
}

#[derive(Default, Deserialize)]
struct Root<'a> {
    #[serde(borrow)]
    properties: Option<&'a RawValue>,
    #[serde(borrow)]
    required: Option<&'a RawValue>,
}

/// The keys of an object in their order.
#[derive(Default)]
struct Keys(Vec<String>);

impl<'de> Deserialize<'de> for Keys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct KeysVisitor;
        impl<'de> Visitor<'de> for KeysVisitor {
            type Value = Keys;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Keys, A::Error> {
                let mut keys = Vec::new();
                while let Some((key, _)) = map.next_entry::<String, IgnoredAny>()? {
                    keys.push(key);
                }
                Ok(Keys(keys))
            }
        }
        deserializer.deserialize_map(KeysVisitor)
    }
}

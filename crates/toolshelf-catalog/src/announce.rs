//! `announce/1`: what became of groups and tools, as a text for the end of a history.
//!
//! It says what is so and asks for nothing, so that a model does not take it for an
//! instruction, and it is no discovery: it never lists tools in the form of a search
//! result. What stands in it came from servers, neutralised.

use toolshelf_core::text::one_line;
use toolshelf_core::{GroupId, Groups, News, ToolKey};

/// Name and version.
pub const ANNOUNCE_FORMAT: &str = "announce/1";

/// The most bytes of an announcement.
pub const MAX_ANNOUNCEMENT_BYTES: usize = 2_000;

/// What is kept free, so that each list has its heading and its count of what is left out.
const HEADINGS_BYTES: usize = 4 * 72;

/// The longest reason, in bytes.
const MAX_REASON_BYTES: usize = 160;

/// The longest title or description, in bytes.
const MAX_ABOUT_BYTES: usize = 100;

/// News as a text; nothing when there is none.
///
/// ```
/// use toolshelf_catalog::announcement;
/// use toolshelf_core::{GroupId, Groups, News};
/// let gone = News::Unavailable { group: GroupId::new("jira")?, reason: "It ended.".into() };
/// assert_eq!(
///     announcement(&[gone], &Groups::new()).as_deref(),
///     Some("Tools that are not available at present:\n- `jira`: It ended.")
/// );
/// assert_eq!(announcement(&[], &Groups::new()), None);
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
pub fn announcement(news: &[News], groups: &Groups) -> Option<String> {
    let mut parts = Parts::default();
    for item in news {
        parts.add(item, groups);
    }
    parts.text()
}

#[derive(Default)]
struct Parts {
    available: Vec<String>,
    unavailable: Vec<String>,
    gone: Vec<String>,
    inline: Vec<String>,
}

impl Parts {
    fn add(&mut self, news: &News, groups: &Groups) {
        match news {
            News::Available(group) => self.available.push(available(group, groups)),
            News::Unavailable { group, reason } => {
                let reason = one_line(reason, MAX_REASON_BYTES);
                self.unavailable.push(format!("`{group}`: {reason}"));
            }
            News::Gone(key) => self.gone.push(quoted(key)),
            News::Inline { reason } => self.inline.push(one_line(reason, MAX_REASON_BYTES)),
            _ => {}
        }
    }

    fn text(self) -> Option<String> {
        let lists = [
            ("Tools that a search can find now:", self.available),
            ("Tools that are not available at present:", self.unavailable),
            ("Tools that do not exist any more:", self.gone),
            ("All tools are in the list now:", self.inline),
        ];
        let lists: Vec<_> = lists
            .into_iter()
            .filter(|(_, items)| !items.is_empty())
            .collect();
        let mut text = String::new();
        let mut left = MAX_ANNOUNCEMENT_BYTES - HEADINGS_BYTES;
        for (at, (heading, items)) in lists.iter().enumerate() {
            // One long list does not take the room of the others.
            let begin = text.len();
            list(&mut text, heading, items, left / (lists.len() - at));
            left = left.saturating_sub(text.len() - begin);
        }
        (!text.is_empty()).then_some(text)
    }
}

/// Adds a list of so many bytes; items without room are counted.
fn list(text: &mut String, heading: &str, items: &[String], room: usize) {
    /// What the count of the others needs, and the line end before the next heading.
    const RESERVE: usize = 24;
    let begin = text.len();
    if begin > 0 {
        text.push('\n');
    }
    text.push_str(heading);
    let mut left = items.len();
    for item in items {
        if text.len() - begin + item.len() + 3 + RESERVE > room {
            break;
        }
        text.push_str("\n- ");
        text.push_str(item);
        left -= 1;
    }
    if left > 0 {
        text.push_str(&format!("\n- … +{left} more"));
    }
}

fn quoted(key: &ToolKey) -> String {
    format!("`{key}`")
}

/// A group as one line: what it is called, and what it is for.
fn available(id: &GroupId, groups: &Groups) -> String {
    let Some(entry) = groups.get(id.as_str()) else {
        return format!("`{id}`");
    };
    let server = entry.last.as_ref();
    let title = entry.group.title.as_deref();
    let title = title.or_else(|| server.and_then(|it| it.server.title.as_deref()));
    let about = entry.group.description.as_deref();
    let about = about.or_else(|| server.and_then(|it| it.summary.as_deref()));
    let about: Vec<String> = title
        .into_iter()
        .chain(about)
        .map(|text| one_line(text, MAX_ABOUT_BYTES))
        .filter(|text| !text.is_empty())
        .collect();
    let mut line = format!("`{id}`");
    if !about.is_empty() {
        line.push_str(" — ");
        line.push_str(&about.join(": "));
    }
    line
}

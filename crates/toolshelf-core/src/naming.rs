//! Names of tools on the wire: legal for the strictest provider, short enough for a
//! host's own prefix, and stable when servers come and go.

use crate::id::{GroupId, ToolName};
use crate::json::Digest;

/// The longest wire name, in bytes. Providers allow 64; hosts put prefixes such as
/// `mcp__toolshelf__` before it.
pub const MAX_WIRE_NAME_BYTES: usize = 48;

/// Hexadecimal digits of the suffix that an altered name gets: 48 bits.
const SUFFIX_DIGITS: usize = 12;

/// The name of a tool in a request's tools array: `group__tool`.
///
/// A pure function of group and tool. The result matches `^[a-zA-Z0-9_-]{1,48}$`. Where
/// characters had to be replaced, the name had to be shortened, or the plain form could
/// be read as another pair, a suffix of twelve hexadecimal digits of a digest over both
/// names makes it unique, so that no two tools share a name (but for a collision of 48
/// bits).
///
/// ```
/// use toolshelf_core::{GroupId, ToolName, wire_name};
/// let name = |group, tool| -> Result<String, toolshelf_core::Error> {
///     Ok(wire_name(&GroupId::new(group)?, &ToolName::new(tool)?))
/// };
/// assert_eq!(name("github", "create_issue")?, "github__create_issue");
/// assert_ne!(name("acme_", "status")?, name("acme", "_status")?);
/// assert!(name("mcp:github", "create_issue")?.starts_with("mcp_github__create_issue-"));
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
pub fn wire_name(group: &GroupId, tool: &ToolName) -> String {
    let (group_part, group_altered) = legal(group.as_str());
    let (tool_part, tool_altered) = legal(tool.as_str());
    let plain = format!("{group_part}__{tool_part}");
    // In the plain form the first `__` separates, so the group must not hold one, nor
    // may either side touch it with a further `_`. A plain name must not look like one
    // with a suffix either.
    let unambiguous = !group_part.contains("__")
        && !group_part.ends_with('_')
        && !tool_part.starts_with('_')
        && !ends_like_suffix(&plain);
    if !group_altered && !tool_altered && unambiguous && plain.len() <= MAX_WIRE_NAME_BYTES {
        return plain;
    }
    let suffix = Digest::of_parts([group.as_str(), tool.as_str()]).short(SUFFIX_DIGITS);
    let room = MAX_WIRE_NAME_BYTES - SUFFIX_DIGITS - 1;
    // The tool says more than the group; the group keeps a third at most.
    let group_room = if plain.len() <= room {
        group_part.len()
    } else {
        (room - 2)
            .saturating_sub(tool_part.len())
            .max((room - 2) / 3)
    };
    let group_end = group_part.len().min(group_room);
    let mut name = format!("{}__{tool_part}", &group_part[..group_end]);
    name.truncate(room);
    format!("{name}-{suffix}")
}

/// Whether a name can stand on the wire as it is: it matches `^[a-zA-Z0-9_-]{1,64}$`,
/// the rule of the strictest provider.
pub fn is_legal(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(is_legal_char)
}

fn is_legal_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

fn legal(name: &str) -> (String, bool) {
    let mut altered = false;
    let legal = name
        .chars()
        .map(|c| {
            if is_legal_char(c) {
                c
            } else {
                altered = true;
                '_'
            }
        })
        .collect();
    (legal, altered)
}

fn ends_like_suffix(name: &str) -> bool {
    let Some((_, tail)) = name.rsplit_once('-') else {
        return false;
    };
    tail.len() == SUFFIX_DIGITS && tail.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

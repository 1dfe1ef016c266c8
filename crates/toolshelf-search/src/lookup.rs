//! Which tools a text names.

use toolshelf_core::{MAX_ID_BYTES, MAX_WIRE_NAME_BYTES, ToolKey, wire_name};

use crate::store::Store;
use crate::words::{fold, starts_word};

/// How surely a text names a tool, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Named {
    /// Letter by letter: its name, `group/name`, or its name in a request.
    Verbatim,
    /// But for case and separators; the group may stand before the name.
    Normalised,
    /// No other tool's name ends so.
    Suffix,
}

/// Texts with more places for a name to begin are sentences.
const MOST_BEGINNINGS: usize = 16;

/// The tools that a text names: those that it names as it stands, then those that it
/// names but for the writing, each in the order of their keys; if there is none, the only
/// one whose name ends with it.
pub(crate) fn lookup(
    text: &str,
    store: &Store,
    eligible: impl Fn(u32) -> bool,
) -> Vec<(u32, Named)> {
    let text = text.trim();
    let is_sentence = text.split_whitespace().nth(MOST_BEGINNINGS).is_some();
    if is_sentence || text.len() > 3 * MAX_ID_BYTES {
        return Vec::new();
    }
    let folded = fold(text);
    if folded.is_empty() {
        return Vec::new();
    }
    let mut named: Vec<(u32, Named)> = store
        .names
        .equal(&folded)
        .chain(qualified(text, &folded, store))
        .chain(on_the_wire(text, store))
        .filter(|slot| eligible(*slot))
        .map(|slot| (slot, exactness(text, &store.entry(slot).tool.key)))
        .collect();
    let key = |slot: u32| &store.entry(slot).tool.key;
    named.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| key(a.0).cmp(key(b.0))));
    named.dedup();
    if named.is_empty() {
        named.extend(only_ending(&folded, store, eligible).map(|slot| (slot, Named::Suffix)));
    }
    named
}

fn exactness(text: &str, key: &ToolKey) -> Named {
    let is_qualified = || {
        text.strip_prefix(key.group.as_str())
            .and_then(|rest| rest.strip_prefix('/'))
            .is_some_and(|rest| rest == key.tool.as_str())
    };
    if key.tool == *text || is_qualified() || wire_name(&key.group, &key.tool) == text {
        Named::Verbatim
    } else {
        Named::Normalised
    }
}

/// Tools that the text names with their group before the name.
fn qualified(text: &str, folded: &str, store: &Store) -> Vec<u32> {
    let beginnings: Vec<usize> = folded
        .char_indices()
        .map(|(at, _)| at)
        .skip(1)
        .filter(|at| starts_word(text, *at))
        .take(MOST_BEGINNINGS + 1)
        .collect();
    if beginnings.len() > MOST_BEGINNINGS {
        return Vec::new();
    }
    let is_one_word = !text.contains(char::is_whitespace);
    let mut found = Vec::new();
    for at in beginnings {
        let (before, name) = folded.split_at(at);
        found.extend(store.names.equal(name).filter(|slot| {
            let group = fold(store.entry(*slot).tool.key.group.as_str());
            // `mcp__github__…` for the group `github`, `github__…` for `mcp:github`.
            before == group
                || before.strip_prefix("mcp") == Some(&group)
                || group.strip_prefix("mcp") == Some(before)
                || (is_one_word && group.len() > 2 && before.ends_with(&group))
        }));
    }
    found
}

/// The tool whose name in a request this is, where that name was shortened or altered and
/// ends in a digest.
fn on_the_wire(text: &str, store: &Store) -> Option<u32> {
    let (start, digest) = text.rsplit_once('-')?;
    let looks_so = text.len() <= MAX_WIRE_NAME_BYTES
        && digest.len() == 12
        && digest.bytes().all(|b| b.is_ascii_hexdigit());
    if !looks_so {
        return None;
    }
    let first = start.chars().next()?;
    (0..).zip(&store.entries).find_map(|(slot, entry)| {
        let key = &entry.tool.key;
        // A character that is not legal there has become `_`.
        let may = first == '_' || key.group.as_str().starts_with(first);
        (may && entry.live && wire_name(&key.group, &key.tool) == text).then_some(slot)
    })
}

fn only_ending(folded: &str, store: &Store, eligible: impl Fn(u32) -> bool) -> Option<u32> {
    let mut ending = store.names.ending(folded).filter(|slot| {
        let name = store.entry(*slot).tool.key.tool.as_str();
        let length = fold(name).len();
        eligible(*slot) && starts_word(name, length - folded.len())
    });
    ending.next().filter(|_| ending.next().is_none())
}

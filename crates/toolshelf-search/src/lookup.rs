//! Which tools a text names.

use toolshelf_core::{MAX_ID_BYTES, MAX_WIRE_NAME_BYTES, ToolKey, wire_name};

use crate::store::Store;
use crate::words::{fold, word_starts};

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

/// Texts of several words with more places for a name to begin are sentences.
const MOST_BEGINNINGS: usize = 16;

/// The longest text that is looked up, in bytes: a group, a name and what joins them.
pub(crate) const MAX_NAME_BYTES: usize = 3 * MAX_ID_BYTES;

/// The tools that a text names: those that it names as it stands, then those that it
/// names but for the writing, each in the order of their keys; if there is none, the only
/// one whose name ends with it.
pub(crate) fn lookup(
    text: &str,
    store: &Store,
    eligible: impl Fn(u32) -> bool,
) -> Vec<(u32, Named)> {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_NAME_BYTES {
        return Vec::new();
    }
    let folded = fold(text);
    let mut named = whole(text, &folded, store, &eligible);
    if named.is_empty() && !folded.is_empty() {
        named.extend(only_ending(&folded, store, eligible).map(|slot| (slot, Named::Suffix)));
    }
    named
}

/// Whether a tool's name, with or without its group, is the text as it stands.
pub(crate) fn is_name(text: &str, store: &Store, eligible: impl Fn(u32) -> bool) -> bool {
    let text = text.trim();
    if text.is_empty() || text.len() > MAX_NAME_BYTES {
        return false;
    }
    let named = whole(text, &fold(text), store, eligible);
    named
        .first()
        .is_some_and(|(_, named)| *named == Named::Verbatim)
}

/// The tools whose whole name the text is, the surest first.
fn whole(
    text: &str,
    folded: &str,
    store: &Store,
    eligible: impl Fn(u32) -> bool,
) -> Vec<(u32, Named)> {
    let mut slots = parted(text, store);
    if folded.is_empty() {
        // Of a text of signs alone nothing is left to compare but the text itself.
        let equal = store.names.equal("");
        slots.extend(equal.filter(|slot| store.entry(*slot).tool.key.tool == *text));
    } else {
        slots.extend(store.names.equal(folded));
        slots.extend(qualified(text, folded, store));
        slots.extend(on_the_wire(text, store));
    }
    let mut named: Vec<(u32, Named)> = slots
        .into_iter()
        .filter(|slot| eligible(*slot))
        .map(|slot| (slot, exactness(text, &store.entry(slot).tool.key)))
        .collect();
    let key = |slot: u32| &store.entry(slot).tool.key;
    named.sort_by(|a, b| a.1.cmp(&b.1).then_with(|| key(a.0).cmp(key(b.0))));
    named.dedup();
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

/// Tools whose group and name are the text, divided at one of its slashes.
fn parted(text: &str, store: &Store) -> Vec<u32> {
    let divisions = text
        .match_indices('/')
        .map(|(at, _)| (&text[..at], &text[at + 1..]));
    divisions
        .flat_map(|(group, name)| {
            let equal = store.names.equal(&fold(name));
            equal.filter(move |slot| {
                let key = &store.entry(*slot).tool.key;
                key.group == *group && key.tool == *name
            })
        })
        .collect()
}

/// Tools that the text names with their group before the name.
fn qualified(text: &str, folded: &str, store: &Store) -> Vec<u32> {
    let ending = store.names.at_the_end_of(folded);
    if ending.is_empty() {
        return Vec::new();
    }
    let is_one_word = !text.contains(char::is_whitespace);
    let beginnings = word_starts(text);
    if !is_one_word && beginnings.len() > MOST_BEGINNINGS {
        return Vec::new();
    }
    let stands_behind = |(length, slot): &(usize, u32)| {
        let at = folded.len() - length;
        if at == 0 || !beginnings.contains(&at) {
            return false;
        }
        let before = &folded[..at];
        let group = fold(store.entry(*slot).tool.key.group.as_str());
        // `mcp__github__…` for the group `github`, `github__…` for `mcp:github`.
        before == group
            || before.strip_prefix("mcp") == Some(&group)
            || group.strip_prefix("mcp") == Some(before)
            || (is_one_word && group.len() > 2 && before.ends_with(&group))
    };
    let behind = ending.into_iter().filter(stands_behind);
    behind.map(|(_, slot)| slot).collect()
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
        (may && store.is_live(slot) && wire_name(&key.group, &key.tool) == text).then_some(slot)
    })
}

fn only_ending(folded: &str, store: &Store, eligible: impl Fn(u32) -> bool) -> Option<u32> {
    let mut ending = store.names.ending(folded).filter(|slot| {
        let name = store.entry(*slot).tool.key.tool.as_str();
        let start = fold(name).len() - folded.len();
        eligible(*slot) && word_starts(name).contains(&start)
    });
    ending.next().filter(|_| ending.next().is_none())
}

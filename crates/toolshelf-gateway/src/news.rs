//! News of servers, said once to each client, in an answer of the gateway's own tools:
//! the format `news/1`.
//!
//! The list of tools and its catalog stay as they were, since every byte of them is in a
//! prompt cache; what has changed meanwhile goes to the end of the history.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use toolshelf_core::text::one_line;
use toolshelf_core::{Digest, GroupId};

/// How many changes are kept for clients that have not heard of them.
const MAX_KEPT: usize = 256;

/// How many names a sentence holds.
const MAX_NAMES: usize = 8;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// How the list of a server changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The server.
    pub group: GroupId,
    /// Tools that are new.
    pub added: Vec<String>,
    /// Tools that are gone.
    pub removed: Vec<String>,
    /// Tools whose definition is another one.
    pub changed: Vec<String>,
}

impl Change {
    /// What is different between two lists.
    pub fn between(
        group: GroupId,
        before: &BTreeMap<String, Digest>,
        after: &BTreeMap<String, Digest>,
    ) -> Self {
        let names = |of: &BTreeMap<String, Digest>, keep: &dyn Fn(&str, &Digest) -> bool| {
            of.iter()
                .filter(|(name, digest)| keep(name, digest))
                .map(|(name, _)| name.clone())
                .collect()
        };
        Self {
            group,
            added: names(after, &|name, _| !before.contains_key(name)),
            removed: names(before, &|name, _| !after.contains_key(name)),
            changed: names(after, &|name, digest| {
                before.get(name).is_some_and(|old| old != digest)
            }),
        }
    }

    /// Whether nothing is different.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// One line for the model.
    pub fn text(&self) -> String {
        let mut parts = Vec::new();
        for (names, what) in [
            (&self.added, "new"),
            (&self.removed, "gone"),
            (&self.changed, "changed, load again before the next call"),
        ] {
            if !names.is_empty() {
                parts.push(format!("{what}: {}", list(names)));
            }
        }
        format!("Tools of group `{}`: {}.", self.group, parts.join("; "))
    }
}

fn list(names: &[String]) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(MAX_NAMES)
        .map(|name| format!("`{}`", one_line(name, MAX_NAME_BYTES)))
        .collect();
    if names.len() > MAX_NAMES {
        shown.push(format!("… +{} more", names.len() - MAX_NAMES));
    }
    shown.join(", ")
}

/// Keeps changes until every client has heard of them.
#[derive(Default)]
pub(crate) struct NewsDesk(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    changes: VecDeque<Arc<Change>>,
    /// The number of the first that is kept.
    first: usize,
}

impl NewsDesk {
    pub(crate) fn publish(&self, change: Change) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.changes.push_back(Arc::new(change));
        if kept.changes.len() > MAX_KEPT {
            kept.changes.pop_front();
            kept.first += 1;
        }
    }

    /// The number that the next change will have.
    pub(crate) fn next(&self) -> usize {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.first + kept.changes.len()
    }

    /// The changes from a number on, and the number after them.
    pub(crate) fn since(&self, number: usize) -> (Vec<Arc<Change>>, usize) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let skipped = number.saturating_sub(kept.first);
        let changes = kept.changes.iter().skip(skipped).cloned().collect();
        (changes, kept.first + kept.changes.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(tools: &[(&str, &str)]) -> BTreeMap<String, Digest> {
        tools
            .iter()
            .map(|(name, text)| ((*name).to_owned(), Digest::of_parts([*text])))
            .collect()
    }

    #[test]
    fn a_change_is_said_in_one_line_byte_for_byte() {
        let group = GroupId::new("shop").unwrap();
        let before = digests(&[("buy", "1"), ("sell", "1"), ("ship", "1")]);
        let after = digests(&[
            ("buy", "1"),
            ("ship", "2"),
            ("a`b\nc", "1"),
            ("return", "1"),
        ]);
        let change = Change::between(group, &before, &after);
        assert_eq!(change.text(), include_str!("../tests/golden/news-1.golden"));
    }

    #[test]
    fn every_client_hears_of_a_change_once() {
        let desk = NewsDesk::default();
        let group = GroupId::new("shop").unwrap();
        let change = Change::between(group, &digests(&[]), &digests(&[("buy", "1")]));
        let late = {
            let early = desk.next();
            desk.publish(change.clone());
            let (heard, next) = desk.since(early);
            assert_eq!(heard.len(), 1);
            assert!(desk.since(next).0.is_empty());
            next
        };
        for _ in 0..2 * MAX_KEPT {
            desk.publish(change.clone());
        }
        assert_eq!(
            desk.since(late).0.len(),
            MAX_KEPT,
            "what is kept is bounded"
        );
        assert_eq!(desk.since(desk.next()).0.len(), 0);
    }
}

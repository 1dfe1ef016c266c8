//! Names: which tools have one, and which alone ends with it.

use std::collections::BTreeSet;
use std::ops::Bound;

use crate::words::fold;

/// The folded names of all tools, last character first, so that those with one ending
/// stand together.
#[derive(Default)]
pub(crate) struct Names(BTreeSet<(Box<str>, u32)>);

fn key(folded: &str) -> Box<str> {
    folded.chars().rev().collect::<String>().into_boxed_str()
}

/// With what both texts begin.
fn shared<'a>(a: &str, b: &'a str) -> &'a str {
    let pairs = a.chars().zip(b.chars());
    let same = pairs.take_while(|(a, b)| a == b);
    &b[..same.map(|(c, _)| c.len_utf8()).sum()]
}

impl Names {
    pub(crate) fn insert(&mut self, name: &str, slot: u32) {
        self.0.insert((key(&fold(name)), slot));
    }

    pub(crate) fn remove(&mut self, name: &str, slot: u32) {
        self.0.remove(&(key(&fold(name)), slot));
    }

    /// The places whose folded name is this one.
    pub(crate) fn equal(&self, folded: &str) -> impl Iterator<Item = u32> + use<'_> {
        let key = key(folded);
        self.0
            .range((key.clone(), 0)..=(key, u32::MAX))
            .map(|(_, slot)| *slot)
    }

    /// The places whose folded name stands at the end of a folded text, with the length of
    /// the name in bytes. The longest come first.
    pub(crate) fn at_the_end_of(&self, folded: &str) -> Vec<(usize, u32)> {
        let text = key(folded);
        let mut found = Vec::new();
        let mut rest: &str = &text;
        // The last name that is not behind the text in the order shares more of its beginning
        // than any name before, so what it does not share is of no name.
        while !rest.is_empty()
            && let Some((name, _)) = self.0.range(..=(Box::from(rest), u32::MAX)).next_back()
        {
            let shared = shared(name, rest);
            if shared.len() < name.len() {
                rest = shared;
                continue;
            }
            let slots = self.0.range((name.clone(), 0)..=(name.clone(), u32::MAX));
            found.extend(slots.map(|(name, slot)| (name.len(), *slot)));
            let mut shorter = shared.chars();
            shorter.next_back();
            rest = shorter.as_str();
        }
        found
    }

    /// The places whose folded name ends with this one and is longer.
    pub(crate) fn ending(&self, folded: &str) -> impl Iterator<Item = u32> {
        let key = key(folded);
        let after = (key.clone(), u32::MAX);
        self.0
            .range((Bound::Excluded(after), Bound::Unbounded))
            .take_while(move |(name, _)| name.starts_with(&*key))
            .map(|(_, slot)| *slot)
    }
}

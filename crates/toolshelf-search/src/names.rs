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

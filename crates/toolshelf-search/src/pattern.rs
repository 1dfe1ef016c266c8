//! Search by a pattern.

use std::cmp::Ordering;

use regex::Regex;

use crate::rank::{Scored, best_of, in_order};
use crate::store::{Entry, Store};

/// How much of one text a pattern is tried on, in bytes.
const MAX_TEXT_BYTES: usize = 8_192;

/// The tools that a pattern fits: by their names first, then titles, then descriptions. What
/// is said of a group is not said of each of its tools.
pub(crate) fn fitting(
    regex: &Regex,
    store: &Store,
    limit: usize,
    eligible: impl Fn(u32) -> bool,
) -> Vec<Scored> {
    let found: Vec<Scored> = (0..)
        .zip(&store.entries)
        .filter(|(slot, _)| store.is_live(*slot) && eligible(*slot))
        .filter_map(|(slot, entry)| {
            let score = score(regex, entry)?;
            Some(Scored { slot, score })
        })
        .collect();
    let order = |a: &Scored, b: &Scored| -> Ordering { in_order(store, a, b) };
    best_of(found, limit, order)
}

fn score(regex: &Regex, entry: &Entry) -> Option<f32> {
    let (key, definition) = (&entry.tool.key, &entry.tool.definition);
    // A tool that says nothing of itself is not one that fits `^$`.
    let fits = |text: &str| !text.is_empty() && regex.is_match(head(text));
    if fits(key.tool.as_str()) || fits(&key.to_string()) {
        Some(1.0)
    } else if definition.title().is_some_and(fits) {
        Some(0.75)
    } else if definition.description().is_some_and(fits) {
        Some(0.5)
    } else {
        None
    }
}

fn head(text: &str) -> &str {
    let mut end = text.len().min(MAX_TEXT_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

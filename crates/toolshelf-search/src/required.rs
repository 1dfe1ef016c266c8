//! Words that a tool must have: they filter, and score nothing.

use crate::common::is_stop;
use crate::store::Store;
use crate::words::{Role, each_word};

/// How many words can be required.
const MOST: usize = 16;

/// The places of the tools that have all required words, sorted. A word is looked for in
/// names and groups; where no tool has it there, in all texts. Words that are in every
/// text require nothing; `None` when there are no others.
pub(crate) fn having(
    required: &[&str],
    store: &Store,
    eligible: impl Fn(u32) -> bool,
) -> Option<Vec<u32>> {
    let mut words: Vec<String> = Vec::new();
    for text in required {
        let mut whole_is_known = false;
        each_word(text, MOST, |word, role| {
            if role == Role::Whole {
                whole_is_known = store.vocabulary.term(word).is_some();
            }
            let counts = match role {
                Role::Whole => whole_is_known,
                Role::Part => !whole_is_known,
                Role::Plain => true,
            };
            if counts && !is_stop(word) {
                words.push(word.to_owned());
            }
        });
    }
    let mut having: Option<Vec<u32>> = None;
    for word in words.iter().take(MOST) {
        let with = with(word, store, &eligible);
        having = Some(match having {
            None => with,
            Some(before) => {
                let also = |slot: &u32| with.binary_search(slot).is_ok();
                before.into_iter().filter(also).collect()
            }
        });
    }
    having
}

/// The places of the tools that have a word in any inflection.
fn with(word: &str, store: &Store, eligible: impl Fn(u32) -> bool) -> Vec<u32> {
    let Some(stem) = store.vocabulary.stem(&store.stems.stem(word)) else {
        return Vec::new();
    };
    let slots = |named: bool| -> Vec<u32> {
        let mut slots: Vec<u32> = store.vocabulary.stems[stem as usize]
            .forms
            .iter()
            .flat_map(|form| &store.vocabulary.terms[*form as usize].postings)
            .filter(|posting| !named || posting.names())
            .map(|posting| posting.slot)
            .filter(|slot| store.is_live(*slot) && eligible(*slot))
            .collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    };
    let named = slots(true);
    if named.is_empty() {
        slots(false)
    } else {
        named
    }
}

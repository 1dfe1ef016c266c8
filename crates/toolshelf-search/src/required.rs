//! Words that a tool must have: they filter, and score nothing beside words that do.

use toolshelf_core::Error;

use crate::common::is_stop;
use crate::query::{MAX_REQUIRED, too_many_required};
use crate::rank::Scored;
use crate::store::{Entry, Store};
use crate::vocabulary::Place;
use crate::words::{Role, each_word};

/// A word that is required.
#[derive(PartialEq, Eq)]
struct Asked {
    word: String,
    /// Where it is a compound: its parts, which do as well.
    parts: Vec<String>,
}

/// The tools that have all required words, in the order of their places in the store. Each
/// has what the words count by where they stand: most in the name, then in the tool's own
/// texts, then in the id of its group.
///
/// # Errors
///
/// [`ErrorKind::InvalidArguments`](toolshelf_core::ErrorKind::InvalidArguments) when too many
/// words are required.
pub(crate) fn having(
    required: &[&str],
    store: &Store,
    eligible: impl Fn(u32) -> bool,
) -> Result<Vec<Scored>, Error> {
    let mut words: Vec<Asked> = Vec::new();
    for text in required {
        for word in asked(text) {
            if !words.contains(&word) {
                words.push(word);
            }
        }
        if words.len() > MAX_REQUIRED {
            return Err(too_many_required());
        }
    }
    // Words that are looked up leave few tools for those that are looked for.
    words.sort_by_key(|asked| is_stop(&asked.word));
    let share = 1.0 / words.len() as f32;
    let mut having: Option<Vec<Scored>> = None;
    for asked in &words {
        let mut with = match &having {
            Some(before) if is_stop(&asked.word) => read(&asked.word, store, slots(before)),
            None if is_stop(&asked.word) => read(&asked.word, store, store.slots()),
            _ => compound(asked, store),
        };
        with.retain(|hit| store.is_live(hit.slot) && eligible(hit.slot));
        having = Some(match having {
            None => shared(&with, &with, |of_word, _| share * of_word),
            Some(before) => shared(&before, &with, |sum, of_word| sum + share * of_word),
        });
    }
    Ok(having.unwrap_or_default())
}

/// The words of a text that is required. Of several, those that say nothing are left out.
fn asked(text: &str) -> Vec<Asked> {
    let mut words: Vec<Asked> = Vec::new();
    each_word(text, 2 * MAX_REQUIRED, |word, role| {
        match (role, words.last_mut()) {
            (Role::Part, Some(_)) if is_stop(word) => {}
            (Role::Part, Some(whole)) => whole.parts.push(word.to_owned()),
            _ => words.push(Asked {
                word: word.to_owned(),
                parts: Vec::new(),
            }),
        }
    });
    if words.iter().any(|asked| !is_stop(&asked.word)) {
        words.retain(|asked| !is_stop(&asked.word));
    }
    words
}

/// The tools that have a word, or all its parts.
fn compound(asked: &Asked, store: &Store) -> Vec<Scored> {
    let mut whole = with(&asked.word, store);
    let mut parts = asked.parts.iter().map(|part| with(part, store));
    if let Some(first) = parts.next() {
        let all = parts.fold(first, |all, part| shared(&all, &part, f32::min));
        whole.extend(all);
        most_of_each(&mut whole);
    }
    whole
}

/// The tools that have a word in any inflection.
fn with(word: &str, store: &Store) -> Vec<Scored> {
    let Some(stem) = store.vocabulary.stem(&store.stems.stem(word)) else {
        return Vec::new();
    };
    let forms = store.vocabulary.stems[stem as usize].forms.iter();
    let postings = forms.flat_map(|form| &store.vocabulary.terms[*form as usize].postings);
    let mut with: Vec<Scored> = postings
        .filter_map(|posting| scored(posting.slot, posting.place()))
        .collect();
    most_of_each(&mut with);
    with
}

/// Those of some tools that have a word which is not indexed.
fn read(word: &str, store: &Store, slots: impl Iterator<Item = u32>) -> Vec<Scored> {
    slots
        .filter_map(|slot| scored(slot, place(word, store.entry(slot))?))
        .collect()
}

fn slots(hits: &[Scored]) -> impl Iterator<Item = u32> {
    hits.iter().map(|hit| hit.slot)
}

/// Where a word stands in a tool's texts as they are written. Arguments are left out: to read
/// the schemas of all tools would take long, and such words do not tell there what is meant.
fn place(word: &str, entry: &Entry) -> Option<Place> {
    let (key, definition) = (&entry.tool.key, &entry.tool.definition);
    let has = |text: &str| {
        let mut has = false;
        each_word(text, usize::MAX, |other, _| has |= other == word);
        has
    };
    if has(key.tool.as_str()) {
        Some(Place::Name)
    } else if definition.title().is_some_and(has) || definition.description().is_some_and(has) {
        Some(Place::Text)
    } else {
        has(key.group.as_str()).then_some(Place::Group)
    }
}

fn scored(slot: u32, place: Place) -> Option<Scored> {
    let score = match place {
        Place::Name => 1.0,
        Place::Text => 0.75,
        Place::Group => 0.5,
        // What all tools of a group share is not what one of them has.
        Place::GroupText => return None,
    };
    Some(Scored { slot, score })
}

/// Each tool once, with the most that it has, in the order of places.
fn most_of_each(hits: &mut Vec<Scored>) {
    hits.sort_unstable_by(|a, b| a.slot.cmp(&b.slot).then(b.score.total_cmp(&a.score)));
    hits.dedup_by_key(|hit| hit.slot);
}

/// What is in both lists, with what it is there together.
fn shared(a: &[Scored], b: &[Scored], together: impl Fn(f32, f32) -> f32) -> Vec<Scored> {
    let in_both = a.iter().filter_map(|hit| {
        let at = b.binary_search_by_key(&hit.slot, |other| other.slot).ok()?;
        Some(Scored {
            slot: hit.slot,
            score: together(hit.score, b[at].score),
        })
    });
    in_both.collect()
}

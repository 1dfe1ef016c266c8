//! How the words of tools are written: which of them a misspelt one may stand for.
//!
//! To compare a misspelt word with all that are about as long would take longer than all
//! the rest of a search. But few edits leave something of a word as it is, so only those
//! words are compared that share one of three pairs of letters with it.

use std::collections::HashMap;

/// The letters of a word as a set, and how many characters it has.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Letters {
    set: u32,
    pub(crate) count: u32,
    pub(crate) first: u32,
}

impl Letters {
    pub(crate) fn of(word: &str) -> Self {
        let mut letters = Self {
            set: 0,
            count: 0,
            first: word.chars().next().map_or(0, u32::from),
        };
        for c in word.chars() {
            letters.set |= 1 << (c as u32 % 32);
            letters.count += 1;
        }
        letters
    }

    /// No fewer letters than these have to change, be added or vanish to make one word of
    /// the other, twice counted where one is changed into another.
    pub(crate) fn differences(self, other: Self) -> u32 {
        (self.set ^ other.set).count_ones()
    }

    /// Whether all letters are among the other's.
    pub(crate) fn within(self, other: Self) -> bool {
        self.set & !other.set == 0
    }
}

/// Where in a word a pair of letters stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Start,
    Middle,
    End,
}

/// A pair of letters, and how long the word is that holds it.
type Pair = (Place, u8, [u8; 2]);

/// Words of ASCII letters and digits by what a misspelling leaves as it is, and an
/// abbreviation too.
#[derive(Default)]
pub(crate) struct Spellings {
    letters: Vec<Letters>,
    by_pair: HashMap<Pair, Vec<u32>>,
    /// With their letters, since all are looked at in turn.
    by_first: HashMap<u32, Vec<(u32, Letters)>>,
}

impl Spellings {
    /// Takes the next word in; words come in the order of their numbers.
    pub(crate) fn insert(&mut self, word: &str, term: u32) {
        let letters = Letters::of(word);
        self.letters.push(letters);
        let bytes = word.as_bytes();
        if !bytes.iter().all(u8::is_ascii_alphanumeric) {
            return;
        }
        for pair in pairs(bytes) {
            self.by_pair.entry(pair).or_default().push(term);
        }
        let beginning = self.by_first.entry(letters.first).or_default();
        beginning.push((term, letters));
    }

    /// Words with their letters: among them all that so many edits (change, insertion,
    /// removal, swap of neighbours), one or two, make of a word. One edit is allowed from
    /// four letters on, two from nine.
    ///
    /// One edit leaves the first pair or the last one, but for a swap of the two letters in
    /// the middle of four. Two edits may leave neither; then one is at each end, and what is
    /// between has moved by one place at most.
    pub(crate) fn within_edits(&self, word: &str, edits: u32) -> Vec<(u32, Letters)> {
        let word = word.as_bytes();
        let (count, edits) = (word.len(), edits as usize);
        let mut found = Vec::new();
        let mut take = |place: Place, length: usize, pair: Option<&[u8]>| {
            let (Some(&[a, b]), Ok(length)) = (pair, u8::try_from(length)) else {
                return;
            };
            found.extend(
                self.by_pair
                    .get(&(place, length, [a, b]))
                    .into_iter()
                    .flatten(),
            );
        };
        for length in count.saturating_sub(edits)..=count + edits {
            take(Place::Start, length, word.get(..2));
            take(Place::End, length, word.get(count.saturating_sub(2)..));
            if edits > 1 {
                for at in MIDDLE - 1..=MIDDLE + 1 {
                    take(Place::Middle, length, word.get(at..at + 2));
                }
            }
        }
        if let [_, b, c, _] = word {
            take(Place::Middle, count, Some(&[*c, *b]));
        }
        found.sort_unstable();
        found.dedup();
        let letters = |term: u32| (term, self.letters[term as usize]);
        found.into_iter().map(letters).collect()
    }

    /// The words that begin with a character, with their letters.
    pub(crate) fn beginning(&self, first: u32) -> impl Iterator<Item = (u32, Letters)> {
        let beginning = self.by_first.get(&first);
        beginning.map_or(&[][..], Vec::as_slice).iter().copied()
    }
}

/// Where the pair in the middle begins: behind what an edit of the first pair can touch, and
/// before what one of the last pair can, in words of seven letters and more.
const MIDDLE: usize = 3;

/// The pairs by which a word is found.
fn pairs(word: &[u8]) -> impl Iterator<Item = Pair> {
    let pair = |place: Place, at: Option<usize>| {
        let pair = word.get(at?..at? + 2)?;
        Some((place, u8::try_from(word.len()).ok()?, [pair[0], pair[1]]))
    };
    let middle = match word.len() {
        4 => Some(1),
        7.. => Some(MIDDLE),
        _ => None,
    };
    let start = pair(Place::Start, Some(0));
    let end = pair(Place::End, word.len().checked_sub(2));
    [start, pair(Place::Middle, middle), end]
        .into_iter()
        .flatten()
}

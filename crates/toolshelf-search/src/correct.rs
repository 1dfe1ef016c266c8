//! Words that no tool has: what they abbreviate, or are a misspelling of.
//!
//! Only such words are corrected, so a query whose words are all known pays nothing.

use crate::edits::Edits;
use crate::spellings::Letters;
use crate::vocabulary::{Vocabulary, number};

/// How likely a word is meant, by its distance.
const LIKELY: [f32; 6] = [1.0, 1.0, 0.5, 0.5, 0.3, 0.2];

/// Words of so many letters are short.
const SHORT: u32 = 5;

/// An abbreviation leaves no fewer letters out.
const LEFT_OUT: u32 = 2;

/// How many words a correction stands for at most.
const MOST: usize = 6;

/// The words of tools that a word which no tool has may stand for, nearest first. Of
/// those that are equally near, the more frequent come first, then the order of the texts.
pub(crate) fn corrections(word: &str, vocabulary: &Vocabulary) -> Vec<(u32, f32)> {
    if !word.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Vec::new();
    }
    let wanted = Letters::of(word);
    let mut found = Vec::new();
    if let Some(most) = allowed_edits(wanted.count)
        && let Some(edits) = Edits::of(word)
    {
        let spellings = vocabulary.spellings.within_edits(word, most).into_iter();
        found = known(vocabulary, spellings, |letters, text| {
            misspells(word, &edits, wanted, letters, most, text)
        });
    }
    if found.is_empty() {
        let spellings = vocabulary.spellings.beginning(wanted.first);
        found = known(vocabulary, spellings, |letters, text| {
            shortens(word, wanted, letters, text)
        });
    }
    let Some(nearest) = found.iter().map(|(distance, _)| *distance).min() else {
        return Vec::new();
    };
    found.retain(|(distance, _)| *distance == nearest);
    found.sort_by(|(_, a), (_, b)| {
        let (a, b) = (
            &vocabulary.terms[*a as usize],
            &vocabulary.terms[*b as usize],
        );
        b.tools.cmp(&a.tools).then_with(|| a.text.cmp(&b.text))
    });
    found.truncate(MOST);
    let likely = LIKELY[nearest as usize % LIKELY.len()];
    found.into_iter().map(|(_, id)| (id, likely)).collect()
}

/// Those words that some tool has and that are near, with their distance. The text of a word
/// is fetched when its letters are not enough to tell.
fn known<'a>(
    vocabulary: &'a Vocabulary,
    spellings: impl Iterator<Item = (u32, Letters)>,
    near: impl Fn(Letters, &dyn Fn() -> &'a str) -> Option<u32>,
) -> Vec<(u32, u32)> {
    spellings
        .filter_map(|(number, letters)| {
            let term = || &vocabulary.terms[number as usize];
            let distance = near(letters, &|| &term().text)?;
            (term().tools > 0).then_some((distance, number))
        })
        .collect()
}

/// How far a known word is from a misspelling of it; `None` = too far. A wrong first
/// letter is rare.
fn misspells<'a>(
    word: &str,
    edits: &Edits,
    wanted: Letters,
    letters: Letters,
    most: u32,
    known: &dyn Fn() -> &'a str,
) -> Option<u32> {
    if wanted.differences(letters) > 2 * most {
        return None;
    }
    let (word, known) = (word.as_bytes(), known().as_bytes());
    let edits = edits.within(known, most as usize)?;
    // So many words of few letters are one letter apart that only two swapped ones are a
    // sign, and a letter written once instead of twice or the other way round.
    let is_swap = letters.count == wanted.count && wanted.differences(letters) == 0;
    let is_short = wanted.count.max(letters.count) <= SHORT;
    if is_short && !is_swap && !doubles(word, known) && !doubles(known, word) {
        return None;
    }
    Some(number(edits) + u32::from(wanted.first != letters.first))
}

/// How far a known word is from an abbreviation of it, or the other way round.
fn shortens<'a>(
    word: &str,
    wanted: Letters,
    letters: Letters,
    known: &dyn Fn() -> &'a str,
) -> Option<u32> {
    if wanted.count + LEFT_OUT <= letters.count {
        // A count such as the 8 of `k8s` is no letter of the word.
        let may = wanted.within(letters) || word.bytes().any(|b| b.is_ascii_digit());
        (may && abbreviates(word, known())).then_some(4)
    } else {
        let may = letters.count + LEFT_OUT <= wanted.count && letters.within(wanted);
        (may && abbreviates(known(), word)).then_some(5)
    }
}

/// Whether the longer word is the other one with one of its letters written twice.
fn doubles(longer: &[u8], word: &[u8]) -> bool {
    let differ = longer.iter().zip(word).take_while(|(a, b)| a == b).count();
    longer.len() == word.len() + 1
        && differ > 0
        && longer[differ] == longer[differ - 1]
        && longer[differ + 1..] == word[differ..]
}

fn allowed_edits(letters: u32) -> Option<u32> {
    match letters {
        0..4 => None,
        4..9 => Some(1),
        _ => Some(2),
    }
}

/// Whether one word is short for another: its beginning, its first and last letter
/// around a count of those between (`k8s`), or, without vowels, its letters in order.
fn abbreviates(short: &str, long: &str) -> bool {
    let (short, long) = (short.as_bytes(), long.as_bytes());
    if short.len() < 3
        || long.len() < short.len() + LEFT_OUT as usize
        || short[0] != long[0]
        || !long.is_ascii()
    {
        return false;
    }
    if long.starts_with(short) {
        return true;
    }
    if let [_, digits @ .., last] = short
        && digits.iter().all(u8::is_ascii_digit)
    {
        let between = digits.iter().fold(0usize, |sum, digit| {
            sum.saturating_mul(10)
                .saturating_add(usize::from(digit - b'0'))
        });
        return long.last() == Some(last) && between == long.len() - 2;
    }
    short.len() <= 5 && !short[1..].iter().any(|b| b"aeiou".contains(b)) && in_order(short, long)
}

fn in_order(short: &[u8], long: &[u8]) -> bool {
    let mut rest = long.iter();
    short.iter().all(|b| rest.any(|other| other == b))
}

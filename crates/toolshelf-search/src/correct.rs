//! Words that no tool has: what they abbreviate, or are a misspelling of.
//!
//! Only such words are corrected, so a query whose words are all known pays nothing.

use crate::vocabulary::{Letters, Vocabulary};

/// How many words a correction stands for at most.
const MOST: usize = 6;

/// The words of tools that a word which no tool has may stand for, nearest first. Of
/// those that are equally near, the more frequent come first, then the order of the texts.
pub(crate) fn corrections(word: &str, vocabulary: &Vocabulary) -> Vec<u32> {
    if !word.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return Vec::new();
    }
    let mut found: Vec<(u32, u32)> = vocabulary
        .terms
        .iter()
        .zip(0..)
        .filter(|(term, _)| term.tools > 0)
        .filter_map(|(term, id)| Some((distance(word, &term.text, term.letters)?, id)))
        .collect();
    let Some(nearest) = found.iter().map(|(distance, _)| *distance).min() else {
        return Vec::new();
    };
    found.retain(|(distance, _)| *distance == nearest);
    found.sort_by(|(_, a), (_, b)| {
        let (a, b) = (&vocabulary.terms[*a as usize], &vocabulary.terms[*b as usize]);
        b.tools.cmp(&a.tools).then_with(|| a.text.cmp(&b.text))
    });
    found.truncate(MOST);
    found.into_iter().map(|(_, id)| id).collect()
}

/// How far a known word is from a mistaken one; `None` = too far.
fn distance(word: &str, known: &str, letters: Letters) -> Option<u32> {
    let wanted = Letters::of(word);
    if let Some(edits) = allowed_edits(wanted.count)
        && wanted.count.abs_diff(letters.count) <= edits
        && wanted.differences(letters) <= 2 * edits
        && let Some(edits) = edits_within(word.as_bytes(), known.as_bytes(), edits as usize)
    {
        // A wrong first letter is rare.
        return Some(2 * edits as u32 + u32::from(word.as_bytes().first() != known.as_bytes().first()));
    }
    abbreviates(word, known).then_some(4).or_else(|| abbreviates(known, word).then_some(5))
}

fn allowed_edits(letters: u32) -> Option<u32> {
    match letters {
        0..4 => None,
        4..8 => Some(1),
        _ => Some(2),
    }
}

/// Whether one word is short for another: its beginning, its first and last letter
/// around a count of those between (`k8s`), or, without vowels, its letters in order.
fn abbreviates(short: &str, long: &str) -> bool {
    let (short, long) = (short.as_bytes(), long.as_bytes());
    if short.len() < 3 || long.len() < short.len() + 2 || short[0] != long[0] || !long.is_ascii() {
        return false;
    }
    if long.starts_with(short) {
        return true;
    }
    if let [_, digits @ .., last] = short
        && digits.iter().all(u8::is_ascii_digit)
    {
        let between = digits
            .iter()
            .fold(0usize, |sum, digit| sum.saturating_mul(10).saturating_add(usize::from(digit - b'0')));
        return long.last() == Some(last) && between == long.len() - 2;
    }
    short.len() <= 5
        && !short[1..].iter().any(|b| b"aeiou".contains(b))
        && in_order(short, long)
}

fn in_order(short: &[u8], long: &[u8]) -> bool {
    let mut rest = long.iter();
    short.iter().all(|b| rest.any(|other| other == b))
}

/// The number of edits (change, insertion, removal, swap of neighbours) between two
/// words, if there are at most so many.
fn edits_within(a: &[u8], b: &[u8], most: usize) -> Option<usize> {
    const LONGEST: usize = 160;
    if a.len().abs_diff(b.len()) > most || b.len() >= LONGEST {
        return None;
    }
    let (mut before, mut last, mut row) = ([0u8; LONGEST], [0u8; LONGEST], [0u8; LONGEST]);
    for (at, cell) in last.iter_mut().enumerate().take(b.len() + 1) {
        *cell = at as u8;
    }
    for i in 1..=a.len() {
        row[0] = u8::try_from(i).ok()?;
        let mut least = row[0];
        for j in 1..=b.len() {
            let change = last[j - 1] + u8::from(a[i - 1] != b[j - 1]);
            let mut edits = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                edits = edits.min(before[j - 2] + 1);
            }
            row[j] = edits;
            least = least.min(edits);
        }
        if usize::from(least) > most {
            return None;
        }
        (before, last, row) = (last, row, before);
    }
    let edits = usize::from(last[b.len()]);
    (edits <= most).then_some(edits)
}

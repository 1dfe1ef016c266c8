//! Which known names a mistaken one probably meant.

use std::collections::BTreeMap;

use strsim::{damerau_levenshtein, jaro_winkler};

/// How many candidates are compared letter by letter, so that an error costs little in
/// a large catalog. Those that share the most letters come first.
const CLOSE_LOOK: usize = 4_096;

/// How many words of a mistaken text are looked for in names, and the letters of the shortest.
const WORDS: usize = 16;
const WORD: usize = 4;

/// The known names nearest to a mistaken one, best first, at most `limit`.
///
/// Case and separators do not count. A name qualifies when it contains the mistaken
/// one or is contained in it, or when a third of its letters at most would have to
/// change. Where none does, and several words were written instead of a name, those qualify
/// that contain one of the longer words. Equal names come in the order of their code points, so
/// the answer is the same however the names were given.
///
/// ```
/// use toolshelf_core::nearest::nearest;
/// let known = ["create_issue", "list_issues", "read_file"];
/// assert_eq!(nearest("createIsue", known, 3), ["create_issue"]);
/// assert_eq!(nearest("open that file for me", known, 3), ["read_file"]);
/// ```
pub fn nearest<'a>(
    mistaken: &str,
    known: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let mut ranked = as_a_whole(mistaken, &known);
    if ranked.is_empty() {
        ranked = by_words(mistaken, &known);
    }
    ranked.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.truncate(limit);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// The names that are near to a mistaken one, each once, with how near they are.
fn as_a_whole<'a>(mistaken: &str, known: &[&'a str]) -> Vec<(u64, &'a str)> {
    let wanted = fold(mistaken);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut candidates: Vec<Candidate<'a>> = known
        .iter()
        .filter_map(|name| Candidate::new(&wanted, name))
        .collect();
    candidates.sort_unstable_by_key(|candidate| (candidate.unshared, candidate.name));
    candidates.dedup_by_key(|candidate| candidate.name);
    let mut looks = CLOSE_LOOK;
    candidates
        .iter()
        .filter_map(|candidate| {
            let close = candidate.may_be_similar && looks > 0;
            looks -= usize::from(close);
            Some((score(&wanted, candidate, close)?, candidate.name))
        })
        .collect()
}

/// The names that contain words of a text, each once: those of more words are nearer.
fn by_words<'a>(text: &str, known: &[&'a str]) -> Vec<(u64, &'a str)> {
    let words = text.split_whitespace().take(WORDS).map(fold);
    let words: Vec<String> = words.filter(|word| word.chars().count() >= WORD).collect();
    let mut near: BTreeMap<&str, u64> = BTreeMap::new();
    for name in known {
        let folded = fold(name);
        let contained = words.iter().filter(|word| folded.contains(word.as_str()));
        let score = contained.map(|word| likeness(word, &folded)).sum();
        if score > 0 {
            near.insert(name, score);
        }
    }
    near.into_iter()
        .map(|(name, score)| (score, name))
        .collect()
}

/// A name that a look from afar did not rule out.
struct Candidate<'a> {
    name: &'a str,
    folded: String,
    /// Whether one name contains the other.
    contained: bool,
    /// Whether a third of the letters at most may have to change.
    may_be_similar: bool,
    /// How many letters of the longer name the other lacks: no fewer have to change.
    unshared: usize,
}

impl<'a> Candidate<'a> {
    fn new(wanted: &str, name: &'a str) -> Option<Self> {
        let folded = fold(name);
        if folded.is_empty() {
            return None;
        }
        let (short, long) = if wanted.len() < folded.len() {
            (wanted, folded.as_str())
        } else {
            (folded.as_str(), wanted)
        };
        let contained = short.len() >= 3 && long.contains(short);
        let unshared = unshared(wanted, &folded);
        let may_be_similar = unshared * 3 <= letters(wanted, &folded);
        (contained || may_be_similar).then_some(Self {
            name,
            folded,
            contained,
            may_be_similar,
            unshared,
        })
    }
}

/// The larger number of letters that one of two names has and the other has not. Letters
/// that fall into one slot count as the same, which only makes the number smaller.
fn unshared(one: &str, other: &str) -> usize {
    let mut balance = [0isize; 128];
    for c in one.chars() {
        balance[c as usize % 128] += 1;
    }
    for c in other.chars() {
        balance[c as usize % 128] -= 1;
    }
    let (mut more, mut less) = (0, 0);
    for count in balance {
        more += count.max(0).unsigned_abs();
        less += count.min(0).unsigned_abs();
    }
    more.max(less)
}

/// The letters of the longer of two names.
fn letters(one: &str, other: &str) -> usize {
    one.chars().count().max(other.chars().count())
}

/// Lower case without separators: the form in which spellings are compared.
fn fold(name: &str) -> String {
    name.chars()
        .take(crate::id::MAX_ID_BYTES)
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn score(wanted: &str, candidate: &Candidate<'_>, close: bool) -> Option<u64> {
    let name = candidate.folded.as_str();
    if wanted == name {
        return Some(u64::MAX);
    }
    let similar = close && damerau_levenshtein(wanted, name) * 3 <= letters(wanted, name);
    if !candidate.contained && !similar {
        return None;
    }
    Some(likeness(wanted, name) + u64::from(similar) * 1_000_000)
}

/// A fraction of 0..=1 as an integer, so that the order is total.
fn likeness(wanted: &str, name: &str) -> u64 {
    (jaro_winkler(wanted, name) * 1e6) as u64
}

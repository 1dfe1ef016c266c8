//! Which known names a mistaken one probably meant.

use strsim::{damerau_levenshtein, jaro_winkler};

/// How many candidates are compared closely. Above it only those that share a part
/// with the mistaken name are, so that an error costs little in a large catalog.
const CLOSE_LOOK: usize = 4_096;

/// The known names nearest to a mistaken one, best first, at most `limit`.
///
/// Case and separators do not count. A name qualifies when it contains the mistaken
/// one or is contained in it, or when a third of its letters at most would have to
/// change. Equal names come in the order of their code points, so the answer is the
/// same however the names were given.
///
/// ```
/// use toolshelf_core::nearest::nearest;
/// let known = ["create_issue", "list_issues", "read_file"];
/// assert_eq!(nearest("createIsue", known, 3), ["create_issue"]);
/// ```
pub fn nearest<'a>(
    mistaken: &str,
    known: impl IntoIterator<Item = &'a str>,
    limit: usize,
) -> Vec<&'a str> {
    let wanted = fold(mistaken);
    if wanted.is_empty() {
        return Vec::new();
    }
    let mut ranked: Vec<(u64, &'a str)> = known
        .into_iter()
        .enumerate()
        .filter_map(|(at, name)| Some((score(&wanted, &fold(name), at < CLOSE_LOOK)?, name)))
        .collect();
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    ranked.dedup_by(|a, b| a.1 == b.1);
    ranked.truncate(limit);
    ranked.into_iter().map(|(_, name)| name).collect()
}

/// Lower case without separators: the form in which spellings are compared.
fn fold(name: &str) -> String {
    name.chars()
        .take(crate::id::MAX_ID_BYTES)
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

fn score(wanted: &str, name: &str, close: bool) -> Option<u64> {
    if name.is_empty() {
        return None;
    }
    if wanted == name {
        return Some(u64::MAX);
    }
    let (short, long) = if wanted.len() < name.len() {
        (wanted, name)
    } else {
        (name, wanted)
    };
    let contained = short.len() >= 3 && long.contains(short);
    let similar = if close {
        let letters = wanted.chars().count().max(name.chars().count());
        damerau_levenshtein(wanted, name) * 3 <= letters
    } else {
        false
    };
    if !contained && !similar {
        return None;
    }
    // A fraction of 0..=1 as an integer, so that the order is total.
    let likeness = (jaro_winkler(wanted, name) * 1e6) as u64;
    Some(likeness + u64::from(similar) * 1_000_000)
}

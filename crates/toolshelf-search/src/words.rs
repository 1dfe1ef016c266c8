//! Words: how a text becomes what is compared.
//!
//! Separators of every style, CamelCase and digits divide; a compound stays whole beside
//! its parts, since `GitHub` is looked for as `github`. Accents do not count. Scripts without
//! blanks between words become pairs of characters.

use unicode_segmentation::UnicodeSegmentation;

use crate::accents::without_accents;

/// The longest word, in characters. What is longer is cut.
const MAX_WORD_CHARS: usize = 40;

/// What a word is to the text that it stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A word that nothing divides.
    Plain,
    /// A compound such as `GitHub` or `sha256`, lower case; its parts follow.
    Whole,
    /// A part of the compound before it.
    Part,
}

/// Calls back with each word of a text in lower case, at most `limit` of them.
pub(crate) fn each_word(text: &str, limit: usize, mut found: impl FnMut(&str, Role)) {
    let mut left = limit;
    let mut word = String::new();
    let mut emit = |chars: &mut dyn Iterator<Item = char>, role: Role| {
        if left == 0 {
            return false;
        }
        word.clear();
        word.extend(
            chars
                .map(narrow)
                .flat_map(char::to_lowercase)
                .take(MAX_WORD_CHARS),
        );
        if !word.is_empty() {
            left -= 1;
            found(&word, role);
        }
        true
    };
    let text = &*without_accents(text);
    if text.is_ascii() {
        for run in text.as_bytes().split(|b| !b.is_ascii_alphanumeric()) {
            let run = std::str::from_utf8(run).unwrap_or_default();
            if !run.is_empty() && !divide(run, &mut emit) {
                return;
            }
        }
        return;
    }
    for (run, dense) in script_runs(text) {
        let go_on = if dense {
            pairs(run, &mut emit)
        } else {
            run.unicode_words()
                .flat_map(|word| word.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric()))
                .filter(|part| !part.is_empty())
                .all(|part| divide(part, &mut emit))
        };
        if !go_on {
            return;
        }
    }
}

/// Lower case without separators and accents: the form in which names are compared.
pub(crate) fn fold(name: &str) -> String {
    let name = &*without_accents(name);
    if name.is_ascii() {
        let kept = name.bytes().filter(u8::is_ascii_alphanumeric);
        return kept.map(|b| char::from(b.to_ascii_lowercase())).collect();
    }
    name.chars().flat_map(folded).collect()
}

/// What of a character counts when names are compared.
fn folded(c: char) -> impl Iterator<Item = char> {
    narrow(c).to_lowercase().filter(|c| c.is_alphanumeric())
}

/// The offsets in the folded name at which a word begins, in their order.
pub(crate) fn word_starts(name: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut length = 0;
    let mut before: Option<char> = None;
    for c in without_accents(name).chars().map(narrow) {
        let counts: usize = folded(c).map(char::len_utf8).sum();
        if counts == 0 {
            before = None;
            continue;
        }
        let is_start = before.is_none_or(|before| {
            (!before.is_uppercase() && c.is_uppercase())
                || before.is_numeric() != c.is_numeric()
                || is_dense(c)
        });
        if is_start {
            starts.push(length);
        }
        length += counts;
        before = Some(c);
    }
    starts
}

/// Full-width letters and digits, as Chinese and Japanese text has them, in their usual form.
fn narrow(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(c as u32 - 0xfee0).unwrap_or(c),
        c => c,
    }
}

/// Whether a character belongs to a script that is written without blanks between words,
/// or, as Hangul, with endings that change what a word looks like.
pub(crate) fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}'      // Thai, Lao
        | '\u{1000}'..='\u{109f}'    // Myanmar
        | '\u{1100}'..='\u{11ff}'    // Hangul letters
        | '\u{1780}'..='\u{17ff}'    // Khmer
        | '\u{3005}'..='\u{3007}'
        | '\u{3041}'..='\u{30ff}'    // Hiragana, Katakana
        | '\u{3130}'..='\u{318f}'
        | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}'    // Hangul
        | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
        && c != '\u{30fb}'
}

/// Divides a text where the kind of script changes.
fn script_runs(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let dense = is_dense(rest.chars().next()?);
        let end = rest.find(|c| is_dense(c) != dense).unwrap_or(rest.len());
        let (run, after) = rest.split_at(end);
        rest = after;
        Some((run, dense))
    })
}

type Emit<'a> = dyn FnMut(&mut dyn Iterator<Item = char>, Role) -> bool + 'a;

/// Pairs of neighbouring characters; a character alone is a word.
fn pairs(run: &str, emit: &mut Emit<'_>) -> bool {
    let mut chars = run.chars().peekable();
    let mut first = true;
    while let Some(c) = chars.next() {
        let go_on = match chars.peek() {
            Some(next) => emit(&mut [c, *next].into_iter(), Role::Plain),
            None if first => emit(&mut std::iter::once(c), Role::Plain),
            None => true,
        };
        if !go_on {
            return false;
        }
        first = false;
    }
    true
}

/// Emits a word, and its parts when CamelCase or digits divide it.
fn divide(word: &str, emit: &mut Emit<'_>) -> bool {
    let is_lower = word.starts_with(|c: char| c.is_ascii_alphabetic())
        && word.bytes().skip(1).all(|b| b.is_ascii_lowercase());
    if is_lower || !has_parts(word) {
        return emit(&mut word.chars(), Role::Plain);
    }
    if !emit(&mut word.chars(), Role::Whole) {
        return false;
    }
    let mut start = 0;
    let mut chars = word.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        if before.is_some_and(|before| divides(before, c, next)) {
            if !emit_part(&word[start..at], emit) {
                return false;
            }
            start = at;
        }
        before = Some(c);
    }
    emit_part(&word[start..], emit)
}

/// A single letter that was cut off says nothing.
fn emit_part(part: &str, emit: &mut Emit<'_>) -> bool {
    part.chars().nth(1).is_none() || emit(&mut part.chars(), Role::Part)
}

fn has_parts(word: &str) -> bool {
    // The plural of an abbreviation: `PDFs`.
    let stem = word.strip_suffix('s').unwrap_or(word);
    if stem.chars().all(char::is_uppercase) {
        return false;
    }
    let next = word.chars().skip(1).map(Some).chain([None]);
    let after = word.chars().skip(2).map(Some).chain([None, None]);
    word.chars()
        .zip(next.zip(after))
        .any(|(before, (c, next))| c.is_some_and(|c| divides(before, c, next)))
}

fn divides(before: char, c: char, next: Option<char>) -> bool {
    if c.is_uppercase() {
        return !before.is_uppercase() || next.is_some_and(char::is_lowercase);
    }
    before.is_numeric() != c.is_numeric()
}

//! Accents: letters without their marks.
//!
//! People leave accents out, or have no keys for them, so `café` and `cafe` are one word, as are
//! `ёлка` and `елка`, `άνθρωπος` and `ανθρωπος`. Other marks stay, such as that of `й`: they
//! make other letters.

use std::borrow::Cow;

use unicode_normalization::char::{decompose_compatible, is_combining_mark};

/// A text with its Latin letters as those of ASCII, as far as they are such with marks or
/// joined: `Œuvre` as `Oeuvre`. Greek letters have no marks and one form of sigma, Cyrillic ones
/// no stress and no dots on the `е`. All else is as it was.
pub(crate) fn without_accents(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || !text.contains(|c| is_mark(c) || may_have_mark(c)) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_mark(c) && plain.ends_with(|letter| loses(letter, c)) {
            continue;
        }
        if !may_have_mark(c) {
            plain.push(c);
            continue;
        }
        let next_is_lower = chars.peek().is_some_and(|next| next.is_lowercase());
        decompose_compatible(c, |part| match letters(part) {
            Some(letters) if next_is_lower => push_capitalised(letters, &mut plain),
            Some(letters) => plain.push_str(letters),
            None if is_combining_mark(part) => {}
            None if part == 'ς' => plain.push('σ'),
            None => plain.push(part),
        });
    }
    Cow::Owned(plain)
}

/// In front of a small letter `AE` is `Ae`, else it would be taken for the end of a word.
fn push_capitalised(letters: &str, plain: &mut String) {
    plain.push_str(&letters[..1]);
    plain.push_str(&letters[1..].to_ascii_lowercase());
}

/// Whether a character stands above, below or through the letter before it.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}')
}

/// Whether a letter that a mark stands behind is read without it.
fn loses(letter: char, mark: char) -> bool {
    match letter {
        'е' | 'Е' => matches!(mark, '\u{300}' | '\u{301}' | '\u{308}'),
        '\u{400}'..='\u{52f}' => matches!(mark, '\u{300}' | '\u{301}'),
        '\u{386}'..='\u{3ce}' => true,
        letter => letter.is_ascii_alphabetic(),
    }
}

/// Whether a character is a letter that has a mark, or another form, as far as such count here:
/// of the blocks of Latin letters beyond ASCII, of Greek, and some Cyrillic ones.
fn may_have_mark(c: char) -> bool {
    matches!(c,
        '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' | '\u{fb00}'..='\u{fb06}'
        | '\u{386}'..='\u{3ce}' | '\u{1f00}'..='\u{1fff}'
        | 'ё' | 'Ё' | 'ѐ' | 'Ѐ' | 'ѝ' | 'Ѝ')
        && c.is_alphabetic()
}

/// The letters that a letter is made of, where Unicode sees no letter with a mark in it.
fn letters(c: char) -> Option<&'static str> {
    Some(match c {
        'ß' => "ss",
        'ẞ' => "SS",
        'æ' => "ae",
        'Æ' => "AE",
        'œ' => "oe",
        'Œ' => "OE",
        'ø' => "o",
        'Ø' => "O",
        'ł' => "l",
        'Ł' => "L",
        'đ' | 'ð' => "d",
        'Đ' | 'Ð' => "D",
        'ħ' => "h",
        'Ħ' => "H",
        'þ' => "th",
        'Þ' => "TH",
        'ı' => "i",
        _ => return None,
    })
}

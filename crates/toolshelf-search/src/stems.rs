//! Inflections: what forms of a word have in common.

use rust_stemmers::{Algorithm, Stemmer};

/// Brings words to their stems.
pub(crate) struct Stems(Stemmer);

impl Stems {
    pub(crate) fn new() -> Self {
        Self(Stemmer::create(Algorithm::English))
    }

    /// The stem of a lower-case word: `files` and `filing` to `file`'s. Only words of
    /// ASCII letters have one; all others are their own.
    pub(crate) fn stem(&self, word: &str) -> String {
        if word.len() > 2 && word.bytes().all(|b| b.is_ascii_lowercase()) {
            self.0.stem(word).into_owned()
        } else {
            word.to_owned()
        }
    }
}

/// Endings that make another kind of word of one, longest first.
const ENDINGS: &[&str] = &[
    "ification",
    "ization",
    "ational",
    "ologist",
    "ication",
    "ation",
    "ition",
    "ician",
    "ology",
    "ator",
    "itor",
    "ment",
    "ness",
    "ious",
    "able",
    "ible",
    "ance",
    "ence",
    "ship",
    "ific",
    "izat",
    "ion",
    "ist",
    "ian",
    "ial",
    "ive",
    "ify",
    "ous",
    "ant",
    "ent",
    "ism",
    "ate",
    "iti",
    "ize",
    "ise",
    "age",
    "ic",
    "al",
    "or",
    "er",
    "ar",
    "at",
    "it",
    "if",
    "iz",
    "ur",
    "e",
    "i",
    "y",
];

/// The shortest root.
const ROOT: usize = 4;

/// The root of a stem: what `translat`or and `translat`ion, `financ`e and `financ`ial share.
pub(crate) fn root(stem: &str) -> &str {
    if stem.len() <= ROOT || !stem.bytes().all(|b| b.is_ascii_lowercase()) {
        return stem;
    }
    let mut root = stem;
    for _ in 0..2 {
        let Some(shorter) = ENDINGS
            .iter()
            .find_map(|ending| root.strip_suffix(ending).filter(|rest| rest.len() >= ROOT))
        else {
            break;
        };
        root = shorter;
    }
    root
}

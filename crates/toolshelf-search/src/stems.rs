//! Inflections: what forms of a word have in common.

use std::collections::HashMap;
use std::sync::LazyLock;

use rust_stemmers::{Algorithm, Stemmer};

/// Forms that no rule brings together, those of a word a line, the word itself first.
const IRREGULAR: &str = "\
alias aliases
analysis analyses
appendix appendices
atlas atlases
axis axes
begin began begun
bind bound
bonus bonuses
break broke broken
build built
bus buses
buy bought
calculus calculi
campus campuses
canvas canvases
catch caught
child children
choose chose chosen
corpus corpora
crisis crises
criterion criteria
draw drew drawn
drive drove driven
eat ate eaten
find found
fly flew flown
foot feet
forget forgot forgotten
freeze froze frozen
gas gases
half halves
hide hid hidden
hold held
index indices
keep kept
knife knives
leaf leaves
lens lenses
life lives
lose lost
man men
matrix matrices
meet met
mouse mice
pay paid
person people persons
quiz quizzes
sell sold
send sent
shelf shelves
speak spoke spoken
spend spent
steal stole stolen
take took taken
teach taught
tooth teeth
vertex vertices
virus viruses
win won
woman women
write wrote written";

/// The first form of the line of each.
static BASES: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
    let lines = IRREGULAR.lines().filter_map(|line| {
        let base = line.split(' ').next()?;
        Some(line.split(' ').map(move |form| (form, base)))
    });
    lines.flatten().collect()
});

/// Brings words to their stems.
pub(crate) struct Stems {
    english: Stemmer,
    russian: Stemmer,
    greek: Stemmer,
}

impl Stems {
    pub(crate) fn new() -> Self {
        Self {
            english: Stemmer::create(Algorithm::English),
            russian: Stemmer::create(Algorithm::Russian),
            greek: Stemmer::create(Algorithm::Greek),
        }
    }

    /// The stem of a lower-case word: `files` and `filing` to `file`'s, `children` to
    /// `child`'s. Only words that are of ASCII, Cyrillic or Greek letters alone have one; all
    /// others are their own.
    pub(crate) fn stem(&self, word: &str) -> String {
        let is_all = |of: fn(char) -> bool| word.chars().all(of);
        if word.len() <= 2 {
            word.to_owned()
        } else if is_all(|c| c.is_ascii_lowercase()) {
            self.english(word)
        } else if is_all(|c| matches!(c, 'а'..='я')) {
            self.russian.stem(word).into_owned()
        } else if is_all(|c| matches!(c, 'α'..='ω')) {
            self.greek.stem(word).into_owned()
        } else {
            word.to_owned()
        }
    }

    fn english(&self, word: &str) -> String {
        if let Some(base) = BASES.get(word) {
            return self.english.stem(base).into_owned();
        }
        if let Some(one) = one_of_letters(word) {
            return one.to_owned();
        }
        self.english.stem(word).into_owned()
    }
}

/// The longest abbreviation whose plural is known by its form.
const LETTERS: usize = 4;

/// `sku` of `skus`, `pdf` of `pdfs`: an abbreviation of which there are several. The rules for
/// words leave the ending where no vowel stands before it, or only one just before it.
fn one_of_letters(word: &str) -> Option<&str> {
    let one = word.strip_suffix('s')?;
    let is_vowel = |c: char| "aeiou".contains(c);
    let start = one.strip_suffix(is_vowel).unwrap_or(one);
    let is_such = one.len() <= LETTERS && !one.ends_with('s') && !start.contains(is_vowel);
    (is_such && !start.is_empty()).then_some(one)
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

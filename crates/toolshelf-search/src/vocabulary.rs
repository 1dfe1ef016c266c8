//! The words of all tools, and what they have in common.

use std::collections::HashMap;
use std::sync::Arc;

use crate::stems::{Stems, root};

/// One occurrence of a word in a tool.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(2))]
pub(crate) struct Posting {
    /// The tool's place in the store.
    pub(crate) slot: u32,
    /// How much the word counts there, in 14 bits, and where it stands, in two.
    data: u16,
}

const IN_NAME: u16 = 1;
const IN_GROUP: u16 = 2;
const IMPACT_STEPS: f32 = 16_383.0;

impl Posting {
    pub(crate) fn new(slot: u32, impact: f32, in_name: bool, in_group: bool) -> Self {
        let steps = (impact.clamp(0.0, 1.0) * IMPACT_STEPS) as u16;
        Self {
            slot,
            data: (steps << 2) | (u16::from(in_group) << 1) | u16::from(in_name),
        }
    }

    pub(crate) fn impact(self) -> f32 {
        f32::from(self.data >> 2) * (1.0 / IMPACT_STEPS)
    }

    /// Whether the word stands in the tool's name or says which group it is of.
    pub(crate) fn names(self) -> bool {
        self.data & (IN_NAME | IN_GROUP) != 0
    }

    pub(crate) fn at(self, slot: u32) -> Self {
        Self { slot, ..self }
    }
}

/// A word as it is written.
pub(crate) struct Term {
    pub(crate) text: Arc<str>,
    /// Its stem's number.
    pub(crate) stem: u32,
    /// How many tools have it.
    pub(crate) tools: u32,
    /// Where it occurs, some places that were given up included.
    pub(crate) postings: Vec<Posting>,
}

/// What the forms of a word have in common.
pub(crate) struct Stem {
    pub(crate) text: Arc<str>,
    /// How many tools have a form of it.
    pub(crate) tools: u32,
    /// The forms, in the order of their texts.
    pub(crate) forms: Vec<u32>,
}

/// Words by number, and the other way.
#[derive(Default)]
pub(crate) struct Vocabulary {
    pub(crate) terms: Vec<Term>,
    pub(crate) stems: Vec<Stem>,
    /// For a quick look at which could be meant by a misspelt one.
    pub(crate) spellings: Spellings,
    by_text: HashMap<Arc<str>, u32>,
    by_stem: HashMap<Arc<str>, u32>,
    /// Stems by root, where more than one has it; in the order of their texts.
    by_root: HashMap<Box<str>, Vec<u32>>,
}

impl Vocabulary {
    /// The number of a word, a new one where it has none.
    pub(crate) fn intern(&mut self, word: &str, stems: &Stems) -> u32 {
        if let Some(term) = self.by_text.get(word) {
            return *term;
        }
        let text: Arc<str> = Arc::from(word);
        let stem = self.intern_stem(&stems.stem(word), &text);
        let term = number(self.terms.len());
        self.by_text.insert(text.clone(), term);
        let place = self.stems[stem as usize]
            .forms
            .partition_point(|form| self.terms[*form as usize].text < text);
        self.stems[stem as usize].forms.insert(place, term);
        self.spellings.insert(word, term);
        self.terms.push(Term {
            text,
            stem,
            tools: 0,
            postings: Vec::new(),
        });
        term
    }

    fn intern_stem(&mut self, stem: &str, word: &Arc<str>) -> u32 {
        if let Some(stem) = self.by_stem.get(stem) {
            return *stem;
        }
        let text = if stem == &**word {
            word.clone()
        } else {
            Arc::from(stem)
        };
        let id = number(self.stems.len());
        self.by_stem.insert(text.clone(), id);
        let family = self.by_root.entry(Box::from(root(&text))).or_default();
        let place = family.partition_point(|other| self.stems[*other as usize].text < text);
        family.insert(place, id);
        self.stems.push(Stem {
            text,
            tools: 0,
            forms: Vec::new(),
        });
        id
    }

    /// The number of a word that some tool has.
    pub(crate) fn term(&self, word: &str) -> Option<u32> {
        let term = *self.by_text.get(word)?;
        (self.terms[term as usize].tools > 0).then_some(term)
    }

    /// The number of a stem that some tool has.
    pub(crate) fn stem(&self, stem: &str) -> Option<u32> {
        let stem = *self.by_stem.get(stem)?;
        (self.stems[stem as usize].tools > 0).then_some(stem)
    }

    /// A stem, whether some tool has it or not.
    pub(crate) fn stem_slot(&mut self, stem: &str) -> Option<&mut Stem> {
        let stem = *self.by_stem.get(stem)?;
        self.stems.get_mut(stem as usize)
    }

    /// The stems of a root.
    pub(crate) fn family(&self, stem: &str) -> &[u32] {
        self.by_root.get(root(stem)).map_or(&[], Vec::as_slice)
    }
}

/// Numbers of words and places; what does not fit is counted at the end.
pub(crate) fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The letters of a word as a set, and how many characters it has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Letters {
    set: u64,
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
            letters.set |= 1 << (c as u32 % 64);
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

/// A word's letters, with its number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spelling {
    pub(crate) letters: Letters,
    pub(crate) term: u32,
}

/// Words of ASCII letters and digits by what a misspelling leaves nearly as it is, and an
/// abbreviation quite.
#[derive(Default)]
pub(crate) struct Spellings {
    by_count: Vec<Vec<Spelling>>,
    by_first: HashMap<u32, Vec<Spelling>>,
}

impl Spellings {
    fn insert(&mut self, word: &str, term: u32) {
        let letters = Letters::of(word);
        let spelling = Spelling { letters, term };
        let count = letters.count as usize;
        if self.by_count.len() <= count {
            self.by_count.resize_with(count + 1, Vec::new);
        }
        self.by_count[count].push(spelling);
        self.by_first
            .entry(letters.first)
            .or_default()
            .push(spelling);
    }

    /// The words with so many characters, give or take a few.
    pub(crate) fn about_as_long(&self, count: u32, most: u32) -> impl Iterator<Item = &Spelling> {
        let counts = count.saturating_sub(most) as usize..(count + most + 1) as usize;
        let lists = self.by_count.iter().take(counts.end).skip(counts.start);
        lists.flatten()
    }

    /// The words that begin with a character.
    pub(crate) fn beginning(&self, first: u32) -> impl Iterator<Item = &Spelling> {
        self.by_first.get(&first).into_iter().flatten()
    }
}

//! The words of all tools, and what they have in common.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::spellings::Spellings;
use crate::stems::{Stems, root};
use crate::synonyms::synonym;

/// One occurrence of a word in a tool.
#[derive(Debug, Clone, Copy)]
#[repr(C, packed(2))]
pub(crate) struct Posting {
    /// The tool's place in the store.
    pub(crate) slot: u32,
    /// How much the word counts there, in 14 bits, and where it stands, in two.
    data: u16,
}

/// Where a word of a tool stands, the last one where it tells most of that tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// In what is said of the group alone, which is not said of this tool.
    GroupText,
    /// In the id of the group.
    Group,
    /// In a text of the tool's own.
    Text,
    /// In the name.
    Name,
}

/// The places by their bits.
const PLACES: [Place; 4] = [Place::GroupText, Place::Group, Place::Text, Place::Name];

const IMPACT_STEPS: f32 = 16_383.0;

impl Posting {
    pub(crate) fn new(slot: u32, impact: f32, place: Place) -> Self {
        let steps = (impact.clamp(0.0, 1.0) * IMPACT_STEPS) as u16;
        Self {
            slot,
            data: (steps << 2) | place as u16,
        }
    }

    pub(crate) fn impact(self) -> f32 {
        f32::from(self.data >> 2) * (1.0 / IMPACT_STEPS)
    }

    /// Where the word stands; of several places the one that tells most.
    pub(crate) fn place(self) -> Place {
        PLACES[usize::from(self.data & 3)]
    }

    /// Whether the word stands in the tool's name.
    pub(crate) fn in_name(self) -> bool {
        self.data & 3 == Place::Name as u16
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
    /// No posting counts more than this.
    pub(crate) most: f32,
}

impl Term {
    /// What it counts in a tool that has it.
    pub(crate) fn impact_in(&self, slot: u32) -> Option<f32> {
        let at = self
            .postings
            .binary_search_by_key(&slot, |posting| posting.slot)
            .ok()?;
        Some(self.postings[at].impact())
    }

    /// Adds a posting behind the others.
    pub(crate) fn post(&mut self, posting: Posting) {
        self.postings.push(posting);
        self.most = self.most.max(posting.impact());
    }
}

/// What the forms of a word have in common.
pub(crate) struct Stem {
    pub(crate) text: Arc<str>,
    /// How many tools have a form of it.
    pub(crate) tools: u32,
    /// The forms, in the order of their texts.
    pub(crate) forms: Vec<u32>,
    /// Its root's number.
    root: u32,
}

/// What is known of a word.
pub(crate) struct Known<'a> {
    /// Its number, where some tool has it.
    pub(crate) term: Option<u32>,
    /// The number of its stem, where some tool has a form of it.
    pub(crate) stem: Option<u32>,
    /// Its stem.
    pub(crate) text: Cow<'a, str>,
    /// The stems of its root.
    pub(crate) family: &'a [u32],
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
    by_root: HashMap<Box<str>, u32>,
    /// The stems of each root, in the order of their texts.
    families: Vec<Vec<u32>>,
    /// By the number that the table of synonyms gives a stem: its number here.
    by_synonym: HashMap<u32, u32>,
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
            most: 0.0,
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
        if let Some(synonym) = synonym(stem) {
            self.by_synonym.insert(synonym, id);
        }
        let root = match self.by_root.get(root(&text)) {
            Some(root) => *root,
            None => {
                let number = number(self.families.len());
                self.by_root.insert(Box::from(root(&text)), number);
                self.families.push(Vec::new());
                number
            }
        };
        let family = &mut self.families[root as usize];
        let place = family.partition_point(|other| self.stems[*other as usize].text < text);
        family.insert(place, id);
        self.stems.push(Stem {
            text,
            tools: 0,
            forms: Vec::new(),
            root,
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

    /// The number of a stem that some tool has, by its number in the table of synonyms.
    pub(crate) fn synonym(&self, synonym: u32) -> Option<u32> {
        let stem = *self.by_synonym.get(&synonym)?;
        (self.stems[stem as usize].tools > 0).then_some(stem)
    }

    /// What is known of a word. Only one that was never met has to be brought to its stem.
    pub(crate) fn known(&self, word: &str, stems: &Stems) -> Known<'_> {
        let has_stem = |stem: &u32| self.stems[*stem as usize].tools > 0;
        if let Some(term) = self.by_text.get(word) {
            let entry = &self.terms[*term as usize];
            let stem = &self.stems[entry.stem as usize];
            return Known {
                term: (entry.tools > 0).then_some(*term),
                stem: Some(entry.stem).filter(has_stem),
                text: Cow::Borrowed(&stem.text),
                family: &self.families[stem.root as usize],
            };
        }
        let text = stems.stem(word);
        let root = self.by_root.get(root(&text));
        Known {
            term: None,
            stem: self.by_stem.get(text.as_str()).copied().filter(has_stem),
            family: root.map_or(&[], |root| &self.families[*root as usize]),
            text: Cow::Owned(text),
        }
    }
}

/// Numbers of words and places; what does not fit is counted at the end.
pub(crate) fn number(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

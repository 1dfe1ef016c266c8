//! What a query asks for: each of its words with all that it may be written as in a tool.

use crate::common::{is_stop, is_talk};
use crate::correct::corrections;
use crate::literals::literals;
use crate::store::Store;
use crate::synonyms::synonyms;
use crate::vocabulary::Known;
use crate::words::{Role, each_word};

/// How many words of a query are read.
const MOST_WORDS: usize = 192;

/// How many of its unknown words are corrected, since that looks through all words.
const MOST_CORRECTIONS: usize = 8;

/// What a value counts whose form tells what it is.
const LITERAL: f32 = 0.3;

/// A word of the query.
pub(crate) struct Concept {
    /// As the query has it, in lower case.
    pub(crate) word: String,
    /// The weight of such words.
    pub(crate) weight: f32,
    /// Its stem, where some tool has a form of it.
    stem: Option<u32>,
    /// What it counts when a tool has it: its rarity times its weight.
    pub(crate) mass: f32,
    /// What the best of its answers counts where a tool has that to the full.
    pub(crate) most: f32,
    /// The words of tools that answer it, each once.
    pub(crate) answers: Vec<Answering>,
}

/// A word of tools that answers a word of the query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answering {
    pub(crate) term: u32,
    /// How well it does, in 0..=1.
    pub(crate) fit: f32,
    /// What it counts where a tool has it to the full.
    pub(crate) value: f32,
}

/// The concepts of a text, in its order, each once.
pub(crate) fn concepts(text: &str, store: &Store) -> Vec<Concept> {
    let mut words: Vec<(String, Role)> = Vec::new();
    each_word(text, MOST_WORDS, |word, role| {
        words.push((word.to_owned(), role))
    });
    let mut builder = Builder {
        store,
        concepts: Vec::new(),
        corrections: MOST_CORRECTIONS,
    };
    let mut whole_is_known = false;
    for (at, (word, role)) in words.iter().enumerate() {
        if is_stop(word) {
            continue;
        }
        match role {
            Role::Whole => {
                whole_is_known = store.vocabulary.term(word).is_some();
                // Of `k8s` no part says anything; only the whole can be what it is short for.
                let parts = words[at + 1..]
                    .iter()
                    .take_while(|(_, role)| *role == Role::Part);
                let says_nothing = |(part, _): &(String, Role)| !part.contains(char::is_alphabetic);
                if whole_is_known || parts.clone().all(says_nothing) {
                    builder.add(word, 1.0);
                }
            }
            Role::Part => builder.add(word, if whole_is_known { 0.5 } else { 1.0 }),
            Role::Plain => {
                builder.add(word, 1.0);
                if let Some((next, Role::Plain)) = words.get(at + 1) {
                    builder.add_joined(word, next);
                }
            }
        }
    }
    for kind in literals(text) {
        builder.add(kind, LITERAL);
    }
    each_for_itself(builder.concepts, store)
}

/// What one word of a query says does not answer another one too: of `schedule a meeting` a
/// tool for meeting rooms has one word, not two. Words that are only made of others, such as
/// `database` of `data base`, are not in their way.
fn each_for_itself(mut concepts: Vec<Concept>, store: &Store) -> Vec<Concept> {
    let full = concepts.iter().filter(|concept| concept.weight >= 1.0);
    let asked: Vec<u32> = full.filter_map(|concept| concept.stem).collect();
    for concept in &mut concepts {
        let stem_of = |answer: &Answering| store.vocabulary.terms[answer.term as usize].stem;
        let own = concept.stem;
        concept
            .answers
            .retain(|answer| own == Some(stem_of(answer)) || !asked.contains(&stem_of(answer)));
        let values = concept.answers.iter().map(|answer| answer.value);
        concept.most = values.fold(0.0, f32::max);
    }
    concepts
}

struct Builder<'a> {
    store: &'a Store,
    concepts: Vec<Concept>,
    corrections: usize,
}

impl Builder<'_> {
    fn add(&mut self, word: &str, weight: f32) {
        if self.concepts.iter().any(|concept| concept.word == word) {
            return;
        }
        let weights = &self.store.weights;
        let weight = if is_talk(word) {
            weight * weights.talk
        } else if word.bytes().all(|b| b.is_ascii_digit()) {
            weight * weights.number
        } else {
            weight
        };
        let vocabulary = &self.store.vocabulary;
        let known = vocabulary.known(word, &self.store.stems);
        let mut answers = Answers {
            store: self.store,
            weight,
            list: Vec::new(),
            cap: f32::MAX,
        };
        answers.add_word(&known);
        answers.cap = if known.stem.is_some() {
            answers
                .list
                .iter()
                .map(|a| a.value / a.fit)
                .fold(0.0, f32::max)
                / weight
        } else {
            f32::MAX
        };
        let synonyms = synonyms(word, &known.text).iter();
        let synonyms: Vec<u32> = synonyms
            .filter_map(|synonym| vocabulary.synonym(*synonym))
            .collect();
        if answers.list.is_empty() {
            // As many tools as have its commonest synonym have what it stands for.
            let rarities = synonyms
                .iter()
                .map(|stem| self.store.rarity_of_stem(Some(*stem)));
            answers.cap = rarities.fold(f32::MAX, f32::min);
        }
        for stem in synonyms {
            answers.add_forms(stem, weights.synonym);
        }
        if known.stem.is_none() {
            answers.cap = f32::MAX;
        }
        let mut rarity = self.store.rarity_of_stem(known.stem);
        if known.stem.is_none() && self.corrections > 0 && weight == 1.0 {
            self.corrections -= 1;
            let unknown = rarity;
            for (at, (term, likely)) in corrections(word, vocabulary).into_iter().enumerate() {
                answers.add_term(term, weights.correction * likely);
                // As far as it is likely meant, a word is as rare as what it misspells: the
                // misspelling of what all tools have asks for nothing that they lack.
                let stem = vocabulary.terms[term as usize].stem;
                let meant = self.store.rarity_of_stem(Some(stem));
                let mixed = unknown + likely * (meant - unknown);
                rarity = if at == 0 { mixed } else { rarity.max(mixed) };
            }
        }
        self.concepts.push(Concept {
            word: word.to_owned(),
            weight,
            stem: known.stem,
            mass: weight * rarity,
            most: 0.0,
            answers: answers.list,
        });
    }

    /// `data base` finds `database`.
    fn add_joined(&mut self, word: &str, next: &str) {
        let joined = format!("{word}{next}");
        if joined.is_ascii() && self.store.vocabulary.term(&joined).is_some() {
            self.add(&joined, 0.5);
        }
    }
}

struct Answers<'a> {
    store: &'a Store,
    weight: f32,
    list: Vec<Answering>,
    cap: f32,
}

impl Answers<'_> {
    /// Adds a word, its inflections and those of its root.
    fn add_word(&mut self, word: &Known<'_>) {
        let weights = &self.store.weights;
        if let Some(term) = word.term {
            self.push(term, 1.0);
        }
        if let Some(stem) = word.stem {
            self.add_forms(stem, weights.inflection);
        }
        for relative in word.family {
            self.add_forms(*relative, weights.root);
        }
    }

    fn add_forms(&mut self, stem: u32, fit: f32) {
        for form in &self.store.vocabulary.stems[stem as usize].forms {
            self.push(*form, fit);
        }
    }

    fn add_term(&mut self, term: u32, fit: f32) {
        self.push(term, fit);
        let stem = self.store.vocabulary.terms[term as usize].stem;
        self.add_forms(stem, fit * self.store.weights.inflection);
    }

    fn push(&mut self, term: u32, fit: f32) {
        let vocabulary = &self.store.vocabulary;
        let entry = &vocabulary.terms[term as usize];
        if fit <= 0.0 || entry.tools == 0 || self.list.iter().any(|answer| answer.term == term) {
            return;
        }
        let rarity = self
            .store
            .rarity(vocabulary.stems[entry.stem as usize].tools)
            .min(self.cap);
        self.list.push(Answering {
            term,
            fit,
            value: self.weight * fit * rarity,
        });
    }
}

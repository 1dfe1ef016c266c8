//! The tools and their words: what a search reads.
//!
//! Each group has its part of the store. A group that is replaced gives its places up and
//! gets new ones at the end; places that were given up are squeezed out when they have
//! become many. So a change costs what the group costs, and now and then a pass over all.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toolshelf_core::search::IndexedTool;
use toolshelf_core::{GroupId, ToolKey, ToolName};

use crate::document::{Document, Field};
use crate::names::Names;
use crate::stems::Stems;
use crate::vocabulary::{Posting, Vocabulary, number};
use crate::weights::Weights;
use crate::words::fold;

/// Places that may be given up before they are squeezed out, whatever the size.
const SLACK: usize = 256;

/// Numbers of tools whose rarity is kept. To take a logarithm for each word of the names
/// that are looked at is a good part of a search.
const RARITIES: u32 = 512;

/// A tool in its place.
pub(crate) struct Entry {
    pub(crate) tool: IndexedTool,
    /// The different words of its name.
    pub(crate) name: Box<[u32]>,
}

/// The tools of all groups.
pub(crate) struct Store {
    pub(crate) weights: Weights,
    pub(crate) stems: Stems,
    pub(crate) vocabulary: Vocabulary,
    pub(crate) entries: Vec<Entry>,
    pub(crate) names: Names,
    /// By place: whether it has not been given up. A search asks this of many places, so the
    /// answers stand together.
    is_live: Vec<bool>,
    parts: BTreeMap<GroupId, Range<u32>>,
    live: usize,
    /// What is told by a stem that so many tools have, for the smaller numbers.
    rarities: Vec<f32>,
    document: Document,
}

impl Store {
    pub(crate) fn new(weights: Weights) -> Self {
        Self {
            weights,
            stems: Stems::new(),
            vocabulary: Vocabulary::default(),
            entries: Vec::new(),
            names: Names::default(),
            is_live: Vec::new(),
            parts: BTreeMap::new(),
            live: 0,
            rarities: Vec::new(),
            document: Document::default(),
        }
    }

    /// The places of a group.
    pub(crate) fn part(&self, group: &GroupId) -> Option<&Range<u32>> {
        self.parts.get(group)
    }

    /// Replaces the tools of a group.
    pub(crate) fn replace(&mut self, group: GroupId, tools: Vec<IndexedTool>) {
        if let Some(part) = self.parts.remove(&group) {
            self.give_up(part);
        }
        let start = number(self.entries.len());
        let mut known: BTreeSet<ToolName> = BTreeSet::new();
        for tool in tools {
            if known.insert(tool.key.tool.clone()) {
                self.add(tool);
            }
        }
        if !known.is_empty() {
            self.parts.insert(group, start..number(self.entries.len()));
        }
        if self.entries.len() - self.live > self.live / 2 + SLACK {
            self.squeeze();
        }
        self.rarities.clear();
    }

    /// Makes what the next searches will need, when no more groups come.
    pub(crate) fn settle(&mut self) {
        self.rarities = (0..RARITIES).map(|tools| self.rarity_of(tools)).collect();
    }

    fn add(&mut self, tool: IndexedTool) {
        let slot = number(self.entries.len());
        let mut document = std::mem::take(&mut self.document);
        let (vocabulary, stems) = (&mut self.vocabulary, &self.stems);
        document.read(&tool, &mut |word| Some(vocabulary.intern(word, stems)));
        for word in document.weigh(&self.weights) {
            let term = &mut self.vocabulary.terms[word.term as usize];
            term.tools += 1;
            term.post(Posting::new(slot, word.impact, word.place));
        }
        for stem in self.stems_of(&document) {
            self.vocabulary.stems[stem as usize].tools += 1;
        }
        self.names.insert(tool.key.tool.as_str(), slot);
        self.entries.push(Entry {
            tool,
            name: document.name.as_slice().into(),
        });
        self.is_live.push(true);
        self.live += 1;
        self.document = document;
    }

    /// Counts the tools of a part out. Which words they had is read from them again, since
    /// to remember it would cost more memory than the words themselves.
    fn give_up(&mut self, part: Range<u32>) {
        for slot in part {
            let mut document = std::mem::take(&mut self.document);
            let entry = &self.entries[slot as usize];
            self.is_live[slot as usize] = false;
            self.live -= 1;
            self.names.remove(entry.tool.key.tool.as_str(), slot);
            document.read(&entry.tool, &mut |word| self.vocabulary.term(word));
            for word in document.weigh(&self.weights) {
                let term = &mut self.vocabulary.terms[word.term as usize];
                term.tools = term.tools.saturating_sub(1);
            }
            for stem in self.stems_of(&document) {
                let stem = &mut self.vocabulary.stems[stem as usize];
                stem.tools = stem.tools.saturating_sub(1);
            }
            self.document = document;
        }
    }

    fn stems_of(&self, document: &Document) -> Vec<u32> {
        let mut stems: Vec<u32> = document
            .weigh(&self.weights)
            .map(|word| self.vocabulary.terms[word.term as usize].stem)
            .collect();
        stems.sort_unstable();
        stems.dedup();
        stems
    }

    /// Lets the places that were given up, and the words that nobody has any more, go.
    fn squeeze(&mut self) {
        let old = std::mem::take(&mut self.vocabulary);
        let mut slots = vec![u32::MAX; self.entries.len()];
        let kept = slots.iter_mut().zip(&self.is_live);
        for (new, (slot, _)) in (0..).zip(kept.filter(|(_, is_live)| **is_live)) {
            *slot = new;
        }
        let mut terms = vec![u32::MAX; old.terms.len()];
        for (at, term) in old
            .terms
            .into_iter()
            .enumerate()
            .filter(|(_, term)| term.tools > 0)
        {
            let new = self.vocabulary.intern(&term.text, &self.stems);
            terms[at] = new;
            let kept = &mut self.vocabulary.terms[new as usize];
            kept.tools = term.tools;
            let live = |posting: &Posting| slots[posting.slot as usize] != u32::MAX;
            kept.postings
                .reserve_exact(term.postings.iter().filter(|posting| live(posting)).count());
            for posting in term.postings.into_iter().filter(live) {
                kept.post(posting.at(slots[posting.slot as usize]));
            }
        }
        for stem in old.stems.iter().filter(|stem| stem.tools > 0) {
            if let Some(kept) = self.vocabulary.stem_slot(&stem.text) {
                kept.tools = stem.tools;
            }
        }
        let mut live = self.is_live.iter();
        self.entries
            .retain(|_| live.next().copied().unwrap_or_default());
        self.is_live.clear();
        self.is_live.resize(self.entries.len(), true);
        self.names = Names::default();
        for (slot, entry) in self.entries.iter_mut().enumerate() {
            self.names
                .insert(entry.tool.key.tool.as_str(), number(slot));
            for term in &mut entry.name {
                *term = terms[*term as usize];
            }
        }
        for part in self.parts.values_mut() {
            let start = slots[part.start as usize];
            *part = start..start + (part.end - part.start);
        }
    }

    /// How much a stem tells, by how few tools have it.
    pub(crate) fn rarity(&self, tools: u32) -> f32 {
        let known = self.rarities.get(tools as usize).copied();
        known.unwrap_or_else(|| self.rarity_of(tools))
    }

    /// How much a stem tells; one that no tool has, most of all.
    pub(crate) fn rarity_of_stem(&self, stem: Option<u32>) -> f32 {
        let tools = stem.map_or(0, |stem| self.vocabulary.stems[stem as usize].tools);
        self.rarity(tools)
    }

    fn rarity_of(&self, tools: u32) -> f32 {
        let all = self.live as f32;
        let with = (tools as f32).min(all);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// The place of a tool.
    pub(crate) fn slot(&self, key: &ToolKey) -> Option<u32> {
        self.names
            .equal(&fold(key.tool.as_str()))
            .find(|slot| self.entry(*slot).tool.key == *key)
    }

    /// The share of each field in what a word counts in a tool.
    pub(crate) fn shares(&self, slot: u32, term: u32) -> Vec<(Field, f32)> {
        let mut document = Document::default();
        document.read(&self.entry(slot).tool, &mut |word| {
            self.vocabulary.term(word)
        });
        document.shares(term, &self.weights)
    }

    /// The places, those included that were given up.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> + use<> {
        0..number(self.entries.len())
    }

    /// Whether a place has not been given up.
    pub(crate) fn is_live(&self, slot: u32) -> bool {
        self.is_live[slot as usize]
    }

    /// The place's tool.
    pub(crate) fn entry(&self, slot: u32) -> &Entry {
        &self.entries[slot as usize]
    }
}

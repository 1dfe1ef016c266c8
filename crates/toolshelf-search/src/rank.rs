//! Scores: which tools answer the concepts of a query best.
//!
//! A tool's text score is the sum over the concepts of what the best answering word counts
//! in it. The score is that over the best text score, plus the share of its name that the
//! query covers, weighted.

use std::cmp::Ordering;

use crate::concepts::Concept;
use crate::store::Store;

/// A tool with its score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) slot: u32,
    pub(crate) score: f32,
}

/// Memory of a search, used again by the next one.
#[derive(Default)]
pub(crate) struct Scratch {
    sums: Vec<Sum>,
    touched: Vec<u32>,
    /// By word: how well it answers the query.
    fits: Vec<f32>,
}

/// What a tool has come to.
#[derive(Clone, Copy, Default)]
struct Sum {
    text: f32,
    /// What the concept at hand has added.
    best: f32,
    /// Which concept that is, from 1.
    concept: u32,
}

/// The tools that answer the concepts best, best first, at most `limit`. Only those that
/// `eligible` lets through count, in any respect.
pub(crate) fn rank(
    store: &Store,
    concepts: &[Concept],
    limit: usize,
    eligible: impl Fn(u32) -> bool,
    scratch: &mut Scratch,
) -> Vec<Scored> {
    scratch.sums.resize(store.entries.len(), Sum::default());
    scratch.fits.resize(store.vocabulary.terms.len(), 0.0);
    for (concept, number) in concepts.iter().zip(1..) {
        add(store, concept, number, scratch);
    }
    let ranked = select(store, concepts, limit, eligible, scratch);
    for slot in scratch.touched.drain(..) {
        scratch.sums[slot as usize] = Sum::default();
    }
    for answer in concepts.iter().flat_map(|concept| &concept.answers) {
        scratch.fits[answer.term as usize] = 0.0;
    }
    ranked
}

fn add(store: &Store, concept: &Concept, number: u32, scratch: &mut Scratch) {
    for answer in &concept.answers {
        let fit = &mut scratch.fits[answer.term as usize];
        *fit = fit.max(answer.fit);
        for posting in &store.vocabulary.terms[answer.term as usize].postings {
            let counts = answer.value * posting.impact();
            let sum = &mut scratch.sums[posting.slot as usize];
            if sum.concept == 0 {
                scratch.touched.push(posting.slot);
            }
            if sum.concept != number {
                sum.concept = number;
                sum.best = 0.0;
            }
            if counts > sum.best {
                sum.text += counts - sum.best;
                sum.best = counts;
            }
        }
    }
}

fn select(
    store: &Store,
    concepts: &[Concept],
    limit: usize,
    eligible: impl Fn(u32) -> bool,
    scratch: &Scratch,
) -> Vec<Scored> {
    let text = |slot: u32| scratch.sums[slot as usize].text;
    let mut candidates: Vec<Scored> = scratch
        .touched
        .iter()
        .filter(|slot| store.entry(**slot).live && eligible(**slot) && text(**slot) > 0.0)
        .map(|slot| Scored {
            slot: *slot,
            score: text(*slot),
        })
        .collect();
    let mass: f32 = concepts.iter().map(|concept| concept.mass).sum();
    let best = candidates.iter().map(|hit| hit.score).fold(0.0, f32::max);
    if best < store.weights.floor * mass && best < store.weights.evidence * store.rarity(1) {
        return Vec::new();
    }
    for hit in &mut candidates {
        let coverage = coverage(store, hit.slot, |term| scratch.fits[term as usize]);
        hit.score = hit.score / best + store.weights.coverage * coverage;
    }
    best_of(candidates, limit, |a, b| in_order(store, a, b))
}

/// The total order of hits: by score, then by key.
pub(crate) fn in_order(store: &Store, a: &Scored, b: &Scored) -> Ordering {
    let key = |hit: &Scored| &store.entry(hit.slot).tool.key;
    b.score
        .total_cmp(&a.score)
        .then_with(|| key(a).cmp(key(b)))
}

/// The first of a list in an order, without ordering the others.
pub(crate) fn best_of<T>(
    mut list: Vec<T>,
    limit: usize,
    order: impl Fn(&T, &T) -> Ordering,
) -> Vec<T> {
    if limit == 0 {
        return Vec::new();
    }
    if list.len() > limit {
        list.select_nth_unstable_by(limit - 1, &order);
        list.truncate(limit);
    }
    list.sort_unstable_by(order);
    list
}

/// The share of a tool's name that the query covers, by the rarity of its words.
pub(crate) fn coverage(store: &Store, slot: u32, fit: impl Fn(u32) -> f32) -> f32 {
    let (mut covered, mut all) = (0.0, 0.0);
    for term in &store.entry(slot).name {
        let stem = store.vocabulary.terms[*term as usize].stem;
        let rarity = store.rarity(store.vocabulary.stems[stem as usize].tools);
        covered += rarity * fit(*term);
        all += rarity;
    }
    if all > 0.0 { covered / all } else { 0.0 }
}

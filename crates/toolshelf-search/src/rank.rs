//! Scores: which tools answer the concepts of a query best.
//!
//! A tool's text score is the sum over the concepts of what the best answering word counts
//! in it. The score is that over the best text score, plus the share of its name that the
//! query covers, weighted.

use std::cmp::Ordering;

use crate::candidates::{bar, candidates, name};
use crate::concepts::Concept;
use crate::store::Store;
use crate::sums::{Candidate, Scratch};

/// A tool with its score.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scored {
    pub(crate) slot: u32,
    pub(crate) score: f32,
}

/// What the best tool must answer, for any tool to be an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Demand {
    /// As much of the query as makes a good match.
    Good,
    /// Less, since the query is known to be about these groups.
    Scoped,
    /// Nothing: the tools were chosen otherwise, and are only put in order.
    Order,
}

/// The tools that answer the concepts best, best first, at most `limit`. Only those that
/// `eligible` lets through count, in any respect.
pub(crate) fn rank(
    store: &Store,
    concepts: &[Concept],
    limit: usize,
    demand: Demand,
    eligible: impl Fn(u32) -> bool,
    scratch: &mut Scratch,
) -> Vec<Scored> {
    scratch.begin(store);
    for answer in concepts.iter().flat_map(|concept| &concept.answers) {
        let fit = &mut scratch.fits[answer.term as usize];
        *fit = fit.max(answer.fit);
    }
    let eligible = |slot: u32| store.is_live(slot) && eligible(slot);
    let candidates = candidates(store, &by_worth(concepts), limit, &eligible, scratch);
    let best = best_text(&candidates);
    let mut ranked = select(store, limit, candidates, scratch);
    let first = ranked.first().copied();
    if !first.is_some_and(|first| is_enough(store, concepts, demand, best, first.slot)) {
        ranked.clear();
    }
    for answer in concepts.iter().flat_map(|concept| &concept.answers) {
        scratch.fits[answer.term as usize] = 0.0;
    }
    ranked
}

/// The concepts, those first that can count most: they are the rare ones, which few tools
/// have.
fn by_worth(concepts: &[Concept]) -> Vec<&Concept> {
    let mut sorted: Vec<&Concept> = concepts.iter().collect();
    sorted.sort_by(|a, b| b.most.total_cmp(&a.most));
    sorted
}

/// Whether as much is answered as is demanded: by weight in the best text, or by the first
/// tool.
///
/// By weight a word that no tool has counts most, and one that most tools have next to
/// nothing. So a query that lacks much by weight may still have a good share of its words: of
/// `delete invoice` among tools for invoices, `invoice` is what can be answered.
fn is_enough(store: &Store, concepts: &[Concept], demand: Demand, best: f32, first: u32) -> bool {
    let weights = &store.weights;
    let least = match demand {
        Demand::Good => weights.words,
        Demand::Scoped => weights.words_in_scope,
        Demand::Order => return true,
    };
    let mass: f32 = concepts.iter().map(|concept| concept.mass).sum();
    best >= weights.floor * mass
        || best >= weights.evidence * store.rarity(1)
        || answered(store, concepts, first) >= least
}

/// The share of the query's words that a tool answers, as well as it does, however many tools
/// do. Words that only make the request are neither asked for nor an answer.
fn answered(store: &Store, concepts: &[Concept], slot: u32) -> f32 {
    let (mut answered, mut all) = (0.0, 0.0);
    for concept in concepts.iter().filter(|concept| concept.weight >= 1.0) {
        let counts = concept.answers.iter().filter_map(|answer| {
            let term = &store.vocabulary.terms[answer.term as usize];
            Some(answer.fit * term.impact_in(slot)?)
        });
        answered += counts.fold(0.0, f32::max);
        all += 1.0;
    }
    if all > 0.0 { answered / all } else { 0.0 }
}

fn best_text(candidates: &[Candidate]) -> f32 {
    candidates.iter().map(|hit| hit.text).fold(0.0, f32::max)
}

fn select(
    store: &Store,
    limit: usize,
    mut candidates: Vec<Candidate>,
    scratch: &Scratch,
) -> Vec<Scored> {
    let best = best_text(&candidates);
    let bar = bar(store, &candidates, limit, 0.0, scratch);
    candidates.retain(|hit| hit.text >= bar);
    let scored = candidates.iter().map(|hit| Scored {
        slot: hit.slot,
        score: hit.text / best + store.weights.coverage * name(store, hit, scratch),
    });
    best_of(scored.collect(), limit, |a, b| in_order(store, a, b))
}

/// The total order of hits: by score, then by key.
pub(crate) fn in_order(store: &Store, a: &Scored, b: &Scored) -> Ordering {
    let key = |hit: &Scored| &store.entry(hit.slot).tool.key;
    b.score.total_cmp(&a.score).then_with(|| key(a).cmp(key(b)))
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

//! Scores: which tools answer the concepts of a query best.
//!
//! A tool's text score is the sum over the concepts of what the best answering word counts
//! in it. The score is that over the best text score, plus the share of its name that the
//! query covers, weighted.

use std::cmp::Ordering;

use crate::concepts::Concept;
use crate::store::Store;
use crate::vocabulary::Posting;

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
    /// What it was before the concept at hand. What that one adds is added to this, so that
    /// a sum is the same to the bit whichever way it was come by.
    base: f32,
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
    for answer in concepts.iter().flat_map(|concept| &concept.answers) {
        let fit = &mut scratch.fits[answer.term as usize];
        *fit = fit.max(answer.fit);
    }
    let eligible = |slot: u32| store.entry(slot).live && eligible(slot);
    let candidates = candidates(store, &by_worth(concepts), limit, &eligible, scratch);
    let ranked = select(store, concepts, limit, candidates, scratch);
    for slot in scratch.touched.drain(..) {
        scratch.sums[slot as usize] = Sum::default();
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
    sorted.sort_by(|a, b| b.most().total_cmp(&a.most()));
    sorted
}

/// Tools with their text scores: all that can be among the best `limit`.
///
/// Concepts are gone through from the rare to the common. Once those that are left cannot
/// bring a tool among the best that has none of the concepts before, no further tools are
/// taken in, and what common words count is looked up for those few instead of read for all.
fn candidates(
    store: &Store,
    concepts: &[&Concept],
    limit: usize,
    eligible: &dyn Fn(u32) -> bool,
    scratch: &mut Scratch,
) -> Vec<Scored> {
    let mut rest: f32 = concepts.iter().map(|concept| concept.most()).sum();
    let mut best = 0.0f32;
    for (at, concept) in concepts.iter().enumerate() {
        rest -= concept.most();
        best = best.max(add(store, concept, at as u32 + 1, scratch));
        let later = &concepts[at + 1..];
        if rest >= LATE * best || later.is_empty() {
            continue;
        }
        let mut found = texts(scratch, eligible);
        let bar = bar(store, &found, limit, rest, scratch);
        if rest < bar {
            found.retain(|hit| hit.score + rest >= bar);
            found.sort_unstable_by_key(|hit| hit.slot);
            for concept in later {
                look_up(store, concept, &mut found);
            }
            return found;
        }
    }
    texts(scratch, eligible)
}

/// From which share of the best text score on what is left is worth a closer look.
const LATE: f32 = 0.7;

/// The least text score with which a tool can still be among the best `limit`, where so much
/// is `rest`; zero where nothing can be said.
///
/// The score of a tool that was found is in the end no less than what it has now over the
/// most that the best one can come to, and its name beside. With `limit` such scores known,
/// another tool has to reach the least of them, by its text over the best one's and, at most,
/// its whole name.
fn bar(store: &Store, found: &[Scored], limit: usize, rest: f32, scratch: &Scratch) -> f32 {
    let whole = store.weights.coverage;
    let mut first = found.to_vec();
    if first.len() > 4 * limit {
        first.select_nth_unstable_by(4 * limit, |a, b| b.score.total_cmp(&a.score));
        first.truncate(4 * limit);
    }
    let best = first.iter().map(|hit| hit.score).fold(0.0, f32::max);
    let scores = first.iter().map(|hit| {
        let name = coverage(store, hit.slot, |term| scratch.fits[term as usize]);
        hit.score / (best + rest) + whole * name
    });
    // A little less, since sums of floating point numbers are not exact.
    nth(scores.collect(), limit).map_or(0.0, |least| (least - whole) * best * 0.999)
}

/// The `limit`-th of the scores from above, if there are so many.
fn nth(mut scores: Vec<f32>, limit: usize) -> Option<f32> {
    if limit == 0 || scores.len() < limit {
        return None;
    }
    let (_, nth, _) = scores.select_nth_unstable_by(limit - 1, |a, b| b.total_cmp(a));
    Some(*nth)
}

/// Adds what a concept counts in all tools. The best text score that it led to.
fn add(store: &Store, concept: &Concept, number: u32, scratch: &mut Scratch) -> f32 {
    let mut best = 0.0f32;
    for answer in &concept.answers {
        for posting in &store.vocabulary.terms[answer.term as usize].postings {
            let counts = answer.value * posting.impact();
            let sum = &mut scratch.sums[posting.slot as usize];
            if sum.concept == 0 {
                scratch.touched.push(posting.slot);
            }
            if sum.concept != number {
                sum.concept = number;
                sum.base = sum.text;
                sum.best = 0.0;
            }
            if counts > sum.best {
                sum.text = sum.base + counts;
                sum.best = counts;
                best = best.max(sum.text);
            }
        }
    }
    best
}

/// Adds what a concept counts in some tools, which are in the order of their places.
fn look_up(store: &Store, concept: &Concept, found: &mut [Scored]) {
    let terms = concept.answers.iter().map(|answer| {
        let term = &store.vocabulary.terms[answer.term as usize];
        (answer.value, term.postings.as_slice())
    });
    let mut lists: Vec<(f32, &[Posting])> = terms.collect();
    for hit in found {
        let mut counts = 0.0f32;
        for (value, postings) in &mut lists {
            *postings = from(postings, hit.slot);
            if let Some(posting) = postings.first()
                && posting.slot == hit.slot
            {
                counts = counts.max(*value * posting.impact());
            }
        }
        hit.score += counts;
    }
}

/// The postings from a place on. The next one is mostly near.
fn from(postings: &[Posting], slot: u32) -> &[Posting] {
    let mut step = 1;
    let mut start = 0;
    while let Some(posting) = postings.get(start + step - 1)
        && posting.slot < slot
    {
        start += step;
        step *= 2;
    }
    let end = (start + step).min(postings.len());
    let within = postings[start..end].partition_point(|posting| posting.slot < slot);
    &postings[start + within..]
}

/// The tools that count, with their text scores so far.
fn texts(scratch: &Scratch, eligible: &dyn Fn(u32) -> bool) -> Vec<Scored> {
    let touched = scratch.touched.iter();
    let scored = touched.map(|slot| Scored {
        slot: *slot,
        score: scratch.sums[*slot as usize].text,
    });
    scored
        .filter(|hit| hit.score > 0.0 && eligible(hit.slot))
        .collect()
}

fn select(
    store: &Store,
    concepts: &[Concept],
    limit: usize,
    mut candidates: Vec<Scored>,
    scratch: &Scratch,
) -> Vec<Scored> {
    let mass: f32 = concepts.iter().map(|concept| concept.mass).sum();
    let best = candidates.iter().map(|hit| hit.score).fold(0.0, f32::max);
    if best < store.weights.floor * mass && best < store.weights.evidence * store.rarity(1) {
        return Vec::new();
    }
    let bar = bar(store, &candidates, limit, 0.0, scratch);
    candidates.retain(|hit| hit.score >= bar);
    for hit in &mut candidates {
        let coverage = coverage(store, hit.slot, |term| scratch.fits[term as usize]);
        hit.score = hit.score / best + store.weights.coverage * coverage;
    }
    best_of(candidates, limit, |a, b| in_order(store, a, b))
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

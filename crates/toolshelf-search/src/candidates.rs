//! Candidates: which tools can be among the best, and how they are found without a look at
//! all that have a word of the query.

use crate::concepts::Concept;
use crate::rank::coverage;
use crate::store::Store;
use crate::sums::{Candidate, Scratch};
use crate::vocabulary::Posting;

/// Tools with their text scores: all that can be among the best `limit`.
///
/// Concepts are gone through from the rare to the common. Once those that are left cannot
/// bring a tool among the best that has none of the concepts before, no further tools are
/// taken in, and what common words count is looked up for those few instead of read for all.
pub(crate) fn candidates(
    store: &Store,
    concepts: &[&Concept],
    limit: usize,
    eligible: &dyn Fn(u32) -> bool,
    scratch: &mut Scratch,
) -> Vec<Candidate> {
    let left = left(store, concepts);
    let mut best = 0.0f32;
    // What may be left for another look.
    let mut little = f32::MAX;
    for (at, (concept, left)) in concepts.iter().zip(&left).enumerate() {
        best = best.max(scratch.add(store, concept));
        // To look is to go through all that were found; to read on may be less.
        if left.most >= little.min(LATE * best) || left.postings <= scratch.found_count() {
            continue;
        }
        let leading = scratch.leading(eligible, limit);
        let bar = bar(store, &leading, limit, left.most, scratch);
        if left.most >= bar {
            little = (left.most + bar) / 2.0;
            continue;
        }
        let found = scratch.reaching(eligible, bar - left.most);
        if found.len() * left.lists * LOOK < left.postings {
            return look_up_all(store, &concepts[at + 1..], found);
        }
        little = left.most / 2.0;
    }
    let leading = scratch.leading(eligible, limit);
    let bar = bar(store, &leading, limit, 0.0, scratch);
    scratch.reaching(eligible, bar)
}

/// From which share of the best text score on what is left is worth a closer look.
const LATE: f32 = 0.7;

/// To look a tool up in a list costs as much as to read so many postings.
const LOOK: usize = 2;

/// What the concepts behind one come to together.
struct Left {
    /// The most that they count in any tool.
    most: f32,
    postings: usize,
    lists: usize,
}

/// For each concept, what is left behind it. It is summed from the end, so that it is as exact
/// as it is small.
fn left(store: &Store, concepts: &[&Concept]) -> Vec<Left> {
    let (mut most, mut postings, mut lists) = (0.0f32, 0, 0);
    let mut left = Vec::with_capacity(concepts.len());
    for concept in concepts.iter().rev() {
        left.push(Left {
            most,
            postings,
            lists,
        });
        let mut of_concept = 0.0f32;
        for answer in &concept.answers {
            let term = &store.vocabulary.terms[answer.term as usize];
            of_concept = of_concept.max(answer.value * term.most);
            postings += term.postings.len();
        }
        most += of_concept;
        lists += concept.answers.len();
    }
    left.reverse();
    left
}

/// The least text score with which a tool can still be among the best `limit`, where so much
/// is `rest`, as far as some tools tell, the best one among them; zero where nothing can be
/// said.
///
/// The score of a tool that was found is in the end no less than what it has now over the
/// most that the best one can come to, and its name beside. With `limit` such scores known,
/// another tool has to reach the least of them, by its text over the best one's and, at most,
/// its whole name.
pub(crate) fn bar(
    store: &Store,
    some: &[Candidate],
    limit: usize,
    rest: f32,
    scratch: &Scratch,
) -> f32 {
    let whole = store.weights.coverage;
    let best = some.iter().map(|hit| hit.text).fold(0.0, f32::max);
    let scores = some
        .iter()
        .map(|hit| hit.text / (best + rest) + whole * name(store, hit, scratch));
    // A little less, since sums of floating point numbers are not exact.
    nth(scores.collect(), limit).map_or(0.0, |least| (least - whole) * best * 0.999)
}

/// The share of a tool's name that the query covers.
pub(crate) fn name(store: &Store, hit: &Candidate, scratch: &Scratch) -> f32 {
    if hit.named {
        coverage(store, hit.slot, |term| scratch.fits[term as usize])
    } else {
        0.0
    }
}

/// The `limit`-th of the scores from above, if there are so many.
fn nth(mut scores: Vec<f32>, limit: usize) -> Option<f32> {
    if limit == 0 || scores.len() < limit {
        return None;
    }
    let (_, nth, _) = scores.select_nth_unstable_by(limit - 1, |a, b| b.total_cmp(a));
    Some(*nth)
}

/// Adds what some concepts count in tools that were found.
fn look_up_all(store: &Store, concepts: &[&Concept], mut found: Vec<Candidate>) -> Vec<Candidate> {
    found.sort_unstable_by_key(|hit| hit.slot);
    for concept in concepts {
        look_up(store, concept, &mut found);
    }
    found
}

/// Adds what a concept counts in some tools, which are in the order of their places.
fn look_up(store: &Store, concept: &Concept, found: &mut [Candidate]) {
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
                hit.named |= posting.in_name();
            }
        }
        hit.text += counts;
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

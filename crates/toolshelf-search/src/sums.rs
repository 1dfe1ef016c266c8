//! Sums: what each tool has come to while the concepts of a query are gone through.

use crate::concepts::Concept;
use crate::store::Store;

/// Memory of a search, used again by the next one.
#[derive(Default)]
pub(crate) struct Scratch {
    sums: Vec<Sum>,
    touched: Vec<u32>,
    /// By word: how well it answers the query.
    pub(crate) fits: Vec<f32>,
    /// The number of the last concept, counted over all searches.
    last: u32,
    /// The number of the first concept of this search.
    first: u32,
}

/// What a tool has come to. That of an earlier search has the number of an earlier concept,
/// so nothing needs to be cleared for the next one.
#[derive(Clone, Copy, Default)]
struct Sum {
    text: f32,
    /// What it was before the concept at hand. What that one adds is added to this, so that
    /// a sum is the same to the bit whichever way it was come by.
    base: f32,
    /// Which concept that is.
    concept: u32,
    /// Whether a word of its name answers one of the concepts.
    named: bool,
}

/// A tool that may be among the best, with its text score so far.
#[derive(Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) slot: u32,
    pub(crate) text: f32,
    /// Whether a word of its name answers one of the concepts so far.
    pub(crate) named: bool,
}

impl Scratch {
    /// Makes room for a search in a store.
    pub(crate) fn begin(&mut self, store: &Store) {
        self.sums.resize(store.entries.len(), Sum::default());
        self.fits.resize(store.vocabulary.terms.len(), 0.0);
        self.touched.clear();
        if self.last > u32::MAX / 2 {
            self.sums.fill(Sum::default());
            self.last = 0;
        }
        self.first = self.last + 1;
    }

    /// How many tools were found.
    pub(crate) fn found_count(&self) -> usize {
        self.touched.len()
    }

    /// Adds what a concept counts in all tools. The best text score that it led to.
    pub(crate) fn add(&mut self, store: &Store, concept: &Concept) -> f32 {
        let Scratch {
            sums,
            touched,
            last,
            first,
            ..
        } = self;
        *last += 1;
        let number = *last;
        let mut best = 0.0f32;
        for answer in &concept.answers {
            for posting in &store.vocabulary.terms[answer.term as usize].postings {
                let sum = &mut sums[posting.slot as usize];
                if sum.concept != number {
                    if sum.concept < *first {
                        touched.push(posting.slot);
                        *sum = Sum::default();
                    }
                    sum.concept = number;
                    sum.base = sum.text;
                }
                sum.named |= posting.in_name();
                let text = sum.base + answer.value * posting.impact();
                if text > sum.text {
                    sum.text = text;
                    if text > best {
                        best = text;
                    }
                }
            }
        }
        best
    }

    /// The tools that were found and count, and have at least so much text score.
    pub(crate) fn reaching(&self, eligible: &dyn Fn(u32) -> bool, least: f32) -> Vec<Candidate> {
        let reaching = self.found().filter(|hit| hit.text >= least);
        reaching.filter(|hit| eligible(hit.slot)).collect()
    }

    /// Some of the tools that were found and count: the best by text score, `limit` and a few
    /// more, where there are so many.
    pub(crate) fn leading(&self, eligible: &dyn Fn(u32) -> bool, limit: usize) -> Vec<Candidate> {
        let most = limit.saturating_mul(4).max(1);
        let mut leading: Vec<Candidate> = Vec::new();
        let mut least = 0.0;
        for hit in self.found() {
            if hit.text <= least || !eligible(hit.slot) {
                continue;
            }
            leading.push(hit);
            if leading.len() >= most.saturating_mul(2) {
                let (_, last, _) =
                    leading.select_nth_unstable_by(most - 1, |a, b| b.text.total_cmp(&a.text));
                least = last.text;
                leading.truncate(most);
            }
        }
        leading
    }

    /// All that were found.
    fn found(&self) -> impl Iterator<Item = Candidate> {
        let candidates = self.touched.iter().map(|slot| {
            let sum = &self.sums[*slot as usize];
            Candidate {
                slot: *slot,
                text: sum.text,
                named: sum.named,
            }
        });
        candidates.filter(|hit| hit.text > 0.0)
    }
}

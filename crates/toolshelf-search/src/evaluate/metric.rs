//! The metric.

use std::collections::HashMap;

/// The names of the figures, in the order in which they are reported.
pub const METRICS: [&str; 8] = [
    "hit@1", "MRR", "R@1", "R@3", "R@5", "R@10", "nDCG@5", "nDCG@10",
];

/// Means over queries.
///
/// What a query needs is a list of groups of alternatives; a group's place is the rank of
/// its first tool found. `hit@1`: some group is at rank 1. `R@k`: the share of the groups
/// within the first `k`. `nDCG@k`: the sum of `1 / log2(rank + 1)` over the groups within
/// `k`, over that of as many at the top. `MRR`: one over the best rank.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures {
    /// How many queries they are of.
    pub queries: usize,
    sums: [f64; METRICS.len()],
}

impl Figures {
    /// Adds a query: what it needs, and what it got, best first. A query that needs
    /// nothing is left out.
    pub(crate) fn add(&mut self, needed: &[Vec<usize>], found: &[usize]) {
        let needed: Vec<&Vec<usize>> = needed.iter().filter(|group| !group.is_empty()).collect();
        if needed.is_empty() {
            return;
        }
        let mut rank_of: HashMap<usize, usize> = HashMap::new();
        for (rank, tool) in found.iter().enumerate() {
            rank_of.entry(*tool).or_insert(rank);
        }
        let mut ranks: Vec<usize> = needed
            .iter()
            .filter_map(|group| group.iter().filter_map(|tool| rank_of.get(tool)).min())
            .copied()
            .collect();
        ranks.sort_unstable();
        let recall =
            |k: usize| ranks.iter().filter(|rank| **rank < k).count() as f64 / needed.len() as f64;
        let gain = |rank: usize| 1.0 / ((rank + 2) as f64).log2();
        let ndcg = |k: usize| {
            let got: f64 = ranks
                .iter()
                .filter(|rank| **rank < k)
                .map(|rank| gain(*rank))
                .sum();
            let ideal: f64 = (0..k.min(needed.len())).map(gain).sum();
            // A tool that meets several groups is found for all of them at one rank, which is
            // better than the ideal thinks possible.
            f64::min(got / ideal, 1.0)
        };
        let best = ranks.first();
        let figures = [
            f64::from(u8::from(best == Some(&0))),
            best.map_or(0.0, |rank| 1.0 / (rank + 1) as f64),
            recall(1),
            recall(3),
            recall(5),
            recall(10),
            ndcg(5),
            ndcg(10),
        ];
        self.queries += 1;
        for (sum, figure) in self.sums.iter_mut().zip(figures) {
            *sum += figure;
        }
    }

    /// A figure in percent; `None` when there is no such figure, or no query.
    pub fn percent(&self, metric: &str) -> Option<f64> {
        let at = METRICS.iter().position(|name| *name == metric)?;
        (self.queries > 0).then(|| 100.0 * self.sums[at] / self.queries as f64)
    }

    /// All figures in percent, by name.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, f64)> {
        METRICS
            .iter()
            .filter_map(|metric| Some((*metric, self.percent(metric)?)))
    }
}

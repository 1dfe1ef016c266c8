//! How far a history was read, and whether it is still the same.

use crate::history::HistoryFormat;

/// A place in a history, with samples of what stands before it.
///
/// Samples are kept of the first message, of those at growing distances (1, 3, 7, 15, …)
/// and of the last: a compaction or a cut moves what stands at the end, so it shows
/// there at once, and the others catch most edits further up at next to no cost.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    messages: usize,
    samples: Vec<(usize, u64)>,
    last: Option<u64>,
}

impl Place {
    pub(crate) fn messages(&self) -> usize {
        self.messages
    }

    /// Whether a history goes on from here.
    pub(crate) fn is_in<F: HistoryFormat>(&self, format: &F, history: &[F::Message]) -> bool {
        let same = |at: usize, sample: u64| {
            history
                .get(at)
                .is_some_and(|message| format.sample(message) == sample)
        };
        let last = self
            .last
            .is_none_or(|sample| same(self.messages - 1, sample));
        last && self.samples.iter().all(|(at, sample)| same(*at, *sample))
    }

    /// Moves behind these messages.
    pub(crate) fn advance<F: HistoryFormat>(&mut self, format: &F, new: &[F::Message]) {
        let end = self.messages + new.len();
        let mut next = self.samples.last().map_or(0, |(at, _)| 2 * at + 1);
        while next < end {
            // Never before the place: it would have been sampled when it was passed.
            if let Some(message) = new.get(next - self.messages) {
                self.samples.push((next, format.sample(message)));
            }
            next = 2 * next + 1;
        }
        if let Some(message) = new.last() {
            self.last = Some(format.sample(message));
        }
        self.messages = end;
    }
}

//! When a server that keeps ending may be started again.
//!
//! A server that ends shortly after its start without having answered anything is tried
//! [`FREE`] times in a row at once. After that each further start waits, 1 s at first and
//! twice as long after each further such end, and whoever needs the server meanwhile is
//! refused at once. Nobody waits here, nothing starts by itself, and a refusal prolongs
//! nothing.
//!
//! A shelf keeps a pause of its own after a load that failed. The two do not add up: both
//! begin with the same failure, and where only loads start the server, the pause here
//! after the n-th end (2^(n-3) s) is over before that of the shelf (2^(n-1) s), so that a
//! load that the shelf lets through is let through here. A load is refused here only
//! where calls have brought the pause about, which no shelf counts.

use std::time::Duration;

use tokio::time::Instant;

/// An end that comes later than this after the start is no failure to start.
const SHORT: Duration = Duration::from_secs(10);

/// So many ends in a row cost no pause; the last of them begins the first one.
const FREE: u32 = 3;

/// The first pause.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Two ends with more time between them are not in a row.
const FORGOTTEN: Duration = Duration::from_secs(300);

/// How a run of a server ended that was not ended by us.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    /// When the run began.
    pub(crate) begun: Instant,
    /// When it ended.
    pub(crate) at: Instant,
    /// Whether the server had answered something with success.
    pub(crate) answered: bool,
}

/// The ends of a server in a row.
#[derive(Debug, Default)]
pub(crate) struct Restarts {
    ends: u32,
    last: Option<Instant>,
}

impl Restarts {
    /// Notes an end.
    pub(crate) fn ended(&mut self, end: End) {
        if end.answered || end.at.saturating_duration_since(end.begun) >= SHORT {
            *self = Self::default();
            return;
        }
        let in_a_row = self
            .last
            .is_some_and(|last| end.at.saturating_duration_since(last) <= FORGOTTEN);
        self.ends = if in_a_row {
            self.ends.saturating_add(1)
        } else {
            1
        };
        self.last = Some(end.at);
    }

    /// How many ends there were in a row.
    pub(crate) fn ends(&self) -> u32 {
        self.ends
    }

    /// How long no start is allowed.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        let doublings = self.ends.checked_sub(FREE)?.min(16);
        let pause = FIRST_PAUSE
            .saturating_mul(1 << doublings)
            .min(LONGEST_PAUSE);
        let rest = pause.saturating_sub(now.saturating_duration_since(self.last?));
        (!rest.is_zero()).then_some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(at: Instant) -> End {
        End {
            begun: at - Duration::from_secs(1),
            at,
            answered: false,
        }
    }

    #[test]
    fn pauses_grow_to_a_minute() {
        let mut restarts = Restarts::default();
        let mut now = Instant::now() + SHORT;
        let mut pauses = Vec::new();
        for _ in 0..11 {
            restarts.ended(end(now));
            let pause = restarts.pause(now);
            pauses.push(pause.map_or(0, |pause| pause.as_secs()));
            now += pause.unwrap_or_default();
            assert_eq!(restarts.pause(now), None);
        }
        assert_eq!(pauses, [0, 0, 1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }

    #[test]
    fn a_success_a_long_run_and_time_are_a_new_beginning() {
        let now = Instant::now() + SHORT * 2;
        let thrice = || {
            let mut restarts = Restarts::default();
            for _ in 0..3 {
                restarts.ended(end(now));
            }
            restarts
        };
        assert!(thrice().pause(now).is_some());
        let answered = End {
            answered: true,
            ..end(now)
        };
        let long = End {
            begun: now - SHORT,
            ..end(now)
        };
        let later = end(now + FORGOTTEN + Duration::from_secs(1));
        for (end, ends) in [(answered, 0), (long, 0), (later, 1)] {
            let mut restarts = thrice();
            restarts.ended(end);
            assert_eq!(restarts.ends(), ends);
            assert_eq!(restarts.pause(end.at), None);
        }
    }

    #[test]
    fn the_pause_after_failed_loads_is_over_before_that_of_a_shelf() {
        let mut restarts = Restarts::default();
        let mut now = Instant::now() + SHORT;
        for failures in 0..12_u32 {
            restarts.ended(end(now));
            // The pauses of a shelf: 1, 2, 4 … 60 s.
            now += Duration::from_secs(1 << failures.min(16)).min(Duration::from_secs(60));
            assert_eq!(restarts.pause(now), None);
        }
    }
}

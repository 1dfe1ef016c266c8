//! Bounds of what a shelf does at once and waits for.

use std::time::Duration;

/// Bounds. All have defaults that suit a gateway on a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// How many loaders run at once; further ones wait. Default 4: servers that all
    /// start together time one another out.
    pub concurrent_loads: usize,
    /// How long one loader may run, from its start. Default 120 s.
    pub load_timeout: Duration,
    /// How long a name that nobody has waits for groups whose names are not known, and a
    /// search for groups that somebody else is loading, counted from the start of each
    /// group's load. Default 5 s.
    pub probe_timeout: Duration,
    /// How long a call may run when its caller set no deadline. Default 10 min.
    pub call_timeout: Duration,
    /// The first pause after a failed load; each further failure doubles it. Default 1 s.
    pub backoff: Duration,
    /// The longest pause. Default 60 s.
    pub max_backoff: Duration,
    /// The largest schema that an error shows whole, in bytes; a larger one is left out,
    /// never cut. Default 32 KiB.
    pub max_schema_bytes: usize,
    /// How many names an error suggests. Default 5.
    pub suggestions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            concurrent_loads: 4,
            load_timeout: Duration::from_secs(120),
            probe_timeout: Duration::from_secs(5),
            call_timeout: Duration::from_secs(600),
            backoff: Duration::from_secs(1),
            max_backoff: Duration::from_secs(60),
            max_schema_bytes: 32 * 1024,
            suggestions: 5,
        }
    }
}

/// A pause beyond which a clock may overflow.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);

impl Limits {
    /// The pause after so many failures in a row.
    pub(crate) fn pause_after(&self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(16);
        self.backoff
            .saturating_mul(1 << doublings)
            .min(self.max_backoff)
            .min(FOR_EVER)
    }
}

//! What was seen.

use std::time::Duration;

use serde::Serialize;
use serde_json::{Value, json};

/// How a gateway behaves in one respect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As promised.
    Pass,
    /// Not as promised.
    Fail,
    /// It does not claim to, or cannot by what it is.
    NotApplicable,
    /// It could not be looked at on this machine.
    Skipped,
}

impl Outcome {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::NotApplicable => "n/a",
            Self::Skipped => "SKIPPED",
        }
    }
}

/// What was seen of one behaviour.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The behaviour.
    pub name: &'static str,
    /// What it is about.
    pub group: &'static str,
    /// What a gateway should do.
    pub promise: &'static str,
    /// Whether it does.
    pub outcome: Outcome,
    /// What was seen, in one line.
    pub seen: String,
    /// Figures that were seen, where there are any.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub figures: Value,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
}

/// What was seen of a gateway.
#[derive(Debug, Clone)]
pub struct Report {
    /// The command that started it.
    pub command: Vec<String>,
    /// How it was spoken to.
    pub adapter: String,
    /// `serverInfo` and the protocol's revision, as it said.
    pub identity: Value,
    /// One finding for each behaviour that was looked at.
    pub findings: Vec<Finding>,
}

impl Report {
    /// How many findings are so.
    pub fn count(&self, outcome: Outcome) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.outcome == outcome)
            .count()
    }

    /// Whether nothing failed.
    pub fn passed(&self) -> bool {
        self.count(Outcome::Fail) == 0
    }

    /// The report as JSON: `version` (1), `command`, `adapter`, `server`, `protocol`, counts under
    /// `passed`, `failed`, `not_applicable` and `skipped`, and `behaviours`, a list of
    /// [`Finding`].
    pub fn json(&self) -> Value {
        json!({
            "version": 1,
            "command": self.command,
            "adapter": self.adapter,
            "server": self.identity["serverInfo"],
            "protocol": self.identity["protocolVersion"],
            "passed": self.count(Outcome::Pass),
            "failed": self.count(Outcome::Fail),
            "not_applicable": self.count(Outcome::NotApplicable),
            "skipped": self.count(Outcome::Skipped),
            "behaviours": self.findings,
        })
    }
}

/// A behaviour is as promised.
#[derive(Debug)]
pub(crate) struct Good {
    pub(crate) seen: String,
    pub(crate) figures: Value,
}

impl From<String> for Good {
    fn from(seen: String) -> Self {
        Self {
            seen,
            figures: Value::Null,
        }
    }
}

impl From<&str> for Good {
    fn from(seen: &str) -> Self {
        seen.to_owned().into()
    }
}

/// A behaviour is not as promised, or could not be looked at.
#[derive(Debug)]
pub(crate) struct Bad {
    pub(crate) outcome: Outcome,
    pub(crate) seen: String,
    pub(crate) figures: Value,
}

impl Bad {
    fn new(outcome: Outcome, seen: impl Into<String>) -> Self {
        Self {
            outcome,
            seen: seen.into(),
            figures: Value::Null,
        }
    }

    pub(crate) fn failed(seen: impl Into<String>) -> Self {
        Self::new(Outcome::Fail, seen)
    }

    pub(crate) fn not_applicable(seen: impl Into<String>) -> Self {
        Self::new(Outcome::NotApplicable, seen)
    }

    pub(crate) fn skipped(seen: impl Into<String>) -> Self {
        Self::new(Outcome::Skipped, seen)
    }

    /// Says what it is about.
    pub(crate) fn of(mut self, what: &str) -> Self {
        self.seen = format!("{what}: {}", self.seen);
        self
    }

    /// Says when it was.
    pub(crate) fn when(mut self, when: &str) -> Self {
        self.seen = format!("{}, {when}", self.seen);
        self
    }
}

impl From<String> for Bad {
    fn from(seen: String) -> Self {
        Self::failed(seen)
    }
}

impl From<crate::error::Error> for Bad {
    fn from(error: crate::error::Error) -> Self {
        Self::failed(error.to_string())
    }
}

/// The most characters of a line that says what was seen.
const MAX_SEEN: usize = 240;

/// A text of gateways and servers as part of a report: one line, bounded, without characters
/// that a terminal would obey.
pub(crate) fn one_line(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|c| {
            if c.is_control() || is_hidden(c) {
                ' '
            } else {
                c
            }
        })
        .collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(MAX_SEEN) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

pub(crate) fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

//! Whether all definitions together are worth deferring.

use toolshelf_core::GroupId;
use toolshelf_core::tokens::TokenCounter;

/// What all definitions come to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Size {
    /// Fewer tokens than the threshold.
    Small(u64),
    /// The threshold is reached; nobody counted on from there.
    Large(u64),
    /// The tools of a server are not known, which counts as large.
    Unknown(GroupId),
}

impl Size {
    /// The decision, for the operator.
    pub(crate) fn text(&self, threshold: u64) -> String {
        let threshold = grouped(threshold);
        match self {
            Self::Small(tokens) => format!(
                "{} of {threshold} tokens known: every tool is passed through",
                grouped(*tokens)
            ),
            Self::Large(tokens) => format!(
                "{} tokens known so far, which reaches {threshold}: tools are deferred",
                grouped(*tokens)
            ),
            Self::Unknown(server) => format!(
                "the tools of '{server}' are not known yet, which counts as {threshold} tokens \
                 or more: tools are deferred"
            ),
        }
    }
}

/// The tokens of a text. Without a counter two and a half characters count as one, rounded
/// up.
pub(crate) fn tokens(text: &str, counter: Option<&dyn TokenCounter>) -> u64 {
    match counter {
        Some(counter) => counter.count(text) as u64,
        None => (text.chars().count() as u64 * 2).div_ceil(5),
    }
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

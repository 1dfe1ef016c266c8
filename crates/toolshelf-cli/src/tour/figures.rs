//! What the session cost, and what it would have cost without a shelf.

use serde_json::{Value, json};
use toolshelf_core::tokens::{TokenCounter, definition_text};

use super::act::{Played, TOOLSHELF};
use super::stage::List;
use crate::samples::SAMPLES;
use crate::tokens::O200kBase;

pub(super) struct Figures {
    pub(super) protocol: String,
    pub(super) servers: usize,
    /// Tools of all servers, and those that the host sees instead.
    pub(super) tools: usize,
    pub(super) own_tools: usize,
    /// Tokens of all definitions and instructions without a shelf, and with one.
    pub(super) inline_tokens: usize,
    pub(super) shelf_tokens: usize,
    /// Tokens of what the gateway itself answered: schemas and errors.
    pub(super) answer_tokens: usize,
    pub(super) prefix_bytes: usize,
    pub(super) prefix_bytes_changed: usize,
    pub(super) comparisons: usize,
    pub(super) seconds: f64,
}

fn tokens(list: &List) -> usize {
    let definitions = list.definitions.iter().map(|definition| {
        O200kBase.count(&definition_text(definition.name().as_str(), definition))
    });
    definitions.sum::<usize>() + O200kBase.count(&list.instructions)
}

impl Figures {
    /// The figures before the first call: the same list with a shelf and without one.
    pub(super) fn new(shelf: &List, inline: &List) -> Self {
        Self {
            protocol: shelf.protocol.clone(),
            servers: SAMPLES.len(),
            tools: inline.definitions.len(),
            own_tools: shelf.definitions.len(),
            inline_tokens: tokens(inline),
            shelf_tokens: tokens(shelf),
            answer_tokens: 0,
            prefix_bytes: shelf.bytes(),
            prefix_bytes_changed: 0,
            comparisons: 0,
            seconds: 0.0,
        }
    }

    pub(super) fn add(&mut self, played: &Played) {
        for exchange in &played.exchanges {
            self.comparisons += 1;
            self.prefix_bytes_changed += exchange.prefix_bytes_changed;
            if exchange.answered_by() == TOOLSHELF {
                self.answer_tokens += exchange.tokens;
            }
        }
    }

    /// All that the shelf cost in this session.
    pub(super) fn session_tokens(&self) -> usize {
        self.shelf_tokens + self.answer_tokens
    }

    /// Tokens as a percentage of those without a shelf.
    pub(super) fn percent(&self, tokens: usize) -> f64 {
        tokens as f64 * 100.0 / self.inline_tokens.max(1) as f64
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        let offered: usize = SAMPLES
            .iter()
            .map(|sample| sample.tools().map_or(0, |tools| tools.len()))
            .sum();
        if self.tools != offered {
            faults.push(format!(
                "without a shelf {} of {offered} tools are listed",
                self.tools
            ));
        }
        if self.session_tokens() >= self.inline_tokens {
            faults.push("the shelf costs more than it saves".to_owned());
        }
        faults
    }

    pub(super) fn json(&self) -> Value {
        let rounded = |number: f64| (number * 10.0).round() / 10.0;
        json!({
            "protocol": self.protocol,
            "servers": self.servers,
            "tools": self.tools,
            "own_tools": self.own_tools,
            "inline_tokens": self.inline_tokens,
            "shelf_tokens": self.shelf_tokens,
            "answer_tokens": self.answer_tokens,
            "session_tokens": self.session_tokens(),
            "shelf_percent": rounded(self.percent(self.shelf_tokens)),
            "session_percent": rounded(self.percent(self.session_tokens())),
            "prefix_bytes": self.prefix_bytes,
            "prefix_bytes_changed": self.prefix_bytes_changed,
            "comparisons": self.comparisons,
            "seconds": (self.seconds * 1_000.0).round() / 1_000.0,
        })
    }
}

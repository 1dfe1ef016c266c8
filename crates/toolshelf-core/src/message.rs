//! A conversation as far as strategies look at it.

use serde::{Deserialize, Serialize};

use crate::content::ContentBlock;
use crate::state::State;
use crate::strategy::Call;

/// Who wrote a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions of the host.
    System,
    /// The user.
    User,
    /// The model.
    Assistant,
    /// The answer to a tool call.
    Tool,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// Its content.
    #[serde(default)]
    pub content: Vec<ContentBlock>,
    /// The calls that the model makes in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// Of an answer: the id of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
}

/// Something that happened in a session and that a strategy may learn from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// A message was appended to the history.
    Appended(Message),
    /// A history shows that the strategy's own search tool named these tools. Who reads a
    /// history makes sure that it was the search tool; nothing else is a discovery.
    Discovered {
        /// The names as they stand there.
        names: Vec<String>,
    },
    /// The provider, or something before it, refused a request because tools were deferred
    /// in it.
    DeferralRefused {
        /// What it said.
        reason: String,
    },
    /// The history was compacted. The marker carries the state as it was, when the
    /// host put it there.
    Compacted {
        /// The state on the marker.
        marker: Option<Box<State>>,
    },
}

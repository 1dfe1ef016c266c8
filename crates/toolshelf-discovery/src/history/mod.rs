//! Histories in their many shapes, seen as calls and answers.
//!
//! A format walks over one message and tells, in order, which calls the model makes in
//! it and which answers it holds. It tells nothing else: what the user, the system or the
//! model say in text can never be a discovery, so no reader of discoveries sees it.

mod anthropic;
mod chat;
mod content;
mod gemini;
mod neutral;
mod responses;
mod sample;

use std::borrow::Cow;

pub use anthropic::Anthropic;
pub use chat::OpenAiChat;
pub use content::Content;
pub use gemini::Gemini;
pub use neutral::Neutral;
pub use responses::OpenAiResponses;

/// What is called.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Called<'a> {
    /// A tool, by the name in the call. Where the provider has namespaces, `namespace/name`.
    Tool(Cow<'a, str>),
    /// The provider's own search for tools. No tool's name can stand for it.
    ProviderSearch,
}

/// One thing in a history that discovery looks at.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Entry<'a> {
    /// The model begins a turn. Calls without an id from before can no longer be
    /// answered.
    Turn,
    /// The model calls.
    Call {
        /// The id; `None` where the provider gives none.
        id: Option<&'a str>,
        /// What it calls.
        called: Called<'a>,
    },
    /// An answer to a call.
    Answer {
        /// The id of the call; `None` where the provider gives none.
        id: Option<&'a str>,
        /// What was called, as far as the answer says so itself. It must agree with the
        /// call.
        called: Option<Called<'a>>,
        /// Whether it is marked as an error. An error discovers nothing.
        failed: bool,
        /// The content, not yet looked at.
        content: Content<'a>,
    },
}

/// A shape of histories.
///
/// # Behavior
///
/// * `entries` is a pure function, total, and takes time in proportion to the message
///   at most. Text that is not the content of an answer is never told.
/// * `sample` is the same for equal messages and takes bounded time.
pub trait HistoryFormat: Send + Sync {
    /// A message.
    type Message;

    /// Tells the calls and answers of a message in their order.
    fn entries<'a>(&self, message: &'a Self::Message, tell: &mut dyn FnMut(Entry<'a>));

    /// A number that hardly ever stays the same when the message changes.
    fn sample(&self, message: &Self::Message) -> u64;
}

/// The messages of a request: the value itself where it is a list, else the list under
/// `key`.
fn messages_under<'a>(request: &'a serde_json::Value, key: &str) -> &'a [serde_json::Value] {
    let list = match request {
        serde_json::Value::Array(list) => Some(list),
        other => other.get(key).and_then(serde_json::Value::as_array),
    };
    list.map(Vec::as_slice).unwrap_or_default()
}

/// A string under a key.
fn string<'a>(value: &'a serde_json::Value, key: &str) -> Option<&'a str> {
    value.get(key)?.as_str()
}

//! The contract of a checkpointer: state and history of a thread, moved together.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::message::Message;
use crate::state::State;

/// What is kept of a thread.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The version of the thread; every write makes it one larger.
    pub version: u64,
    /// The state.
    pub state: State,
    /// The history.
    pub messages: Vec<Message>,
}

/// Keeps threads.
///
/// # Behavior
///
/// * `append` writes messages and state in one transaction, or nothing.
/// * `append` under another version than the thread's fails with
///   [`ErrorKind::Conflict`](crate::ErrorKind::Conflict) and writes nothing; version 0
///   means that the thread must not exist.
/// * `load` returns what the last successful `append` left; it shares nothing with it.
/// * Records of older versions of this library are read for ever.
#[async_trait]
pub trait Checkpointer: Send + Sync {
    /// Reads a thread; `None` when there is none.
    async fn load(&self, thread: &str) -> Result<Option<Checkpoint>, Error>;

    /// Appends messages, replaces the state, and returns the new version.
    async fn append(
        &self,
        thread: &str,
        expected_version: u64,
        messages: &[Message],
        state: &State,
    ) -> Result<u64, Error>;
}

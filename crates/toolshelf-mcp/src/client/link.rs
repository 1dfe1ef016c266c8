//! What the two directions of a connection know of each other: the requests in
//! flight, whether the stream has ended, and what came that was no message.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use serde::Deserialize;
use tokio::sync::Notify;
use tokio::time::Instant;
use toolshelf_core::text::one_line;
use toolshelf_core::{Cancellation, Elicitor, Progress, ProgressSink};

use crate::message::Id;
use crate::sync::lock;

/// How much of the first line that was no message is kept for the operator, in bytes.
const MAX_NOISE_BYTES: usize = 256;

/// Why a request that was sent cannot be answered.
#[derive(Debug, Clone)]
pub(crate) enum Unreadable {
    /// The answer is not a JSON-RPC answer.
    Malformed(&'static str),
    /// The answer has more bytes than are read.
    TooLong(usize),
}

/// A request in flight.
#[derive(Default)]
pub(crate) struct InFlight {
    /// The token of its progress notifications.
    pub(crate) token: OnceLock<Id>,
    /// Takes its progress.
    pub(crate) progress: Option<Arc<dyn ProgressSink>>,
    /// Answers its questions.
    pub(crate) elicitor: Option<Arc<dyn Elicitor>>,
    /// Told of each sign of life.
    pub(crate) activity: Notify,
    /// How many questions wait for the user.
    pub(crate) asking: AtomicUsize,
    /// Raised when it is over.
    pub(crate) over: Cancellation,
    /// Set when its answer came and could not be read.
    pub(crate) unreadable: OnceLock<Unreadable>,
    /// Whether it stays open to be told of changes, so that no answer is expected.
    pub(crate) listens: bool,
}

/// What is known of a connection.
#[derive(Default)]
pub(crate) struct Link {
    id: String,
    calls: Mutex<BTreeMap<i64, Arc<InFlight>>>,
    ended: Cancellation,
    ended_at: OnceLock<Instant>,
    noise: AtomicUsize,
    first_noise: OnceLock<String>,
    warned: AtomicBool,
    on_list_changed: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Link {
    /// A connection on which nothing has happened.
    pub(crate) fn new(id: &str, on_list_changed: Option<Arc<dyn Fn() + Send + Sync>>) -> Self {
        Self {
            id: one_line(id, 128),
            on_list_changed,
            ..Self::default()
        }
    }

    /// Notes a request before it is written, so that no answer can be earlier.
    pub(crate) fn begin(&self, id: i64, call: Arc<InFlight>) {
        lock(&self.calls).insert(id, call);
    }

    /// Forgets a request that was answered or given up.
    pub(crate) fn finish(&self, id: i64) -> Option<Arc<InFlight>> {
        let call = lock(&self.calls).remove(&id)?;
        call.over.cancel();
        Some(call)
    }

    /// The only request in flight that waits for an answer, if there is exactly one.
    pub(crate) fn only(&self) -> Option<i64> {
        match *self.ids() {
            [id] => Some(id),
            _ => None,
        }
    }

    /// The requests in flight that wait for an answer.
    pub(crate) fn ids(&self) -> Vec<i64> {
        let calls = lock(&self.calls);
        let waiting = calls.iter().filter(|(_, call)| !call.listens);
        waiting.map(|(id, _)| *id).collect()
    }

    /// Ends a request that stays open, if this is one: a server says so by cancelling it.
    pub(crate) fn cease(&self, id: i64) {
        if let Some(call) = self.get(id).filter(|call| call.listens) {
            call.activity.notify_one();
        }
    }

    /// A request in flight.
    pub(crate) fn get(&self, id: i64) -> Option<Arc<InFlight>> {
        lock(&self.calls).get(&id).cloned()
    }

    /// The request that a question belongs to: the only one that somebody answers
    /// questions for. A question does not say to which call it belongs.
    pub(crate) fn asked(&self) -> Option<Arc<InFlight>> {
        let calls = lock(&self.calls);
        let mut able = calls.values().filter(|call| call.elicitor.is_some());
        match (able.next(), able.next()) {
            (Some(call), None) => Some(call.clone()),
            _ => None,
        }
    }

    /// Passes a progress notification on to whom it belongs. `params` is JSON.
    pub(crate) fn progress(&self, params: &str) {
        #[derive(Deserialize)]
        struct Read<'a> {
            #[serde(borrow, rename = "progressToken")]
            token: &'a serde_json::value::RawValue,
            progress: f64,
            total: Option<f64>,
            message: Option<String>,
        }
        let Ok(read) = serde_json::from_str::<Read<'_>>(params) else {
            return;
        };
        let Some(token) = Id::read(read.token) else {
            return;
        };
        let call = lock(&self.calls)
            .values()
            .find(|call| call.token.get() == Some(&token))
            .cloned();
        if let Some(call) = call {
            call.activity.notify_one();
            if let Some(sink) = &call.progress {
                sink.report(Progress {
                    progress: read.progress,
                    total: read.total,
                    message: read.message,
                });
            }
        }
    }

    /// Whether somebody wants to know that the tools have changed.
    pub(crate) fn wants_changes(&self) -> bool {
        self.on_list_changed.is_some()
    }

    /// Tells that the tools have changed.
    pub(crate) fn list_changed(&self) {
        if let Some(tell) = &self.on_list_changed {
            tell();
        }
    }

    /// Notes that the stream has ended.
    pub(crate) fn end(&self) {
        self.ended_at.get_or_init(Instant::now);
        self.ended.cancel();
    }

    /// Raised when the stream has ended.
    pub(crate) fn ended(&self) -> &Cancellation {
        &self.ended
    }

    /// When the stream ended.
    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.ended_at.get().copied()
    }

    /// Notes a line that was no message. Its text may hold anything, so that it goes
    /// to the operator with an error, and not into the log.
    pub(crate) fn noise(&self, line: &str) {
        self.noise.fetch_add(1, Ordering::Relaxed);
        self.first_noise
            .get_or_init(|| one_line(line, MAX_NOISE_BYTES));
        if !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                server = %self.id,
                bytes = line.len(),
                "a server writes lines to its standard output that are no messages; they are skipped"
            );
        }
    }

    /// How many lines were no messages, and how the first one begins.
    pub(crate) fn noise_seen(&self) -> Option<(usize, &str)> {
        let first = self.first_noise.get()?;
        Some((self.noise.load(Ordering::Relaxed), first))
    }
}

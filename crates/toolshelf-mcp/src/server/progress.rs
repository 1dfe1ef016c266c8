//! Progress of a call on its way to the client.

use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};
use toolshelf_core::{Progress, ProgressSink};

use super::session::Outbox;
use crate::message::{self, Id};
use crate::sync::lock;

/// Sends progress under the token that the client gave.
pub(crate) struct Reporter {
    outbox: Arc<Outbox>,
    token: Id,
    over: Mutex<bool>,
}

impl Reporter {
    /// Reports under a token.
    pub(crate) fn new(outbox: Arc<Outbox>, token: Id) -> Self {
        Self {
            outbox,
            token,
            over: Mutex::new(false),
        }
    }

    /// Stops, so that no report comes after the answer.
    pub(crate) fn stop(&self) {
        *lock(&self.over) = true;
    }
}

impl ProgressSink for Reporter {
    fn report(&self, progress: Progress) {
        let Some(done) = number(progress.progress) else {
            return;
        };
        let mut params = Map::new();
        params.insert("progress".to_owned(), done);
        if let Some(total) = progress.total.and_then(number) {
            params.insert("total".to_owned(), total);
        }
        if let Some(message) = progress.message {
            params.insert("message".to_owned(), Value::String(message));
        }
        let rest = Value::Object(params).to_string();
        // The token is written as it came, which a `Value` need not do.
        let params = format!(r#"{{"progressToken":{},{}"#, self.token, &rest[1..]);
        // Held while queueing: the answer must not get in between.
        let over = lock(&self.over);
        if !*over {
            // A client that does not read misses progress, and nothing else.
            let _ = self.outbox.push(message::notification(
                "notifications/progress",
                Some(&params),
            ));
        }
    }
}

/// A number as people write it: `3`, not `3.0`.
fn number(value: f64) -> Option<Value> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[allow(clippy::cast_possible_truncation, reason = "whole and in range")]
        let whole = value as i64;
        return Some(Value::from(whole));
    }
    serde_json::Number::from_f64(value).map(Value::Number)
}

//! Questions to the user of a client with handshake (`elicitation/create`).

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use tokio::sync::oneshot;
use toolshelf_core::{Cancellation, Elicitor, Error, ErrorKind, JsonText};

use super::session::{Elicitation, Outbox};
use crate::message::{self, Id, RpcError};
use crate::sync::lock;

/// The longest time that a question waits for its answer.
const MAX_TIME: Duration = Duration::from_secs(3_600);

/// How many questions may wait at the same time.
const MAX_QUESTIONS: usize = 256;

/// The questions that wait for an answer of one client.
pub(crate) struct Questions {
    outbox: Arc<Outbox>,
    next: AtomicU64,
    waiting: Mutex<BTreeMap<Id, oneshot::Sender<Result<String, RpcError>>>>,
}

impl Questions {
    /// No questions.
    pub(crate) fn new(outbox: Arc<Outbox>) -> Self {
        Self {
            outbox,
            next: AtomicU64::new(1),
            waiting: Mutex::default(),
        }
    }

    /// Hands an answer to whoever asked.
    pub(crate) fn answer(&self, id: &Id, answer: Result<String, RpcError>) {
        if let Some(asker) = lock(&self.waiting).remove(id) {
            // The asker may have given up.
            let _ = asker.send(answer);
        }
    }

    /// Gives up on all answers.
    pub(crate) fn close(&self) {
        lock(&self.waiting).clear();
    }
}

/// Asks the user of a session.
pub(crate) struct SessionElicitor {
    /// Where questions wait.
    pub(crate) questions: Arc<Questions>,
    /// What the client can be asked.
    pub(crate) able: Elicitation,
    /// Raised when the call that asks was cancelled.
    pub(crate) cancellation: Cancellation,
}

/// Withdraws a question that nobody waits for any more.
struct Withdrawal<'a> {
    questions: &'a Questions,
    id: Id,
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if lock(&self.questions.waiting).remove(&self.id).is_some() {
            let params = format!(r#"{{"requestId":{}}}"#, self.id);
            // A client that does not read has not seen the question either.
            let _ = self.questions.outbox.push(message::notification(
                "notifications/cancelled",
                Some(&params),
            ));
        }
    }
}

fn nobody(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, message)
        .operation("elicitation/create")
        .for_model_text("The user could not be asked.")
}

#[async_trait]
impl Elicitor for SessionElicitor {
    async fn elicit(&self, request: JsonText) -> Result<JsonText, Error> {
        #[derive(Deserialize)]
        struct Mode {
            #[serde(default)]
            mode: Option<String>,
        }
        let mode: Mode = request.read()?;
        let able = match mode.mode.as_deref() {
            None | Some("form") => self.able.form,
            Some("url") => self.able.url,
            Some(_) => false,
        };
        if !able {
            return Err(nobody("the client cannot ask its user in this way"));
        }
        let questions = &*self.questions;
        let number = questions.next.fetch_add(1, Ordering::Relaxed);
        let id = Id::Text(format!("toolshelf-question-{number}"));
        let (sender, answer) = oneshot::channel();
        {
            let mut waiting = lock(&questions.waiting);
            if waiting.len() >= MAX_QUESTIONS {
                return Err(nobody("too many questions wait for an answer"));
            }
            waiting.insert(id.clone(), sender);
        }
        let withdrawal = Withdrawal {
            questions,
            id: id.clone(),
        };
        let text = message::request(&id, "elicitation/create", request.as_str());
        let sent = questions.outbox.send(text).await;
        sent.map_err(|cause| nobody("the client takes no question").caused_by(cause))?;
        let answer = tokio::select! {
            answer = tokio::time::timeout(MAX_TIME, answer) => answer,
            () = self.cancellation.cancelled() => {
                return Err(nobody("the call that asks was cancelled"));
            }
        };
        drop(withdrawal);
        match answer {
            Ok(Ok(Ok(result))) => JsonText::parse(&result),
            Ok(Ok(Err(error))) => Err(nobody(format!(
                "the client answered with the error {}",
                error.code
            ))),
            Ok(Err(_)) => Err(nobody("the connection ended before the answer")),
            Err(_) => Err(nobody("the user did not answer")),
        }
    }
}

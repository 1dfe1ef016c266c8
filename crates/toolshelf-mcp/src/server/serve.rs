//! The loop that serves one client.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use toolshelf_core::{Cancellation, Error, ErrorKind};

use super::dispatch::{Dispatcher, Work};
use super::question::Questions;
use super::session::Outbox;
use super::{McpServer, answer, pipes};
use crate::lines::{Line, LineReader, LineWriter};
use crate::message::{self, Id, Message, Read, RpcError, id_from_ends};
use crate::protocol::{INTERNAL_ERROR, INVALID_REQUEST, PARSE_ERROR};
use crate::sync::lock;

/// How long a call may go on after it was cancelled.
const CANCEL_GRACE: Duration = Duration::from_secs(5);

/// How long the last messages may take to be written.
const WRITE_PATIENCE: Duration = Duration::from_secs(2);

/// How a client is served.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServeOptions {
    /// The longest message that is read, in bytes. Default: 64 MiB.
    pub max_message_bytes: usize,
    /// The most requests in flight; further ones are answered with an error. Default:
    /// 1,024.
    pub max_in_flight: usize,
    /// How long requests in flight may go on after the client has closed its end, so
    /// that their answers are still written. Default: 5 s.
    pub drain: Duration,
}

impl Default for ServeOptions {
    fn default() -> Self {
        Self {
            max_message_bytes: 64 * 1024 * 1024,
            max_in_flight: 1_024,
            drain: Duration::from_secs(5),
        }
    }
}

/// Serves the client at this process's standard input and output until it closes its
/// end or `shutdown` is raised. See [`serve`].
///
/// Nothing else may write to standard output meanwhile. Needs a tokio runtime with time and
/// I/O.
///
/// # Errors
///
/// As [`serve`].
pub async fn serve_stdio(
    server: Arc<dyn McpServer>,
    options: ServeOptions,
    shutdown: Cancellation,
) -> Result<(), Error> {
    let (reader, writer, written) = pipes::stdio()?;
    let result = serve(reader, writer, server, options, shutdown).await;
    // A client that does not read is left alone.
    let _ = tokio::time::timeout(WRITE_PATIENCE, written).await;
    result
}

/// Serves one client over a pair of streams, of any revision from 2024-11-05 to
/// 2026-07-28, until it closes its end or `shutdown` is raised.
///
/// Requests run at the same time. A line that is no JSON, no request, or too long is
/// answered with an error, and the connection goes on. When the client closes its end,
/// requests in flight are answered within [`ServeOptions::drain`]; on `shutdown` they
/// are cancelled.
///
/// # Errors
///
/// `Unavailable` when the client takes no more answers although it did not close its
/// end.
pub async fn serve(
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
    server: Arc<dyn McpServer>,
    options: ServeOptions,
    shutdown: Cancellation,
) -> Result<(), Error> {
    let mut lines = LineReader::new(reader, options.max_message_bytes);
    let (queue, writing) = LineWriter::start(writer, options.max_message_bytes);
    let broken = queue.broken();
    let outbox = Arc::new(Outbox::new(queue));
    let questions = Arc::new(Questions::new(outbox.clone()));
    let mut connection = Connection {
        dispatcher: Dispatcher::new(server.clone(), outbox.clone(), questions.clone()),
        server,
        outbox,
        questions,
        options,
        running: Arc::default(),
        ending: Cancellation::new(),
        tasks: JoinSet::new(),
        by_task: HashMap::new(),
    };
    let result = connection.run(&mut lines, &shutdown, &broken).await;
    // Answers that nobody reads are not waited for.
    connection
        .end(result.is_err() || shutdown.is_cancelled())
        .await;
    writing.finish(WRITE_PATIENCE).await;
    result
}

/// A request that runs.
#[derive(Default)]
struct Running {
    cancellation: Cancellation,
    /// The client wants no answer any more.
    withdrawn: AtomicBool,
}

type RunningRequests = Arc<Mutex<BTreeMap<Id, Arc<Running>>>>;

struct Connection {
    server: Arc<dyn McpServer>,
    dispatcher: Dispatcher,
    outbox: Arc<Outbox>,
    questions: Arc<Questions>,
    options: ServeOptions,
    running: RunningRequests,
    /// Raised when no more requests are read.
    ending: Cancellation,
    tasks: JoinSet<()>,
    /// Which request a task works for, for the case that it panics.
    by_task: HashMap<tokio::task::Id, Id>,
}

impl Connection {
    async fn run(
        &mut self,
        lines: &mut LineReader,
        shutdown: &Cancellation,
        broken: &Cancellation,
    ) -> Result<(), Error> {
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => return Ok(()),
                () = broken.cancelled() => {
                    return Err(Error::new(
                        ErrorKind::Unavailable,
                        "the client takes no more answers",
                    )
                    .operation("serve"));
                }
                Some(ended) = self.tasks.join_next_with_id() => self.reap(ended).await,
                line = lines.next() => match line {
                    Ok(Some(line)) => {
                        // Waits for room when the client does not read, but not for ever.
                        tokio::select! {
                            biased;
                            () = shutdown.cancelled() => return Ok(()),
                            () = self.line(line) => {}
                        }
                    }
                    // A stream that breaks has ended.
                    Ok(None) | Err(_) => return Ok(()),
                },
            }
        }
    }

    async fn line(&mut self, line: Line) {
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong { bytes, head, tail } => {
                let fault = format!(
                    "the message has {bytes} bytes; at most {} are read",
                    self.options.max_message_bytes
                );
                let id = id_from_ends(&head, &tail);
                return self
                    .refuse(id.as_ref(), &RpcError::new(INVALID_REQUEST, fault))
                    .await;
            }
        };
        tracing::trace!(bytes = line.len(), "read");
        let read = match std::str::from_utf8(&line) {
            Ok(text) => message::read(text),
            Err(_) => Read::NotJson,
        };
        match read {
            Read::Blank => {}
            Read::NotJson => {
                self.refuse(None, &RpcError::new(PARSE_ERROR, "the line is not JSON"))
                    .await;
            }
            Read::Foreign => {
                self.refuse(
                    None,
                    &RpcError::new(INVALID_REQUEST, "this is not a JSON-RPC message"),
                )
                .await;
            }
            Read::Messages(messages) => {
                for message in messages {
                    self.message(message).await;
                }
            }
        }
    }

    async fn message(&mut self, message: Message) {
        match message {
            Message::Request { id, method, params } => {
                self.request(id, &method, params.as_deref()).await;
            }
            Message::Notification { method, params } => match method.as_str() {
                "notifications/initialized" => self.dispatcher.initialized(),
                "notifications/cancelled" => self.withdraw(params.as_deref()),
                _ => tracing::trace!("a notification that nobody here reads"),
            },
            Message::Response { id, result } => self.questions.answer(&id, Ok(result)),
            Message::Error {
                id: Some(id),
                error,
            } => self.questions.answer(&id, Err(error)),
            Message::Error { id: None, .. } => {}
            Message::Malformed { id, fault } => {
                self.refuse(id.as_ref(), &RpcError::new(INVALID_REQUEST, fault))
                    .await;
            }
        }
    }

    async fn refuse(&self, id: Option<&Id>, error: &RpcError) {
        self.send(message::error(id, error)).await;
    }

    async fn send(&self, text: String) {
        if let Err(cause) = self.outbox.send(text).await {
            // The loop sees for itself that the stream is broken.
            tracing::debug!(%cause, "an answer was not written");
        }
    }

    async fn request(&mut self, id: Id, method: &str, params: Option<&str>) {
        let running = Arc::new(Running::default());
        let fault = {
            let mut all = lock(&self.running);
            if all.contains_key(&id) {
                Some("a request with this id is in flight")
            } else if all.len() >= self.options.max_in_flight {
                Some("too many requests are in flight")
            } else {
                all.insert(id.clone(), running.clone());
                None
            }
        };
        if let Some(fault) = fault {
            return self
                .refuse(Some(&id), &RpcError::new(INVALID_REQUEST, fault))
                .await;
        }
        let work = self
            .dispatcher
            .request(&id, method, params, running.cancellation.clone());
        match work {
            Ok(Work::Done(result)) => {
                lock(&self.running).remove(&id);
                self.send(message::response(&id, &result)).await;
            }
            Err(error) => {
                lock(&self.running).remove(&id);
                self.refuse(Some(&id), &error).await;
            }
            Ok(work) => {
                let task = Task {
                    id: id.clone(),
                    server: self.server.clone(),
                    outbox: self.outbox.clone(),
                    all: self.running.clone(),
                    ending: self.ending.clone(),
                    running,
                };
                let handle = self.tasks.spawn(task.run(work));
                self.by_task.insert(handle.id(), id);
            }
        }
    }

    fn withdraw(&self, params: Option<&str>) {
        #[derive(Deserialize)]
        struct Read<'a> {
            #[serde(borrow, rename = "requestId")]
            id: &'a RawValue,
        }
        let id = params
            .and_then(|params| serde_json::from_str::<Read<'_>>(params).ok())
            .and_then(|read| Id::read(read.id));
        let Some(id) = id else {
            return;
        };
        let running = lock(&self.running).get(&id).cloned();
        if let Some(running) = running {
            self.dispatcher.withdrawn(&id);
            running.withdrawn.store(true, Ordering::SeqCst);
            running.cancellation.cancel();
        }
    }

    /// Notes the end of a task; one that panicked has not answered.
    async fn reap(&mut self, ended: Result<(tokio::task::Id, ()), tokio::task::JoinError>) {
        let (task, panicked) = match &ended {
            Ok((task, ())) => (*task, false),
            Err(fault) => (fault.id(), fault.is_panic()),
        };
        let Some(id) = self.by_task.remove(&task) else {
            return;
        };
        lock(&self.running).remove(&id);
        if panicked {
            tracing::error!("a request panicked");
            self.refuse(
                Some(&id),
                &RpcError::new(INTERNAL_ERROR, "the request failed"),
            )
            .await;
        }
    }

    async fn end(&mut self, at_once: bool) {
        // Nobody can answer any more.
        self.questions.close();
        self.ending.cancel();
        if !at_once {
            self.wait(self.options.drain).await;
        }
        for running in lock(&self.running).values() {
            running.cancellation.cancel();
        }
        self.wait(self.options.drain.min(Duration::from_secs(1)))
            .await;
        self.tasks.shutdown().await;
        for session in self.dispatcher.sessions() {
            self.server.session_ended(session);
        }
        self.outbox.close();
    }

    async fn wait(&mut self, patience: Duration) {
        let all = async {
            while let Some(ended) = self.tasks.join_next_with_id().await {
                self.reap(ended).await;
            }
        };
        // What still runs is cancelled next.
        let _ = tokio::time::timeout(patience, all).await;
    }
}

/// The work for one request.
struct Task {
    id: Id,
    server: Arc<dyn McpServer>,
    outbox: Arc<Outbox>,
    all: RunningRequests,
    ending: Cancellation,
    running: Arc<Running>,
}

impl Task {
    async fn run(self, work: Work) {
        let (answer, reporter) = match work {
            Work::Done(result) => (Some(Ok(result)), None),
            Work::List(session) => {
                let listing = async {
                    let tools = self.server.list_tools(&session).await?;
                    let era = session.era();
                    Ok(answer::tools(&tools, era, &self.server.identity(era)))
                };
                (self.unless_cancelled(listing).await, None)
            }
            Work::Listen(session) => {
                tokio::select! {
                    () = self.running.cancellation.cancelled() => {}
                    () = self.ending.cancelled() => {}
                }
                // Nothing under this id after the answer.
                session.unsubscribe(&self.id);
                let identity = self.server.identity(session.era());
                (Some(Ok(answer::listened(&self.id, &identity))), None)
            }
            Work::Call(call, reporter) => {
                let era = call.session.era();
                let calling = async {
                    let outcome = self.server.call_tool(*call).await?;
                    answer::outcome(outcome, era, &self.server.identity(era))
                };
                (self.unless_cancelled(calling).await, reporter)
            }
        };
        if let Some(reporter) = reporter {
            reporter.stop();
        }
        lock(&self.all).remove(&self.id);
        if self.running.withdrawn.load(Ordering::SeqCst) {
            return;
        }
        let text = match answer {
            Some(Ok(result)) => message::response(&self.id, &result),
            Some(Err(error)) => {
                tracing::debug!(kind = %error.kind(), "a request failed");
                message::error(Some(&self.id), &answer::fault(&error))
            }
            None => message::error(
                Some(&self.id),
                &RpcError::new(INTERNAL_ERROR, "the request was cancelled"),
            ),
        };
        if let Err(cause) = self.outbox.send(text).await {
            tracing::debug!(%cause, "an answer was not written");
        }
    }

    /// Drops work that goes on too long after it was cancelled.
    async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Option<Result<T, Error>> {
        let over = async {
            self.running.cancellation.cancelled().await;
            tokio::time::sleep(CANCEL_GRACE).await;
        };
        tokio::select! {
            result = work => Some(result),
            () = over => None,
        }
    }
}

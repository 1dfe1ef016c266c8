//! A host that speaks MCP to a gateway over its pipes.
//!
//! It is no client library: it keeps what came as text, so that bytes can be compared, and
//! does not share a mistake with the gateway that it looks at.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};

/// The revision that is offered.
const REVISION: &str = "2025-11-25";

/// How much of the standard error is kept: the last words are the interesting ones.
const TAIL: usize = 4 * 1024;

/// The longest line that is taken for a message.
const MAX_LINE: usize = 256 * 1024 * 1024;

/// What a request was answered with.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    /// The result as it was written, or nothing.
    pub(crate) text: String,
    /// The result, or null.
    pub(crate) result: Value,
    /// The error, or null.
    pub(crate) error: Value,
}

impl Answer {
    /// Whether it says that a call failed.
    pub(crate) fn is_error(&self) -> bool {
        !self.error.is_null() || self.result["isError"] == true
    }

    /// What a model would read of it.
    pub(crate) fn words(&self) -> String {
        if !self.error.is_null() {
            return self.error["message"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
        }
        let content = self.result["content"].as_array();
        let mut words: Vec<String> = content
            .into_iter()
            .flatten()
            .map(|block| match block["text"].as_str() {
                Some(text) => text.to_owned(),
                None => block.to_string(),
            })
            .collect();
        if words.is_empty() {
            words.push(self.text.clone());
        }
        words.join("\n")
    }
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    id: Value,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    result: Option<Box<RawValue>>,
    #[serde(default)]
    error: Value,
}

#[derive(Default)]
struct Shared {
    pending: Mutex<Option<BTreeMap<u64, oneshot::Sender<Answer>>>>,
    progress: Mutex<Vec<Value>>,
    last_words: Mutex<Vec<u8>>,
    noise: AtomicU64,
}

/// A gateway that runs.
pub(crate) struct Host {
    pub(crate) child: Child,
    to_gateway: Option<mpsc::Sender<String>>,
    shared: Arc<Shared>,
    next: AtomicU64,
    reading: [tokio::task::JoinHandle<()>; 3],
}

/// A request that was sent.
pub(crate) struct Sent {
    pub(crate) id: u64,
    answer: oneshot::Receiver<Answer>,
    what: String,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    /// Speaks to a process whose three streams are pipes.
    pub(crate) fn new(mut child: Child) -> Option<Self> {
        let (stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let stderr = child.stderr.take()?;
        let shared = Arc::new(Shared::default());
        *lock(&shared.pending) = Some(BTreeMap::new());
        let (to_gateway, outgoing) = mpsc::channel(64);
        let reading = [
            tokio::spawn(write(stdin, outgoing)),
            tokio::spawn(read(stdout, shared.clone(), to_gateway.downgrade())),
            tokio::spawn(listen(stderr, shared.clone())),
        ];
        Some(Self {
            child,
            to_gateway: Some(to_gateway),
            shared,
            next: AtomicU64::new(1),
            reading,
        })
    }

    /// The handshake. Returns what the gateway says of itself.
    pub(crate) async fn initialize(&self, patience: Duration) -> Result<Value, String> {
        let params = json!({
            "protocolVersion": REVISION,
            "capabilities": {},
            "clientInfo": {"name": "toolshelf-probe", "version": env!("CARGO_PKG_VERSION")},
        });
        let sent = self.send("initialize", params).await;
        let answer = self.answer(sent, patience).await?;
        if answer.result["protocolVersion"].as_str().is_none() {
            return Err(format!("initialize was answered with {}", answer.words()));
        }
        self.notify("notifications/initialized", json!({})).await;
        Ok(answer.result)
    }

    /// Sends a request.
    pub(crate) async fn send(&self, method: &str, params: Value) -> Sent {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, answer) = oneshot::channel();
        // Of a gateway that has ended nothing is pending; the sender is dropped.
        if let Some(pending) = &mut *lock(&self.shared.pending) {
            pending.insert(id, sender);
        }
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        Sent {
            id,
            answer,
            what: method.to_owned(),
        }
    }

    /// Waits for the answer of a request.
    pub(crate) async fn answer(&self, sent: Sent, patience: Duration) -> Result<Answer, String> {
        match tokio::time::timeout(patience, sent.answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(format!(
                "the gateway ended before it answered {}{}",
                sent.what,
                self.last_words()
            )),
            Err(_) => Err(format!(
                "no answer to {} within {} s",
                sent.what,
                patience.as_secs()
            )),
        }
    }

    /// Sends a notification.
    pub(crate) async fn notify(&self, method: &str, params: Value) {
        self.write(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    async fn write(&self, message: Value) {
        if let Some(to_gateway) = &self.to_gateway {
            // A gateway that does not read keeps nobody waiting: the answer has a deadline.
            let _ = tokio::time::timeout(
                Duration::from_secs(5),
                to_gateway.send(format!("{message}\n")),
            )
            .await;
        }
    }

    /// Progress that was reported for a token, in order.
    pub(crate) fn progress(&self, token: &str) -> Vec<f64> {
        let reports = lock(&self.shared.progress);
        let ours = reports.iter().filter(|it| it["progressToken"] == token);
        ours.filter_map(|it| it["progress"].as_f64()).collect()
    }

    /// Lines that were no messages.
    pub(crate) fn noise(&self) -> u64 {
        self.shared.noise.load(Ordering::Relaxed)
    }

    /// Ends the gateway's input, which asks it to end.
    pub(crate) fn close_input(&mut self) {
        self.to_gateway = None;
    }

    /// The last line that the gateway wrote to its standard error, to be added to a text.
    fn last_words(&self) -> String {
        let bytes = lock(&self.shared.last_words);
        let text = String::from_utf8_lossy(&bytes);
        match text.lines().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => format!("; its last words: {}", line.trim()),
            None => String::new(),
        }
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        for task in &self.reading {
            task.abort();
        }
    }
}

async fn write(mut stdin: ChildStdin, mut outgoing: mpsc::Receiver<String>) {
    while let Some(line) = outgoing.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read(stdout: ChildStdout, shared: Arc<Shared>, back: mpsc::WeakSender<String>) {
    let mut reader = BufReader::new(stdout);
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut limited = (&mut reader).take(MAX_LINE as u64);
        match limited.read_until(b'\n', &mut line).await {
            Ok(1..) => {}
            _ => break,
        }
        let Ok(message) = serde_json::from_slice::<Message>(&line) else {
            shared.noise.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        match message.method.as_deref() {
            None => answered(&shared, message),
            Some("notifications/progress") => lock(&shared.progress).push(message.params),
            Some(method) if !message.id.is_null() => {
                let reply = match method {
                    "ping" => json!({"jsonrpc": "2.0", "id": message.id, "result": {}}),
                    _ => json!({"jsonrpc": "2.0", "id": message.id,
                                "error": {"code": -32601, "message": "Method not found"}}),
                };
                if let Some(back) = back.upgrade() {
                    let _ = back.try_send(format!("{reply}\n"));
                }
            }
            Some(_) => {}
        }
    }
    // Whoever waits for an answer gets none any more.
    *lock(&shared.pending) = None;
}

fn answered(shared: &Shared, message: Message) {
    let id = message.id.as_u64();
    let sender = id.and_then(|id| lock(&shared.pending).as_mut()?.remove(&id));
    if let Some(sender) = sender {
        let text = message
            .result
            .map_or(String::new(), |raw| raw.get().to_owned());
        let _ = sender.send(Answer {
            result: serde_json::from_str(&text).unwrap_or_default(),
            text,
            error: message.error,
        });
    }
}

async fn listen(mut stderr: ChildStderr, shared: Arc<Shared>) {
    let mut buffer = vec![0; 16 * 1024];
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = lock(&shared.last_words);
        kept.extend_from_slice(&buffer[..length]);
        let spare = kept.len().saturating_sub(TAIL);
        kept.drain(..spare);
    }
}

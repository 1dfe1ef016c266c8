//! What the server writes: messages, its log, and too much.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What no model and no host may ever read: it goes to the standard error only.
pub(crate) const SECRET: &str = "s3cret";

/// Both streams that somebody reads: standard output, and the log.
#[derive(Clone)]
pub(crate) struct Output {
    chatter: bool,
    log: Option<String>,
    lock: Arc<Mutex<()>>,
}

impl Output {
    pub(crate) fn new(chatter: bool, log: Option<&str>) -> Self {
        Self {
            chatter,
            log: log.map(str::to_owned),
            lock: Arc::default(),
        }
    }

    /// Writes a line as it is.
    pub(crate) fn line(&self, line: &str) {
        let _one_at_a_time = self.lock.lock();
        let mut out = std::io::stdout().lock();
        // A client that is gone shows at the end of the input.
        let _ = out.write_all(format!("{line}\n").as_bytes());
        let _ = out.flush();
    }

    pub(crate) fn message(&self, message: &Value) {
        if self.chatter {
            self.line("[info] about to answer {\"not\": \"a message\"}");
        }
        self.line(&message.to_string());
    }

    pub(crate) fn result(&self, id: &Value, result: Value) {
        self.message(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    pub(crate) fn error(&self, id: &Value, code: i64, message: &str) {
        let error = json!({"code": code, "message": message});
        self.message(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
    }

    pub(crate) fn text(&self, id: &Value, text: &str) {
        let result = json!({"content": [{"type": "text", "text": text}], "resultType": "complete"});
        self.result(id, result);
    }

    /// Notes what happened.
    pub(crate) fn note(&self, what: &str) {
        let Some(path) = &self.log else { return };
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path);
        // One write, so that lines of several processes do not mix. A test that waits for
        // a line which could not be written fails by its deadline.
        if let Ok(mut file) = file {
            let _ = file.write_all(format!("{what}\n").as_bytes());
        }
    }
}
/// Writes to the standard error; returns when somebody has read it.
pub(crate) fn flood(bytes: u64) {
    let mut line = vec![b'.'; 64 * 1024];
    line[0] = b'\n';
    line.splice(1..1, SECRET.bytes());
    let mut left = bytes;
    let mut stderr = std::io::stderr().lock();
    while left > 0 {
        let part = usize::try_from(left).unwrap_or(line.len()).min(line.len());
        if stderr.write_all(&line[..part]).is_err() {
            return;
        }
        left -= part as u64;
    }
}

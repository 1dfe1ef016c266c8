//! What the server reads, and how it begins and ends.

use std::io::BufRead;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::{Value, json};

use crate::calls::Asking;
use crate::output::{Output, SECRET, flood};
use crate::words::Words;

/// The newest revision with a handshake that it speaks, and the one without.
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// The older ones, for clients that ask for them.
const OLDER: [&str; 3] = ["2024-11-05", "2025-03-26", "2025-06-18"];

/// How often it is looked whether a file is there.
const LOOK: Duration = Duration::from_millis(20);

pub(crate) struct Server {
    pub(crate) words: Words,
    modern: bool,
    pub(crate) output: Output,
    pub(crate) calls: u64,
    /// Calls of `together` that wait for others.
    pub(crate) waiting: Vec<(Value, String)>,
    pub(crate) asking: Option<Asking>,
    /// What `change` made of the list.
    pub(crate) list: String,
}

/// Whether to go on reading.
pub(crate) enum Next {
    Read,
    Exit(u8),
}

impl Server {
    pub(crate) fn new(words: Words) -> Self {
        let list = words
            .text("state")
            .and_then(|path| std::fs::read_to_string(path).ok());
        Self {
            modern: words.has("modern"),
            output: Output::new(words.has("chatter"), words.text("log")),
            words,
            calls: 0,
            waiting: Vec::new(),
            asking: None,
            list: list.unwrap_or_default(),
        }
    }

    pub(crate) fn run(mut self) -> ExitCode {
        self.output.note(&format!("pid {}", std::process::id()));
        if self.words.has("child") {
            let child = std::process::Command::new("sleep").arg("1000").spawn();
            if let Ok(child) = child {
                self.output.note(&format!("pid {}", child.id()));
            }
        }
        if let Some(milliseconds) = self.words.number("start") {
            std::thread::sleep(Duration::from_millis(milliseconds));
        }
        if let Some(gate) = self.words.text("gate")
            && !opened(Path::new(gate))
        {
            return ExitCode::SUCCESS;
        }
        if let Some(bytes) = self.words.number("flood") {
            flood(bytes);
        }
        if let Some(code) = self.words.number("exit") {
            eprintln!("cannot start: the token {SECRET} is not valid");
            return ExitCode::from(u8::try_from(code).unwrap_or(1));
        }
        if self.words.has("banner") {
            self.output.line("Welcome! Listening on stdio, pid {1}");
            self.output.line("");
        }
        self.output.note("ready");
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let Ok(message) = serde_json::from_str::<Value>(&line) else {
                continue;
            };
            match self.read(&message) {
                Next::Read => {}
                Next::Exit(code) => return ExitCode::from(code),
            }
        }
        self.output.note("end-of-input");
        while self.words.has("stays") {
            std::thread::sleep(Duration::from_secs(1));
        }
        ExitCode::SUCCESS
    }

    fn read(&mut self, message: &Value) -> Next {
        let id = &message["id"];
        let params = &message["params"];
        match message["method"].as_str() {
            Some("server/discover") => return self.discover(id),
            Some("initialize") => self.initialize(id, params),
            Some("ping") => self.output.result(id, json!({})),
            Some("tools/list") => self.list(id, params),
            Some("tools/call") => return self.call(id, params),
            Some("notifications/cancelled") => self.output.note("cancelled"),
            Some(_) if id.is_null() => {}
            Some(_) => self.output.error(id, -32601, "Method not found"),
            None => self.answered(message),
        }
        Next::Read
    }

    fn discover(&self, id: &Value) -> Next {
        let answer = if self.modern {
            json!({"jsonrpc": "2.0", "id": id, "result": {
                "supportedVersions": [MODERN],
                "capabilities": {"tools": {}},
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
            }})
        } else {
            let error = json!({"code": -32601, "message": "Method not found"});
            json!({"jsonrpc": "2.0", "id": id, "error": error})
        };
        match self
            .words
            .text("probe")
            .map(|how| how.split_once(':').unwrap_or((how, "")))
        {
            Some(("silent", _)) => self.output.note("probe"),
            Some(("dies", _)) => {
                self.output.note("probe");
                return Next::Exit(5);
            }
            Some(("late", milliseconds)) => {
                let output = self.output.clone();
                let wait = Duration::from_millis(milliseconds.parse().unwrap_or_default());
                std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    output.message(&answer);
                });
            }
            Some(("slow", milliseconds)) => {
                let wait = milliseconds.parse().unwrap_or_default();
                std::thread::sleep(Duration::from_millis(wait));
                self.output.message(&answer);
            }
            _ => self.output.message(&answer),
        }
        Next::Read
    }

    fn initialize(&self, id: &Value, params: &Value) {
        match self.words.text("connect") {
            Some("null") => self.output.result(id, Value::Null),
            Some("error") => self.output.error(id, -32000, "no room for another client"),
            _ if self.modern => self.output.error(id, -32601, "Method not found"),
            _ => self.output.result(
                id,
                json!({
                    "protocolVersion": OLDER
                        .into_iter()
                        .find(|revision| params["protocolVersion"] == *revision)
                        .unwrap_or(LEGACY),
                    "capabilities": {"tools": {"listChanged": true}},
                    "serverInfo": {"name": "faulty", "version": "1"},
                }),
            ),
        }
    }
}

/// Waits for a file. `false`: its folder is gone, so that nobody can make it any more.
fn opened(gate: &Path) -> bool {
    while !gate.exists() {
        if !gate.parent().is_some_and(Path::exists) {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}

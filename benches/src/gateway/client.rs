//! An MCP client that costs as little as possible: lines over the pipes of a child
//! process, written and read on the calling thread.
//!
//! What it adds is the same for everything that is compared through it, and there is no
//! runtime in it whose scheduling could be taken for somebody else's time.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

/// The revision that is spoken: the last one with a handshake, as hosts do.
const REVISION: &str = "2025-11-25";

/// How long a process may take to end after its input was closed.
const END: Duration = Duration::from_secs(15);

/// A server process and the connection to it. Dropping it kills the process.
pub(crate) struct Client {
    child: Arc<Mutex<Child>>,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    line: String,
    next_id: u64,
    /// Ends the guard.
    _armed: mpsc::Sender<()>,
}

impl Client {
    /// Starts a process that is killed after `limit`, so that nothing here waits for ever.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn start(mut command: Command, limit: Duration) -> Result<Self> {
        let program = command.get_program().to_string_lossy().into_owned();
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            bail!("{program} has no pipes");
        };
        let child = Arc::new(Mutex::new(child));
        let (armed, guard) = mpsc::channel::<()>();
        let guarded = child.clone();
        thread::spawn(move || {
            if guard.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{program} took longer than {limit:?} and is killed");
                // Its pipes end with it, and so does whoever reads them.
                let _ = lock(&guarded).kill();
            }
        });
        Ok(Self {
            child,
            input: Some(input),
            output: BufReader::with_capacity(256 * 1024, output),
            line: String::new(),
            next_id: 0,
            _armed: armed,
        })
    }

    /// The process.
    pub(crate) fn pid(&self) -> u32 {
        lock(&self.child).id()
    }

    /// Begins a session.
    ///
    /// # Errors
    ///
    /// When the server does not answer, or with an error.
    pub(crate) fn handshake(&mut self) -> Result<()> {
        let client = json!({"name": "toolshelf-benches", "version": "0"});
        self.request(
            "initialize",
            &json!({"protocolVersion": REVISION, "capabilities": {}, "clientInfo": client}),
        )?;
        self.write("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")
    }

    /// Makes a request and returns its result.
    ///
    /// # Errors
    ///
    /// When there is no answer, or an error.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> Result<Value> {
        let (_, mut answer) = self.timed(method, &params.to_string())?;
        match answer.get_mut("result") {
            Some(result) => Ok(result.take()),
            None => bail!("{method} was answered with {answer}"),
        }
    }

    /// Calls a tool and returns the result.
    ///
    /// # Errors
    ///
    /// When there is no answer, or the tool says that it failed.
    pub(crate) fn call(&mut self, name: &str, arguments: &Value) -> Result<Value> {
        let result = self.request("tools/call", &json!({"name": name, "arguments": arguments}))?;
        if result["isError"] == true {
            bail!("{name} failed: {result}");
        }
        Ok(result)
    }

    /// Makes a request with parameters that are text already, and returns how long it took
    /// from before the first byte was written until the answer was read, and the answer,
    /// which is parsed after that.
    ///
    /// # Errors
    ///
    /// When there is no answer.
    pub(crate) fn timed(&mut self, method: &str, params: &str) -> Result<(Duration, Value)> {
        #[derive(Deserialize)]
        struct Head {
            id: Option<u64>,
        }
        self.next_id += 1;
        let id = self.next_id;
        let request = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}\n"
        );
        let begun = Instant::now();
        self.write(&request)?;
        loop {
            self.line.clear();
            if self.output.read_line(&mut self.line)? == 0 {
                bail!("the server ended before it answered {method}");
            }
            let took = begun.elapsed();
            let head: Head = serde_json::from_str(&self.line)
                .with_context(|| format!("not a message: {}", self.line))?;
            // Notifications come in between.
            if head.id == Some(id) {
                return Ok((took, serde_json::from_str(&self.line)?));
            }
        }
    }

    fn write(&mut self, text: &str) -> Result<()> {
        let Some(input) = &mut self.input else {
            bail!("the session has ended");
        };
        input.write_all(text.as_bytes())?;
        Ok(())
    }

    /// Closes the server's input and waits until it has ended.
    ///
    /// # Errors
    ///
    /// When it does not end in time, or says that it failed.
    pub(crate) fn end(mut self) -> Result<()> {
        self.input = None;
        let until = Instant::now() + END;
        while Instant::now() < until {
            if let Some(status) = self.status()? {
                if !status.success() {
                    bail!("the process ended with {status}");
                }
                return Ok(());
            }
            thread::sleep(Duration::from_millis(2));
        }
        bail!("the process does not end within {END:?} after its input was closed")
    }

    fn status(&self) -> Result<Option<ExitStatus>> {
        Ok(lock(&self.child).try_wait()?)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let mut child = lock(&self.child);
        // Both do nothing to a process that has ended.
        let _ = child.kill();
        let _ = child.wait();
    }
}

fn lock(child: &Mutex<Child>) -> MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

//! What the tests share.
#![allow(dead_code, reason = "each test uses a part of it")]

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;
use toolshelf_core::{Error, ErrorKind, JsonText, Progress, ToolOutcome, ToolResult};
use toolshelf_mcp::{Era, IncomingCall, McpServer, ServerIdentity, Session};

/// No test takes longer.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// Runs a test within [`LIMIT`].
pub(crate) async fn within<T>(test: impl Future<Output = T>) -> T {
    tokio::time::timeout(LIMIT, test)
        .await
        .expect("the test takes too long")
}

/// The tools of [`Fixture`].
pub(crate) const DESCRIPTORS: [&str; 2] = [
    r#"{"name":"echo","inputSchema":{"type":"object","properties":{"z":{},"a":{}}},"execution":{"n":1.50}}"#,
    r#"{"name":"wait","inputSchema":{"type":"object"},"vendor":[1e2]}"#,
];

/// A server of ours.
#[derive(Default)]
pub(crate) struct Fixture {
    /// Told of each session that starts.
    pub(crate) sessions: Option<tokio::sync::mpsc::UnboundedSender<Session>>,
    /// Told of each call that was cancelled.
    pub(crate) cancelled: Option<tokio::sync::mpsc::UnboundedSender<String>>,
    /// Told of each call, with its context.
    pub(crate) calls: Option<tokio::sync::mpsc::UnboundedSender<IncomingCall>>,
    /// Whether clients without handshake may ask to be told of changes.
    pub(crate) modern_change: bool,
    /// What `wait` waits for.
    pub(crate) gate: std::sync::Arc<tokio::sync::Notify>,
}

#[async_trait]
impl McpServer for Fixture {
    fn identity(&self, era: Era) -> ServerIdentity {
        let mut identity = ServerIdentity::new("fixture", "0.0.1");
        identity.instructions = Some(format!("{era:?}"));
        identity.tools_change = era == Era::Handshake || self.modern_change;
        identity
    }

    fn session_started(&self, session: &Session) {
        if let Some(sessions) = &self.sessions {
            sessions.send(session.clone()).unwrap();
        }
    }

    async fn list_tools(&self, _session: &Session) -> Result<Vec<JsonText>, Error> {
        DESCRIPTORS
            .iter()
            .map(|text| JsonText::parse(text))
            .collect()
    }

    async fn call_tool(&self, call: IncomingCall) -> Result<ToolOutcome, Error> {
        if let Some(calls) = &self.calls {
            calls.send(call.clone()).unwrap();
        }
        let IncomingCall {
            name,
            arguments,
            context,
            ..
        } = call;
        let arguments = arguments.map(|text| text.to_string()).unwrap_or_default();
        match name.as_str() {
            "echo" => Ok(ToolOutcome::Complete(ToolResult::text(format!(
                "echo({arguments})"
            )))),
            "verbatim" => Ok(ToolOutcome::Complete(ToolResult::from_json(&arguments)?)),
            "progress" => {
                let sink = context.progress.as_ref();
                for n in 1..=3 {
                    if let Some(sink) = sink {
                        sink.report(Progress {
                            progress: f64::from(n),
                            total: Some(3.0),
                            message: Some(format!("step {n}")),
                        });
                    }
                }
                Ok(ToolOutcome::Complete(ToolResult::text("done")))
            }
            "ask" => {
                let answer = match &context.elicitor {
                    Some(elicitor) => elicitor
                        .elicit(JsonText::parse(&arguments)?)
                        .await?
                        .to_string(),
                    None => "nobody to ask".to_owned(),
                };
                Ok(ToolOutcome::Complete(ToolResult::text(answer)))
            }
            "wait" => {
                tokio::select! {
                    () = context.cancellation.cancelled() => {
                        if let Some(cancelled) = &self.cancelled {
                            cancelled.send(name).unwrap();
                        }
                        Err(Error::new(ErrorKind::Cancelled, "cancelled"))
                    }
                    () = self.gate.notified() => Ok(ToolOutcome::Complete(ToolResult::text("waited"))),
                }
            }
            "panic" => panic!("a fault of the fixture"),
            _ => Err(Error::new(
                ErrorKind::NotFound,
                format!("no tool {name}; secret=hunter2"),
            )
            .for_model_text("There is no such tool.")),
        }
    }
}

//! A gateway as a real process, and a real client in front of it.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolshelf_core::{
    CallContext, Cancellation, Error, ErrorKind, LoadContext, Progress, ProgressSink,
    ToolDefinition, ToolOutcome, ToolResult,
};
use toolshelf_mcp::{StdioConfig, StdioServer};

use super::act::Turn;
use crate::commands::call::describe;
use crate::failure::Failure;
use crate::source::this_program;

/// How long the gateway may wait for its servers, and each call may take. Far more than
/// any of it needs; a tour ends in any case.
const PATIENCE: Duration = Duration::from_secs(30);

/// `toolshelf serve --samples` under one strategy.
pub(super) struct Stage {
    gateway: StdioServer,
}

/// What the gateway shows to a host.
pub(super) struct List {
    pub(super) definitions: Vec<Arc<ToolDefinition>>,
    pub(super) instructions: String,
    pub(super) protocol: String,
}

/// How a call ended.
pub(super) struct Answer {
    pub(super) result: Result<ToolResult, Error>,
    pub(super) progress: Vec<String>,
    pub(super) took: Duration,
}

impl Stage {
    pub(super) fn new(strategy: &str) -> Result<Self, Failure> {
        let wait = PATIENCE.as_secs().to_string();
        let mut config = StdioConfig::new("toolshelf", this_program()?).args([
            "serve",
            "--samples",
            "--strategy",
            strategy,
            "--wait",
            &wait,
        ]);
        config.connect_timeout = PATIENCE * 2;
        config.call_timeout = PATIENCE;
        config.max_call_time = PATIENCE;
        Ok(Self {
            gateway: StdioServer::new(config),
        })
    }

    /// Asks for the list of tools, all of it, anew.
    pub(super) async fn list(&self) -> Result<List, Failure> {
        let context = LoadContext::default();
        let list = self.gateway.list_tools(&context).await;
        let server = self.gateway.server_info(&context).await;
        let (list, server) = (
            list.map_err(|error| Failure::of(&error))?,
            server.map_err(|error| Failure::of(&error))?,
        );
        Ok(List {
            definitions: list.tools,
            instructions: server.instructions.unwrap_or_default(),
            protocol: server.protocol.unwrap_or_default(),
        })
    }

    /// Makes a call of the script.
    pub(super) async fn call(&self, turn: &Turn) -> Answer {
        let sink = Arc::new(Reports::new(turn.cancel_after));
        let mut context = CallContext::new();
        context.cancellation = sink.cancellation.clone();
        context.progress = Some(sink.clone());
        let begun = Instant::now();
        let outcome = self
            .gateway
            .call_tool(turn.tool, turn.arguments.clone(), context)
            .await;
        let result = outcome.and_then(|outcome| match outcome {
            ToolOutcome::Complete(result) => Ok(result),
            _ => Err(Error::new(ErrorKind::Protocol, "the call did not complete")),
        });
        let progress = std::mem::take(&mut *sink.lines());
        Answer {
            result,
            progress,
            took: begun.elapsed(),
        }
    }

    /// Ends the gateway and all that it started.
    pub(super) async fn close(&self) {
        self.gateway.close().await;
    }
}

impl List {
    /// What stands at the beginning of every request: the bytes of all definitions, and
    /// of the instructions.
    fn parts(&self) -> impl Iterator<Item = &str> {
        let definitions = self.definitions.iter();
        definitions
            .map(|definition| definition.descriptor().as_str())
            .chain([self.instructions.as_str()])
    }

    /// How many bytes there are.
    pub(super) fn bytes(&self) -> usize {
        self.parts().map(str::len).sum()
    }

    /// How many bytes of another list differ from this one.
    pub(super) fn changed_bytes(&self, other: &Self) -> usize {
        let ours: Vec<u8> = self.parts().flat_map(str::bytes).collect();
        let theirs: Vec<u8> = other.parts().flat_map(str::bytes).collect();
        let differ = ours.iter().zip(&theirs).filter(|(a, b)| a != b).count();
        differ + ours.len().abs_diff(theirs.len())
    }
}

/// Keeps reports of progress, and cancels the call after so many.
struct Reports {
    lines: Mutex<Vec<String>>,
    cancel_after: Option<usize>,
    cancellation: Cancellation,
}

impl Reports {
    fn new(cancel_after: Option<usize>) -> Self {
        Self {
            lines: Mutex::default(),
            cancel_after,
            cancellation: Cancellation::new(),
        }
    }

    fn lines(&self) -> std::sync::MutexGuard<'_, Vec<String>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        let mut lines = self.lines();
        lines.push(describe(&progress));
        if Some(lines.len()) == self.cancel_after {
            self.cancellation.cancel();
        }
    }
}

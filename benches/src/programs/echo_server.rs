//! A server that costs next to nothing: one tool, which returns its arguments.

use std::sync::Arc;

use anyhow::Result;
use async_trait::async_trait;
use toolshelf_core::{Cancellation, Error, JsonText, ToolOutcome, ToolResult};
use toolshelf_mcp::{
    Era, IncomingCall, McpServer, ServeOptions, ServerIdentity, Session, serve_stdio,
};

struct Echo;

#[async_trait]
impl McpServer for Echo {
    fn identity(&self, _era: Era) -> ServerIdentity {
        ServerIdentity::new("bench-echo-server", "0")
    }

    async fn list_tools(&self, _session: &Session) -> Result<Vec<JsonText>, Error> {
        Ok(vec![JsonText::parse(
            r#"{"name":"echo","description":"Returns its arguments.","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}"#,
        )?])
    }

    async fn call_tool(&self, call: IncomingCall) -> Result<ToolOutcome, Error> {
        let arguments = call.arguments.map(|text| text.to_string());
        Ok(ToolOutcome::Complete(ToolResult::text(
            arguments.unwrap_or_default(),
        )))
    }
}

/// Serves until the end of input.
///
/// # Errors
///
/// When the client takes no more answers.
pub(crate) fn run() -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(serve_stdio(
        Arc::new(Echo),
        ServeOptions::default(),
        Cancellation::new(),
    ))?;
    Ok(())
}

//! The least that a proxy made with rmcp can be: a server in front, a client with a child
//! process behind, and each request handed on as rmcp reads it. No names, no lists, no
//! validation, no cache.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceError};
use rmcp::transport::TokioChildProcess;
use rmcp::transport::io::{stdio, stdio_pipes};
use rmcp::{ServerHandler, ServiceExt};

/// What stands behind the proxy.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The runtime drives standard input and output (`stdio_pipes`), instead of blocking
    /// threads (`stdio`)
    #[arg(long)]
    pipes: bool,
    /// The server
    program: PathBuf,
    /// Its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

struct Proxy {
    server: Peer<RoleClient>,
}

fn failed(error: ServiceError) -> ErrorData {
    match error {
        ServiceError::McpError(error) => error,
        other => ErrorData::internal_error(other.to_string(), None),
    }
}

impl ServerHandler for Proxy {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.server.list_tools(request).await.map_err(failed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.server.call_tool_once(request).await.map_err(failed)
    }
}

async fn proxy(arguments: &Arguments) -> Result<()> {
    let mut command = tokio::process::Command::new(&arguments.program);
    command.args(&arguments.arguments);
    let behind = ().serve(TokioChildProcess::new(command)?).await?;
    let proxy = Proxy {
        server: behind.peer().clone(),
    };
    let front = if arguments.pipes {
        proxy.serve(stdio_pipes()).await?
    } else {
        proxy.serve(stdio()).await?
    };
    front.waiting().await?;
    behind.cancel().await?;
    Ok(())
}

/// Stands between a client and the server that it starts until the end of input.
///
/// # Errors
///
/// When the server cannot be started.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // As many threads as the gateway has.
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let result = runtime.block_on(proxy(arguments));
    // A thread that reads standard input may never end.
    runtime.shutdown_background();
    result
}

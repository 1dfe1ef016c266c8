//! What the tests share: how the installed servers are started, and a client at a gateway.

pub mod gateway;
mod sandbox;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::{CallContext, Cancellation, Error, ErrorKind, ToolOutcome, ToolResult};
use toolshelf_mcp::{ClientOptions, Lifecycle, McpClient, McpServer, ServeOptions, StdioConfig};

pub use sandbox::{Sandbox, open_folder};

/// How a real server is started: in a [`Sandbox`], where the machine has one.
///
/// # Errors
///
/// [`ErrorKind::NotFound`] when the servers are not installed; it says how to do that.
pub fn real_server(name: &str) -> Result<StdioConfig, Error> {
    let path = std::env::var_os("TOOLSHELF_FIXTURES").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/fixtures/servers.json"),
        PathBuf::from,
    );
    let missing = |cause: String| {
        Error::new(
            ErrorKind::NotFound,
            format!(
                "the servers that tests run against are not installed ({}: {cause}); install \
                 them with `cargo xtask fixtures`",
                path.display()
            ),
        )
    };
    let text = std::fs::read_to_string(&path).map_err(|cause| missing(cause.to_string()))?;
    let servers: BTreeMap<String, Value> =
        serde_json::from_str(&text).map_err(|cause| missing(cause.to_string()))?;
    let server = servers
        .get(name)
        .ok_or_else(|| missing(format!("there is no '{name}' in it")))?;
    let command = server["command"].as_str().unwrap_or_default();
    let args = server["args"].as_array().cloned().unwrap_or_default();
    let mut config = StdioConfig::new(name, command)
        .args(args.iter().filter_map(Value::as_str).map(str::to_owned));
    for (name, value) in server["env"].as_object().into_iter().flatten() {
        config = config.env(name, value.as_str().unwrap_or_default());
    }
    Ok(match Sandbox::get(&config) {
        Some(sandbox) => sandbox.around(config),
        None => config,
    })
}

/// A client that is connected to a server of this process.
pub struct Connected {
    /// The client.
    pub client: McpClient,
    shutdown: Cancellation,
    serving: tokio::task::JoinHandle<Result<(), Error>>,
}

impl Connected {
    /// Connects a client to a server over pipes in memory.
    ///
    /// # Errors
    ///
    /// As [`McpClient::connect`].
    pub async fn to(server: Arc<dyn McpServer>, lifecycle: Lifecycle) -> Result<Self, Error> {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (server_reads, server_writes) = tokio::io::split(theirs);
        let (client_reads, client_writes) = tokio::io::split(ours);
        let shutdown = Cancellation::new();
        let serving = tokio::spawn(toolshelf_mcp::serve(
            server_reads,
            server_writes,
            server,
            ServeOptions::default(),
            shutdown.clone(),
        ));
        let mut options = ClientOptions::new("gateway");
        options.lifecycle = lifecycle;
        options.elicitation = true;
        let client = McpClient::connect(client_reads, client_writes, options).await?;
        Ok(Self {
            client,
            shutdown,
            serving,
        })
    }

    /// The tools array as text, one descriptor a line.
    ///
    /// # Errors
    ///
    /// As [`McpClient::list_tools`].
    pub async fn list(&self) -> Result<Vec<String>, Error> {
        let list = self.client.list_tools(&Default::default()).await?;
        Ok(list
            .tools
            .iter()
            .map(|tool| tool.descriptor().as_str().to_owned())
            .collect())
    }

    /// Calls a tool and returns its complete result.
    ///
    /// # Errors
    ///
    /// As [`McpClient::call_tool`], and when the result is not a complete one.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolResult, Error> {
        self.call_in(name, arguments, CallContext::new()).await
    }

    /// As [`Connected::call`], in a context.
    ///
    /// # Errors
    ///
    /// As [`Connected::call`].
    pub async fn call_in(
        &self,
        name: &str,
        arguments: Value,
        context: CallContext,
    ) -> Result<ToolResult, Error> {
        match self.client.call_tool(name, arguments, context).await? {
            ToolOutcome::Complete(result) => Ok(result),
            other => Err(Error::new(
                ErrorKind::Protocol,
                format!("the result is not complete: {other:?}"),
            )),
        }
    }

    /// Ends the connection.
    ///
    /// # Errors
    ///
    /// What serving ended with.
    pub async fn close(self) -> Result<(), Error> {
        self.client.close().await;
        self.shutdown.cancel();
        self.serving
            .await
            .map_err(|cause| Error::new(ErrorKind::Internal, cause.to_string()))?
    }
}

/// The code in README.md runs as a test.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
pub struct Readme;

/// The code in the guides runs as tests, a page each. A block that is a whole crate says
/// `test_harness`, so that its own tests run, and nothing of it is hidden from who copies it.
#[cfg(doctest)]
pub mod guides {
    macro_rules! pages {
        ($($name:ident $path:literal)*) => {
            $(
                #[doc = include_str!(concat!("../../docs/src/", $path))]
                pub struct $name;
            )*
        };
    }

    pages! {
        QuickStart "quick-start.md"
        ChoosingAStrategy "choosing-a-strategy.md"
        Plugins "plugins/index.md"
        AStrategy "plugins/strategy.md"
        ACatalogFormat "plugins/catalog-format.md"
        ACodec "plugins/codec.md"
        ASearchIndex "plugins/search-index.md"
        ALoader "plugins/loader.md"
        ABinary "plugins/binary.md"
        Formats "formats.md"
    }
}

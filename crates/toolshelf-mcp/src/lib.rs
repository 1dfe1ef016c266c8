//! MCP servers become tool groups, and a tool shelf becomes an MCP server.
//!
//! This is the only crate that knows `rmcp`, and no type of it is part of the API. All
//! revisions of the protocol from 2024-11-05 to 2026-07-28 are spoken on both sides.
//!
//! | feature | gives |
//! |---|---|
//! | `client` | [`StdioServer`]: a child process as a loader, started on demand and shared; [`McpClient`]: one connection over any pair of streams |
//! | `server` | [`McpServer`]: a server free of everything that belongs to the protocol; [`serve_stdio`], [`serve`] |
//!
//! What a server sends is kept as it came: descriptors and results pass as text, so that
//! key order, unknown fields, unknown kinds of content and number literals survive.
//! One bad tool is set aside, and costs the others nothing.
//!
//! A client and a server that speak to each other over a pipe in memory:
//!
//! ```
//! use std::sync::Arc;
//! use async_trait::async_trait;
//! use serde_json::json;
//! use toolshelf_core::{
//!     CallContext, Cancellation, Error, JsonText, LoadContext, ToolOutcome, ToolResult,
//! };
//! use toolshelf_mcp::{
//!     ClientOptions, Era, IncomingCall, McpClient, McpServer, ServeOptions, ServerIdentity,
//!     Session, serve,
//! };
//!
//! struct Clock;
//!
//! #[async_trait]
//! impl McpServer for Clock {
//!     fn identity(&self, _era: Era) -> ServerIdentity {
//!         ServerIdentity::new("clock", "1.0.0")
//!     }
//!     async fn list_tools(&self, _session: &Session) -> Result<Vec<JsonText>, Error> {
//!         Ok(vec![JsonText::parse(r#"{"name":"now","inputSchema":{"type":"object"}}"#)?])
//!     }
//!     async fn call_tool(&self, _call: IncomingCall) -> Result<ToolOutcome, Error> {
//!         Ok(ToolOutcome::Complete(ToolResult::text("noon")))
//!     }
//! }
//!
//! # fn main() -> Result<(), Error> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let (near, far) = (tokio::io::duplex(1_024), tokio::io::duplex(1_024));
//! tokio::spawn(serve(near.1, far.0, Arc::new(Clock), ServeOptions::default(), Cancellation::new()));
//!
//! let client = McpClient::connect(far.1, near.0, ClientOptions::new("clock")).await?;
//! assert_eq!(client.list_tools(&LoadContext::default()).await?.tools.len(), 1);
//! let ToolOutcome::Complete(result) =
//!     client.call_tool("now", json!({}), CallContext::new()).await?
//! else {
//!     unreachable!("the clock asks for nothing");
//! };
//! assert_eq!(result.joined_text(), "noon");
//! client.close().await;
//! # Ok(()) }) }
//! ```

#[cfg(feature = "client")]
mod client;
mod lines;
mod message;
mod protocol;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "client")]
mod stdio;
mod sync;

#[cfg(feature = "client")]
pub use client::{ClientOptions, Lifecycle, McpClient, SAME_NAME, ToolList};
#[cfg(feature = "server")]
pub use server::{
    Era, IncomingCall, McpServer, ServeOptions, ServerIdentity, Session, serve, serve_stdio,
};
#[cfg(feature = "client")]
pub use stdio::{PLUGIN, ServerHooks, Sidelights, StdioConfig, StdioServer, Watchdog, watch_over};

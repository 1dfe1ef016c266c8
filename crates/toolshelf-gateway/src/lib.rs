//! One MCP server in front of many.
//!
//! A host that connects to the gateway sees a few tools that never change instead of
//! hundreds, and reaches every tool of every server through them.
//!
//! * [`config`]: the JSON file with `mcpServers` that people already have.
//! * [`cache`]: what servers said of their tools, so that a start does not need them.
//! * [`Gateway`]: the servers behind a shelf, and an MCP server in front of it.
//!
//! ```
//! use toolshelf_core::Registry;
//! use toolshelf_gateway::config::{Config, ProcessEnvironment};
//! use toolshelf_gateway::{Gateway, GatewayOptions};
//!
//! # async fn serve() -> Result<(), toolshelf_core::Error> {
//! let config = Config::parse(
//!     r#"{"mcpServers": {"time": {"command": "mcp-server-time"}}}"#,
//!     &ProcessEnvironment,
//! )?;
//! let gateway = Gateway::new(&config, GatewayOptions::default(), &Registry::linked()?)?;
//! // gateway.start(); toolshelf_mcp::serve_stdio(gateway.clone(), …).await?;
//! gateway.close().await;
//! # Ok(()) }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
//! #     .block_on(serve()).unwrap();
//! ```

pub mod cache;
mod chain;
mod choice;
pub mod config;
mod descriptor;
mod gateway;
mod known;
pub mod log;
mod news;
mod pinning;
mod second_look;
mod servers;
mod sessions;
mod size;
mod timed;

// Named so that its plugins are linked into every program that has a gateway.
use toolshelf_strategies as _;

pub use chain::{CHAIN_VARIABLE, WITHOUT_END, refuse_recursion};
pub use gateway::{ALWAYS_LOAD, DEFER_ABOVE, Gateway, GatewayOptions, REPAIRS};
pub use news::Change;

//! Runs an MCP gateway against servers with faults, and says how it behaves.
//!
//! A gateway is any program that speaks MCP over its standard streams and passes calls to
//! other MCP servers. For each [behaviour](behaviours) it is started anew in a folder of its
//! own, with a configuration whose servers are those of `toolshelf-faults`, and spoken to
//! by a host; what the servers note in their logs says what really reached them.
//!
//! How a gateway is configured and called is an [`Adapter`], a small JSON file.
//!
//! ```
//! use toolshelf_probe::{Adapter, Error, behaviours};
//!
//! // Our own gateway is the first of those that are known.
//! assert_eq!(Adapter::built_in()?[0].name, "toolshelf");
//! assert!(behaviours().iter().any(|it| it.name == "orphans-kill"));
//!
//! // Another one, whose tools stand in its list as they are:
//! let file = r#"{
//!     "name": "mine",
//!     "config": {"file": "mcp.json", "content": {"mcpServers": "{servers}"}},
//!     "arguments": ["--config", "{config}"],
//!     "tool_name": "{server}.{tool}",
//!     "call": {"tool": "{name}", "arguments": "{arguments}"}
//! }"#;
//! assert_eq!(Adapter::parse(file, "mine.json")?.name, "mine");
//! # Ok::<(), Error>(())
//! ```
//!
//! [`probe`] does the work. Dropping its future ends every process that was started.

mod adapter;
mod behaviours;
mod error;
mod host;
mod processes;
mod report;
mod run;
mod stage;

pub use adapter::{Adapter, CallForm, ConfigFile};
pub use behaviours::{Behaviour, behaviours};
pub use error::Error;
pub use report::{Finding, Outcome, Report};
pub use run::{Options, Progress, probe};

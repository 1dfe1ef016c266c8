//! Deferred tools for agents: all crates of Toolshelf under one name.
//!
//! An agent that is connected to many servers pays for every tool's schema on every turn.
//! Toolshelf keeps tools on a shelf: the model sees a compact catalog, asks for what it
//! needs, and only then does a full schema enter the conversation.
//!
//! This crate has no code of its own. It is for hosts that want one dependency; a plugin
//! depends on `toolshelf-core` alone, and a host that wants one strategy and nothing else
//! on the single crates.
//!
//! | module | feature | what it gives |
//! |---|---|---|
//! | [`core`] | | the vocabulary and the plugin contracts |
//! | `shelf` | `shelf` (default) | the driver: loads, validation, calls, sessions |
//! | `strategies` | `strategies` (default) | `dispatch`, `inject`, `tst`, `tst-auto`, `standard` |
//! | `mcp` | `mcp` (default) | MCP servers as tool groups, and a server side |
//! | `search` | `search` | the search index, and the measure of it |
//! | `catalog` | `catalog` | the texts that a model reads, versioned |
//! | `discovery` | `discovery` | what histories say was found |
//! | `gateway` | `gateway` | one MCP server in front of many |
//!
//! The crates that are switched on are linked, so their plugins are in
//! [`Registry::linked`](core::Registry::linked), with those of crates that they need
//! themselves: strategies bring the catalogs and codecs.
//!
#![cfg_attr(all(feature = "shelf", feature = "strategies"), doc = "```")]
#![cfg_attr(not(all(feature = "shelf", feature = "strategies")), doc = "```ignore")]
//! use serde_json::{Value, json};
//! use toolshelf::core::*;
//! use toolshelf::shelf::{SessionOptions, Shelf};
//!
//! # async fn host() -> Result<(), Error> {
//! // A strategy by its name, and a group whose tools are made when they are needed.
//! let strategy = Registry::linked()?.strategy("dispatch", &Value::Null)?;
//! let loader = async |_context: LoadContext| {
//!     let schema = JsonText::parse(r#"{"type":"object","properties":{"city":{"type":"string"}}}"#)?;
//!     let definition = ToolDefinition::new(ToolName::new("forecast")?, "Tells tomorrow's weather.", schema)?;
//!     let tool: std::sync::Arc<dyn Tool> = std::sync::Arc::new(FnTool::new(
//!         definition,
//!         async |arguments, _context| Ok(ToolResult::text(format!("rain in {}", arguments["city"]))),
//!     ));
//!     Ok(Loaded::new([tool]))
//! };
//! let weather = ToolGroup::new(GroupId::new("weather")?, loader).declared_tools(["forecast"])?;
//! let session = Shelf::builder().group(weather).build()?.session(strategy, SessionOptions::default())?;
//!
//! // Every turn: what the request carries. The catalog names the tool, its schema stays away.
//! let surface = session.surface(&Cancellation::new()).await?;
//! assert!(surface.prompt_section.as_deref().unwrap_or_default().ends_with("\n  forecast"));
//!
//! // Every call of the model: the tool is loaded, its arguments are validated, it runs.
//! let call = Call {
//!     id: "call_1".into(),
//!     name: "deferred_tool_call".into(),
//!     arguments: json!({"tool_name": "forecast", "arguments": {"city": "Riga"}}),
//! };
//! assert_eq!(session.call(call, CallContext::new()).await.text(), "rain in \"Riga\"");
//! # Ok(()) }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
//! #     .block_on(host()).unwrap();
//! ```

#[cfg(feature = "catalog")]
pub use toolshelf_catalog as catalog;
pub use toolshelf_core as core;
#[cfg(feature = "discovery")]
pub use toolshelf_discovery as discovery;
#[cfg(feature = "gateway")]
pub use toolshelf_gateway as gateway;
#[cfg(feature = "mcp")]
pub use toolshelf_mcp as mcp;
#[cfg(feature = "search")]
pub use toolshelf_search as search;
#[cfg(feature = "shelf")]
pub use toolshelf_shelf as shelf;
#[cfg(feature = "strategies")]
pub use toolshelf_strategies as strategies;

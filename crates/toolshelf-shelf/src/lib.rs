//! The driver of Toolshelf.
//!
//! A [`Strategy`](toolshelf_core::Strategy) decides what a model sees and what its calls
//! mean, and does nothing itself. This crate does the rest: it loads groups once and in
//! parallel, with deadlines, back-off and cancellation, validates arguments, asks the
//! host's policies and hooks, makes the calls, and keeps the state of each session.
//!
//! * [`Shelf`]: the groups of a host and what is loaded of them, shared by its sessions.
//! * [`Session`]: one conversation: a strategy and its state.
//! * [`Policy`], [`CallHook`], [`Observer`]: where a host takes part.
//!
//! It needs a tokio runtime and nothing else: a host keeps its own loop.
//!
//! ```
//! use std::sync::Arc;
//! use toolshelf_core::*;
//! use toolshelf_shelf::{SessionOptions, Shelf};
//! use toolshelf_strategies::Dispatch;
//!
//! # async fn host() -> Result<(), Error> {
//! // A group whose tools are built, fetched or connected to when they are needed.
//! let group = ToolGroup::new(GroupId::new("calc")?, async |_context: LoadContext| {
//!     let schema = r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},
//!         "required":["a","b"]}"#;
//!     let add = ToolDefinition::new(ToolName::new("add")?, "Adds.", JsonText::parse(schema)?)?;
//!     let add: Arc<dyn Tool> = Arc::new(FnTool::new(add, async |arguments, _context| {
//!         let sum = arguments["a"].as_f64().unwrap_or(0.0) + arguments["b"].as_f64().unwrap_or(0.0);
//!         Ok(ToolResult::text(sum.to_string()))
//!     }));
//!     Ok(Loaded::new([add]))
//! })
//! .title("Calculator")
//! .declared_tools(["add"])?;
//!
//! let shelf = Shelf::builder().group(group).build()?;
//! let session = shelf.session(Arc::new(Dispatch::default()), SessionOptions::default())?;
//!
//! // Every turn: the tools array and the section for the system prompt.
//! let surface = session.surface(&Cancellation::new()).await?;
//! assert_eq!(surface.tools.len(), 2); // load_tools and deferred_tool_call, whatever is loaded
//! assert!(surface.prompt_section.as_deref().unwrap_or_default().contains("- `calc` — Calculator"));
//!
//! // Every call of the model, whatever its name: give it to the session.
//! let call = Call {
//!     id: "call_1".into(),
//!     name: "deferred_tool_call".into(),
//!     arguments: serde_json::json!({"tool_name": "add", "arguments": {"a": 1, "b": 2}}),
//! };
//! let report = session.call(call, CallContext::new()).await;
//! assert_eq!(report.text(), "3");
//! # Ok(()) }
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
//! #     .block_on(host()).unwrap();
//! ```

mod call;
mod cost;
mod index;
mod limits;
mod loads;
mod observer;
mod policy;
mod session;
mod shelf;
mod texts;
mod validate;

pub use call::{AnsweredBy, CallReport};
pub use limits::Limits;
pub use observer::{LoadCause, Observer, ShelfEvent};
pub use policy::{BeforeCall, CallHook, Permission, PermitAll, Policy};
pub use session::{Session, SessionOptions};
pub use shelf::{ResumeReport, Shelf, ShelfBuilder, ValidationOf, WeakShelf};
pub use texts::FORMAT as TEXT_FORMAT;
pub use validate::{Fault, Validation, check_schema};

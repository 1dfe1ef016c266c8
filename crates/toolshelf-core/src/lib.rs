//! The vocabulary of Toolshelf and the contracts of its plugins.
//!
//! An agent that is connected to many servers pays for every tool's schema on every
//! turn. Toolshelf keeps tools on a shelf: the model sees a compact catalog, asks for
//! what it needs, and only then does a full schema enter the conversation.
//!
//! This crate says what the parts are and what each promises; it does nothing itself.
//! It has no runtime, no transport and no storage, so a plugin crate that depends on it
//! stays small.
//!
//! | question | module |
//! |---|---|
//! | Who is a tool? | [`ToolKey`]: group and name, never the name alone |
//! | What did its server say of it? | [`ToolDefinition`], verbatim |
//! | How is it called? | [`Tool`], [`CallContext`], [`ToolOutcome`] |
//! | Where do tools come from? | [`ToolGroup`], [`ToolLoader`] |
//! | What does the model see, what do its calls mean? | [`Strategy`], a planner without I/O |
//! | What has a session disclosed? | [`State`] |
//! | What can be plugged in? | [`Registry`] |
//!
//! A plugin implements one trait of this crate, and a host puts it into a registry by name:
//!
//! ```
//! use std::sync::Arc;
//! use serde_json::Value;
//! use toolshelf_core::catalog::{CatalogFormat, CatalogGroup, CatalogText, CatalogTier, CatalogView};
//! use toolshelf_core::{Builder, Error, GroupId, NoOptions, Plugin, Registry, options_schema};
//!
//! /// A catalog of nothing but ids.
//! struct Ids;
//!
//! impl CatalogFormat for Ids {
//!     fn name(&self) -> &str {
//!         "ids/1"
//!     }
//!     fn render(&self, view: &CatalogView<'_>) -> CatalogText {
//!         let ids: Vec<&str> = view.groups.iter().map(|group| group.id.as_str()).collect();
//!         CatalogText { text: ids.join(", "), tier: CatalogTier::IdsOnly }
//!     }
//! }
//!
//! const PLUGIN: Plugin = Plugin {
//!     name: "ids/1",
//!     provider: env!("CARGO_PKG_NAME"),
//!     about: "The ids of the groups.",
//!     build: Builder::CatalogFormat(|_options| Ok(Arc::new(Ids))),
//!     options: options_schema::<NoOptions>,
//! };
//!
//! let mut registry = Registry::new();
//! registry.register(PLUGIN)?;
//!
//! // Somewhere else, by the name that a user chose.
//! let format = registry.catalog_format("ids/1", &Value::Null)?;
//! let ids = [GroupId::new("github")?, GroupId::new("time")?];
//! let groups = ids.iter().map(|id| CatalogGroup {
//!     id,
//!     title: None,
//!     description: None,
//!     names: None,
//!     partly_loaded: false,
//! });
//! let view = CatalogView { groups: groups.collect(), ..CatalogView::default() };
//! assert_eq!(format.render(&view).text, "github, time");
//! # Ok::<(), Error>(())
//! ```
//!
//! The driver that runs a strategy is `toolshelf-shelf`.

mod cancel;
pub mod catalog;
pub mod checkpoint;
pub mod codec;
mod content;
mod definition;
mod error;
mod group;
mod id;
mod json;
mod lookup;
mod message;
mod naming;
pub mod nearest;
pub mod provider;
mod registry;
pub mod search;
mod signature;
mod state;
mod strategy;
pub mod text;
pub mod tokens;
mod tool;
mod view;

pub use cancel::Cancellation;
pub use content::{ContentBlock, ToolResult};
pub use definition::{Exposure, ParsedDefinition, ToolAnnotations, ToolDefinition};
pub use error::{Error, ErrorKind, MAX_MODEL_TEXT_BYTES};
pub use group::{
    Condition, GroupEntry, Groups, LoadContext, Loaded, LoadedGroup, LoadedTool, ServerInfo,
    SetAside, ShelvedTool, ToolGroup, ToolLoader,
};
pub use id::{GroupId, MAX_ID_BYTES, ToolKey, ToolName};
#[doc(hidden)]
pub use inventory;
pub use json::{Digest, JsonText, MAX_DEPTH};
pub use lookup::{Lookup, bare_name};
pub use message::{Event, Message, Role};
pub use naming::{MAX_WIRE_NAME_BYTES, is_legal as is_legal_wire_name, wire_name};
pub use registry::{
    Build, Builder, NoOptions, Plugin, PluginKind, Registry, options_schema, read_options,
};
pub use signature::signature;
pub use state::{Delta, STATE_VERSION, State};
pub use strategy::{
    Access, Answer, Availability, Call, Cx, Need, News, Placement, Resolution, Settled, Step,
    Strategy, Surface, ToolSlot, with_section,
};
pub use tool::{
    Arguments, CallContext, Elicitor, FnTool, InputRequired, Progress, ProgressSink, Repair,
    TaskStarted, Tool, ToolOutcome, TraceContext, read_arguments,
};

/// Makes a plugin known to [`Registry::linked`].
///
/// ```
/// # use toolshelf_core::*;
/// const PLUGIN: Plugin = Plugin {
///     name: "none",
///     provider: env!("CARGO_PKG_NAME"),
///     about: "An example that cannot be built.",
///     build: Builder::Strategy(|_| Err(Error::new(ErrorKind::Internal, "an example"))),
///     options: options_schema::<NoOptions>,
/// };
/// toolshelf_core::submit!(PLUGIN);
/// # fn main() -> Result<(), Error> {
/// assert_eq!(Registry::linked()?.names(PluginKind::Strategy), ["none"]);
/// # Ok(()) }
/// ```
#[macro_export]
macro_rules! submit {
    ($plugin:expr) => {
        $crate::inventory::submit! { $plugin }
    };
}

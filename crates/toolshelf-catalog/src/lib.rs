//! The texts of Toolshelf that a model reads, each under a name and a version.
//!
//! Everything here is a pure function from what a shelf knows to bytes: no clock, no
//! I/O, no order of a hash map. The bytes of a version never change; a better text is
//! a new version beside the old one. FORMATS.md in the repository lists them all with
//! their golden files.
//!
//! | format | where it stands | what makes it |
//! |---|---|---|
//! | `dispatch/1` | system prompt, the same all session long | [`DispatchCatalog`] |
//! | `inject/1` | system prompt, made anew each turn | [`InjectCatalog`] |
//! | `gateway/1` | description of one tool of an MCP server | [`GatewayCatalog`] |
//! | `load/1` | answer of `load_tools` | [`LoadAnswer`] |
//! | `announce/1` | the end of a history | [`announcement`] |
//! | `texts/1` | own tools, instructions, answers of `search_tools`, errors | [`texts`] |
//!
//! The three catalogs are plugins: a host that links this crate finds them in
//! [`Registry::linked`](toolshelf_core::Registry::linked), or registers
//! [`dispatch::PLUGIN`], [`inject::PLUGIN`] and [`gateway::PLUGIN`] by hand.
//!
//! ```
//! use toolshelf_catalog::DispatchCatalog;
//! use toolshelf_core::catalog::{CatalogFormat, CatalogGroup, CatalogTier, CatalogView};
//! use toolshelf_core::{GroupId, ToolName};
//!
//! let id = GroupId::new("mcp:github")?;
//! let names = [ToolName::new("create_issue")?, ToolName::new("search_repos")?];
//! let view = CatalogView {
//!     groups: vec![CatalogGroup {
//!         id: &id,
//!         title: Some("GitHub"),
//!         description: Some("Issues, PRs, repos"),
//!         names: Some(names.iter().collect()),
//!         partly_loaded: false,
//!     }],
//!     ..CatalogView::default()
//! };
//! let catalog = DispatchCatalog::default().render(&view);
//! assert!(catalog.text.starts_with("# Deferred tool groups\n\n"));
//! assert!(catalog.text.ends_with(
//!     "- `mcp:github` — GitHub: Issues, PRs, repos (2 tools)\n  create_issue, search_repos"
//! ));
//! assert_eq!(catalog.tier, CatalogTier::Full);
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

mod announce;
mod answer;
pub mod dispatch;
pub mod gateway;
pub mod inject;
mod json;
mod options;
mod render;
pub mod texts;

pub use announce::{ANNOUNCE_FORMAT, MAX_ANNOUNCEMENT_BYTES, announcement};
pub use answer::{
    DEFAULT_NAMED_CAP, DEFAULT_SCHEMA_BUDGET, LOAD_FORMAT, LoadAnswer, MAX_INSTRUCTIONS_BYTES,
    MAX_LISTED_NAMES_BYTES, MAX_OMITTED_BYTES, Schemas, Separators,
};
pub use dispatch::DispatchCatalog;
pub use gateway::GatewayCatalog;
pub use inject::InjectCatalog;
pub use options::CatalogOptions;

//! The configuration that people already have: a JSON file with `mcpServers`.
//!
//! A fault in one entry disables that entry alone; the gateway starts, and says why when
//! somebody asks for its tools.

mod entry;
mod expand;
mod file;
mod selection;

pub use entry::{EntryState, ServerEntry};
pub use expand::{Environment, ProcessEnvironment, expand};
pub use file::{Config, find_config, user_config_dir};
pub use selection::Selection;

//! `gateway/1`: the catalog as part of the description of one tool, since an MCP server
//! has no system prompt.

use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogView};
use toolshelf_core::{Builder, Error, Plugin, options_schema, read_options};

use crate::options::CatalogOptions;
use crate::render::{Form, Notes, render};

/// Name and version.
pub const NAME: &str = "gateway/1";

/// The budget in bytes where the view has none. Every client pays for it in every
/// request of every session.
pub const DEFAULT_BUDGET: usize = 2_000;

/// The bound of a title and of a description, in bytes, so that one talkative server
/// does not cost the others their names.
pub const DEFAULT_TEXT_BYTES: usize = 160;

const FORM: Form = Form {
    header: "",
    text_bytes: DEFAULT_TEXT_BYTES,
    budget: Some(DEFAULT_BUDGET),
    remaining: true,
    notes: Notes {
        some_names: "Not all names are listed; `load_tools` with a group's id gives all its tools.",
        no_names: "`load_tools` with a group's id gives its tools.",
        summaries: "`load_tools` with a group's id gives its tools.",
        ids_only: "`load_tools` with a group's id gives its tools.",
        some_groups: " not listed here: call `load_tools` with the name you would expect, \
                      and the answer names the nearest ids. People run `toolshelf tools`.",
    },
};

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Tool groups in the description of one tool, within 2,000 bytes.",
    build: Builder::CatalogFormat(build),
    options: options_schema::<CatalogOptions>,
};
toolshelf_core::submit!(PLUGIN);

fn build(options: &Value) -> Result<Arc<dyn CatalogFormat>, Error> {
    Ok(Arc::new(GatewayCatalog::new(read_options(NAME, options)?)))
}

/// Renders `gateway/1`: the lines of [`DispatchCatalog`](crate::DispatchCatalog) without
/// a header, within [`DEFAULT_BUDGET`] bytes unless the view says otherwise
/// (`usize::MAX` for no bound).
///
/// What stands before the catalog in the description is the caller's; see
/// [`texts`](crate::texts).
#[derive(Debug, Clone, Default)]
pub struct GatewayCatalog {
    options: CatalogOptions,
}

impl GatewayCatalog {
    /// A format with these options.
    pub fn new(options: CatalogOptions) -> Self {
        Self { options }
    }
}

impl CatalogFormat for GatewayCatalog {
    fn name(&self) -> &str {
        NAME
    }

    fn render(&self, view: &CatalogView<'_>) -> CatalogText {
        render(&FORM, &self.options, view)
    }
}

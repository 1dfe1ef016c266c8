//! `inject/1`: the catalog of what is not loaded yet, made anew each turn.

use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogView};
use toolshelf_core::text::MAX_SERVER_TEXT_BYTES;
use toolshelf_core::{Builder, Error, Plugin, options_schema, read_options};

use crate::options::CatalogOptions;
use crate::render::{Form, Notes, render};

/// Name and version.
pub const NAME: &str = "inject/1";

/// The header.
pub const HEADER: &str = "\
# Deferred tool groups

The tools of these groups are available but not loaded yet. `load_tools(group_id)`
loads a group, `load_tools(group_id, tool_names=[...])` only some of its tools. Loaded
tools join your own tools and can be called directly for the rest of the conversation.";

const FORM: Form = Form {
    header: HEADER,
    text_bytes: MAX_SERVER_TEXT_BYTES,
    budget: None,
    remaining: true,
    notes: Notes {
        some_names: "Not every tool name is listed; `load_tools(group_id)` loads all tools of a group.",
        no_names: "Tool names are not listed; `load_tools(group_id)` loads the tools of a group.",
        summaries: "Tool names are not listed and descriptions are shortened; \
                    `load_tools(group_id)` loads the tools of a group.",
        ids_only: "Descriptions and tool names are not listed; \
                   `load_tools(group_id)` loads the tools of a group.",
        some_groups: " not listed here. Call `load_tools` with the name you would expect; \
                      if there is no such group, the answer names the nearest ones.",
    },
};

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Tool groups that are not loaded yet, as a section of each turn's system prompt.",
    build: Builder::CatalogFormat(build),
    options: options_schema::<CatalogOptions>,
};
toolshelf_core::submit!(PLUGIN);

fn build(options: &Value) -> Result<Arc<dyn CatalogFormat>, Error> {
    Ok(Arc::new(InjectCatalog::new(read_options(NAME, options)?)))
}

/// Renders `inject/1`: as [`DispatchCatalog`](crate::DispatchCatalog), with a header of
/// its own and `(N remaining tools)` where a group is partly loaded.
///
/// The view holds what is not loaded; a partly loaded group of which nothing remains is
/// left out, and where nothing at all remains there is no text.
#[derive(Debug, Clone, Default)]
pub struct InjectCatalog {
    options: CatalogOptions,
}

impl InjectCatalog {
    /// A format with these options.
    pub fn new(options: CatalogOptions) -> Self {
        Self { options }
    }
}

impl CatalogFormat for InjectCatalog {
    fn name(&self) -> &str {
        NAME
    }

    fn render(&self, view: &CatalogView<'_>) -> CatalogText {
        render(&FORM, &self.options, view)
    }
}

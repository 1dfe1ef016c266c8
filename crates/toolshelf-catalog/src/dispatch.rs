//! `dispatch/1`: the catalog of a session whose prompt never changes.

use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogView};
use toolshelf_core::text::MAX_SERVER_TEXT_BYTES;
use toolshelf_core::{Builder, Error, Plugin, options_schema, read_options};

use crate::options::CatalogOptions;
use crate::render::{Form, Notes, render};

/// Name and version.
pub const NAME: &str = "dispatch/1";

/// The header. It is shared, byte for byte, with other systems that defer tools in
/// groups (see NOTICE).
pub const HEADER: &str = "\
# Deferred tool groups

These tool groups are available but not yet loaded. Call `load_tools(group_id)`
to get their full schemas, then invoke them via
`deferred_tool_call(tool_name=..., arguments=...)`.";

const FORM: Form = Form {
    header: HEADER,
    text_bytes: MAX_SERVER_TEXT_BYTES,
    budget: None,
    remaining: false,
    notes: Notes {
        some_names: "Not every tool name is listed; `load_tools(group_id)` returns all tools of a group.",
        no_names: "Tool names are not listed; `load_tools(group_id)` returns the tools of a group.",
        summaries: "Tool names are not listed and descriptions are shortened; \
                    `load_tools(group_id)` returns the tools of a group.",
        ids_only: "Descriptions and tool names are not listed; \
                   `load_tools(group_id)` returns the tools of a group.",
        some_groups: " not listed here. Call `load_tools` with the name you would expect; \
                      if there is no such group, the answer names the nearest ones.",
    },
};

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Tool groups as a section of the system prompt that never changes.",
    build: Builder::CatalogFormat(build),
    options: options_schema::<CatalogOptions>,
};
toolshelf_core::submit!(PLUGIN);

fn build(options: &Value) -> Result<Arc<dyn CatalogFormat>, Error> {
    Ok(Arc::new(DispatchCatalog::new(read_options(NAME, options)?)))
}

/// Renders `dispatch/1`: header, empty line, two lines for each group.
///
/// ```text
/// - `mcp:github` — GitHub: Issues, PRs, repos, code search (4 tools)
///   create_issue, search_repos, create_pr, list_comments
/// ```
///
/// Without a description the title stands alone, without a title the description does,
/// without both the id. A group whose names are not known has neither a count nor a
/// line of names. Under a budget the first of these forms is taken that fits: all
/// names; the first names and `… +N more`; no names; descriptions shortened; ids and
/// counts; the first groups by id and the number of the others. Each form but the
/// first ends with a line that says how to see the rest.
#[derive(Debug, Clone, Default)]
pub struct DispatchCatalog {
    options: CatalogOptions,
}

impl DispatchCatalog {
    /// A format with these options.
    pub fn new(options: CatalogOptions) -> Self {
        Self { options }
    }
}

impl CatalogFormat for DispatchCatalog {
    fn name(&self) -> &str {
        NAME
    }

    fn render(&self, view: &CatalogView<'_>) -> CatalogText {
        render(&FORM, &self.options, view)
    }
}

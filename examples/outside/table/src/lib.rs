//! The catalog format `table/1`: groups as rows of a Markdown table.
//!
//! ```
//! use outside_table::Table;
//! use toolshelf_core::GroupId;
//! use toolshelf_core::catalog::{CatalogFormat, CatalogGroup, CatalogView};
//! let id = GroupId::new("mail")?;
//! let group = CatalogGroup {
//!     id: &id, title: Some("Mail"), description: None, names: None, partly_loaded: false,
//! };
//! let view = CatalogView { groups: vec![group], ..CatalogView::default() };
//! assert_eq!(Table.render(&view).text, "| group | about | tools |\n|---|---|---|\n| `mail` | Mail | ? |");
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

use std::sync::Arc;

use toolshelf_core::catalog::{CatalogFormat, CatalogGroup, CatalogText, CatalogTier, CatalogView};
use toolshelf_core::text::one_line;
use toolshelf_core::{Builder, NoOptions, Plugin, options_schema, read_options};

const NAME: &str = "table/1";
const HEADER: &str = "| group | about | tools |\n|---|---|---|";
const MORE: &str = "Load a group to see the names of its tools.";
const MAX_ABOUT_BYTES: usize = 80;

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Groups as rows of a Markdown table.",
    build: Builder::CatalogFormat(|options| {
        let NoOptions {} = read_options(NAME, options)?;
        Ok(Arc::new(Table))
    }),
    options: options_schema::<NoOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Table;

/// Text of servers as one cell, which ends no row and no column.
fn cell(text: &str, bytes: usize) -> String {
    one_line(text, bytes).replace('|', "/")
}

fn row(group: &CatalogGroup<'_>, names: usize) -> String {
    let about = [group.title, group.description].into_iter().flatten();
    let about: Vec<String> = about
        .map(|text| cell(text, MAX_ABOUT_BYTES))
        .filter(|text| !text.is_empty())
        .collect();
    // Tools that are not known are not none.
    let all = group.names.as_deref();
    let mut tools: Vec<String> = all
        .unwrap_or_default()
        .iter()
        .take(names)
        .map(|name| cell(name.as_str(), usize::MAX))
        .collect();
    match all.map(|all| all.len() - tools.len()) {
        None => tools.push("?".to_owned()),
        Some(0) => {}
        Some(more) => tools.push(format!("+{more}")),
    }
    let id = cell(group.id.as_str(), usize::MAX);
    format!("\n| `{id}` | {} | {} |", about.join(": "), tools.join(", "))
}

impl CatalogFormat for Table {
    fn name(&self) -> &str {
        NAME
    }

    fn render(&self, view: &CatalogView<'_>) -> CatalogText {
        let mut groups: Vec<&CatalogGroup<'_>> = view.groups.iter().collect();
        groups.sort_by_key(|group| group.id);
        let budget = view.budget.unwrap_or(usize::MAX);
        let header = match view.header {
            None => HEADER.to_owned(),
            Some("") => HEADER.to_owned(),
            Some(header) => format!("{header}\n\n{HEADER}"),
        };
        let with = |names: usize, count: usize| -> String {
            let rows: String = groups
                .iter()
                .take(count)
                .map(|group| row(group, names))
                .collect();
            let more = match groups.len() - count {
                0 => String::new(),
                left => format!("\n| +{left} groups | | |"),
            };
            format!("{header}{rows}{more}")
        };
        let text = |text, tier| CatalogText { text, tier };
        if groups.is_empty() {
            return text(String::new(), CatalogTier::Full);
        }
        let whole = with(usize::MAX, groups.len());
        if whole.len() <= budget {
            return text(whole, CatalogTier::Full);
        }
        for (names, tier) in [(3, CatalogTier::SomeNames), (0, CatalogTier::NoNames)] {
            let shorter = format!("{}\n\n{MORE}", with(names, groups.len()));
            if shorter.len() <= budget {
                return text(shorter, tier);
            }
        }
        let fits = |count: &usize| with(0, *count).len() + 2 + MORE.len() <= budget;
        let count = (0..groups.len()).take_while(fits).last().unwrap_or(0);
        let shortest = format!("{}\n\n{MORE}", with(0, count));
        text(shortest, CatalogTier::SomeGroups)
    }
}

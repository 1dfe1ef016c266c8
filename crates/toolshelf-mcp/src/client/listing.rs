//! All pages of `tools/list`, read tool by tool.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;
use toolshelf_core::text::one_line;
use toolshelf_core::{JsonText, SetAside, ToolDefinition, ToolName};

/// The most pages that are read.
const MAX_PAGES: usize = 1_000;

/// The most tools of one server.
const MAX_TOOLS: usize = 100_000;

/// The tools of a server.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ToolList {
    /// The tools, in the server's order, verbatim.
    pub tools: Vec<Arc<ToolDefinition>>,
    /// Descriptors that are no usable tools, with the reason.
    pub set_aside: Vec<SetAside>,
}

/// Collects pages.
#[derive(Default)]
pub(crate) struct Listing {
    list: ToolList,
    names: HashSet<ToolName>,
    cursors: HashSet<String>,
    pages: usize,
}

impl Listing {
    /// Takes a page; returns the cursor of the next one.
    ///
    /// # Errors
    ///
    /// What is wrong with the page, in words for the operator.
    pub(crate) fn page(&mut self, result: &str) -> Result<Option<String>, String> {
        #[derive(Deserialize)]
        struct Page<'a> {
            #[serde(borrow)]
            tools: Vec<&'a RawValue>,
            #[serde(borrow, rename = "nextCursor")]
            next: Option<&'a RawValue>,
        }
        let page: Page<'_> = serde_json::from_str(result)
            .map_err(|fault| format!("the result of tools/list is not a list of tools: {fault}"))?;
        self.pages += 1;
        for raw in page.tools {
            if self.list.tools.len() + self.list.set_aside.len() >= MAX_TOOLS {
                return Err(format!("the server has more than {MAX_TOOLS} tools"));
            }
            self.tool(raw);
        }
        let Some(next) = page.next.filter(|next| next.get() != "null") else {
            return Ok(None);
        };
        let cursor: String = serde_json::from_str(next.get())
            .map_err(|_| "nextCursor is not a string".to_owned())?;
        // Servers that cannot leave a field out write an empty one.
        if cursor.is_empty() {
            return Ok(None);
        }
        if self.pages >= MAX_PAGES {
            return Err(format!("the list of tools has more than {MAX_PAGES} pages"));
        }
        if !self.cursors.insert(cursor.clone()) {
            return Err(format!(
                "the cursor '{}' came twice, so that the list of tools has no end",
                one_line(&cursor, 128)
            ));
        }
        Ok(Some(cursor))
    }

    fn tool(&mut self, raw: &RawValue) {
        let parsed = JsonText::from_raw(raw).and_then(ToolDefinition::from_descriptor);
        let parsed = match parsed {
            Ok(parsed) => parsed,
            Err(fault) => {
                self.set_aside(raw, one_line(fault.message(), 512));
                return;
            }
        };
        if !parsed.issues.is_empty() {
            tracing::debug!(
                fields = parsed.issues.len(),
                "a tool has optional fields that cannot be read; they are left out"
            );
        }
        if self.names.insert(parsed.definition.name().clone()) {
            self.list.tools.push(Arc::new(parsed.definition));
        } else {
            self.set_aside(
                raw,
                "another tool of this server has the same name".to_owned(),
            );
        }
    }

    fn set_aside(&mut self, raw: &RawValue, reason: String) {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        let name = serde_json::from_str::<Named>(raw.get()).map_or_else(
            |_| "(no name)".to_owned(),
            |named| one_line(&named.name, 128),
        );
        self.list.set_aside.push(SetAside { name, reason });
    }

    /// The whole list.
    pub(crate) fn finish(self) -> ToolList {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_tool_costs_nobody_else() {
        let mut listing = Listing::default();
        let next = listing.page(
            r#"{"tools":[
                {"name":"good","inputSchema":{"type":"object"},"execution":{"x":1.0}},
                {"name":"null schema","inputSchema":null},
                {"inputSchema":{}},
                17,
                {"name":"good","inputSchema":{}}
            ],"nextCursor":""}"#,
        );
        assert_eq!(next, Ok(None));
        let list = listing.finish();
        assert_eq!(
            list.tools[0].descriptor().as_str(),
            r#"{"name":"good","inputSchema":{"type":"object"},"execution":{"x":1.0}}"#
        );
        let aside: Vec<&str> = list.set_aside.iter().map(|tool| &*tool.name).collect();
        assert_eq!(aside, ["null schema", "(no name)", "(no name)", "good"]);
    }

    #[test]
    fn a_list_without_tools_is_an_error_and_not_empty() {
        assert!(Listing::default().page(r#"{"items":[]}"#).is_err());
    }

    #[test]
    fn pages_have_an_end() {
        let mut listing = Listing::default();
        let page = r#"{"tools":[],"nextCursor":"again"}"#;
        assert_eq!(listing.page(page), Ok(Some("again".to_owned())));
        assert!(listing.page(page).unwrap_err().contains("'again'"));
        let mut listing = Listing::default();
        let fault = (0..2_000).find_map(|n| {
            listing
                .page(&format!(r#"{{"tools":[],"nextCursor":"{n}"}}"#))
                .err()
        });
        assert!(fault.unwrap().contains("1000 pages"));
    }
}

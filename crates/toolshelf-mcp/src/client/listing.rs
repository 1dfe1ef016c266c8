//! All pages of `tools/list`, read tool by tool, or kept as they came.

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

/// Why a tool is set aside whose name another tool of its server has already.
pub const SAME_NAME: &str = "another tool of this server has the same name";

/// The way from page to page, whatever becomes of the tools.
#[derive(Default)]
struct Pages {
    cursors: HashSet<String>,
    pages: usize,
    tools: usize,
}

impl Pages {
    /// Takes a page and hands out its tools; returns the cursor of the next one.
    ///
    /// # Errors
    ///
    /// What is wrong with the page, in words for the operator.
    fn page(
        &mut self,
        result: &str,
        mut take: impl FnMut(&RawValue),
    ) -> Result<Option<String>, String> {
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
            if self.tools >= MAX_TOOLS {
                return Err(format!("the server has more than {MAX_TOOLS} tools"));
            }
            self.tools += 1;
            take(raw);
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
}

/// Takes the pages of a list.
pub(crate) trait Collect {
    /// Takes a page; returns the cursor of the next one.
    ///
    /// # Errors
    ///
    /// What is wrong with the page, in words for the operator.
    fn page(&mut self, result: &str) -> Result<Option<String>, String>;
}

/// Keeps the tools as the server wrote them, whatever they are.
#[derive(Default)]
pub(crate) struct Verbatim {
    pages: Pages,
    /// The tools, in the server's order.
    pub(crate) tools: Vec<Box<RawValue>>,
}

impl Collect for Verbatim {
    fn page(&mut self, result: &str) -> Result<Option<String>, String> {
        let tools = &mut self.tools;
        self.pages.page(result, |raw| tools.push(raw.to_owned()))
    }
}

/// Reads the tools.
#[derive(Default)]
pub(crate) struct Listing {
    pages: Pages,
    read: Read,
}

impl Collect for Listing {
    fn page(&mut self, result: &str) -> Result<Option<String>, String> {
        let read = &mut self.read;
        self.pages.page(result, |raw| read.tool(raw))
    }
}

impl Listing {
    /// The whole list.
    pub(crate) fn finish(self) -> ToolList {
        self.read.list
    }
}

#[derive(Default)]
struct Read {
    list: ToolList,
    names: HashSet<ToolName>,
}

impl Read {
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
            self.set_aside(raw, SAME_NAME.to_owned());
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
    fn what_is_kept_verbatim_is_everything_as_it_came() {
        let mut verbatim = Verbatim::default();
        let tools = [
            r#"{ "name": "\u0061", "b": 1.50, "b": 2 }"#,
            "null",
            r#""a tool""#,
        ];
        let page = format!(r#"{{"tools":[{}],"nextCursor":"2"}}"#, tools.join(" , "));
        assert_eq!(verbatim.page(&page), Ok(Some("2".to_owned())));
        assert_eq!(verbatim.page(r#"{"tools":[]}"#), Ok(None));
        let kept: Vec<&str> = verbatim.tools.iter().map(|raw| raw.get()).collect();
        assert_eq!(kept, tools);
        assert!(Verbatim::default().page("null").is_err());
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

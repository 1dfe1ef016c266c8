//! What clauses put into an index, and how they ask it.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolshelf_core::search::{Found, Hit, IndexedTool, SearchIndex, SearchQuery};
use toolshelf_core::{Error, ErrorKind, GroupId};

use crate::clause::{require, short};
use crate::world::{id, tool};

/// Tools by their group, as an index gets them.
#[derive(Clone, Default)]
pub(super) struct Shelf(pub(super) BTreeMap<GroupId, Vec<IndexedTool>>);

impl Shelf {
    /// A group, each tool of which has a name and a description.
    pub(super) fn group(mut self, group: &str, tools: &[(&str, &str)]) -> Self {
        let tools = tools
            .iter()
            .map(|(name, about)| indexed(group, name, about));
        self.0.insert(id(group), tools.collect());
        self
    }

    /// Hands each group over, in the order of their ids.
    pub(super) fn fill(&self, index: &dyn SearchIndex) {
        for (group, tools) in &self.0 {
            index.replace_group(group, tools.clone());
        }
    }

    pub(super) fn holds(&self, hit: &Hit) -> bool {
        let tools = self.0.get(&hit.key.group);
        tools.is_some_and(|tools| tools.iter().any(|tool| tool.key == hit.key))
    }
}

/// A tool as an index gets it.
pub(super) fn indexed(group: &str, name: &str, about: &str) -> IndexedTool {
    let (json_name, json_about) = (
        serde_json::Value::from(name),
        serde_json::Value::from(about),
    );
    let tool = tool(&format!(
        r#"{{"name":{json_name},"description":{json_about},"inputSchema":{{"type":"object"}}}}"#
    ));
    IndexedTool {
        key: crate::world::key(group, name),
        definition: tool.definition().clone(),
        group_text: Arc::from(""),
    }
}

/// A few servers. Names and texts are such that a tool's name stands in texts of others more
/// often than in its own, and two groups share a tool.
pub(super) fn servers() -> Shelf {
    Shelf::default()
        .group(
            "github",
            &[
                ("create_issue", "Opens a problem report in a repository."),
                ("list_issues", "Shows the problem reports of a repository."),
                (
                    "search_code",
                    "Greps sources. Use create_issue for a find_symbol bug: create issue, create_issue.",
                ),
            ],
        )
        .group("gitlab", &[("create_issue", "Opens a problem report in a project.")])
        .group(
            "lsp",
            &[
                ("find_symbol", "Where something is defined."),
                (
                    "find_references",
                    "Where a symbol, found by find symbol, is used. find_symbol find_symbol",
                ),
            ],
        )
        .group(
            "mail",
            &[
                ("send_message", "Posts a letter to somebody."),
                ("archive", "Puts a letter away, after it was read."),
            ],
        )
        .group("chat", &[("publish", "Posts a message to a channel, for zephyr users.")])
        .group("weather", &[("get_forecast", "Rain and sunshine of tomorrow.")])
}

/// Queries of many kinds. Not each of them finds something.
pub(super) const QUERIES: [&str; 14] = [
    "create_issue",
    "CreateIssue",
    "gitlab/create_issue",
    "find_symbol",
    "issue",
    "posts",
    "letter to somebody",
    "problem report of a repository",
    "forecst of tommorow",
    "select:create_issue,no_such_tool",
    "+zephyr message",
    "/^(find|send)_/",
    "bake chocolate cake",
    "publish a letter in the repository",
];

/// A query with room for ten hits.
pub(super) fn query(text: &str) -> SearchQuery {
    SearchQuery {
        text: text.to_owned(),
        limit: 10,
        groups: Vec::new(),
    }
}

/// The answer to a text.
pub(super) fn search(index: &dyn SearchIndex, text: &str) -> Result<Found, String> {
    let found = index.search(&query(text));
    found.map_err(|error| format!("{:?} is refused: {error}", start(text)))
}

/// An answer as text: to compare, also where it is a refusal. Scores count to the last digit.
pub(super) fn written(index: &dyn SearchIndex, query: &SearchQuery) -> String {
    match index.search(query) {
        Ok(found) => format!("{found:?}"),
        Err(error) => format!("refused: {}: {}", error.kind(), error.for_model()),
    }
}

/// The keys of hits, best first.
pub(super) fn keys(found: &Found) -> Vec<String> {
    found.hits.iter().map(|hit| hit.key.to_string()).collect()
}

/// That the first hit of a text is this tool.
pub(super) fn is_first(index: &dyn SearchIndex, text: &str, key: &str) -> Result<Hit, String> {
    let found = search(index, text)?;
    match found.hits.first() {
        Some(hit) if hit.key.to_string() == key => Ok(hit.clone()),
        _ => Err(format!(
            "`{key}` should be the first hit of {:?}, and there are {}",
            start(text),
            short(&keys(&found))
        )),
    }
}

/// That a refusal is one of the query, and says to a model what to do.
pub(super) fn is_refusal(text: &str, error: &Error) -> Result<(), String> {
    let told = error.for_model();
    let says = error.kind() == ErrorKind::InvalidArguments && told != error.kind().as_str();
    require(says, || {
        format!(
            "{:?} is refused as {}, and a model is told {told:?}",
            start(text),
            error.kind()
        )
    })
}

/// That a text is refused.
pub(super) fn refuses(index: &dyn SearchIndex, query: &SearchQuery) -> Result<(), String> {
    match index.search(query) {
        Err(error) => is_refusal(&query.text, &error),
        Ok(found) => Err(format!(
            "{:?} with the limit {} is answered: {}",
            start(&query.text),
            query.limit,
            short(&found)
        )),
    }
}

/// The beginning of a text that may be long.
pub(super) fn start(text: &str) -> String {
    text.chars().take(60).collect()
}

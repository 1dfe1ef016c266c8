//! Tools and queries for tests.

use std::sync::Arc;

use toolshelf_core::search::{Found, IndexedTool, SearchIndex, SearchQuery};
use toolshelf_core::{Error, GroupId, JsonText, ToolDefinition, ToolKey, ToolName};
use toolshelf_search::Lexical;

pub(crate) fn group(id: &str) -> GroupId {
    GroupId::new(id).unwrap()
}

/// A tool without arguments.
pub(crate) fn tool(group_id: &str, name: &str, description: &str) -> IndexedTool {
    tool_with(group_id, name, description, r#"{"type":"object"}"#)
}

/// A tool with a schema.
pub(crate) fn tool_with(
    group_id: &str,
    name: &str,
    description: &str,
    schema: &str,
) -> IndexedTool {
    let name = ToolName::new(name).unwrap();
    let schema = JsonText::parse(schema).unwrap();
    IndexedTool {
        key: ToolKey::new(group(group_id), name.clone()),
        definition: Arc::new(ToolDefinition::new(name, description, schema).unwrap()),
        group_text: Arc::from(""),
    }
}

/// An index of tools, each handed over with its group.
pub(crate) fn index(tools: &[IndexedTool]) -> Lexical {
    let index = Lexical::default();
    fill(&index, tools);
    index
}

pub(crate) fn fill(index: &dyn SearchIndex, tools: &[IndexedTool]) {
    let mut groups: Vec<GroupId> = tools.iter().map(|tool| tool.key.group.clone()).collect();
    groups.sort();
    groups.dedup();
    for id in groups {
        let of_group = tools.iter().filter(|tool| tool.key.group == id);
        index.replace_group(&id, of_group.cloned().collect());
    }
}

pub(crate) fn query(text: &str) -> SearchQuery {
    SearchQuery {
        text: text.to_owned(),
        limit: 5,
        groups: Vec::new(),
    }
}

pub(crate) fn search(index: &dyn SearchIndex, text: &str) -> Result<Found, Error> {
    index.search(&query(text))
}

/// The keys that are found, best first.
pub(crate) fn keys(index: &dyn SearchIndex, text: &str) -> Vec<String> {
    let found = search(index, text).unwrap();
    found.hits.iter().map(|hit| hit.key.to_string()).collect()
}

/// The best hit.
pub(crate) fn first(index: &dyn SearchIndex, text: &str) -> String {
    keys(index, text).into_iter().next().unwrap_or_default()
}

/// A few servers as one meets them.
pub(crate) fn servers() -> Vec<IndexedTool> {
    let path = r#"{"type":"object","properties":{"path":{"type":"string","description":"Where"}}}"#;
    vec![
        tool(
            "github",
            "create_issue",
            "Opens a new issue in a repository.",
        ),
        tool("github", "list_issues", "Shows the issues of a repository."),
        tool(
            "github",
            "search_code",
            "Finds source code. Use create_issue to report a find_symbol bug.",
        ),
        tool("gitlab", "create_issue", "Opens a new issue in a project."),
        tool("lsp", "find_symbol", "Where a symbol is defined."),
        tool(
            "lsp",
            "find_references",
            "Where a symbol, found by find symbol, is used. find_symbol find_symbol",
        ),
        tool_with("files", "read-text-file", "Reads a text file.", path),
        tool_with("files", "writeTextFile", "Writes a text file.", path),
        tool(
            "hub",
            "mcp__plugin_x__ask_codex",
            "Puts a question to another agent.",
        ),
        tool(
            "hub",
            "mcp__plugin_y__ask_gemini",
            "Puts a question to another agent.",
        ),
        tool("slack", "post_message", "Sends a message to a channel."),
        tool("slack", "server_status", "Whether the chat is up."),
        tool(
            "weather",
            "get_forecast",
            "The weather of the next days at a place.",
        ),
        tool("日历", "创建日程", "在日历中创建新的日程并邀请参与者"),
        tool("日历", "删除日程", "从日历中删除已有的日程"),
        tool("клуб", "найти_книгу", "Находит книгу в библиотеке."),
    ]
}

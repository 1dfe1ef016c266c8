//! Errors of `deferred_tool_call`, before any tool was reached.

use std::collections::BTreeMap;

use toolshelf_core::nearest::nearest;
use toolshelf_core::{GroupId, ToolDefinition, ToolKey, ToolName, signature};

use super::{MAX_CANDIDATES, MAX_NEAREST, counted, quote, quotes, sentence};

/// `tool_name` is missing or is not a string.
pub fn tool_name_missing() -> String {
    "`tool_name` is required: `group/tool`, or the tool's name alone where only one group \
     has it."
        .to_owned()
}

/// There is no such tool. `known` are the tools that the model may know.
///
/// The nearest are named `group/tool`, [`MAX_NEAREST`] at most.
pub fn unknown_tool<'a>(
    asked: &str,
    known: impl IntoIterator<Item = (&'a GroupId, &'a ToolName)>,
) -> String {
    let mut by_name: BTreeMap<&str, Vec<&GroupId>> = BTreeMap::new();
    let mut tools = 0;
    for (group, tool) in known {
        by_name.entry(tool.as_str()).or_default().push(group);
        tools += 1;
    }
    // A mistaken group does not hide that the tool's own name is right.
    let bare = asked.rsplit('/').next().unwrap_or(asked);
    let mut near: Vec<String> = Vec::new();
    for name in nearest(bare, by_name.keys().copied(), MAX_NEAREST) {
        let mut groups = by_name.remove(name).unwrap_or_default();
        groups.sort_unstable();
        near.extend(groups.iter().map(|group| format!("{group}/{name}")));
    }
    // Among tools of the same name the one of the nearest group comes first.
    if let Some(best) = nearest(asked, near.iter().map(String::as_str), 1).first()
        && let Some(at) = near.iter().position(|name| name == best)
    {
        near[..=at].rotate_right(1);
    }
    near.truncate(MAX_NEAREST);
    let asked = quote(asked);
    if near.is_empty() {
        format!(
            "There is no tool {asked} among the {} that are known. Call `load_tools` with a \
             group of the catalog to see its tools.",
            counted(tools, "tool")
        )
    } else {
        format!(
            "There is no tool {asked}. The nearest: {}. `load_tools` gives all tools of a group.",
            quotes(&near, MAX_NEAREST)
        )
    }
}

/// More than one group has a tool of this name.
///
/// All are named `group/tool`, [`MAX_CANDIDATES`] at most.
pub fn ambiguous_tool(name: &str, groups: &[&GroupId]) -> String {
    let mut qualified: Vec<String> = groups
        .iter()
        .map(|group| format!("{group}/{name}"))
        .collect();
    qualified.sort_unstable();
    format!(
        "{} exists in {}. Call it by its full name: {}.",
        quote(name),
        counted(groups.len(), "group"),
        quotes(&qualified, MAX_CANDIDATES)
    )
}

/// The arguments could not be read as an object. `fault` says what came (see
/// [`read_arguments`](toolshelf_core::read_arguments)); the tool's input schema
/// follows where it is known, or its signature where the schema has more than `cap`
/// bytes.
pub fn arguments_fault(
    fault: &str,
    tool: Option<(&ToolKey, &ToolDefinition)>,
    cap: usize,
) -> String {
    let fault = sentence(fault);
    let Some((key, definition)) = tool else {
        return fault;
    };
    let name = quote(&key.to_string());
    let schema = definition.input_schema();
    if schema.len() <= cap {
        format!("{fault}\n\nInput schema of {name}:\n{schema}")
    } else {
        format!(
            "{fault}\n\nArguments of {name}, required ones marked with *: {}",
            signature(definition)
        )
    }
}

//! Errors of `deferred_tool_call`, before any tool was reached.

use toolshelf_core::{GroupId, ToolDefinition, ToolKey, signature};

use super::{MAX_TOOLS, counted, quote, quotes, sentence};

/// The longest schema that an error shows whole, in bytes.
pub const MAX_SCHEMA_BYTES: usize = 32 * 1024;

/// There is no such tool. `near` are the nearest as `group/tool`, best first, of which
/// eight are named at most.
pub fn unknown_tool<S: AsRef<str>>(asked: &str, near: &[S]) -> String {
    let asked = quote(asked);
    if near.is_empty() {
        return format!(
            "There is no tool {asked}, and none of a similar name. Call `load_tools` with a group \
             of the catalog to see its tools."
        );
    }
    let shown = &near[..near.len().min(MAX_TOOLS)];
    let near = quotes(shown, MAX_TOOLS);
    format!(
        "There is no tool {asked}. The nearest: {near}. `load_tools` shows all tools of a group."
    )
}

/// What is said after [`unknown_tool`] of groups that may have the tool: their names are not
/// known yet. Empty when there are none; eight are named at most.
pub fn still_starting(groups: &[GroupId]) -> String {
    if groups.is_empty() {
        return String::new();
    }
    format!(
        " The tools of these groups are not known yet, since they are still starting: {}.",
        quotes(groups, MAX_TOOLS)
    )
}

/// More than one group has a tool of this name. All are named `group/tool`, eight at
/// most.
pub fn ambiguous_tool(name: &str, candidates: &[ToolKey]) -> String {
    let mut qualified: Vec<String> = candidates.iter().map(ToolKey::to_string).collect();
    qualified.sort_unstable();
    format!(
        "{} exists in {}. Use the full name: {}.",
        quote(name),
        counted(candidates.len(), "group"),
        quotes(&qualified, MAX_TOOLS)
    )
}

/// The arguments could not be read as an object. `fault` says what came (see
/// [`read_arguments`](toolshelf_core::read_arguments)); the tool's input schema follows,
/// or its signature where the schema has more than [`MAX_SCHEMA_BYTES`].
pub fn unreadable_arguments(key: &ToolKey, fault: &str, definition: &ToolDefinition) -> String {
    let fault = sentence(fault);
    let name = quote(&key.to_string());
    let schema = definition.input_schema();
    if schema.len() <= MAX_SCHEMA_BYTES {
        format!("{fault}\n\nInput schema of {name}:\n{schema}")
    } else {
        let signature = signature(definition);
        format!("{fault}\n\nArguments of {name}, required ones marked with *: {signature}")
    }
}

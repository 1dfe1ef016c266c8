//! The forwarder in three, by what a tool does: for hosts whose users approve calls by
//! the name of the tool, and by its hints.

use toolshelf_core::{Error, ToolDefinition, ToolKey};

use super::own_tools::{CALL_SCHEMA, Hints, definition, load_tools, with_catalog};
use super::{own_tools, quote};

/// Calls tools that their servers mark read-only.
pub const DEFERRED_TOOL_READ: &str = "deferred_tool_read";

/// Calls those too that change things and destroy nothing, as their servers say.
pub const DEFERRED_TOOL_WRITE: &str = "deferred_tool_write";

/// Calls any tool.
pub const DEFERRED_TOOL_DESTROY: &str = "deferred_tool_destroy";

const LOAD: &str = "\
Read what the tools of a group do: returns their descriptions and full input schemas. Then \
run one with `deferred_tool_read`, `deferred_tool_write` or `deferred_tool_destroy`, by what \
it does.";

pub(super) const INSTRUCTIONS: &str = "\
The tools of several servers stand behind four tools. Find a group in the description of \
`load_tools`, load it to read the schemas of its tools, then run one with \
`deferred_tool_read` if it only reads, `deferred_tool_write` if it changes things, \
`deferred_tool_destroy` if it may destroy something. The answer says when another of the \
three is needed.";

pub(super) const SEARCH_INSTRUCTIONS: &str = "\
The tools of several servers stand behind five tools. `search_tools` finds tools by what \
they do; the description of `load_tools` lists their groups. Load a group to read the schemas \
of its tools, then run one with `deferred_tool_read` if it only reads, `deferred_tool_write` \
if it changes things, `deferred_tool_destroy` if it may destroy something. The answer says \
when another of the three is needed.";

const READ: &str = "\
Run a tool of any group that only reads. Read its schema with `load_tools` first, unless \
you know it: `arguments` must fit it. If they do not, nothing runs and the answer holds the \
schema. Write `tool_name` before `arguments`.";

const WRITE: &str =
    "Run a tool that changes things but destroys nothing; otherwise as `deferred_tool_read`.";

const DESTROY: &str = "\
Run a tool that may overwrite or destroy, or of which its server does not say what it does; \
otherwise as `deferred_tool_read`.";

/// The definition of `load_tools` beside the three, with the catalog in the system prompt.
///
/// # Errors
///
/// As [`load_tools_dispatch`](super::load_tools_dispatch).
pub fn load_tools_split() -> Result<ToolDefinition, Error> {
    load_tools(format!("{LOAD}{}", own_tools::IN_PROMPT))
}

/// The definition of `load_tools` beside the three in an MCP server: its description ends
/// with the catalog.
///
/// # Errors
///
/// As [`load_tools_dispatch`](super::load_tools_dispatch).
pub fn load_tools_split_gateway(catalog: &str) -> Result<ToolDefinition, Error> {
    load_tools(with_catalog(LOAD, catalog))
}

/// The definitions of the three, in the order of what they may do.
///
/// # Errors
///
/// As [`load_tools_dispatch`](super::load_tools_dispatch).
pub fn split_calls() -> Result<[ToolDefinition; 3], Error> {
    let make = |name, description, read_only, destructive| {
        let hints = Hints {
            read_only,
            destructive: Some(destructive),
            ..Hints::default()
        };
        definition(name, description, CALL_SCHEMA, Some(hints))
    };
    Ok([
        make(DEFERRED_TOOL_READ, READ, true, false)?,
        make(DEFERRED_TOOL_WRITE, WRITE, false, false)?,
        make(DEFERRED_TOOL_DESTROY, DESTROY, false, true)?,
    ])
}

/// A tool was called by a forwarder that does not reach it; `right` is the one that does.
pub fn wrong_forwarder(key: &ToolKey, right: &str) -> String {
    let does = if right == DEFERRED_TOOL_WRITE {
        "is not marked read-only"
    } else {
        "is not marked as one that destroys nothing"
    };
    format!(
        "{} {does}, so nothing was run. Call it with `{right}`.",
        quote(&key.to_string())
    )
}

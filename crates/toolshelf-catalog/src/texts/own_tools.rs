//! The definitions of `load_tools` and `deferred_tool_call`, and the instructions.
//!
//! The two definitions of dispatch in an MCP server together have at most 1,300 bytes
//! without the catalog: under 350 tokens, which every request of every session carries.

use serde::Serialize;
use toolshelf_core::{Error, JsonText, ToolDefinition};

use super::split;

/// The name of the tool that loads.
pub const LOAD_TOOLS: &str = "load_tools";

/// The name of the tool that calls another tool.
pub const DEFERRED_TOOL_CALL: &str = "deferred_tool_call";

/// The most characters of instructions.
pub const MAX_INSTRUCTIONS_CHARS: usize = 512;

/// What is added to the instructions of `dispatch` where a strategy was asked for whose list
/// grows, and cannot be had.
pub const INJECT_NOT_OFFERED: &str =
    " (The tool list of this connection cannot grow, so tools are called this way.)";

const DISPATCH_INSTRUCTIONS: &str = "\
The tools of several servers stand behind two tools. Find a group in the description of \
`load_tools`, load it to read the schemas of its tools, then run one with \
`deferred_tool_call`. Several calls may go in one turn. A schema that you have read stays \
valid; do not load it again.";

const INJECT_INSTRUCTIONS: &str = "\
The tools of several servers wait until you load them. Find a group in the description of \
`load_tools` and load it, or some of its tools by `tool_names`: they join your tool list, \
under the names in `call_as`, and you call them directly. A tool that is loaded stays \
loaded; do not load it again.";

const TST_INSTRUCTIONS: &str = "\
Only some tools are in your list. When a task needs another one, look for it with the search \
tool: what it finds joins your list from your next turn on, and you call it directly. A tool \
that was found stays; do not search for it again.";

const DISPATCH_SEARCH_INSTRUCTIONS: &str = "\
The tools of several servers stand behind three tools. `search_tools` finds tools by what \
they do; the description of `load_tools` lists their groups. Load a group to read the schemas \
of its tools, then run one with `deferred_tool_call`. Several calls may go in one turn. A \
schema that you have read stays valid; do not load it again.";

const STANDARD_INSTRUCTIONS: &str = "\
The tools of several servers, passed through. A tool's name begins with the name of its \
server: `server__tool`.";

const LOAD_SCHEMA: &str = r#"{"type":"object","properties":{"group_id":{"type":"string","description":"Id of a group in the catalog"},"tool_names":{"type":"array","items":{"type":"string"},"description":"Only these tools; leave out for the whole group"}},"required":["group_id"]}"#;

pub(super) const CALL_SCHEMA: &str = r#"{"type":"object","properties":{"tool_name":{"type":"string","description":"`group/tool`; the bare name will do where only one group has it"},"arguments":{"type":"object","description":"What the tool's own schema asks for","additionalProperties":true}},"required":["tool_name"]}"#;

const CALL_DESCRIPTION: &str = "\
Run a tool of any group. Read its schema with `load_tools` first, unless you know it: \
`arguments` must fit it. If they do not, nothing runs and the answer holds the schema, so \
that you can correct the call. Write `tool_name` before `arguments`.";

const DISPATCH_LOAD: &str = "\
Read what the tools of a group do: returns their descriptions and full input schemas. Then \
run one with `deferred_tool_call`.";

const INJECT_LOAD: &str = "\
Load a group of tools: they join your tool list and can be called directly for the rest of \
the conversation.";

/// Where the catalog stands, from the point of view of the description.
pub(super) const IN_PROMPT: &str =
    " Groups are listed under 'Deferred tool groups' in the system prompt.";

const IN_DESCRIPTION: &str = " The groups:";

const NO_GROUPS: &str = " There is nothing to load at present.";

/// How to use the tools of a server that fronts others under `dispatch`, with or without a
/// search, and with the forwarder in one or [split in three](super::split_calls); at most
/// [`MAX_INSTRUCTIONS_CHARS`].
pub fn instructions_dispatch(search: bool, split: bool) -> &'static str {
    match (search, split) {
        (false, false) => DISPATCH_INSTRUCTIONS,
        (true, false) => DISPATCH_SEARCH_INSTRUCTIONS,
        (false, true) => split::INSTRUCTIONS,
        (true, true) => split::SEARCH_INSTRUCTIONS,
    }
}

/// How to use the tools of a server that fronts others under `inject`; at most
/// [`MAX_INSTRUCTIONS_CHARS`].
pub fn instructions_inject() -> &'static str {
    INJECT_INSTRUCTIONS
}

/// How to use a search tool whose finds join the list; at most [`MAX_INSTRUCTIONS_CHARS`].
pub fn instructions_tst() -> &'static str {
    TST_INSTRUCTIONS
}

/// How to use the tools of a server that fronts others under `standard`; at most
/// [`MAX_INSTRUCTIONS_CHARS`].
pub fn instructions_standard() -> &'static str {
    STANDARD_INSTRUCTIONS
}

/// The definition of `load_tools` under `dispatch`, with the catalog in the system prompt.
///
/// # Errors
///
/// None: all parts are constants, but reading a definition can fail in general.
pub fn load_tools_dispatch() -> Result<ToolDefinition, Error> {
    load_tools(format!("{DISPATCH_LOAD}{IN_PROMPT}"))
}

/// The definition of `load_tools` under `dispatch` in an MCP server: its description ends
/// with the catalog.
///
/// # Errors
///
/// As [`load_tools_dispatch`].
pub fn load_tools_gateway(catalog: &str) -> Result<ToolDefinition, Error> {
    load_tools(with_catalog(DISPATCH_LOAD, catalog))
}

/// The definition of `load_tools` under `inject`, with the catalog in the system prompt.
///
/// # Errors
///
/// As [`load_tools_dispatch`].
pub fn load_tools_inject() -> Result<ToolDefinition, Error> {
    load_tools(format!("{INJECT_LOAD}{IN_PROMPT}"))
}

/// The definition of `load_tools` under `inject` in an MCP server: its description ends
/// with the catalog.
///
/// # Errors
///
/// As [`load_tools_dispatch`].
pub fn load_tools_inject_gateway(catalog: &str) -> Result<ToolDefinition, Error> {
    load_tools(with_catalog(INJECT_LOAD, catalog))
}

/// The definition of `deferred_tool_call`.
///
/// # Errors
///
/// As [`load_tools_dispatch`].
pub fn deferred_tool_call() -> Result<ToolDefinition, Error> {
    definition(DEFERRED_TOOL_CALL, CALL_DESCRIPTION, CALL_SCHEMA, None)
}

pub(super) fn with_catalog(what: &str, catalog: &str) -> String {
    if catalog.is_empty() {
        format!("{what}{NO_GROUPS}")
    } else {
        format!("{what}{IN_DESCRIPTION}\n\n{catalog}")
    }
}

pub(super) fn load_tools(description: String) -> Result<ToolDefinition, Error> {
    // A host asks its user less often before a tool that changes nothing.
    let hints = Hints {
        read_only: true,
        idempotent: Some(true),
        open_world: Some(false),
        ..Hints::default()
    };
    definition(LOAD_TOOLS, &description, LOAD_SCHEMA, Some(hints))
}

#[derive(Serialize)]
struct Descriptor<'a> {
    name: &'a str,
    description: &'a str,
    #[serde(rename = "inputSchema")]
    input_schema: JsonText,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Hints>,
}

#[derive(Default, Serialize)]
pub(super) struct Hints {
    #[serde(rename = "readOnlyHint")]
    pub(super) read_only: bool,
    #[serde(rename = "destructiveHint", skip_serializing_if = "Option::is_none")]
    pub(super) destructive: Option<bool>,
    #[serde(rename = "idempotentHint", skip_serializing_if = "Option::is_none")]
    pub(super) idempotent: Option<bool>,
    #[serde(rename = "openWorldHint", skip_serializing_if = "Option::is_none")]
    pub(super) open_world: Option<bool>,
}

pub(super) fn definition(
    name: &str,
    description: &str,
    schema: &str,
    annotations: Option<Hints>,
) -> Result<ToolDefinition, Error> {
    let descriptor = JsonText::from_serialize(&Descriptor {
        name,
        description,
        input_schema: JsonText::parse(schema)?,
        annotations,
    })?;
    Ok(ToolDefinition::from_descriptor(descriptor)?.definition)
}

//! `load/1`: what `load_tools` answers.

use std::borrow::Cow;
use std::fmt::Write as _;

use toolshelf_core::text::{bounded_text, one_line};
use toolshelf_core::{MAX_ID_BYTES, ShelvedTool, ToolName, signature};

use crate::json::{with_python_separators, write_string, write_strings};

/// Name and version.
pub const LOAD_FORMAT: &str = "load/1";

/// How many bytes of schemas the answer to the load of a whole group holds by default.
pub const DEFAULT_SCHEMA_BUDGET: usize = 32 * 1024;

/// How many bytes of schemas an answer holds at most by default where tools were asked
/// for by name.
pub const DEFAULT_NAMED_CAP: usize = 128 * 1024;

/// The most bytes of a server's own instructions in an answer.
pub const MAX_INSTRUCTIONS_BYTES: usize = 2_048;

/// The most bytes of signature lines in an answer.
pub const MAX_OMITTED_BYTES: usize = 16 * 1024;

/// The most bytes of tool names in an answer. Names beyond it count as remaining.
pub const MAX_LISTED_NAMES_BYTES: usize = 64 * 1024;

/// How many missing names an answer lists.
const MAX_MISSING: usize = 20;

/// How many tools an error about size names.
const MAX_TOO_LARGE: usize = 8;

/// The most blanks of indentation that a line of instructions keeps.
const MAX_INDENT: usize = 8;

/// What stands under `schemas`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schemas {
    /// The key is left out: the tools join the tools array (inject).
    Omit,
    /// `null`: as [`Schemas::Omit`], for readers that expect the key.
    Null,
    /// The whole group was asked for: definitions in order, each complete, as long as
    /// they have `budget` bytes together; one that no longer fits is passed over, and a
    /// later, smaller one may still be given.
    Whole {
        /// Bytes.
        budget: usize,
    },
    /// Tools were asked for by name: as [`Schemas::Whole`], but a tool that does not fit
    /// is told under `error` too, since it was wanted.
    Named {
        /// Bytes.
        cap: usize,
    },
}

/// How the JSON is spaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Separators {
    /// `,` and `:`.
    #[default]
    Compact,
    /// `, ` and `: `, inside schemas too: 13 % more tokens, for readers that compare
    /// with what Python writes.
    Python,
}

/// The answer of `load_tools`, before it is written.
///
/// One line of JSON, keys sorted, strings with the fewest escapes:
///
/// | key | value |
/// |---|---|
/// | `call_as` | with [`LoadAnswer::call_as`]: the names under which the tools are called, parallel to `tool_names` |
/// | `error` | `null`, or what went wrong |
/// | `expanded` | whether anything was loaded; the tool result is an error when it is `false` |
/// | `group_id` | the group |
/// | `instructions` | the server's own, where there are any |
/// | `missing` | declared names that the loader did not return, where there are any |
/// | `note` | with `omitted`, and where not all names are listed: how to see the rest |
/// | `omitted` | tools whose definition had no room, as `name(argument*, argument)` |
/// | `remaining` | tools of the group that `tool_names` does not name |
/// | `schemas` | `description`, `name` and `parameters` of each tool (see [`Schemas`]) |
/// | `tool_names` | the tools that this answer is about |
///
/// The description is unchanged, empty where the server gave none; `parameters` is
/// the server's input schema, verbatim.
///
/// ```
/// use toolshelf_catalog::LoadAnswer;
/// let answer = LoadAnswer::refused("gihtub", 0, "No such group.");
/// assert_eq!(
///     answer.write(),
///     r#"{"error":"No such group.","expanded":false,"group_id":"gihtub","remaining":0,"schemas":[],"tool_names":[]}"#
/// );
/// ```
#[derive(Clone)]
pub struct LoadAnswer<'a> {
    /// The group, as the model named it; it need not exist. Cut where it is longer than
    /// an id can be.
    pub group_id: &'a str,
    /// How many tools the group has, as far as that is known.
    pub group_size: usize,
    /// Whether anything was loaded.
    pub expanded: bool,
    /// The tools that were loaded, in the order of the group.
    pub tools: Vec<&'a ShelvedTool>,
    /// What went wrong, for the model; see [`texts`](crate::texts).
    pub error: Option<String>,
    /// Declared names that the loader did not return. For the load of a whole group.
    pub missing: &'a [ToolName],
    /// The server's own instructions; untrusted text. For the load of a whole group.
    pub instructions: Option<&'a str>,
    /// What stands under `schemas`.
    pub schemas: Schemas,
    /// Whether the names on the wire are listed (inject).
    pub call_as: bool,
    /// How the JSON is spaced.
    pub separators: Separators,
}

impl<'a> LoadAnswer<'a> {
    /// The answer to a load that succeeded, with the definitions of a whole group within
    /// the default budget.
    pub fn loaded(group_id: &'a str, group_size: usize, tools: Vec<&'a ShelvedTool>) -> Self {
        Self {
            group_id,
            group_size,
            expanded: true,
            tools,
            error: None,
            missing: &[],
            instructions: None,
            schemas: Schemas::Whole {
                budget: DEFAULT_SCHEMA_BUDGET,
            },
            call_as: false,
            separators: Separators::Compact,
        }
    }

    /// The answer to a load that did nothing. `group_size` is 0 for an unknown group.
    pub fn refused(group_id: &'a str, group_size: usize, error: impl Into<String>) -> Self {
        Self {
            expanded: false,
            error: Some(error.into()),
            ..Self::loaded(group_id, group_size, Vec::new())
        }
    }

    /// Writes the answer. The same answer gives the same bytes.
    pub fn write(&self) -> String {
        let listed = self.listed();
        let definitions = self.definitions();
        let mut out = String::with_capacity(definitions.json.len() + 64 * self.tools.len() + 512);
        out.push('{');
        if self.call_as {
            out.push_str("\"call_as\":");
            write_strings(&mut out, listed.iter().map(|tool| &*tool.wire_name));
            out.push(',');
        }
        out.push_str("\"error\":");
        match self.error_text(&definitions) {
            Some(error) => write_string(&mut out, &error),
            None => out.push_str("null"),
        }
        let _ = write!(out, ",\"expanded\":{}", self.expanded);
        out.push_str(",\"group_id\":");
        write_string(&mut out, &bounded_text(self.group_id, MAX_ID_BYTES));
        let instructions = self.instructions.map(several_lines).unwrap_or_default();
        if !instructions.is_empty() {
            out.push_str(",\"instructions\":");
            write_string(&mut out, &instructions);
        }
        if !self.missing.is_empty() {
            out.push_str(",\"missing\":");
            let lines = self.missing.iter().map(ToolName::as_str).map(Cow::Borrowed);
            write_bounded(&mut out, lines, MAX_MISSING, usize::MAX);
        }
        let note = self.note(listed.len(), &definitions);
        if !note.is_empty() {
            out.push_str(",\"note\":");
            write_string(&mut out, &note);
        }
        if !definitions.omitted.is_empty() {
            out.push_str(",\"omitted\":");
            let lines = definitions.omitted.iter();
            let lines = lines.map(|omitted| Cow::Owned(signature(omitted.tool.definition())));
            write_bounded(&mut out, lines, usize::MAX, MAX_OMITTED_BYTES);
        }
        let remaining = self.group_size.saturating_sub(listed.len());
        let _ = write!(out, ",\"remaining\":{remaining}");
        match self.schemas {
            Schemas::Omit => {}
            Schemas::Null => out.push_str(",\"schemas\":null"),
            Schemas::Whole { .. } | Schemas::Named { .. } => {
                out.push_str(",\"schemas\":[");
                out.push_str(&definitions.json);
                out.push(']');
            }
        }
        out.push_str(",\"tool_names\":");
        write_strings(&mut out, listed.iter().map(|tool| tool.key.tool.as_str()));
        out.push('}');
        match self.separators {
            Separators::Compact => out,
            Separators::Python => with_python_separators(&out),
        }
    }

    /// The tools whose names are listed.
    fn listed(&self) -> &[&'a ShelvedTool] {
        let mut bytes = 0;
        let fitting = self.tools.iter().take_while(|tool| {
            bytes += tool.key.tool.as_str().len();
            bytes <= MAX_LISTED_NAMES_BYTES
        });
        let fitting = fitting.count();
        &self.tools[..fitting]
    }

    /// The definitions that fit, and the tools whose definition does not.
    fn definitions(&self) -> Definitions<'a> {
        let mut definitions = Definitions::default();
        let bound = match self.schemas {
            Schemas::Omit | Schemas::Null => return definitions,
            Schemas::Whole { budget } => budget,
            Schemas::Named { cap } => cap,
        };
        for tool in &self.tools {
            let json = &mut definitions.json;
            let before = json.len();
            let mut alone = usize::MAX;
            // What cannot fit is not written first to be thrown away.
            if tool.definition().input_schema().len() <= bound {
                if before > 0 {
                    json.push(',');
                }
                let start = json.len();
                write_definition(json, tool);
                alone = json.len() - start;
            }
            if alone > bound || json.len() > bound {
                json.truncate(before);
                definitions.omitted.push(Omitted {
                    tool,
                    fits_alone: alone <= bound,
                });
            }
        }
        definitions
    }

    fn error_text(&self, definitions: &Definitions<'_>) -> Option<String> {
        let mut parts: Vec<String> = self.error.iter().cloned().collect();
        if let Schemas::Named { cap } = self.schemas {
            let names = |alone: bool| -> Vec<&str> {
                let omitted = definitions.omitted.iter();
                omitted
                    .filter(|omitted| omitted.fits_alone == alone)
                    .map(|omitted| omitted.tool.key.tool.as_str())
                    .collect()
            };
            let too_large = names(false);
            if !too_large.is_empty() {
                parts.push(format!(
                    "Larger than {cap} bytes and never shown whole: {}.",
                    some_of(&too_large)
                ));
            }
            let too_many = names(true);
            if !too_many.is_empty() {
                parts.push(format!(
                    "No room left for {}: ask for fewer tools at a time.",
                    some_of(&too_many)
                ));
            }
        }
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    fn note(&self, listed: usize, definitions: &Definitions<'_>) -> String {
        let mut note = String::new();
        if !definitions.omitted.is_empty() {
            note.push_str(
                "Under `omitted`: tools without their schema; * marks required arguments.",
            );
            if matches!(self.schemas, Schemas::Whole { .. }) {
                note.push_str(" Call load_tools with tool_names to get their schemas.");
            }
        }
        if listed < self.tools.len() {
            if !note.is_empty() {
                note.push(' ');
            }
            note.push_str("Not all names are listed; those that are not can be called too.");
        }
        note
    }
}

#[derive(Default)]
struct Definitions<'a> {
    /// The definitions, separated by commas.
    json: String,
    omitted: Vec<Omitted<'a>>,
}

struct Omitted<'a> {
    tool: &'a ShelvedTool,
    /// Whether it would fit if nothing else had been asked for.
    fits_alone: bool,
}

fn write_definition(out: &mut String, tool: &ShelvedTool) {
    let definition = tool.definition();
    out.push_str("{\"description\":");
    write_string(out, definition.description().unwrap_or_default());
    out.push_str(",\"name\":");
    write_string(out, tool.key.tool.as_str());
    out.push_str(",\"parameters\":");
    out.push_str(definition.input_schema().as_str());
    out.push('}');
}

/// Lines as an array, at most `count` of them and `bytes` bytes; a last line says how
/// many are left out.
fn write_bounded<'a>(
    out: &mut String,
    lines: impl ExactSizeIterator<Item = Cow<'a, str>>,
    count: usize,
    bytes: usize,
) {
    let total = lines.len();
    let end = bytes.saturating_add(out.len());
    out.push('[');
    for (at, line) in lines.enumerate() {
        let before = out.len();
        if at > 0 {
            out.push(',');
        }
        if at < count {
            write_string(out, &line);
        }
        if at >= count || out.len() > end {
            out.truncate(before);
            if at > 0 {
                out.push(',');
            }
            write_string(out, &format!("… +{} more", total - at));
            break;
        }
    }
    out.push(']');
}

fn some_of(names: &[&str]) -> String {
    let mut list = names[..names.len().min(MAX_TOO_LARGE)].join(", ");
    if names.len() > MAX_TOO_LARGE {
        let _ = write!(list, ", … +{} more", names.len() - MAX_TOO_LARGE);
    }
    list
}

/// Server text that keeps its lines and their indentation; each line is neutralised,
/// and of several empty lines one stays.
fn several_lines(text: &str) -> String {
    // Reading one line more than fits is enough to know that a cut is needed.
    let mut out = String::new();
    let mut empty = false;
    for line in text.lines() {
        if out.len() > MAX_INSTRUCTIONS_BYTES {
            break;
        }
        let content = one_line(line, MAX_INSTRUCTIONS_BYTES);
        if content.is_empty() {
            empty = !out.is_empty();
            continue;
        }
        if !out.is_empty() {
            out.push_str(if empty { "\n\n" } else { "\n" });
        }
        empty = false;
        let indent = line.len() - line.trim_start_matches(' ').len();
        out.push_str(&" ".repeat(indent.min(MAX_INDENT)));
        out.push_str(&content);
    }
    bounded_text(&out, MAX_INSTRUCTIONS_BYTES)
}

//! Readers of judged sets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolshelf_core::nearest::nearest;
use toolshelf_core::search::IndexedTool;
use toolshelf_core::text::one_line;
use toolshelf_core::{
    Error, ErrorKind, GroupId, JsonText, MAX_ID_BYTES, ToolDefinition, ToolKey, ToolName,
};

use crate::evaluate::report::OVERALL;

/// The kind of a query that no tool answers.
pub const NO_MATCH: &str = "no-match";

/// The fields of a line that are read; some are spelled in two ways.
const TOOL_FIELDS: [&str; 7] = [
    "server",
    "name",
    "title",
    "description",
    SCHEMA,
    SCHEMA_OF_SERVERS,
    "id",
];
const QUERY_FIELDS: [&str; 4] = ["query", "relevant", "groups", "kind"];

const SCHEMA: &str = "input_schema";
const SCHEMA_OF_SERVERS: &str = "inputSchema";

/// A tool of a judged set.
#[derive(Debug, Clone)]
pub struct JudgedTool {
    /// What the queries call it.
    pub id: String,
    /// What an index is given. Names that are no legal ids have become ones.
    pub tool: IndexedTool,
    /// Where it stands: `file:line`.
    pub place: String,
    /// What is odd about it.
    pub remarks: Vec<String>,
}

/// A query with what answers it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedQuery {
    /// What is asked.
    pub query: String,
    /// What is needed: of each group, one tool.
    pub needed: Vec<Vec<String>>,
    /// What kind of query it is.
    pub kind: Option<String>,
    /// Where it stands: `file:line`.
    pub place: String,
    /// What is odd about it.
    pub remarks: Vec<String>,
}

/// Reads the tools of a judged set. `file` is what an error calls the text.
///
/// # Errors
///
/// [`ErrorKind::InvalidConfig`] naming file, line and field.
pub fn read_tools(file: &str, text: &str) -> Result<Vec<JudgedTool>, Error> {
    let mut keys = BTreeSet::new();
    let mut places: BTreeMap<String, String> = BTreeMap::new();
    let mut unread = Unread::new(&TOOL_FIELDS);
    let mut tools = lines(text)
        .map(|(line, json)| {
            let object = Line::read(file, line, json)?;
            unread.note(&object);
            let name: String = object.required("name")?;
            let server: Option<String> = object.optional("server")?;
            let server = server.unwrap_or_default();
            let given: Option<String> = object.optional("id")?;
            let mut remarks = Vec::new();
            if given.is_none() && server.is_empty() {
                remarks.push(format!(
                    "the tool has neither 'server' nor 'id', so its id is '/{}'",
                    shown(&name)
                ));
            }
            let id = given.unwrap_or_else(|| format!("{server}/{name}"));
            if let Some(before) = places.insert(id.clone(), object.place()) {
                remarks.push(format!(
                    "the id '{}' is that of {before}, too; queries mean the last one",
                    shown(&id)
                ));
            }
            let definition = define(&name, &object, &mut remarks)?;
            Ok(JudgedTool {
                id,
                tool: IndexedTool {
                    key: unused_key(&server, definition.name(), &mut keys)
                        .ok_or_else(|| object.fault("name", "cannot be made a legal one"))?,
                    definition: Arc::new(definition),
                    group_text: Arc::from(""),
                },
                place: object.place(),
                remarks,
            })
        })
        .collect::<Result<Vec<_>, Error>>()?;
    for (at, remark) in unread.remarks() {
        tools[at].remarks.push(remark);
    }
    Ok(tools)
}

/// Reads the queries of a judged set. `file` is what an error calls the text.
///
/// # Errors
///
/// [`ErrorKind::InvalidConfig`] naming file, line and field.
pub fn read_queries(file: &str, text: &str) -> Result<Vec<JudgedQuery>, Error> {
    let mut unread = Unread::new(&QUERY_FIELDS);
    let mut queries = lines(text)
        .map(|(line, json)| {
            let object = Line::read(file, line, json)?;
            unread.note(&object);
            let mut remarks = Vec::new();
            let groups: Option<Vec<Vec<String>>> = object.optional("groups")?;
            let needed = match groups.filter(|groups| !groups.is_empty()) {
                Some(groups) => {
                    let relevant: Option<Vec<String>> = object.optional("relevant")?;
                    doubt_groups(&groups, relevant.as_deref(), &mut remarks);
                    groups
                }
                None => {
                    let relevant: Vec<String> = object.required("relevant")?;
                    once(relevant, &mut remarks)
                }
            };
            let query: String = object.required("query")?;
            let kind: Option<String> = object.optional("kind")?;
            if kind.as_deref() == Some(OVERALL) {
                let fault =
                    "cannot be 'overall': that is what the figures of all queries are called";
                return Err(object.fault("kind", fault));
            }
            if kind.as_deref() == Some("") {
                remarks.push("the kind is empty, which counts as none".to_owned());
            }
            let answered = !needed.is_empty() && kind.as_deref() == Some(NO_MATCH);
            if answered {
                remarks.push(format!(
                    "the kind is '{NO_MATCH}', and tools are named that answer it; it counts as one \
                     with an answer, of no kind"
                ));
            }
            Ok(JudgedQuery {
                query,
                needed,
                kind: kind.filter(|kind| !kind.is_empty() && !answered),
                place: object.place(),
                remarks,
            })
        })
        .collect::<Result<Vec<_>, Error>>()?;
    for (at, remark) in unread.remarks() {
        queries[at].remarks.push(remark);
    }
    Ok(queries)
}

/// Each relevant tool as what is needed, once: found, it would otherwise count twice.
fn once(relevant: Vec<String>, remarks: &mut Vec<String>) -> Vec<Vec<String>> {
    let mut needed: Vec<Vec<String>> = Vec::new();
    for id in relevant {
        let again = needed.iter().any(|group| group.contains(&id));
        if again {
            remarks.push(format!(
                "'relevant' names '{}' twice; it counts once",
                shown(&id)
            ));
        } else {
            needed.push(vec![id]);
        }
    }
    needed
}

fn doubt_groups(groups: &[Vec<String>], relevant: Option<&[String]>, remarks: &mut Vec<String>) {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for group in groups {
        if group.is_empty() {
            remarks.push("a group of 'groups' is empty, and is left out".to_owned());
        }
        let ids: BTreeSet<&str> = group.iter().map(String::as_str).collect();
        for id in &ids {
            if !seen.insert(id) {
                remarks.push(format!(
                    "'{}' is in several groups of 'groups'; found, it meets all of them",
                    shown(id)
                ));
            }
        }
    }
    let others = relevant.unwrap_or_default().iter();
    if let Some(other) = others.into_iter().find(|id| !seen.contains(id.as_str())) {
        remarks.push(format!(
            "'groups' counts and 'relevant' does not, which names '{}' besides",
            shown(other)
        ));
    }
}

/// A name for a message.
fn shown(name: &str) -> String {
    one_line(name, 96)
}

fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty())
}

/// Fields of lines that nobody reads, which may be others misspelt. Each is told once, at the
/// first line that has it: what wrote one line so wrote all.
struct Unread {
    known: &'static [&'static str],
    lines: usize,
    /// The first line that has the field, and how many do.
    fields: BTreeMap<String, (usize, usize)>,
}

impl Unread {
    fn new(known: &'static [&'static str]) -> Self {
        Self {
            known,
            lines: 0,
            fields: BTreeMap::new(),
        }
    }

    fn note(&mut self, line: &Line<'_>) {
        let fields = line.fields.keys();
        for field in fields.filter(|field| !self.known.contains(&field.as_str())) {
            let first = (self.lines, 0);
            self.fields.entry(field.clone()).or_insert(first).1 += 1;
        }
        self.lines += 1;
    }

    /// A remark on each field, and of which line it is.
    fn remarks(&self) -> impl Iterator<Item = (usize, String)> {
        self.fields.iter().map(|(field, (first, count))| {
            let near = nearest(field, self.known.iter().copied(), 1);
            let hint = near.first().map(|near| format!("; did you mean '{near}'?"));
            let lines = match count {
                1 => String::new(),
                count => format!(" (on {count} lines)"),
            };
            let field = shown(field);
            let hint = hint.unwrap_or_default();
            (
                *first,
                format!("the field '{field}' is not read{lines}{hint}"),
            )
        })
    }
}

/// One line of a file.
struct Line<'a> {
    file: &'a str,
    line: usize,
    fields: serde_json::Map<String, Value>,
}

impl<'a> Line<'a> {
    fn read(file: &'a str, line: usize, json: &str) -> Result<Self, Error> {
        serde_json::from_str(json)
            .map(|fields| Self { file, line, fields })
            .map_err(|cause| {
                // What reads JSON knows one line, and would call it the first.
                let column = cause.column();
                let text = cause.to_string();
                let within = format!(" at line {} column {column}", cause.line());
                let fault = text.strip_suffix(&within).unwrap_or(&text);
                Error::new(
                    ErrorKind::InvalidConfig,
                    format!("{file}:{line}: not a JSON object: {fault} (column {column})"),
                )
            })
    }

    fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    fn fault(&self, field: &str, fault: &str) -> Error {
        Error::new(
            ErrorKind::InvalidConfig,
            format!("{}: the field '{field}' {fault}", self.place()),
        )
    }

    fn optional<T: DeserializeOwned>(&self, field: &str) -> Result<Option<T>, Error> {
        match self.fields.get(field) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => T::deserialize(value)
                .map(Some)
                .map_err(|cause| self.fault(field, &format!("cannot be read: {cause}"))),
        }
    }

    fn required<T: DeserializeOwned>(&self, field: &str) -> Result<T, Error> {
        self.optional(field)?
            .ok_or_else(|| self.fault(field, "is missing"))
    }
}

#[derive(Serialize)]
struct Descriptor<'a> {
    name: &'a ToolName,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    description: String,
    #[serde(rename = "inputSchema")]
    input_schema: &'a JsonText,
}

/// The definition of a tool. A schema that no server may send counts as none.
fn define(
    name: &str,
    object: &Line<'_>,
    remarks: &mut Vec<String>,
) -> Result<ToolDefinition, Error> {
    let name = ToolName::new(name)
        .or_else(|_| ToolName::new(legal(name)))
        .map_err(|_| object.fault("name", "is empty"))?;
    let description: Option<String> = object.optional("description")?;
    let title: Option<String> = object.optional("title")?;
    let given = |field: &'static str| {
        let value = object.fields.get(field)?;
        (!value.is_null()).then_some((field, value))
    };
    let schemas = (given(SCHEMA), given(SCHEMA_OF_SERVERS));
    if let (Some(_), Some(_)) = schemas {
        remarks.push(format!(
            "'{SCHEMA}' counts, and '{SCHEMA_OF_SERVERS}' does not, which is there besides"
        ));
    }
    let schema = schemas.0.or(schemas.1);
    let describe = |schema: &JsonText| {
        let descriptor = JsonText::from_serialize(&Descriptor {
            name: &name,
            title: title.clone(),
            description: description.clone().unwrap_or_default(),
            input_schema: schema,
        })?;
        Ok(ToolDefinition::from_descriptor(descriptor)?.definition)
    };
    let object_type = JsonText::from_serialize("object")?;
    if let Some((field, schema)) = schema {
        let schema = JsonText::from_serialize(schema)
            .and_then(|schema| schema.with_member("type", &object_type))
            .and_then(|schema| describe(&schema));
        match schema {
            Ok(definition) => return Ok(definition),
            Err(_) => remarks.push(format!(
                "'{field}' is no schema of an object, and counts as none"
            )),
        }
    }
    describe(&JsonText::parse(r#"{"type":"object"}"#)?)
}

/// What is left of a foreign name when it has to be a legal id.
fn legal(name: &str) -> String {
    // The longest id, less the room for a number that tells it from another.
    let line = one_line(name, MAX_ID_BYTES - 16);
    let legal: String = line
        .chars()
        .map(|c| if matches!(c, ',' | '\'') { '_' } else { c })
        .collect();
    legal
        .trim_matches(|c: char| c == '/' || c.is_whitespace())
        .to_owned()
}

/// A key that no other tool of the set has: where two have the same, the second is of a
/// group of its own.
fn unused_key(server: &str, name: &ToolName, keys: &mut BTreeSet<ToolKey>) -> Option<ToolKey> {
    let group = GroupId::new(server)
        .or_else(|_| GroupId::new(legal(server)))
        .or_else(|_| GroupId::new("-"))
        .ok()?;
    let mut key = ToolKey::new(group.clone(), name.clone());
    let mut count = 1;
    while keys.contains(&key) {
        count += 1;
        let group = GroupId::new(format!("{}#{count}", legal(group.as_str()))).ok()?;
        key = ToolKey::new(group, name.clone());
    }
    keys.insert(key.clone());
    Some(key)
}

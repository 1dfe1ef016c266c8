//! What a server says of a tool, kept as it said it.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::error::{Error, ErrorKind};
use crate::id::ToolName;
use crate::json::{Digest, JsonText};

/// How a tool is shown to the model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Exposure {
    /// One of the host's own tools: in every request, never counted, never deferred.
    Core,
    /// Pinned: in every request although its group is deferred.
    Always,
    /// On the shelf until it is loaded or found.
    #[default]
    Deferred,
    /// Callable by the host, never shown to the model and never found by it.
    Hidden,
}

/// Hints of a server about what a tool does. Hints, not promises: a policy may be
/// stricter because of one, never laxer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// A title for people.
    pub title: Option<String>,
    /// The tool changes nothing.
    pub read_only: Option<bool>,
    /// The tool may destroy something.
    pub destructive: Option<bool>,
    /// A second call with the same arguments does nothing more.
    pub idempotent: Option<bool>,
    /// The tool reaches out to a world beyond its server.
    pub open_world: Option<bool>,
}

/// The definition of a tool: name, description, schemas and hints.
///
/// Description and schemas are verbatim; [`ToolDefinition::descriptor`] is the whole
/// object that the server sent, fields that nobody here knows included. Held as
/// `Arc<ToolDefinition>` and shared by reference.
///
/// ```
/// use toolshelf_core::{JsonText, ToolDefinition};
/// let descriptor = JsonText::parse(r#"{"name":"add","inputSchema":{"type":"object"},"x":1}"#)?;
/// let definition = ToolDefinition::from_descriptor(descriptor)?.definition;
/// assert_eq!(definition.input_schema().as_str(), r#"{"type":"object"}"#);
/// assert!(definition.descriptor().as_str().contains("\"x\":1"));
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
pub struct ToolDefinition {
    name: ToolName,
    title: Option<String>,
    description: Option<Arc<str>>,
    input_schema: JsonText,
    output_schema: Option<JsonText>,
    annotations: ToolAnnotations,
    descriptor: JsonText,
    digest: OnceLock<Digest>,
}

/// A definition that was read, and what had to be left out of it.
#[derive(Debug)]
pub struct ParsedDefinition {
    /// The definition.
    pub definition: ToolDefinition,
    /// One line for each optional field that was not of the shape it should have.
    pub issues: Vec<String>,
}

#[derive(Deserialize)]
struct Descriptor<'a> {
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    title: Option<&'a RawValue>,
    #[serde(borrow)]
    description: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "inputSchema", deserialize_with = "present")]
    input_schema: Option<&'a RawValue>,
    #[serde(borrow, rename = "outputSchema")]
    output_schema: Option<&'a RawValue>,
    #[serde(borrow)]
    annotations: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct SchemaRoot<'a> {
    #[serde(borrow, default, rename = "type", deserialize_with = "present")]
    kind: Option<&'a RawValue>,
}

/// A field that is there, `null` included: where it is required, `null` is not absence.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl ToolDefinition {
    /// A definition made by this process.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDefinition`] when the schema is not an object, or its
    /// `type` is another one than `object`.
    pub fn new(
        name: ToolName,
        description: impl Into<String>,
        input_schema: JsonText,
    ) -> Result<Self, Error> {
        #[derive(Serialize)]
        struct Written<'a> {
            name: &'a str,
            description: &'a str,
            #[serde(rename = "inputSchema")]
            input_schema: &'a JsonText,
        }
        let description = description.into();
        let descriptor = JsonText::from_serialize(&Written {
            name: name.as_str(),
            description: &description,
            input_schema: &input_schema,
        })?;
        Ok(Self::from_descriptor(descriptor)?.definition)
    }

    /// Reads the object that a server sent for one tool.
    ///
    /// An optional field of the wrong shape is left out and named in
    /// [`ParsedDefinition::issues`]; nothing is repaired or regenerated.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDefinition`] when there is no valid name or no valid input
    /// schema: a provider would reject the whole request because of such a tool.
    pub fn from_descriptor(descriptor: JsonText) -> Result<ParsedDefinition, Error> {
        let invalid = |what: String| Error::new(ErrorKind::InvalidDefinition, what);
        let fields: Descriptor<'_> = serde_json::from_str(descriptor.as_str())
            .map_err(|cause| invalid(format!("a tool is not a JSON object: {cause}")))?;
        let name = fields
            .name
            .ok_or_else(|| invalid("a tool has no name".to_owned()))?;
        let name: Cow<'_, str> = serde_json::from_str(name.get())
            .map_err(|_| invalid("a tool's name is not a string".to_owned()))?;
        let name = ToolName::new(name)?;
        let input_schema = read_schema(fields.input_schema)
            .map_err(|fault| invalid(format!("the input schema of tool '{name}' {fault}")))?;

        let mut issues = Vec::new();
        let title = optional_string(fields.title, "title", &mut issues);
        let description =
            optional_string(fields.description, "description", &mut issues).map(Arc::from);
        let output_schema = match fields.output_schema {
            None => None,
            Some(raw) if raw.get() == "null" => None,
            raw => match read_schema(raw) {
                Ok(schema) => Some(schema),
                Err(fault) => {
                    issues.push(format!("outputSchema {fault}"));
                    None
                }
            },
        };
        let annotations = read_annotations(fields.annotations, &mut issues);
        Ok(ParsedDefinition {
            definition: Self {
                name,
                title,
                description,
                input_schema,
                output_schema,
                annotations,
                digest: OnceLock::new(),
                descriptor,
            },
            issues,
        })
    }

    /// The name within the group.
    pub fn name(&self) -> &ToolName {
        &self.name
    }

    /// A title for people.
    pub fn title(&self) -> Option<&str> {
        self.title.as_deref().or(self.annotations.title.as_deref())
    }

    /// The description, unchanged.
    pub fn description(&self) -> Option<&str> {
        self.description.as_deref()
    }

    /// The input schema, a JSON object, verbatim.
    pub fn input_schema(&self) -> &JsonText {
        &self.input_schema
    }

    /// The output schema, verbatim.
    pub fn output_schema(&self) -> Option<&JsonText> {
        self.output_schema.as_ref()
    }

    /// The server's hints.
    pub fn annotations(&self) -> &ToolAnnotations {
        &self.annotations
    }

    /// The whole object that the server sent.
    pub fn descriptor(&self) -> &JsonText {
        &self.descriptor
    }

    /// The whole object under another name, everything else byte for byte.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`] when the name cannot be written as JSON.
    pub fn descriptor_as(&self, name: &str) -> Result<JsonText, Error> {
        if name == self.name.as_str() {
            return Ok(self.descriptor.clone());
        }
        self.descriptor
            .with_member("name", &JsonText::from_serialize(name)?)
    }

    /// A digest of the whole object: what a fingerprint of the tool is. Key order does
    /// not count, since servers exist that shuffle it at every start.
    pub fn digest(&self) -> Digest {
        *self.digest.get_or_init(|| self.descriptor.digest())
    }
}

impl fmt::Debug for ToolDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolDefinition({})", self.descriptor)
    }
}

fn read_schema(raw: Option<&RawValue>) -> Result<JsonText, String> {
    let raw = raw.ok_or("is missing")?;
    if !raw.get().starts_with('{') {
        return Err(format!("is {}, not an object", kind_of(raw.get())));
    }
    let root: SchemaRoot<'_> =
        serde_json::from_str(raw.get()).map_err(|cause| format!("cannot be read: {cause}"))?;
    // Without `type` a root is taken as an object; real servers leave it out.
    if let Some(kind) = root.kind
        && kind.get() != "\"object\""
        && kind.get() != "[\"object\"]"
    {
        return Err(format!(
            "has the type {}, not \"object\"",
            crate::text::one_line(kind.get(), 64)
        ));
    }
    JsonText::from_raw(raw).map_err(|fault| format!("cannot be kept: {}", fault.message()))
}

fn kind_of(json: &str) -> &'static str {
    match json.as_bytes().first() {
        Some(b'n') => "null",
        Some(b't' | b'f') => "a boolean",
        Some(b'"') => "a string",
        Some(b'[') => "an array",
        Some(b'{') => "an object",
        _ => "a number",
    }
}

fn optional_string(
    raw: Option<&RawValue>,
    field: &str,
    issues: &mut Vec<String>,
) -> Option<String> {
    let raw = raw?;
    match serde_json::from_str::<Option<String>>(raw.get()) {
        Ok(text) => text,
        Err(_) => {
            issues.push(format!("{field} is {}, not a string", kind_of(raw.get())));
            None
        }
    }
}

fn read_annotations(raw: Option<&RawValue>, issues: &mut Vec<String>) -> ToolAnnotations {
    let Some(raw) = raw.filter(|raw| raw.get() != "null") else {
        return ToolAnnotations::default();
    };
    let Ok(fields) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(raw.get())
    else {
        issues.push(format!(
            "annotations is {}, not an object",
            kind_of(raw.get())
        ));
        return ToolAnnotations::default();
    };
    let mut hint = |name: &str| match fields.get(name) {
        None | Some(serde_json::Value::Null) => None,
        Some(serde_json::Value::Bool(hint)) => Some(*hint),
        Some(_) => {
            issues.push(format!("annotations.{name} is not a boolean"));
            None
        }
    };
    ToolAnnotations {
        read_only: hint("readOnlyHint"),
        destructive: hint("destructiveHint"),
        idempotent: hint("idempotentHint"),
        open_world: hint("openWorldHint"),
        title: fields
            .get("title")
            .and_then(serde_json::Value::as_str)
            .map(str::to_owned),
    }
}

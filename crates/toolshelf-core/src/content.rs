//! What a tool answers: content blocks, structured content, and everything that a
//! server put beside them.

use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::json::JsonText;

/// One block of a tool's answer, in the shape of the Model Context Protocol.
///
/// `rest` holds the fields that a block has besides those named (`annotations`,
/// `_meta` and whatever a server adds), so that a block is passed on as it came. A
/// kind that is not known here is kept whole as [`ContentBlock::Other`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock {
    /// Text.
    Text {
        /// The text.
        text: String,
        /// Further fields.
        rest: Map<String, Value>,
    },
    /// An image, base64 in `data`.
    Image {
        /// Base64.
        data: String,
        /// Such as `image/png`.
        mime_type: String,
        /// Further fields.
        rest: Map<String, Value>,
    },
    /// A recording, base64 in `data`.
    Audio {
        /// Base64.
        data: String,
        /// Such as `audio/wav`.
        mime_type: String,
        /// Further fields.
        rest: Map<String, Value>,
    },
    /// A resource that is embedded.
    Resource {
        /// `uri`, `mimeType`, and `text` or `blob`.
        resource: Map<String, Value>,
        /// Further fields.
        rest: Map<String, Value>,
    },
    /// A link to a resource that can be read from the server.
    ResourceLink {
        /// The resource's URI.
        uri: String,
        /// Its name.
        name: String,
        /// Further fields.
        rest: Map<String, Value>,
    },
    /// A reference that a provider replaces by the tool's definition.
    ToolReference {
        /// The name of the tool as it stands in the request.
        tool_name: String,
        /// Further fields.
        rest: Map<String, Value>,
    },
    /// A kind that is not known here, whole.
    Other(Map<String, Value>),
}

impl ContentBlock {
    /// A block of text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text {
            text: text.into(),
            rest: Map::new(),
        }
    }

    /// The text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text, .. } => Some(text),
            _ => None,
        }
    }

    fn from_map(mut map: Map<String, Value>) -> Self {
        fn take(map: &mut Map<String, Value>, field: &str) -> Option<String> {
            match map.remove(field) {
                Some(Value::String(text)) => Some(text),
                Some(other) => {
                    map.insert(field.to_owned(), other);
                    None
                }
                None => None,
            }
        }
        // A block counts as one of a kind only when all of its required fields have
        // their type; otherwise it stays whole.
        let has = |map: &Map<String, Value>, fields: &[&str]| {
            fields
                .iter()
                .all(|field| map.get(*field).is_some_and(Value::is_string))
        };
        let kind = map.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "text" if has(&map, &["text"]) => {
                map.remove("type");
                Self::Text {
                    text: take(&mut map, "text").unwrap_or_default(),
                    rest: map,
                }
            }
            "image" | "audio" if has(&map, &["data", "mimeType"]) => {
                let image = kind == "image";
                map.remove("type");
                let data = take(&mut map, "data").unwrap_or_default();
                let mime_type = take(&mut map, "mimeType").unwrap_or_default();
                if image {
                    Self::Image {
                        data,
                        mime_type,
                        rest: map,
                    }
                } else {
                    Self::Audio {
                        data,
                        mime_type,
                        rest: map,
                    }
                }
            }
            "resource" if map.get("resource").is_some_and(Value::is_object) => {
                map.remove("type");
                match map.remove("resource") {
                    Some(Value::Object(resource)) => Self::Resource {
                        resource,
                        rest: map,
                    },
                    _ => Self::Other(map),
                }
            }
            "resource_link" if has(&map, &["uri", "name"]) => {
                map.remove("type");
                Self::ResourceLink {
                    uri: take(&mut map, "uri").unwrap_or_default(),
                    name: take(&mut map, "name").unwrap_or_default(),
                    rest: map,
                }
            }
            "tool_reference" if has(&map, &["tool_name"]) => {
                map.remove("type");
                Self::ToolReference {
                    tool_name: take(&mut map, "tool_name").unwrap_or_default(),
                    rest: map,
                }
            }
            _ => Self::Other(map),
        }
    }
}

impl<'de> Deserialize<'de> for ContentBlock {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::from_map(Map::deserialize(deserializer)?))
    }
}

impl Serialize for ContentBlock {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let rest = match self {
            Self::Text { text, rest } => {
                map.serialize_entry("type", "text")?;
                map.serialize_entry("text", text)?;
                rest
            }
            Self::Image {
                data,
                mime_type,
                rest,
            } => {
                map.serialize_entry("type", "image")?;
                map.serialize_entry("data", data)?;
                map.serialize_entry("mimeType", mime_type)?;
                rest
            }
            Self::Audio {
                data,
                mime_type,
                rest,
            } => {
                map.serialize_entry("type", "audio")?;
                map.serialize_entry("data", data)?;
                map.serialize_entry("mimeType", mime_type)?;
                rest
            }
            Self::Resource { resource, rest } => {
                map.serialize_entry("type", "resource")?;
                map.serialize_entry("resource", resource)?;
                rest
            }
            Self::ResourceLink { uri, name, rest } => {
                map.serialize_entry("type", "resource_link")?;
                map.serialize_entry("uri", uri)?;
                map.serialize_entry("name", name)?;
                rest
            }
            Self::ToolReference { tool_name, rest } => {
                map.serialize_entry("type", "tool_reference")?;
                map.serialize_entry("tool_name", tool_name)?;
                rest
            }
            Self::Other(whole) => whole,
        };
        for (key, value) in rest {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// A tool's complete answer.
///
/// Reads and writes the `CallToolResult` of the Model Context Protocol. What is not
/// named here is kept in `rest` and written back.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolResult {
    /// The blocks for the model.
    pub content: Vec<ContentBlock>,
    /// A value for programs, verbatim.
    pub structured_content: Option<JsonText>,
    /// Whether the tool failed. The content then says why.
    pub is_error: bool,
    /// The server's `_meta`.
    pub meta: Option<Map<String, Value>>,
    /// Further fields.
    pub rest: Map<String, Value>,
}

impl ToolResult {
    /// An answer of one text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            ..Self::default()
        }
    }

    /// An error of one text block.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::text(text)
        }
    }

    /// The text blocks, joined by line ends.
    pub fn joined_text(&self) -> String {
        let texts: Vec<&str> = self
            .content
            .iter()
            .filter_map(ContentBlock::as_text)
            .collect();
        texts.join("\n")
    }

    /// What a model is shown: the content, or where there is none the structured
    /// content as text.
    pub fn model_content(&self) -> Vec<ContentBlock> {
        match &self.structured_content {
            Some(value) if self.content.is_empty() => {
                vec![ContentBlock::text(value.as_str())]
            }
            _ => self.content.clone(),
        }
    }
}

#[derive(Deserialize)]
struct Read {
    content: Option<Vec<ContentBlock>>,
    #[serde(rename = "structuredContent")]
    structured_content: Option<Box<serde_json::value::RawValue>>,
    #[serde(rename = "isError")]
    is_error: Option<bool>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

impl ToolResult {
    /// Reads a `CallToolResult`. `resultType` is protocol, not content, and is left out.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Protocol`](crate::ErrorKind::Protocol) when the text is not an
    /// object of that shape.
    pub fn from_json(text: &str) -> Result<Self, crate::Error> {
        let fault = |cause: serde_json::Error| {
            crate::Error::new(
                crate::ErrorKind::Protocol,
                format!("the result of a call is not of the shape it should have: {cause}"),
            )
        };
        let read: Read = serde_json::from_str(text).map_err(fault)?;
        // Values are opened a second time only for fields beyond the known ones, which
        // hardly any result has.
        let known = [
            "content",
            "structuredContent",
            "isError",
            "_meta",
            "resultType",
        ];
        let mut rest = Map::new();
        let others: std::collections::BTreeMap<String, &serde_json::value::RawValue> =
            serde_json::from_str(text).map_err(fault)?;
        for (key, raw) in others {
            if !known.contains(&key.as_str()) {
                rest.insert(key, serde_json::from_str(raw.get()).map_err(fault)?);
            }
        }
        let structured_content = match read.structured_content {
            Some(raw) => Some(JsonText::from_raw(&raw)?),
            None => None,
        };
        Ok(Self {
            content: read.content.unwrap_or_default(),
            structured_content,
            is_error: read.is_error.unwrap_or_default(),
            meta: read.meta,
            rest,
        })
    }
}

impl<'de> Deserialize<'de> for ToolResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
        Self::from_json(raw.get()).map_err(D::Error::custom)
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("content", &self.content)?;
        if let Some(value) = &self.structured_content {
            map.serialize_entry("structuredContent", value)?;
        }
        if self.is_error {
            map.serialize_entry("isError", &true)?;
        }
        if let Some(meta) = &self.meta {
            map.serialize_entry("_meta", meta)?;
        }
        for (key, value) in &self.rest {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

//! The content of an answer, as it stands in a history, opened only when it counts.

use std::borrow::Cow;

use serde_json::Value;
use toolshelf_core::ContentBlock;
use toolshelf_core::codec::Block;

use super::string;

/// The content of an answer.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Content<'a> {
    /// Blocks of the core.
    Blocks(&'a [ContentBlock]),
    /// A string, a block, or a list of both.
    Json(&'a Value),
    /// The `response` of a Gemini function: an object in which the text stands under
    /// `output`, `result` or `content`; without any of these the object itself is the
    /// text.
    Response(&'a Value),
    /// Definitions of tools, in namespaces or not.
    Definitions(&'a Value),
    /// None.
    Empty,
}

impl<'a> Content<'a> {
    /// The content as codecs read it.
    pub fn blocks(self) -> Vec<Block<'a>> {
        let mut out = Vec::new();
        match self {
            Self::Blocks(blocks) => out.extend(blocks.iter().map(Block::from)),
            Self::Json(value) => push_json(value, &mut out),
            Self::Response(value) => push_response(value, &mut out),
            Self::Definitions(value) => push_definitions(value, None, &mut out),
            Self::Empty => {}
        }
        out
    }
}

fn text(text: &str) -> Block<'_> {
    Block::Text(Cow::Borrowed(text))
}

fn push_json<'a>(value: &'a Value, out: &mut Vec<Block<'a>>) {
    match value {
        Value::String(whole) => out.push(text(whole)),
        Value::Array(items) => out.extend(items.iter().map(json_block)),
        Value::Object(_) => out.push(json_block(value)),
        _ => {}
    }
}

fn json_block(value: &Value) -> Block<'_> {
    if let Value::String(whole) = value {
        return text(whole);
    }
    match string(value, "type") {
        // Responses names the same thing after its direction, Gemini not at all.
        None | Some("text" | "input_text" | "output_text") => string(value, "text").map(text),
        Some("tool_reference") => {
            string(value, "tool_name").map(|name| Block::ToolReference(name.into()))
        }
        Some(_) => None,
    }
    .unwrap_or(Block::Other)
}

fn push_response<'a>(response: &'a Value, out: &mut Vec<Block<'a>>) {
    let inner = ["output", "result", "content"]
        .iter()
        .find_map(|key| response.get(key));
    match inner {
        Some(value @ (Value::String(_) | Value::Array(_))) => push_json(value, out),
        // A result that is an object was put there instead of its text.
        Some(value @ Value::Object(_)) => out.push(Block::Text(value.to_string().into())),
        Some(_) => {}
        None if response.is_object() => out.push(Block::Text(response.to_string().into())),
        None => push_json(response, out),
    }
}

fn push_definitions<'a>(tools: &'a Value, space: Option<&'a str>, out: &mut Vec<Block<'a>>) {
    for tool in tools.as_array().map(Vec::as_slice).unwrap_or_default() {
        match (string(tool, "type"), string(tool, "name"), space) {
            // Namespaces stand in no namespace, so this goes one level deep.
            (Some("namespace"), Some(name), None) => {
                if let Some(inner) = tool.get("tools") {
                    push_definitions(inner, Some(name), out);
                }
            }
            (_, Some(name), None) => out.push(Block::ToolReference(name.into())),
            (_, Some(name), Some(space)) => {
                out.push(Block::ToolReference(format!("{space}/{name}").into()));
            }
            (_, None, _) => out.push(Block::Other),
        }
    }
}

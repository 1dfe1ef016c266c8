//! Anthropic Messages.

use serde_json::Value;

use super::{Called, Content, Entry, HistoryFormat, messages_under, sample, string};

/// Histories of the Anthropic Messages API, one value for each message.
///
/// Calls are `tool_use` blocks of the assistant, answers `tool_result` blocks of the user.
/// The provider's own search is a `server_tool_use` whose name begins with
/// `tool_search_tool_`, answered by a `tool_search_tool_result`; both stand in messages of
/// the assistant. Text beside these blocks is never looked at.
#[derive(Debug, Clone, Copy, Default)]
pub struct Anthropic;

impl Anthropic {
    /// The messages of a request, or of a list of messages.
    pub fn messages(request: &Value) -> &[Value] {
        messages_under(request, "messages")
    }
}

impl HistoryFormat for Anthropic {
    type Message = Value;

    fn entries<'a>(&self, message: &'a Value, tell: &mut dyn FnMut(Entry<'a>)) {
        let blocks = messages_under(message, "content");
        match string(message, "role") {
            Some("assistant") => {
                tell(Entry::Turn);
                blocks.iter().filter_map(of_assistant).for_each(tell);
            }
            Some("user") => blocks.iter().filter_map(of_user).for_each(tell),
            _ => {}
        }
    }

    fn sample(&self, message: &Value) -> u64 {
        sample::of_json(message)
    }
}

fn of_assistant(block: &Value) -> Option<Entry<'_>> {
    match string(block, "type")? {
        "tool_use" => Some(Entry::Call {
            id: Some(string(block, "id")?),
            called: Called::Tool(string(block, "name")?.into()),
        }),
        "server_tool_use" if string(block, "name")?.starts_with("tool_search_tool_") => {
            Some(Entry::Call {
                id: Some(string(block, "id")?),
                called: Called::ProviderSearch,
            })
        }
        "tool_search_tool_result" => Some(Entry::Answer {
            id: Some(string(block, "tool_use_id")?),
            called: Some(Called::ProviderSearch),
            failed: false,
            // An error has no references, and so no content.
            content: block
                .get("content")
                .and_then(|content| content.get("tool_references"))
                .map_or(Content::Empty, Content::Json),
        }),
        _ => None,
    }
}

fn of_user(block: &Value) -> Option<Entry<'_>> {
    if string(block, "type")? != "tool_result" {
        return None;
    }
    Some(Entry::Answer {
        id: Some(string(block, "tool_use_id")?),
        called: None,
        failed: block.get("is_error").and_then(Value::as_bool) == Some(true),
        content: block.get("content").map_or(Content::Empty, Content::Json),
    })
}

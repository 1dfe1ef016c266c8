//! OpenAI Responses.

use serde_json::Value;

use super::{Called, Content, Entry, HistoryFormat, messages_under, sample, string};

/// Histories of OpenAI Responses, one value for each item.
///
/// Calls are `function_call` and `custom_tool_call` items, answers `function_call_output`
/// and `custom_tool_call_output`. A function in a namespace is called
/// `namespace/name`, so that a server's `search_tools` is not taken for ours. The search for
/// tools that the provider knows of is `tool_search_call` and `tool_search_output`, by
/// `call_id`, or by order where the provider runs it itself and gives none. Tools that
/// it found in a namespace are named `namespace/name` too.
///
/// Items of the role `developer` that add tools are announcements, and not read.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiResponses;

impl OpenAiResponses {
    /// The items of a request, or of a list of items.
    pub fn items(request: &Value) -> &[Value] {
        messages_under(request, "input")
    }
}

impl HistoryFormat for OpenAiResponses {
    type Message = Value;

    fn entries<'a>(&self, item: &'a Value, tell: &mut dyn FnMut(Entry<'a>)) {
        if let Some(entry) = entry(item) {
            tell(entry);
        }
    }

    fn sample(&self, item: &Value) -> u64 {
        sample::of_json(item)
    }
}

fn entry(item: &Value) -> Option<Entry<'_>> {
    match string(item, "type")? {
        "function_call" | "custom_tool_call" => {
            let name = string(item, "name")?;
            let name = match string(item, "namespace") {
                None | Some("") => name.into(),
                Some(space) => format!("{space}/{name}").into(),
            };
            Some(Entry::Call {
                id: Some(string(item, "call_id")?),
                called: Called::Tool(name),
            })
        }
        "function_call_output" | "custom_tool_call_output" => Some(Entry::Answer {
            id: Some(string(item, "call_id")?),
            called: None,
            failed: false,
            content: item.get("output").map_or(Content::Empty, Content::Json),
        }),
        "tool_search_call" => Some(Entry::Call {
            id: string(item, "call_id"),
            called: Called::ProviderSearch,
        }),
        "tool_search_output" => Some(Entry::Answer {
            id: string(item, "call_id"),
            called: Some(Called::ProviderSearch),
            failed: false,
            content: item
                .get("tools")
                .map_or(Content::Empty, Content::Definitions),
        }),
        _ => None,
    }
}

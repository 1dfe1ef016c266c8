//! OpenAI Chat Completions.

use serde_json::Value;

use super::{Called, Content, Entry, HistoryFormat, messages_under, sample, string};

/// Histories of OpenAI Chat Completions and of everything that speaks like it, one value
/// for each message.
///
/// Calls are `tool_calls` of the assistant, answers messages of the role `tool`. The
/// role `function` of before 2024 has no ids and is not read.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiChat;

impl OpenAiChat {
    /// The messages of a request, or of a list of messages.
    pub fn messages(request: &Value) -> &[Value] {
        messages_under(request, "messages")
    }
}

impl HistoryFormat for OpenAiChat {
    type Message = Value;

    fn entries<'a>(&self, message: &'a Value, tell: &mut dyn FnMut(Entry<'a>)) {
        match string(message, "role") {
            Some("assistant") => {
                tell(Entry::Turn);
                let calls = message.get("tool_calls").and_then(Value::as_array);
                calls.into_iter().flatten().filter_map(call).for_each(tell);
            }
            Some("tool") => {
                if let Some(id) = string(message, "tool_call_id") {
                    tell(Entry::Answer {
                        id: Some(id),
                        called: None,
                        failed: false,
                        content: message.get("content").map_or(Content::Empty, Content::Json),
                    });
                }
            }
            _ => {}
        }
    }

    fn sample(&self, message: &Value) -> u64 {
        sample::of_json(message)
    }
}

fn call(call: &Value) -> Option<Entry<'_>> {
    // A tool with free text as its input stands under `custom`.
    let what = call.get("function").or_else(|| call.get("custom"))?;
    Some(Entry::Call {
        id: Some(string(call, "id")?),
        called: Called::Tool(string(what, "name")?.into()),
    })
}

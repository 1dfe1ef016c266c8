//! Gemini.

use serde_json::Value;

use super::{Called, Content, Entry, HistoryFormat, messages_under, sample, string};

/// Histories of the Gemini API, one value for each content.
///
/// Calls are `functionCall` parts of the model, answers `functionResponse` parts of the user
/// (or of the role `function`), also in the spelling of the Python SDK. Both carry the
/// function's name, and it has to agree.
///
/// Older versions have no ids. Then an answer belongs to the first call of its name,
/// in the model's last turn, that was not answered yet. The name in an answer is
/// written by the host, as an id is; no tool can choose it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Gemini;

impl Gemini {
    /// The contents of a request, or of a list of contents.
    pub fn contents(request: &Value) -> &[Value] {
        messages_under(request, "contents")
    }
}

impl HistoryFormat for Gemini {
    type Message = Value;

    fn entries<'a>(&self, content: &'a Value, tell: &mut dyn FnMut(Entry<'a>)) {
        let parts = messages_under(content, "parts");
        match string(content, "role") {
            Some("model") => {
                tell(Entry::Turn);
                parts.iter().filter_map(call).for_each(tell);
            }
            Some("user" | "function" | "tool") => {
                parts.iter().filter_map(answer).for_each(tell);
            }
            _ => {}
        }
    }

    fn sample(&self, content: &Value) -> u64 {
        sample::of_json(content)
    }
}

fn call(part: &Value) -> Option<Entry<'_>> {
    let call = part
        .get("functionCall")
        .or_else(|| part.get("function_call"))?;
    Some(Entry::Call {
        id: string(call, "id"),
        called: Called::Tool(string(call, "name")?.into()),
    })
}

fn answer(part: &Value) -> Option<Entry<'_>> {
    let answer = part
        .get("functionResponse")
        .or_else(|| part.get("function_response"))?;
    Some(Entry::Answer {
        id: string(answer, "id"),
        called: Some(Called::Tool(string(answer, "name")?.into())),
        failed: false,
        content: answer
            .get("response")
            .map_or(Content::Empty, Content::Response),
    })
}

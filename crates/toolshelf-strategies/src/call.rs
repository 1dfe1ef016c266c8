//! What a call of a tool by a name of its own means, and the steps that all calls share.

use toolshelf_catalog::texts;
use toolshelf_core::{
    Answer, Availability, Call, Cx, Lookup, Need, Repair, Resolution, Step, ToolKey, read_arguments,
};

/// A call of a tool by its own name: native tools, and deferred ones that a model calls
/// as if they were.
pub(crate) fn native(cx: &Cx<'_>, call: &Call) -> Step<Resolution> {
    match cx.lookup_native(&call.name) {
        Lookup::Unknown { ask } if !ask.is_empty() => probe(ask),
        Lookup::Unknown { .. } => Step::Done(Resolution::NotMine),
        Lookup::Ambiguous(keys) => ambiguous(&call.name, &keys),
        Lookup::Found(key) => {
            if let Some(needs) = needs(cx, &key) {
                return Step::Need(needs);
            }
            match read_arguments(Some(call.arguments.clone())) {
                Ok((arguments, repair)) => execute(key, arguments, repair.into_iter().collect()),
                Err(error) => unreadable(cx, &key, error.for_model()),
            }
        }
    }
}

pub(crate) fn execute(
    key: ToolKey,
    arguments: toolshelf_core::Arguments,
    repairs: Vec<Repair>,
) -> Step<Resolution> {
    Step::Done(Resolution::Execute {
        key,
        arguments,
        repairs,
    })
}

/// Permission first, then the load; both in one step, which the driver does in that
/// order.
pub(crate) fn needs(cx: &Cx<'_>, key: &ToolKey) -> Option<Vec<Need>> {
    match cx.availability(&key.group) {
        Availability::Unsettled => Some(vec![
            Need::Permit(key.clone()),
            Need::Load(key.group.clone()),
        ]),
        Availability::Ready(_) | Availability::Failed(_) => None,
    }
}

pub(crate) fn probe(keys: Vec<ToolKey>) -> Step<Resolution> {
    Step::Need(keys.into_iter().map(Need::Probe).collect())
}

pub(crate) fn ambiguous(name: &str, keys: &[ToolKey]) -> Step<Resolution> {
    Step::Done(Resolution::Answer(Answer::error(texts::ambiguous_tool(
        name, keys,
    ))))
}

/// Arguments that are no object: what was there, and the schema.
pub(crate) fn unreadable(cx: &Cx<'_>, key: &ToolKey, text: &str) -> Step<Resolution> {
    let tool = match cx.availability(&key.group) {
        Availability::Ready(loaded) => loaded.get(key.tool.as_str()),
        _ => None,
    };
    let text = match tool {
        Some(tool) => texts::unreadable_arguments(key, text, tool.definition()),
        None => text.to_owned(),
    };
    Step::Done(Resolution::Answer(Answer::error(text)))
}

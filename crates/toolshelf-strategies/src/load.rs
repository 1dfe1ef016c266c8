//! What a call of `load_tools` means, for the strategies that have it.

use std::sync::Arc;

use serde_json::Value;
use toolshelf_catalog::{LoadAnswer, Schemas, Separators, texts};
use toolshelf_core::nearest::nearest;
use toolshelf_core::{
    Answer, Availability, ContentBlock, Cx, Delta, GroupEntry, GroupId, LoadedGroup, Lookup, Need,
    Resolution, ShelvedTool, State, Step, ToolKey, ToolName, bare_name, read_arguments,
};

use crate::listing;

/// How many ids an error suggests.
const SUGGESTIONS: usize = 5;

/// How a strategy answers a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    /// `schemas` of the load of a whole group.
    pub(crate) whole: Schemas,
    /// `schemas` of the load of tools by name.
    pub(crate) named: Schemas,
    /// Whether the names on the wire are listed.
    pub(crate) call_as: bool,
    /// How the JSON is spaced.
    pub(crate) separators: Separators,
}

impl How {
    /// Gives a refusal the form of this strategy's answers.
    fn apply_to(self, refusal: &mut LoadAnswer<'_>) {
        if matches!(self.whole, Schemas::Omit | Schemas::Null) {
            refusal.schemas = self.whole;
        }
        refusal.separators = self.separators;
    }
}

/// What a model asked for.
struct Request {
    group_id: String,
    /// `None` = the whole group.
    tool_names: Option<Vec<String>>,
}

/// Plans the answer to a call of `load_tools`.
pub(crate) fn resolve(cx: &Cx<'_>, state: &State, arguments: &Value, how: How) -> Step<Resolution> {
    let request = match read_request(arguments) {
        Ok(request) => request,
        Err((group_id, text)) => return refuse(&group_id, 0, text, how),
    };
    let Some((group, entry)) = find_group(cx, &request.group_id) else {
        let text = unknown_group(cx, &request.group_id);
        return refuse(&request.group_id, 0, text, how);
    };
    let refuse = |text| {
        let size = cx.shown_names(entry).map_or(0, |names| names.len());
        refuse(group.as_str(), size, text, how)
    };
    if request.tool_names.as_ref().is_some_and(Vec::is_empty) {
        return refuse(texts::empty_tool_names(group));
    }
    match cx.availability(group) {
        Availability::Unsettled => Step::Need(vec![Need::Load(group.clone())]),
        Availability::Failed(error) => refuse(texts::load_failed(group, error)),
        Availability::Ready(loaded) => Step::Done(Resolution::Answer(answer(
            cx, state, group, loaded, &request, how,
        ))),
    }
}

/// The name of a tool where a group was asked for is the commonest mistake.
fn unknown_group(cx: &Cx<'_>, asked: &str) -> String {
    let with_tool: Vec<GroupId> = match cx.lookup(asked) {
        Lookup::Found(key) if cx.has(&key) == Some(true) => vec![key.group],
        Lookup::Ambiguous(keys) => keys.into_iter().map(|key| key.group).collect(),
        Lookup::Found(_) | Lookup::Unknown { .. } => Vec::new(),
    };
    if with_tool.is_empty() {
        let known = listing::group_ids(cx);
        let near = nearest(asked, known.iter().copied(), SUGGESTIONS);
        texts::unknown_group(asked, &near, known.len())
    } else {
        texts::tool_as_group(asked, &with_tool)
    }
}

/// Finds a group that the model may know of, by the id as the shelf holds it, which lives
/// as long as the context.
fn find_group<'a>(cx: &Cx<'a>, id: &str) -> Option<(&'a GroupId, &'a GroupEntry)> {
    let groups = cx.groups;
    let entry = groups.get(id).filter(|entry| cx.shows_group(entry))?;
    Some((&entry.group.id, entry))
}

fn refuse(group_id: &str, size: usize, text: String, how: How) -> Step<Resolution> {
    let mut answer = LoadAnswer::refused(group_id, size, text);
    how.apply_to(&mut answer);
    Step::Done(Resolution::Answer(Answer::error(answer.write())))
}

fn answer(
    cx: &Cx<'_>,
    state: &State,
    group: &GroupId,
    loaded: &Arc<LoadedGroup>,
    request: &Request,
    how: How,
) -> Answer {
    let all: Vec<&ShelvedTool> = loaded
        .tools
        .iter()
        .filter(|tool| cx.shows(&tool.key))
        .collect();
    if all.is_empty() && !loaded.tools.is_empty() {
        // That there are tools, but none for the model, is known only now.
        let text = unknown_group(cx, group.as_str());
        let mut written = LoadAnswer::refused(group.as_str(), 0, text);
        how.apply_to(&mut written);
        return Answer::error(written.write());
    }
    let whole = request.tool_names.is_none();
    let (tools, unknown): (Vec<&ShelvedTool>, Vec<&str>) = match &request.tool_names {
        None => (all.clone(), Vec::new()),
        Some(names) => select(group, &all, names),
    };
    let mut written = if tools.is_empty() && !unknown.is_empty() {
        LoadAnswer::refused(group.as_str(), all.len(), "")
    } else {
        LoadAnswer::loaded(group.as_str(), all.len(), tools.clone())
    };
    written.error = (!unknown.is_empty()).then(|| {
        let known: Vec<&str> = all.iter().map(|tool| tool.key.tool.as_str()).collect();
        texts::unknown_tools(group, &unknown, &known)
    });
    let mut missing = loaded.missing.clone();
    missing.retain(|name| cx.shows(&ToolKey::new(group.clone(), name.clone())));
    if whole {
        written.missing = &missing;
        written.instructions = loaded.server.instructions.as_deref();
    }
    written.schemas = if whole { how.whole } else { how.named };
    written.call_as = how.call_as;
    written.separators = how.separators;
    Answer {
        content: vec![ContentBlock::text(written.write())],
        is_error: !written.expanded,
        deltas: deltas(state, group, &tools, whole),
        ..Answer::default()
    }
}

/// The tools that were asked for, in the order of the group, and the names that none of
/// them has.
fn select<'t, 'n>(
    group: &GroupId,
    all: &[&'t ShelvedTool],
    names: &'n [String],
) -> (Vec<&'t ShelvedTool>, Vec<&'n str>) {
    let prefix = format!("{group}/");
    let means = |tool: &ShelvedTool, name: &str| {
        tool.key.tool == *name
            || name
                .strip_prefix(&prefix)
                .is_some_and(|name| tool.key.tool == *name)
            || *tool.wire_name == *name
    };
    let tools = all
        .iter()
        .filter(|tool| names.iter().any(|name| means(tool, name)))
        .copied()
        .collect();
    let mut unknown: Vec<&str> = Vec::new();
    for name in names {
        if !all.iter().any(|tool| means(tool, name)) && !unknown.contains(&name.as_str()) {
            unknown.push(name);
        }
    }
    (tools, unknown)
}

/// What the load changes; nothing where it was loaded already.
fn deltas(state: &State, group: &GroupId, tools: &[&ShelvedTool], whole: bool) -> Vec<Delta> {
    let mut deltas = Vec::new();
    let known = state.expanded_groups.get(group);
    if whole {
        if known != Some(&None) {
            deltas.push(Delta::Expand {
                group: group.clone(),
                tools: None,
            });
        }
    } else {
        let missing: Vec<ToolName> = tools
            .iter()
            .map(|tool| &tool.key.tool)
            .filter(|name| match known {
                None => true,
                Some(None) => false,
                Some(Some(loaded)) => !loaded.contains(name),
            })
            .cloned()
            .collect();
        if !missing.is_empty() {
            deltas.push(Delta::Expand {
                group: group.clone(),
                tools: Some(missing),
            });
        }
    }
    for tool in tools {
        let digest = tool.definition().digest();
        if state.fingerprints.get(&tool.key.to_string()) != Some(&digest) {
            deltas.push(Delta::Fingerprint {
                key: tool.key.clone(),
                digest,
            });
        }
    }
    deltas
}

/// Reads the arguments; an error is the group as far as it is known, and the text.
fn read_request(arguments: &Value) -> Result<Request, (String, String)> {
    let (mut arguments, _) = read_arguments(Some(arguments.clone()))
        .map_err(|error| (String::new(), error.for_model().to_owned()))?;
    let group_id = match arguments.remove("group_id") {
        Some(Value::String(id)) => bare_name(&id).to_owned(),
        Some(_) => return Err((String::new(), texts::group_id_not_a_string())),
        None => return Err((String::new(), texts::group_id_missing())),
    };
    let tool_names = match arguments.remove("tool_names") {
        None | Some(Value::Null) => None,
        Some(value) => match names(value) {
            Some(names) => Some(names),
            None => return Err((group_id, texts::tool_names_not_a_list())),
        },
    };
    Ok(Request {
        group_id,
        tool_names,
    })
}

/// A list of names; one name, and a list that is written as a string, are taken too.
fn names(value: Value) -> Option<Vec<String>> {
    match value {
        Value::Array(items) => items
            .into_iter()
            .map(|item| match item {
                Value::String(name) => Some(bare_name(&name).to_owned()),
                _ => None,
            })
            .collect(),
        Value::String(text) => match serde_json::from_str::<Vec<String>>(&text) {
            Ok(names) => Some(
                names
                    .iter()
                    .map(|name| bare_name(name).to_owned())
                    .collect(),
            ),
            Err(_) => Some(vec![bare_name(&text).to_owned()]),
        },
        _ => None,
    }
}

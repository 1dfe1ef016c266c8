//! A tool that a list from the cache does not have may be new: before somebody is told that
//! there is no such tool, its server is asked for its list.

use serde_json::Value;
use toolshelf_catalog::texts::LOAD_TOOLS;
use toolshelf_core::{Call, CallContext, ErrorKind, GroupId, LoadContext, ToolKey};
use toolshelf_shelf::{AnsweredBy, CallReport, Session, Shelf};

use crate::servers::Servers;

/// Makes a call, and makes it anew where the list by which the tool does not exist was not
/// the present one of its server.
pub(crate) async fn call(
    servers: &Servers,
    session: &Session,
    own: Call,
    context: CallContext,
) -> CallReport {
    let shelf = session.shelf();
    let mut load = LoadContext::default();
    load.cancellation = context.cancellation.clone();
    load.deadline = context.deadline;
    if let Some((group, names)) = asked_for(shelf, &own)
        && names.iter().any(|name| is_missing(shelf, &group, name))
    {
        look_again(servers, shelf, &group, &load).await;
    }
    let report = session.call(own.clone(), context.clone()).await;
    let Some(key) = not_found(&report) else {
        return report;
    };
    let missing = || is_missing(shelf, &key.group, key.tool.as_str());
    // A list that came between the refusal and this look may have it, too.
    if missing() {
        look_again(servers, shelf, &key.group, &load).await;
        if missing() {
            return report;
        }
    }
    session.call(own, context).await
}

/// The tools that a call of `load_tools` names, also one that was forwarded.
fn asked_for(shelf: &Shelf, call: &Call) -> Option<(GroupId, Vec<String>)> {
    let mut arguments = &call.arguments;
    if call.name != LOAD_TOOLS {
        if arguments.get("tool_name")?.as_str()?.trim() != LOAD_TOOLS {
            return None;
        }
        arguments = arguments.get("arguments")?;
    }
    let id = arguments.get("group_id")?.as_str()?.trim();
    let group = shelf.with_groups(|groups| Some(groups.get(id)?.group.id.clone()))?;
    let prefix = format!("{group}/");
    let names = arguments.get("tool_names")?.as_array()?;
    let names = names.iter().filter_map(Value::as_str).map(|name| {
        let name = name.trim();
        name.strip_prefix(&prefix).unwrap_or(name).to_owned()
    });
    let names = names.collect();
    Some((group, names))
}

/// The tool that a call was refused for since there is none of that name.
fn not_found(report: &CallReport) -> Option<ToolKey> {
    let refused = report.answered_by == AnsweredBy::Driver
        && report.error.as_ref()?.kind() == ErrorKind::NotFound;
    report.key.clone().filter(|_| refused)
}

/// Whether the names of a group are known and this is none of them.
fn is_missing(shelf: &Shelf, group: &GroupId, name: &str) -> bool {
    shelf.with_groups(|groups| {
        let known = groups
            .get(group.as_str())
            .is_some_and(|entry| entry.names_known());
        let wire = groups.by_wire_name(name);
        known
            && !groups.groups_with(name).contains(group)
            && wire.is_none_or(|key| key.group != *group)
    })
}

/// Takes up the list that the server has now, where that is not the case already. When it
/// cannot be asked, what is known of it has to do.
async fn look_again(servers: &Servers, shelf: &Shelf, group: &GroupId, context: &LoadContext) {
    // What is kept is loaded first, so that what is new about the list can be told.
    if shelf.load(group, &context.cancellation).await.is_err() {
        return;
    }
    if let Err(error) = servers.confirm(group, context).await {
        tracing::info!(server = %group, "cannot be asked for a tool that it may have: {error}");
    }
}

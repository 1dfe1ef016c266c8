//! Errors of `load_tools`: the text under `error` in its answer.

use std::time::Duration;

use toolshelf_core::nearest::nearest;
use toolshelf_core::{Error, ErrorKind, GroupId};

use super::{MAX_GROUPS, MAX_TOOLS, counted, quote, quotes, sentence};

/// How many unknown names an error about `tool_names` treats one by one.
const MAX_UNKNOWN: usize = 5;

/// How many near names it proposes for each of them.
const NEAREST_EACH: usize = 3;

/// `group_id` is missing.
pub fn group_id_missing() -> String {
    "`group_id` is required: the id of a group in the catalog.".to_owned()
}

/// `group_id` is something else than a string.
pub fn group_id_not_a_string() -> String {
    "`group_id` must be a string: the id of one group in the catalog.".to_owned()
}

/// `tool_names` is something else than a list of strings.
pub fn tool_names_not_a_list() -> String {
    "`tool_names` must be a list of strings. Leave it out to load the whole group.".to_owned()
}

/// `tool_names` is an empty list.
pub fn empty_tool_names(group: &GroupId) -> String {
    format!(
        "`tool_names` is empty. Name at least one tool of {}, or leave it out to load the whole \
         group.",
        quote(group.as_str())
    )
}

/// There is no such group. `near` are the nearest ids, best first, of which five are
/// named at most; `total` is how many groups there are.
pub fn unknown_group<S: AsRef<str>>(asked: &str, near: &[S], total: usize) -> String {
    let asked = quote(asked);
    let verb = if total == 1 { "is" } else { "are" };
    let available = format!("{} {verb} available", counted(total, "group"));
    if total == 0 {
        format!("There is no group {asked}: no groups are available.")
    } else if near.is_empty() {
        format!(
            "There is no group {asked}. {available}: use an id from the catalog, or try another \
             word."
        )
    } else {
        let shown = &near[..near.len().min(MAX_GROUPS)];
        let near = quotes(shown, MAX_GROUPS);
        format!("There is no group {asked}. The nearest: {near}. {available}.")
    }
}

/// What was given as a group is the name of a tool in these groups.
pub fn tool_as_group(asked: &str, groups: &[GroupId]) -> String {
    let whose = if groups.len() == 1 {
        "its group"
    } else {
        "one of its groups"
    };
    format!(
        "{} is a tool, not a group. Call `load_tools` with {whose} as `group_id`: {}.",
        quote(asked),
        quotes(groups, MAX_TOOLS)
    )
}

/// Some names in `tool_names` are none of the group's tools. `known` are the names that it
/// has; the nearest are named.
pub fn unknown_tools<S: AsRef<str>>(group: &GroupId, unknown: &[S], known: &[&str]) -> String {
    let shown = unknown.iter().take(MAX_UNKNOWN);
    let mut listed: Vec<String> = shown
        .map(|name| {
            let name = name.as_ref();
            let near = nearest(name, known.iter().copied(), NEAREST_EACH);
            if near.is_empty() {
                quote(name)
            } else {
                format!("{} (nearest: {})", quote(name), quotes(&near, NEAREST_EACH))
            }
        })
        .collect();
    if unknown.len() > MAX_UNKNOWN {
        listed.push(format!("… +{} more", unknown.len() - MAX_UNKNOWN));
    }
    format!(
        "Group {} has {}, but none called {}. Leave `tool_names` out to load the whole group.",
        quote(group.as_str()),
        counted(known.len(), "tool"),
        listed.join(", ")
    )
}

/// The loader of a group failed, just now or so short a time ago that it is not asked
/// again yet. Also the answer to a call of a tool whose group cannot be loaded.
///
/// Uses the error's text for the model, its kind, and its delay before another try.
pub fn load_failed(group: &GroupId, error: &Error) -> String {
    let group = quote(group.as_str());
    let reason = sentence(error.for_model());
    if error.kind() == ErrorKind::NeedsSignIn {
        return format!(
            "Group {group} needs its user to sign in: {reason} \
             Tell the user; until then its tools cannot be used."
        );
    }
    let advice = match error.retry_delay() {
        // A delay is for those who can do something with it.
        Some(wait) if error.kind().is_retryable() => {
            format!("It can be tried again in {}.", seconds(wait))
        }
        None if error.kind().is_retryable() => "It may work when tried again later.".to_owned(),
        _ => "Trying again is unlikely to help; go on without it, or tell the user.".to_owned(),
    };
    format!("Group {group} cannot be loaded: {reason} {advice}")
}

/// Whole seconds, never too early.
fn seconds(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    format!("{} s", seconds.max(1))
}

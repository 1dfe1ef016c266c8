//! Errors of `load_tools`: the text under `error` in its answer.

use std::fmt::Write as _;
use std::time::Duration;

use toolshelf_core::nearest::nearest;
use toolshelf_core::{Error, ErrorKind, GroupId};

use super::{MAX_CANDIDATES, MAX_NEAREST, counted, quote, quotes, sentence};

/// How many unknown names an error about `tool_names` treats one by one.
const MAX_UNKNOWN: usize = 5;

/// How many near names it proposes for each of them.
const NEAREST_EACH: usize = 3;

/// `group_id` is missing or is not a string.
pub fn group_id_missing() -> String {
    "`group_id` is required: the id of a group in the catalog, as a string.".to_owned()
}

/// `tool_names` is something else than a list of strings.
pub fn tool_names_fault() -> String {
    "`tool_names` must be a list of strings. Leave it out to load the whole group.".to_owned()
}

/// `tool_names` is an empty list.
pub fn no_tool_names() -> String {
    "`tool_names` is empty. Name at least one tool, or leave it out to load the whole group."
        .to_owned()
}

/// There is no such group. `known` are the ids that the model may know.
///
/// The nearest ids are named, [`MAX_NEAREST`] at most; where none is near, all of them
/// if they are not more than that.
pub fn unknown_group<'a>(asked: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let mut known: Vec<&str> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    let mut text = format!("There is no group {}", quote(asked));
    if known.is_empty() {
        text.push_str(": no groups are available.");
        return text;
    }
    let near = nearest(asked, known.iter().copied(), MAX_NEAREST);
    let available = if known.len() == 1 {
        "1 group is available".to_owned()
    } else {
        format!("{} are available", counted(known.len(), "group"))
    };
    // Writing into a string cannot fail.
    let _ = if !near.is_empty() {
        write!(
            text,
            ". The nearest: {}. {available}.",
            quotes(&near, MAX_NEAREST)
        )
    } else if known.len() <= MAX_NEAREST {
        write!(text, ". {available}: {}.", quotes(&known, MAX_NEAREST))
    } else {
        write!(
            text,
            ". {available}; use an id from the catalog, or try another word."
        )
    };
    text
}

/// What was given as a group is the name of a tool in these groups.
pub fn tool_as_group(asked: &str, groups: &[&GroupId]) -> String {
    let groups: Vec<&str> = groups.iter().map(|group| group.as_str()).collect();
    let noun = if groups.len() == 1 {
        "its group"
    } else {
        "one of its groups"
    };
    format!(
        "{} is a tool, not a group. Call `load_tools` with {noun} as `group_id`: {}.",
        quote(asked),
        quotes(&groups, MAX_CANDIDATES)
    )
}

/// Some names in `tool_names` are none of the group's tools. `known` are the names that it
/// has; `loaded` says whether others of the request were loaded.
pub fn unknown_tools<'a>(
    group: &GroupId,
    unknown: &[&str],
    known: impl IntoIterator<Item = &'a str>,
    loaded: bool,
) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    let listed: Vec<String> = unknown
        .iter()
        .take(MAX_UNKNOWN)
        .map(|name| {
            let near = nearest(name, known.iter().copied(), NEAREST_EACH);
            if near.is_empty() {
                quote(name)
            } else {
                format!("{} (nearest: {})", quote(name), quotes(&near, NEAREST_EACH))
            }
        })
        .collect();
    let mut text = format!(
        "Not among the {} of group {}: {}",
        counted(known.len(), "tool"),
        quote(group.as_str()),
        listed.join(", ")
    );
    if unknown.len() > MAX_UNKNOWN {
        let _ = write!(text, ", … +{} more", unknown.len() - MAX_UNKNOWN);
    }
    text.push_str(if loaded {
        ". The others were loaded."
    } else {
        ". Nothing was loaded; leave `tool_names` out to load the whole group."
    });
    text
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
        Some(wait) => format!("It can be tried again in {}.", seconds(wait)),
        None if error.kind().is_retryable() => "It may work when tried again later.".to_owned(),
        None => "Trying again will not help; go on without it, or tell the user.".to_owned(),
    };
    format!("Group {group} cannot be loaded: {reason} {advice}")
}

/// Whole seconds, never too early.
fn seconds(wait: Duration) -> String {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    format!("{} s", seconds.max(1))
}

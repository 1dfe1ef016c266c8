//! What the driver says to a model: the format `driver/1`.
//!
//! These texts are an interface. Their bytes are pinned by golden files and change
//! only with a new version (see FORMATS.md).

use toolshelf_core::text::one_line;
use toolshelf_core::{Error, ErrorKind, GroupId, ToolDefinition, ToolKey, signature};

use crate::validate::Fault;

/// The name and version of these texts.
pub const FORMAT: &str = "driver/1";

/// The longest piece of somebody else's text in one of these, in bytes.
const MAX_QUOTE_BYTES: usize = 512;

/// How many groups one of these names.
const MAX_GROUPS: usize = 8;

/// The arguments do not fit: one line per fault, then the schema, whole or not at all.
pub(crate) fn invalid_arguments(
    key: &ToolKey,
    definition: &ToolDefinition,
    faults: &[Fault],
    max_schema_bytes: usize,
) -> String {
    let mut text = format!("Invalid arguments for tool `{key}`:");
    for fault in faults {
        text.push_str(&format!(
            "\n- {}: expected {}, got {}",
            fault.path, fault.expected, fault.got
        ));
    }
    let schema = definition.input_schema();
    if schema.len() <= max_schema_bytes {
        text.push_str(&format!("\n\nInput schema of `{key}`:\n{schema}"));
    } else {
        text.push_str(&format!(
            "\n\nThe input schema of `{key}` has {} bytes, too many to show here. In short: {}",
            schema.len(),
            signature(definition)
        ));
    }
    text
}

/// A policy or a hook said no.
pub(crate) fn denied(key: &ToolKey, reason: &str) -> String {
    let reason = one_line(reason, MAX_QUOTE_BYTES);
    if reason.is_empty() {
        format!("The call of `{key}` was not permitted.")
    } else {
        format!("The call of `{key}` was not permitted: {reason}")
    }
}

/// The group of a tool could not be loaded.
pub(crate) fn not_loaded(group: &GroupId, error: &Error) -> String {
    let reason = sentence(error.for_model());
    let text = format!("The tools of group `{group}` are not available: {reason}");
    match (error.kind(), error.retry_delay()) {
        (ErrorKind::Cancelled | ErrorKind::Denied | ErrorKind::NotFound, _) => text,
        (ErrorKind::NeedsSignIn, _) => {
            format!("{text} Tell the user; until then these tools cannot be used.")
        }
        (kind, Some(wait)) if kind.is_retryable() => {
            let seconds = wait.as_secs_f64().ceil() as u64;
            format!("{text} It can be tried again in {seconds} s.")
        }
        (kind, None) if kind.is_retryable() => {
            format!("{text} It may work when tried again later.")
        }
        _ => format!("{text} Trying again will not help; go on without it, or tell the user."),
    }
}

/// A text that ends as a sentence does.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', '…']) {
        text.to_owned()
    } else {
        format!("{text}.")
    }
}

/// The group is there, the tool is not.
pub(crate) fn no_such_tool(key: &ToolKey, nearest: &[&str]) -> String {
    let mut text = format!("Group `{}` has no tool `{}`.", key.group, key.tool);
    push_nearest(&mut text, nearest);
    text
}

/// A name that nobody knows.
pub(crate) fn unknown_name(name: &str, nearest: &[String], starting: &[GroupId]) -> String {
    let mut text = format!("There is no tool `{}`.", one_line(name, 128));
    let nearest: Vec<&str> = nearest.iter().map(String::as_str).collect();
    push_nearest(&mut text, &nearest);
    if !starting.is_empty() {
        let shown = starting.iter().take(MAX_GROUPS);
        let mut shown: Vec<String> = shown.map(|group| format!("`{group}`")).collect();
        if starting.len() > MAX_GROUPS {
            shown.push(format!("… +{} more", starting.len() - MAX_GROUPS));
        }
        let shown = shown.join(", ");
        text.push_str(&format!(
            " The tools of these groups are not known yet, since they are still starting: {shown}."
        ));
    }
    text
}

fn push_nearest(text: &mut String, nearest: &[&str]) {
    if !nearest.is_empty() {
        let quoted: Vec<String> = nearest.iter().map(|name| format!("`{name}`")).collect();
        text.push_str(&format!(" The nearest: {}.", quoted.join(", ")));
    }
}

/// A call failed on its way or in its server.
pub(crate) fn call_failed(key: &ToolKey, error: &Error) -> String {
    match error.kind() {
        ErrorKind::Cancelled => format!("The call of `{key}` was cancelled."),
        _ => format!(
            "The call of `{key}` failed: {}",
            sentence(error.for_model())
        ),
    }
}

/// What the call means was not found out: in time, or at all, which is a fault of a
/// plugin.
pub(crate) fn not_decided(name: &str, error: &Error) -> String {
    let name = one_line(name, 128);
    match error.kind() {
        ErrorKind::Cancelled => format!("The call of `{name}` was cancelled."),
        ErrorKind::TimedOut => {
            format!(
                "The call of `{name}` failed: {}",
                sentence(error.for_model())
            )
        }
        _ => format!("The call of `{name}` could not be resolved because of an internal error."),
    }
}

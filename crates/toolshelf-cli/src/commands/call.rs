//! `call`: one tool, once.

use std::io::Read;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use toolshelf_core::nearest::nearest;
use toolshelf_core::{
    Call, CallContext, Cancellation, ContentBlock, ErrorKind, Groups, JsonText, Progress,
    ProgressSink, Registry, ToolKey, ToolOutcome, ToolResult,
};
use toolshelf_gateway::config::{EntryState, ServerEntry};
use toolshelf_shelf::{CallReport, SessionOptions, Shelf};

use crate::arguments::CallArguments;
use crate::commands::tools::gateway;
use crate::failure::Failure;
use crate::output::{Output, counted, cut};
use crate::signals::guarded;
use crate::source;
use crate::stderr::{self, note};
use crate::waiting::Waiting;

/// The largest arguments that are read, in bytes.
const MAX_ARGUMENT_BYTES: u64 = 64 * 1024 * 1024;

pub(crate) async fn run(
    arguments: &CallArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let given = read_arguments(&arguments.arguments)?;
    let mut config = source::config(&arguments.servers)?;
    let deadline = arguments
        .timeout
        .and_then(|timeout| Instant::now().checked_add(timeout));
    let named = |entry: &&ServerEntry| {
        let rest = arguments.tool.strip_prefix(entry.id.as_str());
        matches!(entry.state, EntryState::Disabled)
            && rest.is_some_and(|rest| rest.starts_with('/'))
    };
    if let Some(off) = config.servers.iter().find(named) {
        return Err(Failure::usage(format!(
            "the server '{}' is disabled",
            off.id
        )));
    }
    if let Some(given) = arguments.timeout {
        for entry in &mut config.servers {
            if let EntryState::Stdio { timeout, .. } | EntryState::Loader { timeout, .. } =
                &mut entry.state
            {
                *timeout = Some(given);
            }
        }
    }
    let strategy = registry
        .strategy("standard", &Value::Null)
        .map_err(|error| Failure::asked(&error))?;
    let waiting = Waiting::new();
    let gateway = gateway(&config, &waiting, registry, None)?;
    let shelf = gateway.shelf();
    let cancellation = Cancellation::new();
    let report = guarded(
        async {
            let found = find(shelf, &arguments.tool, &cancellation);
            let key = match arguments.timeout {
                Some(timeout) => tokio::time::timeout(timeout, found).await.map_err(|_| {
                    Failure::server(format!("not ready within {} s", timeout.as_secs_f64()))
                })?,
                None => found.await,
            }?;
            drop(waiting);
            let session = shelf
                .session(strategy, SessionOptions::default())
                .map_err(|error| Failure::of(&error))?;
            let mut context = CallContext::new();
            context.cancellation = cancellation.clone();
            context.deadline = deadline;
            context.progress = Some(Arc::new(ProgressLines::new()));
            let call = Call {
                id: "call_0".to_owned(),
                name: key.to_string(),
                arguments: given,
            };
            Ok(session.call(call, context).await)
        },
        gateway.close(),
    )
    .await?;
    show(&report, arguments.json, output)
}

/// Reads the arguments: from the command line, a file or standard input.
fn read_arguments(source: &str) -> Result<Value, Failure> {
    let (text, from) = match source {
        "-" => (
            read_all(std::io::stdin().lock(), "standard input")?,
            "standard input",
        ),
        _ => match source.strip_prefix('@') {
            Some(path) => {
                let file = std::fs::File::open(path)
                    .map_err(|cause| Failure::usage(format!("cannot read {path}: {cause}")))?;
                (read_all(file, path)?, path)
            }
            None => (source.to_owned(), "JSON"),
        },
    };
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|cause| Failure::usage(format!("the arguments ({from}) are not JSON: {cause}")))?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(Failure::usage(format!(
            "the arguments ({from}) must be a JSON object such as {{\"query\": \"lamp\"}}"
        )))
    }
}

fn read_all(source: impl Read, name: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let read = source
        .take(MAX_ARGUMENT_BYTES + 1)
        .read_to_string(&mut text);
    read.map_err(|cause| Failure::usage(format!("cannot read {name}: {cause}")))?;
    if text.len() as u64 > MAX_ARGUMENT_BYTES {
        return Err(Failure::usage(format!(
            "{name} has more than {MAX_ARGUMENT_BYTES} bytes"
        )));
    }
    Ok(text)
}

/// Finds the tool, starting its server and no other.
async fn find(shelf: &Shelf, name: &str, cancellation: &Cancellation) -> Result<ToolKey, Failure> {
    let key =
        shelf.with_groups(|groups| groups.qualified(name).ok_or_else(|| no_group(groups, name)))?;
    let loaded = shelf
        .load(&key.group, cancellation)
        .await
        .map_err(|error| Failure::of(&error))?;
    if loaded.get(key.tool.as_str()).is_some() {
        return Ok(key);
    }
    let names: Vec<&str> = loaded
        .tools
        .iter()
        .map(|tool| tool.key.tool.as_str())
        .collect();
    Err(Failure::usage(format!(
        "the server '{}' has no tool '{}'{}",
        key.group,
        key.tool,
        meant(
            key.tool.as_str(),
            &names,
            &format!("; `toolshelf tools {}` lists its tools", key.group)
        )
    )))
}

fn no_group(groups: &Groups, name: &str) -> Failure {
    let ids: Vec<&str> = groups.iter().map(|(id, _)| id.as_str()).collect();
    let Some((group, _)) = name.rsplit_once('/') else {
        return Failure::usage(format!(
            "'{name}' does not say whose tool it is: write GROUP/TOOL, where GROUP is one of {}",
            cut(&ids.join(", "), 400)
        ));
    };
    if ids.contains(&group) {
        return Failure::usage(format!(
            "'{name}' names no tool of the server '{group}'; `toolshelf tools {group}` lists them"
        ));
    }
    Failure::usage(format!(
        "there is no server '{group}' that can be used{}",
        meant(
            group,
            &ids,
            &format!("; there are: {}", cut(&ids.join(", "), 400))
        )
    ))
}

fn meant(name: &str, known: &[&str], otherwise: &str) -> String {
    let near = nearest(name, known.iter().copied(), 3);
    if near.is_empty() {
        otherwise.to_owned()
    } else {
        format!("; did you mean {}?", near.join(" or "))
    }
}

fn show(report: &CallReport, json: bool, output: &Output) -> Result<(), Failure> {
    let result = match &report.outcome {
        ToolOutcome::Complete(result) => result,
        ToolOutcome::InputRequired(input) => {
            output.write(input.result.as_str())?;
            return Err(Failure::server(
                "the tool wants input first, which this command cannot give",
            ));
        }
        ToolOutcome::Task(task) => return output.write(task.result.as_str()),
        _ => return Err(Failure::server("the tool answered in a way unknown here")),
    };
    if let Some(error) = &report.error {
        // Nothing of the tool's own: what went wrong, and for arguments also how they
        // should have been.
        let text = match error.kind() {
            ErrorKind::InvalidArguments => result.joined_text(),
            _ => error.to_string(),
        };
        if json {
            output.write(written(result)?.as_str())?;
        }
        return Err(match error.kind() {
            ErrorKind::InvalidArguments => Failure::usage(text),
            _ => Failure::server(text),
        });
    }
    if json {
        output.write(written(result)?.as_str())?;
    } else {
        output.write(&output.foreign(&readable(result)))?;
    }
    if result.is_error {
        return Err(if json {
            Failure::said()
        } else {
            Failure::server("the tool reports a failure (its answer is above)")
        });
    }
    Ok(())
}

fn written(result: &ToolResult) -> Result<JsonText, Failure> {
    JsonText::from_serialize(result).map_err(|error| Failure::of(&error))
}

/// A result for people: text as it is, other blocks as a line.
fn readable(result: &ToolResult) -> String {
    let mut lines: Vec<String> = Vec::new();
    for block in result.model_content() {
        lines.push(match block {
            ContentBlock::Text { text, .. } => text,
            ContentBlock::Image {
                data, mime_type, ..
            } => media("image", &mime_type, &data),
            ContentBlock::Audio {
                data, mime_type, ..
            } => media("audio", &mime_type, &data),
            ContentBlock::Resource { resource, .. } => {
                match (resource.get("text"), resource.get("uri")) {
                    (Some(Value::String(text)), _) => text.clone(),
                    (_, Some(Value::String(uri))) => format!("[resource {}]", cut(uri, 200)),
                    _ => "[resource]".to_owned(),
                }
            }
            ContentBlock::ResourceLink { uri, name, .. } => {
                format!("[{} at {}]", cut(&name, 80), cut(&uri, 200))
            }
            _ => "[a kind of content unknown here; --json shows it]".to_owned(),
        });
    }
    lines.join("\n")
}

fn media(kind: &str, mime_type: &str, base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    format!(
        "[{kind}, {}, {}; --json holds it]",
        cut(mime_type, 40),
        counted(bytes, "byte")
    )
}

/// Progress on standard error: one line that changes at a terminal, else a line each.
struct ProgressLines {
    watched: bool,
}

impl ProgressLines {
    fn new() -> Self {
        Self {
            watched: stderr::is_watched(),
        }
    }
}

impl ProgressSink for ProgressLines {
    fn report(&self, progress: Progress) {
        let line = describe(&progress);
        if self.watched {
            stderr::show(&line);
        } else {
            note(&line);
        }
    }
}

impl Drop for ProgressLines {
    fn drop(&mut self) {
        if self.watched {
            stderr::clear();
        }
    }
}

/// A report of progress in a line.
pub(crate) fn describe(progress: &Progress) -> String {
    let mut line = match progress.total {
        Some(total) => format!("{} of {total}", progress.progress),
        None => progress.progress.to_string(),
    };
    if let Some(message) = &progress.message {
        line.push_str(": ");
        line.push_str(&cut(message, 100));
    }
    line
}

//! From what is known of a server to findings. Nothing is started here.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;
use toolshelf_core::text::one_line;
use toolshelf_core::tokens::{TokenCounter, definition_text};
use toolshelf_core::{Digest, Error, ErrorKind, LoadedGroup, ToolDefinition};
use toolshelf_gateway::WITHOUT_END;
use toolshelf_gateway::config::{EntryState, ServerEntry};
use toolshelf_mcp::Sidelights;
use toolshelf_shelf::check_schema;

use super::findings::{Connection, Finding, Health, Patient};
use super::list;
use super::program::{Program, how_to_get};
use crate::output::{counted, grouped};
use crate::tokens::O200kBase;

/// A definition of more tokens is large: a tenth of it would do for most tools.
const LARGE_TOKENS: usize = 2_000;

/// A definition of more bytes is large.
const LARGE_BYTES: usize = 16 * 1024;

/// The longest line of an error that is a finding's text, in bytes.
const MAX_ERROR_BYTES: usize = 1_024;

/// What is known of a server after the attempt to use it.
pub(crate) struct Facts<'a> {
    pub(crate) entry: &'a ServerEntry,
    /// Nothing where it is switched off.
    pub(crate) loaded: Option<Result<&'a LoadedGroup, &'a Error>>,
    pub(crate) sidelights: Option<Sidelights>,
    pub(crate) took: Option<Duration>,
    pub(crate) limit: Option<Duration>,
    /// Names of the tools of Toolshelf's own.
    pub(crate) own_tools: &'a [String],
    /// What was kept of it before: names and what definitions are compared by.
    pub(crate) kept: Option<&'a BTreeMap<String, Digest>>,
}

/// Looks at a server.
pub(crate) fn examine(facts: &Facts<'_>) -> Patient {
    let mut patient = Patient {
        id: facts.entry.id.to_string(),
        health: Health::Ready,
        command: None,
        took: facts.took,
        limit: facts.limit,
        connection: None,
        findings: Vec::new(),
    };
    let findings = &mut patient.findings;
    match &facts.entry.state {
        EntryState::Disabled => {
            patient.health = Health::Disabled;
            findings.push(Finding::note(
                "disabled",
                "it is switched off and was not started",
                "take 'disabled' (or 'enabled') out of its entry to use it",
            ));
            return patient;
        }
        EntryState::Faulty(fault) => {
            patient.health = Health::Faulty;
            findings.push(faulty_entry(fault));
            return patient;
        }
        // There is no program; how its load ended says all.
        EntryState::Loader { .. } => {}
        EntryState::Stdio {
            command, env, cwd, ..
        } => {
            let path = env.get("PATH").map(OsString::from);
            let path = path.or_else(|| std::env::var_os("PATH"));
            let program = Program::find(command, path.as_deref(), cwd.as_deref());
            // What runs was found, wherever the system has looked.
            if !matches!(facts.loaded, Some(Ok(_))) {
                findings.extend(missing_folder(cwd.as_deref()));
                if findings.is_empty() {
                    findings.extend(missing_program(command, &program));
                }
            }
            let shown = one_line(command, MAX_ERROR_BYTES);
            patient.command = Some((shown, program));
        }
    }
    match facts.loaded {
        Some(Ok(loaded)) => {
            let connection = connection(loaded, facts.sidelights.as_ref());
            findings.extend(slow_start(facts.took, facts.limit));
            findings.extend(noise(facts.sidelights.as_ref()));
            findings.extend(list::findings(facts.entry, loaded, &connection, facts.kept));
            findings.extend(of_definitions(loaded));
            findings.extend(of_names(facts.entry, loaded, facts.own_tools));
            patient.connection = Some(connection);
        }
        Some(Err(error)) => {
            // A loader that cannot be built, or the options that it cannot use, are the entry's.
            let of_a_loader = matches!(facts.entry.state, EntryState::Loader { .. });
            let faulty = of_a_loader && error.kind() == ErrorKind::InvalidConfig;
            patient.health = if faulty {
                Health::Faulty
            } else {
                Health::Failed
            };
            // A program or folder that is not there was told of already.
            if findings.is_empty() {
                findings.push(failure(error, facts.limit));
            }
        }
        None => patient.health = Health::Failed,
    }
    findings.sort_by_key(|finding| finding.severity);
    patient
}

/// Why an entry cannot be used. The sentence names the field and holds no value of a
/// variable.
fn faulty_entry(fault: &str) -> Finding {
    let (code, mend) = if fault.contains(WITHOUT_END) {
        (
            "recursion",
            "remove this entry: the file lists the servers behind Toolshelf, and only your host's \
             own file starts Toolshelf",
        )
    } else if fault.ends_with(" is not set") {
        (
            "variable",
            "set the variable where your host is started, or give it a default: ${NAME:-default}",
        )
    } else if fault.contains("over HTTP") {
        (
            "transport",
            "use a server that is started by a 'command', or switch this one off with \
             \"disabled\": true",
        )
    } else {
        ("entry", "correct this field of the entry")
    };
    Finding::error(code, format!("its entry cannot be used: {fault}"), mend)
}

fn missing_folder(cwd: Option<&Path>) -> Option<Finding> {
    let cwd = cwd.filter(|cwd| !cwd.is_dir())?;
    Some(Finding::error(
        "entry",
        format!("the working directory '{}' does not exist", cwd.display()),
        "correct 'cwd' in its entry, or make the folder",
    ))
}

fn missing_program(command: &str, program: &Program) -> Option<Finding> {
    let shown = one_line(command, 256);
    match program {
        Program::Found(_) => None,
        Program::NotExecutable(path) => Some(Finding::error(
            "not-executable",
            format!("the file {} may not be executed", path.display()),
            format!("chmod +x {}, or correct 'command'", path.display()),
        )),
        Program::Missing => Some(Finding::error(
            "command-not-found",
            if command.contains(std::path::is_separator) {
                format!("there is no program '{shown}'")
            } else {
                format!("the command '{shown}' is in no folder of PATH")
            },
            how_to_get(command),
        )),
    }
}

/// Why a server could not be used.
fn failure(error: &Error, limit: Option<Duration>) -> Finding {
    let facts: Vec<(&'static str, &str)> = error
        .contexts()
        .iter()
        .filter(|(name, _)| !matches!(*name, "server" | "group"))
        .map(|(name, text)| (*name, text.as_str()))
        .collect();
    let stderr = facts.iter().find(|(name, _)| *name == "stderr");
    let itself = stderr.is_some_and(|(_, text)| text.contains(WITHOUT_END));
    let seconds = limit.unwrap_or_default().as_secs_f64();
    let (code, mend) = match error.kind() {
        _ if itself => (
            "recursion",
            "remove this entry: Toolshelf is started by your host's own file only".to_owned(),
        ),
        ErrorKind::Exited => (
            "exited",
            "start it by hand in a terminal, with the same arguments, to see what it wants. A \
             server sees few of your variables: what it needs has to stand in 'env'"
                .to_owned(),
        ),
        ErrorKind::TimedOut if limit.is_none() => (
            "timed-out",
            "say how long it may take with \"timeout\" in its entry".to_owned(),
        ),
        ErrorKind::TimedOut => (
            "timed-out",
            format!(
                "give it more time with \"timeout\": {} in its entry, and start it once by hand: \
                 with npx, uvx or docker, the first start may download it",
                (seconds * 2.0).ceil()
            ),
        ),
        ErrorKind::Protocol => (
            "protocol",
            "make sure that the command starts an MCP server that speaks on standard input and \
             output, and not a web server or a set-up; `-vv` logs more"
                .to_owned(),
        ),
        ErrorKind::Server => (
            "refused",
            "the server itself says no: its message tells what it wants, such as credentials in \
             'env'"
                .to_owned(),
        ),
        ErrorKind::InvalidConfig => ("entry", "correct the entry".to_owned()),
        _ => (
            "failed",
            "start it by hand in a terminal, with the same arguments, to see what it wants"
                .to_owned(),
        ),
    };
    let text = if itself {
        "it starts Toolshelf again with this very configuration, which would go on without end"
            .to_owned()
    } else {
        let message = one_line(error.message(), MAX_ERROR_BYTES);
        format!("{}: {message}", error.kind())
    };
    let finding = Finding::error(code, text, mend);
    facts
        .into_iter()
        .fold(finding, |finding, (name, text)| finding.fact(name, text))
}

fn connection(loaded: &LoadedGroup, sidelights: Option<&Sidelights>) -> Connection {
    let (tokens, bytes) = loaded
        .tools
        .iter()
        .map(|tool| size(tool.definition()))
        .fold((0, 0), |(all_tokens, all_bytes), (tokens, bytes)| {
            (all_tokens + tokens, all_bytes + bytes)
        });
    let line = |text: &Option<String>| text.as_ref().map(|text| one_line(text, 128));
    Connection {
        revision: line(&loaded.server.protocol),
        handshake: !sidelights.is_some_and(|seen| seen.modern),
        name: line(&loaded.server.name),
        version: line(&loaded.server.version),
        tools: loaded.tools.len(),
        set_aside: loaded.set_aside.len(),
        tokens,
        bytes,
    }
}

/// Tokens and bytes of what a request would carry.
fn size(definition: &ToolDefinition) -> (usize, usize) {
    let text = definition_text(definition.name().as_str(), definition);
    (O200kBase.count(&text), text.len())
}

/// From a third of its time on: one that is silent for half of it is started once more, and
/// then the time is over.
fn slow_start(took: Option<Duration>, limit: Option<Duration>) -> Option<Finding> {
    let (took, limit) = (took?, limit?);
    (took * 3 > limit).then(|| {
        Finding::warning(
            "slow-start",
            format!(
                "it needed {:.1} s of the {:.1} s that it may take; on a busy day it will fail",
                took.as_secs_f64(),
                limit.as_secs_f64()
            ),
            format!(
                "give it more time with \"timeout\": {} in its entry",
                (limit.as_secs_f64() * 2.0).ceil()
            ),
        )
    })
}

fn noise(sidelights: Option<&Sidelights>) -> Option<Finding> {
    let (lines, first) = sidelights?.noise.as_ref()?;
    let finding = Finding::warning(
        "noise",
        format!(
            "lines on its standard output that are no messages: {}; such lines are skipped",
            grouped(*lines)
        ),
        "have it log to its standard error; other hosts end such a connection",
    );
    Some(finding.fact("first line", first))
}

/// Whether the definitions are what they should be.
fn of_definitions(loaded: &LoadedGroup) -> Vec<Finding> {
    let mut large = Vec::new();
    let mut unusable = Vec::new();
    let mut remote = Vec::new();
    let mut odd = Vec::new();
    let mut undescribed = Vec::new();
    for tool in &loaded.tools {
        let definition = tool.definition();
        let name = definition.name().to_string();
        let (tokens, bytes) = size(definition);
        if tokens > LARGE_TOKENS || bytes > LARGE_BYTES {
            let about = format!("{}, {}", counted(tokens, "token"), counted(bytes, "byte"));
            large.push((tokens, name.clone(), about));
        }
        if let Err(fault) = check_schema(definition.input_schema()) {
            match remote_reference(&definition.input_schema().to_value()) {
                Some(reference) => remote.push((name.clone(), Some(reference))),
                None => unusable.push((name.clone(), Some(fault))),
            }
        }
        if let Ok(parsed) = ToolDefinition::from_descriptor(definition.descriptor().clone())
            && !parsed.issues.is_empty()
        {
            let issues = one_line(&parsed.issues.join("; "), 256);
            odd.push((name.clone(), Some(issues)));
        }
        if definition
            .description()
            .is_none_or(|text| text.trim().is_empty())
        {
            undescribed.push((name, None));
        }
    }
    large.sort_by(|one, two| two.0.cmp(&one.0).then_with(|| one.1.cmp(&two.1)));
    let large = large
        .into_iter()
        .map(|(_, name, about)| (name, Some(about)));

    // Finding by finding: what it is, and which tools it is about.
    let all = [
        (
            Finding::warning(
                "large",
                format!(
                    "definitions of more than {} tokens or {} bytes cost that much when they are \
                     loaded",
                    grouped(LARGE_TOKENS),
                    grouped(LARGE_BYTES)
                ),
                "ask the server's author for shorter schemas, or look for an option of the server \
                 that leaves these tools out",
            ),
            large.collect::<Vec<_>>(),
        ),
        (
            Finding::warning(
                "schema",
                "input schemas that are no valid JSON Schema: what is sent to these tools is not \
                 validated before",
                "tell the server's author; the tools can be called, and a wrong argument is found \
                 by the server only",
            ),
            unusable,
        ),
        (
            Finding::warning(
                "remote-schema",
                "input schemas that refer to others elsewhere, which are never fetched: what is \
                 sent to these tools is not validated before",
                "tell the server's author to put the schemas into the definitions: models see no \
                 others",
            ),
            remote,
        ),
        (
            Finding::note(
                "odd-fields",
                "optional fields that are not of the form that the protocol asks for; they are \
                 left out",
                "tell the server's author",
            ),
            odd,
        ),
        (
            Finding::note(
                "no-description",
                "tools without a description: a model has their names to go by",
                "tell the server's author",
            ),
            undescribed,
        ),
    ];
    all.into_iter()
        .filter(|(_, tools)| !tools.is_empty())
        .map(|(finding, tools)| finding.tools(tools))
        .collect()
}

/// The first reference to another document.
fn remote_reference(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(members) => members.iter().find_map(|(key, value)| match value {
            Value::String(target) if key.ends_with("$ref") && !target.starts_with('#') => {
                Some(one_line(target, 256))
            }
            value => remote_reference(value),
        }),
        Value::Array(items) => items.iter().find_map(remote_reference),
        _ => None,
    }
}

/// Whether names are names.
fn of_names(entry: &ServerEntry, loaded: &LoadedGroup, own: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let reserved: Vec<(String, Option<String>)> = loaded
        .tools
        .iter()
        .filter(|tool| own.iter().any(|name| tool.key.tool == name.as_str()))
        .map(|tool| {
            (
                tool.key.tool.to_string(),
                Some(format!("called as {}", tool.key)),
            )
        })
        .collect();
    if !reserved.is_empty() {
        let finding = Finding::note(
            "reserved-name",
            "tools with the name of one of Toolshelf's own; that name alone always means \
             Toolshelf's",
            "nothing has to be done: models are told the whole name",
        );
        findings.push(finding.tools(reserved));
    }
    let altered: Vec<(String, Option<String>)> = loaded
        .tools
        .iter()
        .filter(|tool| *tool.wire_name != *format!("{}__{}", tool.key.group, tool.key.tool))
        .map(|tool| {
            let wire = tool.wire_name.to_string();
            (tool.key.tool.to_string(), Some(wire))
        })
        .collect();
    if !altered.is_empty() {
        let id = entry.id.as_str();
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mend = if id.len() > 24 || !id.chars().all(plain) || id.contains("__") {
            "give the server a short name of letters, digits and '-' in the configuration"
        } else {
            "nothing has to be done: the names stay the same from start to start"
        };
        let finding = Finding::note(
            "wire-name",
            "under `inject` and `standard` these tools stand under another name, since theirs is \
             too long or holds characters that providers refuse",
            mend,
        );
        findings.push(finding.tools(altered));
    }
    findings
}

/// Names that several servers offer.
pub(crate) fn shared_names<'a>(
    groups: impl IntoIterator<Item = &'a LoadedGroup>,
) -> Option<Finding> {
    let mut by_name: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for tool in groups.into_iter().flat_map(|group| &group.tools) {
        let keys = by_name.entry(tool.key.tool.as_str()).or_default();
        keys.push(tool.key.to_string());
    }
    let shared: Vec<(String, Option<String>)> = by_name
        .into_iter()
        .filter(|(_, keys)| keys.len() > 1)
        .map(|(name, keys)| (name.to_owned(), Some(one_line(&keys.join(", "), 512))))
        .collect();
    (!shared.is_empty()).then(|| {
        let finding = Finding::note(
            "shared-name",
            "names that several servers offer: the name alone is refused, with the candidates",
            "nothing has to be done: models are told to call them as SERVER/TOOL",
        );
        finding.tools(shared)
    })
}

//! One server of the configuration.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};
use toolshelf_core::GroupId;
use toolshelf_core::text::one_line;

use super::expand::{Environment, expand_at, expand_strings};
use crate::chain::WITHOUT_END;

/// From here on a `timeout` is read as milliseconds: hosts differ in the unit, and
/// nobody waits a thousand seconds or a twentieth of a second for a tool.
const MILLISECONDS_FROM: f64 = 1_000.0;

/// The longest time-out, in seconds.
const MAX_TIMEOUT_SECONDS: f64 = 24.0 * 3_600.0;

/// How long a server that nobody uses goes on, where its entry does not say.
const DEFAULT_IDLE: Duration = Duration::from_secs(30 * 60);

/// The longest time that a server may be unused, in seconds: a week.
const MAX_IDLE_SECONDS: f64 = 7.0 * 24.0 * 3_600.0;

/// Keys that are known, for the warning about others.
const KNOWN_KEYS: &[&str] = &[
    "command",
    "args",
    "env",
    "cwd",
    "disabled",
    "timeout",
    "idleTimeout",
    "maxConcurrentCalls",
    "description",
    "alwaysVisible",
    "title",
    "type",
    "transport",
];

/// What hosts write as `type` or `transport` for a server that they start or reach by URL.
/// Anything else, in an entry without a command or URL, is the name of a loader.
const TRANSPORTS: &[&str] = &[
    "stdio",
    "local",
    "sse",
    "http",
    "streamable-http",
    "streamableHttp",
    "remote",
    "ws",
];

/// Keys of every entry that say nothing where a loader is in the place of a process.
const OF_PROCESSES: &[&str] = &["idleTimeout", "maxConcurrentCalls"];

/// Keys that say that a server is reached by URL.
const URL_KEYS: &[&str] = &["url", "httpUrl", "serverUrl"];

/// A server.
#[derive(Debug, Clone)]
pub struct ServerEntry {
    /// The key in the configuration: the id of its group.
    pub id: GroupId,
    /// A title that replaces the server's own.
    pub title: Option<String>,
    /// A description that replaces the server's own.
    pub description: Option<String>,
    /// Globs of the names of tools that are shown beside the gateway's own, such as
    /// `create_*`.
    pub always_visible: Vec<String>,
    /// Whether it can be used.
    pub state: EntryState,
}

/// Whether a server can be used.
#[derive(Debug, Clone)]
pub enum EntryState {
    /// It can be started.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, beside the few variables that every server gets.
        env: BTreeMap<String, String>,
        /// Its working directory.
        cwd: Option<PathBuf>,
        /// How long connecting and each call may take.
        timeout: Option<Duration>,
        /// How long nobody may use it before it is ended; `None` = it stays. Where the
        /// entry does not say, half an hour.
        idle_timeout: Option<Duration>,
        /// How many calls it takes at once; `None` = any number.
        max_concurrent_calls: Option<usize>,
    },
    /// Its tools come from a loader of this build and not from a server.
    Loader {
        /// `type`: the name under which the loader is registered.
        name: String,
        /// The other keys: the loader's options.
        options: Value,
        /// How long the load and each call may take.
        timeout: Option<Duration>,
    },
    /// `disabled` is true: as if it were not there.
    Disabled,
    /// The entry cannot be used; the sentence says why, and holds no value of a
    /// variable.
    Faulty(String),
}

pub(super) fn read(
    id: GroupId,
    value: Value,
    environment: &dyn Environment,
    warnings: &mut Vec<String>,
) -> ServerEntry {
    let mut entry = ServerEntry {
        id,
        title: None,
        description: None,
        always_visible: Vec::new(),
        state: EntryState::Disabled,
    };
    let Value::Object(mut fields) = value else {
        entry.state = EntryState::Faulty("the entry is not a JSON object".to_owned());
        return entry;
    };
    // Hosts differ in which of the two they write; either can switch a server off.
    for (key, off) in [("disabled", true), ("enabled", false)] {
        match fields.remove(key) {
            None | Some(Value::Null) => {}
            Some(Value::Bool(flag)) if flag == off => return entry,
            Some(Value::Bool(_)) => {}
            Some(_) => {
                entry.state = EntryState::Faulty(format!("'{key}' is neither true nor false"));
                return entry;
            }
        }
    }
    let loader = loader(&mut fields);
    for key in fields.keys() {
        if loader.is_none()
            && !KNOWN_KEYS.contains(&key.as_str())
            && !URL_KEYS.contains(&key.as_str())
        {
            warnings.push(format!(
                "server '{}': the key '{}' is not known and is ignored",
                entry.id,
                one_line(key, 64)
            ));
        }
    }
    let mut reader = Reader {
        fields: &mut fields,
        environment,
        notes: Vec::new(),
    };
    let state = reader.texts(&mut entry).and_then(|()| match loader {
        Some(name) => reader.loader(name),
        None => reader.transport(),
    });
    entry.state = state.unwrap_or_else(EntryState::Faulty);
    let notes = reader.notes.into_iter();
    warnings.extend(notes.map(|note| format!("server '{}': {note}", entry.id)));
    entry
}

/// The loader that an entry names instead of a server.
fn loader(fields: &mut Map<String, Value>) -> Option<String> {
    let of_a_server = URL_KEYS.iter().chain(&["command"]);
    if of_a_server.into_iter().any(|key| fields.contains_key(*key)) {
        return None;
    }
    let name = fields.get("type")?.as_str()?.to_owned();
    let is_transport = TRANSPORTS.contains(&name.as_str()) || name.trim().is_empty();
    if is_transport {
        return None;
    }
    fields.remove("type");
    Some(name)
}

/// Reads fields; an error is a sentence that names the field.
struct Reader<'a> {
    fields: &'a mut Map<String, Value>,
    environment: &'a dyn Environment,
    /// What is odd, though it can be used.
    notes: Vec<String>,
}

impl Reader<'_> {
    fn texts(&mut self, entry: &mut ServerEntry) -> Result<(), String> {
        entry.title = self.string("title")?;
        entry.description = self.string("description")?;
        entry.always_visible = self.strings("alwaysVisible")?;
        for (at, pattern) in entry.always_visible.iter().enumerate() {
            if let Err(cause) = globset::Glob::new(pattern) {
                return Err(format!(
                    "'alwaysVisible[{at}]' is no pattern: {}",
                    cause.kind()
                ));
            }
        }
        Ok(())
    }

    /// What the entry has of its own was taken out, or is here; the rest is the loader's.
    fn loader(&mut self, name: String) -> Result<EntryState, String> {
        let timeout = self.timeout()?;
        for key in OF_PROCESSES {
            if self.fields.remove(*key).is_some() {
                self.notes.push(format!(
                    "'{key}' is for servers that are processes, and is ignored with a loader"
                ));
            }
        }
        let options = std::mem::take(self.fields);
        let options = expand_strings("", options.into(), self.environment)?;
        Ok(EntryState::Loader {
            name,
            options,
            timeout,
        })
    }

    fn transport(&mut self) -> Result<EntryState, String> {
        if let Some(key) = URL_KEYS.iter().find(|key| self.fields.contains_key(**key)) {
            return Err(format!(
                "it is reached by '{key}', and servers reached over HTTP come with a later \
                 version; this one starts servers by 'command'"
            ));
        }
        let command = self
            .string("command")?
            .filter(|command| !command.trim().is_empty())
            .ok_or("it has no 'command'")?;
        let args = self.strings("args")?;
        let env = self.env()?;
        let cwd = self.string("cwd")?.map(PathBuf::from);
        let timeout = self.timeout()?;
        let idle_timeout = self.idle_timeout()?;
        let max_concurrent_calls = self.max_concurrent_calls()?;
        if starts_toolshelf(&command, &args) {
            return Err(format!(
                "it starts toolshelf itself, which would start itself again {WITHOUT_END}; \
                 take it out of this file"
            ));
        }
        Ok(EntryState::Stdio {
            command,
            args,
            env,
            cwd,
            timeout,
            idle_timeout,
            max_concurrent_calls,
        })
    }

    fn expand(&self, field: &str, text: &str) -> Result<String, String> {
        expand_at(field, text, self.environment)
    }

    fn string(&mut self, field: &str) -> Result<Option<String>, String> {
        match self.fields.remove(field) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => self.expand(field, &text).map(Some),
            Some(_) => Err(format!("'{field}' is not a string")),
        }
    }

    fn strings(&mut self, field: &str) -> Result<Vec<String>, String> {
        let items = match self.fields.remove(field) {
            None | Some(Value::Null) => return Ok(Vec::new()),
            Some(Value::Array(items)) => items,
            Some(_) => return Err(format!("'{field}' is not a list of strings")),
        };
        items
            .into_iter()
            .enumerate()
            .map(|(at, item)| match item {
                Value::String(text) => self.expand(&format!("{field}[{at}]"), &text),
                Value::Number(number) => Ok(number.to_string()),
                _ => Err(format!("'{field}[{at}]' is not a string")),
            })
            .collect()
    }

    fn env(&mut self) -> Result<BTreeMap<String, String>, String> {
        let members = match self.fields.remove("env") {
            None | Some(Value::Null) => return Ok(BTreeMap::new()),
            Some(Value::Object(members)) => members,
            Some(Value::Array(items)) => assignments(items)?,
            Some(_) => {
                return Err(
                    "'env' is neither an object of strings nor a list of NAME=value".to_owned(),
                );
            }
        };
        members
            .into_iter()
            .map(|(name, value)| {
                // Behind a '=' stands what somebody took for the place of the value.
                let shown = name.split('=').next().unwrap_or_default();
                let field = format!("env.{}", one_line(shown, 64));
                if name.is_empty() || name.contains(['=', '\0']) {
                    return Err(format!("'{field}' is not the name of a variable"));
                }
                let value = match value {
                    Value::String(text) => self.expand(&field, &text)?,
                    Value::Number(number) => number.to_string(),
                    Value::Bool(flag) => flag.to_string(),
                    _ => return Err(format!("'{field}' is not a string")),
                };
                Ok((name, value))
            })
            .collect()
    }

    /// A number, also as text; what is none is not a number.
    fn number(&mut self, field: &str) -> Result<Option<f64>, String> {
        Ok(match self.fields.remove(field) {
            None | Some(Value::Null) => None,
            Some(Value::Number(number)) => Some(number.as_f64().unwrap_or(f64::NAN)),
            Some(Value::String(text)) => {
                let text = self.expand(field, &text)?;
                Some(text.trim().parse().unwrap_or(f64::NAN))
            }
            Some(_) => Some(f64::NAN),
        })
    }

    fn idle_timeout(&mut self) -> Result<Option<Duration>, String> {
        match self.number("idleTimeout")? {
            None => Ok(Some(DEFAULT_IDLE)),
            Some(0.0) => Ok(None),
            Some(seconds) if seconds > 0.0 && seconds <= MAX_IDLE_SECONDS => {
                Ok(Some(Duration::from_secs_f64(seconds)))
            }
            Some(_) => Err(
                "'idleTimeout' is not a number of seconds between 0 (the server stays) and a week"
                    .to_owned(),
            ),
        }
    }

    fn max_concurrent_calls(&mut self) -> Result<Option<usize>, String> {
        const MAX: f64 = 1_000_000.0;
        match self.number("maxConcurrentCalls")? {
            None => Ok(None),
            Some(limit) if (1.0..=MAX).contains(&limit) && limit.fract() == 0.0 => {
                #[allow(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "whole and in range"
                )]
                let limit = limit as usize;
                Ok(Some(limit))
            }
            Some(_) => {
                Err("'maxConcurrentCalls' is not a whole number between 1 and 1000000".to_owned())
            }
        }
    }

    fn timeout(&mut self) -> Result<Option<Duration>, String> {
        let Some(seconds) = self.number("timeout")? else {
            return Ok(None);
        };
        let seconds = if seconds >= MILLISECONDS_FROM {
            let meant = seconds / 1_000.0;
            self.notes.push(format!(
                "'timeout' is a number of seconds; {seconds} is taken for milliseconds, so it is \
                 {meant} s"
            ));
            meant
        } else {
            seconds
        };
        if seconds > 0.0 && seconds <= MAX_TIMEOUT_SECONDS {
            Ok(Some(Duration::from_secs_f64(seconds)))
        } else {
            Err(
                "'timeout' is not a number of seconds (values of 1000 and more are \
                 milliseconds) between 0 and a day"
                    .to_owned(),
            )
        }
    }
}

/// The members that a list of `NAME=value` stands for.
fn assignments(items: Vec<Value>) -> Result<Map<String, Value>, String> {
    items
        .into_iter()
        .enumerate()
        .map(|(at, item)| {
            let text = item.as_str().and_then(|text| text.split_once('='));
            match text {
                Some((name, value)) => Ok((name.to_owned(), Value::from(value))),
                None => Err(format!("'env[{at}]' is not of the form NAME=value")),
            }
        })
        .collect()
}

/// Whether a command is `toolshelf serve`, by its name or by being this program.
fn starts_toolshelf(command: &str, args: &[String]) -> bool {
    if !args.iter().any(|arg| arg == "serve") {
        return false;
    }
    let path = std::path::Path::new(command);
    let named = path
        .file_stem()
        .is_some_and(|stem| stem.eq_ignore_ascii_case("toolshelf"));
    let same = || {
        let ours = std::env::current_exe().and_then(std::fs::canonicalize);
        matches!((ours, std::fs::canonicalize(path)), (Ok(ours), Ok(theirs)) if ours == theirs)
    };
    named || same()
}

//! What the doctor found, as data: what a program reads with `--json`, and what is
//! rendered for people.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolshelf_core::text::one_line;
use toolshelf_core::tokens::TokenCounter;

use super::program::Program;
use crate::tokens::O200kBase;

/// The version of the JSON form. Members may be added to it; what is there stays.
const VERSION: u32 = 1;

/// The most tools that a finding lists.
const MAX_TOOLS: usize = 100;

/// The longest text of somebody else's in a finding, in bytes.
const MAX_FOREIGN_BYTES: usize = 512;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// Something cannot be used.
    Error,
    /// Something works less well than it could, or not all of it.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Something that the doctor has to say.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) severity: Severity,
    /// What kind of finding it is: a word that stays.
    pub(crate) code: &'static str,
    /// What is so, one line.
    pub(crate) text: String,
    /// What to do about it.
    pub(crate) mend: String,
    /// Facts by name, such as the end of a server's standard error, perhaps of several
    /// lines.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// The tools that it is about, with what is to be said of each.
    pub(crate) tools: Vec<(String, Option<String>)>,
}

impl Finding {
    fn new(
        severity: Severity,
        code: &'static str,
        text: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self {
            severity,
            code,
            text: text.into(),
            mend: mend.into(),
            facts: Vec::new(),
            tools: Vec::new(),
        }
    }

    pub(crate) fn error(
        code: &'static str,
        text: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Error, code, text, mend)
    }

    pub(crate) fn warning(
        code: &'static str,
        text: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Warning, code, text, mend)
    }

    pub(crate) fn note(
        code: &'static str,
        text: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self::new(Severity::Note, code, text, mend)
    }

    /// Adds a fact; each of its lines is made harmless.
    pub(crate) fn fact(mut self, name: &'static str, text: &str) -> Self {
        let lines = text.lines().map(|line| one_line(line, MAX_FOREIGN_BYTES));
        let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
        self.facts.push((name, lines.join("\n")));
        self
    }

    /// Names the tools.
    pub(crate) fn tools(mut self, tools: Vec<(String, Option<String>)>) -> Self {
        self.tools = tools;
        self
    }

    fn json(&self) -> Value {
        let mut finding = json!({
            "severity": self.severity.as_str(),
            "code": self.code,
            "text": self.text,
            "mend": self.mend,
        });
        if !self.facts.is_empty() {
            let facts = self.facts.iter();
            finding["facts"] = facts
                .map(|(name, text)| ((*name).to_owned(), json!(text)))
                .collect::<Map<_, _>>()
                .into();
        }
        if !self.tools.is_empty() {
            finding["tools"] = self
                .tools
                .iter()
                .take(MAX_TOOLS)
                .map(|(name, about)| json!({"name": name, "about": about}))
                .collect();
            finding["tools_total"] = json!(self.tools.len());
        }
        finding
    }
}

/// How a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Health {
    /// Its tools can be used.
    Ready,
    /// It was started, and cannot be used.
    Failed,
    /// Its entry cannot be used.
    Faulty,
    /// It is switched off.
    Disabled,
}

impl Health {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::Faulty => "faulty",
            Self::Disabled => "disabled",
        }
    }
}

/// A server that answered.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) revision: Option<String>,
    pub(crate) handshake: bool,
    pub(crate) name: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) tools: usize,
    pub(crate) set_aside: usize,
    pub(crate) tokens: usize,
    pub(crate) bytes: usize,
}

/// A server of the configuration.
#[derive(Debug)]
pub(crate) struct Patient {
    pub(crate) id: String,
    pub(crate) health: Health,
    /// What it is started by; nothing where the entry does not say.
    pub(crate) command: Option<(String, Program)>,
    /// How long starting and listing took, or failing to.
    pub(crate) took: Option<Duration>,
    /// How long it may take.
    pub(crate) limit: Option<Duration>,
    pub(crate) connection: Option<Connection>,
    pub(crate) findings: Vec<Finding>,
}

impl Patient {
    fn json(&self) -> Value {
        let command = self.command.as_ref().map(|(name, program)| {
            json!({
                "name": name,
                "path": program.path().map(|path| path.display().to_string()),
            })
        });
        let connection = self.connection.as_ref();
        json!({
            "id": self.id,
            "state": self.health.as_str(),
            "command": command,
            "seconds": self.took.map(seconds),
            "seconds_allowed": self.limit.map(seconds),
            "protocol": connection.map(|connection| json!({
                "revision": connection.revision,
                "handshake": connection.handshake,
            })),
            "server": connection.map(|connection| json!({
                "name": connection.name,
                "version": connection.version,
            })),
            "tools": connection.map(|connection| json!({
                "count": connection.tools,
                "set_aside": connection.set_aside,
                "tokens": connection.tokens,
                "bytes": connection.bytes,
            })),
            "findings": self.findings.iter().map(Finding::json).collect::<Vec<_>>(),
        })
    }
}

fn seconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000.0).round() / 1_000.0
}

/// A place on the disk, and how it came to be the one.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) because: &'static str,
}

/// All that was found.
#[derive(Debug)]
pub(crate) struct Report {
    /// The configuration; nothing where it was not read from a file.
    pub(crate) config: Option<Place>,
    /// Where lists are kept; nothing where there is no place.
    pub(crate) cache: Option<Place>,
    /// What concerns no server alone.
    pub(crate) findings: Vec<Finding>,
    pub(crate) servers: Vec<Patient>,
}

impl Report {
    /// How many findings are of a severity.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        let of_servers = self.servers.iter().flat_map(|server| &server.findings);
        let all = self.findings.iter().chain(of_servers);
        all.filter(|finding| finding.severity == severity).count()
    }

    /// How many servers are in a condition.
    pub(crate) fn servers_that_are(&self, health: Health) -> usize {
        let servers = self.servers.iter();
        servers.filter(|server| server.health == health).count()
    }

    /// The form for programs.
    pub(crate) fn json(&self) -> Value {
        let place = |place: &Option<Place>| {
            let place = place.as_ref();
            place.map(|place| json!({"path": place.path, "because": place.because}))
        };
        json!({
            "version": VERSION,
            "ok": self.count(Severity::Error) == 0,
            "config": place(&self.config),
            "cache": place(&self.cache),
            "tokenizer": O200kBase.name(),
            "findings": self.findings.iter().map(Finding::json).collect::<Vec<_>>(),
            "servers": self.servers.iter().map(Patient::json).collect::<Vec<_>>(),
            "summary": {
                "servers": self.servers.len(),
                "ready": self.servers_that_are(Health::Ready),
                "disabled": self.servers_that_are(Health::Disabled),
                "errors": self.count(Severity::Error),
                "warnings": self.count(Severity::Warning),
                "notes": self.count(Severity::Note),
            },
        })
    }
}

//! Acts of the session: what is played, and what came of it.

use serde_json::{Value, json};
use toolshelf_catalog::texts::{DEFERRED_TOOL_CALL, LOAD_TOOLS, SEARCH_TOOLS};
use toolshelf_core::tokens::TokenCounter;
use toolshelf_core::{ContentBlock, ErrorKind};

use super::stage::Answer;
use crate::tokens::O200kBase;

/// Who answers in the name of the gateway.
pub(super) const TOOLSHELF: &str = "toolshelf";

/// A part of the session.
pub(super) struct Act {
    pub(super) title: &'static str,
    /// What the user says.
    pub(super) user: Option<&'static str>,
    pub(super) turns: Vec<Turn>,
}

/// A call of the model.
pub(super) struct Turn {
    pub(super) tool: &'static str,
    pub(super) arguments: Value,
    pub(super) expect: Expect,
    /// The call is cancelled after so many reports of progress.
    pub(super) cancel_after: Option<usize>,
    /// The server that runs it, where the name does not say so.
    server: Option<&'static str>,
}

/// What should come of a call.
pub(super) enum Expect {
    /// A list of tools that begins with this one.
    Finds(&'static str),
    /// The schemas of these tools.
    Schemas(&'static [&'static str]),
    /// An answer of the tool with this text.
    Says(&'static str),
    /// An error of the gateway with all of these texts.
    Refused(&'static [&'static str]),
    /// An answer of the tool with an image.
    Image,
    /// An answer of the tool after so many reports of progress.
    Progress(usize),
    /// No answer, well before the tool would have been done.
    Cancelled,
}

impl Turn {
    /// A call of `search_tools`.
    pub(super) fn search(query: &str, first: &'static str) -> Self {
        Self {
            tool: SEARCH_TOOLS,
            arguments: json!({ "query": query, "max_results": 3 }),
            expect: Expect::Finds(first),
            cancel_after: None,
            server: None,
        }
    }

    /// A call of `load_tools`.
    pub(super) fn load(arguments: Value, names: &'static [&'static str]) -> Self {
        Self {
            tool: LOAD_TOOLS,
            arguments,
            expect: Expect::Schemas(names),
            cancel_after: None,
            server: None,
        }
    }

    /// A call of `deferred_tool_call`.
    pub(super) fn call(tool: &str, arguments: Value, expect: Expect) -> Self {
        Self {
            tool: DEFERRED_TOOL_CALL,
            arguments: json!({"tool_name": tool, "arguments": arguments}),
            expect,
            cancel_after: None,
            server: None,
        }
    }

    pub(super) fn cancelled_after(mut self, reports: usize) -> Self {
        self.cancel_after = Some(reports);
        self
    }

    /// Names the server of a tool that is called by its bare name.
    pub(super) fn run_by(mut self, server: &'static str) -> Self {
        self.server = Some(server);
        self
    }

    /// The tool that is meant, behind the forwarder.
    pub(super) fn target(&self) -> Option<&str> {
        self.arguments.get("tool_name").and_then(Value::as_str)
    }

    fn group(&self) -> &str {
        let named = self.target().and_then(|target| target.split_once('/'));
        named
            .map(|(group, _)| group)
            .or(self.server)
            .unwrap_or(TOOLSHELF)
    }
}

/// A call and its answer.
pub(super) struct Exchange {
    pub(super) turn: Turn,
    pub(super) answer: Answer,
    pub(super) text: String,
    pub(super) tokens: usize,
    pub(super) prefix_bytes_changed: usize,
    pub(super) fault: Option<String>,
}

impl Exchange {
    /// Who answered.
    pub(super) fn answered_by(&self) -> &str {
        match self.turn.expect {
            Expect::Finds(_) | Expect::Schemas(_) | Expect::Refused(_) => TOOLSHELF,
            _ => self.turn.group(),
        }
    }

    /// The image of the answer: its kind and its bytes.
    pub(super) fn image(&self) -> Option<(&str, usize)> {
        let result = self.answer.result.as_ref().ok()?;
        result.content.iter().find_map(|block| match block {
            ContentBlock::Image {
                data, mime_type, ..
            } => {
                let bytes = data.trim_end_matches('=').len() * 3 / 4;
                Some((mime_type.as_str(), bytes))
            }
            _ => None,
        })
    }

    fn is_error(&self) -> bool {
        self.answer
            .result
            .as_ref()
            .map_or(true, |result| result.is_error)
    }

    /// What is not as it should be.
    fn check(&self) -> Result<(), String> {
        if self.prefix_bytes_changed > 0 {
            return Err(format!(
                "{} bytes of the prefix changed",
                self.prefix_bytes_changed
            ));
        }
        if let Expect::Cancelled = self.turn.expect {
            return match &self.answer.result {
                Err(error) if error.kind() == ErrorKind::Cancelled => Ok(()),
                Err(error) => Err(format!("it failed otherwise: {error}")),
                Ok(_) => Err("it was answered although it was cancelled".to_owned()),
            };
        }
        let result = match &self.answer.result {
            Ok(result) => result,
            Err(error) => return Err(error.to_string()),
        };
        let refused = matches!(self.turn.expect, Expect::Refused(_));
        if result.is_error != refused {
            return Err(format!("unexpected answer: {}", self.text));
        }
        let missing = |what: &str| format!("no {what} in the answer: {}", self.text);
        match &self.turn.expect {
            Expect::Schemas(names) => {
                let loaded: Vec<String> = loaded(&self.text)
                    .into_iter()
                    .map(|tool| tool.name)
                    .collect();
                if loaded == *names {
                    Ok(())
                } else {
                    Err(format!("schemas of {loaded:?} came, not of {names:?}"))
                }
            }
            Expect::Finds(first) => {
                let best = self.text.lines().find(|line| line.starts_with("- "));
                match best.is_some_and(|line| line.starts_with(&format!("- {first}"))) {
                    true => Ok(()),
                    false => Err(missing(first)),
                }
            }
            Expect::Says(text) if self.text.contains(text) => Ok(()),
            Expect::Says(text) => Err(missing(text)),
            Expect::Refused(texts) => match texts.iter().find(|text| !self.text.contains(**text)) {
                None => Ok(()),
                Some(text) => Err(missing(text)),
            },
            Expect::Image if self.image().is_some_and(|(_, bytes)| bytes > 0) => Ok(()),
            Expect::Image => Err(missing("image")),
            Expect::Progress(reports) => {
                let came = self.answer.progress.len();
                if came == *reports {
                    Ok(())
                } else {
                    Err(format!("{came} reports of progress came, not {reports}"))
                }
            }
            Expect::Cancelled => Ok(()),
        }
    }

    fn json(&self) -> Value {
        json!({
            "tool": self.turn.tool,
            "arguments": self.turn.arguments,
            "answered_by": self.answered_by(),
            "is_error": self.is_error(),
            "text": self.text,
            "tokens": self.tokens,
            "image": self.image().map(|(kind, bytes)| json!({"mime_type": kind, "bytes": bytes})),
            "progress": self.answer.progress,
            "milliseconds": self.answer.took.as_secs_f64() * 1_000.0,
            "prefix_bytes_changed": self.prefix_bytes_changed,
            "fault": self.fault,
        })
    }
}

/// An act that was played, or is being played.
pub(super) struct Played {
    pub(super) title: &'static str,
    pub(super) user: Option<&'static str>,
    /// The calls that are still to be made.
    pub(super) left: Vec<Turn>,
    pub(super) exchanges: Vec<Exchange>,
}

impl Played {
    pub(super) fn new(act: Act) -> Self {
        Self {
            title: act.title,
            user: act.user,
            left: act.turns,
            exchanges: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, turn: Turn, answer: Answer, prefix_bytes_changed: usize) {
        let text = match &answer.result {
            Ok(result) => result.joined_text(),
            Err(error) => error.for_model().to_owned(),
        };
        let mut exchange = Exchange {
            tokens: O200kBase.count(&text),
            turn,
            answer,
            text,
            prefix_bytes_changed,
            fault: None,
        };
        exchange.fault = exchange.check().err();
        self.exchanges.push(exchange);
    }

    pub(super) fn faults(&self) -> Vec<String> {
        let faults = self.exchanges.iter().filter_map(|one| one.fault.as_ref());
        faults
            .map(|fault| format!("{}: {fault}", self.title))
            .collect()
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "title": self.title,
            "user": self.user,
            "calls": self.exchanges.iter().map(Exchange::json).collect::<Vec<_>>(),
        })
    }
}

/// A tool in the answer of `load_tools`.
pub(super) struct LoadedSchema {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
}

/// The tools in an answer of `load_tools`; required arguments are marked by a star.
pub(super) fn loaded(text: &str) -> Vec<LoadedSchema> {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    let schemas = answer["schemas"].as_array().cloned().unwrap_or_default();
    let tools = schemas.iter().filter_map(|schema| {
        let parameters = &schema["parameters"];
        let required = parameters["required"].as_array();
        let arguments = parameters["properties"].as_object()?.keys().map(|name| {
            let needed = required.is_some_and(|all| all.iter().any(|one| one == name.as_str()));
            format!("{name}{}", if needed { "*" } else { "" })
        });
        Some(LoadedSchema {
            name: schema["name"].as_str()?.to_owned(),
            arguments: arguments.collect(),
        })
    });
    tools.collect()
}

/// How many tools of the group stay on the shelf, by an answer of `load_tools`.
pub(super) fn remaining(text: &str) -> u64 {
    let answer: Value = serde_json::from_str(text).unwrap_or_default();
    answer["remaining"].as_u64().unwrap_or(0)
}

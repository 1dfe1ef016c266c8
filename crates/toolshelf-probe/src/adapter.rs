//! How a gateway is configured and called: a small file for each.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::error::Error;

/// What has to be known of a gateway, beside the command that starts it.
///
/// It is read from a JSON file; `gateways/` in this crate holds those of
/// [`Adapter::built_in`], to start from. In all texts `{folder}` stands for a folder of the
/// probe's that is empty at the start, and `{config}` for the file that is written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// What it is called.
    pub name: String,
    /// What it is for, in a line.
    #[serde(default)]
    pub about: String,
    /// Names of programs; a command that has one of them is this gateway.
    #[serde(default)]
    pub programs: Vec<String>,
    /// Tools that are all in its list; a gateway that has them is this one.
    #[serde(default)]
    pub recognise: Vec<String>,
    /// The configuration that is written for it.
    pub config: ConfigFile,
    /// Words that are added to a command which does not name `{config}` or `{folder}` itself.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Variables that are set for it.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// How it calls a tool, made of `{server}` and `{tool}`.
    pub tool_name: String,
    /// How a tool is called. In the arguments, a text that is just `{arguments}` becomes the
    /// object of arguments; `{name}`, `{server}` and `{tool}` are filled in everywhere.
    pub call: CallForm,
    /// How the schema of a tool is asked for; without it, `tools/list` is looked at.
    #[serde(default)]
    pub schema: Option<CallForm>,
    /// How tools are searched for (`{query}`), where that is possible.
    #[serde(default)]
    pub search: Option<CallForm>,
    /// Behaviours that it says it does not have, and why.
    #[serde(default)]
    pub not_claimed: BTreeMap<String, String>,
}

/// The configuration file of a gateway.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// The name of the file.
    pub file: String,
    /// What is in it: JSON in which the text `{servers}` becomes the object of all servers,
    /// or a text in which it becomes their JSON.
    pub content: Value,
    /// One server, with `{command}` and `{args}` (a list) and `{name}`. A text instead of an object
    /// is written once for each server, with each value as JSON, for formats like TOML.
    #[serde(default = "server")]
    pub server: Value,
}

fn server() -> Value {
    serde_json::json!({"command": "{command}", "args": "{args}"})
}

/// A call of a tool of the gateway.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallForm {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
}

/// A server as it stands in a configuration.
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
}

/// How the arguments of a tool stand in a forwarding call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they should.
    Object,
    /// As text that holds JSON.
    Text,
    /// Beside the name.
    Flat,
}

const BUILT_IN: [&str; 6] = [
    include_str!("../gateways/toolshelf.json"),
    include_str!("../gateways/mcp-compressor.json"),
    include_str!("../gateways/fastmcp.json"),
    include_str!("../gateways/fastmcp-search.json"),
    include_str!("../gateways/mcp-multiplexer.json"),
    include_str!("../gateways/mcpzip.json"),
];

impl Adapter {
    /// The gateways that are known. The first is our own.
    ///
    /// # Errors
    ///
    /// None in a build that passed its tests.
    pub fn built_in() -> Result<Vec<Self>, Error> {
        BUILT_IN
            .iter()
            .map(|text| Self::parse(text, "a built-in gateway"))
            .collect()
    }

    /// The gateway of a name, or of a file.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`], when there is neither, or when the file does not describe one.
    pub fn find(name_or_file: &str) -> Result<Self, Error> {
        let known = Self::built_in()?;
        if let Some(adapter) = known.iter().find(|it| it.name == name_or_file) {
            return Ok(adapter.clone());
        }
        let path = Path::new(name_or_file);
        if !path.exists() {
            let names: Vec<&str> = known.iter().map(|it| it.name.as_str()).collect();
            return Err(Error::Usage(format!(
                "there is no gateway '{name_or_file}', and no such file; there are: {}",
                names.join(", ")
            )));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|cause| Error::Usage(format!("cannot read {name_or_file}: {cause}")))?;
        Self::parse(&text, name_or_file)
    }

    /// Reads a description; `place` is said in errors.
    ///
    /// # Errors
    ///
    /// [`Error::Usage`] when it is none.
    pub fn parse(text: &str, place: &str) -> Result<Self, Error> {
        let adapter: Self = serde_json::from_str(text)
            .map_err(|cause| Error::Usage(format!("{place} describes no gateway: {cause}")))?;
        let fault = if !adapter.tool_name.contains("{tool}") {
            "'tool_name' has no {tool}".to_owned()
        } else if !holds(&adapter.call.arguments, "{arguments}") {
            "'call.arguments' has no text that is just {arguments}".to_owned()
        } else if let Some(unknown) = adapter
            .not_claimed
            .keys()
            .find(|name| !crate::behaviours().iter().any(|it| it.name == *name))
        {
            format!("'not_claimed' names the behaviour '{unknown}', which does not exist")
        } else {
            return Ok(adapter);
        };
        Err(Error::Usage(format!("{place}: {fault}")))
    }

    /// Whether each tool of a server is a tool of the gateway, under a name of its own.
    pub(crate) fn is_direct(&self) -> bool {
        self.call.arguments == "{arguments}"
    }

    /// Whether a call says its server apart from the tool.
    pub(crate) fn names_servers(&self) -> bool {
        self.call.tool.contains("{server}") || holds_part(&self.call.arguments, "{server}")
    }

    pub(crate) fn name_of(&self, server: &str, tool: &str) -> String {
        self.tool_name
            .replace("{server}", server)
            .replace("{tool}", tool)
    }

    /// The call of a tool; `name` is what the gateway calls it.
    pub(crate) fn forwarding(
        &self,
        (server, tool, name): (&str, &str, &str),
        arguments: &Value,
        form: Form,
    ) -> (String, Value) {
        let texts = [("{server}", server), ("{tool}", tool), ("{name}", name)];
        let filled = match (&self.call.arguments, form) {
            (template, Form::Object) => fill(template, &texts, arguments),
            (template, Form::Text) => fill(template, &texts, &Value::String(arguments.to_string())),
            (Value::Object(template), Form::Flat) => {
                let beside = template.iter().filter(|(_, value)| *value != "{arguments}");
                let mut flat: Map<String, Value> = beside
                    .map(|(key, value)| (key.clone(), fill(value, &texts, arguments)))
                    .collect();
                flat.extend(arguments.as_object().cloned().unwrap_or_default());
                Value::Object(flat)
            }
            (template, Form::Flat) => fill(template, &texts, arguments),
        };
        (fill_text(&self.call.tool, &texts), filled)
    }

    /// A call of `schema` or `search`.
    pub(crate) fn asking(form: &CallForm, texts: &[(&str, &str)]) -> (String, Value) {
        let arguments = fill(&form.arguments, texts, &Value::Null);
        (fill_text(&form.tool, texts), arguments)
    }

    /// The text of the configuration file.
    pub(crate) fn config_text(&self, servers: &[Entry]) -> String {
        let servers = match &self.config.server {
            Value::String(template) => {
                let each = servers.iter().map(|entry| {
                    let json = |value: Value| value.to_string();
                    template
                        .replace("{name}", &entry.name)
                        .replace("{command}", &json(entry.command.clone().into()))
                        .replace("{args}", &json(entry.args.clone().into()))
                });
                Value::String(each.collect::<Vec<_>>().join("\n"))
            }
            template => servers
                .iter()
                .map(|entry| {
                    let texts = [
                        ("{command}", entry.command.as_str()),
                        ("{name}", entry.name.as_str()),
                    ];
                    let args = Value::from(entry.args.clone());
                    (
                        entry.name.clone(),
                        fill_with(template, &texts, "{args}", &args),
                    )
                })
                .collect::<Map<String, Value>>()
                .into(),
        };
        match &self.config.content {
            Value::String(text) => {
                let servers = match servers {
                    Value::String(servers) => servers,
                    servers => servers.to_string(),
                };
                text.replace("{servers}", &servers)
            }
            json => fill_with(json, &[], "{servers}", &servers).to_string(),
        }
    }
}

fn fill(template: &Value, texts: &[(&str, &str)], arguments: &Value) -> Value {
    fill_with(template, texts, "{arguments}", arguments)
}

/// Fills placeholders in texts; a text that is just `whole` becomes the value.
fn fill_with(template: &Value, texts: &[(&str, &str)], whole: &str, value: &Value) -> Value {
    match template {
        Value::String(text) if text == whole => value.clone(),
        Value::String(text) => Value::String(fill_text(text, texts)),
        Value::Array(items) => items
            .iter()
            .map(|item| fill_with(item, texts, whole, value))
            .collect(),
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| (key.clone(), fill_with(member, texts, whole, value)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

fn fill_text(template: &str, texts: &[(&str, &str)]) -> String {
    texts
        .iter()
        .fold(template.to_owned(), |text, (name, value)| {
            text.replace(name, value)
        })
}

/// Whether a text in it is just this.
fn holds(template: &Value, whole: &str) -> bool {
    match template {
        Value::String(text) => text == whole,
        Value::Object(members) => members.values().any(|member| holds(member, whole)),
        _ => false,
    }
}

/// Whether a text in it has this part.
fn holds_part(template: &Value, part: &str) -> bool {
    match template {
        Value::String(text) => text.contains(part),
        Value::Object(members) => members.values().any(|member| holds_part(member, part)),
        _ => false,
    }
}

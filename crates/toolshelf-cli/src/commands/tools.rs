//! `tools`: all servers, their state and their tools.

use std::sync::Arc;

use serde_json::{Value, json};
use toolshelf_core::nearest::nearest;
use toolshelf_core::tokens::{TokenCounter, definition_text};
use toolshelf_core::{Cancellation, Error, GroupId, LoadedGroup, Registry, ShelvedTool};
use toolshelf_gateway::cache::DescriptorCache;
use toolshelf_gateway::config::{Config, EntryState, ServerEntry};
use toolshelf_gateway::{Gateway, GatewayOptions};

use crate::arguments::ToolsArguments;
use crate::commands::serve::cache;
use crate::failure::Failure;
use crate::output::{Look, Output, counted, cut, grouped};
use crate::signals::guarded;
use crate::source;
use crate::tokens::O200kBase;
use crate::waiting::Waiting;

pub(crate) async fn run(
    arguments: &ToolsArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let mut config = source::config(&arguments.servers)?;
    if let Some(server) = &arguments.raw {
        return raw(config, server, registry, output).await;
    }
    keep(&mut config, &arguments.only)?;
    let waiting = Waiting::new();
    // What servers say now is kept for the next start, like any list.
    let kept = cache(arguments.servers.samples);
    let gateway = gateway(&config, &waiting, registry, kept)?;
    let cancellation = Cancellation::new();
    let servers = guarded(
        async {
            let mut loaded = gateway.refresh(&cancellation).await;
            let rows = config.servers.iter().map(|entry| {
                let at = loaded.iter().position(|(id, _)| *id == entry.id);
                let state = match (&entry.state, at) {
                    (EntryState::Disabled, _) | (_, None) => State::Disabled,
                    (_, Some(at)) => State::from(loaded.swap_remove(at).1),
                };
                Server::new(&gateway, entry.id.clone(), state)
            });
            Ok(rows.collect::<Vec<Server>>())
        },
        gateway.close(),
    )
    .await?;
    drop(waiting);
    if arguments.json {
        output.write_json(&document(&config, &servers))?;
    } else {
        output.write(&table(&servers, output))?;
    }
    // A failure stands beside its server already.
    if servers
        .iter()
        .any(|server| matches!(server.state, State::Failed(_)))
    {
        return Err(Failure::said());
    }
    Ok(())
}

/// A gateway whose starts are shown.
pub(crate) fn gateway(
    config: &Config,
    waiting: &Waiting,
    registry: &Registry,
    cache: Option<DescriptorCache>,
) -> Result<Arc<Gateway>, Failure> {
    let mut options = GatewayOptions::default();
    options.observer = waiting.observer();
    options.cache = cache;
    Gateway::new(config, options, registry).map_err(|error| Failure::asked(&error))
}

/// Prints the list of one server as it came.
async fn raw(
    mut config: Config,
    server: &str,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    keep(&mut config, &[server.to_owned()])?;
    let Some(id) = config.enabled().map(|entry| entry.id.clone()).next() else {
        return Err(Failure::usage(format!("the server '{server}' is disabled")));
    };
    let waiting = Waiting::new();
    let gateway = gateway(&config, &waiting, registry, None)?;
    waiting.begin(&id);
    let cancellation = Cancellation::new();
    let tools = guarded(
        async {
            let listed = gateway.list_verbatim(&id, &cancellation).await;
            listed.map_err(|error| Failure::of(&error))
        },
        gateway.close(),
    )
    .await?;
    drop(waiting);
    let tools: Vec<&str> = tools.iter().map(|tool| tool.get()).collect();
    output.write(&output.data(&format!("{{\"tools\":[\n{}\n]}}", tools.join(",\n"))))
}

/// Leaves only the servers that were asked for.
pub(crate) fn keep(config: &mut Config, only: &[String]) -> Result<(), Failure> {
    for name in only {
        if !config.servers.iter().any(|entry| entry.id.as_str() == name) {
            let known = config.servers.iter().map(|entry| entry.id.as_str());
            let near = nearest(name, known, 3);
            let hint = if near.is_empty() {
                String::new()
            } else {
                format!("; did you mean {}?", near.join(" or "))
            };
            return Err(Failure::usage(format!(
                "there is no server '{name}' in the configuration{hint}"
            )));
        }
    }
    if !only.is_empty() {
        config
            .servers
            .retain(|entry| only.iter().any(|name| entry.id.as_str() == name));
    }
    Ok(())
}

/// Servers that were asked for by name have to be switched on.
pub(crate) fn refuse_disabled(config: &Config) -> Result<(), Failure> {
    let off = |entry: &&ServerEntry| matches!(entry.state, EntryState::Disabled);
    match config.servers.iter().find(off) {
        Some(entry) => Err(Failure::usage(format!(
            "the server '{}' is disabled",
            entry.id
        ))),
        None => Ok(()),
    }
}

enum State {
    Ready(Arc<LoadedGroup>),
    Failed(Arc<Error>),
    Disabled,
}

impl From<Result<Arc<LoadedGroup>, Arc<Error>>> for State {
    fn from(result: Result<Arc<LoadedGroup>, Arc<Error>>) -> Self {
        match result {
            Ok(loaded) => Self::Ready(loaded),
            Err(error) => Self::Failed(error),
        }
    }
}

/// A server as it is listed.
struct Server {
    id: GroupId,
    title: Option<String>,
    description: Option<String>,
    state: State,
    tools: Vec<Row>,
}

/// A tool as it is listed.
struct Row {
    tool: ShelvedTool,
    bytes: usize,
    tokens: usize,
}

impl Server {
    fn new(gateway: &Gateway, id: GroupId, state: State) -> Self {
        let (mut title, mut description) = gateway.shelf().with_groups(|groups| {
            groups.get(id.as_str()).map_or((None, None), |entry| {
                (entry.group.title.clone(), entry.group.description.clone())
            })
        });
        let mut tools = Vec::new();
        if let State::Ready(loaded) = &state {
            title = title.or_else(|| loaded.server.title.clone());
            description = description.or_else(|| loaded.summary.clone());
            tools.extend(loaded.tools.iter().map(|tool| {
                let text = definition_text(tool.key.tool.as_str(), tool.definition());
                Row {
                    tool: tool.clone(),
                    bytes: text.len(),
                    tokens: O200kBase.count(&text),
                }
            }));
        }
        Self {
            id,
            title,
            description,
            state,
            tools,
        }
    }

    fn tokens(&self) -> usize {
        self.tools.iter().map(|row| row.tokens).sum()
    }

    fn bytes(&self) -> usize {
        self.tools.iter().map(|row| row.bytes).sum()
    }

    fn json(&self) -> Value {
        let (state, error) = match &self.state {
            State::Ready(_) => ("ready", Value::Null),
            State::Disabled => ("disabled", Value::Null),
            State::Failed(error) => (
                "failed",
                json!({"kind": error.kind().as_str(), "message": error.to_string()}),
            ),
        };
        let (server, set_aside) = match &self.state {
            State::Ready(loaded) => (
                json!({
                    "name": loaded.server.name,
                    "version": loaded.server.version,
                    "protocol": loaded.server.protocol,
                }),
                loaded
                    .set_aside
                    .iter()
                    .map(|tool| json!({"name": tool.name, "reason": tool.reason}))
                    .collect(),
            ),
            _ => (Value::Null, Vec::new()),
        };
        json!({
            "id": self.id.as_str(),
            "state": state,
            "error": error,
            "title": self.title,
            "description": self.description,
            "server": server,
            "bytes": self.bytes(),
            "tokens": self.tokens(),
            "tools": self.tools.iter().map(Row::json).collect::<Vec<_>>(),
            "set_aside": set_aside,
        })
    }
}

impl Row {
    fn json(&self) -> Value {
        let definition = self.tool.definition();
        json!({
            "id": self.tool.key.to_string(),
            "name": self.tool.key.tool.as_str(),
            "wire_name": &*self.tool.wire_name,
            "title": definition.title(),
            "description": definition.description(),
            "digest": definition.digest().to_string(),
            "bytes": self.bytes,
            "tokens": self.tokens,
        })
    }
}

fn document(config: &Config, servers: &[Server]) -> Value {
    json!({
        "config": config.path.as_ref().map(|path| path.display().to_string()),
        "tokenizer": O200kBase.name(),
        "servers": servers.iter().map(Server::json).collect::<Vec<_>>(),
        "totals": {
            "servers": servers.len(),
            "ready": servers.iter().filter(|server| matches!(server.state, State::Ready(_))).count(),
            "tools": servers.iter().map(|server| server.tools.len()).sum::<usize>(),
            "bytes": servers.iter().map(Server::bytes).sum::<usize>(),
            "tokens": servers.iter().map(Server::tokens).sum::<usize>(),
        },
    })
}

fn table(servers: &[Server], output: &Output) -> String {
    if servers.is_empty() {
        return "The configuration has no servers.".to_owned();
    }
    let mut text = String::new();
    for server in servers {
        text.push_str(&heading(server, output));
        let names = server
            .tools
            .iter()
            .map(|row| row.tool.key.tool.as_str().chars().count());
        let name_width = names.max().unwrap_or(0).min(32);
        for row in &server.tools {
            let name = cut(row.tool.key.tool.as_str(), name_width.max(8));
            let about = row.tool.definition().description().unwrap_or_default();
            let about_width = output.width.saturating_sub(name_width + 12);
            text.push_str(&format!(
                "  {}  {}  {}\n",
                output.paint(Look::Ours, &format!("{name:name_width$}")),
                output.paint(Look::Faint, &format!("{:>6}", grouped(row.tokens))),
                cut(about, about_width),
            ));
        }
        if let State::Ready(loaded) = &server.state {
            for tool in &loaded.set_aside {
                text.push_str(&format!(
                    "  {} {}: {}\n",
                    output.paint(Look::Bad, "left out"),
                    cut(&tool.name, 64),
                    cut(&tool.reason, output.width)
                ));
            }
        }
        text.push('\n');
    }
    let tools = servers.iter().map(|server| server.tools.len()).sum();
    let tokens = servers.iter().map(Server::tokens).sum();
    text.push_str(&format!(
        "{}, {}, {} ({}) in every request without a shelf\n",
        counted(servers.len(), "server"),
        counted(tools, "tool"),
        counted(tokens, "token"),
        O200kBase.name()
    ));
    text
}

fn heading(server: &Server, output: &Output) -> String {
    let id = output.paint(Look::Strong, server.id.as_str());
    match &server.state {
        State::Disabled => format!("{id}  {}\n", output.paint(Look::Faint, "disabled")),
        State::Failed(error) => {
            let kind = output.paint(Look::Bad, error.kind().as_str());
            let reason = crate::output::without_controls(&error.to_string());
            format!("{id}  {kind}\n  {}\n", reason.replace('\n', "\n  "))
        }
        State::Ready(_) => {
            let title = match &server.title {
                Some(title) => format!("  {}", cut(title, 60)),
                None => String::new(),
            };
            let figures = format!(
                "{}, {}",
                counted(server.tools.len(), "tool"),
                counted(server.tokens(), "token")
            );
            format!("{id}{title}  {}\n", output.paint(Look::Good, &figures))
        }
    }
}

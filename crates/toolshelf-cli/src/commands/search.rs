//! `search`: what a search finds among the tools of servers or of a file, and why.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolshelf_core::nearest::nearest;
use toolshelf_core::search::{Hit, IndexedTool, Match, ScorePart, SearchIndex, SearchQuery};
use toolshelf_core::text::bounded_text;
use toolshelf_core::{Cancellation, Exposure, GroupEntry, GroupId, LoadedGroup, Registry, ToolKey};
use toolshelf_gateway::config::{Config, EntryState, Selection, ServerEntry};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_search::evaluate;

use crate::arguments::SearchArguments;
use crate::commands::judged;
use crate::commands::serve::cache;
use crate::commands::tools::{keep, refuse_disabled};
use crate::failure::Failure;
use crate::output::{Look, Output, cut};
use crate::signals::guarded;
use crate::source;
use crate::stderr::note;
use crate::waiting::Waiting;

/// The index where neither the command line nor the configuration names one.
const DEFAULT_INDEX: &str = "lexical/1";

/// How many near names are proposed.
const SUGGESTIONS: usize = 5;

/// The longest fault of a server in a line, in characters; some hold a whole PATH.
const MAX_FAULT: usize = 160;

/// The widest column of names.
const NAME_WIDTH: usize = 48;

/// How much of a query a person, and a program, is told back, in bytes.
const MAX_QUERY_TOLD: usize = 200;
const MAX_QUERY_KEPT: usize = 4_096;

/// What is searched.
#[derive(Default)]
struct Shelved {
    tools: Vec<Searchable>,
    /// Servers that had to be started, since nothing was known of their tools.
    started: Vec<GroupId>,
    /// Servers that could not be used.
    failed: Vec<(GroupId, String)>,
    /// Servers that are switched off.
    disabled: Vec<GroupId>,
}

struct Searchable {
    /// What it is called: `group/tool`, or what a file calls it.
    id: String,
    /// Whether it is in every request, so that nobody has to search for it.
    always_visible: bool,
    tool: IndexedTool,
}

pub(crate) async fn run(
    arguments: &SearchArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let asked = arguments.index.clone().map(Selection::from);
    let (chosen, shelved) = match &arguments.tools {
        Some(file) => (asked, of_file(file, &arguments.group)?),
        None => {
            let mut config = source::config(&arguments.servers)?;
            // The gateway refuses one that there is not before it starts a server.
            config.index = asked.or(config.index);
            let chosen = config.index.clone();
            (chosen, of_servers(config, arguments, registry).await?)
        }
    };
    let chosen = chosen.unwrap_or_else(|| Selection::from(DEFAULT_INDEX));
    let index = registry
        .search_index(&chosen.name, &chosen.options)
        .map_err(|error| Failure::asked(&error))?;
    shelved.note_started(arguments.servers.samples);
    let mut groups: BTreeMap<GroupId, Vec<IndexedTool>> = BTreeMap::new();
    for one in &shelved.tools {
        let tools = groups.entry(one.tool.key.group.clone()).or_default();
        tools.push(one.tool.clone());
    }
    for (group, tools) in groups {
        index.replace_group(&group, tools);
    }
    let query = SearchQuery {
        text: arguments.query.clone(),
        limit: arguments.limit,
        groups: Vec::new(),
    };
    let found = index
        .search(&query)
        .map_err(|error| Failure::usage(error.for_model()))?;
    let mut answer = Answer {
        query,
        hits: Vec::new(),
        missing: Vec::new(),
        away: Vec::new(),
        near: Vec::new(),
    };
    for hit in found.hits {
        let parts = if arguments.explain {
            let parts = index.explain(&answer.query, &hit.key);
            parts.map_err(|error| Failure::usage(error.for_model()))?
        } else {
            Vec::new()
        };
        answer.hits.push((hit, parts));
    }
    let names = |to: &str, count| -> Vec<String> {
        // People leave the server out, so that the bare name is near as well.
        let names = shelved
            .tools
            .iter()
            .flat_map(|one| [one.id.as_str(), one.tool.key.tool.as_str()]);
        let mut ids = Vec::new();
        for name in nearest(to, names, count) {
            let meant = |one: &&Searchable| one.id == name || one.tool.key.tool == *name;
            for one in shelved.tools.iter().filter(meant) {
                if ids.len() < count && !ids.contains(&one.id) {
                    ids.push(one.id.clone());
                }
            }
        }
        ids
    };
    if found.missing.is_empty() && answer.hits.is_empty() {
        answer.near = names(&answer.query.text, SUGGESTIONS);
    }
    for name in found.missing {
        if answer.add_called(&shelved, &name) {
            continue;
        }
        match shelved.away(&name) {
            Some(server) => answer.away.push((name, server.clone())),
            None => {
                let near = names(&name, 3);
                answer.missing.push((name, near));
            }
        }
    }
    shelved.note_away(answer.hits.is_empty());
    let by_key: BTreeMap<&ToolKey, &Searchable> = shelved
        .tools
        .iter()
        .map(|one| (&one.tool.key, one))
        .collect();
    if arguments.json {
        let document = answer.json(index.as_ref(), &by_key, &shelved, arguments.explain);
        output.write_json(&document)?;
    } else {
        output.write(&answer.text(&by_key, output))?;
    }
    if answer.hits.is_empty() {
        return Err(Failure::said());
    }
    Ok(())
}

/// The tools of a file, as a judged set has them.
fn of_file(file: &Path, groups: &[String]) -> Result<Shelved, Failure> {
    let (name, tools) = judged::tools(file)?;
    let remarks = tools.iter().flat_map(|one| {
        let place = &one.place;
        one.remarks.iter().map(move |it| format!("{place}: {it}"))
    });
    judged::warn(remarks);
    for group in groups {
        let known = |one: &evaluate::JudgedTool| one.tool.key.group.as_str() == group;
        if !tools.iter().any(known) {
            let names = tools.iter().map(|one| one.tool.key.group.as_str());
            let near = nearest(group, names, 1);
            let hint = near
                .first()
                .map(|near| format!("; did you mean {near}?"))
                .unwrap_or_default();
            return Err(Failure::usage(format!(
                "no tool of {name} is of the server '{group}'{hint}"
            )));
        }
    }
    let wanted = |one: &evaluate::JudgedTool| {
        let group = one.tool.key.group.as_str();
        groups.is_empty() || groups.iter().any(|name| name == group)
    };
    let tools = tools.into_iter().filter(wanted).map(|one| Searchable {
        id: one.id,
        always_visible: false,
        tool: one.tool,
    });
    Ok(Shelved {
        tools: tools.collect(),
        ..Shelved::default()
    })
}

/// The tools of the configured servers: what is kept of them, and where nothing is, what they
/// say.
async fn of_servers(
    mut config: Config,
    arguments: &SearchArguments,
    registry: &Registry,
) -> Result<Shelved, Failure> {
    keep(&mut config, &arguments.group)?;
    if !arguments.group.is_empty() {
        refuse_disabled(&config)?;
    }
    let off = |entry: &&ServerEntry| matches!(entry.state, EntryState::Disabled);
    let disabled = config.servers.iter().filter(off);
    let disabled: Vec<GroupId> = disabled.map(|entry| entry.id.clone()).collect();
    let waiting = Waiting::new();
    let mut options = GatewayOptions::default();
    options.observer = waiting.observer();
    options.cache = cache(arguments.servers.samples);
    let gateway =
        Gateway::new(&config, options, registry).map_err(|error| Failure::asked(&error))?;
    let cancellation = Cancellation::new();
    let shelved = guarded(
        async {
            let mut shelved = Shelved {
                disabled,
                ..Shelved::default()
            };
            for (id, result) in gateway.shelf().load_all(&cancellation).await {
                // Whoever runs now did not before.
                if gateway.sidelights(&id).await.is_some() {
                    shelved.started.push(id.clone());
                }
                match result {
                    Ok(loaded) => gateway.shelf().with_groups(|groups| {
                        let entry = groups.get(id.as_str());
                        shelved
                            .tools
                            .extend(entry.into_iter().flat_map(|entry| tools(entry, &loaded)));
                    }),
                    Err(error) => {
                        let error = error.without(&["server", "group"]).to_string();
                        shelved.failed.push((id, error));
                    }
                }
            }
            Ok(shelved)
        },
        gateway.close(),
    )
    .await?;
    drop(waiting);
    Ok(shelved)
}

/// The tools of a group that a model's search may find. One that is in every request is told
/// as one that is there already.
fn tools(entry: &GroupEntry, loaded: &LoadedGroup) -> Vec<Searchable> {
    let title = entry.group.title.as_deref();
    let title = title.or(loaded.server.title.as_deref());
    let description = entry.group.description.as_deref();
    let description = description.or(loaded.summary.as_deref());
    let text: Vec<&str> = title.into_iter().chain(description).collect();
    let group_text: Arc<str> = text.join("\n").into();
    let found = loaded
        .tools
        .iter()
        .filter(|tool| tool.exposure != Exposure::Hidden);
    found
        .map(|tool| Searchable {
            id: tool.key.to_string(),
            always_visible: tool.exposure != Exposure::Deferred,
            tool: IndexedTool {
                key: tool.key.clone(),
                definition: tool.definition().clone(),
                group_text: group_text.clone(),
            },
        })
        .collect()
}

impl Shelved {
    /// Says which servers had to be started, unless they always have to.
    fn note_started(&self, always_started: bool) {
        if !self.started.is_empty() && !always_started {
            let ids: Vec<&str> = self.started.iter().map(GroupId::as_str).collect();
            note(&format!(
                "Started, since their tools were not known yet: {}.",
                ids.join(", ")
            ));
        }
    }

    /// Says which servers could not be searched, and, where nothing was found, which may not.
    fn note_away(&self, nothing_found: bool) {
        for (id, error) in &self.failed {
            // All of it is in --json, and `doctor` says how to mend it.
            note(&format!("Not searched: {id}: {}", cut(error, MAX_FAULT)));
        }
        for id in self.disabled.iter().filter(|_| nothing_found) {
            note(&format!("Not searched: {id}: it is disabled"));
        }
    }

    /// The server of a qualified name that could not be searched.
    fn away(&self, name: &str) -> Option<&GroupId> {
        let failed = self.failed.iter().map(|(id, _)| id);
        let away = failed.chain(&self.disabled).filter(|id| {
            let tool = name.strip_prefix(id.as_str());
            tool.is_some_and(|tool| tool.len() > 1 && tool.starts_with('/'))
        });
        away.max_by_key(|id| id.as_str().len())
    }
}

/// What came of a search.
struct Answer {
    query: SearchQuery,
    hits: Vec<(Hit, Vec<ScorePart>)>,
    /// Names that nobody has, each with the nearest ones.
    missing: Vec<(String, Vec<String>)>,
    /// Names of tools of servers that could not be searched.
    away: Vec<(String, GroupId)>,
    /// The nearest names where nothing fits.
    near: Vec<String>,
}

impl Answer {
    /// Adds the tools that a file calls so, which no index knows. Whether there are any.
    fn add_called(&mut self, shelved: &Shelved, name: &str) -> bool {
        let mut any = false;
        for one in shelved.tools.iter().filter(|one| one.id == name) {
            any = true;
            let key = &one.tool.key;
            if !self.hits.iter().any(|(hit, _)| hit.key == *key) {
                let hit = Hit {
                    key: key.clone(),
                    score: 0.0,
                    why: Match::Name,
                };
                self.hits.push((hit, Vec::new()));
            }
        }
        any
    }

    fn text(&self, tools: &BTreeMap<&ToolKey, &Searchable>, output: &Output) -> String {
        let rows: Vec<(&Hit, &[ScorePart], &Searchable)> = self
            .hits
            .iter()
            .filter_map(|(hit, parts)| Some((hit, parts.as_slice(), *tools.get(&hit.key)?)))
            .collect();
        let widths = rows.iter().map(|(_, _, one)| one.id.chars().count());
        let name_width = widths.max().unwrap_or(0).min(NAME_WIDTH);
        let mut text = String::new();
        for (at, (_, parts, one)) in rows.iter().enumerate() {
            let name = cut(&one.id, name_width.max(8));
            let about = one.tool.definition.description().unwrap_or_default();
            let mark = if one.always_visible {
                "(always visible) "
            } else {
                ""
            };
            let about = format!("{mark}{about}");
            let line = format!(
                "{:>2}  {}  {}",
                at + 1,
                output.paint(Look::Ours, &format!("{name:name_width$}")),
                cut(&about, output.width.saturating_sub(name_width + 6)),
            );
            text.push_str(line.trim_end());
            text.push('\n');
            for part in *parts {
                let what = cut(&part.what, output.width.saturating_sub(14));
                let line = format!("{:>12.3}  {what}", part.score);
                text.push_str(&output.paint(Look::Faint, &line));
                text.push('\n');
            }
        }
        for (name, near) in &self.missing {
            let near = match near.as_slice() {
                [] => String::new(),
                near => format!(" The nearest names: {}.", near.join(", ")),
            };
            let line = format!("No tool is called '{name}'.{near}");
            text.push_str(&crate::output::without_controls(&line));
            text.push('\n');
        }
        for (name, server) in &self.away {
            let line = format!("'{name}' was not looked for: '{server}' was not searched.");
            text.push_str(&crate::output::without_controls(&line));
            text.push('\n');
        }
        if rows.is_empty() && self.missing.is_empty() && self.away.is_empty() {
            let query = bounded_text(&self.query.text, MAX_QUERY_TOLD);
            let mut line = format!("No tool fits '{query}'.");
            if !self.near.is_empty() {
                line.push_str(&format!(" The nearest names: {}.", self.near.join(", ")));
            }
            text.push_str(&crate::output::without_controls(&line));
            text.push('\n');
        }
        text
    }

    fn json(
        &self,
        index: &dyn SearchIndex,
        tools: &BTreeMap<&ToolKey, &Searchable>,
        shelved: &Shelved,
        explain: bool,
    ) -> Value {
        let hits = self
            .hits
            .iter()
            .enumerate()
            .filter_map(|(at, (hit, parts))| {
                let one = tools.get(&hit.key)?;
                let mut row = Map::new();
                row.insert("rank".to_owned(), json!(at + 1));
                row.insert("id".to_owned(), json!(one.id));
                row.insert("group".to_owned(), json!(hit.key.group));
                row.insert("name".to_owned(), json!(hit.key.tool));
                row.insert(
                    "description".to_owned(),
                    json!(one.tool.definition.description()),
                );
                row.insert("score".to_owned(), json!(hit.score));
                row.insert("why".to_owned(), json!(why(hit.why)));
                if one.always_visible {
                    row.insert("always_visible".to_owned(), json!(true));
                }
                if explain {
                    let parts = parts
                        .iter()
                        .map(|part| json!({"what": part.what, "score": part.score}));
                    row.insert("parts".to_owned(), parts.collect());
                }
                Some(Value::Object(row))
            });
        let missing = self
            .missing
            .iter()
            .map(|(name, near)| json!({"name": name, "near": near}));
        let away = self
            .away
            .iter()
            .map(|(name, server)| json!({"name": name, "server": server}));
        let failed = shelved
            .failed
            .iter()
            .map(|(id, error)| json!({"server": id, "message": error}));
        json!({
            "query": bounded_text(&self.query.text, MAX_QUERY_KEPT),
            "index": index.name(),
            "tools": shelved.tools.len(),
            "hits": hits.collect::<Vec<_>>(),
            "missing": missing.collect::<Vec<_>>(),
            "not_looked_for": away.collect::<Vec<_>>(),
            "near": self.near,
            "started": shelved.started,
            "failed": failed.collect::<Vec<_>>(),
            "disabled": shelved.disabled,
        })
    }
}

fn why(why: Match) -> &'static str {
    match why {
        Match::Name => "name",
        Match::Suffix => "suffix",
        _ => "text",
    }
}

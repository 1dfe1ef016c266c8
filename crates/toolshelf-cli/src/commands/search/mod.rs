//! `search`: what a search finds among the tools of servers or of a file, and why.

mod shelved;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolshelf_core::nearest::nearest;
use toolshelf_core::search::{Hit, IndexedTool, Match, ScorePart, SearchIndex, SearchQuery};
use toolshelf_core::text::bounded_text;
use toolshelf_core::{GroupId, Registry, ToolKey};
use toolshelf_gateway::config::Selection;

use crate::arguments::SearchArguments;
use crate::failure::Failure;
use crate::output::{Look, Output, cut};
use crate::source;

use shelved::{Searchable, Shelved};

/// The index where neither the command line nor the configuration names one.
const DEFAULT_INDEX: &str = "lexical/1";

/// How many near names are proposed.
const SUGGESTIONS: usize = 5;

/// The widest column of names.
const NAME_WIDTH: usize = 48;

/// How much of a query a person, and a program, is told back, in bytes.
const MAX_QUERY_TOLD: usize = 200;
const MAX_QUERY_KEPT: usize = 4_096;

pub(crate) async fn run(
    arguments: &SearchArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let asked = arguments.index.clone().map(Selection::from);
    let (chosen, shelved) = match &arguments.tools {
        Some(file) => (asked, Shelved::of_file(file, &arguments.group)?),
        None => {
            let mut config = source::config(&arguments.servers)?;
            // The gateway refuses one that there is not before it starts a server.
            config.index = asked.or(config.index);
            let chosen = config.index.clone();
            (
                chosen,
                Shelved::of_servers(config, arguments, registry).await?,
            )
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
    shelved.note_away(answer.hits.is_empty() || !answer.away.is_empty());
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

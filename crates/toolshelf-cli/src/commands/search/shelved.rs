//! What `search` looks into, and what it cannot.

use std::path::Path;
use std::sync::Arc;

use toolshelf_core::nearest::nearest;
use toolshelf_core::search::IndexedTool;
use toolshelf_core::{Cancellation, Exposure, GroupEntry, GroupId, LoadedGroup, Registry};
use toolshelf_gateway::config::{Config, EntryState, ServerEntry};
use toolshelf_search::evaluate;

use crate::arguments::SearchArguments;
use crate::commands::judged;
use crate::commands::serve::cache;
use crate::commands::tools::{gateway, keep, refuse_disabled};
use crate::failure::Failure;
use crate::output::cut;
use crate::signals::guarded;
use crate::stderr::note;
use crate::waiting::Waiting;

/// The longest fault of a server in a line, in characters; some hold a whole PATH.
const MAX_FAULT: usize = 160;

/// What is searched.
#[derive(Default)]
pub(super) struct Shelved {
    pub(super) tools: Vec<Searchable>,
    /// Servers that had to be started, since nothing was known of their tools.
    pub(super) started: Vec<GroupId>,
    /// Servers that could not be used.
    pub(super) failed: Vec<(GroupId, String)>,
    /// Servers that are switched off.
    pub(super) disabled: Vec<GroupId>,
}

pub(super) struct Searchable {
    /// What it is called: `group/tool`, or what a file calls it.
    pub(super) id: String,
    /// Whether it is in every request, so that nobody has to search for it.
    pub(super) always_visible: bool,
    pub(super) tool: IndexedTool,
}

impl Shelved {
    /// The tools of a file, as a judged set has them.
    pub(super) fn of_file(file: &Path, groups: &[String]) -> Result<Self, Failure> {
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
        Ok(Self {
            tools: tools.collect(),
            ..Self::default()
        })
    }

    /// The tools of the configured servers: what is kept of them, and where nothing is, what they
    /// say.
    pub(super) async fn of_servers(
        mut config: Config,
        arguments: &SearchArguments,
        registry: &Registry,
    ) -> Result<Self, Failure> {
        keep(&mut config, &arguments.group)?;
        if !arguments.group.is_empty() {
            refuse_disabled(&config)?;
        }
        let off = |entry: &&ServerEntry| matches!(entry.state, EntryState::Disabled);
        let disabled = config.servers.iter().filter(off);
        let disabled: Vec<GroupId> = disabled.map(|entry| entry.id.clone()).collect();
        let waiting = Waiting::new();
        let kept = cache(arguments.servers.samples);
        let gateway = gateway(&config, &waiting, registry, kept)?;
        let cancellation = Cancellation::new();
        let shelved = guarded(
            async {
                let mut shelved = Self {
                    disabled,
                    ..Self::default()
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

    /// Says which servers had to be started, unless they always have to.
    pub(super) fn note_started(&self, always_started: bool) {
        if !self.started.is_empty() && !always_started {
            let ids: Vec<&str> = self.started.iter().map(GroupId::as_str).collect();
            note(&format!(
                "Started, since their tools were not known yet: {}.",
                ids.join(", ")
            ));
        }
    }

    /// Says which servers could not be searched, and where that may be why a search `lacks`
    /// something, which are switched off.
    pub(super) fn note_away(&self, lacks: bool) {
        for (id, error) in &self.failed {
            // All of it is in --json, and `doctor` says how to mend it.
            note(&format!("Not searched: {id}: {}", cut(error, MAX_FAULT)));
        }
        for id in self.disabled.iter().filter(|_| lacks) {
            note(&format!("Not searched: {id}: it is disabled"));
        }
    }

    /// The server of a qualified name that could not be searched.
    pub(super) fn away(&self, name: &str) -> Option<&GroupId> {
        let failed = self.failed.iter().map(|(id, _)| id);
        let away = failed.chain(&self.disabled).filter(|id| {
            let tool = name.strip_prefix(id.as_str());
            tool.is_some_and(|tool| tool.len() > 1 && tool.starts_with('/'))
        });
        away.max_by_key(|id| id.as_str().len())
    }
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

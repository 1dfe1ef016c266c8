//! `catalog`: the bytes that a model reads.

use serde_json::{Value, json};
use toolshelf_catalog::texts::LOAD_TOOLS;
use toolshelf_core::catalog::{CatalogGroup, CatalogTier, CatalogView};
use toolshelf_core::tokens::{TokenCounter, definition_text};
use toolshelf_core::{
    Cancellation, GroupEntry, Groups, Placement, PluginKind, Registry, Surface, ToolSlot,
};
use toolshelf_gateway::config::Selection;
use toolshelf_shelf::SessionOptions;

use crate::arguments::{CatalogArguments, Where};
use crate::commands::tools::gateway;
use crate::failure::Failure;
use crate::output::{Output, counted};
use crate::signals::guarded;
use crate::source;
use crate::stderr::note;
use crate::tokens::O200kBase;
use crate::waiting::Waiting;

/// How many bytes the description of `load_tools` has in an MCP server.
const DESCRIPTION_BYTES: usize = 2_000;

pub(crate) async fn run(
    arguments: &CatalogArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let config = source::config(&arguments.servers)?;
    // As `serve` has it: with a search tool where there is an index.
    let searchable = !registry.names(PluginKind::SearchIndex).is_empty();
    let asked = arguments.strategy.clone().map(Selection::from);
    let chosen = asked.or_else(|| config.strategy.clone());
    let mut chosen = chosen.unwrap_or_else(|| Selection::from("dispatch"));
    if chosen.name == "dispatch" && chosen.options.is_null() && searchable {
        chosen.options = json!({"search": true});
    }
    let strategy = registry
        .strategy(&chosen.name, &chosen.options)
        .map_err(|error| Failure::asked(&error))?;
    let format = arguments.format.clone().map(Selection::from);
    let format = format.or_else(|| config.catalog.clone());
    let format = format
        .map(|format| registry.catalog_format(&format.name, &format.options))
        .transpose()
        .map_err(|error| Failure::asked(&error))?;
    let waiting = Waiting::new();
    let gateway = gateway(&config, &waiting, registry, None)?;
    let shelf = gateway.shelf();
    let placement = match arguments.placement {
        Where::Prompt => Placement::SystemPrompt,
        Where::Gateway => Placement::McpServer,
    };
    let cancellation = Cancellation::new();
    let mut failed = false;
    let surface = guarded(
        async {
            for (id, result) in shelf.load_all(&cancellation).await {
                if let Err(error) = result {
                    failed = true;
                    let error = error.without(&["server", "group"]);
                    tracing::warn!(server = %id, "stands in the catalog without its tools: {error}");
                }
            }
            let mut options = SessionOptions::placed(placement);
            options.catalog = format;
            let session = shelf
                .session(strategy, options)
                .map_err(|error| Failure::of(&error))?;
            let surface = session.surface(&cancellation).await;
            surface.map_err(|error| Failure::of(&error))
        },
        gateway.close(),
    )
    .await?;
    drop(waiting);

    let ours = Registry::known()
        .any(|(kind, name, _)| (kind, name) == (PluginKind::Strategy, chosen.name.as_str()));
    let text = catalog_text(&surface, placement, ours);
    let text = text.as_str();
    let rendered = shelf.with_groups(|groups| rendered(groups, registry, text, placement));
    let own = surface.tools.iter().filter(|slot| slot.key.is_none());
    let own_tokens: usize = own
        .map(|slot| O200kBase.count(&definition_text(&slot.name, &slot.definition)))
        .sum();
    let (format, tier) = rendered.unzip();
    if arguments.json {
        output.write_json(&json!({
            "strategy": chosen.name,
            "placement": match placement {
                Placement::SystemPrompt => "prompt",
                Placement::McpServer => "gateway",
            },
            "format": format,
            "tier": tier,
            "text": text,
            "bytes": text.len(),
            "tokens": O200kBase.count(text),
            "own_tools": {
                "names": surface.tools.iter().filter(|slot| slot.key.is_none())
                    .map(|slot| &*slot.name).collect::<Vec<_>>(),
                "tokens": own_tokens,
            },
            "tokenizer": O200kBase.name(),
        }))?;
        return ended(failed);
    }
    if text.is_empty() {
        note(&format!(
            "Under the strategy '{}' there is no catalog: {} in every request.",
            chosen.name,
            counted(surface.tools.len(), "tool")
        ));
        return ended(failed);
    }
    output.write(text)?;
    let format = match (format, tier) {
        (Some(format), Some(tier)) => format!("{format}, {tier}, "),
        _ => String::new(),
    };
    note(&format!(
        "{format}{}, {}; own tools with it {}",
        counted(text.len(), "byte"),
        counted(O200kBase.count(text), "token"),
        counted(own_tokens, "token"),
    ));
    ended(failed)
}

/// How the command ends: the log has said which servers could not be used.
fn ended(failed: bool) -> Result<(), Failure> {
    if failed { Err(Failure::said()) } else { Ok(()) }
}

/// The section of the prompt, or the description in which the catalog stands. Where a strategy
/// that is not ours has it nobody knows, so that all of its own tools are shown.
fn catalog_text(surface: &Surface, placement: Placement, ours: bool) -> String {
    if placement == Placement::SystemPrompt {
        let section = surface.prompt_section.as_deref();
        return section.unwrap_or_default().to_owned();
    }
    let own = surface.tools.iter().filter(|slot| slot.key.is_none());
    let own: Vec<&ToolSlot> = own
        .filter(|slot| !ours || *slot.name == *LOAD_TOOLS)
        .collect();
    let described = |slot: &&ToolSlot| {
        let description = slot.definition.description().unwrap_or_default();
        if own.len() == 1 {
            description.to_owned()
        } else {
            format!("{}\n{description}", slot.name)
        }
    };
    own.iter().map(described).collect::<Vec<_>>().join("\n\n")
}

/// Which of the formats wrote the catalog in a text, and what it had to leave out: the
/// one that writes these very bytes.
fn rendered(
    groups: &Groups,
    registry: &Registry,
    text: &str,
    placement: Placement,
) -> Option<(&'static str, &'static str)> {
    if text.is_empty() {
        return None;
    }
    // What stands before the catalog in a description takes of its room.
    let before = text
        .split_once("\n\n")
        .map_or(0, |(before, _)| before.len() + 2);
    let budget = match placement {
        Placement::McpServer => Some(DESCRIPTION_BYTES.saturating_sub(before)),
        Placement::SystemPrompt => None,
    };
    let names = registry.names(toolshelf_core::PluginKind::CatalogFormat);
    let written = names.into_iter().filter_map(|name| {
        let format = registry.catalog_format(name, &Value::Null).ok()?;
        let view = CatalogView {
            groups: groups.iter().map(|(_, entry)| shown(entry)).collect(),
            budget,
            ..CatalogView::default()
        };
        let catalog = format.render(&view);
        let written = !catalog.text.is_empty() && text.ends_with(&catalog.text);
        written.then(|| (catalog.text.len(), name, tier_name(catalog.tier)))
    });
    // One with a header ends like one without.
    let (_, name, tier) = written.max_by_key(|(bytes, ..)| *bytes)?;
    Some((name, tier))
}

fn shown(entry: &GroupEntry) -> CatalogGroup<'_> {
    let last = entry.last.as_ref();
    CatalogGroup {
        id: &entry.group.id,
        title: entry
            .group
            .title
            .as_deref()
            .or_else(|| last.and_then(|loaded| loaded.server.title.as_deref())),
        description: entry
            .group
            .description
            .as_deref()
            .or_else(|| last.and_then(|loaded| loaded.summary.as_deref())),
        names: entry.names(),
        partly_loaded: false,
    }
}

fn tier_name(tier: CatalogTier) -> &'static str {
    match tier {
        CatalogTier::Full => "everything",
        CatalogTier::SomeNames => "the first names of each group",
        CatalogTier::NoNames => "no names",
        CatalogTier::IdsOnly => "ids only",
        CatalogTier::SomeGroups => "not all groups",
        _ => "shortened",
    }
}

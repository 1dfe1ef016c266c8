//! `inject`: loaded tools join the tools array and are called natively.
//!
//! Costs the prompt cache at every load, and buys calls in the form that models know
//! best. Tools are appended in the order of their loading and never move: the order in
//! which they joined the array is part of the state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolshelf_catalog::texts::{self, LOAD_TOOLS};
use toolshelf_catalog::{InjectCatalog, Schemas, Separators};
use toolshelf_core::catalog::{CatalogGroup, CatalogView};
use toolshelf_core::{
    Availability, Builder, Call, Condition, Cx, Delta, Error, Exposure, GroupId, Need, News,
    Placement, Plugin, Resolution, ShelvedTool, State, Step, Strategy, Surface, ToolKey, ToolSlot,
    options_schema, read_options,
};

use crate::listing;
use crate::{call, load};

/// Options of `inject`.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct InjectOptions {
    /// A header in place of the format's own; an empty one means none.
    pub header: Option<String>,
    /// The most bytes of the catalog. In an MCP server the bound is 2,000 bytes for the
    /// whole description that it stands in, or less where this is less.
    pub catalog_budget: Option<usize>,
    /// Answer with `"schemas":null` instead of leaving the key out, for readers that
    /// expect it.
    pub null_schemas: bool,
    /// Space the JSON of answers as Python does, for readers that compare bytes.
    pub python_separators: bool,
}

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: "inject",
    provider: env!("CARGO_PKG_NAME"),
    about: "Loaded tools join the tools array and are called natively.",
    build: Builder::Strategy(|options| Ok(Arc::new(Inject::new(read_options("inject", options)?)))),
    options: options_schema::<InjectOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The strategy `inject`.
#[derive(Debug, Clone, Default)]
pub struct Inject {
    options: InjectOptions,
}

impl Inject {
    /// The strategy with options.
    pub fn new(options: InjectOptions) -> Self {
        Self { options }
    }

    fn how(&self) -> load::How {
        let schemas = if self.options.null_schemas {
            Schemas::Null
        } else {
            Schemas::Omit
        };
        load::How {
            whole: schemas,
            named: schemas,
            call_as: true,
            separators: if self.options.python_separators {
                Separators::Python
            } else {
                Separators::Compact
            },
        }
    }

    fn catalog(&self, cx: &Cx<'_>, state: &State) -> String {
        let groups = listing::catalog_groups(cx)
            .into_iter()
            .filter_map(|group| remaining(group, state))
            .collect();
        let budget = match cx.placement {
            Placement::SystemPrompt => self.options.catalog_budget,
            Placement::McpServer => Some(listing::gateway_budget(
                self.options.catalog_budget,
                texts::load_tools_inject_gateway,
            )),
        };
        let header = match cx.placement {
            Placement::SystemPrompt => self.options.header.as_deref(),
            // The description that it stands in is its header.
            Placement::McpServer => Some(""),
        };
        let view = CatalogView {
            groups,
            header,
            budget,
        };
        let own = InjectCatalog::default();
        cx.catalog.unwrap_or(&own).render(&view).text
    }
}

/// A group without what is loaded of it; nothing when all of it is.
fn remaining<'a>(mut group: CatalogGroup<'a>, state: &State) -> Option<CatalogGroup<'a>> {
    match state.expanded_groups.get(group.id) {
        None => Some(group),
        Some(None) => None,
        Some(Some(loaded)) => {
            if let Some(names) = &mut group.names {
                let before = names.len();
                names.retain(|name| !loaded.contains(name));
                group.partly_loaded = names.len() < before;
                if names.is_empty() {
                    return None;
                }
            }
            Some(group)
        }
    }
}

/// Where a session remembers what its model was told.
const TOLD: &str = "inject.told";

/// What the model was told, so that each thing is said once.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Told {
    /// Groups whose loaded tools are missing.
    away: BTreeSet<GroupId>,
    /// Tools that were loaded and do not exist any more.
    gone: BTreeSet<String>,
}

impl Told {
    fn of(state: &State) -> Self {
        // A record that cannot be read costs that things are said again.
        let read = |value| serde_json::from_value(value).ok();
        let kept = state.extensions.get(TOLD).cloned();
        kept.and_then(read).unwrap_or_default()
    }

    fn delta(&self) -> Delta {
        Delta::Keep {
            name: TOLD.to_owned(),
            // Ids and names are strings, so this is an object.
            value: serde_json::to_value(self).unwrap_or_default(),
        }
    }
}

/// The loaded tools in the order in which they joined the tools array.
#[derive(Default)]
struct LoadedTools {
    slots: Vec<ToolSlot>,
    needs: Vec<Need>,
    news: Vec<News>,
    /// What the model knows after this surface.
    told: Told,
    /// Those that join it now.
    joining: Vec<ToolKey>,
}

impl LoadedTools {
    fn collect(cx: &Cx<'_>, state: &State) -> Self {
        let mut loaded = Self::default();
        let before = Told::of(state);
        let mut tools: BTreeMap<&ToolKey, &ShelvedTool> = BTreeMap::new();
        let mut order: Vec<&ToolKey> = Vec::new();
        for (group, selected) in state.expanded_in_order() {
            // Records of other systems hold lists in which nothing was selected.
            if selected.is_some_and(<[_]>::is_empty) {
                continue;
            }
            let Some(entry) = cx.groups.get(group.as_str()) else {
                continue;
            };
            let ready = match cx.availability(group) {
                Availability::Ready(ready) => ready,
                Availability::Failed(error) => {
                    loaded.unavailable(group, error, &before);
                    continue;
                }
                // A group that failed earlier is tried again when it is needed, not at
                // every turn.
                Availability::Unsettled => {
                    match entry.condition.failure() {
                        Some(error) => loaded.unavailable(group, error, &before),
                        None if matches!(entry.condition, Condition::Pending) => {
                            loaded.needs.push(Need::Settle(group.clone()));
                        }
                        None => loaded.needs.push(Need::Load(group.clone())),
                    }
                    continue;
                }
            };
            let mut take = |tool| {
                if joins(cx, tool) {
                    tools.insert(&tool.key, tool);
                    order.push(&tool.key);
                }
            };
            match selected {
                None => ready.tools.iter().for_each(take),
                Some(names) => {
                    for name in names {
                        match ready.get(name.as_str()) {
                            Some(tool) => take(tool),
                            None => {
                                let gone = ToolKey::new(group.clone(), name.clone());
                                loaded.gone(gone, &before);
                            }
                        }
                    }
                }
            }
        }
        // First those that are in the array already, in their order, whatever was loaded of
        // their groups since.
        for key in &state.discovered {
            if let Some(tool) = tools.remove(key) {
                loaded.slots.push(ToolSlot::of(tool));
            }
        }
        for key in order {
            if let Some(tool) = tools.remove(key) {
                loaded.slots.push(ToolSlot::of(tool));
                loaded.joining.push(key.clone());
            }
        }
        loaded
    }

    fn unavailable(&mut self, group: &GroupId, error: &Error, before: &Told) {
        self.told.away.insert(group.clone());
        if !before.away.contains(group) {
            self.news.push(News::Unavailable {
                group: group.clone(),
                reason: error.for_model().to_owned(),
            });
        }
    }

    fn gone(&mut self, key: ToolKey, before: &Told) {
        let name = key.to_string();
        if !before.gone.contains(&name) {
            self.news.push(News::Gone(key));
        }
        self.told.gone.insert(name);
    }
}

/// Whether a tool joins the tools array when it is loaded.
fn joins(cx: &Cx<'_>, tool: &ShelvedTool) -> bool {
    tool.exposure == Exposure::Deferred
        && cx.visible(&tool.key)
        && cx.offers(tool)
        && *tool.wire_name != *LOAD_TOOLS
}

impl Strategy for Inject {
    fn name(&self) -> &str {
        "inject"
    }

    fn own_tools(&self) -> Vec<String> {
        vec![LOAD_TOOLS.to_owned()]
    }

    fn surface(&self, cx: &Cx<'_>, state: &State) -> Step<Surface> {
        let loaded = LoadedTools::collect(cx, state);
        let mut needs = loaded.needs;
        let mut tools = match cx.eager_slots(&[LOAD_TOOLS]) {
            Ok(slots) => slots,
            Err(more) => {
                needs.extend(more);
                Vec::new()
            }
        };
        if !needs.is_empty() {
            return Step::Need(needs);
        }
        let catalog = self.catalog(cx, state);
        let own = match cx.placement {
            Placement::SystemPrompt => texts::load_tools_inject(),
            Placement::McpServer => texts::load_tools_inject_gateway(&catalog),
        };
        // A constant but for the catalog, which is escaped as JSON; it can always be made.
        if let Ok(own) = own {
            tools.push(ToolSlot::own(own));
        }
        tools.extend(loaded.slots);
        let mut deltas = Vec::new();
        if !loaded.joining.is_empty() {
            deltas.push(Delta::Discover(loaded.joining));
        }
        if loaded.told != Told::of(state) {
            deltas.push(loaded.told.delta());
        }
        let in_prompt = cx.placement == Placement::SystemPrompt && !catalog.is_empty();
        Step::Done(Surface {
            tools,
            prompt_section: in_prompt.then(|| Arc::from(catalog)),
            instructions: Some(Arc::from(texts::instructions_inject())),
            news: loaded.news,
            deltas,
        })
    }

    fn resolve(&self, cx: &Cx<'_>, state: &State, call: &Call) -> Step<Resolution> {
        match call.name.as_str() {
            LOAD_TOOLS => load::resolve(cx, state, &call.arguments, self.how()),
            _ => call::native(cx, call),
        }
    }
}

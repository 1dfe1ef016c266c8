//! `standard`: every tool in every request, as if there were no shelf.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolshelf_catalog::texts;
use toolshelf_core::{
    Availability, Builder, Call, Cx, Exposure, Need, News, Plugin, Resolution, State, Step,
    Strategy, Surface, ToolSlot, options_schema, read_options,
};

use crate::call;
use crate::slots::offered;

/// Options of `standard`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct StandardOptions {
    /// Load every group for the surface. When off, the surface holds the groups that
    /// are ready, and loading them is the host's.
    pub load: bool,
}

impl Default for StandardOptions {
    fn default() -> Self {
        Self { load: true }
    }
}

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: "standard",
    provider: env!("CARGO_PKG_NAME"),
    about: "Every tool in every request; nothing is deferred.",
    build: Builder::Strategy(|options| {
        Ok(Arc::new(Standard::new(read_options("standard", options)?)))
    }),
    options: options_schema::<StandardOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The strategy `standard`.
#[derive(Debug, Clone, Default)]
pub struct Standard {
    options: StandardOptions,
}

impl Standard {
    /// The strategy with options.
    pub fn new(options: StandardOptions) -> Self {
        Self { options }
    }
}

impl Strategy for Standard {
    fn name(&self) -> &str {
        "standard"
    }

    fn own_tools(&self) -> Vec<String> {
        Vec::new()
    }

    fn surface(&self, cx: &Cx<'_>, _state: &State) -> Step<Surface> {
        let mut needs = Vec::new();
        let mut tools = Vec::new();
        let mut news = Vec::new();
        for (id, entry) in cx.groups.iter() {
            match cx.availability(id) {
                Availability::Ready(loaded) => {
                    for tool in &loaded.tools {
                        if tool.exposure != Exposure::Hidden
                            && cx.visible(&tool.key)
                            && offered(cx, tool)
                        {
                            tools.push(ToolSlot::of(tool));
                        }
                    }
                }
                Availability::Failed(error) => news.push(News::Unavailable {
                    group: id.clone(),
                    reason: error.for_model().to_owned(),
                }),
                Availability::Unsettled => match entry.condition.failure() {
                    // One that failed is tried again by a call, not at every turn.
                    Some(error) => news.push(News::Unavailable {
                        group: id.clone(),
                        reason: error.for_model().to_owned(),
                    }),
                    None if self.options.load => needs.push(Need::Load(id.clone())),
                    None => {}
                },
            }
        }
        if !needs.is_empty() {
            return Step::Need(needs);
        }
        Step::Done(Surface {
            tools,
            instructions: Some(Arc::from(texts::instructions_standard())),
            news,
            ..Surface::default()
        })
    }

    fn resolve(&self, cx: &Cx<'_>, _state: &State, call: &Call) -> Step<Resolution> {
        call::native(cx, call)
    }
}

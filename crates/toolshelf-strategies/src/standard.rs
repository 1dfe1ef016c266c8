//! `standard`: every tool in every request, as if there were no shelf.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolshelf_core::{
    Builder, Call, Cx, Plugin, Resolution, State, Step, Strategy, Surface, options_schema,
    read_options,
};

use crate::call;
use crate::inline;

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

    fn surface(&self, cx: &Cx<'_>, state: &State) -> Step<Surface> {
        inline::surface(cx, state, None, self.options.load, None)
    }

    fn resolve(&self, cx: &Cx<'_>, _state: &State, call: &Call) -> Step<Resolution> {
        call::native(cx, call)
    }
}

//! `dispatch`: a frozen catalog, schemas in answers, calls through a forwarder.
//!
//! Tools array and prompt section are the same bytes all session long, whatever is
//! loaded, so a prompt cache never loses them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolshelf_catalog::{
    DEFAULT_NAMED_CAP, DEFAULT_SCHEMA_BUDGET, DispatchCatalog, GatewayCatalog, Schemas, Separators,
    texts::{
        self, DEFERRED_TOOL_CALL, DEFERRED_TOOL_DESTROY, DEFERRED_TOOL_READ, DEFERRED_TOOL_WRITE,
        LOAD_TOOLS, SEARCH_TOOLS,
    },
};
use toolshelf_core::catalog::CatalogView;
use toolshelf_core::{
    Answer, Builder, Call, ContentBlock, Cx, Error, Placement, Plugin, Resolution, State, Step,
    Strategy, Surface, ToolSlot, bare_name, options_schema, read_options,
};

use crate::listing;
use crate::split::Reach;
use crate::{call, envelope, forward, load, search};

/// Options of `dispatch`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct DispatchOptions {
    /// A header in place of the format's own; an empty one means none.
    pub header: Option<String>,
    /// The most bytes of the catalog. In an MCP server the bound is 2,000 bytes for the
    /// whole description that it stands in, or less where this is less.
    pub catalog_budget: Option<usize>,
    /// How many bytes of schemas the load of a whole group gives at once.
    pub schema_budget: usize,
    /// The most bytes of schemas in the load of tools by name.
    pub schema_cap: usize,
    /// Space the JSON of answers as Python does, for readers that compare bytes.
    pub python_separators: bool,
    /// Three forwarders instead of one, by what a tool does according to its server's
    /// hints, so that a host's rules for approval keep their meaning.
    pub split_calls: bool,
    /// A search tool beside the load tool. Its answers are compact (names, arguments, what
    /// each does), and change no byte of the request. The shelf needs an index for it.
    pub search: bool,
}

impl Default for DispatchOptions {
    fn default() -> Self {
        Self {
            header: None,
            catalog_budget: None,
            schema_budget: DEFAULT_SCHEMA_BUDGET,
            schema_cap: DEFAULT_NAMED_CAP,
            python_separators: false,
            split_calls: false,
            search: false,
        }
    }
}

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: "dispatch",
    provider: env!("CARGO_PKG_NAME"),
    about: "A frozen catalog; schemas come in answers, calls go through deferred_tool_call.",
    build: Builder::Strategy(|options| {
        Ok(Arc::new(Dispatch::new(read_options("dispatch", options)?)))
    }),
    options: options_schema::<DispatchOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The strategy `dispatch`.
#[derive(Debug, Clone, Default)]
pub struct Dispatch {
    options: DispatchOptions,
}

impl Dispatch {
    /// The strategy with options.
    pub fn new(options: DispatchOptions) -> Self {
        Self { options }
    }

    fn how(&self) -> load::How {
        load::How {
            whole: Schemas::Whole {
                budget: self.options.schema_budget,
            },
            named: Schemas::Named {
                cap: self.options.schema_cap,
            },
            call_as: false,
            separators: if self.options.python_separators {
                Separators::Python
            } else {
                Separators::Compact
            },
        }
    }

    fn catalog(&self, cx: &Cx<'_>) -> String {
        let mut view = CatalogView {
            groups: listing::catalog_groups(cx),
            header: self.options.header.as_deref(),
            budget: self.options.catalog_budget,
        };
        match cx.placement {
            Placement::SystemPrompt => {
                let own = DispatchCatalog::default();
                cx.catalog.unwrap_or(&own).render(&view).text
            }
            Placement::McpServer => {
                let describe = if self.options.split_calls {
                    texts::load_tools_split_gateway
                } else {
                    texts::load_tools_gateway
                };
                view.budget = Some(listing::gateway_budget(view.budget, describe));
                let own = GatewayCatalog::default();
                cx.catalog.unwrap_or(&own).render(&view).text
            }
        }
    }

    fn own_slots(&self, cx: &Cx<'_>, catalog: &str) -> Result<Vec<ToolSlot>, Error> {
        let split = self.options.split_calls;
        let load = match (cx.placement, split) {
            (Placement::SystemPrompt, false) => texts::load_tools_dispatch()?,
            (Placement::McpServer, false) => texts::load_tools_gateway(catalog)?,
            (Placement::SystemPrompt, true) => texts::load_tools_split()?,
            (Placement::McpServer, true) => texts::load_tools_split_gateway(catalog)?,
        };
        let mut slots = vec![ToolSlot::own(load)];
        if self.options.search {
            slots.insert(
                0,
                ToolSlot::own(texts::search_tools_dispatch(search::forms(cx))?),
            );
        }
        if split {
            slots.extend(texts::split_calls()?.map(ToolSlot::own));
        } else {
            slots.push(ToolSlot::own(texts::deferred_tool_call()?));
        }
        Ok(slots)
    }

    /// The names of the tools that are there besides the host's.
    fn own_names(&self) -> &'static [&'static str] {
        const ALL: &[&str] = &[
            SEARCH_TOOLS,
            LOAD_TOOLS,
            DEFERRED_TOOL_READ,
            DEFERRED_TOOL_WRITE,
            DEFERRED_TOOL_DESTROY,
        ];
        match (self.options.split_calls, self.options.search) {
            (true, true) => ALL,
            (true, false) => &ALL[1..],
            (false, true) => &[SEARCH_TOOLS, LOAD_TOOLS, DEFERRED_TOOL_CALL],
            (false, false) => &[LOAD_TOOLS, DEFERRED_TOOL_CALL],
        }
    }

    fn search(&self, cx: &Cx<'_>, arguments: &Value) -> Step<Resolution> {
        let searched = match search::search(cx, arguments, search::RESULTS, |_| true) {
            Step::Need(needs) => return Step::Need(needs),
            Step::Done(Err(text)) => return Step::Done(Resolution::Answer(Answer::error(text))),
            Step::Done(Ok(searched)) => searched,
        };
        let mut lines = searched.remarks(cx);
        if !searched.pinned.is_empty() {
            let pinned = searched.pinned.iter().map(|tool| &*tool.wire_name);
            lines.insert(0, texts::already_loaded(&pinned.collect::<Vec<_>>()));
        }
        if !searched.tools.is_empty() {
            let tools = searched.tools.iter();
            let hits: Vec<_> = tools
                .map(|tool| (&tool.key, &**tool.definition()))
                .collect();
            // All lines together keep the bound.
            let others = lines.iter().map(|line| line.len() + 1).sum();
            let room = texts::MAX_ANSWER_BYTES.saturating_sub(others);
            let told = if searched.ranked {
                texts::found_tools(&searched.query, &hits, room)
            } else {
                texts::selected_tools(&searched.query, &hits, room)
            };
            lines.insert(0, told);
        }
        Step::Done(Resolution::Answer(Answer {
            content: vec![ContentBlock::text(lines.join("\n"))],
            premature: searched.premature(cx),
            ..Answer::default()
        }))
    }

    fn own_tool(
        &self,
        cx: &Cx<'_>,
        state: &State,
        name: &str,
        arguments: &Value,
    ) -> Option<Step<Resolution>> {
        match name {
            LOAD_TOOLS => Some(load::resolve(cx, state, arguments, self.how())),
            SEARCH_TOOLS if self.options.search => Some(self.search(cx, arguments)),
            _ => None,
        }
    }

    /// What a forwarder of this name reaches; nothing when it is not one of ours.
    fn reach(&self, name: &str) -> Option<Reach> {
        if self.options.split_calls {
            Reach::of(name)
        } else {
            (name == DEFERRED_TOOL_CALL).then_some(Reach::All)
        }
    }
}

impl Strategy for Dispatch {
    fn name(&self) -> &str {
        "dispatch"
    }

    fn own_tools(&self) -> Vec<String> {
        self.own_names().iter().map(ToString::to_string).collect()
    }

    fn stable(&self) -> bool {
        true
    }

    fn surface(&self, cx: &Cx<'_>, _state: &State) -> Step<Surface> {
        let mut tools = match cx.eager_slots(self.own_names()) {
            Ok(slots) => slots,
            Err(needs) => return Step::Need(needs),
        };
        let catalog = self.catalog(cx);
        // The definitions of the own tools are constants but for the catalog, which is
        // escaped as JSON; they can always be made.
        if let Ok(own) = self.own_slots(cx, &catalog) {
            tools.extend(own);
        }
        let in_prompt = cx.placement == Placement::SystemPrompt && !catalog.is_empty();
        Step::Done(Surface {
            tools,
            prompt_section: in_prompt.then(|| Arc::from(catalog)),
            instructions: Some(Arc::from(texts::instructions_dispatch(
                self.options.search,
                self.options.split_calls,
            ))),
            ..Surface::default()
        })
    }

    fn resolve(&self, cx: &Cx<'_>, state: &State, call: &Call) -> Step<Resolution> {
        if let Some(step) = self.own_tool(cx, state, &call.name, &call.arguments) {
            return step;
        }
        let Some(reach) = self.reach(&call.name) else {
            return call::native(cx, call);
        };
        match envelope::open(&call.arguments) {
            Err(error) => Step::Done(Resolution::Answer(Answer::error(error.for_model()))),
            Ok(envelope) => {
                // Models forward the other own tools too; they mean what they say.
                let name = bare_name(&envelope.tool_name).to_owned();
                let mut cx = *cx;
                // What came before went through the forwarder, to whatever tools.
                cx.repeats = 0;
                let cx = &cx;
                let own = match &envelope.arguments {
                    Ok(arguments) => self.own_tool(cx, state, &name, &arguments.clone().into()),
                    Err(text) if name == LOAD_TOOLS => {
                        let error = Answer::error(text.clone());
                        Some(Step::Done(Resolution::Answer(error)))
                    }
                    Err(_) => None,
                };
                own.unwrap_or_else(|| forward::resolve(cx, envelope, reach))
            }
        }
    }
}

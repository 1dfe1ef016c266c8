//! The strategy `menu`: one tool, which lists, describes and calls all others. What a model
//! has not asked for costs nothing, not even a name.
//!
//! ```
//! use outside_menu::{Menu, MenuOptions};
//! use toolshelf_core::{Cx, Groups, State, Step, Strategy};
//! let groups = Groups::new();
//! let menu = Menu::new(MenuOptions::default())?;
//! let Step::Done(surface) = menu.surface(&Cx::new(&groups), &State::new("menu")) else {
//!     unreachable!("no group has to be loaded");
//! };
//! assert_eq!(&*surface.tools[0].name, "menu");
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolshelf_core::text::one_line;
use toolshelf_core::{
    Answer, Availability, Builder, Call, ContentBlock, Cx, Error, JsonText, Lookup, Need, Plugin,
    Resolution, State, Step, Strategy, Surface, ToolDefinition, ToolKey, ToolName, ToolSlot,
    options_schema, read_arguments, read_options,
};

const NAME: &str = "menu";

/// The longest list of names.
const MAX_LINES: usize = 200;
const MAX_LINE_BYTES: usize = 300;

/// The options.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct MenuOptions {
    /// The name of the tool.
    pub tool: String,
}

impl Default for MenuOptions {
    fn default() -> Self {
        let tool = NAME.to_owned();
        Self { tool }
    }
}

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "One tool, which lists, describes and calls all others.",
    build: Builder::Strategy(|options| Ok(Arc::new(Menu::new(read_options(NAME, options)?)?))),
    options: options_schema::<MenuOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The strategy.
#[derive(Debug, Clone)]
pub struct Menu {
    own: ToolSlot,
}

impl Menu {
    /// The strategy with options; an error where no tool can have the name.
    pub fn new(options: MenuOptions) -> Result<Self, Error> {
        let schema = json!({"type": "object", "properties": {
            "tool": {"type": "string", "description": "group/tool; leave out to see all"},
            "input": {"type": "object", "description": "Calls the tool; leave out to see its schema"},
        }});
        let about = "Other tools: lists them, describes one, calls one.";
        let schema = JsonText::from_serialize(&schema)?;
        let definition = ToolDefinition::new(ToolName::new(options.tool)?, about, schema)?;
        let own = ToolSlot::own(definition);
        Ok(Self { own })
    }

    fn list(cx: &Cx<'_>) -> Step<Resolution> {
        let (mut needs, mut lines) = (Vec::new(), Vec::new());
        for (id, entry) in cx.groups.iter().filter(|(_, entry)| cx.shows_group(entry)) {
            let names = cx.shown_names(entry);
            if names.is_none() && matches!(cx.availability(id), Availability::Unsettled) {
                needs.push(Need::Descriptors(id.clone()));
            }
            let line = |name| one_line(&format!("- {id}/{name}"), MAX_LINE_BYTES);
            lines.extend(names.into_iter().flatten().map(line));
        }
        if !needs.is_empty() {
            return Step::Need(needs);
        }
        let more = lines.len().saturating_sub(MAX_LINES);
        lines.truncate(MAX_LINES);
        lines.extend((more > 0).then(|| format!("… and {more} more")));
        answer(format!("Tools:\n{}", lines.join("\n")), false)
    }

    /// A tool that was named, with what it is called with.
    fn tool(cx: &Cx<'_>, key: ToolKey, input: Option<Value>) -> Step<Resolution> {
        let loaded = match cx.availability(&key.group) {
            Availability::Ready(loaded) => loaded,
            Availability::Failed(error) => return answer(error.for_model(), true),
            Availability::Unsettled => {
                let load = Need::Load(key.group.clone());
                return Step::Need(vec![Need::Permit(key), load]);
            }
        };
        let Some(tool) = loaded.get(key.tool.as_str()) else {
            return answer(format!("Group `{}` has no such tool.", key.group), true);
        };
        let Some(input) = input else {
            let about = tool.definition().description().unwrap_or_default();
            let schema = tool.definition().input_schema();
            return answer(format!("{}\n{schema}", one_line(about, 500)), false);
        };
        match read_arguments(Some(input)) {
            Ok((arguments, repair)) => Step::Done(Resolution::Execute {
                key,
                arguments,
                repairs: repair.into_iter().collect(),
            }),
            Err(error) => answer(error.for_model(), true),
        }
    }

    fn named(cx: &Cx<'_>, name: &str, lookup: Lookup, input: Option<Value>) -> Step<Resolution> {
        match lookup {
            Lookup::Found(key) => Self::tool(cx, key, input),
            Lookup::Unknown { ask } if !ask.is_empty() => {
                Step::Need(ask.into_iter().map(Need::Probe).collect())
            }
            Lookup::Unknown { .. } => {
                answer(format!("There is no tool `{}`.", one_line(name, 100)), true)
            }
            Lookup::Ambiguous(keys) => {
                let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
                answer(format!("Several tools: {}.", keys.join(", ")), true)
            }
        }
    }
}

fn answer(text: impl Into<String>, is_error: bool) -> Step<Resolution> {
    Step::Done(Resolution::Answer(Answer {
        content: vec![ContentBlock::text(text)],
        is_error,
        ..Answer::default()
    }))
}

impl Strategy for Menu {
    fn name(&self) -> &str {
        NAME
    }

    fn own_tools(&self) -> Vec<String> {
        vec![self.own.name.to_string()]
    }

    fn stable(&self) -> bool {
        true
    }

    fn surface(&self, cx: &Cx<'_>, _: &State) -> Step<Surface> {
        let mut tools = match cx.eager_slots(&[&*self.own.name]) {
            Ok(slots) => slots,
            Err(needs) => return Step::Need(needs),
        };
        tools.push(self.own.clone());
        Step::Done(Surface {
            tools,
            ..Surface::default()
        })
    }

    fn resolve(&self, cx: &Cx<'_>, _: &State, call: &Call) -> Step<Resolution> {
        if call.name != *self.own.name {
            let lookup = cx.lookup_native(&call.name);
            return match lookup {
                Lookup::Unknown { ask } if ask.is_empty() => Step::Done(Resolution::NotMine),
                lookup => Self::named(cx, &call.name, lookup, Some(call.arguments.clone())),
            };
        }
        let mut arguments = match read_arguments(Some(call.arguments.clone())) {
            Ok((arguments, _)) => arguments,
            Err(error) => return answer(error.for_model(), true),
        };
        match arguments.remove("tool") {
            None | Some(Value::Null) => Self::list(cx),
            Some(Value::String(name)) => {
                Self::named(cx, &name, cx.lookup(&name), arguments.remove("input"))
            }
            Some(_) => answer("`tool` is the name of a tool: `group/tool`.", true),
        }
    }
}

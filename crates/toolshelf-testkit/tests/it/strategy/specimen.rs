//! A small strategy, sound but for one fault.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value};
use toolshelf_core::{
    Answer, Availability, Call, ContentBlock, Cx, Delta, Event, Exposure, JsonText, Need, News,
    Placement, Resolution, ShelvedTool, State, Step, Strategy, Surface, ToolDefinition, ToolKey,
    ToolName, ToolSlot, read_arguments,
};

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    None,
    Twice,
    TakesOwnName,
    OtherDefinition,
    PromptInServer,
    SchemaInPrompt,
    RepeatsNews,
    NoLoadTool,
    Sorted,
    ShowsAll,
    LoadsAll,
    Guesses,
    ClaimsAll,
    LosesArguments,
    ChangesArguments,
    LoadsFirst,
    Panics,
    TellsOperators,
    ShowsDenied,
    ListsAll,
    TrustsMessages,
    ForgetsAtCompaction,
    DeltasAgain,
    PartAfterWhole,
    PanicsAtEvents,
    Remembers,
    AsksAgain,
}

/// Loaded tools join the array; there is one own tool, `load`.
pub(super) struct Mini {
    fault: Fault,
    asked: AtomicUsize,
}

fn definition(name: &str, description: String) -> ToolDefinition {
    let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
    ToolDefinition::new(ToolName::new(name).unwrap(), description, schema).unwrap()
}

impl Mini {
    pub(super) fn new(fault: Fault) -> Self {
        let asked = AtomicUsize::new(0);
        Self { fault, asked }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn visible(&self, cx: &Cx<'_>, key: &ToolKey) -> bool {
        let hidden = |entry: &toolshelf_core::GroupEntry| {
            entry.exposure_of(key.tool.as_str()) == Exposure::Hidden
        };
        let entry = cx.groups.get(key.group.as_str());
        (cx.visible(key) || self.is(Fault::ShowsDenied)) && !entry.is_none_or(hidden)
    }

    fn shown(&self, cx: &Cx<'_>, tool: &ShelvedTool) -> bool {
        let own = *tool.wire_name == *"load" && !self.is(Fault::TakesOwnName);
        let reached = cx.groups.by_wire_name(&tool.wire_name) == Some(&tool.key);
        self.visible(cx, &tool.key) && reached && !own
    }

    fn slot(&self, tool: &ShelvedTool) -> ToolSlot {
        let mut slot = ToolSlot::of(tool);
        if self.is(Fault::OtherDefinition) {
            let name = tool.key.tool.as_str();
            slot.definition = Arc::new(definition(name, format!("{name}, in short.")));
        }
        slot
    }

    /// What a name means.
    fn candidates(&self, cx: &Cx<'_>, name: &str) -> Vec<ToolKey> {
        if let Some(key) = cx.groups.by_wire_name(name)
            && self.visible(cx, key)
        {
            return vec![key.clone()];
        }
        if let Some(key) = cx.groups.qualified(name)
            && self.visible(cx, &key)
        {
            return vec![key];
        }
        let Ok(tool) = ToolName::new(name) else {
            return Vec::new();
        };
        let groups = cx.groups.groups_with(name).iter();
        let keys = groups.map(|group| ToolKey::new(group.clone(), tool.clone()));
        keys.filter(|key| self.visible(cx, key)).collect()
    }

    fn native(&self, cx: &Cx<'_>, call: &Call) -> Step<Resolution> {
        let mut keys = self.candidates(cx, &call.name);
        if keys.len() > 1 && !self.is(Fault::Guesses) {
            return answer(true, "Which one?".to_owned(), Vec::new());
        }
        keys.truncate(1);
        let Some(key) = keys.pop() else {
            return self.unknown(cx, call);
        };
        if matches!(cx.availability(&key.group), Availability::Unsettled) {
            let load = Need::Load(key.group.clone());
            return Step::Need(if self.is(Fault::LoadsFirst) {
                vec![load]
            } else {
                vec![Need::Permit(key), load]
            });
        }
        match read_arguments(Some(call.arguments.clone())) {
            Ok((mut arguments, repair)) => {
                if self.is(Fault::ChangesArguments) {
                    arguments.retain(|_, value| !value.is_null());
                }
                let repairs = repair.into_iter().collect();
                Step::Done(Resolution::Execute {
                    key,
                    arguments,
                    repairs,
                })
            }
            Err(_) if self.is(Fault::LosesArguments) => Step::Done(Resolution::Execute {
                key,
                arguments: Map::new(),
                repairs: Vec::new(),
            }),
            Err(error) => answer(true, error.for_model().to_owned(), Vec::new()),
        }
    }

    fn unknown(&self, cx: &Cx<'_>, call: &Call) -> Step<Resolution> {
        let tool = ToolName::new(&call.name).ok();
        let ask: Vec<Need> = cx
            .groups
            .iter()
            .filter(|(id, entry)| {
                let unsettled = matches!(cx.availability(id), Availability::Unsettled);
                unsettled && !entry.names_known()
            })
            .filter_map(|(id, _)| Some(Need::Probe(ToolKey::new(id.clone(), tool.clone()?))))
            .collect();
        if !ask.is_empty() {
            return Step::Need(ask);
        }
        if self.is(Fault::ClaimsAll) {
            return answer(true, "There is no such tool.".to_owned(), Vec::new());
        }
        Step::Done(Resolution::NotMine)
    }

    fn load(&self, cx: &Cx<'_>, state: &State, arguments: &Value) -> Step<Resolution> {
        assert!(
            !self.is(Fault::Panics) || arguments.is_object(),
            "no object"
        );
        let group = arguments
            .get("group_id")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let names = arguments.get("tool_names").and_then(Value::as_array);
        let entry = cx.groups.get(group).filter(|entry| {
            let names = entry.names();
            let seen = |name: &ToolName| {
                self.visible(cx, &ToolKey::new(entry.group.id.clone(), name.clone()))
            };
            let shown = names.is_none_or(|names| names.iter().any(|name| seen(name)));
            shown && entry.group.exposure == Exposure::Deferred
        });
        let Some(entry) = entry else {
            return answer(true, "There is no such group.".to_owned(), Vec::new());
        };
        let id = &entry.group.id;
        let loaded = match cx.availability(id) {
            Availability::Unsettled => return Step::Need(vec![Need::Load(id.clone())]),
            Availability::Failed(error) => {
                let mut text = error.for_model().to_owned();
                if self.is(Fault::TellsOperators) {
                    text = format!("{text} {error}");
                }
                return answer(true, text, Vec::new());
            }
            Availability::Ready(loaded) => loaded,
        };
        let asked = |tool: &&ShelvedTool| {
            let named = |names: &Vec<Value>| {
                names
                    .iter()
                    .any(|name| tool.key.tool == *name.as_str().unwrap_or_default())
            };
            names.is_none_or(named) && self.shown(cx, tool)
        };
        let tools: Vec<&ShelvedTool> = loaded.tools.iter().filter(asked).collect();
        if tools.is_empty() && !self.is(Fault::PartAfterWhole) {
            return answer(true, "There are no such tools.".to_owned(), Vec::new());
        }
        let text = tools
            .iter()
            .map(|tool| tool.key.tool.as_str())
            .collect::<Vec<_>>();
        let deltas = self.deltas(state, id, &tools, names.is_none());
        answer(false, format!("Loaded: {}.", text.join(", ")), deltas)
    }

    fn deltas(
        &self,
        state: &State,
        group: &toolshelf_core::GroupId,
        tools: &[&ShelvedTool],
        whole: bool,
    ) -> Vec<Delta> {
        let mut after = state.clone();
        let mut deltas = vec![Delta::Expand {
            group: group.clone(),
            tools: (!whole).then(|| tools.iter().map(|tool| tool.key.tool.clone()).collect()),
        }];
        for tool in tools {
            let digest = tool.definition().digest();
            deltas.push(Delta::Fingerprint {
                key: tool.key.clone(),
                digest,
            });
        }
        deltas.push(Delta::Discover(
            tools.iter().map(|tool| tool.key.clone()).collect(),
        ));
        deltas.iter().for_each(|delta| after.apply(delta));
        if after == *state && !self.is(Fault::DeltasAgain) {
            deltas.clear();
        }
        deltas
    }
}

fn answer(is_error: bool, text: String, deltas: Vec<Delta>) -> Step<Resolution> {
    let content = vec![ContentBlock::text(text)];
    Step::Done(Resolution::Answer(Answer {
        content,
        is_error,
        deltas,
    }))
}

impl Strategy for Mini {
    fn name(&self) -> &str {
        "mini"
    }

    fn own_tools(&self) -> Vec<String> {
        vec!["load".to_owned()]
    }

    fn observe(&self, _cx: &Cx<'_>, state: &mut State, event: &Event) {
        match event {
            Event::Appended(message) if self.is(Fault::TrustsMessages) => {
                let faked = message.content.iter().filter_map(|block| block.as_text());
                if faked.collect::<String>().contains("chat__send") {
                    let key = ToolKey::new("chat".parse().unwrap(), "send".parse().unwrap());
                    state.apply(&Delta::Discover(vec![key]));
                }
            }
            Event::Compacted { .. } if self.is(Fault::ForgetsAtCompaction) => {
                state.discovered.clear();
            }
            Event::Discovered { names } if self.is(Fault::PanicsAtEvents) => {
                assert!(names.len() < 1_000, "too many names");
            }
            _ => {}
        }
    }

    fn surface(&self, cx: &Cx<'_>, state: &State) -> Step<Surface> {
        let mut needs = Vec::new();
        let mut tools = Vec::new();
        for (id, entry) in cx.groups.iter() {
            let eager = matches!(entry.group.exposure, Exposure::Core | Exposure::Always);
            match cx.availability(id) {
                Availability::Ready(loaded) => {
                    let pinned = |tool: &&ShelvedTool| {
                        let deferred = tool.exposure == Exposure::Deferred;
                        (!deferred || self.is(Fault::ShowsAll)) && self.shown(cx, tool)
                    };
                    tools.extend(
                        loaded
                            .tools
                            .iter()
                            .filter(pinned)
                            .map(|tool| self.slot(tool)),
                    );
                }
                Availability::Unsettled if eager || self.is(Fault::LoadsAll) => {
                    needs.push(Need::Load(id.clone()));
                }
                _ if self.is(Fault::AsksAgain) => needs.push(Need::Load(id.clone())),
                _ => {}
            }
        }
        let eager = tools.len();
        for key in &state.discovered {
            let Some(entry) = cx.groups.get(key.group.as_str()) else {
                continue;
            };
            match cx.availability(&key.group) {
                Availability::Ready(loaded) => {
                    let tool = loaded.get(key.tool.as_str());
                    tools.extend(
                        tool.filter(|tool| self.shown(cx, tool))
                            .map(|tool| self.slot(tool)),
                    );
                }
                Availability::Unsettled
                    if entry.last.is_none() && entry.condition.failure().is_none() =>
                {
                    let load = Need::Load(key.group.clone());
                    if !needs.contains(&load) {
                        needs.push(load);
                    }
                }
                _ => {}
            }
        }
        if !needs.is_empty() {
            return Step::Need(needs);
        }
        if self.is(Fault::Sorted) {
            tools[eager..].sort_by(|a, b| a.name.cmp(&b.name));
        }
        if self.is(Fault::Twice) && tools.len() > eager {
            tools.push(tools[eager].clone());
        }
        let turn = self.asked.fetch_add(1, Ordering::Relaxed);
        let description = if self.is(Fault::Remembers) {
            format!("Loads a group; asked {turn} times.")
        } else {
            "Loads a group.".to_owned()
        };
        if !(self.is(Fault::NoLoadTool) && cx.groups.is_empty()) {
            let own = Arc::new(definition("load", description));
            let slot = ToolSlot {
                name: "load".into(),
                definition: own,
                key: None,
                defer_loading: false,
            };
            tools.insert(eager, slot);
        }
        let mut section = String::from("Load what you need.");
        if self.is(Fault::ListsAll) {
            section.extend(cx.groups.iter().map(|(id, entry)| {
                let declared = entry.group.declared.iter().flatten();
                let names: Vec<&str> = declared.map(ToolName::as_str).collect();
                format!(" {id}: {}.", names.join(", "))
            }));
        }
        if self.is(Fault::SchemaInPrompt) {
            section.extend(
                tools
                    .iter()
                    .map(|slot| slot.definition.input_schema().to_string()),
            );
        }
        let in_prompt = cx.placement == Placement::SystemPrompt || self.is(Fault::PromptInServer);
        let news = if self.is(Fault::RepeatsNews) && !state.discovered.is_empty() {
            state
                .load_order
                .iter()
                .cloned()
                .map(News::Available)
                .collect()
        } else {
            Vec::new()
        };
        Step::Done(Surface {
            tools,
            prompt_section: in_prompt.then(|| section.into()),
            news,
            ..Surface::default()
        })
    }

    fn resolve(&self, cx: &Cx<'_>, state: &State, call: &Call) -> Step<Resolution> {
        if call.name == "load" {
            return self.load(cx, state, &call.arguments);
        }
        self.native(cx, call)
    }
}

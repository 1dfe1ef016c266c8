//! A small strategy, sound but for one fault.

mod calls;
mod disclosing;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use toolshelf_core::catalog::{CatalogGroup, CatalogView};
use toolshelf_core::{
    Answer, Availability, Call, ContentBlock, Cx, Delta, Event, Exposure, JsonText, Need, News,
    Placement, Resolution, ShelvedTool, State, Step, Strategy, Surface, ToolDefinition, ToolKey,
    ToolName, ToolSlot,
};

/// How it discloses tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// By loads; what is loaded joins the array, or is called by `run`.
    Loads,
    /// By searches; what is found joins the array.
    Searches,
    /// By loads that change no request.
    Stable,
}

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
    NameOfTwoLines,
    OwnToolTwice,
    PrefersBareNames,
    KeepsInInstance,
    ForgetsToLoad,
    LooksAtState,
    ShowsLoaded,
    LoadsSilently,
    NoFingerprints,
    OnePartOnly,
    FillsUp,
    FailedLoadExpands,
    FindsSilently,
    FindsAgain,
    FindsWhatIsThere,
    NothingIsAnError,
    SearchesWithoutIndex,
    RunLosesArguments,
    RunGuesses,
    IgnoresTheFirst,
    CountsEvents,
    IgnoresMarkers,
    ForgetsUnknown,
    TakesBareNames,
    NamesNoGroupInServer,
    UnknownIsNoError,
    OwnFormatInServer,
    ShowsAllToTheFormat,
    CodesNothingFound,
    NeedsTheCodec,
}

/// Shows what was disclosed after its own tools: `load` and `run`, or `find`.
pub(super) struct Mini {
    kind: Kind,
    fault: Fault,
    asked: AtomicUsize,
    told: AtomicUsize,
}

fn definition(name: &str, description: String) -> ToolDefinition {
    let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
    ToolDefinition::new(ToolName::new(name).unwrap(), description, schema).unwrap()
}

impl Mini {
    pub(super) fn new(kind: Kind, fault: Fault) -> Self {
        Self {
            kind,
            fault,
            asked: AtomicUsize::new(0),
            told: AtomicUsize::new(0),
        }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    fn slot(&self, tool: &ShelvedTool) -> ToolSlot {
        let mut slot = ToolSlot::of(tool);
        if self.is(Fault::OtherDefinition) {
            let name = tool.key.tool.as_str();
            slot.definition = Arc::new(definition(name, format!("{name}, in short.")));
        }
        slot
    }
}

fn answer(is_error: bool, text: String, deltas: Vec<Delta>) -> Step<Resolution> {
    let content = vec![ContentBlock::text(text)];
    Step::Done(Resolution::Answer(Answer {
        content,
        is_error,
        deltas,
        ..Answer::default()
    }))
}

impl Mini {
    /// The groups, in the format of the host where it has one.
    fn catalog(&self, cx: &Cx<'_>) -> String {
        let all = self.is(Fault::ShowsAllToTheFormat) && cx.catalog.is_some();
        let shown = cx.groups.iter().filter(|(_, entry)| {
            all || (entry.group.exposure == Exposure::Deferred && cx.shows_group(entry))
        });
        let groups: Vec<CatalogGroup<'_>> = shown
            .map(|(id, entry)| CatalogGroup {
                id,
                title: None,
                description: None,
                names: cx.shown_names(entry),
                partly_loaded: false,
            })
            .collect();
        let own = cx.placement == Placement::McpServer && self.is(Fault::OwnFormatInServer);
        match cx.catalog {
            Some(format) if !own => {
                let view = CatalogView {
                    groups,
                    ..CatalogView::default()
                };
                format!(" {}", format.render(&view).text)
            }
            _ => {
                let ids: Vec<&str> = groups.iter().map(|group| group.id.as_str()).collect();
                format!(" There are {}.", ids.join(", "))
            }
        }
    }
}

impl Strategy for Mini {
    fn name(&self) -> &str {
        if self.is(Fault::NameOfTwoLines) {
            "mi\nni"
        } else {
            "mini"
        }
    }

    fn own_tools(&self) -> Vec<String> {
        let own: &[&str] = match self.kind {
            _ if self.is(Fault::OwnToolTwice) => &["load", "run", "load"],
            Kind::Loads => &["load", "run"],
            Kind::Searches => &["find"],
            Kind::Stable => &["load"],
        };
        own.iter().map(ToString::to_string).collect()
    }

    fn stable(&self) -> bool {
        self.kind == Kind::Stable
    }

    fn observe(&self, cx: &Cx<'_>, state: &mut State, event: &Event) {
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
            Event::Discovered { names } if self.kind == Kind::Searches => {
                self.discover(cx, state, names);
            }
            Event::Compacted {
                marker: Some(marker),
            } if self.kind == Kind::Searches => self.adopt(cx, state, marker),
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
        let mut deltas = Vec::new();
        let mut disclosed = state.discovered.clone();
        let waits = disclosing::waiting(state);
        let (here, later): (Vec<String>, Vec<String>) = waits
            .into_iter()
            .partition(|name| self.known(cx, name).is_some());
        for key in here.iter().filter_map(|name| self.known(cx, name)) {
            if !disclosed.contains(&key) {
                deltas.extend(self.disclosure(cx, &key));
                disclosed.push(key);
            }
        }
        if !here.is_empty() {
            deltas.push(disclosing::keep(later));
        }
        if self.kind == Kind::Stable && !self.is(Fault::LooksAtState) {
            disclosed.clear();
        }
        for key in &disclosed {
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
                    if entry.last.is_none()
                        && entry.condition.failure().is_none()
                        && !self.is(Fault::ForgetsToLoad) =>
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
        let turn = if self.is(Fault::KeepsInInstance) {
            self.asked.load(Ordering::Relaxed)
        } else {
            self.asked.fetch_add(1, Ordering::Relaxed)
        };
        let remembers = self.is(Fault::Remembers) || self.is(Fault::KeepsInInstance);
        let description = if remembers {
            format!("Discloses tools; number {turn}.")
        } else {
            "Discloses tools.".to_owned()
        };
        let groups = self.catalog(cx);
        let in_server = cx.placement == Placement::McpServer;
        let description = if in_server && !self.is(Fault::NamesNoGroupInServer) {
            description + &groups
        } else {
            description
        };
        if !(self.is(Fault::NoLoadTool) && cx.groups.is_empty()) {
            let own = self.own_tools();
            let slots = own
                .iter()
                .map(|name| ToolSlot::own(definition(name, description.clone())));
            let slots: Vec<ToolSlot> = slots
                .take(if self.is(Fault::OwnToolTwice) { 2 } else { 9 })
                .collect();
            tools.splice(eager..eager, slots);
        }
        let mut section = format!("Load what you need.{groups}");
        if self.is(Fault::ListsAll) {
            section.extend(cx.groups.iter().map(|(id, entry)| {
                let declared = entry.group.declared.iter().flatten();
                let names: Vec<&str> = declared.map(ToolName::as_str).collect();
                format!(" {id}: {}.", names.join(", "))
            }));
        }
        if self.is(Fault::ShowsLoaded) {
            let ready =
                |(_, entry): &(_, &toolshelf_core::GroupEntry)| entry.condition.ready().is_some();
            section.push_str(&format!(
                " {} are loaded.",
                cx.groups.iter().filter(ready).count()
            ));
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
            deltas,
            ..Surface::default()
        })
    }

    fn resolve(&self, cx: &Cx<'_>, state: &State, call: &Call) -> Step<Resolution> {
        if !self.own_tools().contains(&call.name) {
            return self.native(cx, call);
        }
        match call.name.as_str() {
            "load" => self.load(cx, state, &call.arguments),
            "find" => self.search(cx, state, &call.arguments),
            _ => self.run(cx, &call.arguments),
        }
    }
}

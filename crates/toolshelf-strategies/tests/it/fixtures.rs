//! Groups, and a driver that meets needs on the spot.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::search::{IndexedTool, SearchIndex};
use toolshelf_core::tokens::TokenCounter;
use toolshelf_core::{
    Access, Answer, Call, Condition, Cx, Error, ErrorKind, Event, Exposure, FnTool, GroupId,
    Groups, JsonText, LoadContext, Loaded, LoadedGroup, Need, Placement, Resolution, Settled,
    State, Step, Strategy, Surface, Tool, ToolDefinition, ToolGroup, ToolKey, ToolName, ToolResult,
};
use toolshelf_search::Lexical;

pub(crate) fn id(group: &str) -> GroupId {
    GroupId::new(group).unwrap()
}

pub(crate) fn key(group: &str, tool: &str) -> ToolKey {
    ToolKey::new(id(group), ToolName::new(tool).unwrap())
}

pub(crate) fn call(name: &str, arguments: Value) -> Call {
    Call {
        id: "call_1".to_owned(),
        name: name.to_owned(),
        arguments,
    }
}

/// A tool as its server describes it.
pub(crate) fn tool(descriptor: &str) -> Arc<dyn Tool> {
    let descriptor = JsonText::parse(descriptor).unwrap();
    let definition = ToolDefinition::from_descriptor(descriptor)
        .unwrap()
        .definition;
    Arc::new(FnTool::new(definition, async |_, _| {
        Ok(ToolResult::text("never called"))
    }))
}

pub(crate) fn tools(names: &[&str]) -> Vec<Arc<dyn Tool>> {
    let describe = |name: &&str| {
        tool(&format!(
            r#"{{"name":"{name}","description":"Does {name}.","inputSchema":{{"type":"object"}}}}"#
        ))
    };
    names.iter().map(describe).collect()
}

/// Groups, and what a load of each would bring.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) groups: Groups,
    loads: BTreeMap<GroupId, Result<Vec<Arc<dyn Tool>>, ErrorKind>>,
    pub(crate) placement: Placement,
    /// Everything that was asked for.
    pub(crate) asked: Vec<Need>,
    /// What a search looks into, which follows the loads.
    pub(crate) index: Option<Lexical>,
    pub(crate) access: Option<Box<dyn Access>>,
    pub(crate) counter: Option<Box<dyn TokenCounter>>,
    pub(crate) context_window: Option<u64>,
    pub(crate) repeats: usize,
}

/// Tools of these names do not exist for the model.
pub(crate) struct Denied(pub(crate) &'static [&'static str]);

impl Access for Denied {
    fn visible(&self, key: &ToolKey) -> bool {
        !self.0.contains(&key.tool.as_str())
    }
}

impl World {
    /// A group that declares what it has.
    pub(crate) fn group(mut self, group: &str, names: &[&str]) -> Self {
        let declared = self.unnamed(group).declared_tools(names).unwrap();
        self.groups.insert(declared).unwrap();
        self.loads.insert(id(group), Ok(tools(names)));
        self
    }

    /// A group that declares nothing.
    pub(crate) fn undeclared(mut self, group: &str, names: &[&str]) -> Self {
        let unnamed = self.unnamed(group);
        self.groups.insert(unnamed).unwrap();
        self.loads.insert(id(group), Ok(tools(names)));
        self
    }

    /// A group that declares names and cannot be loaded.
    pub(crate) fn broken(mut self, group: &str, names: &[&str]) -> Self {
        let declared = self.unnamed(group).declared_tools(names).unwrap();
        self.groups.insert(declared).unwrap();
        self.loads.insert(id(group), Err(ErrorKind::Unavailable));
        self
    }

    /// With an index.
    pub(crate) fn searchable(mut self) -> Self {
        self.index = Some(Lexical::default());
        self
    }

    /// The host's own tools, in every request.
    pub(crate) fn core(mut self, group: &str, names: &[&str]) -> Self {
        let core = ToolGroup::core(id(group), tools(names));
        self.groups.insert(core).unwrap();
        self.loads.insert(id(group), Ok(tools(names)));
        self
    }

    /// Changes a group before anything is loaded of it.
    pub(crate) fn changed(mut self, group: &str, change: impl Fn(&mut ToolGroup)) -> Self {
        let mut changed = (*self.groups.remove(&id(group)).unwrap().group).clone();
        change(&mut changed);
        self.groups.insert(changed).unwrap();
        self
    }

    /// Loads a group, as somebody else would.
    pub(crate) fn loaded(mut self, group: &str) -> Self {
        let _ = self.load(&id(group));
        self
    }

    /// A server leaves; what its group would load stays known.
    pub(crate) fn remove(&mut self, group: &str) {
        self.groups.remove(&id(group)).unwrap();
        if let Some(index) = &self.index {
            index.replace_group(&id(group), Vec::new());
        }
    }

    /// It returns, with these tools.
    pub(crate) fn return_with(&mut self, group: &str, names: &[&str]) {
        if self.groups.get(group).is_none() {
            let unnamed = self.unnamed(group);
            self.groups.insert(unnamed).unwrap();
        }
        self.loads.insert(id(group), Ok(tools(names)));
        self.load(&id(group)).unwrap();
    }

    /// Its server ends.
    pub(crate) fn fail(&mut self, group: &str) {
        self.loads.insert(id(group), Err(ErrorKind::Unavailable));
        let _ = self.load(&id(group));
    }

    /// Gives a group other tools than it declares.
    pub(crate) fn returning(mut self, group: &str, tools: Vec<Arc<dyn Tool>>) -> Self {
        self.loads.insert(id(group), Ok(tools));
        self
    }

    fn unnamed(&self, group: &str) -> ToolGroup {
        // Loads are the driver's; it has no need of a loader.
        ToolGroup::new(id(group), async |_: LoadContext| Ok(Loaded::default()))
    }

    pub(crate) fn cx<'a>(&'a self, settled: &'a Settled) -> Cx<'a> {
        let mut cx = Cx::new(&self.groups);
        cx.settled = Some(settled);
        cx.placement = self.placement;
        cx.index = self.index.as_ref().map(|index| index as &dyn SearchIndex);
        cx.access = self.access.as_deref();
        cx.counter = self.counter.as_deref();
        cx.context_window = self.context_window;
        cx.repeats = self.repeats;
        cx
    }

    /// Meets needs until the planner is done. Asking again for what was settled is a
    /// fault.
    fn drive<T>(&mut self, plan: impl Fn(&Cx<'_>) -> Step<T>) -> T {
        let mut settled = Settled::new();
        loop {
            let needs = match plan(&self.cx(&settled)) {
                Step::Done(done) => return done,
                Step::Need(needs) => needs,
            };
            let before = settled.len();
            for need in needs {
                let group = match &need {
                    Need::Load(group)
                    | Need::Descriptors(group)
                    | Need::Settle(group)
                    | Need::SettleSoon(group) => group,
                    Need::Probe(key) => &key.group,
                    _ => {
                        self.asked.push(need);
                        continue;
                    }
                };
                let ended = self.load(group);
                assert!(
                    settled.insert(group.clone(), ended).is_none(),
                    "{group} was settled already"
                );
                self.asked.push(need);
            }
            assert!(settled.len() > before, "nothing was asked for that settles");
        }
    }

    fn load(&mut self, group: &GroupId) -> Result<Arc<LoadedGroup>, Arc<Error>> {
        let definition = self.groups.get(group.as_str()).unwrap().group.clone();
        match &self.loads[group] {
            Ok(tools) => {
                let loaded = Loaded::new(tools.iter().cloned());
                let loaded = Arc::new(LoadedGroup::new(&definition, loaded).unwrap());
                self.index(&definition, &loaded);
                let ready = Condition::Ready(loaded.clone());
                self.groups.set_condition(group, ready);
                Ok(loaded)
            }
            Err(kind) => {
                let error = Error::new(*kind, "no").for_model_text("It is broken.");
                let error = Arc::new(error);
                let failed = Condition::Failed(error.clone());
                self.groups.set_condition(group, failed);
                Err(error)
            }
        }
    }

    fn index(&self, group: &ToolGroup, loaded: &LoadedGroup) {
        let Some(index) = &self.index else { return };
        let visible = |key| self.access.as_ref().is_none_or(|it| it.visible(key));
        let tools = loaded
            .tools
            .iter()
            .filter(|tool| tool.exposure != Exposure::Hidden && visible(&tool.key));
        let indexed = tools.map(|tool| IndexedTool {
            key: tool.key.clone(),
            definition: tool.definition().clone(),
            group_text: group.title.clone().unwrap_or_default().into(),
        });
        index.replace_group(&group.id, indexed.collect());
    }

    pub(crate) fn surface(&mut self, strategy: &dyn Strategy, state: &State) -> Surface {
        self.drive(|cx| strategy.surface(cx, state))
    }

    pub(crate) fn resolve(
        &mut self,
        strategy: &dyn Strategy,
        state: &State,
        call: &Call,
    ) -> Resolution {
        self.drive(|cx| strategy.resolve(cx, state, call))
    }

    /// The answer of a call that the strategy answers itself.
    pub(crate) fn answer(&mut self, strategy: &dyn Strategy, state: &State, call: &Call) -> Answer {
        match self.resolve(strategy, state, call) {
            Resolution::Answer(answer) => answer,
            other => panic!("{other:?} is no answer"),
        }
    }
}

/// A session without a driver.
pub(crate) struct Live<S> {
    pub(crate) world: World,
    pub(crate) strategy: S,
    pub(crate) state: State,
}

impl<S: Strategy> Live<S> {
    pub(crate) fn new(strategy: S, world: World) -> Self {
        let state = State::new(strategy.name());
        Self {
            world,
            strategy,
            state,
        }
    }

    /// The next request.
    pub(crate) fn surface(&mut self) -> Surface {
        let surface = self.world.surface(&self.strategy, &self.state);
        for delta in &surface.deltas {
            self.state.apply(delta);
        }
        surface
    }

    /// The names in the next request.
    pub(crate) fn offered(&mut self) -> Vec<String> {
        let surface = self.surface();
        offered(&surface).iter().map(ToString::to_string).collect()
    }

    /// A call of a tool that the strategy answers itself.
    pub(crate) fn ask(&mut self, name: &str, arguments: Value) -> Answer {
        let call = call(name, arguments);
        let answer = self.world.answer(&self.strategy, &self.state, &call);
        for delta in &answer.deltas {
            self.state.apply(delta);
        }
        answer
    }

    /// The text that a search answers.
    pub(crate) fn search(&mut self, query: &str) -> String {
        text(&self.ask("search_tools", serde_json::json!({"query": query})))
    }

    pub(crate) fn observe(&mut self, event: &Event) {
        let settled = Settled::new();
        let cx = self.world.cx(&settled);
        self.strategy.observe(&cx, &mut self.state, event);
    }
}

pub(crate) fn text(answer: &Answer) -> String {
    let texts: Vec<&str> = answer
        .content
        .iter()
        .filter_map(|block| block.as_text())
        .collect();
    texts.concat()
}

/// The JSON of an answer to `load_tools`.
pub(crate) fn json_of(answer: &Answer) -> Value {
    serde_json::from_str(&text(answer)).unwrap()
}

pub(crate) fn offered(surface: &Surface) -> Vec<&str> {
    surface.tools.iter().map(|slot| &*slot.name).collect()
}

//! Groups that need no server, and a driver that meets needs on the spot.
#![allow(
    clippy::expect_used,
    reason = "a helper of a test fails as a test does; what it is given are literals of that test"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use toolshelf_core::catalog::CatalogFormat;
use toolshelf_core::codec::DiscoveryCodec;
use toolshelf_core::search::{IndexedTool, SearchIndex};
use toolshelf_core::tokens::TokenCounter;
use toolshelf_core::{
    Access, Call, Condition, Cx, Error, ErrorKind, Exposure, FnTool, GroupId, Groups, JsonText,
    LoadContext, Loaded, LoadedGroup, Need, Placement, Resolution, Settled, State, Step, Strategy,
    Surface, Tool, ToolDefinition, ToolGroup, ToolKey, ToolName, ToolResult,
};

/// What the error of a group that cannot be loaded tells its operator. No model may read it.
pub const FOR_OPERATORS: &str = "/srv/secret/socket: token=hunter2";

/// What it tells a model.
pub const FOR_MODELS: &str = "It is broken.";

/// How many rounds of needs a planner may have in one step.
const MOST_ROUNDS: usize = 20;

/// A group's id.
///
/// # Panics
///
/// When it is none.
pub fn id(group: &str) -> GroupId {
    GroupId::new(group).expect("an id of a group")
}

/// A tool's identity.
///
/// # Panics
///
/// When one of the names is none.
pub fn key(group: &str, tool: &str) -> ToolKey {
    ToolKey::new(id(group), ToolName::new(tool).expect("a tool's name"))
}

/// A tool as its server describes it, which answers `done`.
///
/// # Panics
///
/// When the descriptor is none.
pub fn tool(descriptor: &str) -> Arc<dyn Tool> {
    let descriptor = JsonText::parse(descriptor).expect("JSON");
    let parsed = ToolDefinition::from_descriptor(descriptor).expect("a descriptor");
    Arc::new(FnTool::new(parsed.definition, async |_, _| {
        Ok(ToolResult::text("done"))
    }))
}

/// Tools of these names, which do what they are called.
///
/// # Panics
///
/// When a name is none.
pub fn tools(names: &[&str]) -> Vec<Arc<dyn Tool>> {
    let describe = |name: &&str| {
        let name = serde_json::Value::from(*name);
        let does = serde_json::Value::from(format!("Does {}.", name.as_str().unwrap_or_default()));
        tool(&format!(
            r#"{{"name":{name},"description":{does},"inputSchema":{{"type":"object"}}}}"#
        ))
    };
    names.iter().map(describe).collect()
}

/// Tools of these names do not exist for the model.
#[derive(Debug, Clone)]
pub struct Denied(pub BTreeSet<String>);

impl Denied {
    /// Denies tools by their names.
    pub fn tools(names: &[&str]) -> Self {
        Self(names.iter().map(ToString::to_string).collect())
    }
}

impl Access for Denied {
    fn visible(&self, key: &ToolKey) -> bool {
        !self.0.contains(key.tool.as_str())
    }
}

/// Groups, and what a load of each brings. It asks a planner as the shelf does and meets its
/// needs at once, without a runtime, and refuses needs that a driver would call a bug.
///
/// ```
/// use toolshelf_core::{Cx, State, Step, Strategy, Surface, Call, Resolution};
/// use toolshelf_testkit::World;
/// # struct Nothing;
/// # impl Strategy for Nothing {
/// #     fn name(&self) -> &str { "nothing" }
/// #     fn own_tools(&self) -> Vec<String> { Vec::new() }
/// #     fn surface(&self, _: &Cx<'_>, _: &State) -> Step<Surface> { Step::Done(Surface::default()) }
/// #     fn resolve(&self, _: &Cx<'_>, _: &State, _: &Call) -> Step<Resolution> { Step::Done(Resolution::NotMine) }
/// # }
/// let mut world = World::default().group("mail", &["send"]).broken("chat", &["say"]);
/// let surface = world.surface(&Nothing, &State::new("nothing"))?;
/// assert!(surface.tools.is_empty() && world.asked.is_empty());
/// # Ok::<(), String>(())
/// ```
#[derive(Default)]
pub struct World {
    /// The groups and their conditions.
    pub groups: Groups,
    loads: BTreeMap<GroupId, Result<Vec<Arc<dyn Tool>>, ErrorKind>>,
    /// Where texts go.
    pub placement: Placement,
    /// Everything that a planner asked for, in order.
    pub asked: Vec<Need>,
    /// What a search looks into. It follows the loads.
    pub index: Option<Arc<dyn SearchIndex>>,
    /// The format of catalogs that the host has chosen.
    pub catalog: Option<Arc<dyn CatalogFormat>>,
    /// How the host wants the answer of a search to name what it found.
    pub codec: Option<Arc<dyn DiscoveryCodec>>,
    /// Which tools exist for the model.
    pub access: Option<Arc<dyn Access>>,
    /// What counts tokens.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// The context window in tokens.
    pub context_window: Option<u64>,
    /// How many calls of the same name came directly before.
    pub repeats: usize,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

/// What a world is made of. Names are literals of a test, so those that are none, and groups
/// that are there already, are panics.
impl World {
    /// A group that declares what it has.
    #[must_use]
    pub fn group(self, group: &str, names: &[&str]) -> Self {
        let declared = unnamed(group).declared_tools(names).expect("tools' names");
        self.with(declared, Ok(tools(names)))
    }

    /// A group that declares nothing.
    #[must_use]
    pub fn undeclared(self, group: &str, names: &[&str]) -> Self {
        self.with(unnamed(group), Ok(tools(names)))
    }

    /// A group that declares names and cannot be loaded.
    #[must_use]
    pub fn broken(self, group: &str, names: &[&str]) -> Self {
        let declared = unnamed(group).declared_tools(names).expect("tools' names");
        self.with(declared, Err(ErrorKind::Unavailable))
    }

    /// The host's own tools, in every request.
    #[must_use]
    pub fn core(self, group: &str, names: &[&str]) -> Self {
        let core = ToolGroup::core(id(group), tools(names));
        self.with(core, Ok(tools(names)))
    }

    /// A group, and what its load brings.
    #[must_use]
    pub fn with(mut self, group: ToolGroup, loads: Result<Vec<Arc<dyn Tool>>, ErrorKind>) -> Self {
        self.loads.insert(group.id.clone(), loads);
        self.groups
            .insert(group)
            .expect("a group that is not there yet");
        self
    }

    /// Changes a group before anything is loaded of it.
    #[must_use]
    pub fn changed(mut self, group: &str, change: impl Fn(&mut ToolGroup)) -> Self {
        let entry = self.groups.remove(&id(group)).expect("a group");
        let mut changed = (*entry.group).clone();
        change(&mut changed);
        self.groups.insert(changed).expect("the group is not there");
        self
    }

    /// Gives a group other tools than it declares.
    #[must_use]
    pub fn returning(mut self, group: &str, tools: Vec<Arc<dyn Tool>>) -> Self {
        self.loads.insert(id(group), Ok(tools));
        self
    }

    /// Loads a group, as somebody else would.
    #[must_use]
    pub fn loaded(mut self, group: &str) -> Self {
        let _ = self.load(&id(group));
        self
    }

    /// With an index.
    #[must_use]
    pub fn indexed(mut self, index: Arc<dyn SearchIndex>) -> Self {
        self.index = Some(index);
        self
    }

    /// With a format of catalogs that the host has chosen.
    #[must_use]
    pub fn formatted(mut self, catalog: Arc<dyn CatalogFormat>) -> Self {
        self.catalog = Some(catalog);
        self
    }

    /// With a codec that the host has chosen.
    #[must_use]
    pub fn encoded(mut self, codec: Arc<dyn DiscoveryCodec>) -> Self {
        self.codec = Some(codec);
        self
    }

    /// With tools that do not exist for the model.
    #[must_use]
    pub fn denying(mut self, names: &[&str]) -> Self {
        self.access = Some(Arc::new(Denied::tools(names)));
        self
    }
}

/// What happens to servers while a session goes on. Groups are named by literals of a test.
impl World {
    /// Loads all groups, as somebody else would.
    pub fn load_all(&mut self) {
        let all: Vec<GroupId> = self.groups.iter().map(|(id, _)| id.clone()).collect();
        for group in all {
            let _ = self.load(&group);
        }
    }

    /// A server leaves; what its group would load stays known.
    pub fn remove(&mut self, group: &str) {
        self.groups.remove(&id(group)).expect("a group");
        if let Some(index) = &self.index {
            index.replace_group(&id(group), Vec::new());
        }
    }

    /// It returns, with these tools.
    pub fn return_with(&mut self, group: &str, names: &[&str]) {
        if self.groups.get(group).is_none() {
            self.groups.insert(unnamed(group)).expect("a new group");
        }
        self.loads.insert(id(group), Ok(tools(names)));
        let _ = self.load(&id(group));
    }

    /// Its server ends.
    pub fn fail(&mut self, group: &str) {
        self.loads.insert(id(group), Err(ErrorKind::Unavailable));
        let _ = self.load(&id(group));
    }

    /// Loads a group, which then is ready or failed.
    ///
    /// # Errors
    ///
    /// That of a group that cannot be loaded.
    pub fn load(&mut self, group: &GroupId) -> Result<Arc<LoadedGroup>, Arc<Error>> {
        let entry = self.groups.get(group.as_str()).expect("a group");
        let definition = entry.group.clone();
        let loaded = match self.loads.get(group) {
            Some(Ok(tools)) => LoadedGroup::new(&definition, Loaded::new(tools.iter().cloned())),
            Some(Err(kind)) => Err(Error::new(*kind, FOR_OPERATORS).for_model_text(FOR_MODELS)),
            None => Err(Error::new(ErrorKind::NotFound, "a group without a load")),
        };
        let (condition, ended) = match loaded.map(Arc::new).map_err(Arc::new) {
            Ok(loaded) => {
                self.index(&definition, &loaded);
                (Condition::Ready(loaded.clone()), Ok(loaded))
            }
            Err(error) => (Condition::Failed(error.clone()), Err(error)),
        };
        self.groups.set_condition(group, condition);
        ended
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
}

/// The driver.
impl World {
    /// What a planner may look at.
    pub fn cx<'a>(&'a self, settled: &'a Settled) -> Cx<'a> {
        let mut cx = Cx::new(&self.groups);
        cx.settled = Some(settled);
        cx.placement = self.placement;
        cx.index = self.index.as_deref();
        cx.catalog = self.catalog.as_deref();
        cx.codec = self.codec.as_deref();
        cx.access = self.access.as_deref();
        cx.counter = self.counter.as_deref();
        cx.context_window = self.context_window;
        cx.repeats = self.repeats;
        cx
    }

    /// The next request.
    ///
    /// # Errors
    ///
    /// What is wrong with the needs of the planner: see [`Self::resolve`].
    pub fn surface(&mut self, strategy: &dyn Strategy, state: &State) -> Result<Surface, String> {
        self.drive(|cx| strategy.surface(cx, state))
    }

    /// What a call means.
    ///
    /// # Errors
    ///
    /// What is wrong with the needs of the planner: none at all, one that was met before or
    /// needs no meeting, one of a group that does not exist, or no end of them.
    pub fn resolve(
        &mut self,
        strategy: &dyn Strategy,
        state: &State,
        call: &Call,
    ) -> Result<Resolution, String> {
        self.drive(|cx| strategy.resolve(cx, state, call))
    }

    fn drive<T>(&mut self, plan: impl Fn(&Cx<'_>) -> Step<T>) -> Result<T, String> {
        let mut settled = Settled::new();
        for _ in 0..MOST_ROUNDS {
            let needs = match plan(&self.cx(&settled)) {
                Step::Done(done) => return Ok(done),
                Step::Need(needs) => needs,
            };
            let before = settled.len();
            let mut round = Settled::new();
            for need in needs {
                if let Some(group) = settles(&need)
                    && !round.contains_key(group)
                {
                    self.may_be_asked(&need, group, &settled)?;
                    round.insert(group.clone(), self.load(group));
                }
                self.asked.push(need);
            }
            settled.append(&mut round);
            if settled.len() == before {
                return Err("it asks for needs of which none settles anything".to_owned());
            }
        }
        Err(format!(
            "it still needs something after {MOST_ROUNDS} rounds"
        ))
    }

    fn may_be_asked(&self, need: &Need, group: &GroupId, settled: &Settled) -> Result<(), String> {
        let Some(entry) = self.groups.get(group.as_str()) else {
            return Err(format!("it asks for {need:?}, and there is no such group"));
        };
        if settled.contains_key(group) {
            return Err(format!(
                "it asks for {need:?} again, which was met in this step"
            ));
        }
        if entry.condition.ready().is_some() {
            return Err(format!("it asks for {need:?} of a group that is ready"));
        }
        Ok(())
    }
}

/// The group that a need settles.
fn settles(need: &Need) -> Option<&GroupId> {
    match need {
        Need::Load(group)
        | Need::Descriptors(group)
        | Need::Settle(group)
        | Need::SettleSoon(group) => Some(group),
        Need::Probe(key) => Some(&key.group),
        _ => None,
    }
}

/// A group of which only the id is known.
pub(crate) fn unnamed(group: &str) -> ToolGroup {
    // Loads are the driver's; it has no need of a loader.
    ToolGroup::new(id(group), async |_: LoadContext| Ok(Loaded::default()))
}

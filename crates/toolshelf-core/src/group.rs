//! Groups of tools, what loads them, and what the shelf knows of them.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use async_trait::async_trait;
use serde_json::Value;

use crate::cancel::Cancellation;
use crate::definition::{Exposure, ToolDefinition};
use crate::error::{Error, ErrorKind};
use crate::id::{GroupId, ToolKey, ToolName};
use crate::naming::{is_legal, wire_name};
use crate::text::first_sentence;
use crate::tool::Tool;

/// The longest summary of a server's instructions, in bytes.
const MAX_SUMMARY_BYTES: usize = 256;

/// What a loader is told.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct LoadContext {
    /// For whom the tools are, where a host serves several.
    pub tenant: Option<Arc<str>>,
    /// Whatever the host wants to hand over.
    pub user_data: Value,
    /// Raised when nobody wants the tools any more.
    pub cancellation: Cancellation,
    /// When the driver gives up.
    pub deadline: Option<Instant>,
}

/// What a loader returns.
#[derive(Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The tools, in the group's order.
    pub tools: Vec<LoadedTool>,
    /// What the server says of itself and of how to use its tools.
    pub server: ServerInfo,
    /// Tools that were left out, with the reason.
    pub set_aside: Vec<SetAside>,
}

impl Loaded {
    /// Tools without anything else.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self {
            tools: tools.into_iter().map(LoadedTool::new).collect(),
            ..Self::default()
        }
    }
}

/// A tool as its loader returned it.
#[derive(Clone)]
#[non_exhaustive]
pub struct LoadedTool {
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// How it is shown, where that differs from its group.
    pub exposure: Option<Exposure>,
}

impl LoadedTool {
    /// A tool that is shown as its group says.
    pub fn new(tool: Arc<dyn Tool>) -> Self {
        Self {
            tool,
            exposure: None,
        }
    }

    /// The tool's definition.
    pub fn definition(&self) -> &Arc<ToolDefinition> {
        self.tool.definition()
    }
}

/// What a server says of itself. Untrusted text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its name.
    pub name: Option<String>,
    /// Its title for people.
    pub title: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// Its website.
    pub website: Option<String>,
    /// How to use its tools.
    pub instructions: Option<String>,
    /// The protocol revision that was agreed upon, such as `2026-07-28`.
    pub protocol: Option<String>,
}

impl ServerInfo {
    /// The first sentence of its instructions, for a catalog whose group has no
    /// description.
    pub fn summary(&self) -> Option<String> {
        let text = first_sentence(self.instructions.as_deref()?, MAX_SUMMARY_BYTES);
        (!text.is_empty()).then_some(text)
    }
}

/// A tool that was left out of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetAside {
    /// Its name, as far as it can be told; untrusted text.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Loads the tools of a group: connects to a server, reads a database, builds them.
///
/// An async closure that takes a [`LoadContext`] is one.
///
/// # Behavior
///
/// * The driver calls `load` at most once at a time for a group, and not again after a
///   success until the group is invalidated.
/// * `load` returns all tools of the group, under their own names and in an order that is the
///   same each time. Names that occur twice are an error of the group
///   ([`ErrorKind::InvalidDefinition`]); the driver checks it.
/// * A load that fails is an error, never an empty list, which would say that there are no
///   tools.
/// * When the context's cancellation is raised or its deadline is over, `load` ends as soon as
///   it can, as [`ErrorKind::Cancelled`] or [`ErrorKind::TimedOut`]; one that is done anyway
///   may return its tools.
/// * `load` may be dropped at any await as well and leaves nothing behind then: no process,
///   no connection that nobody owns. It can be called again afterwards.
/// * A load does not block the thread that polls it, which others work on. It is polled within a
///   tokio runtime by all drivers of ours; work that blocks goes to `tokio::task::spawn_blocking`
///   or to a thread.
/// * What a loader has started ends with it: when it and its tools are dropped, nothing is
///   left.
/// * Errors carry a text for the model that names no secret, no path and no raw URL.
/// * A loader that failed may be asked again, after a back-off that the driver keeps.
#[async_trait]
pub trait ToolLoader: Send + Sync {
    /// Loads the tools.
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error>;
}

#[async_trait]
impl<F, Fut> ToolLoader for F
where
    F: Fn(LoadContext) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Loaded, Error>> + Send,
{
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error> {
        self(context).await
    }
}

/// What is shared loads as what it holds, as [`Registry::loader`](crate::Registry::loader)
/// returns it.
#[async_trait]
impl<T: ToolLoader + ?Sized> ToolLoader for Arc<T> {
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error> {
        self.as_ref().load(context).await
    }
}

/// A group of tools that are loaded together.
///
/// ```
/// use toolshelf_core::{GroupId, Loaded, LoadContext, ToolGroup};
/// let group = ToolGroup::new(GroupId::new("mcp:github")?, async |_context: LoadContext| {
///     Ok(Loaded::default())
/// })
/// .title("GitHub")
/// .description("Issues, PRs, repos, code search")
/// .declared_tools(["create_issue", "search_repos"])?;
/// assert_eq!(group.declared.as_ref().map(Vec::len), Some(2));
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
///
/// A loader of a registry, by its name and with its options:
///
/// ```
/// # use std::sync::Arc;
/// # use toolshelf_core::*;
/// # const PLUGIN: Plugin = Plugin {
/// #     name: "canned",
/// #     provider: "example",
/// #     about: "Tools of a file.",
/// #     build: Builder::Loader(|_| Ok(Arc::new(async |_: LoadContext| Ok(Loaded::default())))),
/// #     options: options_schema::<NoOptions>,
/// # };
/// # let mut registry = Registry::new();
/// # registry.register(PLUGIN)?;
/// let loader = registry.loader("canned", &serde_json::json!({"file": "weather.json"}))?;
/// let group = ToolGroup::new(GroupId::new("weather")?, loader);
/// # assert_eq!(group.id.as_str(), "weather");
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct ToolGroup {
    /// The id that the model uses.
    pub id: GroupId,
    /// A name for people and models.
    pub title: Option<String>,
    /// What the group is for.
    pub description: Option<String>,
    /// The names of its tools in the order in which they are shown; `None` while they
    /// are not known.
    pub declared: Option<Vec<ToolName>>,
    /// How its tools are shown.
    pub exposure: Exposure,
    /// Whether native calls use the bare tool name instead of one made of group and
    /// tool, where the bare name is legal. For a host's own tools.
    pub bare_names: bool,
    /// What loads it.
    pub loader: Arc<dyn ToolLoader>,
}

impl ToolGroup {
    /// A deferred group of which only the id is known.
    pub fn new(id: GroupId, loader: impl ToolLoader + 'static) -> Self {
        Self {
            id,
            title: None,
            description: None,
            declared: None,
            exposure: Exposure::Deferred,
            bare_names: false,
            loader: Arc::new(loader),
        }
    }

    /// A host's own tools: shown in every request under their bare names.
    pub fn core(id: GroupId, tools: Vec<Arc<dyn Tool>>) -> Self {
        let declared = tools
            .iter()
            .map(|tool| tool.definition().name().clone())
            .collect();
        let loader = move |_: LoadContext| {
            let tools = tools.clone();
            async move { Ok(Loaded::new(tools)) }
        };
        Self {
            declared: Some(declared),
            exposure: Exposure::Core,
            bare_names: true,
            ..Self::new(id, loader)
        }
    }

    /// Sets the title.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Declares the names of the tools, so that a catalog can list them before the
    /// group is loaded.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDefinition`] when a name is not valid or stands there twice.
    pub fn declared_tools<S: AsRef<str>>(
        mut self,
        names: impl IntoIterator<Item = S>,
    ) -> Result<Self, Error> {
        let mut declared: Vec<ToolName> = Vec::new();
        let mut seen = HashSet::new();
        for name in names {
            let name = ToolName::new(name)?;
            if !seen.insert(name.clone()) {
                return Err(Error::new(
                    ErrorKind::InvalidDefinition,
                    format!("group '{}' declares the tool '{name}' twice", self.id),
                ));
            }
            declared.push(name);
        }
        self.declared = Some(declared);
        Ok(self)
    }
}

impl fmt::Debug for ToolGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolGroup")
            .field("id", &self.id)
            .field("declared", &self.declared)
            .field("exposure", &self.exposure)
            .finish_non_exhaustive()
    }
}

/// A tool on the shelf: loaded, with its identity and its name on the wire.
#[derive(Clone)]
#[non_exhaustive]
pub struct ShelvedTool {
    /// Who it is.
    pub key: ToolKey,
    /// The tool.
    pub tool: Arc<dyn Tool>,
    /// How it is shown.
    pub exposure: Exposure,
    /// Its name in a request's tools array.
    pub wire_name: Arc<str>,
}

impl ShelvedTool {
    /// The tool's definition.
    pub fn definition(&self) -> &Arc<ToolDefinition> {
        self.tool.definition()
    }
}

/// The tools of a group after a load.
#[derive(Clone)]
#[non_exhaustive]
pub struct LoadedGroup {
    /// The tools: those that were declared in the declared order, then the others in
    /// the loader's order.
    pub tools: Vec<ShelvedTool>,
    /// What the server says of itself.
    pub server: ServerInfo,
    /// [`ServerInfo::summary`] of the server.
    pub summary: Option<String>,
    /// Tools that were left out, with the reason.
    pub set_aside: Vec<SetAside>,
    /// Declared names that the loader did not return.
    pub missing: Vec<ToolName>,
    /// Names that the loader returned beyond the declared ones.
    pub undeclared: Vec<ToolName>,
    index: HashMap<ToolName, usize>,
}

impl LoadedGroup {
    /// Brings what a loader returned into order.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDefinition`] when a name occurs twice.
    pub fn new(group: &ToolGroup, loaded: Loaded) -> Result<Self, Error> {
        let mut index: HashMap<ToolName, usize> = HashMap::new();
        for (at, loaded) in loaded.tools.iter().enumerate() {
            let name = loaded.definition().name();
            if index.insert(name.clone(), at).is_some() {
                return Err(Error::new(
                    ErrorKind::InvalidDefinition,
                    format!("the loader of group '{}' returned '{name}' twice", group.id),
                )
                .for_model_text(format!(
                    "Group '{}' cannot be loaded: it offers two tools of the same name.",
                    group.id
                )));
            }
        }
        let declared: &[ToolName] = group.declared.as_deref().unwrap_or_default();
        let mut order: Vec<usize> = Vec::with_capacity(loaded.tools.len());
        let mut missing = Vec::new();
        let mut placed = vec![false; loaded.tools.len()];
        for name in declared {
            match index.get(name) {
                Some(at) if placed[*at] => {}
                Some(at) => {
                    placed[*at] = true;
                    order.push(*at);
                }
                None => missing.push(name.clone()),
            }
        }
        let mut undeclared = Vec::new();
        for (at, tool) in loaded.tools.iter().enumerate() {
            if !placed[at] {
                order.push(at);
                if group.declared.is_some() {
                    undeclared.push(tool.definition().name().clone());
                }
            }
        }
        let tools: Vec<ShelvedTool> = order
            .into_iter()
            .map(|at| {
                let loaded = &loaded.tools[at];
                let name = loaded.definition().name().clone();
                let wire_name = offered_name(&group.id, &name, group.bare_names);
                ShelvedTool {
                    key: ToolKey::new(group.id.clone(), name),
                    tool: loaded.tool.clone(),
                    exposure: loaded.exposure.unwrap_or(group.exposure),
                    wire_name,
                }
            })
            .collect();
        let index = tools
            .iter()
            .enumerate()
            .map(|(at, tool)| (tool.key.tool.clone(), at))
            .collect();
        Ok(Self {
            tools,
            summary: loaded.server.summary(),
            server: loaded.server,
            set_aside: loaded.set_aside,
            missing,
            undeclared,
            index,
        })
    }

    /// Finds a tool by its name.
    pub fn get(&self, name: &str) -> Option<&ShelvedTool> {
        self.index.get(name).map(|at| &self.tools[*at])
    }

    /// The position of a tool in [`LoadedGroup::tools`].
    pub fn position(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }
}

/// The condition of a group.
#[derive(Clone)]
#[non_exhaustive]
pub enum Condition {
    /// Nobody has asked for it yet.
    Declared,
    /// A load is under way.
    Pending,
    /// Loaded.
    Ready(Arc<LoadedGroup>),
    /// The last load failed.
    Failed(Arc<Error>),
    /// Its server wants its user to sign in.
    NeedsSignIn(Arc<Error>),
}

impl Condition {
    /// A word for the condition.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Declared => "declared",
            Self::Pending => "pending",
            Self::Ready(_) => "ready",
            Self::Failed(_) => "failed",
            Self::NeedsSignIn(_) => "needs sign-in",
        }
    }

    /// The tools, when the group is ready.
    pub fn ready(&self) -> Option<&Arc<LoadedGroup>> {
        match self {
            Self::Ready(loaded) => Some(loaded),
            _ => None,
        }
    }

    /// The failure, when there is one.
    pub fn failure(&self) -> Option<&Arc<Error>> {
        match self {
            Self::Failed(error) | Self::NeedsSignIn(error) => Some(error),
            _ => None,
        }
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A group and its condition.
#[derive(Debug, Clone)]
pub struct GroupEntry {
    /// The group.
    pub group: Arc<ToolGroup>,
    /// Its condition.
    pub condition: Condition,
    /// What the last successful load returned, kept while a later one fails, so that
    /// names stay known.
    pub last: Option<Arc<LoadedGroup>>,
}

impl GroupEntry {
    /// The names of its tools in order: what the loader returned after a load, what
    /// was declared before; `None` while nothing is known.
    pub fn names(&self) -> Option<Vec<&ToolName>> {
        match (&self.last, &self.group.declared) {
            (Some(loaded), _) => Some(loaded.tools.iter().map(|tool| &tool.key.tool).collect()),
            (None, Some(declared)) => Some(declared.iter().collect()),
            (None, None) => None,
        }
    }

    /// Whether the names of its tools are known.
    pub fn names_known(&self) -> bool {
        self.last.is_some() || self.group.declared.is_some()
    }

    /// How a tool of the group is shown: as the last load said, also while the group is
    /// not ready; as the group says where there was none.
    pub fn exposure_of(&self, tool: &str) -> Exposure {
        let tool = self.last.as_ref().and_then(|loaded| loaded.get(tool));
        tool.map_or(self.group.exposure, |tool| tool.exposure)
    }
}

impl fmt::Debug for LoadedGroup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.tools.iter().map(|tool| &tool.key))
            .finish()
    }
}

/// The name of a tool on the wire. A bare name that no provider would take is offered
/// under the other form.
fn offered_name(group: &GroupId, tool: &ToolName, bare: bool) -> Arc<str> {
    if bare && is_legal(tool.as_str()) {
        Arc::from(tool.as_str())
    } else {
        Arc::from(wire_name(group, tool))
    }
}

fn owned_names(entry: &GroupEntry) -> Vec<ToolName> {
    entry
        .names()
        .unwrap_or_default()
        .into_iter()
        .cloned()
        .collect()
}

/// All groups of a shelf, indexed by id, by tool name and by wire name. Look-ups do
/// not grow with the number of groups or tools.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    entries: BTreeMap<GroupId, GroupEntry>,
    by_name: HashMap<ToolName, Vec<GroupId>>,
    by_wire_name: HashMap<Arc<str>, ToolKey>,
}

impl Groups {
    /// No groups.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a group.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDefinition`] when the id is taken, or when a declared tool of
    /// it would have the name on the wire that a tool of another group has, which only
    /// bare names can.
    pub fn insert(&mut self, group: ToolGroup) -> Result<(), Error> {
        if self.entries.contains_key(&group.id) {
            return Err(Error::new(
                ErrorKind::InvalidDefinition,
                format!("there are two groups with the id '{}'", group.id),
            ));
        }
        let names: Vec<(ToolName, Arc<str>)> = group
            .declared
            .iter()
            .flatten()
            .map(|name| {
                let wire = offered_name(&group.id, name, group.bare_names);
                (name.clone(), wire)
            })
            .collect();
        for (name, wire) in &names {
            if let Some(other) = self.by_wire_name.get(wire) {
                return Err(Error::new(
                    ErrorKind::InvalidDefinition,
                    format!(
                        "the groups '{}' and '{}' both offer '{wire}': '{}' and '{name}'",
                        other.group, group.id, other.tool
                    ),
                ));
            }
        }
        let id = group.id.clone();
        for (name, wire) in names {
            self.index_name(&id, name, wire);
        }
        self.entries.insert(
            id,
            GroupEntry {
                group: Arc::new(group),
                condition: Condition::Declared,
                last: None,
            },
        );
        Ok(())
    }

    /// Removes a group and everything that points at it.
    pub fn remove(&mut self, id: &GroupId) -> Option<GroupEntry> {
        let entry = self.entries.remove(id)?;
        let names: Vec<ToolName> = owned_names(&entry);
        self.unindex(id, &names, entry.group.bare_names);
        Some(entry)
    }

    /// Sets the condition of a group. After a load its names are those that the loader
    /// returned.
    pub fn set_condition(&mut self, id: &GroupId, condition: Condition) {
        let Some(entry) = self.entries.get_mut(id) else {
            return;
        };
        let Condition::Ready(loaded) = &condition else {
            entry.condition = condition;
            return;
        };
        let before = owned_names(entry);
        entry.last = Some(loaded.clone());
        entry.condition = condition;
        let bare = entry.group.bare_names;
        let after = owned_names(entry);
        if before != after {
            self.unindex(id, &before, bare);
            for name in after {
                let wire = offered_name(id, &name, bare);
                self.index_name(id, name, wire);
            }
        }
    }

    fn unindex(&mut self, id: &GroupId, names: &[ToolName], bare: bool) {
        for name in names {
            if let Some(groups) = self.by_name.get_mut(name) {
                groups.retain(|group| group != id);
                if groups.is_empty() {
                    self.by_name.remove(name);
                }
            }
            let wire = offered_name(id, name, bare);
            if self
                .by_wire_name
                .get(&wire)
                .is_some_and(|key| key.group == *id)
            {
                self.by_wire_name.remove(&wire);
            }
        }
    }

    fn index_name(&mut self, id: &GroupId, name: ToolName, wire: Arc<str>) {
        self.by_wire_name
            .entry(wire)
            .or_insert_with(|| ToolKey::new(id.clone(), name.clone()));
        let groups = self.by_name.entry(name).or_default();
        if let Err(at) = groups.binary_search(id) {
            groups.insert(at, id.clone());
        }
    }

    /// Finds a group.
    pub fn get(&self, id: &str) -> Option<&GroupEntry> {
        self.entries.get(id)
    }

    /// All groups, sorted by id in code point order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&GroupId, &GroupEntry)> {
        self.entries.iter()
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The groups that are known to have a tool of this name, sorted.
    pub fn groups_with(&self, tool: &str) -> &[GroupId] {
        self.by_name.get(tool).map_or(&[], Vec::as_slice)
    }

    /// The tool that has this name on the wire.
    pub fn by_wire_name(&self, name: &str) -> Option<&ToolKey> {
        self.by_wire_name.get(name)
    }

    /// Splits `group/tool`: the group is the longest id of this shelf that is a prefix
    /// up to a `/`. The tool need not exist.
    pub fn qualified(&self, name: &str) -> Option<ToolKey> {
        name.rmatch_indices('/').find_map(|(at, _)| {
            let (id, _) = self.entries.get_key_value(&name[..at])?;
            let tool = ToolName::new(&name[at + 1..]).ok()?;
            Some(ToolKey::new(id.clone(), tool))
        })
    }

    /// A tool that is loaded.
    pub fn tool(&self, key: &ToolKey) -> Option<&ShelvedTool> {
        self.entries
            .get(&key.group)?
            .condition
            .ready()?
            .get(key.tool.as_str())
    }

    /// All names that are known, in no particular order; for suggestions.
    pub fn known_names(&self) -> impl Iterator<Item = &str> {
        self.entries
            .values()
            .filter_map(GroupEntry::names)
            .flatten()
            .map(ToolName::as_str)
    }
}

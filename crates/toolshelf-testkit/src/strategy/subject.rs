//! A strategy under test, and what clauses put before it.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::search::SearchIndex;
use toolshelf_core::{Answer, Call, Resolution, Strategy, ToolKey, wire_name};

use crate::live::{Live, call};
use crate::names::NameIndex;
use crate::world::World;

/// The call that loads a group, or some tools of it.
pub(super) type Load = fn(&str, Option<&[&str]>) -> Call;
type Build = dyn Fn() -> Arc<dyn Strategy> + Send + Sync;
type BuildIndex = dyn Fn() -> Arc<dyn SearchIndex> + Send + Sync;

/// A strategy to be tested, and how a model asks for its own tools.
#[derive(Clone)]
pub struct Subject {
    build: Arc<Build>,
    index: Arc<BuildIndex>,
    pub(super) load: Option<Load>,
    pub(super) search: Option<fn(&str) -> Call>,
    pub(super) forward: Option<fn(&str, Value) -> Call>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject")
            .field("strategy", &self.strategy().name())
            .finish_non_exhaustive()
    }
}

impl Subject {
    /// A strategy; each clause builds its own.
    pub fn new<S: Strategy + 'static>(build: impl Fn() -> S + Send + Sync + 'static) -> Self {
        Self {
            build: Arc::new(move || Arc::new(build())),
            index: Arc::new(|| Arc::new(NameIndex::default())),
            load: None,
            search: None,
            forward: None,
        }
    }

    /// How a model asks for the load of a group, or of some tools of it. A strategy that loads
    /// whole groups only leaves the tools out, and does not declare `parts`.
    #[must_use]
    pub fn load_with(mut self, load: fn(group: &str, tools: Option<&[&str]>) -> Call) -> Self {
        self.load = Some(load);
        self
    }

    /// How a model searches.
    #[must_use]
    pub fn search_with(mut self, search: fn(query: &str) -> Call) -> Self {
        self.search = Some(search);
        self
    }

    /// How a model calls a tool by a name through the forwarder.
    #[must_use]
    pub fn forward_with(mut self, forward: fn(name: &str, arguments: Value) -> Call) -> Self {
        self.forward = Some(forward);
        self
    }

    /// Another index than [`NameIndex`]. It has to find a tool by `group/tool`.
    #[must_use]
    pub fn index<I: SearchIndex + 'static>(
        mut self,
        index: impl Fn() -> I + Send + Sync + 'static,
    ) -> Self {
        self.index = Arc::new(move || Arc::new(index()));
        self
    }

    pub(super) fn strategy(&self) -> Arc<dyn Strategy> {
        (self.build)()
    }

    /// A session that begins, over these groups and an index.
    pub(super) fn live(&self, world: World) -> Live {
        Live::new(self.strategy(), world.indexed((self.index)()))
    }

    /// A session over the groups of a host.
    pub(super) fn host(&self) -> Live {
        self.live(host())
    }

    pub(super) fn loading(&self) -> Result<Load, String> {
        let lacking = "the subject does not say how a group is loaded (`load_with`)";
        self.load.ok_or_else(|| lacking.to_owned())
    }

    pub(super) fn searching(&self) -> Result<fn(&str) -> Call, String> {
        let lacking = "the subject does not say how a model searches (`search_with`)";
        self.search.ok_or_else(|| lacking.to_owned())
    }

    pub(super) fn forwarding(&self) -> Result<fn(&str, Value) -> Call, String> {
        let lacking = "the subject does not say how a call is forwarded (`forward_with`)";
        self.forward.ok_or_else(|| lacking.to_owned())
    }

    /// The call that discloses a tool: a load of it alone, or a search for its name. Nothing
    /// where the strategy has neither.
    pub(super) fn disclosing(&self, key: &ToolKey) -> Option<Call> {
        let load = self
            .load
            .map(|load| load(key.group.as_str(), Some(&[key.tool.as_str()])));
        load.or_else(|| self.search.map(|search| search(&key.to_string())))
    }

    /// Discloses a tool, where the strategy has a way to.
    pub(super) fn disclose(
        &self,
        live: &mut Live,
        key: &ToolKey,
    ) -> Result<Option<Answer>, String> {
        let asked = self.disclosing(key).map(|call| live.answer(&call));
        asked.transpose()
    }

    /// Calls of all kinds: of own tools, of others by each of their names, of none.
    pub(super) fn calls(&self) -> Vec<Call> {
        let mut calls = Vec::new();
        for key in some_tools() {
            calls.extend(self.disclosing(&key));
            calls.push(call(&wire_name(&key.group, &key.tool), arguments()));
            calls.push(call(&key.to_string(), arguments()));
            calls.extend(
                self.forward
                    .map(|forward| forward(&key.to_string(), arguments())),
            );
        }
        for name in [
            "send",
            "read_file",
            "find",
            "fnid",
            "Bash",
            "",
            "mail/nothing",
        ] {
            calls.push(call(name, arguments()));
            calls.extend(self.forward.map(|forward| forward(name, arguments())));
        }
        calls.extend(self.load.map(|load| load("chat", None)));
        calls.extend(self.load.map(|load| load("dead", None)));
        calls.extend(self.load.map(|load| load("nowhere", None)));
        calls.extend(self.search.map(|search| search("nothing of the kind")));
        calls
    }
}

/// The groups of a host: its own tools, two servers that share a tool's name, one of which
/// nothing is known.
pub(super) fn host() -> World {
    World::default()
        .core("host", &["read_file"])
        .group("mail", &["send", "list"])
        .group("chat", &["send", "rooms"])
        .undeclared("files", &["find", "copy"])
}

/// Deferred tools of [`host`], in the order in which clauses disclose them.
pub(super) fn some_tools() -> Vec<ToolKey> {
    [
        ("chat", "rooms"),
        ("mail", "send"),
        ("files", "copy"),
        ("mail", "list"),
        ("chat", "send"),
    ]
    .map(|(group, tool)| crate::world::key(group, tool))
    .to_vec()
}

/// Arguments that are easily spoilt.
pub(super) fn arguments() -> Value {
    serde_json::json!({
        "tool": "not a name",
        "text": "späß \u{1f600}\n{}",
        "number": 1.5,
        "large": 9_007_199_254_740_993_u64,
        "nothing": null,
        "nested": {"arguments": {}, "list": [1, "2", []]},
    })
}

/// What a resolution executes.
pub(super) fn executes(resolution: &Resolution) -> Option<&ToolKey> {
    match resolution {
        Resolution::Execute { key, .. } => Some(key),
        _ => None,
    }
}

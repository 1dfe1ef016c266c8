//! What a session has disclosed, in a form that outlives the process.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, ErrorKind};
use crate::id::{GroupId, ToolKey, ToolName};
use crate::json::Digest;

/// The version of the record that is written.
pub const STATE_VERSION: u32 = 1;

/// The state of a session: what is expanded, in which order it was loaded, what was
/// discovered, and what was decided for good.
///
/// The key `expanded_groups` has the shape of the system that the strategies come
/// from: `null` = the whole group, a list = these tools in the order of their loading,
/// absent = not loaded. A record that holds only this key is read too.
///
/// State is never an authorisation: what it names is looked up and permitted anew.
///
/// ```
/// use toolshelf_core::{Delta, GroupId, State, ToolName};
/// let mut state = State::new("dispatch");
/// let group = GroupId::new("github")?;
/// state.apply(&Delta::Expand { group: group.clone(), tools: Some(vec![ToolName::new("a")?]) });
/// state.apply(&Delta::Expand { group: group.clone(), tools: None });
/// state.apply(&Delta::Expand { group, tools: Some(vec![ToolName::new("b")?]) });
/// assert_eq!(
///     serde_json::to_value(&state).unwrap()["expanded_groups"],
///     serde_json::json!({"github": null})
/// );
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The version of this record.
    #[serde(default = "current_version")]
    pub version: u32,
    /// The strategy that wrote it; empty in records of other systems.
    #[serde(default)]
    pub strategy: String,
    /// What is loaded (see above).
    #[serde(default)]
    pub expanded_groups: BTreeMap<GroupId, Option<Vec<ToolName>>>,
    /// The groups of `expanded_groups` in the order of their first load.
    #[serde(default)]
    pub load_order: Vec<GroupId>,
    /// Tools that were disclosed one by one, by a search or by joining the tools array, in
    /// the order in which they first were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discovered: Vec<ToolKey>,
    /// The definition of each tool as it was when it was disclosed, keyed `group/tool`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fingerprints: BTreeMap<String, Digest>,
    /// Decisions that hold for the life of the session.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub latched: BTreeMap<String, Value>,
    /// Whatever a strategy or a host keeps beside, and fields of other versions.
    #[serde(flatten)]
    pub extensions: BTreeMap<String, Value>,
}

fn current_version() -> u32 {
    STATE_VERSION
}

impl State {
    /// The state of a session that begins.
    pub fn new(strategy: impl Into<String>) -> Self {
        Self {
            version: STATE_VERSION,
            strategy: strategy.into(),
            expanded_groups: BTreeMap::new(),
            load_order: Vec::new(),
            discovered: Vec::new(),
            fingerprints: BTreeMap::new(),
            latched: BTreeMap::new(),
            extensions: BTreeMap::new(),
        }
    }

    /// Checks that a record can be resumed under a strategy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`] when the record is of a newer version or of another
    /// strategy.
    pub fn check(&self, strategy: &str) -> Result<(), Error> {
        if self.version > STATE_VERSION {
            return Err(Error::new(
                ErrorKind::Mismatch,
                format!(
                    "the state has version {}, and this build reads up to {STATE_VERSION}",
                    self.version
                ),
            ));
        }
        if !self.strategy.is_empty() && self.strategy != strategy {
            return Err(Error::new(
                ErrorKind::Mismatch,
                format!(
                    "the state was written by the strategy '{}', not by '{strategy}'; \
                     resume it with the same strategy or begin a new session",
                    self.strategy
                ),
            ));
        }
        Ok(())
    }

    /// Applies one change.
    pub fn apply(&mut self, delta: &Delta) {
        match delta {
            Delta::Expand { group, tools } => self.expand(group, tools.as_deref()),
            Delta::Fingerprint { key, digest } => {
                self.fingerprints.insert(key.to_string(), *digest);
            }
            Delta::Discover(keys) => {
                for key in keys {
                    if !self.discovered.contains(key) {
                        self.discovered.push(key.clone());
                    }
                }
            }
            Delta::Keep { name, value } => {
                self.extensions.insert(name.clone(), value.clone());
            }
            Delta::Latch { name, value } => {
                self.latched
                    .entry(name.clone())
                    .or_insert_with(|| value.clone());
            }
        }
    }

    fn expand(&mut self, group: &GroupId, tools: Option<&[ToolName]>) {
        if !self.expanded_groups.contains_key(group) {
            self.complete_load_order();
            self.load_order.push(group.clone());
        }
        match (self.expanded_groups.get_mut(group), tools) {
            (_, None) => {
                self.expanded_groups.insert(group.clone(), None);
            }
            (Some(None), Some(_)) => {}
            (Some(Some(known)), Some(tools)) => {
                for tool in tools {
                    if !known.contains(tool) {
                        known.push(tool.clone());
                    }
                }
            }
            (None, Some(tools)) => {
                let mut known: Vec<ToolName> = Vec::with_capacity(tools.len());
                for tool in tools {
                    if !known.contains(tool) {
                        known.push(tool.clone());
                    }
                }
                self.expanded_groups.insert(group.clone(), Some(known));
            }
        }
    }

    /// Writes down where the groups of a record without an order stand, so that a later
    /// load comes after them.
    fn complete_load_order(&mut self) {
        if self.load_order.len() >= self.expanded_groups.len() {
            return;
        }
        let order = self.expanded_in_order();
        self.load_order = order.into_iter().map(|(group, _)| group.clone()).collect();
    }

    /// The groups that are expanded, in the order of their first load. Groups of
    /// records without an order follow in the order of their ids.
    pub fn expanded_in_order(&self) -> Vec<(&GroupId, Option<&[ToolName]>)> {
        let mut groups: Vec<&GroupId> = Vec::new();
        for group in self.load_order.iter().chain(self.expanded_groups.keys()) {
            if self.expanded_groups.contains_key(group) && !groups.contains(&group) {
                groups.push(group);
            }
        }
        groups
            .into_iter()
            .filter_map(|group| {
                let tools = self.expanded_groups.get(group)?;
                Some((group, tools.as_deref()))
            })
            .collect()
    }
}

/// One change of a session's state. The driver applies deltas in the order of calls.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// A group was loaded: all of it, or these tools.
    Expand {
        /// The group.
        group: GroupId,
        /// The tools in the order of loading; `None` = all.
        tools: Option<Vec<ToolName>>,
    },
    /// The definition under which a tool was disclosed.
    Fingerprint {
        /// The tool.
        key: ToolKey,
        /// Its digest.
        digest: Digest,
    },
    /// Tools were found by a search, or joined the tools array.
    Discover(Vec<ToolKey>),
    /// What a strategy remembers, in place of what it remembered under the same name. It
    /// stands in [`State::extensions`].
    Keep {
        /// The name. Strategies use names that begin with their own.
        name: String,
        /// What to remember.
        value: Value,
    },
    /// A decision for the life of the session; a second one under the same name
    /// changes nothing.
    Latch {
        /// The name of the decision.
        name: String,
        /// What was decided, and why.
        value: Value,
    },
}

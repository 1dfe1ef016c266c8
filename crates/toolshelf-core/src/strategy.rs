//! The contract of a strategy: a planner that decides and does nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::catalog::CatalogFormat;
use crate::codec::DiscoveryCodec;
use crate::content::ContentBlock;
use crate::definition::ToolDefinition;
use crate::error::Error;
use crate::group::{Groups, LoadedGroup, ShelvedTool};
use crate::id::{GroupId, ToolKey};
use crate::message::Event;
use crate::search::SearchIndex;
use crate::state::{Delta, State};
use crate::tokens::TokenCounter;
use crate::tool::{Arguments, Repair};

/// A call as the model made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The provider's id of the call. It never changes on the way.
    pub id: String,
    /// The name that the model used.
    pub name: String,
    /// What the model gave as arguments: usually an object.
    #[serde(default)]
    pub arguments: Value,
}

/// Something that the planner needs before it can decide.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Need {
    /// The permission to call a tool, asked before anything is loaded for it. When it
    /// is refused, the call ends there and the planner is not asked again.
    Permit(ToolKey),
    /// The names of a group's tools.
    Descriptors(GroupId),
    /// Whether a group whose names are not known has this tool: its names, if calling the
    /// tool is permitted. When it is refused, nothing is loaded, the group counts as failed
    /// in this step, and the planner goes on.
    Probe(ToolKey),
    /// The tools of a group.
    Load(GroupId),
    /// That a load which is under way ends, one way or the other.
    Settle(GroupId),
    /// The same, but not of a load that has been under way for long: where it does not end
    /// soon, the group counts as failed in this step. One that failed before is begun again,
    /// unless that is too short a time ago.
    SettleSoon(GroupId),
}

/// A step of the planner.
#[derive(Debug, Clone, PartialEq)]
pub enum Step<T> {
    /// These needs first, all of them together; then the planner is asked again.
    Need(Vec<Need>),
    /// The decision.
    Done(T),
}

/// Where the texts of a strategy go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Placement {
    /// The catalog is a section of the system prompt.
    #[default]
    SystemPrompt,
    /// The catalog stands in the description of the load tool, since an MCP server has
    /// no system prompt.
    McpServer,
}

/// Which tools exist for the model at all.
///
/// # Behavior
///
/// * A pure function: the same answer for the same key during a session.
/// * A tool that is not visible costs no byte and no rank: no catalog, no search and
///   no suggestion names it.
pub trait Access: Send + Sync {
    /// Whether the tool exists for the model.
    fn visible(&self, key: &ToolKey) -> bool;
}

/// How the loads of one step ended.
pub type Settled = BTreeMap<GroupId, Result<Arc<LoadedGroup>, Arc<Error>>>;

/// Whether a group's tools are there.
#[derive(Debug, Clone, Copy)]
pub enum Availability<'a> {
    /// They are.
    Ready(&'a Arc<LoadedGroup>),
    /// The load that this step needed failed; asking again is for the next step.
    Failed(&'a Arc<Error>),
    /// Not loaded, and not asked for in this step.
    Unsettled,
}

/// What a planner may look at.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Cx<'a> {
    /// The groups and their conditions.
    pub groups: &'a Groups,
    /// How the loads ended that this step asked for.
    pub settled: Option<&'a Settled>,
    /// Which tools exist for the model; `None` = all.
    pub access: Option<&'a dyn Access>,
    /// An index over the tools that exist for the model, where the host has one.
    pub index: Option<&'a dyn SearchIndex>,
    /// The format of catalogs, where the host has chosen one; `None` = the strategy's own.
    pub catalog: Option<&'a dyn CatalogFormat>,
    /// How the answer of a search names what it found, where the host has chosen it; `None` =
    /// the strategy's own way.
    pub codec: Option<&'a dyn DiscoveryCodec>,
    /// The model's context window in tokens, where it is known.
    pub context_window: Option<u64>,
    /// A token counter, where the host has one.
    pub counter: Option<&'a dyn TokenCounter>,
    /// How many calls of the same name came directly before this one, or before those that
    /// are made at the same time as it, without those that ended in an error or came too
    /// early ([`Answer::premature`]); zero outside of a call.
    pub repeats: usize,
    /// Where texts go.
    pub placement: Placement,
}

impl<'a> Cx<'a> {
    /// A context of groups alone.
    pub fn new(groups: &'a Groups) -> Self {
        Self {
            groups,
            settled: None,
            access: None,
            index: None,
            catalog: None,
            codec: None,
            context_window: None,
            counter: None,
            repeats: 0,
            placement: Placement::default(),
        }
    }

    /// Whether the tools of a group are there. A planner asks for a load when they are
    /// unsettled, and not when the load failed already in this step.
    pub fn availability(&self, group: &GroupId) -> Availability<'a> {
        match self.settled.and_then(|settled| settled.get(group)) {
            Some(Ok(loaded)) => Availability::Ready(loaded),
            Some(Err(error)) => Availability::Failed(error),
            None => match self
                .groups
                .get(group.as_str())
                .and_then(|entry| entry.condition.ready())
            {
                Some(loaded) => Availability::Ready(loaded),
                None => Availability::Unsettled,
            },
        }
    }

    /// Whether a tool exists for the model.
    pub fn visible(&self, key: &ToolKey) -> bool {
        self.access.is_none_or(|access| access.visible(key))
    }
}

/// One place in a request's tools array.
#[derive(Debug, Clone)]
pub struct ToolSlot {
    /// The name under which the tool is offered. Unique in the array.
    pub name: Arc<str>,
    /// The definition. Its own name may differ from `name`.
    pub definition: Arc<ToolDefinition>,
    /// The tool; `None` for a strategy's own tools.
    pub key: Option<ToolKey>,
    /// Whether the provider is asked to keep the definition back until it is referred to.
    pub defer_loading: bool,
}

impl ToolSlot {
    /// The slot of a tool on the shelf.
    pub fn of(tool: &ShelvedTool) -> Self {
        Self {
            name: tool.wire_name.clone(),
            definition: tool.definition().clone(),
            key: Some(tool.key.clone()),
            defer_loading: false,
        }
    }

    /// The slot of a strategy's own tool.
    pub fn own(definition: ToolDefinition) -> Self {
        Self {
            name: Arc::from(definition.name().as_str()),
            definition: Arc::new(definition),
            key: None,
            defer_loading: false,
        }
    }
}

impl PartialEq for ToolSlot {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.key == other.key
            && self.defer_loading == other.defer_loading
            && self.definition.descriptor() == other.definition.descriptor()
    }
}

/// Something that the model should hear of, as data. It travels in answers of own
/// tools or at the end of the history, never in the prefix.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum News {
    /// A group became available.
    Available(GroupId),
    /// A group failed, or wants its user to sign in.
    Unavailable {
        /// The group.
        group: GroupId,
        /// The text for the model.
        reason: String,
    },
    /// A tool that was disclosed does not exist any more.
    Gone(ToolKey),
    /// Nothing is deferred any more: every tool is in the list.
    Inline {
        /// Why.
        reason: String,
    },
}

/// What the next request carries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    /// The tools array, in order.
    pub tools: Vec<ToolSlot>,
    /// The section for the system prompt.
    pub prompt_section: Option<Arc<str>>,
    /// A text on how to use the own tools, for hosts that have a place for it.
    pub instructions: Option<Arc<str>>,
    /// News.
    pub news: Vec<News>,
    /// Changes of the state that making this surface brought.
    pub deltas: Vec<Delta>,
}

/// The system prompt with a strategy's section: `prompt`, an empty line, the section.
/// Without a section the prompt is unchanged, without a prompt the section stands alone.
///
/// ```
/// use toolshelf_core::with_section;
/// assert_eq!(with_section("Be brief.", Some("# Tools")), "Be brief.\n\n# Tools");
/// assert_eq!(with_section("", Some("# Tools")), "# Tools");
/// assert_eq!(with_section("Be brief.", None), "Be brief.");
/// ```
pub fn with_section<'a>(prompt: &'a str, section: Option<&'a str>) -> std::borrow::Cow<'a, str> {
    match (prompt, section.unwrap_or_default()) {
        (prompt, "") => prompt.into(),
        ("", section) => section.into(),
        (prompt, section) => format!("{prompt}\n\n{section}").into(),
    }
}

/// What an incoming call means.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Resolution {
    /// The strategy knows nothing of this name; the host may.
    NotMine,
    /// Execute this tool.
    Execute {
        /// The tool.
        key: ToolKey,
        /// The arguments, decoded but not validated.
        arguments: Arguments,
        /// What was done to them.
        repairs: Vec<Repair>,
    },
    /// The strategy answers itself.
    Answer(Answer),
}

/// An answer of a strategy's own tool.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Text, or references to tools.
    pub content: Vec<ContentBlock>,
    /// Whether it is an error.
    pub is_error: bool,
    /// Whether the same call may have another answer in a moment, since something was not
    /// there yet. Who makes it again does not repeat itself ([`Cx::repeats`]).
    pub premature: bool,
    /// Changes of the state.
    pub deltas: Vec<Delta>,
}

impl Answer {
    /// An error of one text block that changes nothing.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::text(text)],
            is_error: true,
            ..Self::default()
        }
    }
}

/// Decides what a model sees and what its calls mean.
///
/// A strategy does no I/O, holds no lock, reads no clock and validates no arguments;
/// the driver does. It is asked again and again with what it needed until it is done.
///
/// # Behavior
///
/// Each sentence is a clause of the kit for strategies in `toolshelf-testkit`.
///
/// * All methods are pure functions of their arguments: one instance serves many sessions,
///   and they do not see each other.
/// * A need that was met is not asked again in the same step: [`Cx::availability`] tells
///   how it ended, ready or failed, never pending.
/// * `surface`: names of tools are unique and legal for the strictest provider, none is that
///   of an own tool, and each runs the tool that stands there. Definitions are those of
///   the servers, verbatim. When the strategy defers, it has a tool that loads, searches or
///   forwards, and each of these is always in it.
/// * What loads groups is of use to who knows them: the id of each deferred group stands in the
///   prompt section or in the definition of an own tool, as far as a budget of the catalog goes.
///   With [`Placement::McpServer`] there is no section, and the definition has to say it.
/// * A format of catalogs that the host has chosen ([`Cx::catalog`]) is shown what exists for the
///   model and nothing else, and what it makes of that stands in the surface, in either
///   placement. What is found is told by the codec of the host ([`Cx::codec`]), and in the
///   strategy's own way where that writes nothing. A strategy that has no use for one of them
///   does not look at it.
/// * `surface` does not look at the state when `stable` says so, and loads that bring what was
///   declared change no byte of it, so that the driver may make it once.
/// * A surface whose deltas were applied is followed by the same one, without deltas and
///   without news: each thing is said once.
/// * `resolve` returns [`Resolution::NotMine`] for names that it does not know, never
///   another tool. Permission is needed before a load that a call alone causes.
/// * A tool that does not exist for the model, by [`Access`] or because it is hidden, changes
///   no byte of a surface and stands in no answer.
/// * A load stands in the state: by [`Delta::Expand`] the whole group, or the tools that were
///   named by whoever can load parts, and by [`Delta::Fingerprint`] each tool of it. The same load
///   again brings no deltas. One that fails, or of what does not exist, is an error without any.
/// * What joins the tools array does so at its end and keeps its place, also when its server
///   leaves and returns. It is remembered by [`Delta::Discover`].
/// * Changes of the state are returned as deltas and nothing else. Deltas of calls that
///   are made at once, applied in the order of the calls, come to what the calls come to
///   one by one.
/// * A strategy that learns from [`Event::Discovered`] comes by it to the disclosures to which
///   the deltas of the same history come, wherever that is cut. Nothing else that is said
///   in a history discloses anything, and a compaction takes nothing back.
pub trait Strategy: Send + Sync {
    /// The name under which it is chosen and under which its state is written.
    fn name(&self) -> &str;

    /// The names of its own tools, which no other tool may take.
    fn own_tools(&self) -> Vec<String>;

    /// Whether [`Strategy::surface`] is the same all session long, so that the driver
    /// makes it once.
    fn stable(&self) -> bool {
        false
    }

    /// Learns from something that happened.
    fn observe(&self, cx: &Cx<'_>, state: &mut State, event: &Event) {
        let _ = (cx, state, event);
    }

    /// What the next request carries.
    fn surface(&self, cx: &Cx<'_>, state: &State) -> Step<Surface>;

    /// What an incoming call means.
    fn resolve(&self, cx: &Cx<'_>, state: &State, call: &Call) -> Step<Resolution>;
}

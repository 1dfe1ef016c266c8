//! `tst`: a search tool, and what it found.
//!
//! A request holds the tools that are not deferred, the search tool, and the deferred tools
//! that were found, in the order in which they were found first. Which those are is decided
//! here and not by a provider: nothing else is sent.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolshelf_catalog::texts::{self, SEARCH_TOOLS};
use toolshelf_core::{
    Answer, Availability, Builder, Call, Condition, ContentBlock, Cx, Delta, Error, ErrorKind,
    Event, Exposure, Lookup, Need, Plugin, Resolution, ShelvedTool, State, Step, Strategy, Surface,
    ToolKey, ToolSlot, is_legal_wire_name, options_schema, read_options,
};
use toolshelf_discovery::found_line;

use crate::inline;
use crate::told::Told;
use crate::{call, search};

/// Where a session remembers that it gave deferral up, and why.
const FALLBACK: &str = "tst.fallback";

/// Where names wait that were found in a history and belong to no known tool yet.
const WAITING: &str = "tst.waiting";

/// How many of them wait at most.
const MAX_WAITING: usize = 1_000;

/// Options of `tst`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct TstOptions {
    /// The name of the search tool.
    pub search_tool: String,
    /// The hits of a search that does not say how many: 1 to 20.
    #[schemars(range(min = 1, max = 20))]
    pub max_results: usize,
}

impl Default for TstOptions {
    fn default() -> Self {
        Self {
            search_tool: SEARCH_TOOLS.to_owned(),
            max_results: search::RESULTS,
        }
    }
}

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: "tst",
    provider: env!("CARGO_PKG_NAME"),
    about: "A search tool; what it finds joins the tools array and is called directly.",
    build: Builder::Strategy(|options| Ok(Arc::new(Tst::new(read_options("tst", options)?)?))),
    options: options_schema::<TstOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The strategy `tst`.
///
/// # Behavior
///
/// * A request holds the tools that are not deferred, the search tool, and what was found, in
///   the order of its first discovery, whichever servers come and go meanwhile. Names are
///   unique. The search tool is there also when nothing is deferred at present.
/// * What was found and is gone is left out and told once; while its server is away, it stays.
/// * A deferred tool that is called before it was found is loaded and runs. That discovers
///   nothing.
/// * Only answers of the search tool discover, live or by [`Event::Discovered`]; both give the
///   same state. A name of a group that is not loaded yet waits for it.
/// * [`Event::DeferralRefused`] makes the session one with all tools in each request, which is
///   told once.
/// * Groups that can be searched, or not any more, are [`News`](toolshelf_core::News) once, and
///   again after a compaction.
#[derive(Debug, Clone, Default)]
pub struct Tst {
    options: TstOptions,
}

impl Tst {
    /// The strategy with options.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`] when the search tool has a name that no provider takes,
    /// or the number of hits is out of bounds.
    pub fn new(options: TstOptions) -> Result<Self, Error> {
        let invalid = |fault: String| Error::new(ErrorKind::InvalidConfig, fault);
        if !is_legal_wire_name(&options.search_tool) {
            return Err(invalid(format!(
                "searchTool: {:?} is no name for a tool; letters, digits, `_` and `-` are, at most 64",
                options.search_tool
            )));
        }
        if !(1..=texts::MAX_RESULTS).contains(&options.max_results) {
            return Err(invalid(format!(
                "maxResults: {} is not between 1 and {}",
                options.max_results,
                texts::MAX_RESULTS
            )));
        }
        Ok(Self { options })
    }

    /// The names that no tool of a server may have here.
    pub(crate) fn own(&self) -> &str {
        &self.options.search_tool
    }

    pub(crate) fn surface_deferred(&self, cx: &Cx<'_>, state: &State) -> Step<Surface> {
        let mut needs = Vec::new();
        let mut tools = match cx.eager_slots(&[self.own()]) {
            Ok(slots) => slots,
            Err(more) => {
                needs = more;
                Vec::new()
            }
        };
        let discovered = Discovered::collect(cx, state, self.own());
        needs.extend(discovered.needs);
        if !needs.is_empty() {
            return Step::Need(needs);
        }
        if let Ok(own) = texts::search_tools_tst(self.own(), search::forms(cx)) {
            tools.push(ToolSlot::own(own));
        }
        tools.extend(discovered.slots);
        let told = Told::of(state);
        let (news, now) = told.changes(cx, discovered.gone);
        let mut deltas = discovered.deltas;
        deltas.extend((now != told).then(|| now.delta()));
        Step::Done(Surface {
            tools,
            instructions: Some(Arc::from(texts::instructions_tst())),
            news,
            deltas,
            ..Surface::default()
        })
    }

    fn answer(
        cx: &Cx<'_>,
        state: &State,
        searched: &search::Searched<'_>,
        all_in_list: bool,
    ) -> Answer {
        let names: Vec<&str> = searched.tools.iter().map(|tool| &*tool.wire_name).collect();
        let mut content = Vec::new();
        let mut lines = Vec::new();
        let mut deltas = Vec::new();
        if !names.is_empty() {
            // Names on the wire are letters, digits, `_` and `-`, which any codec can hold; one
            // that only reads leaves it to the line.
            match cx.codec.and_then(|codec| codec.write(&names).ok()) {
                Some(written) => content = written,
                None => lines.extend(found_line(&names)),
            }
            for tool in &searched.tools {
                deltas.extend(disclosure(cx, state, &tool.key));
            }
        }
        let known = |tool: &&&ShelvedTool| all_in_list || state.discovered.contains(&tool.key);
        let loaded = searched.tools.iter().filter(known).chain(&searched.pinned);
        let loaded: Vec<&str> = loaded.map(|tool| &*tool.wire_name).collect();
        if !loaded.is_empty() {
            lines.push(texts::already_loaded(&loaded));
        }
        lines.extend(searched.remarks(cx));
        if !lines.is_empty() {
            content.push(ContentBlock::text(lines.join("\n")));
        }
        Answer {
            content,
            premature: searched.premature(cx),
            deltas,
            ..Answer::default()
        }
    }

    /// A search. Where nothing is deferred it is called from habit, and what it finds is
    /// `all_in_list` already.
    pub(crate) fn resolve_search(
        &self,
        cx: &Cx<'_>,
        state: &State,
        call: &Call,
        all_in_list: bool,
    ) -> Step<Resolution> {
        // Where two tools share a name on the wire, the name calls one of them only.
        let reached = |tool: &ShelvedTool| cx.offers(tool) && *tool.wire_name != *self.own();
        match search::search(cx, &call.arguments, self.options.max_results, reached) {
            Step::Need(needs) => Step::Need(needs),
            Step::Done(Err(text)) => Step::Done(Resolution::Answer(Answer::error(text))),
            Step::Done(Ok(searched)) => {
                let answer = Self::answer(cx, state, &searched, all_in_list);
                Step::Done(Resolution::Answer(answer))
            }
        }
    }

    pub(crate) fn learn(cx: &Cx<'_>, state: &mut State, event: &Event) {
        match event {
            Event::Discovered { names } => discover(cx, state, names),
            Event::Compacted { marker } => {
                if let Some(marker) = marker {
                    for key in &marker.discovered {
                        for delta in disclosure(cx, state, key) {
                            state.apply(&delta);
                        }
                    }
                    discover(cx, state, &waiting(marker));
                }
                // What stood in the history of groups is gone with it.
                Told::of(state).forget_groups(state);
            }
            Event::DeferralRefused { reason } => state.apply(&Delta::Latch {
                name: FALLBACK.to_owned(),
                value: Value::from(reason.as_str()),
            }),
            _ => {}
        }
    }

    /// Why this session defers nothing any more.
    pub(crate) fn fallback(state: &State) -> Option<Cow<'_, str>> {
        let reason = state.latched.get(FALLBACK)?;
        Some(
            reason
                .as_str()
                .map_or_else(|| reason.to_string().into(), Cow::from),
        )
    }
}

/// What it changes that a tool joins the list. The definition that the model gets to see is
/// that of the next request, so it is the present one.
fn disclosure(cx: &Cx<'_>, state: &State, key: &ToolKey) -> Vec<Delta> {
    if state.discovered.contains(key) {
        return Vec::new();
    }
    let fingerprint = search::tool(cx, key).map(|tool| Delta::Fingerprint {
        key: key.clone(),
        digest: tool.definition().digest(),
    });
    let discover = Delta::Discover(vec![key.clone()]);
    fingerprint.into_iter().chain([discover]).collect()
}

/// Names that a history shows as found. One that belongs to no known tool may be that of a
/// group which is not loaded yet, and waits.
fn discover(cx: &Cx<'_>, state: &mut State, names: &[String]) {
    let mut waiting = waiting(state);
    let before = waiting.len();
    for name in names {
        match cx.lookup_native(name) {
            Lookup::Found(key) => {
                for delta in disclosure(cx, state, &key) {
                    state.apply(&delta);
                }
            }
            _ if waiting.len() < MAX_WAITING && !waiting.contains(name) => {
                waiting.push(name.clone());
            }
            _ => {}
        }
    }
    if waiting.len() > before {
        state.apply(&Delta::Keep {
            name: WAITING.to_owned(),
            value: Value::from(waiting),
        });
    }
}

fn waiting(state: &State) -> Vec<String> {
    let names = state.extensions.get(WAITING).and_then(Value::as_array);
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

/// The deferred tools that were found, in that order, as far as they still exist.
#[derive(Default)]
struct Discovered {
    slots: Vec<ToolSlot>,
    needs: Vec<Need>,
    gone: Vec<ToolKey>,
    deltas: Vec<Delta>,
}

impl Discovered {
    fn collect(cx: &Cx<'_>, state: &State, own: &str) -> Self {
        let mut found = Self::default();
        for key in &state.discovered {
            found.add(cx, key, own);
        }
        let waiting = waiting(state);
        let (known, rest): (Vec<String>, Vec<String>) = waiting
            .into_iter()
            .partition(|name| matches!(cx.lookup_native(name), Lookup::Found(_)));
        let mut keys: Vec<ToolKey> = Vec::new();
        for name in &known {
            if let Lookup::Found(key) = cx.lookup_native(name)
                && !state.discovered.contains(&key)
                && !keys.contains(&key)
            {
                found.add(cx, &key, own);
                found.deltas.extend(disclosure(cx, state, &key));
                keys.push(key);
            }
        }
        if !known.is_empty() {
            found.deltas.push(Delta::Keep {
                name: WAITING.to_owned(),
                value: Value::from(rest),
            });
        }
        found
    }

    fn add(&mut self, cx: &Cx<'_>, key: &ToolKey, own: &str) {
        // A record may name what does not exist for this model; it is not told of it.
        if !cx.visible(key) || cx.exposure(key) == Some(Exposure::Hidden) {
            return;
        }
        let Some(entry) = cx.groups.get(key.group.as_str()) else {
            self.gone.push(key.clone());
            return;
        };
        let nobody_asked = entry.last.is_none() && matches!(entry.condition, Condition::Declared);
        if nobody_asked && matches!(cx.availability(&key.group), Availability::Unsettled) {
            let load = Need::Load(key.group.clone());
            if !self.needs.contains(&load) {
                self.needs.push(load);
            }
            return;
        }
        match search::tool(cx, key) {
            Some(tool)
                if tool.exposure == Exposure::Deferred
                    && cx.offers(tool)
                    && *tool.wire_name != *own =>
            {
                self.slots.push(ToolSlot::of(tool));
            }
            // Pinned since, so that it is in the list already, or not what its name calls.
            Some(_) => {}
            None if entry.last.is_some() => self.gone.push(key.clone()),
            // Its group has not come yet; it comes with it.
            None => {}
        }
    }
}

impl Strategy for Tst {
    fn name(&self) -> &str {
        "tst"
    }

    fn own_tools(&self) -> Vec<String> {
        vec![self.options.search_tool.clone()]
    }

    fn observe(&self, cx: &Cx<'_>, state: &mut State, event: &Event) {
        Self::learn(cx, state, event);
    }

    fn surface(&self, cx: &Cx<'_>, state: &State) -> Step<Surface> {
        match Self::fallback(state) {
            Some(reason) => inline::surface(cx, state, Some(self.own()), true, Some(&reason)),
            None => self.surface_deferred(cx, state),
        }
    }

    fn resolve(&self, cx: &Cx<'_>, state: &State, call: &Call) -> Step<Resolution> {
        if call.name == self.options.search_tool {
            let all_in_list = Self::fallback(state).is_some();
            return self.resolve_search(cx, state, call, all_in_list);
        }
        call::native(cx, call)
    }
}

//! What a call of the search tool means, for the strategies that have it.

use std::collections::BTreeSet;

use serde_json::Value;
use toolshelf_catalog::texts::{self, DEFAULT_RESULTS, MAX_RESULTS, STREAK};
use toolshelf_core::search::{Found, Hit, Match, QueryForms, SearchIndex, SearchQuery};
use toolshelf_core::{
    Availability, Condition, Cx, Error, Exposure, GroupEntry, GroupId, Lookup, Need, ShelvedTool,
    Step, ToolKey, ToolName, bare_name, read_arguments, wire_name,
};

use crate::near::nearest_tools;

/// How many near names an answer suggests.
const SUGGESTIONS: usize = 5;

/// How many it suggests for each of several.
const SUGGESTIONS_EACH: usize = 3;

/// How many better hits among the tools of every request others are looked for behind.
const MAX_PINNED: usize = 20;

/// The longest query that is searched, in bytes.
const MAX_QUERY_BYTES: usize = 2_000;

/// Why a group was not searched that will be there in a moment.
const STARTING: &str = "still starting";

/// How the reason of one begins that could not be loaded.
const FAILED: &str = "failed";

/// What a search came to.
pub(crate) struct Searched<'a> {
    pub(crate) query: String,
    /// The tools, best first.
    pub(crate) tools: Vec<&'a ShelvedTool>,
    /// Those that every request has, best first.
    pub(crate) pinned: Vec<&'a ShelvedTool>,
    /// Names that were asked for and that no tool has.
    absent: Vec<String>,
    /// Groups that could not be searched and that a name which was asked for belongs to.
    away: BTreeSet<GroupId>,
    /// Whether tools were found by how well they fit, so that there may be better ones where
    /// nobody could look.
    pub(crate) ranked: bool,
    /// Arguments that are not known.
    ignored: Vec<String>,
}

/// Searches, after what has to be loaded for it. Tools that cannot be `reached` are no
/// hits. An error is a text for the model.
pub(crate) fn search<'a>(
    cx: &Cx<'a>,
    arguments: &Value,
    max_results: usize,
    reached: impl Fn(&ShelvedTool) -> bool,
) -> Step<Result<Searched<'a>, String>> {
    let (request, ignored) = match read_request(forms(cx), arguments, max_results) {
        Ok(read) => read,
        Err(text) => return Step::Done(Err(text)),
    };
    let Some(index) = cx.index else {
        return Step::Done(Err(texts::no_index()));
    };
    let unread = unread(cx);
    if !unread.is_empty() {
        return Step::Need(unread);
    }
    let found = match find(cx, index, &request) {
        Ok(found) => found,
        Err(error) => return Step::Done(Err(texts::query_refused(error.for_model()))),
    };
    let mut searched = Searched::new(cx, request.text, &found, reached);
    searched.ignored = ignored;
    Step::Done(Ok(searched))
}

/// Searches. Tools that every request has are named beside the others, and take no place from
/// those that have to be found.
fn find(cx: &Cx<'_>, index: &dyn SearchIndex, request: &SearchQuery) -> Result<Found, Error> {
    let is_pinned = |hit: &Hit| cx.exposure(&hit.key) != Some(Exposure::Deferred);
    let mut found = index.search(request)?;
    let places = found.hits.len();
    let mut pinned = found.hits.iter().filter(|hit| is_pinned(hit)).count();
    if pinned == 0 || places < request.limit {
        return Ok(found);
    }
    found = index.search(&SearchQuery {
        limit: request.limit + MAX_PINNED,
        ..request.clone()
    })?;
    let mut deferred = places;
    found.hits.retain(|hit| {
        let left = if is_pinned(hit) {
            &mut pinned
        } else {
            &mut deferred
        };
        let keeps = *left > 0;
        *left = left.saturating_sub(1);
        keeps
    });
    Ok(found)
}

/// What it takes to know the tools of groups that were never loaded, so that the index holds
/// all that the model knows the names of: what is found depends on what else there is.
///
/// A server that hangs must not hold up every search. A group that somebody loads and whose
/// tools are known by name is being read from somewhere near, mostly, for a search that came
/// a moment ago: it is waited for, though not for long, so that searches at the same time
/// answer as they would one after the other. One that nobody knows anything of is not. One
/// that failed is tried again, likewise not for long.
fn unread(cx: &Cx<'_>) -> Vec<Need> {
    let groups = cx.groups.iter();
    groups
        .filter(|(id, entry)| {
            entry.last.is_none()
                && cx.shows_group(entry)
                && matches!(cx.availability(id), Availability::Unsettled)
        })
        .filter_map(|(id, entry)| match entry.condition {
            Condition::Declared => Some(Need::Load(id.clone())),
            Condition::Pending if entry.names_known() => Some(Need::SettleSoon(id.clone())),
            // It may have been mended; the driver knows when it is too early for that.
            Condition::Failed(_) => Some(Need::SettleSoon(id.clone())),
            _ => None,
        })
        .collect()
}

/// A tool as it is now or, while its server is away, as it was. What was found and does not
/// exist for the model is no hit.
pub(crate) fn tool<'a>(cx: &Cx<'a>, key: &ToolKey) -> Option<&'a ShelvedTool> {
    let entry = cx.groups.get(key.group.as_str())?;
    let loaded = match cx.availability(&key.group) {
        Availability::Ready(loaded) => loaded,
        _ => entry.last.as_ref()?,
    };
    loaded.get(key.tool.as_str()).filter(|_| cx.shows(key))
}

impl<'a> Searched<'a> {
    fn new(
        cx: &Cx<'a>,
        query: String,
        found: &Found,
        reached: impl Fn(&ShelvedTool) -> bool,
    ) -> Self {
        let hits = found.hits.iter().filter_map(|hit| tool(cx, &hit.key));
        let (tools, pinned): (Vec<_>, Vec<_>) = hits
            .filter(|tool| reached(tool))
            .partition(|tool| tool.exposure == Exposure::Deferred);
        let mut searched = Self {
            tools,
            pinned: pinned.into_iter().filter(|tool| cx.offers(tool)).collect(),
            absent: Vec::new(),
            away: BTreeSet::new(),
            ranked: found.hits.iter().any(|hit| hit.why != Match::Name),
            ignored: Vec::new(),
            query,
        };
        for name in &found.missing {
            searched.look_up(cx, name);
        }
        if searched.is_empty() && found.missing.is_empty() {
            // The query may be the name of a tool that no index holds.
            let query = searched.query.clone();
            searched.look_up(cx, &query);
            searched.absent.clear();
        }
        searched
    }

    /// A name that the index does not know: that of a tool which every request has, of one
    /// whose group is away, or of none.
    fn look_up(&mut self, cx: &Cx<'a>, name: &str) {
        let found = match cx.lookup_native(name) {
            Lookup::Found(key) => Some(key),
            _ => named_on_the_wire(cx, name),
        };
        let Some(found) = found else {
            return self.absent.push(name.to_owned());
        };
        let entry = cx.groups.get(found.group.as_str());
        match tool(cx, &found) {
            Some(tool) if tool.exposure != Exposure::Deferred && cx.offers(tool) => {
                if !self.pinned.iter().any(|pinned| pinned.key == tool.key) {
                    self.pinned.push(tool);
                }
            }
            None if entry.is_some_and(is_away) && cx.has(&found) != Some(false) => {
                self.away.insert(found.group);
            }
            _ => self.absent.push(name.to_owned()),
        }
    }

    fn lacks_something(&self) -> bool {
        !self.absent.is_empty() || !self.away.is_empty() || self.is_empty()
    }

    fn is_empty(&self) -> bool {
        self.tools.is_empty() && self.pinned.is_empty()
    }

    /// Whether the same search may find in a moment what it did not find now.
    pub(crate) fn premature(&self, cx: &Cx<'_>) -> bool {
        self.lacks_something() && is_any_starting(&self.not_searched(cx))
    }

    /// What an answer says beside the tools, one line each: names that nobody has, where
    /// nothing was found, what had no part in it, and what else to do after many searches.
    pub(crate) fn remarks(&self, cx: &Cx<'_>) -> Vec<String> {
        let mut remarks = Vec::new();
        let away = self.not_searched(cx);
        if !self.absent.is_empty() {
            let near = |name: &String| nearest_tools(cx, name, SUGGESTIONS_EACH);
            let missing = self.absent.iter().map(|name| (name, near(name)));
            remarks.push(texts::missing_tools(&missing.collect::<Vec<_>>()));
        } else if self.is_empty() && self.away.is_empty() {
            let near = nearest_tools(cx, &self.query, SUGGESTIONS);
            remarks.push(texts::no_match(&self.query, &near, away.is_empty()));
        }
        if !away.is_empty() {
            let failed = away.iter().any(|(_, reason)| reason.starts_with(FAILED));
            remarks.push(texts::not_searched(&away, failed));
        }
        if !self.ignored.is_empty() {
            remarks.push(texts::arguments_ignored(&self.ignored));
        }
        // Who waits for a server may ask again.
        if cx.repeats >= STREAK && !is_any_starting(&away) {
            remarks.push(texts::search_streak(cx.repeats + 1));
        }
        remarks
    }

    /// Groups that this search did not see, with the reason, as far as that matters to who
    /// searched: all where something was not found, and where something was those that will
    /// be there in a moment. Those that were asked for come first.
    fn not_searched<'c>(&self, cx: &Cx<'c>) -> Vec<(&'c GroupId, String)> {
        let mut away = Vec::new();
        for (id, entry) in cx.groups.iter() {
            let deferred = entry.group.exposure == Exposure::Deferred;
            if !is_away(entry) || !deferred || !cx.shows_group(entry) {
                continue;
            }
            let failed = |error: &Error| Some(format!("{FAILED}: {}", error.for_model()));
            let reason = match (&entry.condition, cx.availability(id)) {
                (Condition::NeedsSignIn(_), _) => Some("its user has to sign in".to_owned()),
                (Condition::Failed(error), _) => failed(error),
                // One that was not waited for any longer is on its way all the same.
                (Condition::Pending, _) => None,
                (_, Availability::Failed(error)) => failed(error),
                _ => None,
            };
            match reason {
                Some(reason) if self.lacks_something() => away.push((id, reason)),
                None if self.ranked || self.lacks_something() => {
                    away.push((id, STARTING.to_owned()));
                }
                _ => {}
            }
        }
        away.sort_by_key(|(id, _)| !self.away.contains(*id));
        away
    }
}

/// Whether nothing of a group could be searched so far.
fn is_away(entry: &GroupEntry) -> bool {
    entry.last.is_none()
}

fn is_any_starting(away: &[(&GroupId, String)]) -> bool {
    away.iter().any(|(_, reason)| reason == STARTING)
}

/// The tool whose name on the wire this would be, of a group whose names are not known.
fn named_on_the_wire(cx: &Cx<'_>, name: &str) -> Option<ToolKey> {
    let name = bare_name(name);
    let (_, tool) = name.split_once("__")?;
    let tool = ToolName::new(tool).ok()?;
    let unknown = cx.groups.iter().filter(|(_, entry)| !entry.names_known());
    unknown
        .map(|(id, _)| ToolKey::new(id.clone(), tool.clone()))
        .find(|key| wire_name(&key.group, &key.tool) == name && cx.shows(key))
}

/// The forms that the index reads. Without one nothing is read, so nothing is left out.
pub(crate) fn forms(cx: &Cx<'_>) -> QueryForms {
    cx.index.map_or(QueryForms::ALL, SearchIndex::forms)
}

/// The search, and the names of arguments that are not known.
fn read_request(
    forms: QueryForms,
    arguments: &Value,
    max_results: usize,
) -> Result<(SearchQuery, Vec<String>), String> {
    let (arguments, _) =
        read_arguments(Some(arguments.clone())).map_err(|error| error.for_model().to_owned())?;
    let text = match arguments.get("query") {
        Some(Value::String(text)) if !text.trim().is_empty() => text.trim(),
        _ => {
            let came = arguments.keys().filter(|name| *name != "query");
            return Err(texts::query_missing(&sorted(came), forms));
        }
    };
    let limit = match arguments.get("max_results") {
        None | Some(Value::Null) => max_results,
        Some(number) => {
            // Models write numbers as strings, and whole ones with a fraction.
            let read = match number {
                Value::String(text) => text.trim().parse().ok(),
                number => number.as_f64(),
            };
            let whole = read.filter(|number| {
                number.fract() == 0.0 && (1.0..=MAX_RESULTS as f64).contains(number)
            });
            match whole {
                Some(whole) => whole as usize,
                None => return Err(texts::max_results_impossible(&number.to_string())),
            }
        }
    };
    // Cut, its last name could mean another tool.
    if text.len() > MAX_QUERY_BYTES {
        return Err(texts::query_too_long(text.len(), MAX_QUERY_BYTES));
    }
    let known = ["query", "max_results"];
    let unknown = arguments.keys();
    let unknown = sorted(unknown.filter(|name| !known.contains(&name.as_str())));
    let request = SearchQuery {
        text: text.to_owned(),
        limit,
        groups: Vec::new(),
    };
    Ok((request, unknown))
}

/// Names of arguments, which come in the order of some build of the JSON reader.
fn sorted<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort_unstable();
    names
}

/// The hits of a search where nothing else is said.
pub(crate) const RESULTS: usize = DEFAULT_RESULTS;

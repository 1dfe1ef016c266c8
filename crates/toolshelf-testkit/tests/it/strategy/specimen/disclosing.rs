//! How tools are disclosed: by a load, by a search, by what a history tells of it.

use std::sync::atomic::Ordering;

use serde_json::Value;
use toolshelf_core::search::SearchQuery;
use toolshelf_core::{
    Answer, Availability, ContentBlock, Cx, Delta, Exposure, GroupId, Need, Resolution,
    ShelvedTool, State, Step, ToolKey, ToolName,
};

use super::{Fault, Mini, answer};

/// Where names stand that nobody has yet.
const WAITING: &str = "mini.waiting";

/// How many of them.
const MOST_WAITING: usize = 100;

pub(super) fn waiting(state: &State) -> Vec<String> {
    let kept = state.extensions.get(WAITING).and_then(Value::as_array);
    let names = kept.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

pub(super) fn keep(names: Vec<String>) -> Delta {
    Delta::Keep {
        name: WAITING.to_owned(),
        value: Value::from(names),
    }
}

impl Mini {
    pub(super) fn load(&self, cx: &Cx<'_>, state: &State, arguments: &Value) -> Step<Resolution> {
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
            let is_error = !self.is(Fault::UnknownIsNoError);
            return answer(is_error, "There is no such group.".to_owned(), Vec::new());
        };
        let id = &entry.group.id;
        let loaded = match cx.availability(id) {
            Availability::Unsettled => return Step::Need(vec![Need::Load(id.clone())]),
            Availability::Failed(error) => {
                let mut text = error.for_model().to_owned();
                if self.is(Fault::TellsOperators) {
                    text = format!("{text} {error}");
                }
                let deltas = self.is(Fault::FailedLoadExpands).then(|| Delta::Expand {
                    group: id.clone(),
                    tools: None,
                });
                return answer(true, text, Vec::from_iter(deltas));
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
        let text = if self.is(Fault::LoadsSilently) {
            "Loaded.".to_owned()
        } else {
            format!("Loaded: {}.", text.join(", "))
        };
        if self.is(Fault::KeepsInInstance) {
            self.asked.fetch_add(1, Ordering::Relaxed);
        }
        let deltas = self.deltas(state, id, &tools, names.is_none());
        answer(false, text, deltas)
    }

    fn deltas(
        &self,
        state: &State,
        group: &GroupId,
        tools: &[&ShelvedTool],
        whole: bool,
    ) -> Vec<Delta> {
        let known = state.expanded_groups.get(group);
        if known.is_some_and(Option::is_some) && !whole && self.is(Fault::OnePartOnly) {
            return Vec::new();
        }
        let part = !whole || (known.is_some() && self.is(Fault::FillsUp));
        let mut after = state.clone();
        let mut deltas = vec![Delta::Expand {
            group: group.clone(),
            tools: part.then(|| tools.iter().map(|tool| tool.key.tool.clone()).collect()),
        }];
        for tool in tools.iter().filter(|_| !self.is(Fault::NoFingerprints)) {
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

    pub(super) fn search(&self, cx: &Cx<'_>, state: &State, arguments: &Value) -> Step<Resolution> {
        let Some(index) = cx.index else {
            let is_error = !self.is(Fault::SearchesWithoutIndex);
            return answer(is_error, "Nothing can be searched.".to_owned(), Vec::new());
        };
        let shown = cx
            .groups
            .iter()
            .filter(|(_, entry)| entry.group.exposure == Exposure::Deferred);
        let unsettled = shown
            .map(|(id, _)| id)
            .filter(|id| matches!(cx.availability(id), Availability::Unsettled));
        let needs: Vec<Need> = unsettled.cloned().map(Need::Load).collect();
        if !needs.is_empty() {
            return Step::Need(needs);
        }
        let query = SearchQuery {
            text: arguments
                .get("query")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned(),
            limit: 5,
            groups: Vec::new(),
        };
        let found = match index.search(&query) {
            Ok(found) => found,
            Err(error) => return answer(true, error.for_model().to_owned(), Vec::new()),
        };
        let visible = |key: &ToolKey| self.visible(cx, key);
        let keys: Vec<ToolKey> = found
            .hits
            .into_iter()
            .map(|hit| hit.key)
            .filter(visible)
            .collect();
        if keys.is_empty() {
            let is_error = self.is(Fault::NothingIsAnError);
            return answer(is_error, "Nothing of the kind.".to_owned(), Vec::new());
        }
        let names: Vec<String> = keys.iter().map(ToString::to_string).collect();
        let text = if self.is(Fault::FindsSilently) {
            format!("Found {}.", names.len())
        } else {
            format!("Found: {}.", names.join(", "))
        };
        // What is in every request already is named and joins nothing.
        let joins = |key: &&ToolKey| {
            let deferred = cx.exposure(key) == Some(Exposure::Deferred);
            let new = !state.discovered.contains(key) || self.is(Fault::FindsAgain);
            (deferred || self.is(Fault::FindsWhatIsThere)) && new
        };
        let new = keys.iter().filter(joins);
        let deltas = new.flat_map(|key| self.disclosure(cx, key)).collect();
        let written = names.iter().map(String::as_str).collect::<Vec<_>>();
        let written = match self.fault {
            Fault::CodesNothingFound => &written[..0],
            _ => &written,
        };
        let content = match cx.codec.map(|codec| codec.write(written)) {
            Some(Ok(content)) => content,
            Some(Err(error)) if self.is(Fault::NeedsTheCodec) => {
                return answer(true, error.for_model().to_owned(), Vec::new());
            }
            _ => vec![ContentBlock::text(text)],
        };
        Step::Done(Resolution::Answer(Answer {
            content,
            deltas,
            ..Answer::default()
        }))
    }

    /// A tool joins the array.
    pub(super) fn disclosure(&self, cx: &Cx<'_>, key: &ToolKey) -> Vec<Delta> {
        let mut deltas = vec![Delta::Discover(vec![key.clone()])];
        if let Availability::Ready(loaded) = cx.availability(&key.group) {
            let tool = loaded.get(key.tool.as_str());
            deltas.extend(tool.map(|tool| Delta::Fingerprint {
                key: key.clone(),
                digest: tool.definition().digest(),
            }));
        }
        deltas
    }

    /// The tool of a name in full or on the wire, where it is known.
    pub(super) fn known(&self, cx: &Cx<'_>, name: &str) -> Option<ToolKey> {
        let bare = cx.groups.groups_with(name).len() > 1;
        if !(name.contains("__") || name.contains('/') || (bare && self.is(Fault::TakesBareNames)))
        {
            return None;
        }
        let keys = self.candidates(cx, name).into_iter();
        let mut existing = keys.filter(|key| {
            cx.has(key) == Some(true) && cx.exposure(key) == Some(Exposure::Deferred)
        });
        existing.next()
    }

    /// What a history says was found.
    pub(super) fn discover(&self, cx: &Cx<'_>, state: &mut State, names: &[String]) {
        let told = self.told.fetch_add(1, Ordering::Relaxed);
        if self.is(Fault::IgnoresTheFirst) && told == 0 {
            return;
        }
        if self.is(Fault::CountsEvents) {
            let count = state.extensions.get("mini.events").and_then(Value::as_u64);
            let count = Value::from(count.unwrap_or_default() + 1);
            state.extensions.insert("mini.events".to_owned(), count);
        }
        let mut later = waiting(state);
        for name in names {
            if let Some(key) = self.known(cx, name) {
                if !state.discovered.contains(&key) {
                    self.disclosure(cx, &key)
                        .iter()
                        .for_each(|delta| state.apply(delta));
                }
            } else if (name.contains("__") || name.contains('/'))
                && name.len() < 300
                && later.len() < MOST_WAITING
                && !later.contains(name)
                && !self.is(Fault::ForgetsUnknown)
            {
                later.push(name.clone());
            }
        }
        if later != waiting(state) {
            state.apply(&keep(later));
        }
    }

    /// A session that begins where another was compacted.
    pub(super) fn adopt(&self, cx: &Cx<'_>, state: &mut State, marker: &State) {
        if self.is(Fault::IgnoresMarkers) {
            return;
        }
        for key in &marker.discovered {
            self.disclosure(cx, key)
                .iter()
                .for_each(|delta| state.apply(delta));
        }
        let later = waiting(marker);
        if !later.is_empty() {
            self.discover(cx, state, &later);
        }
    }
}

//! What a session has told its model of groups and tools, so that each thing is said once.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use toolshelf_core::{Condition, Cx, Delta, Exposure, GroupEntry, GroupId, News, State, ToolKey};

/// Where it stands in the state.
const TOLD: &str = "tst.told";

/// What the model believes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Told {
    /// Whether a group can be searched, by id.
    groups: BTreeMap<GroupId, bool>,
    /// Tools that were disclosed and do not exist any more.
    gone: BTreeSet<String>,
}

impl Told {
    pub(crate) fn of(state: &State) -> Self {
        // A record that cannot be read costs that things are said again.
        let read = |value| serde_json::from_value(value).ok();
        let kept = state.extensions.get(TOLD).cloned();
        kept.and_then(read).unwrap_or_default()
    }

    pub(crate) fn delta(&self) -> Delta {
        Delta::Keep {
            name: TOLD.to_owned(),
            // Ids and names are strings, so this is an object.
            value: serde_json::to_value(self).unwrap_or_default(),
        }
    }

    /// Forgets what was said of groups, so that it is said again; tools that are gone stay
    /// so for whoever has not heard of them.
    pub(crate) fn forget_groups(mut self, state: &mut State) {
        if !self.groups.is_empty() {
            self.groups.clear();
            state.apply(&self.delta());
        }
    }

    /// What has become of groups and tools since, and what the model believes then.
    pub(crate) fn changes(&self, cx: &Cx<'_>, gone: Vec<ToolKey>) -> (Vec<News>, Self) {
        let mut news = Vec::new();
        let mut now = Self::default();
        for (id, entry) in cx.groups.iter() {
            if entry.group.exposure != Exposure::Deferred || !cx.shows_group(entry) {
                continue;
            }
            let before = self.groups.get(id).copied();
            let is = standing(entry).or(before);
            match (before, is) {
                (None | Some(false), Some(true)) => news.push(News::Available(id.clone())),
                (None | Some(true), Some(false)) => news.push(News::Unavailable {
                    group: id.clone(),
                    reason: reason(entry),
                }),
                _ => {}
            }
            if let Some(is) = is {
                now.groups.insert(id.clone(), is);
            }
        }
        for (id, was) in &self.groups {
            if *was && cx.groups.get(id.as_str()).is_none() {
                news.push(News::Unavailable {
                    group: id.clone(),
                    reason: "It was removed.".to_owned(),
                });
            }
        }
        for key in gone {
            let name = key.to_string();
            if !self.gone.contains(&name) {
                news.push(News::Gone(key));
            }
            now.gone.insert(name);
        }
        (news, now)
    }
}

/// Whether a group can be searched; nothing while that is being found out.
fn standing(entry: &GroupEntry) -> Option<bool> {
    match entry.condition {
        Condition::Ready(_) => Some(true),
        Condition::Failed(_) | Condition::NeedsSignIn(_) => Some(false),
        // What was declared or listed is known, whether or not it is loaded.
        _ if entry.names_known() => Some(true),
        _ => None,
    }
}

fn reason(entry: &GroupEntry) -> String {
    match &entry.condition {
        Condition::NeedsSignIn(_) => "Its user has to sign in.".to_owned(),
        condition => condition
            .failure()
            .map(|error| error.for_model().to_owned())
            .unwrap_or_default(),
    }
}

//! Every tool in the request: `standard`, and what other strategies come to that defer
//! nothing after all.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use toolshelf_catalog::texts;
use toolshelf_core::{
    Availability, Cx, Delta, Exposure, GroupId, Need, News, State, Step, Surface, ToolSlot,
};

/// Where a session remembers what its model was told.
const TOLD: &str = "inline.told";

/// What the model was told.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Told {
    /// That deferral was given up.
    given_up: bool,
    /// Groups whose tools are missing.
    away: BTreeSet<GroupId>,
}

impl Told {
    fn of(state: &State) -> Self {
        // A record that cannot be read costs that things are said again.
        let read = |value| serde_json::from_value(value).ok();
        let kept = state.extensions.get(TOLD).cloned();
        kept.and_then(read).unwrap_or_default()
    }
}

/// The surface of all tools but those that have the name of an `own` one, after groups were
/// `load`ed for it. Where deferral was given up, the reason is said once.
pub(crate) fn surface(
    cx: &Cx<'_>,
    state: &State,
    own: Option<&str>,
    load: bool,
    given_up: Option<&str>,
) -> Step<Surface> {
    let mut needs = Vec::new();
    let mut tools = Vec::new();
    let mut news = Vec::new();
    let told = Told::of(state);
    let mut now = Told {
        given_up: told.given_up,
        ..Told::default()
    };
    for (id, entry) in cx.groups.iter() {
        let failure = match cx.availability(id) {
            Availability::Ready(loaded) => {
                tools.extend(
                    loaded
                        .tools
                        .iter()
                        .filter(|tool| {
                            tool.exposure != Exposure::Hidden
                                && cx.visible(&tool.key)
                                && cx.offers(tool)
                                && own != Some(&*tool.wire_name)
                        })
                        .map(ToolSlot::of),
                );
                continue;
            }
            Availability::Failed(error) => Some(error),
            // One that failed is tried again by a call, not at every turn.
            Availability::Unsettled => entry.condition.failure(),
        };
        match failure {
            Some(_) if entry.group.exposure == Exposure::Hidden => {}
            Some(error) => {
                now.away.insert(id.clone());
                if !told.away.contains(id) {
                    news.push(News::Unavailable {
                        group: id.clone(),
                        reason: error.for_model().to_owned(),
                    });
                }
            }
            None if load => needs.push(Need::Load(id.clone())),
            None => {}
        }
    }
    if !needs.is_empty() {
        return Step::Need(needs);
    }
    if let Some(reason) = given_up
        && !told.given_up
    {
        now.given_up = true;
        news.push(News::Inline {
            reason: reason.to_owned(),
        });
    }
    let changed = (now != told).then(|| Delta::Keep {
        name: TOLD.to_owned(),
        // Ids are strings, so this is an object.
        value: serde_json::to_value(&now).unwrap_or_default(),
    });
    Step::Done(Surface {
        tools,
        instructions: Some(Arc::from(texts::instructions_standard())),
        news,
        deltas: changed.into_iter().collect(),
        ..Surface::default()
    })
}

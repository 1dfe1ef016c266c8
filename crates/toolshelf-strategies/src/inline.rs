//! Every tool in the request: `standard`, and what other strategies come to that defer
//! nothing after all.

use std::sync::Arc;

use toolshelf_catalog::texts;
use toolshelf_core::{
    Availability, Cx, Delta, Exposure, Need, News, State, Step, Surface, ToolSlot,
};

use crate::slots::offered;

/// Where a session remembers that its model was told.
const TOLD: &str = "inline.told";

/// Why all tools are in the request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Inline<'a> {
    /// That is how it was meant.
    Always {
        /// Whether groups are loaded for it.
        load: bool,
    },
    /// Deferral was given up, which is said once.
    Because(&'a str),
}

/// The surface of all tools that are there.
pub(crate) fn surface(cx: &Cx<'_>, state: &State, why: Inline<'_>) -> Step<Surface> {
    let load = !matches!(why, Inline::Always { load: false });
    let mut needs = Vec::new();
    let mut tools = Vec::new();
    let mut news = Vec::new();
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
                                && offered(cx, tool)
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
            Some(error) => news.push(News::Unavailable {
                group: id.clone(),
                reason: error.for_model().to_owned(),
            }),
            None if load => needs.push(Need::Load(id.clone())),
            None => {}
        }
    }
    if !needs.is_empty() {
        return Step::Need(needs);
    }
    let mut deltas = Vec::new();
    if let Inline::Because(reason) = why
        && !state.extensions.contains_key(TOLD)
    {
        news.push(News::Inline {
            reason: reason.to_owned(),
        });
        deltas.push(Delta::Keep {
            name: TOLD.to_owned(),
            value: true.into(),
        });
    }
    Step::Done(Surface {
        tools,
        instructions: Some(Arc::from(texts::instructions_standard())),
        news,
        deltas,
        ..Surface::default()
    })
}

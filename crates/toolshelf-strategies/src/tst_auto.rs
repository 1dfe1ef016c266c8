//! `tst-auto`: defers where that is worth it.
//!
//! All deferrable tools are counted once, at the first request that finds them all there or
//! failed. Once their definitions reach a share of the context window, all of them are
//! deferred as under `tst`; below it all of them are in every request. The decision holds
//! for the session and says why.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolshelf_catalog::texts::SEARCH_TOOLS;
use toolshelf_core::tokens::definition_text;
use toolshelf_core::{
    Availability, Builder, Call, Cx, Delta, Error, ErrorKind, Event, Exposure, Need, Plugin,
    Resolution, ShelvedTool, State, Step, Strategy, Surface, options_schema, read_options,
};

use crate::call;
use crate::inline;
use crate::models::context_window;
use crate::search;
use crate::tst::{Tst, TstOptions};

/// Where the decision stands in [`State::latched`]: `{"defer": bool, "why": string}`.
pub const DECISION: &str = "tst-auto";

/// Options of `tst-auto`.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct TstAutoOptions {
    /// From which share of the context window on tools are deferred, in percent: 1 to 99.
    #[schemars(range(min = 1, max = 99))]
    pub percent: u8,
    /// The model, whose context window is looked up where the host does not say it.
    pub model: Option<String>,
    /// From how many tokens on tools are deferred where no context window is known.
    pub threshold_tokens: u64,
    /// The name of the search tool.
    pub search_tool: String,
    /// The hits of a search that does not say how many: 1 to 20.
    #[schemars(range(min = 1, max = 20))]
    pub max_results: usize,
}

impl Default for TstAutoOptions {
    fn default() -> Self {
        Self {
            percent: 10,
            model: None,
            threshold_tokens: 20_000,
            search_tool: SEARCH_TOOLS.to_owned(),
            max_results: search::RESULTS,
        }
    }
}

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: "tst-auto",
    provider: env!("CARGO_PKG_NAME"),
    about: "As tst once definitions reach a share of the context window, else as standard.",
    build: Builder::Strategy(|options| {
        Ok(Arc::new(TstAuto::new(read_options("tst-auto", options)?)?))
    }),
    options: options_schema::<TstAutoOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The strategy `tst-auto`.
///
/// # Behavior
///
/// * The decision is made at the first request, after every group was loaded or has failed, and
///   holds for the session, whatever is loaded later. It stands with its reason under
///   [`DECISION`].
/// * Definitions that reach the threshold are deferred, all of them: the share `percent` of the
///   context window, rounded down; where no window is known, `threshold_tokens`. The window is
///   that of the session, else that of `model` in the table.
/// * Without a token counter, characters are held against two and a half times the threshold.
/// * Tools that are in every request, or in none, are not counted.
/// * Where it defers it is [`Tst`], else all tools are in each request, as under `standard`.
#[derive(Debug, Clone, Default)]
pub struct TstAuto {
    options: TstAutoOptions,
    tst: Tst,
}

impl TstAuto {
    /// The strategy with options.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`] as [`Tst::new`], and when the share is none.
    pub fn new(options: TstAutoOptions) -> Result<Self, Error> {
        if !(1..=99).contains(&options.percent) {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                format!(
                    "percent: {} is not between 1 and 99; `tst` always defers, `standard` never",
                    options.percent
                ),
            ));
        }
        let mut tst = TstOptions::default();
        tst.search_tool.clone_from(&options.search_tool);
        tst.max_results = options.max_results;
        Ok(Self {
            tst: Tst::new(tst)?,
            options,
        })
    }

    /// The decision of this session, or what it takes to come to one.
    fn decide(&self, cx: &Cx<'_>, state: &State) -> Step<(bool, Option<Delta>)> {
        if let Some(defer) = made(state) {
            return Step::Done((defer, None));
        }
        let tools = match deferrable(cx) {
            Ok(tools) => tools,
            Err(needs) => return Step::Need(needs),
        };
        let window = cx.context_window.or_else(|| {
            let model = self.options.model.as_deref()?;
            context_window(model).map(|known| known.tokens)
        });
        let limit = Limit::new(window, self.options.percent, self.options.threshold_tokens);
        let (defer, why) = match cx.counter {
            Some(counter) => {
                let count = |tool: &&ShelvedTool| counter.count(&text(tool)) as u64;
                limit.reached_by_tokens(tools.iter().map(count).sum())
            }
            None => {
                let count = |tool: &&ShelvedTool| text(tool).chars().count() as u64;
                limit.reached_by_characters(tools.iter().map(count).sum())
            }
        };
        let delta = Delta::Latch {
            name: DECISION.to_owned(),
            value: json!({"defer": defer, "why": why}),
        };
        Step::Done((defer, Some(delta)))
    }
}

/// The decision, where it was made before.
fn made(state: &State) -> Option<bool> {
    let made = state.latched.get(DECISION)?;
    // A record that says nothing else defers: that never costs a whole window.
    Some(made.get("defer").and_then(Value::as_bool).unwrap_or(true))
}

fn text(tool: &ShelvedTool) -> String {
    definition_text(&tool.wire_name, tool.definition())
}

/// The tools that could be deferred. Who is always in the request is not counted.
fn deferrable<'a>(cx: &Cx<'a>) -> Result<Vec<&'a ShelvedTool>, Vec<Need>> {
    let mut tools = Vec::new();
    let mut needs = Vec::new();
    for (id, entry) in cx.groups.iter() {
        // A group of the host's own may hold tools that are deferred all the same.
        if entry.group.exposure == Exposure::Hidden {
            continue;
        }
        match (cx.availability(id), &entry.last) {
            (Availability::Ready(loaded), _) | (_, Some(loaded)) => {
                let deferred = loaded
                    .tools
                    .iter()
                    .filter(|tool| tool.exposure == Exposure::Deferred && cx.visible(&tool.key));
                tools.extend(deferred);
            }
            (Availability::Unsettled, None) if entry.condition.failure().is_none() => {
                needs.push(Need::Load(id.clone()));
            }
            _ => {}
        }
    }
    if needs.is_empty() {
        Ok(tools)
    } else {
        Err(needs)
    }
}

/// From where on tools are deferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Limit {
    window: Option<u64>,
    percent: u8,
    tokens: u64,
}

impl Limit {
    fn new(window: Option<u64>, percent: u8, absolute: u64) -> Self {
        Self {
            window,
            percent,
            tokens: match window {
                // Rounded down; no window is so large that this is too much.
                Some(window) => (u128::from(window) * u128::from(percent) / 100) as u64,
                None => absolute,
            },
        }
    }

    fn reached_by_tokens(self, tokens: u64) -> (bool, String) {
        let reached = tokens >= self.tokens;
        let sign = if reached { "≥" } else { "<" };
        let count = grouped(tokens);
        let why = match self.window {
            Some(window) => {
                let mut share = 1_000.0 * tokens as f64 / (window.max(1)) as f64;
                // What is just below is not shown as if it were there.
                share = if reached {
                    share.round()
                } else {
                    share.floor()
                } / 10.0;
                let of = grouped(window);
                format!(
                    "{count} of {of} tokens = {share:.1} % {sign} {} %",
                    self.percent
                )
            }
            None => format!("{count} tokens {sign} {}", grouped(self.tokens)),
        };
        (reached, why)
    }

    /// Without a counter: two and a half characters count as a token.
    fn reached_by_characters(self, characters: u64) -> (bool, String) {
        let reached = 2 * u128::from(characters) >= 5 * u128::from(self.tokens);
        let sign = if reached { "≥" } else { "<" };
        let limit = u128::from(self.tokens) * 5 / 2;
        let why = format!(
            "{} characters {sign} {} (2.5 × {} tokens)",
            grouped(characters),
            grouped(u64::try_from(limit).unwrap_or(u64::MAX)),
            grouped(self.tokens)
        );
        (reached, why)
    }
}

/// `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl Strategy for TstAuto {
    fn name(&self) -> &str {
        "tst-auto"
    }

    fn own_tools(&self) -> Vec<String> {
        self.tst.own_tools()
    }

    fn observe(&self, cx: &Cx<'_>, state: &mut State, event: &Event) {
        Tst::learn(cx, state, event);
    }

    fn surface(&self, cx: &Cx<'_>, state: &State) -> Step<Surface> {
        if let Some(reason) = Tst::fallback(state)
            && made(state) != Some(false)
        {
            return inline::surface(cx, state, Some(self.tst.own()), true, Some(&reason));
        }
        let (defer, delta) = match self.decide(cx, state) {
            Step::Done(decision) => decision,
            Step::Need(needs) => return Step::Need(needs),
        };
        let surface = if defer {
            self.tst.surface_deferred(cx, state)
        } else {
            inline::surface(cx, state, Some(self.tst.own()), true, None)
        };
        match surface {
            Step::Done(mut surface) => {
                surface.deltas.extend(delta);
                Step::Done(surface)
            }
            need => need,
        }
    }

    fn resolve(&self, cx: &Cx<'_>, state: &State, call: &Call) -> Step<Resolution> {
        if call.name == self.tst.own() {
            let all_in_list = made(state) == Some(false) || Tst::fallback(state).is_some();
            return self.tst.resolve_search(cx, state, call, all_in_list);
        }
        call::native(cx, call)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_reached_not_passed_and_rounded_down() {
        for (window, percent, limit) in [
            (200_000, 10, 20_000),
            (128_000, 10, 12_800),
            (199_999, 10, 19_999),
            (1_000_000, 1, 10_000),
            (99, 1, 0),
            (u64::MAX, 99, (u128::from(u64::MAX) * 99 / 100) as u64),
        ] {
            let it = Limit::new(Some(window), percent, 7);
            assert_eq!(it.tokens, limit, "{percent} % of {window}");
            assert!(it.reached_by_tokens(limit).0);
            assert_eq!(it.reached_by_tokens(limit.saturating_sub(1)).0, limit == 0);
        }
        assert_eq!(Limit::new(None, 10, 7).tokens, 7);
    }

    #[test]
    fn the_decision_says_why() {
        let limit = Limit::new(Some(200_000), 10, 0);
        let (defer, why) = limit.reached_by_tokens(55_100);
        assert!(defer);
        assert_eq!(why, "55,100 of 200,000 tokens = 27.6 % ≥ 10 %");
        let (defer, why) = limit.reached_by_tokens(19_999);
        assert!(!defer);
        assert_eq!(why, "19,999 of 200,000 tokens = 9.9 % < 10 %");
        let (defer, why) = limit.reached_by_characters(50_000);
        assert!(defer);
        assert_eq!(why, "50,000 characters ≥ 50,000 (2.5 × 20,000 tokens)");
        assert!(!limit.reached_by_characters(49_999).0);
        let (defer, why) = Limit::new(None, 10, 20_000).reached_by_tokens(1_234_567);
        assert!(defer);
        assert_eq!(why, "1,234,567 tokens ≥ 20,000");
    }
}

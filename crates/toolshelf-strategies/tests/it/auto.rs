//! `tst-auto`: one decision for a session, by what the definitions would cost.

use std::sync::Arc;

use serde_json::json;
use toolshelf_core::tokens::{TokenCounter, definition_text};
use toolshelf_core::{Condition, Event, Exposure, Need, Settled, Step, Strategy, ToolKey};
use toolshelf_strategies::{TstAuto, TstAutoOptions, tst_auto::DECISION};

use crate::fixtures::{
    Denied, Live, LiveExt, World, WorldExt, begin, call, id, offered, tool, tools,
};

/// A token for each byte.
struct Bytes;

impl TokenCounter for Bytes {
    fn name(&self) -> &str {
        "bytes"
    }

    fn count(&self, text: &str) -> usize {
        text.len()
    }
}

const NAMES: [&str; 3] = ["create_issue", "list_issues", "send"];

/// What the deferrable tools of [`world`] cost, in bytes, which are characters here.
fn cost() -> u64 {
    let texts = tools(&NAMES).into_iter().map(|tool| {
        let wire = toolshelf_core::wire_name(&id("g"), tool.definition().name());
        definition_text(&wire, tool.definition()).len() as u64
    });
    texts.sum()
}

fn world() -> World {
    World::default()
        .searchable()
        .core("host", &["read_file"])
        .group("g", &NAMES)
}

fn auto(options: TstAutoOptions, world: World) -> Live {
    begin(TstAuto::new(options).unwrap(), world)
}

fn absolute(threshold_tokens: u64) -> TstAutoOptions {
    TstAutoOptions {
        threshold_tokens,
        ..TstAutoOptions::default()
    }
}

fn counted(mut world: World) -> World {
    world.counter = Some(Arc::new(Bytes));
    world
}

/// Whether the first request defers, and why.
fn decide(options: TstAutoOptions, world: World) -> (bool, String) {
    let mut live = auto(options, world);
    let defers = live.offered().contains(&"search_tools".to_owned());
    let made = &live.state.latched[DECISION];
    assert_eq!(made["defer"], json!(defers));
    (defers, made["why"].as_str().unwrap().to_owned())
}

#[test]
fn the_threshold_that_is_reached_defers() {
    let tokens = cost();
    assert!(decide(absolute(tokens), counted(world())).0);
    assert!(!decide(absolute(tokens + 1), counted(world())).0);
    let (_, why) = decide(absolute(tokens), counted(world()));
    assert_eq!(why, format!("{tokens} tokens ≥ {tokens}"));
}

#[test]
fn without_a_counter_two_and_a_half_characters_are_a_token() {
    let characters = cost();
    // floor, so that 2.5 × the threshold is reached.
    let reached = characters * 2 / 5;
    assert!(decide(absolute(reached), world()).0);
    assert!(!decide(absolute(reached + 1), world()).0);
    let wide = r#"{"name":"w","description":"日本語日本語","inputSchema":{}}"#;
    let one = || {
        World::default()
            .group("w", &["w"])
            .returning("w", vec![tool(wide)])
    };
    // Characters, not bytes.
    let characters = definition_text("w__w", tool(wide).definition())
        .chars()
        .count() as u64;
    assert!(decide(absolute(characters * 2 / 5), one()).0);
    assert!(!decide(absolute(characters * 2 / 5 + 1), one()).0);
}

#[test]
fn the_share_is_of_the_window_that_the_host_says() {
    let tokens = cost();
    let percent = |percent| TstAutoOptions {
        percent,
        ..absolute(1)
    };
    let windowed = |window| {
        let mut world = counted(world());
        world.context_window = Some(window);
        world
    };
    // floor(window × 10 / 100) = tokens, up to the next ten.
    for window in [tokens * 10, tokens * 10 + 9] {
        assert!(decide(percent(10), windowed(window)).0, "{window}");
    }
    assert!(!decide(percent(10), windowed(tokens * 10 + 10)).0);
    let (_, why) = decide(percent(50), windowed(tokens * 2));
    let all = tokens * 2;
    assert_eq!(why, format!("{tokens} of {all} tokens = 50.0 % ≥ 50 %"));
}

#[test]
fn the_window_comes_from_the_host_else_from_the_model_else_there_is_none() {
    let model = |name: &str| TstAutoOptions {
        model: Some(name.to_owned()),
        ..absolute(1)
    };
    let (_, why) = decide(model("claude-haiku-4-5"), counted(world()));
    assert!(why.contains(" of 200,000 tokens = "), "{why}");
    let (_, why) = decide(model("nobody-knows"), counted(world()));
    assert!(why.ends_with("tokens ≥ 1"), "{why}");
    let mut known = counted(world());
    known.context_window = Some(1_000);
    let (_, why) = decide(model("claude-haiku-4-5"), known);
    assert!(why.contains(" of 1,000 tokens = "), "{why}");
}

#[test]
fn tools_that_are_in_every_request_are_not_counted() {
    let tokens = cost();
    let always = |world: World| world.changed("more", |it| it.exposure = Exposure::Always);
    let hidden = |world: World| world.changed("more", |it| it.exposure = Exposure::Hidden);
    let more = || counted(world().group("more", &["a", "b"]).core("own", &["c", "d"]));
    assert!(!decide(absolute(tokens + 1), always(more())).0);
    assert!(!decide(absolute(tokens + 1), hidden(more())).0);
    assert!(decide(absolute(tokens + 1), more()).0);
    // Nor are those that do not exist for the model.
    let mut denied = more();
    denied.access = Some(Arc::new(Denied::tools(&["a", "b"])));
    assert!(!decide(absolute(tokens + 1), denied).0);
}

#[test]
fn the_decision_waits_for_all_but_not_for_those_that_fail() {
    let tokens = cost();
    let world = counted(world().broken("jira", &["x"]).undeclared("late", &[]));
    let mut live = auto(absolute(tokens), world);
    live.surface().unwrap();
    let loads = ["g", "host", "jira", "late"].map(|group| Need::Load(id(group)));
    assert_eq!(live.world.asked, loads);
    assert_eq!(live.state.latched[DECISION]["defer"], true);
    // One that has failed before is not tried again for it, one that is starting is.
    let mut world = counted(self::world().broken("jira", &["x"]))
        .loaded("jira")
        .loaded("host");
    world.groups.set_condition(&id("g"), Condition::Pending);
    let settled = Settled::new();
    let strategy = TstAuto::default();
    let state = toolshelf_core::State::new("tst-auto");
    let step = strategy.surface(&world.cx(&settled), &state);
    assert_eq!(step, Step::Need(vec![Need::Load(id("g"))]));
}

#[test]
fn a_decision_holds_whatever_comes_later() {
    let many: Vec<String> = (0..200).map(|at| format!("tool_{at}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let mut live = auto(absolute(cost() + 1), counted(world()));
    let mut all = live.offered();
    live.world.return_with("late", &many);
    all.extend(many.iter().map(|name| format!("late__{name}")));
    let mut now = live.offered();
    now.sort();
    all.sort();
    assert_eq!(now, all);
    live.world.context_window = Some(1);
    assert_eq!(live.offered().len(), all.len());

    let mut live = auto(absolute(cost()), counted(world()));
    live.surface().unwrap();
    live.world.return_with("g", &["list_issues"]);
    assert_eq!(live.offered(), ["read_file", "search_tools"]);
    // Also in a session that goes on elsewhere.
    let mut resumed = auto(absolute(u64::MAX), counted(world()));
    resumed.state = live.state.clone();
    assert_eq!(resumed.offered(), ["read_file", "search_tools"]);
}

#[test]
fn when_it_defers_it_is_tst() {
    let mut live = auto(absolute(0), world());
    live.surface().unwrap();
    assert_eq!(
        live.search("select:send"),
        "Found 1 deferred tool(s): g__send."
    );
    let names = vec!["g__list_issues".to_owned()];
    live.observe(&Event::Discovered { names });
    let list = ["read_file", "search_tools", "g__send", "g__list_issues"];
    assert_eq!(live.offered(), list);
    live.observe(&Event::DeferralRefused {
        reason: "no".to_owned(),
    });
    let surface = live.surface().unwrap();
    assert_eq!(surface.tools.len(), 4);
    assert!(!offered(&surface).contains(&"search_tools"));
    assert_eq!(surface.news.len(), 1);
}

#[test]
fn when_it_does_not_defer_there_is_nothing_to_refuse_or_announce() {
    let mut live = auto(absolute(u64::MAX), world());
    let before = live.surface().unwrap();
    assert_eq!(before.tools.len(), 4);
    assert_eq!(before.news, []);
    live.observe(&Event::DeferralRefused {
        reason: "no".to_owned(),
    });
    assert_eq!(live.surface().unwrap().news, []);
    let call = call("g__send", json!({}));
    let ran = live.call(&call).unwrap();
    let expect: ToolKey = crate::fixtures::key("g", "send");
    assert!(
        matches!(&ran, toolshelf_core::Resolution::Execute { key, .. } if *key == expect),
        "{ran:?}"
    );
}

#[test]
fn a_share_that_is_none_is_refused() {
    for percent in [0, 100, 255] {
        let options = TstAutoOptions {
            percent,
            ..TstAutoOptions::default()
        };
        let error = TstAuto::new(options).err().unwrap();
        assert!(
            error.to_string().contains("is not between 1 and 99"),
            "{error}"
        );
    }
}

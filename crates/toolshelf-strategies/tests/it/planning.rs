//! What a planner asks for, and when.

use serde_json::json;
use toolshelf_core::{
    Condition, Delta, Exposure, Need, News, Resolution, Settled, State, Step, Strategy, ToolGroup,
};
use toolshelf_strategies::{Dispatch, Inject, Standard};

use crate::fixtures::{World, WorldExt, call, id, json_of, key, offered, text};

fn state() -> State {
    State::new("any")
}

/// The first step of a call.
fn first(
    strategy: &dyn Strategy,
    world: &World,
    name: &str,
    arguments: serde_json::Value,
) -> Vec<Need> {
    let settled = Settled::new();
    match strategy.resolve(&world.cx(&settled), &state(), &call(name, arguments)) {
        Step::Need(needs) => needs,
        Step::Done(done) => panic!("{done:?} without a need"),
    }
}

#[test]
fn a_call_needs_permission_and_then_the_load() {
    let world = World::default().group("g", &["t"]);
    let expect = [Need::Permit(key("g", "t")), Need::Load(id("g"))];
    let forwarded = json!({"tool_name": "t"});
    let dispatch = Dispatch::default();
    assert_eq!(
        first(&dispatch, &world, "deferred_tool_call", forwarded),
        expect
    );
    for strategy in [
        &Dispatch::default() as &dyn Strategy,
        &Inject::default(),
        &Standard::default(),
    ] {
        assert_eq!(first(strategy, &world, "g__t", json!({})), expect);
    }
}

#[test]
fn a_load_that_the_model_asks_for_needs_no_permission() {
    let world = World::default().group("g", &["t"]);
    for strategy in [&Dispatch::default() as &dyn Strategy, &Inject::default()] {
        let needs = first(strategy, &world, "load_tools", json!({"group_id": "g"}));
        assert_eq!(needs, [Need::Load(id("g"))]);
    }
}

#[test]
fn a_name_that_nobody_is_known_to_have_is_looked_for_where_names_are_not_known() {
    let world = World::default()
        .group("known", &["t"])
        .undeclared("x", &["u"])
        .undeclared("y", &[]);
    let needs = first(
        &Dispatch::default(),
        &world,
        "deferred_tool_call",
        json!({"tool_name": "u"}),
    );
    assert_eq!(
        needs,
        [Need::Probe(key("x", "u")), Need::Probe(key("y", "u"))]
    );
}

#[test]
fn what_is_ready_is_decided_at_once() {
    let mut world = World::default().group("g", &["t"]);
    let dispatch = Dispatch::default();
    let forwarded = call(
        "deferred_tool_call",
        json!({"tool_name": "t", "arguments": {"a": 1}}),
    );
    for asked in [2, 0] {
        let resolution = world.resolve(&dispatch, &state(), &forwarded).unwrap();
        let Resolution::Execute {
            key: who,
            arguments,
            ..
        } = resolution
        else {
            panic!("{resolution:?}");
        };
        assert_eq!(who, key("g", "t"));
        assert_eq!(arguments["a"], 1);
        assert_eq!(std::mem::take(&mut world.asked).len(), asked);
    }
}

#[test]
fn a_load_that_failed_is_not_asked_for_again_in_the_same_step() {
    let dispatch = Dispatch::default();
    let mut world = World::default().broken("g", &["t"]);
    // The driver, which knows the failure, ends the call.
    let forwarded = call("deferred_tool_call", json!({"tool_name": "t"}));
    let resolution = world.resolve(&dispatch, &state(), &forwarded).unwrap();
    assert!(matches!(resolution, Resolution::Execute { .. }));

    let load = call("load_tools", json!({"group_id": "g"}));
    let answer = world.answer(&dispatch, &state(), &load);
    assert!(answer.is_error && answer.deltas.is_empty());
    let error = json_of(&answer)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("It is broken."), "{error}");
    // In the next step it is.
    assert_eq!(
        world.asked,
        [
            Need::Permit(key("g", "t")),
            Need::Load(id("g")),
            Need::Load(id("g"))
        ]
    );
}

#[test]
fn inject_waits_for_a_load_that_is_under_way_and_not_for_one_that_failed() {
    let mut state = State::new("inject");
    state.apply(&Delta::Expand {
        group: id("g"),
        tools: None,
    });
    let inject = Inject::default();
    let mut world = World::default().group("g", &["t"]).broken("b", &["x"]);
    world.groups.set_condition(&id("g"), Condition::Pending);
    let surface = world.surface(&inject, &state).unwrap();
    assert_eq!(world.asked, [Need::Settle(id("g"))]);
    assert_eq!(offered(&surface), ["load_tools", "g__t"]);

    state.apply(&Delta::Expand {
        group: id("b"),
        tools: None,
    });
    let unavailable = News::Unavailable {
        group: id("b"),
        reason: "It is broken.".to_owned(),
    };
    for asked in [1, 0] {
        world.asked.clear();
        let surface = world.surface(&inject, &state).unwrap();
        assert_eq!(surface.news, std::slice::from_ref(&unavailable));
        assert_eq!(world.asked.len(), asked, "not at every turn");
    }
}

#[test]
fn inject_says_what_is_gone_and_offers_it_no_more() {
    let mut world = World::default().group("g", &["a"]);
    let mut state = State::new("inject");
    state.apply(&Delta::Expand {
        group: id("g"),
        tools: Some(vec!["gone".parse().unwrap(), "a".parse().unwrap()]),
    });
    state.apply(&Delta::Expand {
        group: id("removed"),
        tools: None,
    });
    let surface = world.surface(&Inject::default(), &state).unwrap();
    assert_eq!(offered(&surface), ["load_tools", "g__a"]);
    assert_eq!(surface.news, [News::Gone(key("g", "gone"))]);
}

#[test]
fn standard_loads_everything_and_tells_what_it_cannot() {
    let mut world = World::default().group("g", &["a", "b"]).broken("x", &["y"]);
    let surface = world.surface(&Standard::default(), &state()).unwrap();
    assert_eq!(offered(&surface), ["g__a", "g__b"]);
    assert_eq!(
        surface.news,
        [News::Unavailable {
            group: id("x"),
            reason: "It is broken.".to_owned()
        }]
    );
    assert_eq!(world.asked, [Need::Load(id("g")), Need::Load(id("x"))]);
}

#[test]
fn tools_that_are_pinned_are_in_every_request_and_in_no_catalog() {
    let mut world = World::default().group("g", &["t"]);
    let pinned = ToolGroup {
        exposure: Exposure::Always,
        ..ToolGroup::new(id("pinned"), async |_: toolshelf_core::LoadContext| {
            Ok(toolshelf_core::Loaded::default())
        })
    };
    world.groups.insert(pinned).unwrap();
    let mut world = world.returning("pinned", crate::fixtures::tools(&["p"]));
    for strategy in [&Dispatch::default() as &dyn Strategy, &Inject::default()] {
        let surface = world.surface(strategy, &state()).unwrap();
        assert_eq!(offered(&surface)[0], "pinned__p");
        let section = surface.prompt_section.unwrap();
        assert!(!section.contains("pinned"), "{section}");
    }
    assert_eq!(world.asked, [Need::Load(id("pinned"))]);
}

#[test]
fn the_own_tools_of_another_strategy_are_not_mine() {
    let mut world = World::default().group("g", &["t"]);
    let forwarded = call("deferred_tool_call", json!({"tool_name": "t"}));
    for strategy in [&Inject::default() as &dyn Strategy, &Standard::default()] {
        let resolution = world.resolve(strategy, &state(), &forwarded).unwrap();
        assert_eq!(resolution, Resolution::NotMine);
    }
    let load = call("load_tools", json!({"group_id": "g"}));
    let resolution = world
        .resolve(&Standard::default(), &state(), &load)
        .unwrap();
    assert_eq!(resolution, Resolution::NotMine);
}

#[test]
fn an_error_about_a_name_suggests_the_tool_of_the_nearest_group_first() {
    let mut world = World::default()
        .group("alpha", &["create_issue"])
        .group("linear", &["create_issue"]);
    let asked = call(
        "deferred_tool_call",
        json!({"tool_name": "linaer/create_isue"}),
    );
    let answer = world.answer(&Dispatch::default(), &state(), &asked);
    let text = text(&answer);
    let linear = text.find("`linear/create_issue`").unwrap();
    let alpha = text.find("`alpha/create_issue`").unwrap();
    assert!(linear < alpha, "{text}");
}

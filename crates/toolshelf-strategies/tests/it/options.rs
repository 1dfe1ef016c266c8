//! What a host can choose.

use serde_json::json;
use toolshelf_core::{Placement, State, Strategy};
use toolshelf_strategies::{Dispatch, DispatchOptions, Inject, InjectOptions};

use crate::fixtures::{World, WorldExt, call, json_of, offered, text, tool};

fn state() -> State {
    State::new("any")
}

fn section(world: &mut World, strategy: &dyn Strategy) -> String {
    let surface = world.surface(strategy, &state()).unwrap();
    surface
        .prompt_section
        .as_deref()
        .unwrap_or_default()
        .to_owned()
}

#[test]
fn a_header_may_be_another_or_none() {
    let mut world = World::default().group("g", &["t"]);
    let mut with = |header: &str| {
        let header = Some(header.to_owned());
        let dispatch = Dispatch::new(DispatchOptions {
            header: header.clone(),
            ..DispatchOptions::default()
        });
        let inject = Inject::new(InjectOptions {
            header,
            ..InjectOptions::default()
        });
        [section(&mut world, &dispatch), section(&mut world, &inject)]
    };
    for text in with("# Shelf") {
        assert!(text.starts_with("# Shelf\n\n- `g`"), "{text}");
    }
    for text in with("") {
        assert!(text.starts_with("- `g`"), "{text}");
    }
}

#[test]
fn without_groups_there_is_no_section_and_the_load_tool_is_there() {
    let mut world = World::default();
    for strategy in [&Dispatch::default() as &dyn Strategy, &Inject::default()] {
        let surface = world.surface(strategy, &state()).unwrap();
        assert!(surface.prompt_section.is_none());
        assert!(offered(&surface).contains(&"load_tools"));
    }
}

fn many_groups(many: usize, names: &[&str]) -> World {
    let mut world = World::default();
    world.placement = Placement::McpServer;
    for n in 0..many {
        world = world.group(&format!("group{n}"), names);
    }
    world
}

#[test]
fn a_catalog_keeps_to_its_budget() {
    let names: Vec<String> = (0..40).map(|n| format!("tool_number_{n}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut world = World::default();
    for n in 0..30 {
        world = world.group(&format!("group{n}"), &names);
    }
    let whole = section(&mut world, &Dispatch::default());
    assert!(whole.len() > 15_000);
    let dispatch = Dispatch::new(DispatchOptions {
        catalog_budget: Some(3_000),
        ..DispatchOptions::default()
    });
    let inject = Inject::new(InjectOptions {
        catalog_budget: Some(3_000),
        ..InjectOptions::default()
    });
    for text in [section(&mut world, &dispatch), section(&mut world, &inject)] {
        assert!(text.len() <= 3_000, "{}", text.len());
        assert!(text.contains("`group29`"));
    }
    // In an MCP server the catalog stands in the description of the load tool, bounded.
    let split = Dispatch::new(DispatchOptions {
        split_calls: true,
        ..DispatchOptions::default()
    });
    for many in [30, 60, 120, 300] {
        world = many_groups(many, &names);
        for strategy in [
            &Dispatch::default() as &dyn Strategy,
            &split,
            &Inject::default(),
        ] {
            let surface = world.surface(strategy, &state()).unwrap();
            assert!(surface.prompt_section.is_none());
            let load = surface
                .tools
                .iter()
                .find(|slot| &*slot.name == "load_tools");
            let description = load.unwrap().definition.description().unwrap();
            assert!(description.contains("`group0`"));
            // What stands before the catalog counts too.
            assert!(description.len() <= 2_000, "{}", description.len());
        }
    }
}

fn load(group: &str) -> toolshelf_core::Call {
    call("load_tools", json!({"group_id": group}))
}

#[test]
fn answers_keep_to_their_budget_of_schemas() {
    let mut world = World::default().group("g", &["a", "b", "c"]);
    let dispatch = Dispatch::new(DispatchOptions {
        schema_budget: 150,
        schema_cap: 10,
        ..DispatchOptions::default()
    });
    let whole = json_of(&world.answer(&dispatch, &state(), &load("g")));
    assert_eq!(whole["schemas"].as_array().unwrap().len(), 2);
    assert_eq!(whole["omitted"], json!(["c()"]));
    // What is omitted is loaded all the same.
    assert_eq!(whole["tool_names"], json!(["a", "b", "c"]));
    let named = call("load_tools", json!({"group_id": "g", "tool_names": ["a"]}));
    let named = json_of(&world.answer(&dispatch, &state(), &named));
    assert!(
        named["error"]
            .as_str()
            .unwrap()
            .contains("Larger than 10 bytes")
    );
}

#[test]
fn readers_of_other_systems_can_be_served() {
    let mut world = World::default().group("g", &["t"]);
    let dispatch = Dispatch::new(DispatchOptions {
        python_separators: true,
        ..DispatchOptions::default()
    });
    let answer = world.answer(&dispatch, &state(), &load("g"));
    assert!(text(&answer).starts_with("{\"error\": null, \"expanded\": true, "));
    for (null_schemas, expect) in [(false, None), (true, Some(&serde_json::Value::Null))] {
        let inject = Inject::new(InjectOptions {
            null_schemas,
            ..InjectOptions::default()
        });
        for group in ["g", "nope"] {
            let answer = json_of(&world.answer(&inject, &state(), &load(group)));
            assert_eq!(answer.get("schemas"), expect, "{group}");
        }
    }
}

#[test]
fn three_forwarders_reach_what_the_hints_of_a_tool_allow() {
    let describe = |name: &str, annotations: &str| {
        tool(&format!(
            r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"annotations":{annotations}}}"#
        ))
    };
    let names = ["reads", "writes", "destroys", "unsaid", "both"];
    let mut world = World::default().group("g", &names).returning(
        "g",
        vec![
            describe("reads", r#"{"readOnlyHint":true}"#),
            describe(
                "writes",
                r#"{"readOnlyHint":false,"destructiveHint":false}"#,
            ),
            describe("destroys", r#"{"destructiveHint":true}"#),
            describe("unsaid", "{}"),
            // What changes nothing destroys nothing.
            describe("both", r#"{"readOnlyHint":true,"destructiveHint":true}"#),
        ],
    );
    let split = Dispatch::new(DispatchOptions {
        split_calls: true,
        ..DispatchOptions::default()
    });
    let own = split.own_tools();
    assert_eq!(offered(&world.surface(&split, &state()).unwrap()), own);
    assert_eq!(own.len(), 4);
    let mut reached = |forwarder: &str| -> Vec<&str> {
        let runs = |name: &&str| {
            let call = call(forwarder, json!({"tool_name": name}));
            let resolution = world.resolve(&split, &state(), &call).unwrap();
            matches!(resolution, toolshelf_core::Resolution::Execute { .. })
        };
        names.into_iter().filter(runs).collect()
    };
    assert_eq!(reached(&own[1]), ["reads", "both"]);
    assert_eq!(reached(&own[2]), ["reads", "writes", "both"]);
    assert_eq!(reached(&own[3]), names);
    // The one forwarder is not there, also not inside another.
    assert!(reached("deferred_tool_call").is_empty());
}

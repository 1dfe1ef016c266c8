//! What the next request carries, byte for byte.

use toolshelf_core::{Delta, Need, News, Placement, State, Strategy, ToolName};
use toolshelf_strategies::{Dispatch, DispatchOptions, Inject, Standard, StandardOptions};
use toolshelf_testkit::written;

use crate::GOLDEN;
use crate::world::{fail, group, groups, hide, id, load, surface};

fn expanded(strategy: &str, loads: &[(&str, Option<&[&str]>)]) -> State {
    let mut state = State::new(strategy);
    for (group, tools) in loads {
        let tools = tools.map(|tools| {
            tools
                .iter()
                .map(|name| ToolName::new(name).unwrap())
                .collect()
        });
        state.apply(&Delta::Expand {
            group: id(group),
            tools,
        });
    }
    state
}

#[track_caller]
fn check(name: &str, strategy: &dyn Strategy, placement: Placement, state: &State) {
    let mut all = groups();
    load(&mut all, "mail", &["list", "send", "extra"]);
    load(&mut all, "chat", &["send", "rooms"]);
    let made = surface(strategy, &all, placement, state).unwrap();
    GOLDEN.check(name, &written(&made));
}

#[test]
fn dispatch_in_a_system_prompt_and_in_an_mcp_server() {
    let state = State::new("dispatch");
    let dispatch = Dispatch::default();
    check(
        "dispatch.prompt",
        &dispatch,
        Placement::SystemPrompt,
        &state,
    );
    check("dispatch.gateway", &dispatch, Placement::McpServer, &state);
    let split = Dispatch::new(DispatchOptions {
        split_calls: true,
        ..DispatchOptions::default()
    });
    check("dispatch.split", &split, Placement::McpServer, &state);
}

#[test]
fn dispatch_does_not_look_at_the_state() {
    let state = expanded("dispatch", &[("mail", None), ("chat", Some(&["rooms"]))]);
    check(
        "dispatch.prompt",
        &Dispatch::default(),
        Placement::SystemPrompt,
        &state,
    );
}

#[test]
fn inject_before_and_after_loads() {
    let inject = Inject::default();
    let prompt = Placement::SystemPrompt;
    check(
        "inject.nothing-loaded",
        &inject,
        prompt,
        &State::new("inject"),
    );
    let part = expanded(
        "inject",
        &[
            ("chat", Some(&["rooms"])),
            ("mail", Some(&["send", "list"])),
        ],
    );
    check("inject.parts-loaded", &inject, prompt, &part);
    let all = expanded("inject", &[("mail", None), ("chat", None)]);
    check("inject.all-loaded", &inject, prompt, &all);
    check("inject.gateway", &inject, Placement::McpServer, &part);
}

#[test]
fn standard_shows_what_is_ready_and_says_what_is_not() {
    let mut all = groups();
    load(&mut all, "mail", &["list", "send"]);
    fail(&mut all, "chat");
    let standard = Standard::new(StandardOptions { load: false });
    let made = surface(
        &standard,
        &all,
        Placement::SystemPrompt,
        &State::new("standard"),
    )
    .unwrap();
    GOLDEN.check("standard.ready", &written(&made));
    assert_eq!(
        made.news,
        [News::Unavailable {
            group: id("chat"),
            reason: "it ended.".to_owned()
        }]
    );
}

#[test]
fn standard_loads_what_nobody_has_loaded() {
    let standard = Standard::default();
    let state = State::new("standard");
    let needs = surface(&standard, &groups(), Placement::SystemPrompt, &state).unwrap_err();
    let wanted = ["chat", "mail", "unknown"].map(|group| Need::Load(id(group)));
    assert_eq!(needs, wanted);
}

#[test]
fn no_groups_no_section_and_the_load_tool_all_the_same() {
    let none = toolshelf_core::Groups::new();
    for strategy in [&Dispatch::default() as &dyn Strategy, &Inject::default()] {
        let state = State::new(strategy.name());
        let made = surface(strategy, &none, Placement::SystemPrompt, &state).unwrap();
        assert_eq!(made.prompt_section, None);
        assert!(made.tools.iter().any(|slot| &*slot.name == "load_tools"));
    }
}

#[test]
fn a_hidden_group_costs_no_byte() {
    let state = State::new("dispatch");
    let mut with = groups();
    with.insert(group("secret", &["launch"])).unwrap();
    hide(&mut with, "secret");
    let dispatch = Dispatch::default();
    let of = |groups| surface(&dispatch, groups, Placement::SystemPrompt, &state).unwrap();
    assert_eq!(written(&of(&with)), written(&of(&groups())));
}

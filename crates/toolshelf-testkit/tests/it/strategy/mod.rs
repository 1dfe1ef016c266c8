//! The kit for strategies.

mod specimen;

use serde_json::json;
use toolshelf_testkit::strategy::{Subject, clauses, declares_the_capabilities_that_it_has};
use toolshelf_testkit::{broken, call, strategy_tests};

use specimen::{Fault, Mini};

const CAPABILITIES: [&str; 4] = ["defers", "lazy", "loads", "grows"];

fn with(fault: Fault) -> Subject {
    Subject::new(move || Mini::new(fault))
        .load_with(|group, tools| call("load", json!({"group_id": group, "tool_names": tools})))
}

fn sound() -> Subject {
    with(Fault::None)
}

strategy_tests!(sound: defers, lazy, loads, grows);

#[track_caller]
fn check(fault: Fault, expected: &[&str]) {
    let mut fails = broken(&clauses(), &with(fault), &CAPABILITIES);
    fails.sort_unstable();
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(fails, expected, "of {fault:?}");
}

#[test]
fn a_broken_surface_is_told_by_its_clause() {
    check(
        Fault::Twice,
        &[
            "names_in_the_array_are_unique_and_legal",
            "the_array_grows_at_its_end_only",
            "what_is_disclosed_joins_the_array",
        ],
    );
    check(
        Fault::TakesOwnName,
        &[
            "names_in_the_array_are_unique_and_legal",
            "own_tools_are_told_apart",
        ],
    );
    check(
        Fault::OtherDefinition,
        &["what_is_offered_exists_and_is_verbatim"],
    );
    check(
        Fault::PromptInServer,
        &["an_mcp_server_has_no_prompt_section"],
    );
    check(
        Fault::SchemaInPrompt,
        &["no_schema_stands_in_the_prompt_section"],
    );
    check(Fault::RepeatsNews, &["a_surface_comes_to_rest"]);
    check(
        Fault::NoLoadTool,
        &["the_way_to_deferred_tools_is_always_there"],
    );
    check(Fault::Sorted, &["the_array_grows_at_its_end_only"]);
    check(
        Fault::ShowsAll,
        &[
            "deferred_tools_stay_out_until_they_are_disclosed",
            // What is loaded later than others are disclosed pushes in before them, and what is disclosed too stands twice.
            "names_in_the_array_are_unique_and_legal",
            "the_array_grows_at_its_end_only",
            "what_is_disclosed_joins_the_array",
            "what_is_gone_is_left_out_and_returns_to_its_place",
        ],
    );
    check(
        Fault::LoadsAll,
        &["a_surface_starts_no_server_of_deferred_tools"],
    );
}

#[test]
fn a_broken_call_is_told_by_its_clause() {
    check(Fault::Guesses, &["a_name_means_its_own_tool_or_none"]);
    check(Fault::ClaimsAll, &["a_name_of_the_hosts_is_not_its_own"]);
    check(
        Fault::LosesArguments,
        &["arguments_are_never_taken_for_none"],
    );
    check(Fault::ChangesArguments, &["arguments_arrive_as_they_were"]);
    check(Fault::LoadsFirst, &["permission_comes_before_a_load"]);
    check(
        Fault::Panics,
        &["any_arguments_of_an_own_tool_are_answered"],
    );
    check(
        Fault::TellsOperators,
        &["what_is_for_operators_reaches_no_model"],
    );
    check(Fault::ShowsDenied, &["a_denied_tool_is_named_by_no_answer"]);
    check(
        Fault::ListsAll,
        &[
            "a_denied_tool_costs_no_byte",
            "a_hidden_group_costs_no_byte",
        ],
    );
}

#[test]
fn a_broken_session_is_told_by_its_clause() {
    check(Fault::TrustsMessages, &["what_is_said_is_no_discovery"]);
    check(
        Fault::ForgetsAtCompaction,
        &["a_compaction_keeps_what_was_disclosed"],
    );
    check(Fault::DeltasAgain, &["loading_twice_is_loading_once"]);
    check(
        Fault::PartAfterWhole,
        &["a_load_of_an_unknown_group_changes_nothing"],
    );
    check(Fault::PanicsAtEvents, &["any_event_is_taken"]);
}

#[test]
fn a_strategy_that_remembers_beside_its_state_is_not_pure() {
    let fails = broken(&clauses(), &with(Fault::Remembers), &CAPABILITIES);
    for clause in [
        "the_same_question_has_the_same_answer",
        "sessions_do_not_see_each_other",
        "a_surface_comes_to_rest",
    ] {
        assert!(fails.contains(&clause), "{clause} is not among {fails:?}");
    }
}

#[test]
fn a_need_that_is_asked_again_does_not_settle() {
    let fails = broken(&clauses(), &with(Fault::AsksAgain), &CAPABILITIES);
    assert!(fails.contains(&"needs_settle"), "{fails:?}");
}

#[test]
fn a_capability_that_is_left_out_or_made_up_is_an_error() {
    assert_eq!(
        declares_the_capabilities_that_it_has(&sound(), &CAPABILITIES),
        Ok(())
    );
    let error = declares_the_capabilities_that_it_has(&sound(), &["defers", "lazy", "loads"]);
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("it has `grows`, whose clauses were not stamped"),
        "{error}"
    );
    let error = declares_the_capabilities_that_it_has(
        &sound(),
        &["stable", "defers", "lazy", "loads", "grows"],
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("`stable` is declared, and nothing of it"),
        "{error}"
    );
}

#[test]
fn each_clause_names_itself() {
    let all = clauses();
    for clause in &all {
        // Whatever is asked of it, a strategy that only panics breaks each clause but those
        // that lack a capability, and those too.
        let panics = Subject::new(|| -> Mini { panic!("no strategy at all") });
        let error = (clause.check)(&panics).unwrap_err();
        assert_eq!(error.clause, clause.name);
    }
    let mut names: Vec<_> = all.iter().map(|clause| clause.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all.len());
    assert_eq!(all.len(), 54);
}

//! The kit for strategies.

mod specimen;

use serde_json::json;
use toolshelf_testkit::strategy::{Subject, clauses, declares_the_capabilities_that_it_has};
use toolshelf_testkit::{call, strategy_tests};

use crate::table;
use specimen::{Fault, Kind, Mini};

fn with(kind: Kind, fault: Fault) -> Subject {
    let subject = Subject::new(move || Mini::new(kind, fault));
    let load = |group: &str, tools: Option<&[&str]>| {
        call("load", json!({"group_id": group, "tool_names": tools}))
    };
    match kind {
        Kind::Loads => subject.load_with(load).forward_with(|name, arguments| {
            call("run", json!({"tool": name, "arguments": arguments}))
        }),
        Kind::Searches => subject.search_with(|query| call("find", json!({"query": query}))),
        Kind::Stable => subject.load_with(load),
    }
}

fn loads() -> Subject {
    with(Kind::Loads, Fault::None)
}

fn searches() -> Subject {
    with(Kind::Searches, Fault::None)
}

fn stable() -> Subject {
    with(Kind::Stable, Fault::None)
}

/// A strategy that loads whole groups only.
fn whole() -> Subject {
    Subject::new(|| Mini::new(Kind::Loads, Fault::None))
        .load_with(|group, _| call("load", json!({"group_id": group})))
        .forward_with(|name, arguments| call("run", json!({"tool": name, "arguments": arguments})))
}

strategy_tests!(loads: defers, lazy, loads, parts, forwards, grows, catalogs);
strategy_tests!(whole: defers, lazy, loads, forwards, grows, catalogs);
strategy_tests!(searches: defers, lazy, searches, grows, catalogs, encodes, rebuilds);
strategy_tests!(stable: stable, defers, lazy, loads, parts, catalogs);

/// Faults, each with the clauses that it breaks.
type Specimens = &'static [(Fault, &'static [&'static str])];

const LOADS: Specimens = &[
    (
        Fault::Twice,
        &[
            "names_in_the_array_are_unique_and_legal",
            "the_array_grows_at_its_end_only",
            "what_is_disclosed_joins_the_array",
        ],
    ),
    (
        Fault::TakesOwnName,
        &[
            "names_in_the_array_are_unique_and_legal",
            "own_tools_are_told_apart",
        ],
    ),
    (
        Fault::OtherDefinition,
        &["what_is_offered_exists_and_is_verbatim"],
    ),
    (
        Fault::PromptInServer,
        &["an_mcp_server_has_no_prompt_section"],
    ),
    (
        Fault::SchemaInPrompt,
        &["no_schema_stands_in_the_prompt_section"],
    ),
    (Fault::RepeatsNews, &["a_surface_comes_to_rest"]),
    (
        Fault::NoLoadTool,
        &["the_way_to_deferred_tools_is_always_there"],
    ),
    (Fault::Sorted, &["the_array_grows_at_its_end_only"]),
    (
        Fault::ShowsAll,
        &[
            "deferred_tools_stay_out_until_they_are_disclosed",
            // What is loaded later than others are disclosed pushes in before them, and what is disclosed too stands twice.
            "names_in_the_array_are_unique_and_legal",
            "the_array_grows_at_its_end_only",
            "what_is_disclosed_joins_the_array",
            "what_is_gone_is_left_out_and_returns_to_its_place",
        ],
    ),
    (
        Fault::LoadsAll,
        &["a_surface_starts_no_server_of_deferred_tools"],
    ),
    (
        Fault::Guesses,
        &[
            "a_forwarded_call_never_reaches_another_tool",
            "a_name_means_its_own_tool_or_none",
        ],
    ),
    (Fault::ClaimsAll, &["a_name_of_the_hosts_is_not_its_own"]),
    (
        Fault::LosesArguments,
        &["arguments_are_never_taken_for_none"],
    ),
    (Fault::ChangesArguments, &["arguments_arrive_as_they_were"]),
    (Fault::LoadsFirst, &["permission_comes_before_a_load"]),
    (
        Fault::Panics,
        &["any_arguments_of_an_own_tool_are_answered"],
    ),
    (
        Fault::TellsOperators,
        &["what_is_for_operators_reaches_no_model"],
    ),
    (Fault::ShowsDenied, &["a_denied_tool_is_named_by_no_answer"]),
    (
        Fault::ListsAll,
        &[
            "the_hosts_format_sees_what_a_model_may",
            "a_denied_tool_costs_no_byte",
            "a_hidden_group_costs_no_byte",
        ],
    ),
    (Fault::TrustsMessages, &["what_is_said_is_no_discovery"]),
    (
        Fault::ForgetsAtCompaction,
        &["a_compaction_keeps_what_was_disclosed"],
    ),
    (Fault::DeltasAgain, &["loading_twice_is_loading_once"]),
    (
        Fault::PartAfterWhole,
        &["a_load_of_unknown_tools_changes_nothing"],
    ),
    (
        Fault::UnknownIsNoError,
        &["a_load_of_an_unknown_group_changes_nothing"],
    ),
    (
        Fault::NamesNoGroupInServer,
        &[
            "the_catalog_is_of_the_hosts_format",
            "what_opens_groups_says_which_there_are",
        ],
    ),
    (
        Fault::OwnFormatInServer,
        &["the_catalog_is_of_the_hosts_format"],
    ),
    (
        Fault::ShowsAllToTheFormat,
        &[
            "the_catalog_is_of_the_hosts_format",
            "the_hosts_format_sees_what_a_model_may",
        ],
    ),
    (Fault::PanicsAtEvents, &["any_event_is_taken"]),
    (
        Fault::Remembers,
        &[
            "a_fork_leaves_its_parent_alone",
            "a_session_resumes_from_its_record",
            "a_surface_comes_to_rest",
            "sessions_do_not_see_each_other",
            "the_same_question_has_the_same_answer",
        ],
    ),
    (
        Fault::AsksAgain,
        &[
            "a_surface_comes_to_rest",
            "a_surface_starts_no_server_of_deferred_tools",
            "an_mcp_server_has_no_prompt_section",
            "any_event_is_taken",
            "names_in_the_array_are_unique_and_legal",
            "needs_settle",
            "own_tools_are_told_apart",
            "the_way_to_deferred_tools_is_always_there",
            "what_is_for_operators_reaches_no_model",
            "what_is_offered_exists_and_is_verbatim",
            "what_opens_groups_says_which_there_are",
        ],
    ),
    (Fault::NameOfTwoLines, &["its_name_is_legal"]),
    (Fault::OwnToolTwice, &["its_own_tools_are_legal"]),
    (
        Fault::PrefersBareNames,
        &["what_is_offered_is_what_its_name_calls"],
    ),
    (
        Fault::KeepsInInstance,
        &[
            "a_fork_leaves_its_parent_alone",
            "a_session_resumes_from_its_record",
            "sessions_do_not_see_each_other",
        ],
    ),
    (Fault::ForgetsToLoad, &["a_session_resumes_from_its_record"]),
    (Fault::LoadsSilently, &["a_load_names_its_tools"]),
    (
        Fault::NoFingerprints,
        &["a_load_stands_in_the_state", "a_part_stands_in_the_state"],
    ),
    (
        Fault::OnePartOnly,
        &[
            "loads_of_a_batch_add_up_in_order",
            "parts_and_the_whole_are_the_whole",
            "what_is_disclosed_joins_the_array",
        ],
    ),
    (Fault::FillsUp, &["parts_and_the_whole_are_the_whole"]),
    (Fault::FailedLoadExpands, &["a_failed_load_changes_nothing"]),
    (
        Fault::RunLosesArguments,
        &["a_forwarded_call_is_the_call_itself"],
    ),
    (
        Fault::RunGuesses,
        &["a_forwarded_call_never_reaches_another_tool"],
    ),
];

const SEARCHES: Specimens = &[
    (
        Fault::CodesNothingFound,
        &["the_answer_of_a_search_is_of_the_hosts_codec"],
    ),
    (
        Fault::NeedsTheCodec,
        &["a_codec_that_writes_nothing_fails_no_search"],
    ),
    (
        Fault::FindsSilently,
        &[
            "a_codec_that_writes_nothing_fails_no_search",
            "a_search_finds_a_tool_by_its_name",
        ],
    ),
    (Fault::FindsAgain, &["searching_twice_is_searching_once"]),
    (
        Fault::FindsWhatIsThere,
        &["names_in_the_array_are_unique_and_legal"],
    ),
    (
        Fault::NothingIsAnError,
        &["a_search_that_finds_nothing_discovers_nothing"],
    ),
    (
        Fault::SearchesWithoutIndex,
        &["a_search_without_an_index_is_answered"],
    ),
    (
        Fault::IgnoresTheFirst,
        &[
            "a_history_may_be_cut_anywhere",
            "folding_a_history_equals_living_it",
        ],
    ),
    (
        Fault::CountsEvents,
        &["discovering_twice_is_discovering_once"],
    ),
    (
        Fault::IgnoresMarkers,
        &["a_marker_brings_back_what_was_disclosed"],
    ),
    (
        Fault::ForgetsUnknown,
        &["what_is_not_known_yet_is_remembered"],
    ),
    (
        Fault::TakesBareNames,
        &["a_name_that_nobody_has_discovers_nothing"],
    ),
];

const STABLE: Specimens = &[
    (
        Fault::LooksAtState,
        &["the_surface_does_not_look_at_the_state"],
    ),
    (
        Fault::ShowsLoaded,
        &[
            // A group more is a number more.
            "a_denied_tool_costs_no_byte",
            "a_hidden_group_costs_no_byte",
            "a_load_changes_no_byte",
        ],
    ),
];

#[test]
fn each_specimen_that_loads_breaks_its_clauses_and_no_other() {
    let has = [
        "defers", "lazy", "loads", "parts", "forwards", "grows", "catalogs",
    ];
    table::check(&clauses(), &has, LOADS, |fault| with(Kind::Loads, fault));
}

#[test]
fn each_specimen_that_searches_breaks_its_clauses_and_no_other() {
    let has = [
        "defers", "lazy", "searches", "grows", "catalogs", "encodes", "rebuilds",
    ];
    table::check(&clauses(), &has, SEARCHES, |fault| {
        with(Kind::Searches, fault)
    });
}

#[test]
fn each_specimen_that_is_stable_breaks_its_clauses_and_no_other() {
    let has = ["stable", "defers", "lazy", "loads", "parts", "catalogs"];
    table::check(&clauses(), &has, STABLE, |fault| with(Kind::Stable, fault));
}

#[test]
fn no_clause_is_without_a_specimen() {
    table::is_complete(&clauses(), &[LOADS, SEARCHES, STABLE].concat());
}

#[test]
fn each_clause_names_itself() {
    let panics = Subject::new(|| -> Mini { panic!("no strategy at all") });
    table::names_itself(&clauses(), &panics);
}

#[test]
fn a_capability_that_is_left_out_or_made_up_is_an_error() {
    assert_eq!(
        declares_the_capabilities_that_it_has(
            &loads(),
            &[
                "defers", "lazy", "loads", "parts", "forwards", "grows", "catalogs"
            ]
        ),
        Ok(())
    );
    let error = declares_the_capabilities_that_it_has(
        &loads(),
        &["defers", "lazy", "loads", "parts", "forwards"],
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("it has `grows`, whose clauses were not stamped"),
        "{error}"
    );
    let error = declares_the_capabilities_that_it_has(
        &loads(),
        &[
            "stable", "defers", "lazy", "loads", "parts", "forwards", "grows",
        ],
    );
    let error = error.unwrap_err().to_string();
    assert!(
        error.contains("`stable` is declared, and nothing of it"),
        "{error}"
    );
}

#[test]
fn whether_parts_are_loaded_is_seen_and_not_said() {
    let check = declares_the_capabilities_that_it_has;
    let has = ["defers", "lazy", "loads", "forwards", "grows", "catalogs"];
    assert_eq!(check(&whole(), &has), Ok(()));
    let error = check(&loads(), &has).unwrap_err().to_string();
    assert!(error.contains("it has `parts`, whose clauses"), "{error}");
    let too_many = [&has[..], &["parts"]].concat();
    let error = check(&whole(), &too_many).unwrap_err().to_string();
    assert!(
        error.contains("`parts` is declared, and nothing"),
        "{error}"
    );
}

#[test]
fn a_text_that_gives_a_tool_away_is_told_with_its_line() {
    let error = toolshelf_testkit::strategy::a_denied_tool_is_named_by_no_answer(&with(
        Kind::Loads,
        Fault::ShowsDenied,
    ));
    let seen = error.unwrap_err().seen;
    let expected = r#"`mail__launch` stands in line 9 of the surface after `load` with {"group_id":"mail","tool_names":null}: {"name":"mail__launch","#;
    assert!(seen.starts_with(expected), "{seen}");
}

#[test]
fn bytes_that_are_not_the_same_are_told_by_where_they_part() {
    let check = toolshelf_testkit::strategy::a_load_changes_no_byte;
    let seen = check(&with(Kind::Stable, Fault::ShowsLoaded))
        .unwrap_err()
        .seen;
    let expected = "the surface is not the same from line 4 on: ";
    assert!(seen.starts_with(expected), "{seen}");
    assert!(seen.ends_with(" 2 are loaded.\""), "{seen}");
}

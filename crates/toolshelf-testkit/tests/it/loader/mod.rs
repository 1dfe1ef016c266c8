//! The kit for loaders.

mod specimen;

use std::time::Duration;

use serde_json::json;
use toolshelf_core::{LoadContext, Loaded};
use toolshelf_testkit::loader::{Subject, clauses, declares_the_capabilities_that_it_has};
use toolshelf_testkit::loader_tests;
use toolshelf_testkit::world::tools;

use crate::table;
use specimen::{Ends, Fault, Mini, Open};

const ALL: [&str; 5] = ["calls", "waits", "fails", "hangs", "owns"];

fn with(fault: Fault) -> Subject {
    let open = Open::default();
    let mini = |ends, open: &Open| {
        let open = open.clone();
        move || Mini::new(fault, ends, open.clone())
    };
    Subject::new(mini(Ends::Well, &open), &["send", "wait"])
        .failing(mini(Ends::Badly, &open))
        .hanging(mini(Ends::Never, &open))
        .call("send", json!({"to": "you"}))
        .long_call("wait", json!({}))
        .secrets(&["hunter2"])
        .leftovers(move || open.lock().unwrap().clone())
        .patience(Duration::from_secs(3))
}

fn sound() -> Subject {
    with(Fault::None)
}

/// The least that a loader is: a function.
fn function() -> Subject {
    let loads = async |_: LoadContext| Ok(Loaded::new(tools(&["send"])));
    Subject::new(move || loads, &["send"]).call("send", json!({}))
}

loader_tests!(sound: calls, waits, fails, hangs, owns);
loader_tests!(function: calls);

/// Each fault, with the clauses that it breaks.
const SPECIMENS: &[(Fault, &[&str])] = &[
    (Fault::OtherOrder, &["its_tools_are_all_there_in_order"]),
    (Fault::OrderOfEachLoad, &["loading_again_brings_the_same"]),
    (
        Fault::OtherDefinition,
        &[
            "a_tool_keeps_its_definition",
            "loading_again_brings_the_same",
        ],
    ),
    (Fault::NoReason, &["what_is_left_out_has_a_reason"]),
    (
        Fault::BusyForEver,
        &["a_load_that_was_given_up_can_be_made_again"],
    ),
    (
        Fault::CancelledLoadHangs,
        &["a_load_that_is_cancelled_ends"],
    ),
    (
        Fault::CancelledLoadIsEmpty,
        &["a_load_that_is_cancelled_ends"],
    ),
    (Fault::LoadBlocks, &["a_load_does_not_keep_its_thread"]),
    (Fault::CallBlocks, &["a_call_does_not_keep_its_thread"]),
    (Fault::LateLoadIsInternal, &["a_load_that_is_late_ends"]),
    (
        Fault::AnswersOnce,
        &[
            "a_call_is_answered",
            "a_call_that_is_cancelled_ends",
            "a_call_that_is_dropped_leaves_others_alone",
            "a_call_that_is_late_ends",
            "a_long_call_keeps_nobody_waiting",
            "calls_run_at_the_same_time",
        ],
    ),
    (
        Fault::OneCallAtATime,
        &[
            "a_long_call_keeps_nobody_waiting",
            "calls_run_at_the_same_time",
        ],
    ),
    (
        Fault::DroppedCallBreaks,
        &["a_call_that_is_dropped_leaves_others_alone"],
    ),
    (
        Fault::CancelledCallHangs,
        &["a_call_that_is_cancelled_ends"],
    ),
    (Fault::LateCallHangs, &["a_call_that_is_late_ends"]),
    (
        Fault::LongCallIsDeaf,
        &["a_long_call_ends_when_it_is_cancelled"],
    ),
    (
        Fault::LongCallHasNoDeadline,
        &["a_long_call_ends_at_its_deadline"],
    ),
    (Fault::LongCallBlocks, &["a_long_call_keeps_nobody_waiting"]),
    (
        Fault::EmptyForFailed,
        &[
            "a_failure_is_an_error_and_no_empty_list",
            "a_loader_that_failed_can_be_asked_again",
            "an_error_tells_a_model_nothing_secret",
        ],
    ),
    (Fault::TellsPath, &["an_error_tells_a_model_nothing_secret"]),
    (
        Fault::TellsSecret,
        &["an_error_tells_a_model_nothing_secret"],
    ),
    (
        Fault::TellsNothing,
        &["an_error_tells_a_model_nothing_secret"],
    ),
    (
        Fault::EmptyAtLast,
        &["a_loader_that_failed_can_be_asked_again"],
    ),
    (
        Fault::PanicsAtLast,
        &["a_loader_that_failed_can_be_asked_again"],
    ),
    (
        Fault::HangIsDeaf,
        &["a_hanging_load_ends_when_it_is_cancelled"],
    ),
    (
        Fault::HangHasNoDeadline,
        &["a_hanging_load_ends_at_its_deadline"],
    ),
    (
        Fault::KeepsWhatItBegan,
        &[
            "a_load_that_is_given_up_leaves_nothing",
            "a_loader_that_is_dropped_leaves_nothing",
        ],
    ),
    (
        Fault::OutlivesItsLoader,
        &[
            "a_load_that_is_given_up_leaves_nothing",
            "a_loader_that_is_dropped_leaves_nothing",
        ],
    ),
];

#[test]
fn each_fault_breaks_its_clauses_and_no_other() {
    table::check(&clauses(), &ALL, SPECIMENS, with);
}

#[test]
fn no_clause_is_without_a_specimen() {
    table::is_complete(&clauses(), SPECIMENS);
}

#[test]
fn a_capability_that_is_left_out_or_made_up_is_an_error() {
    assert_eq!(
        declares_the_capabilities_that_it_has(&sound(), &ALL),
        Ok(())
    );
    for capability in ALL {
        let others: Vec<&str> = ALL
            .into_iter()
            .filter(|other| *other != capability)
            .collect();
        let error = declares_the_capabilities_that_it_has(&sound(), &others).unwrap_err();
        let says = format!("it has `{capability}`, whose clauses were not stamped");
        assert!(error.to_string().contains(&says), "{error}");
        if capability != "calls" {
            let error = declares_the_capabilities_that_it_has(&function(), &["calls", capability]);
            let error = error.unwrap_err().to_string();
            let says = format!("`{capability}` is declared, and the subject says nothing of it");
            assert!(error.contains(&says), "{error}");
        }
    }
}

#[test]
fn a_runner_that_runs_nothing_passes_no_clause() {
    for clause in clauses() {
        let subject = sound().running(|future| drop(future));
        let error = (clause.check)(&subject).unwrap_err();
        assert_eq!(error.clause, clause.name);
        let says = "the runner has not run the future to its end";
        assert!(error.seen.contains(says), "{error}");
    }
}

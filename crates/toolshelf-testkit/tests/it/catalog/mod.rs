//! The kit for catalog formats.

mod specimen;

use toolshelf_testkit::catalog::{Subject, clauses, declares_the_capabilities_that_it_has};
use toolshelf_testkit::catalog_tests;

use crate::table;
use specimen::{Fault, Lines};

const CAPABILITIES: [&str; 2] = ["names", "remaining"];

fn with(fault: Fault) -> Subject {
    Subject::new(move || Lines::new(fault))
}

fn sound() -> Subject {
    with(Fault::None)
}

catalog_tests!(sound: names, remaining);

/// What each specimen breaks.
const BROKEN: [(Fault, &[&str]); 19] = [
    (Fault::NoVersion, &["its_name_ends_with_a_version"]),
    (Fault::Remembers, &["the_same_view_gives_the_same_bytes"]),
    (Fault::Unsorted, &["the_order_of_groups_does_not_matter"]),
    (Fault::Panics, &["any_view_is_taken"]),
    (
        Fault::SaysNothingIsThere,
        // Nothing remains where all is loaded, too.
        &["no_groups_no_text", "what_is_loaded_is_left_out"],
    ),
    (Fault::EndsLine, &["the_text_ends_without_a_line_end"]),
    (Fault::IgnoresHeader, &["a_header_stands_before_the_rest"]),
    (Fault::NamesGroupsTwice, &["each_group_stands_there_once"]),
    (Fault::KeepsLines, &["text_of_servers_stays_on_its_line"]),
    (
        Fault::KeepsBackticks,
        &["text_of_servers_opens_no_code_span"],
    ),
    (Fault::KeepsLength, &["text_of_servers_is_bounded"]),
    (Fault::NamesOnALine, &["names_open_no_line"]),
    (Fault::IgnoresBudget, &["a_budget_is_kept"]),
    (Fault::OddBudgets, &["a_smaller_budget_never_shows_more"]),
    (Fault::AlwaysFull, &["the_tier_says_what_is_left_out"]),
    (
        Fault::Silent,
        &["the_text_says_how_to_see_what_is_left_out"],
    ),
    (Fault::Backwards, &["names_can_be_copied"]),
    (
        Fault::CountsUnknown,
        &["what_is_not_known_does_not_look_like_nothing"],
    ),
    (Fault::ShowsLoaded, &["what_is_loaded_is_left_out"]),
];

#[test]
fn each_specimen_breaks_its_clauses_and_no_other() {
    table::check(&clauses(), &CAPABILITIES, &BROKEN, with);
}

#[test]
fn no_clause_is_without_a_specimen() {
    table::is_complete(&clauses(), &BROKEN);
}

#[test]
fn each_clause_names_itself() {
    let panics = Subject::new(|| -> Lines { panic!("no format at all") });
    table::names_itself(&clauses(), &panics);
}

#[test]
fn a_capability_that_is_left_out_or_made_up_is_an_error() {
    let check = |subject: &Subject, declared: &[&str]| {
        declares_the_capabilities_that_it_has(subject, declared)
    };
    assert_eq!(check(&sound(), &CAPABILITIES), Ok(()));
    let error = check(&sound(), &["names"]).unwrap_err().to_string();
    assert!(
        error.contains("it has `remaining`, whose clauses were not stamped"),
        "{error}"
    );
    let error = check(&sound(), &["remaining"]).unwrap_err().to_string();
    assert!(error.contains("it has `names`"), "{error}");
}

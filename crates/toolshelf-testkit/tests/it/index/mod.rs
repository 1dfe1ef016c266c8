//! The kit for search indexes.

mod specimen;

use toolshelf_testkit::index::{Subject, clauses, declares_the_capabilities_that_it_has};
use toolshelf_testkit::{NameIndex, index_tests};

use crate::table;
use specimen::{Fault, Mini};

const ALL: [&str; 6] = [
    "texts", "selects", "requires", "patterns", "corrects", "explains",
];

fn names() -> Subject {
    Subject::new(NameIndex::default)
}

fn with(fault: Fault) -> Subject {
    // A form of its own, `~word`, and a tool that is found by it.
    Subject::new(move || Mini::new(fault))
        .tools("zoo", &[("feed_lion", "Gives meat to the lion.")])
        .queries(&["~lion"])
}

fn sound() -> Subject {
    with(Fault::None)
}

index_tests!(names: texts);
index_tests!(sound: texts, selects, requires, patterns, corrects, explains);

/// Faults, each with the clauses that it breaks.
type Specimens = &'static [(Fault, &'static [&'static str])];

const ANSWERS: Specimens = &[
    (Fault::NameOfTwoLines, &["its_name_is_one_line"]),
    (
        Fault::NamesNoForms,
        &["the_forms_that_it_names_are_those_that_it_reads"],
    ),
    (
        Fault::Counts,
        &[
            "a_group_that_left_leaves_no_trace",
            "a_hit_is_explained",
            "a_smaller_limit_cuts_the_answer",
            "a_tool_that_left_leaves_no_trace",
            "changes_in_any_order_equal_building_anew",
            "hostile_tools_hide_no_other",
            "searches_side_by_side_agree",
            "the_same_query_has_the_same_answer",
        ],
    ),
    (
        Fault::OrderOfArrival,
        &[
            "hits_of_one_score_go_by_key",
            "a_hit_is_explained",
            "a_smaller_limit_cuts_the_answer",
            "a_word_of_a_description_finds_its_tool",
            "changes_in_any_order_equal_building_anew",
            "the_order_in_which_tools_came_does_not_matter",
        ],
    ),
    (
        Fault::Twice,
        &["a_hit_stands_once", "only_the_groups_in_scope_are_searched"],
    ),
    (
        Fault::Rising,
        &["a_hit_is_explained", "scores_are_numbers_that_never_rise"],
    ),
    (
        Fault::NotANumber,
        &[
            "hits_of_one_score_go_by_key",
            "scores_are_numbers_that_never_rise",
        ],
    ),
    (
        Fault::OwnFormIsNoNumber,
        &[
            "a_smaller_limit_cuts_the_answer",
            "a_hit_is_explained",
            "scores_are_numbers_that_never_rise",
        ],
    ),
    (
        Fault::TiesBackwards,
        &[
            "a_smaller_limit_cuts_the_answer",
            "a_group_before_a_name_tells_which_one",
            "hits_of_one_score_go_by_key",
        ],
    ),
    (
        Fault::EndsThatAreNone,
        &[
            "a_word_of_a_description_finds_its_tool",
            "why_a_tool_is_a_hit_is_true",
        ],
    ),
    (Fault::LimitByScore, &["a_smaller_limit_cuts_the_answer"]),
    (Fault::PanicsSideBySide, &["searches_side_by_side_agree"]),
    (
        Fault::NameLast,
        &[
            "hits_of_one_score_go_by_key",
            "a_group_before_a_name_tells_which_one",
            "a_group_is_searched_as_it_is_now",
            "a_large_group_is_searched",
            "a_name_comes_first",
            "a_name_in_another_style_comes_first",
            "a_smaller_limit_cuts_the_answer",
            "a_word_of_a_description_finds_its_tool",
            "hostile_queries_are_answered_or_refused",
            "hostile_tools_hide_no_other",
            "scores_are_numbers_that_never_rise",
            "searches_side_by_side_agree",
        ],
    ),
    (
        Fault::NameIsText,
        &[
            "a_group_before_a_name_tells_which_one",
            "a_name_comes_first",
            "a_name_in_another_style_comes_first",
            "a_text_that_names_a_tool_is_not_its_name",
            "selected_names_are_found_and_the_others_missing",
        ],
    ),
    (
        Fault::ExactNamesOnly,
        &[
            "a_name_in_another_style_comes_first",
            "a_smaller_limit_cuts_the_answer",
        ],
    ),
    (
        Fault::IgnoresGroupInName,
        &[
            "a_hit_is_explained",
            "a_group_before_a_name_tells_which_one",
        ],
    ),
    (
        Fault::IgnoresScope,
        &[
            "a_selection_keeps_to_its_scope",
            "hostile_queries_are_answered_or_refused",
            "only_the_groups_in_scope_are_searched",
        ],
    ),
];

const GROUPS: Specimens = &[
    (Fault::RefusesWhenEmpty, &["an_empty_index_finds_nothing"]),
    (
        Fault::NeverReplaces,
        &[
            "a_group_is_searched_as_it_is_now",
            "a_tool_that_left_leaves_no_trace",
            "changes_in_any_order_equal_building_anew",
        ],
    ),
    (
        Fault::KeepsGroups,
        &[
            "a_group_that_left_leaves_no_trace",
            "an_empty_index_finds_nothing",
            "changes_in_any_order_equal_building_anew",
            "hostile_tools_hide_no_other",
        ],
    ),
    (
        Fault::KeepsTools,
        &[
            "a_group_is_searched_as_it_is_now",
            "a_tool_that_left_leaves_no_trace",
            "changes_in_any_order_equal_building_anew",
        ],
    ),
    (
        Fault::KeepsTheLargest,
        &["changes_in_any_order_equal_building_anew"],
    ),
    (
        Fault::LeastBad,
        &[
            "a_hit_is_explained",
            "hostile_queries_are_answered_or_refused",
            "no_match_is_an_answer",
            "only_the_groups_in_scope_are_searched",
        ],
    ),
    (
        Fault::AnswersNothing,
        &["a_query_without_a_word_is_refused"],
    ),
    (Fault::UnlimitedZero, &["a_limit_of_zero_is_refused"]),
    (
        Fault::BareRefusal,
        &[
            "a_limit_of_zero_is_refused",
            "a_pattern_that_cannot_be_read_is_refused",
            "a_query_without_a_word_is_refused",
            "hostile_queries_are_answered_or_refused",
        ],
    ),
    (
        Fault::PanicsAtLength,
        &["hostile_queries_are_answered_or_refused"],
    ),
    (
        Fault::RepeatsTwice,
        &[
            "hostile_queries_are_answered_or_refused",
            "selected_names_are_found_and_the_others_missing",
        ],
    ),
    (Fault::ForgetsOthers, &["hostile_tools_hide_no_other"]),
    (Fault::FirstThousand, &["a_large_group_is_searched"]),
];

const FORMS: Specimens = &[
    (
        Fault::NoTexts,
        &[
            "a_misspelt_word_is_understood",
            "a_word_of_a_description_finds_its_tool",
            "the_forms_that_it_names_are_those_that_it_reads",
        ],
    ),
    (
        Fault::TextsAreNames,
        &[
            "why_a_tool_is_a_hit_is_true",
            "a_text_that_names_a_tool_is_not_its_name",
            "a_word_of_a_description_finds_its_tool",
        ],
    ),
    (
        Fault::MissingIsFound,
        &[
            "a_selection_keeps_to_its_scope",
            "selected_names_are_found_and_the_others_missing",
        ],
    ),
    (
        Fault::CutsSelected,
        &["more_may_be_selected_than_the_limit"],
    ),
    (
        Fault::SelectsEverywhere,
        &[
            "a_selection_keeps_to_its_scope",
            "only_the_groups_in_scope_are_searched",
        ],
    ),
    (
        Fault::PlusIsNothing,
        &[
            "a_hit_is_explained",
            "a_required_word_filters",
            "a_required_word_that_nobody_has_finds_nothing",
            "the_forms_that_it_names_are_those_that_it_reads",
        ],
    ),
    (
        Fault::PlusForKnownWords,
        &["a_required_word_that_nobody_has_finds_nothing"],
    ),
    (Fault::PatternFitsPart, &["a_pattern_finds_what_it_fits"]),
    (
        Fault::BrokenPatternIsWords,
        &["a_pattern_that_cannot_be_read_is_refused"],
    ),
    (
        Fault::PatternFitsAll,
        &["a_pattern_that_tries_for_ever_ends"],
    ),
    (Fault::NoCorrection, &["a_misspelt_word_is_understood"]),
    (
        Fault::CorrectsAll,
        &["a_word_that_some_tool_has_is_not_corrected"],
    ),
    (Fault::PartsUnsorted, &["a_hit_is_explained"]),
    (Fault::PartsOfHalf, &["a_hit_is_explained"]),
    (Fault::ExplainsOthers, &["what_is_no_hit_has_no_parts"]),
    (
        Fault::ExplainsNothing,
        &["an_explanation_refuses_what_a_search_refuses"],
    ),
];

#[track_caller]
fn check(specimens: Specimens) {
    table::check(&clauses(), &ALL, specimens, with);
}

#[test]
fn a_broken_answer_breaks_its_clauses_and_no_other() {
    check(ANSWERS);
}

#[test]
fn what_goes_wrong_with_groups_and_queries_breaks_its_clauses_and_no_other() {
    check(GROUPS);
}

#[test]
fn a_broken_form_breaks_its_clauses_and_no_other() {
    check(FORMS);
}

#[test]
fn no_clause_is_without_a_specimen() {
    table::is_complete(&clauses(), &[ANSWERS, GROUPS, FORMS].concat());
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
        if capability != "texts" {
            let error = declares_the_capabilities_that_it_has(&names(), &["texts", capability]);
            let error = error.unwrap_err().to_string();
            let says = format!("`{capability}` is declared, and nothing of it");
            assert!(error.contains(&says), "{error}");
        }
    }
}

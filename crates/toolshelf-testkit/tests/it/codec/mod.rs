//! The kit for discovery codecs.

mod specimen;

use toolshelf_core::ContentBlock;
use toolshelf_testkit::codec::{Subject, clauses, declares_the_capabilities_that_it_has};
use toolshelf_testkit::codec_tests;

use crate::table;
use specimen::{Fault, Plus, lines};

const CAPABILITIES: [&str; 1] = ["writes"];

fn with(fault: Fault) -> Subject {
    let subject = Subject::new(move || Plus::new(fault));
    match fault {
        // What it does not write, somebody else does.
        Fault::RefusesOddly => subject.written_with(|names| {
            let mut once: Vec<&str> = Vec::new();
            for name in names {
                if !once.contains(name) {
                    once.push(name);
                }
            }
            vec![ContentBlock::text(lines(&once))]
        }),
        _ => subject,
    }
}

fn sound() -> Subject {
    with(Fault::None)
}

codec_tests!(sound: writes);

/// What each specimen breaks.
const BROKEN: [(Fault, &[&str]); 20] = [
    (Fault::NoVersion, &["its_name_ends_with_a_version"]),
    (
        Fault::ReadsFewNames,
        &[
            "what_was_written_is_read",
            "the_longest_names_and_lists_are_written",
        ],
    ),
    (
        Fault::Panics,
        &[
            "reading_is_total",
            "the_same_content_has_the_same_names",
            "what_was_read_can_be_written",
            "what_was_read_is_written_and_read_again",
        ],
    ),
    (Fault::FarAwayIssues, &["reading_is_total"]),
    (Fault::Remembers, &["the_same_content_has_the_same_names"]),
    (
        Fault::TakesAnyName,
        &[
            "a_name_that_no_tool_can_have_is_told_and_left_out",
            "names_and_issues_are_bounded",
            "what_was_read_can_be_written",
            "what_was_read_is_written_and_read_again",
        ],
    ),
    (
        Fault::Quiet,
        &[
            "a_name_that_no_tool_can_have_is_told_and_left_out",
            "names_and_issues_are_bounded",
        ],
    ),
    (
        Fault::KeepsTwice,
        &[
            "a_name_that_no_tool_can_have_is_told_and_left_out",
            "a_name_that_stands_twice_is_one",
            "names_and_issues_are_bounded",
            "what_was_read_can_be_written",
            "what_was_read_is_written_and_read_again",
        ],
    ),
    (Fault::Unbounded, &["names_and_issues_are_bounded"]),
    (
        Fault::OnlyFirstBlock,
        &["what_stands_beside_a_result_changes_nothing"],
    ),
    (Fault::OneKindOfLineEnd, &["line_ends_do_not_matter"]),
    (Fault::ReadsQuotes, &["a_quoted_result_is_none"]),
    (
        Fault::RefusesOddly,
        &[
            "a_name_is_never_read_as_others",
            "a_name_is_written_once",
            "any_name_that_may_be_found_is_written",
            "it_writes_or_says_that_it_does_not",
            "the_longest_names_and_lists_are_written",
            "the_same_names_are_the_same_bytes",
            "what_could_not_be_read_back_is_refused",
            "what_was_read_is_written_and_read_again",
        ],
    ),
    (
        Fault::RefusesSlashes,
        &[
            "any_name_that_may_be_found_is_written",
            "what_was_read_is_written_and_read_again",
            "what_was_written_is_read",
        ],
    ),
    (
        Fault::RefusesLong,
        &["the_longest_names_and_lists_are_written"],
    ),
    (
        Fault::LeavesOutWhatItCannotWrite,
        &[
            "a_name_is_never_read_as_others",
            "what_could_not_be_read_back_is_refused",
        ],
    ),
    (Fault::AllInALine, &["a_name_is_never_read_as_others"]),
    (Fault::WritesTwice, &["a_name_is_written_once"]),
    (
        Fault::WritesAnotherEnd,
        &["the_same_names_are_the_same_bytes"],
    ),
    (
        Fault::LosesDots,
        &[
            "a_name_that_no_tool_can_have_is_told_and_left_out",
            "a_name_that_stands_twice_is_one",
            "any_name_that_may_be_found_is_written",
            "line_ends_do_not_matter",
            "what_stands_beside_a_result_changes_nothing",
            "what_was_read_is_written_and_read_again",
            "what_was_written_is_read",
        ],
    ),
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
    let panics = Subject::new(|| -> Plus { panic!("no codec at all") });
    table::names_itself(&clauses(), &panics);
}

#[test]
fn a_capability_that_is_left_out_or_made_up_is_an_error() {
    let check = declares_the_capabilities_that_it_has;
    assert_eq!(check(&sound(), &CAPABILITIES), Ok(()));
    let error = check(&sound(), &[]).unwrap_err().to_string();
    assert!(
        error.contains("it has `writes`, whose clauses were not stamped"),
        "{error}"
    );
    let error = check(&with(Fault::RefusesOddly), &CAPABILITIES)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`writes` is declared, and nothing of it"),
        "{error}"
    );
}

#[test]
fn a_codec_that_only_reads_needs_a_writer() {
    let alone = Subject::new(|| OnlyReads);
    let error = toolshelf_testkit::codec::what_was_written_is_read(&alone).unwrap_err();
    assert!(error.seen.contains("`written_with`"), "{error}");
    assert_eq!(
        toolshelf_testkit::codec::it_writes_or_says_that_it_does_not(&alone),
        Ok(())
    );
}

struct OnlyReads;

impl toolshelf_core::codec::DiscoveryCodec for OnlyReads {
    fn name(&self) -> &str {
        "plus/1"
    }

    fn write(&self, _: &[&str]) -> Result<Vec<ContentBlock>, toolshelf_core::Error> {
        let kind = toolshelf_core::ErrorKind::Mismatch;
        Err(toolshelf_core::Error::new(kind, "'plus/1' is only read"))
    }

    fn read<'a>(
        &self,
        _: &'a [toolshelf_core::codec::Block<'a>],
    ) -> toolshelf_core::codec::ReadDiscovery<'a> {
        toolshelf_core::codec::ReadDiscovery::default()
    }
}

//! `found/1`, sentence by sentence.

use toolshelf_core::codec::{Block, DiscoveryCodec, IssueKind, MAX_DISCOVERED_NAMES};
use toolshelf_discovery::{FoundLine, found_line};

use crate::GOLDEN;

/// The names and the kinds of issues of a text.
fn read(text: &str) -> (Vec<String>, Vec<IssueKind>) {
    let content = [Block::Text(text.into())];
    let read = FoundLine.read(&content);
    (
        read.names.into_iter().map(Into::into).collect(),
        read.issues.into_iter().map(|issue| issue.kind).collect(),
    )
}

#[track_caller]
fn check(text: &str, names: &[&str], issues: &[IssueKind]) {
    let (found, odd) = read(text);
    assert_eq!(found, names, "{text:?}");
    assert_eq!(odd, issues, "{text:?}");
}

#[test]
fn the_line_is_written_byte_for_byte() {
    let names = ["CronCreate", "mcp__slack__send_message"];
    GOLDEN.check("found-1.two", &found_line(&names).unwrap());
    GOLDEN.check("found-1.one", &found_line(&["a"]).unwrap());
    GOLDEN.check("found-1.none", &found_line(&[]).unwrap());
    let odd = ["a.b", "ends.", "größe", "two words", "(x): y", "a"];
    GOLDEN.check("found-1.odd-names", &found_line(&odd).unwrap());
}

#[test]
fn what_was_written_is_read() {
    let names = [
        "a.b",
        "ends.",
        "...",
        "größe",
        "two words",
        "Found 1",
        "(s): x",
    ];
    check(&found_line(&names).unwrap(), &names, &[]);
    check(&found_line(&[]).unwrap(), &[], &[]);
}

#[test]
fn a_name_is_written_once() {
    assert_eq!(
        found_line(&["a", "b", "a"]).unwrap(),
        "Found 2 deferred tool(s): a, b."
    );
}

#[test]
fn the_line_may_be_any_line() {
    check("Found 1 deferred tool(s): a.", &["a"], &[]);
    check("one\n\nFound 1 deferred tool(s): a.\nthree", &["a"], &[]);
    check(
        "one\r\nFound 2 deferred tool(s): a, b.\r\nthree\r\n",
        &["a", "b"],
        &[],
    );
}

#[test]
fn the_line_begins_where_a_line_begins() {
    for text in [
        "It says: Found 1 deferred tool(s): a.",
        " Found 1 deferred tool(s): a.",
        "> Found 1 deferred tool(s): a.",
        "NotFound 1 deferred tool(s): a.",
        "Found one deferred tool(s): a.",
        "Found  1 deferred tool(s): a.",
        "Found -1 deferred tool(s): a.",
        "found 1 deferred tool(s): a.",
        "Found 1 deferred tools: a.",
        "deferred tool(s)",
        "",
    ] {
        check(text, &[], &[]);
    }
}

#[test]
fn the_last_dot_ends_the_list() {
    check("Found 2 deferred tool(s): a.b, c.d.", &["a.b", "c.d"], &[]);
    check("Found 1 deferred tool(s): a...", &["a.."], &[]);
    check("Found 1 deferred tool(s): a. \t", &["a"], &[]);
}

#[test]
fn names_are_trimmed_and_come_once() {
    check("Found 3 deferred tool(s):  b ,a,\tb.", &["b", "a"], &[]);
}

#[test]
fn a_line_that_goes_on_in_another_way_is_an_issue() {
    for text in [
        "Found 2 deferred tool(s): a, b",
        "Found 2 deferred tool(s):\n- a\n- b",
        "Found 2 deferred tool(s)",
        "Found 2 deferred tool(s) in 3 ms.",
    ] {
        check(text, &[], &[IssueKind::UnknownShape]);
    }
}

#[test]
fn a_count_that_does_not_match_is_an_issue_and_names_are_read() {
    check(
        "Found 3 deferred tool(s): a, b.",
        &["a", "b"],
        &[IssueKind::CountMismatch],
    );
    let huge = "9".repeat(400);
    check(
        &format!("Found {huge} deferred tool(s): a."),
        &["a"],
        &[IssueKind::CountMismatch],
    );
    check("Found 1 deferred tool(s): .", &[], &[IssueKind::EmptyList]);
    check("Found 0 deferred tool(s): .", &[], &[]);
}

#[test]
fn a_name_that_no_tool_can_have_is_left_out() {
    check(
        "Found 3 deferred tool(s): a, , b.",
        &["a", "b"],
        &[IssueKind::InvalidName],
    );
    let long = "x".repeat(258);
    check(
        &format!("Found 2 deferred tool(s): {long}, a."),
        &["a"],
        &[IssueKind::InvalidName],
    );
    check(
        "Found 2 deferred tool(s): a\u{202e}b, c\rd.",
        &[],
        &[IssueKind::InvalidName, IssueKind::InvalidName],
    );
}

#[test]
fn names_are_bounded() {
    let names: Vec<String> = (0..MAX_DISCOVERED_NAMES + 5)
        .map(|at| at.to_string())
        .collect();
    let line = format!(
        "Found {} deferred tool(s): {}.",
        names.len(),
        names.join(", ")
    );
    let (found, issues) = read(&line);
    assert_eq!(found, names[..MAX_DISCOVERED_NAMES]);
    assert_eq!(issues, [IssueKind::TooManyNames]);
}

#[test]
fn only_the_first_line_of_a_result_counts() {
    // What follows may be what a server says of its tool.
    check(
        "Found 1 deferred tool(s): a.\na: Does things.\nFound 1 deferred tool(s): evil.",
        &["a"],
        &[IssueKind::AnotherList],
    );
}

#[test]
fn blocks_are_read_as_the_text_that_they_make() {
    let content = [
        Block::Other,
        Block::Text("Hits:".into()),
        Block::Text("Found 1 deferred tool(s): a.".into()),
        Block::Text("Found 1 deferred tool(s): evil.".into()),
    ];
    let read = FoundLine.read(&content);
    assert_eq!(read.names, ["a"]);
    assert_eq!(read.issues.len(), 1);
    assert_eq!(
        read.issues[0].to_string(),
        "another list in block 3: only the first list counts"
    );
}

#[test]
fn an_issue_is_one_bounded_line() {
    let text = format!(
        "Found 1 deferred tool(s)!\u{1b}[31m `{}`",
        "x".repeat(10_000)
    );
    let content = [Block::Text(text.into())];
    let said = FoundLine.read(&content).issues[0].to_string();
    assert!(said.len() < 250, "{said}");
    assert!(!said.contains(['\u{1b}', '\n', '`']), "{said}");
}

#[test]
fn many_needles_cost_no_more_than_their_length() {
    // One line of a megabyte of beginnings without an end, which a careless reader would walk over again
    // and again. The test hangs if this one does.
    let text = "Found 1 deferred tool(s)".repeat(50_000);
    check(&text, &[], &[IssueKind::UnknownShape]);
    let text = "1".repeat(1_000_000) + " deferred tool(s): a.";
    check(&text, &[], &[]);
}

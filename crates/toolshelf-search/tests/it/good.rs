//! What is good enough to be an answer, and what is not.

use toolshelf_core::search::{IndexedTool, SearchIndex, SearchQuery};
use toolshelf_search::Lexical;

use crate::world::{first, group, index, keys, query, tool};

/// Three servers, in each of which most names have one word in common.
fn offices() -> Vec<IndexedTool> {
    let tools = [
        ("billing", "create_invoice", "Makes an invoice."),
        (
            "billing",
            "send_invoice",
            "Mails an invoice to its customer.",
        ),
        (
            "billing",
            "list_invoices",
            "Lists the invoices of a customer.",
        ),
        ("billing", "get_invoice", "Returns one invoice."),
        ("billing", "void_invoice", "Declares an invoice void."),
        ("tracker", "create_issue", "Makes an issue."),
        ("tracker", "list_issues", "Lists the issues of a project."),
        ("tracker", "comment_on_issue", "Adds a comment to an issue."),
        ("tracker", "assign_issue", "Gives an issue to a person."),
        ("filesystem", "read_file", "Reads a file."),
        ("filesystem", "write_file", "Writes a file."),
        ("filesystem", "copy_file", "Copies a file."),
        ("filesystem", "get_file_info", "Size and times of a file."),
        (
            "filesystem",
            "list_directory",
            "Lists the files of a directory.",
        ),
    ];
    tools
        .map(|(group, name, about)| tool(group, name, about))
        .into()
}

/// The tools of one group of them.
fn office(name: &str) -> Lexical {
    let mut tools = offices();
    tools.retain(|tool| tool.key.group == *name);
    index(&tools)
}

/// The groups of what is found, each once.
fn groups(index: &Lexical, text: &str, scope: &[&str]) -> Vec<String> {
    let query = SearchQuery {
        groups: scope.iter().map(|id| group(id)).collect(),
        ..query(text)
    };
    let found = index.search(&query).unwrap();
    let mut groups: Vec<String> = found
        .hits
        .iter()
        .map(|hit| hit.key.group.to_string())
        .collect();
    groups.sort();
    groups.dedup();
    groups
}

#[test]
fn a_word_of_many_names_is_found_beside_one_that_no_tool_has() {
    let index = index(&offices());
    for (text, expected) in [
        ("zap invoice", "billing"),
        ("delete invoice", "billing"),
        ("invoice zeppelin", "billing"),
        ("upvote issues", "tracker"),
        ("chmod file", "filesystem"),
        ("please delete the invoice permanently", "billing"),
        ("i would like you to shred this file somehow", "filesystem"),
    ] {
        assert_eq!(groups(&index, text, &[]), [expected], "{text}");
    }
}

#[test]
fn a_word_of_all_tools_is_found_beside_one_that_none_has() {
    for (name, text) in [
        ("billing", "delete invoice"),
        ("billing", "crumple an invoice"),
        ("tracker", "upvote issue"),
        ("filesystem", "open file"),
        ("billing", "can you please delete the invoice permanently"),
    ] {
        assert!(!keys(&office(name), text).is_empty(), "{text}");
    }
}

#[test]
fn a_misspelt_word_of_most_tools_is_corrected() {
    let all = index(&offices());
    for (text, expected) in [
        ("invioce", "billing"),
        ("invoces", "billing"),
        ("isue", "tracker"),
        ("issuse", "tracker"),
        ("fiel", "filesystem"),
        ("filesytem", "filesystem"),
        ("delte invioce", "billing"),
    ] {
        assert_eq!(groups(&all, text, &[]), [expected], "{text}");
        assert!(!keys(&office(expected), text).is_empty(), "{text}");
    }
    assert_eq!(first(&all, "voiding an invioce"), "billing/void_invoice");
}

#[test]
fn in_chosen_groups_a_little_is_good() {
    let index = index(&offices());
    for text in [
        "open file",
        "chmod a file recursively",
        "please unzip this file quickly now",
    ] {
        assert_eq!(
            groups(&index, text, &["filesystem"]),
            ["filesystem"],
            "{text}"
        );
    }
    for text in ["bake a cake", "invoice", "qwertyuiop"] {
        assert!(groups(&index, text, &["filesystem"]).is_empty(), "{text}");
    }
}

#[test]
fn one_word_of_many_is_no_good_match_however_many_tools_have_it() {
    for text in [
        "bake a chocolate cake with candles and file nothing",
        "tango choreography for a file of seventeen dancers",
    ] {
        let found = keys(&office("filesystem"), text);
        assert!(found.is_empty(), "{text}: {found:?}");
    }
}

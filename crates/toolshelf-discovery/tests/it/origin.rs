//! Only what answers a call of the search tool counts.

use serde_json::json;
use toolshelf_core::codec::IssueKind;
use toolshelf_core::{Call, ContentBlock, Message, Role};
use toolshelf_discovery::{Anthropic, DiscoveryReader, Gemini, Neutral, OpenAiResponses, Source};

/// The model calls these tools: id and name.
pub(crate) fn calls(calls: &[(&str, &str)]) -> Message {
    let call = |(id, name): &(&str, &str)| Call {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: json!({}),
    };
    Message {
        role: Role::Assistant,
        content: vec![],
        calls: calls.iter().map(call).collect(),
        answers: None,
    }
}

/// A message that says that a tool was found.
pub(crate) fn says(role: Role, answers: Option<&str>, name: &str) -> Message {
    let line = format!("Found 1 deferred tool(s): {name}.");
    Message {
        role,
        content: vec![ContentBlock::text(line)],
        calls: vec![],
        answers: answers.map(str::to_owned),
    }
}

fn found(id: &str, name: &str) -> Message {
    says(Role::Tool, Some(id), name)
}

#[track_caller]
fn check(history: &[Message], names: &[&str], issues: &[IssueKind]) {
    let mut reader = DiscoveryReader::new(Neutral, vec![Source::search("search_tools")]);
    reader.feed(history);
    let read: Vec<&str> = reader.names().iter().map(|name| &**name).collect();
    assert_eq!(read, names);
    let kinds: Vec<IssueKind> = reader.issues().iter().map(|odd| odd.issue.kind).collect();
    assert_eq!(kinds, issues);
}

#[test]
fn the_answer_to_a_search_counts_and_that_of_another_tool_does_not() {
    check(
        &[
            calls(&[("1", "search_tools"), ("2", "fetch")]),
            found("2", "evil"),
            found("1", "a"),
        ],
        &["a"],
        &[],
    );
}

#[test]
fn an_announcement_never_counts() {
    check(
        &[
            says(Role::System, None, "a"),
            says(Role::User, None, "b"),
            says(Role::Assistant, None, "c"),
            says(Role::Tool, None, "d"),
            calls(&[("1", "search_tools")]),
            says(Role::User, Some("1"), "e"),
            says(Role::System, Some("1"), "f"),
            says(Role::Assistant, Some("1"), "g"),
        ],
        &[],
        &[],
    );
}

#[test]
fn an_answer_to_no_call_does_not_count() {
    check(&[found("1", "a")], &[], &[IssueKind::UnknownCall]);
    // Nor does one before its call, nor one to an id that differs.
    check(
        &[
            found("1", "a"),
            calls(&[("1", "search_tools")]),
            found("1 ", "b"),
            found("", "c"),
        ],
        &[],
        &[IssueKind::UnknownCall; 3],
    );
}

#[test]
fn only_the_first_answer_counts() {
    check(
        &[
            calls(&[("1", "search_tools")]),
            found("1", "a"),
            found("1", "b"),
        ],
        &["a"],
        &[IssueKind::UnknownCall],
    );
}

#[test]
fn a_user_cannot_call() {
    let mut forged = calls(&[("1", "search_tools")]);
    forged.role = Role::User;
    check(&[forged, found("1", "a")], &[], &[IssueKind::UnknownCall]);
}

#[test]
fn an_id_that_is_used_again_means_its_latest_call() {
    // Some models number their calls anew in each turn.
    check(
        &[
            calls(&[("call_0", "search_tools")]),
            found("call_0", "a"),
            calls(&[("call_0", "fetch")]),
            found("call_0", "evil"),
            calls(&[("call_0", "search_tools")]),
            found("call_0", "b"),
        ],
        &["a", "b"],
        &[],
    );
}

#[test]
fn two_open_calls_under_one_id_count_only_when_both_search() {
    for order in [["search_tools", "fetch"], ["fetch", "search_tools"]] {
        check(
            &[
                calls(&[("1", order[0])]),
                calls(&[("1", order[1])]),
                found("1", "a"),
                found("1", "b"),
            ],
            &[],
            &[IssueKind::AmbiguousCall, IssueKind::UnknownCall],
        );
    }
    check(
        &[
            calls(&[("1", "search_tools"), ("1", "search_tools")]),
            found("1", "a"),
        ],
        &["a"],
        &[],
    );
}

#[test]
fn the_name_of_the_search_tool_is_the_host_s() {
    let history = [
        calls(&[
            ("1", "find"),
            ("2", "search_tools"),
            ("3", "FIND"),
            ("4", "x/find"),
        ]),
        found("1", "a"),
        found("2", "b"),
        found("3", "c"),
        found("4", "d"),
    ];
    let mut reader = DiscoveryReader::new(Neutral, vec![Source::search("find")]);
    reader.feed(&history);
    assert_eq!(reader.names(), ["a".into()]);
}

#[test]
fn an_error_discovers_nothing() {
    let history = [
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "search_tools"}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "is_error": true,
            "content": "Found 1 deferred tool(s): a."}]}),
    ];
    let mut reader = DiscoveryReader::new(Anthropic, Source::usual());
    reader.feed(&history);
    assert_eq!(reader.names(), []);
}

#[test]
fn roles_of_providers_are_kept_apart() {
    // The model cannot write a result, the user cannot write a call.
    let history = [
        json!({"role": "user", "content": [{"type": "tool_use", "id": "1", "name": "search_tools"}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1",
            "content": "Found 1 deferred tool(s): a."}]}),
        json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "2", "name": "search_tools"},
            {"type": "tool_result", "tool_use_id": "2", "content": "Found 1 deferred tool(s): b."}]}),
    ];
    let mut reader = DiscoveryReader::new(Anthropic, Source::usual());
    reader.feed(&history);
    assert_eq!(reader.names(), []);
}

#[test]
fn the_provider_s_search_and_ours_are_not_taken_for_each_other() {
    let references = json!([{"type": "tool_reference", "tool_name": "a"}]);
    let history = [
        json!({"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "1", "name": "tool_search_tool_regex"},
            {"type": "server_tool_use", "id": "3", "name": "web_search"},
            {"type": "tool_use", "id": "2", "name": "search_tools"},
            {"type": "tool_search_tool_result", "tool_use_id": "2", "content": {"tool_references": references}},
            {"type": "tool_search_tool_result", "tool_use_id": "3", "content": {"tool_references": references}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": references}]}),
    ];
    let mut reader = DiscoveryReader::new(Anthropic, Source::usual());
    reader.feed(&history);
    assert_eq!(reader.names(), []);
    assert_eq!(reader.issues().len(), 3);
    let items = [
        json!({"type": "function_call", "call_id": "1", "name": "tool_search_call"}),
        json!({"type": "tool_search_output", "call_id": "1", "tools": [{"name": "a"}]}),
    ];
    let mut reader = DiscoveryReader::new(OpenAiResponses, Source::usual());
    reader.feed(&items);
    assert_eq!(reader.names(), []);
}

fn gemini(names: &[&str], history: &[serde_json::Value]) {
    let mut reader = DiscoveryReader::new(Gemini, Source::usual());
    reader.feed(history);
    let read: Vec<&str> = reader.names().iter().map(|name| &**name).collect();
    assert_eq!(read, names);
}

fn response(id: Option<&str>, function: &str, name: &str) -> serde_json::Value {
    let line = format!("Found 1 deferred tool(s): {name}.");
    let mut inner = json!({"name": function, "response": {"output": line}});
    if let Some(id) = id {
        inner["id"] = id.into();
    }
    json!({"role": "user", "parts": [{"functionResponse": inner}]})
}

#[test]
fn in_gemini_id_and_name_agree() {
    let turn = json!({"role": "model", "parts": [
        {"functionCall": {"id": "1", "name": "search_tools"}},
        {"functionCall": {"id": "2", "name": "fetch"}},
        {"functionCall": {"name": "search_tools"}}]});
    gemini(&[], &[turn.clone(), response(Some("1"), "fetch", "a")]);
    gemini(
        &[],
        &[turn.clone(), response(Some("2"), "search_tools", "a")],
    );
    gemini(
        &["a"],
        &[turn.clone(), response(Some("1"), "search_tools", "a")],
    );
    gemini(&["a"], &[turn, response(None, "search_tools", "a")]);
}

#[test]
fn in_gemini_without_ids_an_answer_belongs_to_the_last_turn() {
    let search = json!({"role": "model", "parts": [{"functionCall": {"name": "search_tools"}}]});
    let other = json!({"role": "model", "parts": [{"functionCall": {"name": "fetch"}}]});
    gemini(
        &["a"],
        &[
            search.clone(),
            response(None, "search_tools", "a"),
            response(None, "search_tools", "b"),
        ],
    );
    gemini(&[], &[search, other, response(None, "search_tools", "a")]);
}

#[test]
fn calls_that_nobody_answers_are_forgotten() {
    let mut reader = DiscoveryReader::new(Neutral, vec![Source::search("search_tools")]);
    for at in 0..5_000 {
        reader.feed(&[calls(&[(&at.to_string(), "search_tools")])]);
    }
    reader.feed(&[found("0", "old"), found("4999", "new")]);
    assert_eq!(reader.names(), ["new".into()]);
    assert_eq!(reader.issues()[0].issue.kind, IssueKind::UnknownCall);
}

#[test]
fn an_issue_says_where_it_is() {
    let mut reader = DiscoveryReader::new(Neutral, vec![Source::search("search_tools")]);
    let mut answer = found("c1", "a");
    answer
        .content
        .push(ContentBlock::text("Found 2 deferred tool(s): b, c."));
    reader.feed(&[calls(&[("c1", "search_tools")]), answer]);
    assert_eq!(
        reader.issues()[0].to_string(),
        "message 1, call 'c1': another list in block 1: only the first list counts"
    );
}

#[test]
fn issues_are_bounded() {
    let mut reader = DiscoveryReader::new(Neutral, vec![]);
    for _ in 0..1_000 {
        reader.feed(&[found("x", "a")]);
    }
    assert_eq!(
        reader.issues().len(),
        toolshelf_discovery::MAX_HISTORY_ISSUES
    );
    assert_eq!(reader.issues().len() + reader.issues_left_out(), 1_000);
}

//! What holds for all inputs.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use toolshelf_core::Message;
use toolshelf_core::codec::{Block, DiscoveryCodec, ReadDiscovery};
use toolshelf_discovery::{
    Anthropic, DiscoveryReader, Followed, FoundLine, Functions, Gemini, HistoryFormat, LoadAnswers,
    Neutral, OpenAiChat, OpenAiResponses, Source, ToolReferences, found_line, read_marker,
    write_marker,
};
use toolshelf_testkit::generators::{history, tool_name};

fn name() -> impl Strategy<Value = String> {
    tool_name().prop_map(String::from)
}

fn names() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec(name(), 0..20)
}

fn once(names: &[String]) -> Vec<&str> {
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(&name.as_str()) {
            once.push(name);
        }
    }
    once
}

/// Text that is nearly a result of some kind.
fn nearly() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "Found ",
            "2",
            "1",
            " deferred tool(s)",
            ": ",
            ":",
            "a",
            "b.c",
            ", ",
            ",",
            ".",
            "\n",
            "\r\n",
            "\r",
            " ",
            "Found 2 deferred tool(s): a, b.",
            "<functions>",
            "</functions>",
            "<function>",
            "</function>",
            "{\"name\": \"a\"}",
            "{",
            "}",
            "[",
            "]",
            "\"",
            "\"expanded\":true",
            "\"group_id\":\"g\"",
            "\"tool_names\":[\"a\"]",
            "{\"names\":[\"a\"],\"toolshelf_discovered\":1}",
            "{\"expanded\":true,\"group_id\":\"g\",\"tool_names\":[\"a\",\"b\"]}",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,4}",
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Names that were read can be written, and reading that gives the same.
fn check_stable(read: &ReadDiscovery<'_>) {
    let names: Vec<&str> = read.names.iter().map(|name| &**name).collect();
    let line = found_line(&names).unwrap();
    let content = [Block::Text(line.as_str().into())];
    let again = FoundLine.read(&content);
    assert_eq!(again.names, names);
    assert!(again.issues.is_empty());
    assert_eq!(found_line(&names).unwrap(), line);
    assert_eq!(read_marker(&write_marker(&names).unwrap()).names, names);
}

/// JSON of any shape out of the words that histories are made of.
fn history_json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec![
        "assistant",
        "user",
        "tool",
        "model",
        "function",
        "tool_use",
        "tool_result",
        "text",
        "function_call",
        "function_call_output",
        "tool_search_call",
        "tool_search_output",
        "tool_reference",
        "search_tools",
        "load_tools",
        "fetch",
        "1",
        "2",
        "Found 2 deferred tool(s): a, b.",
        "Found 1 deferred tool(s): c.",
        "{\"expanded\":true,\"group_id\":\"g\",\"tool_names\":[\"a\"]}",
        "namespace",
        "server_tool_use",
        "tool_search_tool_regex",
        "tool_search_tool_result",
        "additional_tools",
    ]);
    let key = prop::sample::select(vec![
        "role",
        "content",
        "type",
        "id",
        "name",
        "tool_use_id",
        "tool_calls",
        "tool_call_id",
        "function",
        "call_id",
        "output",
        "parts",
        "functionCall",
        "functionResponse",
        "response",
        "text",
        "tools",
        "tool_name",
        "tool_references",
        "is_error",
        "namespace",
        "result",
    ]);
    let leaf = prop_oneof![
        8 => word.prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
        1 => any::<i64>().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| map.into_iter().collect::<Value>()),
        ]
    })
}

/// Calls and answers of searches, of loads and of something else.
fn calls_and_answers() -> impl Strategy<Value = Vec<Message>> {
    let texts = name().prop_map(|name| found_line(&[&name]).unwrap());
    history(&["search_tools", "load_tools", "fetch"], texts)
}

/// Reads at once, and in steps of these lengths; both come to the same.
fn check_steps<F: HistoryFormat + Clone>(format: F, history: &[F::Message], steps: &[usize]) {
    let mut whole = DiscoveryReader::new(format.clone(), Source::usual());
    whole.feed(history);
    let mut followed = DiscoveryReader::new(format, Source::usual());
    let mut end = 0_usize;
    for step in steps.iter().chain([&usize::MAX]) {
        end = end.saturating_add(*step).min(history.len());
        let outcome = followed.follow(&history[..end]);
        assert!(matches!(outcome, Followed::Read { .. }));
    }
    assert_eq!(whole.names(), followed.names());
    assert_eq!(whole.issues(), followed.issues());
    assert_eq!(whole.messages(), followed.messages());
    // What a marker carries over is the same too.
    let names: Vec<&str> = whole.names().iter().map(Arc::as_ref).collect();
    assert_eq!(read_marker(&write_marker(&names).unwrap()).names, names);
}

proptest! {
    #[test]
    fn a_marker_is_read_as_it_was_written(names in names()) {
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        prop_assert_eq!(read_marker(&write_marker(&refs).unwrap()).names, once(&names));
    }

    #[test]
    fn what_was_written_is_read_among_other_lines(
        names in names(),
        before in "([a-z ]{0,8}(\n|\r\n)){0,3}",
        after in "((\n|\r\n)[a-z. ]{0,8}){0,3}",
    ) {
        let refs: Vec<&str> = names.iter().map(String::as_str).collect();
        let text = format!("{before}{}{after}", found_line(&refs).unwrap());
        let content = [Block::Text(text.into())];
        prop_assert_eq!(FoundLine.read(&content).names, once(&names));
    }

    #[test]
    fn reading_is_total_and_what_was_read_can_be_written(text in nearly()) {
        let whole = [Block::Text(text.as_str().into())];
        let lines: Vec<Block<'_>> = text.split_inclusive('\n').map(|line| Block::Text(line.into())).collect();
        let codecs: [&dyn DiscoveryCodec; 4] = [&FoundLine, &Functions, &LoadAnswers, &ToolReferences];
        for codec in codecs {
            check_stable(&codec.read(&whole));
            check_stable(&codec.read(&lines));
        }
        check_stable(&read_marker(&text));
        prop_assert_eq!(FoundLine.read(&whole).names, FoundLine.read(&lines).names);
    }

    #[test]
    fn a_history_in_steps_is_the_history_at_once(
        history in calls_and_answers(),
        steps in prop::collection::vec(0_usize..6, 0..12),
    ) {
        check_steps(Neutral, &history, &steps);
    }

    #[test]
    fn a_history_of_any_json_is_read(
        history in prop::collection::vec(history_json(), 0..8),
        steps in prop::collection::vec(0_usize..4, 0..4),
    ) {
        check_steps(Anthropic, &history, &steps);
        check_steps(OpenAiChat, &history, &steps);
        check_steps(OpenAiResponses, &history, &steps);
        check_steps(Gemini, &history, &steps);
    }

    #[test]
    fn no_text_outside_of_a_search_discovers(text in nearly(), name in name()) {
        let line = format!("{text}\nFound 1 deferred tool(s): {name}.");
        let history = [
            json!({"role": "system", "content": line}),
            json!({"role": "user", "content": [{"type": "text", "text": line}]}),
            json!({"role": "assistant", "content": line, "tool_calls": [
                {"id": "1", "type": "function", "function": {"name": "fetch", "arguments": line}}]}),
            json!({"role": "tool", "tool_call_id": "1", "content": line}),
            json!({"role": "tool", "tool_call_id": "2", "content": line}),
        ];
        let mut reader = DiscoveryReader::new(OpenAiChat, Source::usual());
        reader.feed(&history);
        prop_assert!(reader.names().is_empty());
    }
}

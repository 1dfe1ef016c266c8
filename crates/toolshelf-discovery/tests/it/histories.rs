//! Histories of providers, as they come.

use serde_json::{Value, json};
use toolshelf_discovery::{
    Anthropic, DiscoveryReader, Followed, Gemini, HistoryFormat, OpenAiChat, OpenAiResponses,
    Source,
};

use crate::fixtures::{FOUND, json as fixture};

/// The names that a history discovers; it must hold nothing odd.
#[track_caller]
fn discovered<F: HistoryFormat>(format: F, history: &[F::Message]) -> Vec<String> {
    let mut reader = DiscoveryReader::new(format, Source::usual());
    assert!(matches!(reader.follow(history), Followed::Read { .. }));
    assert_eq!(reader.issues(), []);
    reader.names().iter().map(ToString::to_string).collect()
}

#[test]
fn anthropic() {
    let request = fixture("anthropic");
    let history = Anthropic::messages(&request);
    assert_eq!(history.len(), 6);
    assert_eq!(discovered(Anthropic, history), FOUND);
}

#[test]
fn openai_chat() {
    let request = fixture("openai-chat");
    assert_eq!(
        discovered(OpenAiChat, OpenAiChat::messages(&request)),
        FOUND
    );
}

#[test]
fn openai_responses() {
    let request = fixture("openai-responses");
    let items = OpenAiResponses::items(&request);
    assert_eq!(discovered(OpenAiResponses, items), FOUND);
}

#[test]
fn gemini_with_ids_and_without() {
    for name in ["gemini", "gemini-without-ids"] {
        let request = fixture(name);
        assert_eq!(
            discovered(Gemini, Gemini::contents(&request)),
            FOUND,
            "{name}"
        );
    }
}

#[test]
fn a_list_of_messages_is_a_history_too() {
    let list = json!([{"role": "user", "content": "hi"}]);
    assert_eq!(Anthropic::messages(&list).len(), 1);
    assert!(Anthropic::messages(&json!({"contents": [1]})).is_empty());
    assert!(OpenAiResponses::items(&json!({"input": "hi"})).is_empty());
    assert!(Gemini::contents(&json!(null)).is_empty());
}

#[test]
fn anthropic_references() {
    let history = [
        json!({"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "search_tools", "input": {}},
            {"type": "tool_use", "id": "t2", "name": "fetch", "input": {}},
        ]}),
        json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": [
                {"type": "tool_reference", "tool_name": "b"},
                {"type": "tool_reference", "tool_name": "a"},
            ]},
            {"type": "tool_result", "tool_use_id": "t2", "content": [
                {"type": "tool_reference", "tool_name": "evil"},
            ]},
        ]}),
    ];
    assert_eq!(discovered(Anthropic, &history), ["b", "a"]);
}

#[test]
fn the_search_of_anthropic_itself() {
    let history = [json!({"role": "assistant", "content": [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "tool_search_tool_regex",
         "input": {"query": "cron"}},
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_1", "content": {
            "type": "tool_search_tool_search_result",
            "tool_references": [{"type": "tool_reference", "tool_name": "CronCreate"}]}},
        {"type": "server_tool_use", "id": "srvtoolu_2", "name": "tool_search_tool_bm25", "input": {}},
        {"type": "tool_search_tool_result", "tool_use_id": "srvtoolu_2", "content": {
            "type": "tool_search_tool_result_error", "error_code": "unavailable"}},
    ]})];
    assert_eq!(discovered(Anthropic, &history), ["CronCreate"]);
}

#[test]
fn the_search_of_responses_run_by_client_or_provider() {
    let tools = json!([
        {"type": "namespace", "name": "crm", "tools": [
            {"type": "function", "name": "list_orders", "defer_loading": true}]},
        {"type": "function", "name": "alone"},
    ]);
    let by_client = [
        json!({"type": "tool_search_call", "call_id": "c1", "execution": "client", "arguments": {}}),
        json!({"type": "tool_search_output", "call_id": "c1", "execution": "client", "tools": tools}),
    ];
    let names = ["crm/list_orders", "alone"];
    assert_eq!(discovered(OpenAiResponses, &by_client), names);
    let by_provider = [
        json!({"type": "tool_search_call", "call_id": null, "arguments": {"paths": ["crm"]}}),
        json!({"type": "tool_search_output", "call_id": null, "tools": tools}),
    ];
    assert_eq!(discovered(OpenAiResponses, &by_provider), names);
}

#[test]
fn load_tools_in_every_shape() {
    let answer =
        r#"{"error":null,"expanded":true,"group_id":"g","remaining":0,"tool_names":["a"]}"#;
    let chat = [
        json!({"role": "assistant", "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "load_tools", "arguments": "{}"}}]}),
        json!({"role": "tool", "tool_call_id": "1", "content": answer}),
    ];
    assert_eq!(discovered(OpenAiChat, &chat), ["g/a"]);
    // Responses of Gemini are objects, so a host may put the answer there itself.
    let parsed: Value = serde_json::from_str(answer).unwrap();
    for response in [json!({"output": answer}), json!({"result": parsed}), parsed] {
        let gemini = [
            json!({"role": "model", "parts": [{"functionCall": {"name": "load_tools", "args": {}}}]}),
            json!({"role": "user", "parts": [
                {"functionResponse": {"name": "load_tools", "response": response}}]}),
        ];
        assert_eq!(discovered(Gemini, &gemini), ["g/a"]);
    }
}

#[test]
fn a_tool_of_another_kind_is_not_read_in_the_other_one_s_way() {
    let history = [
        json!({"role": "assistant", "tool_calls": [
            {"id": "1", "function": {"name": "search_tools"}},
            {"id": "2", "custom": {"name": "load_tools"}}]}),
        json!({"role": "tool", "tool_call_id": "1",
            "content": r#"{"expanded":true,"group_id":"g","tool_names":["a"]}"#}),
        json!({"role": "tool", "tool_call_id": "2", "content": "Found 1 deferred tool(s): b."}),
    ];
    let mut reader = DiscoveryReader::new(OpenAiChat, Source::usual());
    reader.feed(&history);
    assert_eq!(reader.names(), []);
    assert_eq!(reader.issues().len(), 1);
}

#[test]
fn odd_shapes_are_passed_over() {
    let odd = [
        json!(null),
        json!([]),
        json!("Found 1 deferred tool(s): a."),
        json!({"role": "assistant"}),
        json!({"role": "assistant", "content": 3, "tool_calls": {"a": 1}, "parts": [[]]}),
        json!({"role": "assistant", "content": [{"type": "tool_use"}, null], "tool_calls": [null, {"id": 1}]}),
        json!({"role": "user", "content": [{"type": "tool_result"}], "parts": [{"functionResponse": {}}]}),
        json!({"role": "tool", "tool_call_id": 4, "content": []}),
        json!({"role": "model", "parts": [{"functionCall": {"name": 1}}]}),
        json!({"type": "function_call", "call_id": "x"}),
        json!({"type": "tool_search_call"}),
        json!({"type": "tool_search_output", "tools": {"a": [1]}}),
    ];
    assert!(discovered(Anthropic, &odd).is_empty());
    assert!(discovered(OpenAiChat, &odd).is_empty());
    assert!(discovered(OpenAiResponses, &odd).is_empty());
    assert!(discovered(Gemini, &odd).is_empty());
}

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolshelf_core::{ContentBlock, ErrorKind, JsonText, ToolResult};

#[track_caller]
fn round_trip(block: Value) -> ContentBlock {
    let read: ContentBlock = serde_json::from_value(block.clone()).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), block);
    let text = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<ContentBlock>(&text).unwrap(), read);
    read
}

#[test]
fn every_kind_keeps_what_it_came_with() {
    let extra = json!({"annotations": {"audience": ["user"], "priority": 0.5}, "_meta": {"a": null}, "x": [1]});
    let kinds = [
        json!({"type": "text", "text": "a\nb"}),
        json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
        json!({"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}),
        json!({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "t"}}),
        json!({"type": "resource", "resource": {"uri": "file:///a", "blob": "aGk="}}),
        json!({"type": "resource_link", "uri": "file:///a", "name": "a", "size": 3, "title": "A"}),
        json!({"type": "tool_reference", "tool_name": "github__create_issue"}),
    ];
    for kind in kinds {
        for extra in [json!({}), extra.clone()] {
            let mut block = kind.clone();
            block
                .as_object_mut()
                .unwrap()
                .extend(extra.as_object().unwrap().clone());
            let read = round_trip(block);
            assert!(!matches!(read, ContentBlock::Other(_)), "{read:?}");
        }
    }
}

#[test]
fn what_is_not_of_a_known_shape_stays_whole() {
    for block in [
        json!({"type": "video", "data": "aGk="}),
        json!({"type": "text"}),
        json!({"type": "text", "text": 1}),
        json!({"type": "image", "data": "aGk="}),
        json!({"type": "image", "data": null, "mimeType": "image/png"}),
        json!({"type": "resource", "resource": "file:///a"}),
        json!({"type": "resource_link", "uri": "file:///a"}),
        json!({"type": "tool_reference"}),
        json!({"type": 1}),
        json!({}),
    ] {
        assert!(matches!(round_trip(block), ContentBlock::Other(_)));
    }
}

#[test]
fn only_objects_are_blocks() {
    for block in [json!("text"), json!(null), json!([])] {
        assert!(serde_json::from_value::<ContentBlock>(block).is_err());
    }
}

#[test]
fn a_result_keeps_what_it_came_with() {
    let text = r#"{"content":[{"type":"text","text":"é"},{"type":"new","x":1}],"structuredContent":{"z":1.50,"a":"é"},"isError":true,"_meta":{"k":1},"later":{"b":[]}}"#;
    let result = ToolResult::from_json(text).unwrap();
    assert!(result.is_error);
    assert_eq!(result.content.len(), 2);
    // Verbatim: neither the order of keys nor the literal of a number is lost.
    assert_eq!(
        result.structured_content.as_ref().unwrap().as_str(),
        r#"{"z":1.50,"a":"é"}"#
    );
    assert_eq!(result.rest["later"], json!({"b": []}));
    assert_eq!(serde_json::to_string(&result).unwrap(), text);
    assert_eq!(serde_json::from_str::<ToolResult>(text).unwrap(), result);
}

#[test]
fn a_result_may_hold_next_to_nothing() {
    for text in [
        "{}",
        r#"{"content":null,"isError":null,"_meta":null,"resultType":"complete"}"#,
    ] {
        let result = ToolResult::from_json(text).unwrap();
        assert_eq!(result, ToolResult::default());
        assert_eq!(serde_json::to_string(&result).unwrap(), r#"{"content":[]}"#);
    }
}

#[test]
fn a_result_of_another_shape_is_a_protocol_error() {
    for text in [
        "[]",
        "null",
        "",
        r#"{"content":"text"}"#,
        r#"{"content":["text"]}"#,
        r#"{"isError":"no"}"#,
        r#"{"_meta":[]}"#,
    ] {
        let error = ToolResult::from_json(text).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{text}");
    }
}

#[test]
fn structured_content_is_shown_where_there_is_nothing_else() {
    let structured = Some(JsonText::parse(r#"{"a":1}"#).unwrap());
    let alone = ToolResult {
        structured_content: structured.clone(),
        ..ToolResult::default()
    };
    assert_eq!(alone.model_content(), [ContentBlock::text(r#"{"a":1}"#)]);
    let both = ToolResult {
        structured_content: structured,
        ..ToolResult::text("shown")
    };
    assert_eq!(both.model_content(), [ContentBlock::text("shown")]);
    assert_eq!(ToolResult::default().model_content(), []);
}

#[test]
fn texts_are_joined() {
    let mut result = ToolResult::text("a");
    result.content.push(ContentBlock::Other(Map::new()));
    result.content.push(ContentBlock::text("b"));
    assert_eq!(result.joined_text(), "a\nb");
    assert!(ToolResult::error("a").is_error);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(field(), inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

fn field() -> impl Strategy<Value = String> {
    prop_oneof![
        "type|text|data|mimeType|resource|uri|name|tool_name|annotations|_meta",
        "[a-z]{1,4}",
        any::<String>(),
    ]
}

fn block() -> impl Strategy<Value = Value> {
    let kind = prop_oneof![
        "text|image|audio|resource|resource_link|tool_reference".prop_map(Value::from),
        value(),
    ];
    (kind, prop::collection::btree_map(field(), value(), 0..6)).prop_map(|(kind, fields)| {
        let mut block: Map<String, Value> = fields.into_iter().collect();
        block.insert("type".to_owned(), kind);
        Value::Object(block)
    })
}

proptest! {
    #[test]
    fn any_block_survives(block in block()) {
        let read: ContentBlock = serde_json::from_value(block.clone()).unwrap();
        prop_assert_eq!(serde_json::to_value(&read).unwrap(), block);
    }

    #[test]
    fn any_result_survives(
        blocks in prop::collection::vec(block(), 0..4),
        structured in prop::option::of(value().prop_filter("null is none", |value| !value.is_null())),
        is_error in any::<bool>(),
        rest in prop::collection::btree_map("[a-z]{1,8}", value(), 0..3),
    ) {
        let result = ToolResult {
            content: blocks.into_iter().map(|block| serde_json::from_value(block).unwrap()).collect(),
            structured_content: structured.map(|value| JsonText::from_serialize(&value).unwrap()),
            is_error,
            meta: is_error.then(Map::new),
            rest: rest.into_iter().filter(|(key, _)| key != "content").collect(),
        };
        let text = serde_json::to_string(&result).unwrap();
        prop_assert_eq!(ToolResult::from_json(&text).unwrap(), result);
    }

    #[test]
    fn reading_is_total(text in any::<String>()) {
        let _ = ToolResult::from_json(&text);
    }
}

use proptest::prelude::*;
use serde_json::{Value, json};
use toolshelf_core::{ErrorKind, Repair, read_arguments};

#[test]
fn what_models_give_as_arguments() {
    let empty = json!({});
    let accepted = [
        (None, &empty, None),
        (Some(json!(null)), &empty, None),
        (Some(json!({})), &empty, None),
        (
            Some(json!({"a": {"b": [1]}})),
            &json!({"a": {"b": [1]}}),
            None,
        ),
        (Some(json!("{}")), &empty, Some(Repair::JsonString)),
        (
            Some(json!(" {\"a\": 1}\n")),
            &json!({"a": 1}),
            Some(Repair::JsonString),
        ),
    ];
    for (given, expect, repair) in accepted {
        let (arguments, how) = read_arguments(given.clone()).unwrap();
        assert_eq!(
            (Value::Object(arguments), how),
            (expect.clone(), repair),
            "{given:?}"
        );
    }
    let refused = [
        (json!([]), "an array"),
        (json!([{"a": 1}]), "an array"),
        (json!(true), "a boolean"),
        (json!(0), "a number"),
        (json!(""), "does not hold a JSON object"),
        (json!("a"), "does not hold a JSON object"),
        (json!("{\"a\": 1"), "does not hold a JSON object"),
        (json!("{\"a\": 1} x"), "does not hold a JSON object"),
        (json!("null"), "holds JSON, but not an object"),
        (json!("[]"), "holds JSON, but not an object"),
        (json!("\"{}\""), "holds JSON, but not an object"),
    ];
    for (given, why) in refused {
        let error = read_arguments(Some(given.clone())).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidArguments);
        assert!(
            error.for_model().contains(why),
            "{given}: {}",
            error.for_model()
        );
        assert!(error.for_model().contains("`arguments`"));
    }
}

#[test]
fn a_text_of_any_depth_is_answered() {
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    assert!(read_arguments(Some(json!(deep))).is_err());
}

proptest! {
    #[test]
    fn nothing_becomes_empty_that_was_not(text in any::<String>()) {
        if let Ok((arguments, repair)) = read_arguments(Some(Value::String(text.clone()))) {
            prop_assert_eq!(repair, Some(Repair::JsonString));
            prop_assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), Value::Object(arguments));
        }
    }
}

//! What models make of the arguments of a forwarding call, and what becomes of it.

use serde_json::{Value, json};
use toolshelf_core::Repair;

use crate::fixtures::{Log, call, dispatch, inject, load, shelf, with_schema};

/// Anything goes, so that what arrives is what was read.
const OPEN: &str = r#"{"type":"object"}"#;

/// A tool that has arguments of the names that a forwarding call has.
const SAME_NAMES: &str = r#"{"type":"object","properties":{"tool_name":{"type":"string"},
    "arguments":{"type":"object"}}}"#;

/// Calls `g/t` by a forwarding call, and compares what arrived, and what was repaired.
async fn arrives(schema: &str, envelope: Value, expect: Value, repairs: &[Repair]) {
    let log = Log::default();
    let session = dispatch(&shelf([with_schema(&log, "g", schema)]));
    // The same whether it is loaded or not.
    for _ in 0..2 {
        let report = call(&session, "deferred_tool_call", envelope.clone()).await;
        assert_eq!(
            Value::Object(report.arguments.clone()),
            expect,
            "{envelope}"
        );
        let text = report.text();
        let arrived: Value = serde_json::from_str(text.strip_prefix("g/t ").unwrap()).unwrap();
        assert_eq!(arrived, expect, "{envelope}");
        assert_eq!(report.repairs, repairs, "{envelope}");
        load(&session, "g").await;
    }
}

/// Calls `g/t`, and compares what the model is told; nothing may run.
async fn is_refused(envelope: Value, expect: &str) {
    let log = Log::default();
    let session = dispatch(&shelf([with_schema(&log, "g", OPEN)]));
    for _ in 0..2 {
        let report = call(&session, "deferred_tool_call", envelope.clone()).await;
        assert!(report.is_error(), "{envelope}");
        assert_eq!(report.text(), expect, "{envelope}");
        load(&session, "g").await;
    }
    assert_eq!(log.count("execute g/t"), 0, "{envelope}");
}

#[tokio::test(start_paused = true)]
async fn what_is_as_it_should_be_is_passed_on_as_it_is() {
    for (envelope, expect) in [
        (
            json!({"tool_name": "t", "arguments": {"a": 1}}),
            json!({"a": 1}),
        ),
        (json!({"tool_name": "t", "arguments": {}}), json!({})),
        (json!({"tool_name": "t", "arguments": null}), json!({})),
        (json!({"tool_name": "t"}), json!({})),
        // A string inside is a string, whatever it looks like.
        (
            json!({"tool_name": "t", "arguments": {"a": "{\"b\":1}"}}),
            json!({"a": "{\"b\":1}"}),
        ),
    ] {
        arrives(OPEN, envelope, expect, &[]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_in_a_string_are_read() {
    let repairs = [Repair::JsonString];
    for (envelope, expect) in [
        (
            json!({"tool_name": "t", "arguments": "{\"a\":1}"}),
            json!({"a": 1}),
        ),
        (json!({"tool_name": "t", "arguments": " {} "}), json!({})),
        // The whole of the call in one string.
        (
            json!("{\"tool_name\":\"t\",\"arguments\":{\"a\":1}}"),
            json!({"a": 1}),
        ),
    ] {
        arrives(OPEN, envelope, expect, &repairs).await;
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_beside_the_name_are_read() {
    let repairs = [Repair::Flattened];
    for envelope in [
        json!({"tool_name": "t", "a": 1, "b": null}),
        json!({"tool_name": "t", "arguments": {}, "a": 1, "b": null}),
        json!({"tool_name": "t", "arguments": null, "a": 1, "b": null}),
    ] {
        arrives(OPEN, envelope, json!({"a": 1, "b": null}), &repairs).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_name_among_the_arguments_is_read() {
    let repairs = [Repair::NestedToolName];
    for (envelope, expect) in [
        (
            json!({"arguments": {"tool_name": "t", "a": 1}}),
            json!({"a": 1}),
        ),
        (
            json!({"arguments": {"tool_name": "t", "arguments": {"a": 1}}}),
            json!({"a": 1}),
        ),
        (
            json!({"arguments": {"tool_name": "t", "arguments": {"a": 1}, "b": 2}}),
            json!({"arguments": {"a": 1}, "b": 2}),
        ),
    ] {
        arrives(OPEN, envelope, expect, &repairs).await;
    }
    arrives(
        OPEN,
        json!({"arguments": "{\"tool_name\":\"t\",\"arguments\":\"{\\\"a\\\":1}\"}"}),
        json!({"a": 1}),
        &[Repair::JsonString, Repair::NestedToolName],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_name_that_is_repeated_is_taken_out_unless_it_is_an_argument() {
    let repeated = json!({"tool_name": "t", "arguments": {"tool_name": "t", "a": 1}});
    arrives(
        OPEN,
        repeated.clone(),
        json!({"a": 1}),
        &[Repair::NestedToolName],
    )
    .await;
    arrives(SAME_NAMES, repeated, json!({"a": 1, "tool_name": "t"}), &[]).await;
    // Another value is not a repetition.
    arrives(
        OPEN,
        json!({"tool_name": "t", "arguments": {"tool_name": "u"}}),
        json!({"tool_name": "u"}),
        &[],
    )
    .await;
    // The whole envelope twice.
    let twice = json!({"tool_name": "t", "arguments": {"tool_name": "t", "arguments": {"a": 1}}});
    arrives(
        OPEN,
        twice.clone(),
        json!({"a": 1}),
        &[Repair::NestedToolName],
    )
    .await;
    arrives(
        SAME_NAMES,
        twice,
        json!({"tool_name": "t", "arguments": {"a": 1}}),
        &[],
    )
    .await;
    let twice =
        json!({"tool_name": "t", "arguments": {"tool_name": "t", "arguments": "{\"a\":1}"}});
    arrives(
        OPEN,
        twice,
        json!({"a": 1}),
        &[Repair::JsonString, Repair::NestedToolName],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_forwarded_forwarding_call_means_what_it_says() {
    let inner = json!({"tool_name": "t", "arguments": {"a": 1}});
    let once = json!({"tool_name": "deferred_tool_call", "arguments": inner});
    let twice = json!({"tool_name": "`deferred_tool_call`", "arguments": once});
    for envelope in [once, twice] {
        arrives(OPEN, envelope, json!({"a": 1}), &[Repair::NestedToolName]).await;
    }
    let log = Log::default();
    let session = dispatch(&shelf([with_schema(&log, "g", OPEN)]));
    let load = json!({"tool_name": "load_tools", "arguments": {"group_id": "g"}});
    let forwarded = call(&session, "deferred_tool_call", load).await;
    let direct = call(&session, "load_tools", json!({"group_id": "g"})).await;
    assert_eq!(forwarded.text(), direct.text());
}

#[tokio::test(start_paused = true)]
async fn what_is_no_object_is_refused_with_the_schema_and_never_becomes_empty() {
    for (arguments, what) in [
        (json!([{"a": 1}]), "an array"),
        (json!(7), "a number"),
        (json!(true), "a boolean"),
        (json!("a"), "a string that does not hold a JSON object"),
        (json!(""), "a string that does not hold a JSON object"),
        (
            json!("{\"a\":"),
            "a string that does not hold a JSON object",
        ),
        (json!("[1]"), "a string that holds JSON, but not an object"),
        (json!("null"), "a string that holds JSON, but not an object"),
    ] {
        let expect = format!(
            "`arguments` must be a JSON object, and was {what}.\n\n\
             Input schema of `g/t`:\n{{\"type\":\"object\"}}"
        );
        let envelope = json!({"tool_name": "t", "arguments": arguments});
        is_refused(envelope, &expect).await;
    }
}

#[tokio::test(start_paused = true)]
async fn arguments_in_two_places_are_refused() {
    is_refused(
        json!({"tool_name": "t", "arguments": {"a": 1}, "b`\n": 2, "c": 3}),
        "Besides `tool_name` and `arguments` there stood 'b'', 'c'. Put all arguments into \
         `arguments`.\n\nInput schema of `g/t`:\n{\"type\":\"object\"}",
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_call_without_a_name_is_refused() {
    let missing = "`tool_name` is missing or is not a string. The form is \
         {\"tool_name\":\"group/tool\",\"arguments\":{…}}.";
    for envelope in [
        json!({}),
        json!(null),
        json!({"arguments": {"a": 1}}),
        json!({"tool_name": null}),
        json!({"tool_name": ["t"], "arguments": {}}),
        json!({"tool_name": 1, "arguments": {"tool_name": "t"}}),
        // Which of the two are the arguments?
        json!({"arguments": {"tool_name": "t"}, "a": 1}),
        json!({"tool_name": "deferred_tool_call", "arguments": {}}),
    ] {
        is_refused(envelope, missing).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_native_call_reads_its_arguments_the_same_way() {
    let log = Log::default();
    for session in [dispatch, inject] {
        let session = session(&shelf([with_schema(&log, "g", OPEN)]));
        for (arguments, expect, repairs) in [
            (json!({"a": 1}), "g/t {\"a\":1}", vec![]),
            (json!(null), "g/t {}", vec![]),
            (
                json!("{\"a\":1}"),
                "g/t {\"a\":1}",
                vec![Repair::JsonString],
            ),
        ] {
            let report = call(&session, "g__t", arguments).await;
            assert_eq!((report.text().as_str(), report.repairs), (expect, repairs));
        }
        let report = call(&session, "g__t", json!([1])).await;
        assert_eq!(
            report.text(),
            "`arguments` must be a JSON object, and was an array.\n\n\
             Input schema of `g/t`:\n{\"type\":\"object\"}"
        );
    }
}

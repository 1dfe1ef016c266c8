//! Arguments against a tool's input schema, and what is said of them.

use serde_json::{Value, json};
use toolshelf_core::Repair;
use toolshelf_shelf::{AnsweredBy, Limits, Session, Shelf, ShelfBuilder, Validation};

use crate::GOLDEN;
use crate::fixtures::{Log, dispatch, forward, line, observer, shelf, with_schema};

fn only(log: &Log, schema: &str) -> ShelfBuilder {
    Shelf::builder().group(with_schema(log, "g", schema))
}

/// The fault lines of a call of `g/t`; none when the call was made.
async fn faults(schema: &Value, arguments: &Value) -> Vec<String> {
    let log = Log::default();
    let shelf = only(&log, &schema.to_string())
        .observer(observer(&log))
        .build()
        .unwrap();
    let report = forward(&dispatch(&shelf), "g/t", arguments.clone()).await;
    assert_eq!(log.count("unusable g/t"), 0, "{schema}");
    let called = log.count("execute g/t") == 1;
    assert_eq!(called, report.answered_by == AnsweredBy::Tool);
    let text = report.text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("- "));
    let lines: Vec<String> = lines.map(str::to_owned).collect();
    assert_eq!(called, lines.is_empty(), "{text}");
    lines
}

async fn accepts(schema: Value, arguments: Value) {
    let lines = faults(&schema, &arguments).await;
    assert!(lines.is_empty(), "{schema} refused {arguments}: {lines:?}");
}

async fn refuses(schema: Value, arguments: Value, expect: &[&str]) {
    let lines = faults(&schema, &arguments).await;
    assert_eq!(lines, expect, "{schema} with {arguments}");
}

/// A schema of one argument `a`.
fn of(schema: Value) -> Value {
    json!({"type": "object", "properties": {"a": schema}})
}

#[tokio::test(start_paused = true)]
async fn each_keyword_has_a_line_with_path_expectation_and_value() {
    for (schema, value, expect) in [
        (
            json!({"type": "string"}),
            json!(1),
            "a: expected a string, got 1",
        ),
        (
            json!({"type": "integer"}),
            json!(1.5),
            "a: expected an integer, got 1.5",
        ),
        (
            json!({"type": "number"}),
            json!("1"),
            "a: expected a number, got \"1\"",
        ),
        (
            json!({"type": "boolean"}),
            json!("true"),
            "a: expected a boolean, got \"true\"",
        ),
        (
            json!({"type": "array"}),
            json!({}),
            "a: expected an array, got {}",
        ),
        (
            json!({"type": "object"}),
            json!([]),
            "a: expected an object, got []",
        ),
        (json!({"type": "null"}), json!(0), "a: expected null, got 0"),
        (
            json!({"type": ["string", "null"]}),
            json!(1),
            "a: expected null or a string, got 1",
        ),
        (
            json!({"enum": ["red", 2, null]}),
            json!("green"),
            "a: expected one of \"red\", 2, null, got \"green\"",
        ),
        (
            json!({"const": "x"}),
            json!("y"),
            "a: expected \"x\", got \"y\"",
        ),
        (
            json!({"minimum": 1}),
            json!(0),
            "a: expected at least 1, got 0",
        ),
        (
            json!({"maximum": 1}),
            json!(2),
            "a: expected at most 1, got 2",
        ),
        (
            json!({"exclusiveMinimum": 1}),
            json!(1),
            "a: expected more than 1, got 1",
        ),
        (
            json!({"exclusiveMaximum": 1}),
            json!(1),
            "a: expected less than 1, got 1",
        ),
        (
            json!({"minLength": 2}),
            json!("é"),
            "a: expected at least 2 characters, got \"é\"",
        ),
        (
            json!({"maxLength": 1}),
            json!("ab"),
            "a: expected at most 1 character, got \"ab\"",
        ),
        (
            json!({"minItems": 1}),
            json!([]),
            "a: expected at least 1 item, got []",
        ),
        (
            json!({"maxItems": 1}),
            json!([1, 2]),
            "a: expected at most 1 item, got [1,2]",
        ),
        (
            json!({"minProperties": 1}),
            json!({}),
            "a: expected at least 1 member, got {}",
        ),
        (
            json!({"maxProperties": 0}),
            json!({"b": 1}),
            "a: expected at most 0 members, got {\"b\":1}",
        ),
        (
            json!({"uniqueItems": true}),
            json!([1, 1]),
            "a: expected items that all differ, got [1,1]",
        ),
        (
            json!({"pattern": "^[a-z]+$"}),
            json!("A"),
            "a: expected a text that matches ^[a-z]+$, got \"A\"",
        ),
        (
            json!({"multipleOf": 2}),
            json!(3),
            "a: expected what the schema's 'multipleOf' asks for, got 3",
        ),
        (json!(false), json!(3), "a: expected nothing, got 3"),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!(1),
            "a: expected one of the forms that the schema lists, got 1",
        ),
        (
            json!({"oneOf": [{"type": "string"}, {"minLength": 1}]}),
            json!("x"),
            "a: expected just one of the forms that the schema lists, got \"x\"",
        ),
        (
            json!({"type": "array", "items": {"properties": {"b": {"type": "string"}}}}),
            json!([{}, {"b": 1}]),
            "a[1].b: expected a string, got 1",
        ),
        (
            json!({"required": ["b"]}),
            json!({}),
            "a.b: expected a value (it is required), got nothing",
        ),
        (
            json!({"additionalProperties": false}),
            json!({"b": 1}),
            "a.b: expected no such argument, got 1",
        ),
    ] {
        refuses(of(schema), json!({"a": value}), &[expect]).await;
    }
}

#[tokio::test(start_paused = true)]
async fn what_fits_is_called() {
    for (schema, value) in [
        (json!({"type": ["string", "null"]}), json!(null)),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
            json!(null),
        ),
        (json!({"enum": ["a", null]}), json!(null)),
        (json!({"const": {"x": [1]}}), json!({"x": [1]})),
        (json!({"type": "integer"}), json!(1.0)),
        (json!({"type": "number"}), json!(1)),
        (json!({"pattern": "\\d"}), json!("a1")),
        (json!({"minLength": 1, "maxLength": 1}), json!("🦀")),
        (json!(true), json!([])),
        (json!({}), json!({"any": "thing"})),
    ] {
        accepts(of(schema), json!({"a": value})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_arguments_are_what_the_schema_says_of_them() {
    let known = json!({"b": {"type": "string"}});
    let extra = json!({"b": "x", "c": 1});
    accepts(
        json!({"type": "object", "properties": known}),
        extra.clone(),
    )
    .await;
    accepts(
        json!({"properties": known, "additionalProperties": true}),
        extra.clone(),
    )
    .await;
    refuses(
        json!({"properties": known, "additionalProperties": false}),
        extra.clone(),
        &["c: expected no such argument, got 1"],
    )
    .await;
    refuses(
        json!({"properties": known, "additionalProperties": {"type": "string"}}),
        extra.clone(),
        &["c: expected a string, got 1"],
    )
    .await;
    refuses(
        json!({"properties": known, "unevaluatedProperties": false}),
        extra,
        &["c: expected no such argument, got 1"],
    )
    .await;
    // Nothing that is passed on is lost.
    let log = Log::default();
    let session = dispatch(&shelf([with_schema(&log, "g", r#"{"type":"object"}"#)]));
    let report = forward(&session, "g/t", json!({"c": {"d": [null]}})).await;
    assert_eq!(report.text(), "g/t {\"c\":{\"d\":[null]}}");
}

#[tokio::test(start_paused = true)]
async fn the_dialect_is_the_one_that_the_schema_names_else_2020_12() {
    // The first item has its own schema: an array in draft-07, `prefixItems` since.
    let draft_7 = |dialect: &str| json!({"$schema": dialect, "properties": {"a": {"items": [{"type": "string"}]}}});
    let newer = json!({"properties": {"a": {"prefixItems": [{"type": "string"}]}}});
    for dialect in [
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-07/schema",
        "https://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        refuses(
            draft_7(dialect),
            json!({"a": [1]}),
            &["a[0]: expected a string, got 1"],
        )
        .await;
    }
    for dialect in [None, Some("https://json-schema.org/draft/2020-12/schema")] {
        let mut schema = newer.clone();
        if let Some(dialect) = dialect {
            schema["$schema"] = dialect.into();
        }
        refuses(
            schema,
            json!({"a": [1]}),
            &["a[0]: expected a string, got 1"],
        )
        .await;
    }
    // `format` is checked up to draft-07 and is a note since.
    let format = of(json!({"format": "ipv4"}));
    accepts(format.clone(), json!({"a": "x"})).await;
    let mut older = format;
    older["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    refuses(
        older,
        json!({"a": "x"}),
        &["a: expected a text in the format 'ipv4', got \"x\""],
    )
    .await;
    // Beside `$ref`, draft-07 ignores everything.
    let beside = json!({"$defs": {"any": {}},
        "properties": {"a": {"$ref": "#/$defs/any", "type": "string"}}});
    refuses(
        beside.clone(),
        json!({"a": 1}),
        &["a: expected a string, got 1"],
    )
    .await;
    let mut older = beside;
    older["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    accepts(older, json!({"a": 1})).await;
}

#[tokio::test(start_paused = true)]
async fn an_unknown_dialect_counts_as_the_default() {
    for dialect in [
        json!("https://example.com/my-schema"),
        json!("?"),
        json!(""),
    ] {
        let mut schema = of(json!({"type": "string"}));
        schema["$schema"] = dialect;
        refuses(
            schema.clone(),
            json!({"a": 1}),
            &["a: expected a string, got 1"],
        )
        .await;
        accepts(schema, json!({"a": "x"})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn references_inside_the_schema_are_followed() {
    for schema in [
        json!({"$defs": {"s": {"type": "string"}}, "properties": {"a": {"$ref": "#/$defs/s"}}}),
        json!({"definitions": {"s": {"type": "string"}},
            "properties": {"a": {"$ref": "#/definitions/s"}}}),
        // By path, as some generators write repeated types.
        json!({"properties": {"a": {"$ref": "#/properties/b"}, "b": {"type": "string"}}}),
        json!({"properties": {"a": {"$ref": "#/properties/b/properties/c"},
            "b": {"properties": {"c": {"type": "string"}}}}}),
        json!({"$defs": {"s": {"$anchor": "text", "type": "string"}},
            "properties": {"a": {"$ref": "#text"}}}),
        // An id is a name; nothing is fetched from it.
        json!({"$id": "https://example.com/tool.json", "$defs": {"s": {"type": "string"}},
            "properties": {"a": {"$ref": "#/$defs/s"}}}),
    ] {
        refuses(
            schema.clone(),
            json!({"a": 1}),
            &["a: expected a string, got 1"],
        )
        .await;
        accepts(schema, json!({"a": "x"})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn schemas_that_refer_to_themselves_end() {
    let tree = json!({"type": "object", "additionalProperties": false,
        "properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}}});
    accepts(tree.clone(), json!({"left": {"right": {}}})).await;
    refuses(
        tree,
        json!({"left": {"right": {"up": 1}}}),
        &["left.right.up: expected no such argument, got 1"],
    )
    .await;
    for endless in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
            "$ref": "#/$defs/a"}),
    ] {
        accepts(endless, json!({"a": 1})).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_pattern_that_explodes_elsewhere_is_matched_in_no_time() {
    let value = format!("{}!", "a".repeat(60));
    for pattern in ["^(a+)+$", "^(a|aa)+$", "^(?=(a+)+$)a"] {
        let lines = faults(&of(json!({"pattern": pattern})), &json!({"a": value})).await;
        assert_eq!(lines.len(), 1, "{pattern}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_schema_that_cannot_be_used_is_reported_and_the_call_is_made() {
    for schema in [
        // Never fetched, from nowhere.
        json!({"properties": {"a": {"$ref": "https://example.com/a.json"}}}),
        json!({"properties": {"a": {"$ref": "file:///etc/hostname"}}}),
        json!({"properties": {"a": {"$ref": "other.json#/a"}}}),
        json!({"properties": {"a": {"$ref": "#/$defs/missing"}}}),
        json!({"properties": {"a": {"pattern": "("}}}),
        json!({"properties": {"a": {"type": "strin"}}}),
        json!({"properties": {"a": {"type": "string", "required": true}}}),
        json!({"properties": []}),
    ] {
        let log = Log::default();
        let shelf = only(&log, &schema.to_string())
            .observer(observer(&log))
            .build()
            .unwrap();
        let session = dispatch(&shelf);
        for _ in 0..2 {
            let report = forward(&session, "g/t", json!({"a": 1})).await;
            assert_eq!(report.text(), "g/t {\"a\":1}", "{schema}");
        }
        assert_eq!(log.count("unusable g/t"), 1, "{schema}");
    }
}

/// A schema of `$defs`, `a` with the first of them.
fn defs(names: impl IntoIterator<Item = (String, Value)>) -> Value {
    json!({
        "$defs": Value::Object(names.into_iter().collect()),
        "properties": {"a": {"$ref": "#/$defs/d0"}},
    })
}

fn refer(at: usize) -> Value {
    json!({"$ref": format!("#/$defs/d{at}")})
}

/// Nested lists.
fn nested(levels: usize) -> Value {
    (0..levels).fold(json!([]), |inner, _| json!([inner]))
}

#[tokio::test(start_paused = true)]
async fn a_schema_that_would_take_too_long_is_not_begun_with() {
    // Each definition refers twice to the next one.
    let doubled = |level: usize| json!({"allOf": [refer(level + 1), refer(level + 1)]});
    let mut doubling: Vec<_> = (0..40).map(|at| (format!("d{at}"), doubled(at))).collect();
    doubling.push(("d40".to_owned(), json!({"type": "integer"})));
    // It refers twice to itself, one level further inside.
    let inside = json!({"items": refer(0)});
    let itself = ("d0".to_owned(), json!({"allOf": [inside, inside]}));
    // The same by names other than pointers.
    let named = json!({
        "$defs": {"d": {"$anchor": "d", "anyOf": [{"items": {"$ref": "#d"}}, {"items": {"$ref": "#d"}}]}},
        "properties": {"a": {"$ref": "#d"}},
    });
    // A chain of references is deep, not wide.
    let chain = (0..5_000).map(|at| (format!("d{at}"), refer(at + 1)));
    let chain = chain.chain([("d5000".to_owned(), json!({"type": "integer"}))]);
    for (schema, argument) in [
        (defs(doubling), json!(1)),
        (defs([itself]), nested(60)),
        (named, nested(60)),
        (defs(chain), json!(1)),
    ] {
        let log = Log::default();
        let shelf = only(&log, &schema.to_string())
            .observer(observer(&log))
            .build()
            .unwrap();
        let report = forward(&dispatch(&shelf), "g/t", json!({"a": argument})).await;
        assert!(!report.is_error(), "{}", report.text());
        assert_eq!(log.count("unusable g/t"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn schemas_that_refer_to_themselves_are_validated_where_that_is_no_great_work() {
    // A filter as real servers have them: each operator leads back.
    let filter = json!({
        "$defs": {"filter": {"anyOf": [
            {"type": "object", "properties": {"and": {"type": "array", "items": {"$ref": "#/$defs/filter"}}},
             "required": ["and"], "additionalProperties": false},
            {"type": "object", "properties": {"or": {"type": "array", "items": {"$ref": "#/$defs/filter"}}},
             "required": ["or"], "additionalProperties": false},
            {"type": "object", "properties": {"not": {"$ref": "#/$defs/filter"}},
             "required": ["not"], "additionalProperties": false},
            {"type": "string"},
        ]}},
        "properties": {"a": {"$ref": "#/$defs/filter"}},
    });
    let deep = |leaf: Value| {
        (0..12).fold(leaf, |inner, level| match level % 3 {
            0 => json!({"and": [inner, "x"]}),
            1 => json!({"or": [inner]}),
            _ => json!({"not": inner}),
        })
    };
    accepts(filter.clone(), json!({"a": deep(json!("x"))})).await;
    assert_eq!(
        faults(&filter, &json!({"a": deep(json!(1))})).await.len(),
        1
    );
    let twice = json!({"allOf": [{"items": {"$ref": "#/$defs/d0"}}, {"items": {"$ref": "#/$defs/d0"}}],
                       "type": "array"});
    let twice = defs([("d0".to_owned(), twice)]);
    accepts(twice.clone(), json!({"a": nested(8)})).await;
    assert_eq!(faults(&twice, &json!({"a": [[1]]})).await.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_be_validated_less_strictly() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}"#;
    for (mode, expect) in [
        (Validation::Warn, vec!["sent g/t with 2 faults"]),
        (Validation::Off, vec![]),
    ] {
        let log = Log::default();
        let notes = log.clone();
        let shelf = only(&log, schema)
            .group(with_schema(&log, "strict", schema))
            .validation(move |key| match key.group.as_str() {
                "g" => mode,
                _ => Validation::Strict,
            })
            .observer(move |event: &_| {
                let line = line(event);
                if line.starts_with("sent") {
                    notes.note(line);
                }
            })
            .build()
            .unwrap();
        let session = dispatch(&shelf);
        let report = forward(&session, "g/t", json!({"a": 1})).await;
        assert_eq!(report.text(), "g/t {\"a\":1}");
        let report = forward(&session, "strict/t", json!({"a": 1})).await;
        assert!(report.is_error());
        let mut told = log.take();
        assert_eq!(told.pop().unwrap(), "execute g/t");
        assert_eq!(told, expect);
    }
}

#[tokio::test(start_paused = true)]
async fn the_arguments_that_were_checked_are_reported_whatever_comes_of_them() {
    let log = Log::default();
    let schema = r#"{"properties":{"a":{"type":"string"}}}"#;
    let session = dispatch(&shelf([with_schema(&log, "g", schema)]));
    for arguments in [json!({"a": 1}), json!({"a": "x"})] {
        let report = forward(&session, "g/t", json!(arguments.to_string())).await;
        assert_eq!(Value::Object(report.arguments), arguments);
        assert_eq!(report.repairs, [Repair::JsonString]);
    }
}

/// The whole text of a refused call.
async fn refusal(schema: &str, arguments: Value) -> String {
    let log = Log::default();
    let session = dispatch(&shelf([with_schema(&log, "g", schema)]));
    let report = forward(&session, "g/t", arguments).await;
    assert!(report.is_error());
    assert_eq!(report.answered_by, AnsweredBy::Driver);
    report.text()
}

#[tokio::test(start_paused = true)]
async fn a_refusal_has_the_faults_and_the_schema_as_the_server_wrote_it() {
    let schema = "{ \"type\": \"object\",\n \"properties\": {\"z\": {\"type\": \"string\"}, \
                  \"a\": {\"type\": \"number\", \"default\": 1.50}},\n \"required\": [\"z\"]}";
    let text = refusal(schema, json!({"a": "one"})).await;
    GOLDEN.check("invalid-arguments", &text);
    insta::assert_snapshot!(text, @r#"
    Invalid arguments for tool `g/t`:
    - a: expected a number, got "one"
    - z: expected a value (it is required), got nothing

    Input schema of `g/t`:
    {"type":"object","properties":{"z":{"type":"string"},"a":{"type":"number","default":1.50}},"required":["z"]}
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_schema_beyond_the_limit_is_left_out_and_never_cut() {
    let long = "x".repeat(300);
    let schema = format!(
        r#"{{"properties":{{"path":{{}},"mode":{{"description":"{long}"}}}},"required":["path"]}}"#
    );
    let sizes = [schema.len(), schema.len() - 1];
    let [whole, left_out] = sizes.map(|max_schema_bytes| {
        let log = Log::default();
        only(&log, &schema)
            .limits(Limits {
                max_schema_bytes,
                ..Limits::default()
            })
            .build()
            .unwrap()
    });
    let text = async |shelf: &Shelf| forward(&dispatch(shelf), "g/t", json!({})).await.text();
    assert!(text(&whole).await.ends_with(&schema));
    GOLDEN.check("invalid-arguments-large-schema", &text(&left_out).await);
}

#[tokio::test(start_paused = true)]
async fn faults_are_bounded_and_neutralised() {
    let required: Vec<String> = (0..30).map(|n| format!("argument_{n:02}")).collect();
    let schema = json!({"required": required}).to_string();
    GOLDEN.check("invalid-arguments-many", &refusal(&schema, json!({})).await);

    let schema = json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"},
        "c": {"enum": (0..100).map(|n| format!("value {n}")).collect::<Vec<_>>()},
        "d": {"pattern": format!("^{}$", "x".repeat(500))}},
        "additionalProperties": false})
    .to_string();
    let arguments = json!({
        "a": {"nested": "y".repeat(100_000)},
        "b": (0..1_000).collect::<Vec<_>>(),
        "c": "a `tick`\n- and: a line",
        "d": "",
        "e`\n# heading": 1,
    });
    let text = refusal(&schema, arguments).await;
    let (faults, _) = text.split_once("\n\n").unwrap();
    GOLDEN.check("invalid-arguments-long", faults);
    assert!(faults.len() < 2_500, "{} bytes", faults.len());
}

#[tokio::test(start_paused = true)]
async fn faults_stand_in_the_order_of_their_places() {
    let schema = json!({"required": ["b", "d"], "additionalProperties": {"type": "string"},
        "properties": {"c": {"items": {"type": "integer"}}, "a": {"type": "string"}}});
    let items: Vec<Value> = (0..12)
        .map(|n| if n % 9 == 2 { json!("") } else { json!(n) })
        .collect();
    refuses(
        schema,
        json!({"z": 1, "c": items, "a": 1}),
        &[
            "a: expected a string, got 1",
            "b: expected a value (it is required), got nothing",
            "c[2]: expected an integer, got \"\"",
            "c[11]: expected an integer, got \"\"",
            "d: expected a value (it is required), got nothing",
            "z: expected a string, got 1",
        ],
    )
    .await;
    // A schema without arguments.
    refuses(
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
        json!({"y": 1, "x": {"b": 1, "a": 2}}),
        &[
            "x: expected no such argument, got {\"a\":2,\"b\":1}",
            "y: expected no such argument, got 1",
        ],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn many_faults_in_a_large_value_are_told_in_a_bounded_text() {
    let schema = of(json!({"items": {"type": "string"}}));
    let arguments = json!({"a": (0..50_000).collect::<Vec<_>>()});
    let lines = faults(&schema, &arguments).await;
    assert_eq!(lines.len(), 9);
    assert_eq!(
        lines[8],
        "(arguments): expected what the schema asks for, got 49992 more faults"
    );
}

#[tokio::test(start_paused = true)]
async fn a_schema_is_read_when_it_is_needed_first() {
    let log = Log::default();
    let shelf = only(&log, r#"{"properties":{"a":{"type":"strin"}}}"#)
        .observer(observer(&log))
        .build()
        .unwrap();
    let session: Session = dispatch(&shelf);
    crate::fixtures::load(&session, "g").await;
    // A schema of no use does not disturb the load.
    assert_eq!(log.count("unusable g/t"), 0);
    forward(&session, "g/t", json!({})).await;
    assert_eq!(log.count("unusable g/t"), 1);
}

use proptest::prelude::*;
use toolshelf_core::{JsonText, ToolDefinition, ToolName, signature};

use crate::generate::{json, style};

fn of(schema: &str) -> String {
    let schema = JsonText::parse(schema).unwrap();
    let tool = ToolDefinition::new(ToolName::new("t").unwrap(), "", schema).unwrap();
    signature(&tool)
}

#[test]
fn arguments_in_the_order_of_the_schema() {
    let cases = [
        ("{}", "t()"),
        (r#"{"properties":{}}"#, "t()"),
        (
            r#"{"properties":{"z":{},"a":true},"required":["a"]}"#,
            "t(z, a*)",
        ),
        (r#"{"required":["a"]}"#, "t()"),
        (r#"{"properties":[],"required":["a"]}"#, "t()"),
        (r#"{"properties":{"a":{}},"required":"a"}"#, "t(a)"),
        (r#"{"properties":{"a":{}},"required":null}"#, "t(a)"),
        (r#"{"properties":{"a\nb`":{}}}"#, "t(a b')"),
        (r#"{"properties":null}"#, "t()"),
    ];
    for (schema, expect) in cases {
        assert_eq!(of(schema), expect, "{schema}");
    }
}

#[test]
fn where_there_are_many_the_required_come_first() {
    let properties: Vec<String> = (0..30).map(|at| format!("\"p{at}\":{{}}")).collect();
    let schema = format!(
        r#"{{"properties":{{{}}},"required":["p29","p28"]}}"#,
        properties.join(",")
    );
    let line = of(&schema);
    assert!(line.starts_with("t(p28*, p29*, p0, p1, "), "{line}");
    assert!(line.ends_with(", … +6 more)"), "{line}");
}

#[test]
fn a_huge_schema_is_one_bounded_line() {
    let name = "x".repeat(10_000);
    let properties: Vec<String> = (0..20_000)
        .map(|at| format!("\"{at}{name}\":{{}}"))
        .collect();
    let required: Vec<String> = (0..20_000).map(|at| format!("\"{at}\"")).collect();
    let schema = format!(
        r#"{{"properties":{{{}}},"required":[{}]}}"#,
        properties[..50].join(","),
        required.join(",")
    );
    assert!(of(&schema).len() < 2_000);
}

proptest! {
    #[test]
    fn any_schema_has_one_line(properties in json(), required in json(), mut style in style()) {
        let schema = format!(
            r#"{{"properties":{},"required":{}}}"#,
            properties.print(&mut style),
            required.print(&mut style)
        );
        let line = of(&schema);
        prop_assert!(line.starts_with("t(") && line.ends_with(')'));
        prop_assert!(!line.chars().any(|c| c.is_control() || c == '`'));
        prop_assert!(line.len() < 2_000);
    }
}

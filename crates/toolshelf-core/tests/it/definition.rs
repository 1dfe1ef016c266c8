use proptest::prelude::*;
use toolshelf_core::{
    ErrorKind, JsonText, ParsedDefinition, ToolAnnotations, ToolDefinition, ToolName,
};

use crate::generate::{json, style};

fn read(descriptor: &str) -> Result<ParsedDefinition, toolshelf_core::Error> {
    ToolDefinition::from_descriptor(JsonText::parse(descriptor).unwrap())
}

#[test]
fn everything_is_kept() {
    let text = r#"{"name":"a","title":"T","description":"D\n","inputSchema":{"type":"object","z":1.0,"a":[]},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,"title":"AT","x":1},"icons":[],"_meta":{"k":1},"execution":{}}"#;
    let ParsedDefinition { definition, issues } = read(text).unwrap();
    assert!(issues.is_empty(), "{issues:?}");
    assert_eq!(definition.name(), "a");
    assert_eq!(definition.title(), Some("T"));
    assert_eq!(definition.description(), Some("D\n"));
    assert_eq!(
        definition.input_schema().as_str(),
        r#"{"type":"object","z":1.0,"a":[]}"#
    );
    assert_eq!(
        definition.output_schema().unwrap().as_str(),
        r#"{"type":"object"}"#
    );
    assert_eq!(
        definition.annotations(),
        &ToolAnnotations {
            title: Some("AT".to_owned()),
            read_only: Some(true),
            destructive: Some(false),
            idempotent: Some(true),
            open_world: Some(false),
        }
    );
    assert_eq!(definition.descriptor().as_str(), text);
    assert_eq!(definition.descriptor_as("a").unwrap().as_str(), text);
    assert_eq!(
        definition.descriptor_as("g__a").unwrap().as_str(),
        text.replacen("\"a\"", "\"g__a\"", 1)
    );
}

#[test]
fn a_tool_that_a_provider_would_refuse_is_refused_alone() {
    let refused = [
        (r#"[]"#, "not a JSON object"),
        (r#"{}"#, "no name"),
        (r#"{"name":null,"inputSchema":{}}"#, "name"),
        (r#"{"name":1,"inputSchema":{}}"#, "not a string"),
        (r#"{"name":"","inputSchema":{}}"#, "empty"),
        (r#"{"name":"a\nb","inputSchema":{}}"#, "not valid"),
        (r#"{"name":"a"}"#, "is missing"),
        (r#"{"name":"a","inputSchema":null}"#, "is null"),
        (r#"{"name":"a","inputSchema":true}"#, "a boolean"),
        (r#"{"name":"a","inputSchema":"{}"}"#, "a string"),
        (r#"{"name":"a","inputSchema":[]}"#, "an array"),
        (r#"{"name":"a","inputSchema":1}"#, "a number"),
        (
            r#"{"name":"a","inputSchema":{"type":"string"}}"#,
            "\"string\"",
        ),
        (
            r#"{"name":"a","inputSchema":{"type":["object","null"]}}"#,
            "the type",
        ),
        (
            r#"{"name":"a","inputSchema":{"type":null}}"#,
            "the type null",
        ),
    ];
    for (descriptor, why) in refused {
        let error = read(descriptor).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidDefinition, "{descriptor}");
        let said = error.to_string();
        assert!(said.contains(why), "{descriptor}: {said}");
    }
}

#[test]
fn optional_fields_of_another_shape_are_left_out_and_said() {
    let tolerated = [
        (r#""title":1"#, "title"),
        (r#""description":["a"]"#, "description"),
        (r#""description":{"a":1}"#, "description"),
        (r#""outputSchema":"x""#, "outputSchema"),
        (r#""outputSchema":{"type":"array"}"#, "outputSchema"),
        (r#""annotations":[]"#, "annotations"),
        (
            r#""annotations":{"readOnlyHint":"yes"}"#,
            "annotations.readOnlyHint",
        ),
        (
            r#""annotations":{"destructiveHint":1}"#,
            "annotations.destructiveHint",
        ),
    ];
    for (field, named) in tolerated {
        let parsed = read(&format!(r#"{{"name":"a","inputSchema":{{}},{field}}}"#)).unwrap();
        assert_eq!(parsed.issues.len(), 1, "{field}: {:?}", parsed.issues);
        assert!(parsed.issues[0].contains(named), "{:?}", parsed.issues);
        // It stays in what the server sent.
        assert!(parsed.definition.descriptor().as_str().contains(field));
    }
}

#[test]
fn null_is_absence() {
    let parsed = read(
        r#"{"name":"a","inputSchema":{},"title":null,"description":null,"outputSchema":null,"annotations":null}"#,
    )
    .unwrap();
    assert!(parsed.issues.is_empty(), "{:?}", parsed.issues);
    let definition = parsed.definition;
    assert_eq!((definition.title(), definition.description()), (None, None));
    assert!(definition.output_schema().is_none());
    assert_eq!(definition.annotations(), &ToolAnnotations::default());
}

#[test]
fn a_title_may_stand_among_the_annotations() {
    let parsed = read(r#"{"name":"a","inputSchema":{},"annotations":{"title":"T"}}"#).unwrap();
    assert_eq!(parsed.definition.title(), Some("T"));
}

#[test]
fn a_definition_of_our_own() {
    let definition = ToolDefinition::new(
        ToolName::new("a").unwrap(),
        "D",
        JsonText::parse(r#"{"type":"object"}"#).unwrap(),
    )
    .unwrap();
    assert_eq!(
        definition.descriptor().as_str(),
        r#"{"name":"a","description":"D","inputSchema":{"type":"object"}}"#
    );
    let array = JsonText::parse("[]").unwrap();
    let error = ToolDefinition::new(ToolName::new("a").unwrap(), "", array)
        .err()
        .unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidDefinition);
}

#[test]
fn a_fingerprint_does_not_see_the_order_of_keys() {
    let digest = |text: &str| read(text).unwrap().definition.digest();
    let one = digest(r#"{"name":"a","description":"D","inputSchema":{"type":"object","a":1}}"#);
    let same = digest(r#"{"inputSchema":{"a":1,"type":"object"},"name":"a","description":"D"}"#);
    let other = digest(r#"{"name":"a","description":"d","inputSchema":{"type":"object","a":1}}"#);
    assert_eq!(one, same);
    assert_ne!(one, other);
}

proptest! {
    #[test]
    fn reading_is_total(
        fields in prop::collection::btree_map(
            "name|title|description|inputSchema|outputSchema|annotations|_meta", json(), 0..7),
        mut style in style(),
    ) {
        let members: Vec<String> = fields
            .iter()
            .map(|(key, value)| format!("\"{key}\":{}", value.print(&mut style)))
            .collect();
        let descriptor = JsonText::parse(&format!("{{{}}}", members.join(","))).unwrap();
        if let Ok(parsed) = ToolDefinition::from_descriptor(descriptor.clone()) {
            prop_assert_eq!(parsed.definition.descriptor(), &descriptor);
        }
    }

    #[test]
    fn a_schema_is_verbatim(schema in json(), mut style in style(), description in any::<String>()) {
        let schema = format!(r#"{{"type":"object","x":{}}}"#, schema.print(&mut style));
        let description = serde_json::to_string(&description).unwrap();
        let text = format!(r#"{{"name":"a","description":{description},"inputSchema":{schema}}}"#);
        let definition = read(&text).unwrap().definition;
        prop_assert_eq!(definition.input_schema(), &JsonText::parse(&schema).unwrap());
        prop_assert_eq!(serde_json::to_string(&definition.description()).unwrap(), description);
    }
}

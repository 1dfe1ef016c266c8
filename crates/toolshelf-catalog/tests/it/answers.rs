//! `load/1`, case by case.

use toolshelf_catalog::{
    LoadAnswer, MAX_INSTRUCTIONS_BYTES, MAX_LISTED_NAMES_BYTES, MAX_OMITTED_BYTES, Schemas,
    Separators,
};
use toolshelf_core::{LoadedGroup, ShelvedTool, ToolName};

use crate::GOLDEN;
use crate::fixtures::loaded;

const A: &str = r#"{"name":"a","description":"First, \"quoted\"\nsecond line — dash","inputSchema":{"type":"object","required":["z"],"properties":{"z":{"type":"string","description":"größe"},"a":{"default":1.50}}}}"#;
const B: &str = r#"{"name":"b","inputSchema":{"type":"object"}}"#;

fn group() -> LoadedGroup {
    loaded("g", None, &[A, B])
}

fn tools(group: &LoadedGroup) -> Vec<&ShelvedTool> {
    group.tools.iter().collect()
}

fn parsed(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

/// A tool with a schema of about so many bytes.
fn sized(name: &str, bytes: usize) -> String {
    let filler = "x".repeat(bytes);
    format!(
        r#"{{"name":"{name}","description":"d","inputSchema":{{"type":"object","required":["p"],"properties":{{"p":{{"description":"{filler}"}},"q":{{}}}}}}}}"#
    )
}

#[test]
fn a_whole_group() {
    let group = group();
    let text = LoadAnswer::loaded("g", 2, tools(&group)).write();
    assert!(text.starts_with(
        r#"{"error":null,"expanded":true,"group_id":"g","remaining":0,"schemas":[{"description":"#
    ));
    assert!(text.ends_with(r#"],"tool_names":["a","b"]}"#));
    GOLDEN.check("load-1.whole", &text);
}

#[test]
fn a_part_of_a_group() {
    let group = group();
    let answer = LoadAnswer {
        schemas: Schemas::Named { cap: 1_000 },
        ..LoadAnswer::loaded("g", 2, vec![&group.tools[1]])
    };
    GOLDEN.check("load-1.part", &answer.write());
}

#[test]
fn a_refusal() {
    let answer = LoadAnswer::refused("no\nsuch \"group\"", 0, "There is none.");
    GOLDEN.check("load-1.refused", &answer.write());
}

#[test]
fn a_refusal_of_a_known_group_says_its_size() {
    let text = LoadAnswer::refused("g", 20, "Not now.").write();
    assert_eq!(parsed(&text)["remaining"], 20);
}

#[test]
fn with_instructions_and_missing_names() {
    let group = loaded("g", Some(&["ghost", "b", "a"]), &[A, B]);
    let answer = LoadAnswer {
        missing: &group.missing,
        instructions: Some("Use `a` first.\r\n\r\n\r\n  * then b\u{7}\u{200b}\n"),
        ..LoadAnswer::loaded("g", 2, tools(&group))
    };
    GOLDEN.check("load-1.instructions", &answer.write());
}

#[test]
fn many_missing_names_are_bounded() {
    let missing: Vec<ToolName> = (0..50)
        .map(|at| ToolName::new(format!("tool_{at}")).unwrap())
        .collect();
    let answer = LoadAnswer {
        missing: &missing,
        ..LoadAnswer::loaded("g", 0, Vec::new())
    };
    let value = parsed(&answer.write());
    let listed = value["missing"].as_array().unwrap();
    assert_eq!(listed.len(), 21);
    assert_eq!(listed[20], "… +30 more");
}

#[test]
fn inject_leaves_schemas_out_and_says_how_tools_are_called() {
    let group = loaded("mcp:g", None, &[A, B]);
    let answer = LoadAnswer {
        schemas: Schemas::Omit,
        call_as: true,
        ..LoadAnswer::loaded("mcp:g", 2, tools(&group))
    };
    let text = answer.write();
    GOLDEN.check("load-1.inject", &text);
    let value = parsed(&text);
    assert!(value.get("schemas").is_none());
    let called = value["call_as"].as_array().unwrap();
    assert_eq!(called.len(), value["tool_names"].as_array().unwrap().len());
    assert_eq!(called[0], *group.tools[0].wire_name);
}

#[test]
fn null_schemas_for_readers_that_expect_the_key() {
    let group = group();
    let answer = LoadAnswer {
        schemas: Schemas::Null,
        ..LoadAnswer::loaded("g", 2, tools(&group))
    };
    GOLDEN.check("load-1.null-schemas", &answer.write());
}

#[test]
fn python_separators() {
    let group = group();
    let compact = LoadAnswer::loaded("g", 2, tools(&group));
    let spaced = LoadAnswer {
        separators: Separators::Python,
        ..compact.clone()
    };
    assert_eq!(parsed(&spaced.write()), parsed(&compact.write()));
    GOLDEN.check("load-1.python-separators", &spaced.write());
}

#[test]
fn a_group_larger_than_the_budget_gives_what_fits() {
    let descriptors = [
        sized("small", 100),
        sized("large", 5_000),
        sized("middle", 300),
        sized("last", 100),
    ];
    let descriptors: Vec<&str> = descriptors.iter().map(String::as_str).collect();
    let group = loaded("g", None, &descriptors);
    let answer = LoadAnswer {
        schemas: Schemas::Whole { budget: 700 },
        ..LoadAnswer::loaded("g", 4, tools(&group))
    };
    let text = answer.write();
    GOLDEN.check("load-1.omitted", &text);
    let value = parsed(&text);
    assert_eq!(value["omitted"][0], "large(p*, q)");
    assert_eq!(value["omitted"][1], "last(p*, q)");
    assert_eq!(value["schemas"].as_array().unwrap().len(), 2);
    assert_eq!(value["tool_names"].as_array().unwrap().len(), 4);
    assert_eq!(value["remaining"], 0);
    assert_eq!(value["error"], serde_json::Value::Null);
}

#[test]
fn a_tool_asked_for_by_name_that_is_too_large_is_an_error() {
    let descriptors = [sized("huge", 5_000), sized("one", 900), sized("two", 900)];
    let descriptors: Vec<&str> = descriptors.iter().map(String::as_str).collect();
    let group = loaded("g", None, &descriptors);
    let answer = LoadAnswer {
        schemas: Schemas::Named { cap: 1_500 },
        error: Some("Not among the 3 tools of group `g`: `four`.".to_owned()),
        ..LoadAnswer::loaded("g", 3, tools(&group))
    };
    let text = answer.write();
    GOLDEN.check("load-1.too-large", &text);
    let error = parsed(&text)["error"].as_str().unwrap().to_owned();
    assert!(error.contains("huge") && error.contains("two") && !error.contains("one"));
    assert_eq!(parsed(&text)["expanded"], true);
}

#[test]
fn signature_lines_are_bounded() {
    let properties: String = (0..24)
        .map(|at| format!("\"a_long_name_of_an_argument_{at}\":{{}},"))
        .collect();
    let descriptors: Vec<String> = (0..200)
        .map(|at| {
            format!(r#"{{"name":"t{at}","inputSchema":{{"properties":{{{properties}"z":{{}}}}}}}}"#)
        })
        .collect();
    let descriptors: Vec<&str> = descriptors.iter().map(String::as_str).collect();
    let group = loaded("g", None, &descriptors);
    let answer = LoadAnswer {
        schemas: Schemas::Whole { budget: 0 },
        ..LoadAnswer::loaded("g", 200, tools(&group))
    };
    let value = parsed(&answer.write());
    let omitted = value["omitted"].as_array().unwrap();
    let bytes: usize = omitted
        .iter()
        .map(|line| line.as_str().unwrap().len())
        .sum();
    assert!(bytes <= MAX_OMITTED_BYTES + 32, "{bytes}");
    let last = omitted.last().unwrap().as_str().unwrap();
    assert_eq!(last, format!("… +{} more", 200 - (omitted.len() - 1)));
}

#[test]
fn names_are_bounded_and_the_rest_counts_as_remaining() {
    let descriptors: Vec<String> = (0..1_000)
        .map(|at| {
            let name = format!("{at:0>120}");
            format!(r#"{{"name":"{name}","inputSchema":{{}}}}"#)
        })
        .collect();
    let descriptors: Vec<&str> = descriptors.iter().map(String::as_str).collect();
    let group = loaded("g", None, &descriptors);
    let answer = LoadAnswer {
        schemas: Schemas::Omit,
        call_as: true,
        ..LoadAnswer::loaded("g", 1_000, tools(&group))
    };
    let value = parsed(&answer.write());
    let listed = value["tool_names"].as_array().unwrap().len();
    assert_eq!(listed, MAX_LISTED_NAMES_BYTES / 120);
    assert_eq!(value["call_as"].as_array().unwrap().len(), listed);
    assert_eq!(value["remaining"], 1_000 - listed);
    assert!(value["note"].as_str().unwrap().contains("Not all names"));
}

#[test]
fn instructions_are_bounded() {
    let long = "A line of instructions.\n".repeat(1_000);
    let answer = LoadAnswer {
        instructions: Some(&long),
        ..LoadAnswer::loaded("g", 0, Vec::new())
    };
    let value = parsed(&answer.write());
    let text = value["instructions"].as_str().unwrap();
    assert!(text.len() <= MAX_INSTRUCTIONS_BYTES);
    assert!(text.ends_with('…') && text.contains("instructions.\nA line"));
}

#[test]
fn blank_instructions_are_none() {
    let answer = LoadAnswer {
        instructions: Some(" \n\u{200b}\n"),
        ..LoadAnswer::loaded("g", 0, Vec::new())
    };
    assert!(parsed(&answer.write()).get("instructions").is_none());
}

#[test]
fn an_id_that_is_none_is_cut() {
    let long = "é".repeat(1_000);
    let text = LoadAnswer::refused(&long, 0, "No.").write();
    assert!(text.len() < 300, "{}", text.len());
}

use proptest::prelude::*;
use toolshelf_core::{ErrorKind, GroupId, MAX_ID_BYTES, ToolKey, ToolName};

use crate::generate::{group_id, name, tool_name};

#[test]
fn ordinary_names_are_accepted() {
    for text in [
        "github",
        "mcp:github",
        "a/b",
        "create-issue",
        "create_issue",
        "Größe",
        "名前",
        "a b",
        "a.b",
        "🛠",
        "⚙\u{fe0f} tools",
        "#1",
        "-",
        "a'b\"c",
    ] {
        assert_eq!(GroupId::new(text).unwrap().as_str(), text);
        assert_eq!(ToolName::new(text).unwrap().as_str(), text);
    }
}

#[test]
fn names_that_could_pass_for_others_are_refused() {
    let long = "x".repeat(MAX_ID_BYTES + 1);
    let long_unicode = "é".repeat(MAX_ID_BYTES / 2 + 1);
    let refused = [
        ("", "empty"),
        (long.as_str(), "129 bytes"),
        (long_unicode.as_str(), "130 bytes"),
        (" a", "blank"),
        ("a ", "blank"),
        ("a\u{a0}", "blank"),
        ("\ta", "blank"),
        ("a\nb", "'\\n'"),
        ("a\0b", "'\\0'"),
        ("a\u{7f}b", "'\\u{7f}'"),
        ("a\u{85}b", "'\\u{85}'"),
        ("a,b", "','"),
        ("a`b", "\"a\\u{60}b\" is not valid: it holds a backtick"),
        ("a\u{ad}b", "'\\u{ad}'"),
        ("a\u{200b}b", "'\\u{200b}'"),
        ("a\u{2028}b", "'\\u{2028}'"),
        ("a\u{202e}b", "'\\u{202e}'"),
        ("a\u{2066}b", "'\\u{2066}'"),
        ("a\u{feff}b", "'\\u{feff}'"),
        ("a\u{34f}b", "'\\u{34f}'"),
        ("a\u{3164}b", "'ㅤ'"),
        ("a\u{e0041}b", "'\\u{e0041}'"),
        ("a\u{e0100}b", "'\\u{e0100}'"),
    ];
    for (text, why) in refused {
        for error in [
            GroupId::new(text).err().unwrap(),
            ToolName::new(text).err().unwrap(),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidDefinition);
            let said = error.to_string();
            assert!(said.contains(why), "{text:?}: {said}");
            assert!(said.len() < 1_000, "{} bytes", said.len());
        }
    }
}

#[test]
fn the_separator_stands_inside_a_group_only() {
    assert!(GroupId::new("/a").is_err());
    assert!(GroupId::new("a/").is_err());
    assert!(GroupId::new("/").is_err());
    assert!(GroupId::new("a//b").is_ok());
    assert!(ToolName::new("/a/").is_ok());
}

#[test]
fn reading_checks_too() {
    assert!(serde_json::from_str::<GroupId>("\"a`b\"").is_err());
    assert!(serde_json::from_str::<ToolName>("\"\"").is_err());
    assert_eq!(serde_json::from_str::<GroupId>("\"a\"").unwrap(), "a");
    assert!("a,b".parse::<ToolName>().is_err());
}

#[test]
fn a_key_is_written_group_slash_tool() {
    let key = ToolKey::new(GroupId::new("a/b").unwrap(), ToolName::new("c").unwrap());
    assert_eq!(key.to_string(), "a/b/c");
    assert_eq!(
        serde_json::to_string(&key).unwrap(),
        r#"{"group":"a/b","tool":"c"}"#
    );
}

proptest! {
    #[test]
    fn checking_is_total_and_what_passes_is_one_visible_line(text in name()) {
        if let Ok(id) = GroupId::new(&text) {
            prop_assert_eq!(id.as_str(), &text);
            prop_assert!(text.len() <= MAX_ID_BYTES && text.trim() == text);
            prop_assert!(!text.chars().any(|c| c.is_control() || c == '`' || c == ','));
            prop_assert_eq!(text.lines().count(), 1);
        }
    }

    #[test]
    fn ids_survive_being_written(group in group_id(), tool in tool_name()) {
        let key = ToolKey::new(group, tool);
        let written = serde_json::to_string(&key).unwrap();
        prop_assert_eq!(serde_json::from_str::<ToolKey>(&written).unwrap(), key);
    }

    #[test]
    fn order_is_that_of_code_points(one in group_id(), other in group_id()) {
        prop_assert_eq!(one.cmp(&other), one.as_str().cmp(other.as_str()));
    }
}

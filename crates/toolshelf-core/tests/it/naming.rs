use std::collections::HashMap;

use proptest::prelude::*;
use toolshelf_core::{GroupId, MAX_WIRE_NAME_BYTES, ToolName, wire_name};

use crate::generate::{group_id, tool_name};

fn name(group: &str, tool: &str) -> String {
    wire_name(&GroupId::new(group).unwrap(), &ToolName::new(tool).unwrap())
}

/// `^[a-zA-Z0-9_-]{1,48}$`
fn is_legal(name: &str) -> bool {
    (1..=MAX_WIRE_NAME_BYTES).contains(&name.len())
        && name
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
}

/// Names of a version never change: hosts keep permissions under them.
#[test]
fn names_are_stable() {
    let names = [
        ("github", "create_issue", "github__create_issue"),
        ("a-b", "c-d", "a-b__c-d"),
        (
            "mcp:github",
            "create_issue",
            "mcp_github__create_issue-53e3ee0e9a79",
        ),
        ("acme", "_status", "acme___status-ce9d86184c61"),
        ("acme_", "status", "acme___status-5205fd0dd866"),
        ("a__b", "c", "a__b__c-31ffefa8a8af"),
        ("größe", "名前", "gr__e____-1b3de8e4c914"),
    ];
    for (group, tool, expect) in names {
        let name = name(group, tool);
        assert_eq!(name, expect, "{group}/{tool}");
    }
}

#[test]
fn what_could_be_read_two_ways_is_told_apart() {
    let pairs = [
        ("acme_", "status"),
        ("acme", "_status"),
        ("a", "b__c"),
        ("a__b", "c"),
        ("a_", "_b"),
        ("a__", "b"),
        ("a", "__b"),
        ("a:b", "c"),
        ("a_b", "c"),
        ("a.b", "c"),
        ("a", "b c"),
        ("a", "b_c"),
        ("é", "x"),
        ("ü", "x"),
    ];
    let mut seen = HashMap::new();
    for pair in pairs {
        let name = name(pair.0, pair.1);
        assert!(is_legal(&name), "{name}");
        if let Some(other) = seen.insert(name.clone(), pair) {
            panic!("{pair:?} and {other:?} are both {name}");
        }
    }
}

#[test]
fn a_plain_name_cannot_look_like_a_shortened_one() {
    let altered = name("mcp:github", "create_issue");
    let (group, tool) = altered.split_once("__").unwrap();
    assert_ne!(name(group, tool), altered);
}

#[test]
fn long_names_keep_the_tool_and_part_of_the_group() {
    let name = name(&"g".repeat(60), &"t".repeat(60));
    assert_eq!(name.len(), MAX_WIRE_NAME_BYTES);
    assert!(
        name.starts_with("ggggggggggg__tttttttttttttttttttttt"),
        "{name}"
    );
}

proptest! {
    #[test]
    fn names_are_legal_and_stable(group in group_id(), tool in tool_name()) {
        let name = wire_name(&group, &tool);
        prop_assert!(is_legal(&name), "{}", name);
        prop_assert_eq!(name, wire_name(&group, &tool));
    }

    #[test]
    fn no_two_tools_share_a_name(pairs in prop::collection::vec((group_id(), tool_name()), 2..12)) {
        let mut seen = HashMap::new();
        for pair in pairs {
            let name = wire_name(&pair.0, &pair.1);
            if let Some(other) = seen.insert(name, pair.clone()) {
                prop_assert_eq!(other, pair);
            }
        }
    }

    /// The densest corner: few letters, many underscores, look-alikes of suffixes.
    #[test]
    fn no_two_adversarial_tools_share_a_name(
        parts in prop::collection::vec(("[a_]{1,5}", "[a_]{1,5}(-[01]{12})?"), 2..32),
    ) {
        let mut seen = HashMap::new();
        for (group, tool) in parts {
            let name = name(&group, &tool);
            let pair = (group, tool);
            if let Some(other) = seen.insert(name, pair.clone()) {
                prop_assert_eq!(other, pair);
            }
        }
    }

    /// The name that one tool got is never the plain name of another.
    #[test]
    fn a_name_read_back_as_a_tool_is_another_name(group in group_id(), tool in tool_name()) {
        let taken = wire_name(&group, &tool);
        for (at, _) in taken.match_indices("__") {
            let (left, right) = (&taken[..at], &taken[at + 2..]);
            let (Ok(left), Ok(right)) = (GroupId::new(left), ToolName::new(right)) else {
                continue;
            };
            if (&left, &right) != (&group, &tool) {
                prop_assert_ne!(wire_name(&left, &right), taken.clone());
            }
        }
    }
}

//! What holds for all tools and queries.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use toolshelf_core::search::{Found, Hit, IndexedTool, SearchIndex, SearchQuery};
use toolshelf_core::{GroupId, ToolKey, ToolName};
use toolshelf_search::Lexical;

use crate::world::{fill, index, keys, tool, tool_with};

const GROUPS: [&str; 4] = ["git", "mail-box", "mcp:files", "日历"];

/// Few enough that tools share them, close enough that they inflect, abbreviate and
/// misspell one another.
const WORDS: [&str; 24] = [
    "create",
    "creates",
    "creation",
    "file",
    "files",
    "fiel",
    "message",
    "msg",
    "mesage",
    "delete",
    "remove",
    "GitHub",
    "github",
    "hub",
    "sha256",
    "database",
    "db",
    "日程",
    "创建日程",
    "книга",
    "the",
    "find",
    "repository",
    "repo",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => select(&WORDS[..]).prop_map(str::to_owned),
        1 => "[a-z]{1,9}",
        1 => "\\PC{1,4}",
    ]
}

fn text(most: usize) -> impl Strategy<Value = String> {
    vec(word(), 0..most).prop_map(|words| words.join(" "))
}

fn name() -> impl Strategy<Value = String> {
    let styled = (
        vec(word(), 1..4),
        select(&["_", "-", ".", " ", "", "__", "/"][..]),
    )
        .prop_map(|(words, between)| words.join(between));
    prop_oneof![9 => styled, 1 => "\\PC{1,12}"]
        .prop_filter("a legal name", |name| ToolName::new(name).is_ok())
}

fn a_tool() -> impl Strategy<Value = IndexedTool> {
    (select(&GROUPS[..]), name(), text(8), word(), text(4)).prop_map(
        |(group, name, description, argument, group_text)| {
            let schema = serde_json::json!({
                "type": "object",
                "properties": {argument.clone(): {"description": description, "enum": [argument]}},
            });
            let mut tool = tool_with(group, &name, &description, &schema.to_string());
            tool.group_text = group_text.into();
            tool
        },
    )
}

fn tools() -> impl Strategy<Value = Vec<IndexedTool>> {
    vec(a_tool(), 0..14).prop_map(|tools| {
        let by_key: BTreeMap<ToolKey, IndexedTool> = tools
            .into_iter()
            .map(|tool| (tool.key.clone(), tool))
            .collect();
        by_key.into_values().collect()
    })
}

fn query() -> impl Strategy<Value = SearchQuery> {
    let texts = prop_oneof![
        6 => text(6),
        1 => name(),
        1 => (name(), name()).prop_map(|(a, b)| format!("select:{a},{b}")),
        1 => (word(), text(3)).prop_map(|(required, text)| format!("+{required} {text}")),
        1 => word().prop_map(|word| format!("/{word}/")),
        1 => "\\PC{0,40}",
    ];
    let groups = prop_oneof![3 => Just(Vec::new()), 1 => vec(select(&GROUPS[..]), 1..3)];
    (texts, 1usize..8, groups).prop_map(|(text, limit, groups)| SearchQuery {
        text,
        limit,
        groups: groups
            .into_iter()
            .map(|id| GroupId::new(id).unwrap())
            .collect(),
    })
}

/// The answer, or what the refusal says.
fn answer(index: &dyn SearchIndex, query: &SearchQuery) -> Result<Found, String> {
    index
        .search(query)
        .map_err(|error| error.message().to_owned())
}

fn of_group(tools: &[IndexedTool], id: &str) -> Vec<IndexedTool> {
    let of_group = tools.iter().filter(|tool| tool.key.group == *id);
    of_group.cloned().collect()
}

proptest! {
    #[test]
    fn the_same_tools_and_query_give_the_same_answer(tools in tools(), query in query()) {
        let (one, other) = (index(&tools), index(&tools));
        let found = answer(&one, &query);
        prop_assert_eq!(&found, &answer(&other, &query));
        prop_assert_eq!(&found, &answer(&one, &query));
    }

    #[test]
    fn neither_order_of_groups_nor_of_tools_has_influence(
        tools in tools(),
        order in Just(GROUPS.to_vec()).prop_shuffle(),
        queries in vec(query(), 1..4),
    ) {
        let sorted = index(&tools);
        let shuffled = Lexical::default();
        for id in order {
            let mut of_group = of_group(&tools, id);
            of_group.reverse();
            shuffled.replace_group(&GroupId::new(id).unwrap(), of_group);
        }
        for query in queries {
            prop_assert_eq!(answer(&sorted, &query), answer(&shuffled, &query));
        }
    }

    #[test]
    fn an_index_that_changed_is_as_one_that_is_built_anew(
        changes in vec((select(&GROUPS[..]), tools(), any::<bool>()), 1..8),
        queries in vec(query(), 1..4),
    ) {
        let changed = Lexical::default();
        let mut now: BTreeMap<&str, Vec<IndexedTool>> = BTreeMap::new();
        for (id, tools, is_searched) in changes {
            let tools = of_group(&tools, id);
            changed.replace_group(&GroupId::new(id).unwrap(), tools.clone());
            now.insert(id, tools);
            if is_searched {
                let _ = answer(&changed, &queries[0]);
            }
        }
        let tools: Vec<IndexedTool> = now.into_values().flatten().collect();
        let fresh = index(&tools);
        for query in &queries {
            prop_assert_eq!(answer(&changed, query), answer(&fresh, query));
            for tool in &tools {
                let explained = |index: &Lexical| index.explain(query, &tool.key).ok();
                prop_assert_eq!(explained(&changed), explained(&fresh));
            }
        }
    }

    #[test]
    fn a_group_that_was_removed_has_no_influence(
        tools in tools(),
        removed in select(&GROUPS[..]),
        queries in vec(query(), 1..4),
    ) {
        let with = index(&tools);
        let _ = answer(&with, &queries[0]);
        with.replace_group(&GroupId::new(removed).unwrap(), Vec::new());
        let rest: Vec<IndexedTool> =
            tools.into_iter().filter(|tool| tool.key.group != *removed).collect();
        let without = index(&rest);
        for query in queries {
            prop_assert_eq!(answer(&with, &query), answer(&without, &query));
        }
    }

    #[test]
    fn an_exact_name_is_first(tools in tools()) {
        let index = index(&tools);
        for tool in &tools {
            let name = tool.key.tool.as_str();
            let found = index.search(&crate::world::query(name)).unwrap();
            prop_assert_eq!(found.hits[0].key.tool.as_str(), name);
        }
    }

    #[test]
    fn a_name_with_its_group_is_first(tools in tools()) {
        let index = index(&tools);
        for tool in &tools {
            let text = tool.key.to_string();
            let found = index.search(&crate::world::query(&text)).unwrap();
            let first = &found.hits[0].key;
            // Unless another tool has all of it for a name.
            prop_assert!(*first == tool.key || first.tool == *text, "{text}: {first}");
        }
    }

    /// Whatever letters a word of Russian or Greek has, its stem is found again.
    #[test]
    fn a_word_of_any_cyrillic_or_greek_letters_is_found(word in "[а-яё]{1,45}|[α-ωά-ώ]{1,45}") {
        let index = index(&[tool("a", "b", &format!("Knows {word}."))]);
        prop_assert_eq!(keys(&index, &format!("+{word}")), ["a/b"]);
        prop_assert_eq!(keys(&index, &word.to_uppercase()), ["a/b"]);
    }

    #[test]
    fn a_name_in_another_writing_is_first_but_for_names_alike(
        words in vec("[a-z]{2,8}", 1..4),
        tools in tools(),
        style in 0..6,
    ) {
        let capital = |word: &String| word[..1].to_uppercase() + &word[1..];
        let text = match style {
            0 => words.join("-"),
            1 => words.join(" "),
            2 => words.iter().map(capital).collect(),
            3 => words.join("_").to_uppercase(),
            4 => words.join("."),
            _ => words.concat(),
        };
        let mut tools = tools;
        let mine = tool_with("git", &words.join("_"), "", r#"{"type":"object"}"#);
        tools.retain(|tool| tool.key != mine.key);
        tools.push(mine.clone());
        let found = index(&tools).search(&crate::world::query(&text)).unwrap();
        let letters = |key: &ToolKey| key.to_string().replace(|c: char| !c.is_alphanumeric(), "").to_lowercase();
        let at = found.hits.iter().position(|hit| hit.key == mine.key).unwrap();
        for hit in &found.hits[..at] {
            prop_assert!(letters(&hit.key).ends_with(&words.concat()), "{text}: {}", hit.key);
        }
    }

    #[test]
    fn only_tools_that_were_handed_over_and_are_in_scope_are_found(tools in tools(), query in query()) {
        let Ok(found) = answer(&index(&tools), &query) else { return Ok(()) };
        for hit in &found.hits {
            prop_assert!(tools.iter().any(|tool| tool.key == hit.key));
            prop_assert!(query.groups.is_empty() || query.groups.contains(&hit.key.group));
        }
        let mut keys: Vec<&ToolKey> = found.hits.iter().map(|hit| &hit.key).collect();
        keys.sort();
        keys.dedup();
        prop_assert_eq!(keys.len(), found.hits.len(), "no tool is found twice");
    }

    #[test]
    fn scores_never_rise_and_the_limit_holds(tools in tools(), query in query()) {
        let Ok(found) = answer(&index(&tools), &query) else { return Ok(()) };
        prop_assert!(found.hits.is_sorted_by(|a, b| a.score >= b.score), "{:?}", found.hits);
        prop_assert!(found.hits.iter().all(|hit| hit.score.is_finite() && hit.score >= 0.0));
        // Only what has required words, and none of the others, is found without a score.
        let has_score = |hit: &Hit| hit.score > 0.0 || query.text.contains('+');
        prop_assert!(found.hits.iter().all(has_score));
        prop_assert!(found.hits.len() <= query.limit || query.text.starts_with("select:"));
    }

    #[test]
    fn a_smaller_limit_gives_the_first_of_a_larger_one(tools in tools(), query in query()) {
        prop_assume!(!query.text.starts_with("select:"));
        let index = index(&tools);
        let Ok(all) = answer(&index, &SearchQuery { limit: 100, ..query.clone() }) else { return Ok(()) };
        let some = answer(&index, &query).unwrap();
        prop_assert_eq!(&some.hits[..], &all.hits[..all.hits.len().min(query.limit)]);
    }

    #[test]
    fn the_parts_of_a_score_are_its_sum_and_no_hit_has_none(tools in tools(), query in query()) {
        let index = index(&tools);
        let Ok(found) = answer(&index, &query) else { return Ok(()) };
        for tool in &tools {
            let parts = index.explain(&query, &tool.key).unwrap();
            let hit = found.hits.iter().find(|hit| hit.key == tool.key);
            prop_assert_eq!(hit.is_none(), parts.is_empty());
            let sum: f64 = parts.iter().map(|part| part.score).sum();
            let score = hit.map_or(0.0, |hit| hit.score);
            prop_assert!((sum - score).abs() < 1e-6, "{score} {parts:?}");
            prop_assert!(parts.is_sorted_by(|a, b| a.score >= b.score));
        }
    }

    #[test]
    fn any_text_is_answered(
        description in any::<String>(),
        title in any::<String>(),
        text in any::<String>(),
        required in any::<String>(),
    ) {
        let schema = serde_json::json!({"type": "object", "properties": {title.clone(): {"description": text}}});
        let mut tool = tool_with("any", "tool", &description, &schema.to_string());
        tool.group_text = title.into();
        let index = index(&[tool]);
        for text in [text.clone(), format!("select:{text}"), format!("/{text}/"), format!("+{required} {text}")] {
            let query = crate::world::query(&text);
            let _ = index.search(&query);
            let _ = index.explain(&query, &ToolKey::new(
                GroupId::new("any").unwrap(),
                ToolName::new("tool").unwrap(),
            ));
        }
    }

    #[test]
    fn a_group_handed_over_again_changes_nothing(tools in tools(), query in query()) {
        let index = index(&tools);
        let before = answer(&index, &query);
        for _ in 0..3 {
            fill(&index, &tools);
            let _ = answer(&index, &query);
        }
        prop_assert_eq!(before, answer(&index, &query));
    }
}

/// So many changes that the places which were given up are squeezed out several times.
#[test]
fn a_long_life_leaves_no_trace() {
    let tools = |round: usize| -> Vec<IndexedTool> {
        let tool = |number: usize| {
            let word = WORDS[(number + round) % WORDS.len()];
            let name = format!("{word}_{}", number * round % 7);
            tool_with(
                "git",
                &format!("{name}_{number}"),
                word,
                r#"{"type":"object"}"#,
            )
        };
        (0..round % 40).map(tool).collect()
    };
    let changed = Lexical::default();
    let git = GroupId::new("git").unwrap();
    fill(&changed, &crate::world::servers());
    for round in 0..300 {
        changed.replace_group(&git, tools(round));
        let _ = changed.search(&crate::world::query("file"));
        if round % 25 != 0 {
            continue;
        }
        let fresh = index(&[crate::world::servers(), tools(round)].concat());
        for text in WORDS
            .iter()
            .chain(&["create a file", "+git mesage", "/hub/", "find_symbol"])
        {
            let query = crate::world::query(text);
            assert_eq!(
                answer(&changed, &query),
                answer(&fresh, &query),
                "{round} {text}"
            );
        }
    }
}

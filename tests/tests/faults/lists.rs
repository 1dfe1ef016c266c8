//! Lists of tools that are long, broken, without end, or change.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::host::{Host, Log, Setup, faulty, holds, host, impatient, well, within};

/// The names in the answer to a load.
fn loaded(answer: &Value) -> Vec<&str> {
    assert_eq!(answer["error"], Value::Null, "{answer}");
    let names = answer["tool_names"].as_array().unwrap().iter();
    names.map(|name| name.as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn all_pages_of_a_list_are_read() {
    within(async {
        for era in ["", "modern"] {
            let log = Log::new();
            let host =
                host(json!({"paged": faulty(&format!("{era} pages=25 {}", log.word()))})).await;
            let answer = host.load("paged").await;
            let names = loaded(&answer);
            assert_eq!(names.len(), 25);
            assert_eq!((names[0], names[24]), ("tool_1", "tool_25"));
            assert_eq!(log.count("list"), 25, "each page once");
            assert_eq!(host.said("paged/tool_25", json!({})).await, "tool_25 {}");
            host.end().await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_without_end_is_an_error_and_ends() {
    within(async {
        for (how, most) in [("circle", 3), ("endless", 1_100)] {
            let log = Log::new();
            let entry = faulty(&format!("pages={how} {}", log.word()));
            let host = host(json!({"round": entry, "well": well()})).await;
            let said = host.load_refused("round").await;
            holds(&said, &["`round`", "does not follow the protocol"]);
            let lists = log.count("list");
            assert!(
                (2..=most).contains(&lists),
                "{how}: {lists} pages were read"
            );
            holds(&host.for_operator("round"), &["list of tools has"]);
            host.others_go_on().await;
            host.end().await;
        }
    })
    .await;
}

/// A list that failed is an error in every place that shows it: no part of it is taken for
/// the whole, and nothing says that there are no tools.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_failed_never_looks_like_an_empty_one() {
    within(async {
        let servers = json!({
            "throttled": faulty("list=error"),
            "null": faulty("list=null"),
            "nothing": faulty("list=nothing"),
            "half": faulty("pages=fault"),
            "mute": impatient("list=hang", 0.8),
            "empty": faulty("list=empty"),
            "well": well(),
        });
        let host = Setup::new(servers).settled().start().await;
        let catalog = host.catalog().await;
        for (group, words) in [
            ("throttled", "throttled, come back later"),
            ("null", "does not follow the protocol"),
            ("nothing", "does not follow the protocol"),
            ("half", "page 2 is lost"),
            ("mute", "in time"),
        ] {
            let line = catalog
                .lines()
                .find(|line| line.contains(&format!("`{group}`")));
            let line = line.unwrap_or_else(|| panic!("{group} is missing in: {catalog}"));
            assert!(!line.contains("tools)"), "{line}");
            let said = host.load_refused(group).await;
            holds(&said, &[&format!("`{group}`"), words]);
            // A list has no effect.
            assert!(!said.contains("took effect"), "{said}");
            let said = host.refused(&format!("{group}/tool_1"), json!({})).await;
            holds(&said, &[&format!("`{group}`"), words]);
        }
        holds(&catalog, &["- `empty` (0 tools)"]);
        assert_eq!(loaded(&host.load("empty").await), [""; 0]);
        host.others_go_on().await;
        host.end().await;
    })
    .await;
}

/// The good tools among [`malformed`](crate::host::FAULTY) ones.
const GOOD: [&str; 6] = [
    "first_good",
    "odd_annotations",
    "odd_hints",
    "odd_output",
    "odd_texts",
    "last_good",
];

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_tool_is_set_aside_alone() {
    within(async {
        for era in ["", "modern"] {
            let servers = json!({"odd": faulty(&format!("{era} list=malformed")), "well": well()});
            let host = host(servers).await;
            assert_eq!(loaded(&host.load("odd").await), GOOD);
            for tool in GOOD {
                let said = host.said(&format!("odd/{tool}"), json!({})).await;
                assert_eq!(said, format!("{tool} {{}}"));
            }
            for tool in [
                "null_schema",
                "no_schema",
                "true_schema",
                "array_schema",
                "17",
            ] {
                let said = host.refused(&format!("odd/{tool}"), json!({})).await;
                holds(&said, &["no tool", tool]);
            }
            host.others_go_on().await;
            host.end().await;
        }
    })
    .await;
}

/// What a strict host would refuse the whole list for is in none of our lists.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_ours_is_valid_whatever_the_servers_sent() {
    within(async {
        for strategy in ["standard", "inject"] {
            let servers =
                json!({"odd": faulty("list=malformed"), "hostile": faulty("list=hostile")});
            let setup = Setup::new(servers).strategy(strategy).handshake().settled();
            let host = setup.start().await;
            if strategy == "inject" {
                host.load("odd").await;
                host.load("hostile").await;
            }
            let list = host.list().await;
            assert!(list.len() >= GOOD.len(), "{}", list.len());
            let mut names = BTreeSet::new();
            for tool in &list {
                assert_valid(tool);
                assert!(names.insert(tool["name"].to_string()), "twice: {tool}");
            }
            host.end().await;
        }
    })
    .await;
}

/// That a tool is as the protocol has it, and its name as the strictest provider wants it.
fn assert_valid(tool: &Value) {
    let name = tool["name"].as_str().unwrap();
    assert!((1..=64).contains(&name.len()), "{tool}");
    assert!(
        name.chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')),
        "{tool}"
    );
    for (field, is_right) in [
        ("title", Value::is_string as fn(&Value) -> bool),
        ("description", Value::is_string),
        ("inputSchema", Value::is_object),
        ("outputSchema", Value::is_object),
        ("annotations", Value::is_object),
        ("icons", Value::is_array),
        ("_meta", Value::is_object),
    ] {
        if let Some(value) = tool.get(field) {
            assert!(is_right(value), "{field}: {tool}");
        }
    }
    assert!(tool["inputSchema"].is_object(), "{tool}");
    let hints = tool["annotations"].as_object().cloned().unwrap_or_default();
    for (hint, value) in hints {
        let right = if hint == "title" {
            value.is_string()
        } else {
            value.is_boolean()
        };
        assert!(right, "{hint}: {tool}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_tools_of_one_name_the_first_is_the_tool() {
    within(async {
        let host = host(json!({"twins": faulty("list=twins")})).await;
        assert_eq!(loaded(&host.load("twins").await), ["twin", "Twin"]);
        assert_eq!(
            host.said("twin", json!({"first": "x"})).await,
            r#"twin {"first":"x"}"#
        );
        // The arguments of the one that was set aside do not fit.
        let said = host.refused("twin", json!({"second": "x"})).await;
        holds(&said, &["second", r#""first""#]);
        // Names that differ in case are two names.
        assert_eq!(host.said("Twin", json!({})).await, "Twin {}");
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifteen_hundred_tools_cost_no_more_than_their_budget() {
    within(async {
        let host = Setup::new(json!({"many": faulty("list=many:1500"), "well": well()}));
        let host = host.settled().start().await;
        let catalog = host.catalog().await;
        holds(&catalog, &["- `many` (1500 tools)", "- `well`"]);
        assert!(catalog.len() < 2_600, "{} bytes", catalog.len());

        let answer = host.load("many").await;
        assert_eq!(loaded(&answer).len(), 1_500);
        assert!(answer["schemas"].as_array().unwrap().len() < 1_500);
        holds(answer["note"].as_str().unwrap(), &["omitted", "tool_names"]);
        let bytes = answer.to_string().len();
        assert!(bytes < 32_768 + 16_384 + 65_536, "{bytes} bytes");

        let last = host.load_some(json!({"group_id": "many", "tool_names": ["tool_1499"]}));
        let last = last.await;
        assert_eq!(last["schemas"][0]["parameters"]["required"], json!(["n"]));
        assert_eq!(last["remaining"], 1_499);
        assert_eq!(
            host.said("tool_1499", json!({"n": 1})).await,
            r#"tool_1499 {"n":1}"#
        );
        let said = host.refused("many/tool_15000", json!({"n": 1})).await;
        holds(&said, &["tool_1500", "nearest"]);
        host.others_go_on().await;
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn fifteen_hundred_tools_pass_through_when_they_are_wanted() {
    within(async {
        let setup = Setup::new(json!({"many": faulty("list=many:1500")}));
        let host = setup.strategy("standard").settled().start().await;
        let names = host.names().await;
        assert_eq!(names.len(), 1_500);
        assert_eq!(names[1_499], "many__tool_1499");
        let result = host.call("many__tool_1499", json!({"n": 7})).await;
        assert_eq!(result.joined_text(), r#"tool_1499 {"n":7}"#);
        host.end().await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_schema_is_shown_whole_or_not_at_all() {
    within(async {
        let servers =
            json!({"wide": faulty("list=wide:85000"), "wider": faulty("list=wide:300000")});
        let host = host(servers).await;
        for group in ["wide", "wider"] {
            // With the group it has no room; its neighbour has.
            let answer = host.load(group).await;
            assert_eq!(loaded(&answer), ["wide", "narrow"]);
            let shown = answer["schemas"].as_array().unwrap();
            assert_eq!(shown.len(), 1);
            assert_eq!(shown[0]["name"], "narrow");
            holds(
                answer["omitted"][0].as_str().unwrap(),
                &["wide(", "field_0000*"],
            );

            // It can be called all the same, and an error is bounded, too.
            let tool = format!("{group}/wide");
            let said = host.said(&tool, json!({"field_0000": "x"})).await;
            assert_eq!(said, r#"wide {"field_0000":"x"}"#);
            let said = host.refused(&tool, json!({"field_0001": "x"})).await;
            holds(&said, &["field_0000: expected", "too many to show"]);
        }
        // By its name it is given whole, up to a cap.
        let named = json!({"group_id": "wide", "tool_names": ["wide"]});
        let answer = host.load_some(named).await;
        let properties = answer["schemas"][0]["parameters"]["properties"]
            .as_object()
            .unwrap();
        assert!(properties.len() > 400, "{}", properties.len());
        let first = properties.keys().next().unwrap();
        assert_eq!(first, "field_0000");
        let named = json!({"group_id": "wider", "tool_names": ["wide"]});
        let answer = host.load_some(named).await;
        holds(
            answer["error"].as_str().unwrap(),
            &["never shown whole", "wide"],
        );
        assert_eq!(answer["schemas"], json!([]));
        holds(answer["omitted"][0].as_str().unwrap(), &["field_0000*"]);
        host.end().await;
    })
    .await;
}

/// A server may change its tools at any time. The list that the host has stays as it is,
/// byte for byte; what is loaded and called is what the server has now.
#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changes_changes_no_byte_of_ours() {
    within(async {
        for to in ["schema", "gone"] {
            let log = Log::new();
            let entry = faulty(&format!("changes {}", log.word()));
            let setup = Setup::new(json!({"moody": entry, "well": well()}));
            let host = setup.settled().start().await;
            let before = host.list_text().await;
            assert_eq!(loaded(&host.load("moody").await), ["pay", "change"]);
            let amount = json!({"amount": 1});
            assert_eq!(
                host.said("pay", amount.clone()).await,
                r#"pay {"amount":1}"#
            );

            host.said("change", json!({"to": to})).await;
            log.until("list", 2).await;
            let said = until_refused(&host, amount).await;
            let answer = host.load("moody").await;
            if to == "gone" {
                holds(&said, &["no tool", "pay"]);
                assert_eq!(loaded(&answer), ["change"]);
            } else {
                // The new schema, so that the next call can be right.
                holds(
                    &said,
                    &["currency: expected", r#""required":["amount","currency"]"#],
                );
                let required = &answer["schemas"][0]["parameters"]["required"];
                assert_eq!(*required, json!(["amount", "currency"]));
            }
            assert_eq!(host.list_text().await, before);
            host.others_go_on().await;
            host.end().await;
        }
    })
    .await;
}

/// Pays until that is refused, as it is when the new list has been taken up.
async fn until_refused(host: &Host, arguments: Value) -> String {
    loop {
        let result = host.forward("moody/pay", arguments.clone()).await;
        if result.is_error {
            return result.joined_text();
        }
        tokio::task::yield_now().await;
    }
}

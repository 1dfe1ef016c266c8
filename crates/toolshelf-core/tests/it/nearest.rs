use proptest::prelude::*;
use toolshelf_core::nearest::nearest;

#[track_caller]
fn check(mistaken: &str, known: &[&str], expect: &[&str]) {
    assert_eq!(
        nearest(mistaken, known.iter().copied(), 5),
        expect,
        "{mistaken}"
    );
}

#[test]
fn mistakes_that_models_make() {
    let known = [
        "create_issue",
        "list_issues",
        "read_file",
        "github/create_issue",
        "mcp:github",
        "get",
    ];
    check(
        "createIssue",
        &known,
        &["create_issue", "github/create_issue"],
    );
    check("create-isue", &known, &["create_issue"]);
    check(
        "CREATE ISSUE",
        &known,
        &["create_issue", "github/create_issue"],
    );
    check("raed_file", &known, &["read_file"]);
    check("github", &known, &["mcp:github", "github/create_issue"]);
    check("weather", &known, &[]);
    check("", &known, &[]);
    check("___", &known, &[]);
    check("create_issue", &[], &[]);
}

#[test]
fn words_that_are_no_name_are_looked_for_in_names() {
    let known = [
        "create_issue",
        "create_invoice",
        "send_invoice",
        "read_file",
        "get",
    ];
    check(
        "crumple and create an invoice, then frame it",
        &known,
        &["create_invoice", "create_issue", "send_invoice"],
    );
    check("the file of my life", &known, &["read_file"]);
    // Short words are in too many names.
    check("see her run far off", &known, &[]);
    check("bake a cake", &known, &[]);
}

#[test]
fn a_name_is_named_once() {
    check("creat", &["create", "create", "create"], &["create"]);
}

#[test]
fn a_large_catalog_has_no_blind_spot() {
    // The only name that is near stands behind thousands that are not.
    let mut known: Vec<String> = (0..20_000).map(|at| format!("tool_number_{at}")).collect();
    known.push("crete_isue".to_owned());
    let expect = ["crete_isue"];
    assert_eq!(
        nearest("create_issue", known.iter().map(String::as_str), 5),
        expect
    );
    known.reverse();
    assert_eq!(
        nearest("create_issue", known.iter().map(String::as_str), 5),
        expect
    );
}

#[test]
fn order_does_not_matter_in_a_large_catalog() {
    let mut known: Vec<String> = (0..9_000).map(|at| format!("tool_{at:04}")).collect();
    let ask = |known: &[String]| -> Vec<String> {
        let near = nearest("tool_12345", known.iter().map(String::as_str), 8);
        near.into_iter().map(str::to_owned).collect()
    };
    let one = ask(&known);
    known.reverse();
    assert_eq!(ask(&known), one);
}

#[test]
fn hostile_names_cost_little() {
    let long = "a".repeat(1_000_000);
    let known: Vec<String> = (0..2_000)
        .map(|at| format!("{}{at}", "ab".repeat(60)))
        .collect();
    nearest(&long, known.iter().map(String::as_str), 5);
}

proptest! {
    #[test]
    fn answers_are_known_bounded_and_do_not_depend_on_order(
        mistaken in any::<String>(),
        known in prop::collection::vec("[a-d_]{0,8}|\\PC{0,8}", 0..30).prop_flat_map(|known| {
            (Just(known.clone()), Just(known).prop_shuffle())
        }),
        limit in 0usize..8,
    ) {
        let (one, other) = known;
        let near = nearest(&mistaken, one.iter().map(String::as_str), limit);
        prop_assert!(near.len() <= limit);
        prop_assert!(near.iter().all(|name| one.iter().any(|known| known == name)));
        let again = nearest(&mistaken, other.iter().map(String::as_str), limit);
        prop_assert_eq!(near, again);
    }

    #[test]
    fn another_spelling_of_a_name_comes_first(words in prop::collection::vec("[a-z]{2,6}", 1..4)) {
        let known = [words.join("_"), "zzzz".to_owned(), format!("{}x", words.join("_"))];
        for spelling in [words.join("-"), words.concat().to_uppercase(), words.join(" ")] {
            let near = nearest(&spelling, known.iter().map(String::as_str), 3);
            prop_assert_eq!(near.first().copied(), Some(known[0].as_str()));
        }
    }
}

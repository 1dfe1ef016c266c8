//! The metric against cases that were computed by hand, and the readers of judged sets.

use std::fmt::Write;
use std::sync::Mutex;

use toolshelf_core::search::{Found, Hit, IndexedTool, Match, SearchIndex, SearchQuery};
use toolshelf_core::{Error, ErrorKind, GroupId, ToolKey};
use toolshelf_search::Lexical;
use toolshelf_search::evaluate::{
    Figures, JudgedTool, METRICS, Report, evaluate, load, read_queries, read_tools,
};

/// An index that answers with the tools that the query lists, in that order.
#[derive(Default)]
struct Scripted(Mutex<Vec<ToolKey>>);

impl SearchIndex for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn replace_group(&self, _: &GroupId, tools: Vec<IndexedTool>) {
        let keys = tools.into_iter().map(|tool| tool.key);
        self.0.lock().unwrap().extend(keys);
    }

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        let known = self.0.lock().unwrap();
        let named = |name: &str| known.iter().find(|key| key.tool == *name).cloned();
        let hits = query.text.split(' ').filter_map(named).map(|key| Hit {
            key,
            score: 1.0,
            why: Match::Text,
        });
        Ok(Found::hits(hits.take(query.limit).collect()))
    }
}

/// The tools `t1` to `t60` of a server `s`.
fn sixty() -> Vec<JudgedTool> {
    let mut lines = String::new();
    for number in 1..=60 {
        writeln!(lines, r#"{{"server":"s","name":"t{number}"}}"#).unwrap();
    }
    read_tools("tools", &lines).unwrap()
}

fn report(queries: &str) -> Report {
    let queries = read_queries("queries", queries).unwrap();
    evaluate(&Scripted::default(), &sixty(), &queries).unwrap()
}

fn assert_figures(figures: &Figures, expected: [f64; METRICS.len()]) {
    for (metric, expected) in METRICS.iter().zip(expected) {
        let reached = figures.percent(metric).unwrap();
        assert!(
            (reached - 100.0 * expected).abs() < 1e-9,
            "{metric}: {reached} {expected}"
        );
    }
}

/// What a place counts, 1 for the first: 1 / log2(place + 1).
fn gain(place: f64) -> f64 {
    1.0 / (place + 1.0).log2()
}

// The figures in their order: hit@1, MRR, R@1, R@3, R@5, R@10, nDCG@5, nDCG@10.

#[test]
fn one_tool_at_rank_one() {
    let report = report(r#"{"query":"t1 t2","relevant":["s/t1"]}"#);
    assert_figures(&report.overall, [1.0; 8]);
}

#[test]
fn one_tool_at_rank_three() {
    let report = report(r#"{"query":"t8 t9 t1","relevant":["s/t1"]}"#);
    assert_figures(
        &report.overall,
        [0.0, 1.0 / 3.0, 0.0, 1.0, 1.0, 1.0, 0.5, 0.5],
    );
}

#[test]
fn ranks_behind_the_tenth_count_for_the_best_rank_alone() {
    let report = report(r#"{"query":"t2 t3 t4 t5 t6 t7 t8 t9 t10 t11 t1","relevant":["s/t1"]}"#);
    assert_figures(
        &report.overall,
        [0.0, 1.0 / 11.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    );
}

#[test]
fn several_tools_each_count() {
    // Places 1 and 4 of three that are needed; the third is not found.
    let report = report(r#"{"query":"t1 t8 t9 t2","relevant":["s/t1","s/t2","s/t3"]}"#);
    let ndcg = (gain(1.0) + gain(4.0)) / (gain(1.0) + gain(2.0) + gain(3.0));
    let third = 1.0 / 3.0;
    assert_figures(
        &report.overall,
        [1.0, 1.0, third, third, 2.0 * third, 2.0 * third, ndcg, ndcg],
    );
}

#[test]
fn more_tools_than_places_are_measured_against_full_places() {
    // Six are needed and stand first: the five best places are full, and only ten hold six.
    let report = report(
        r#"{"query":"t1 t2 t3 t4 t5 t6","relevant":["s/t1","s/t2","s/t3","s/t4","s/t5","s/t6"]}"#,
    );
    assert_figures(
        &report.overall,
        [1.0, 1.0, 1.0 / 6.0, 0.5, 5.0 / 6.0, 1.0, 1.0, 1.0],
    );
}

#[test]
fn of_a_group_one_alternative_is_enough_and_further_ones_count_nothing() {
    let report = report(
        r#"{"query":"t9 t1 t2 t3","relevant":[],"groups":[["s/t2","s/t1"],["s/t3","s/t4"]]}"#,
    );
    let ndcg = (gain(2.0) + gain(4.0)) / (gain(1.0) + gain(2.0));
    assert_figures(&report.overall, [0.0, 0.5, 0.0, 0.5, 1.0, 1.0, ndcg, ndcg]);
}

#[test]
fn groups_that_share_their_first_tool_tie_at_its_rank() {
    let report = report(r#"{"query":"t9 t1","groups":[["s/t1","s/t2"],["s/t1","s/t3"]]}"#);
    let ndcg = (gain(2.0) + gain(2.0)) / (gain(1.0) + gain(2.0));
    assert_figures(&report.overall, [0.0, 0.5, 0.0, 1.0, 1.0, 1.0, ndcg, ndcg]);
}

#[test]
fn groups_take_the_place_of_relevant_unless_they_are_empty() {
    let with = report(r#"{"query":"t2","relevant":["s/t1"],"groups":[["s/t2"]]}"#);
    assert_figures(&with.overall, [1.0; 8]);
    let without = report(r#"{"query":"t1","relevant":["s/t1"],"groups":[]}"#);
    assert_figures(&without.overall, [1.0; 8]);
}

#[test]
fn unknown_tools_are_not_needed_and_a_query_of_nothing_else_does_not_count() {
    let report = report(
        r#"{"query":"t1","relevant":["s/t1","s/gone"]}
           {"query":"t2","relevant":["s/gone"]}
           {"query":"t2","relevant":[]}"#,
    );
    assert_eq!(report.overall.queries, 1);
    assert_figures(&report.overall, [1.0; 8]);
    assert_eq!(report.runs, [["s/t1"], ["s/t2"], ["s/t2"]]);
}

#[test]
fn figures_are_means_over_queries_and_by_kind() {
    let report = report(
        r#"{"query":"t1","relevant":["s/t1"],"kind":"good"}
           {"query":"t9 t1","relevant":["s/t1"],"kind":"fair"}
           {"query":"none","relevant":["s/t1"],"kind":"fair"}
           {"query":"t1","relevant":["s/t1"]}"#,
    );
    assert_eq!(report.overall.queries, 4);
    assert_eq!(report.overall.percent("hit@1"), Some(50.0));
    assert_eq!(report.overall.percent("MRR"), Some(62.5));
    assert_figures(&report.kinds["good"], [1.0; 8]);
    let ndcg = gain(2.0) / 2.0;
    assert_figures(
        &report.kinds["fair"],
        [0.0, 0.25, 0.0, 0.5, 0.5, 0.5, ndcg, ndcg],
    );
    assert_eq!(report.unanswered, 1);
}

#[test]
fn a_query_that_no_tool_answers_wants_an_empty_answer() {
    let report = report(
        r#"{"query":"none","relevant":[],"kind":"no-match"}
           {"query":"t1","relevant":[],"kind":"no-match"}
           {"query":"none","relevant":[],"kind":"no-match"}
           {"query":"t1","relevant":["s/t1"],"kind":"no-match"}"#,
    );
    assert_eq!((report.no_match.queries, report.no_match.empty), (3, 2));
    assert!((report.no_match.percent().unwrap() - 200.0 / 3.0).abs() < 1e-9);
    // One with an answer is a query like others, and no kind is called like those without.
    assert_eq!((report.overall.queries, report.unanswered), (1, 0));
    assert!(report.kinds.is_empty());
    assert_eq!(
        report.remarks,
        [
            "queries:4: the kind is 'no-match', and tools are named that answer it; it counts as one \
             with an answer, of no kind"
        ]
    );
}

#[test]
fn fields_that_nobody_reads_are_told_once_each_with_their_count() {
    let queries = read_queries(
        "queries",
        r#"{"query":"t1","relevant":["s/t1"]}
           {"query":"t1","relevant":["s/t1"],"relevent":["s/t2"],"Kind":"task"}

           {"query":"t2","relevant":["s/t2"],"Kind":"task","note":1}"#,
    )
    .unwrap();
    let tools = read_tools(
        "tools",
        r#"{"server":"s","name":"t1","descripton":"One."}
           {"server":"s","name":"t2","descripton":"Two.","annotations":{}}"#,
    )
    .unwrap();
    let report = evaluate(&Scripted::default(), &tools, &queries).unwrap();
    assert_eq!(
        report.remarks,
        [
            "tools:1: the field 'descripton' is not read (on 2 lines); did you mean 'description'?",
            "tools:2: the field 'annotations' is not read",
            "queries:2: the field 'Kind' is not read (on 2 lines); did you mean 'kind'?",
            "queries:2: the field 'relevent' is not read; did you mean 'relevant'?",
            "queries:4: the field 'note' is not read",
        ]
    );
}

#[test]
fn a_schema_that_does_not_count_is_told() {
    let tools = read_tools(
        "tools",
        r#"{"server":"s","name":"a","input_schema":[{"type":"object"}]}
           {"server":"s","name":"b","inputSchema":"none"}
           {"server":"s","name":"c","input_schema":{"properties":{"x":{}}},"inputSchema":{}}
           {"server":"s","name":"d","input_schema":null,"inputSchema":{"properties":{"x":{}}}}
           {"server":"s","name":"e","input_schema":{}}"#,
    )
    .unwrap();
    let remarks: Vec<&[String]> = tools.iter().map(|tool| &*tool.remarks).collect();
    assert_eq!(
        remarks[0],
        ["'input_schema' is no schema of an object, and counts as none"]
    );
    assert_eq!(
        remarks[1],
        ["'inputSchema' is no schema of an object, and counts as none"]
    );
    assert_eq!(
        remarks[2],
        ["'input_schema' counts, and 'inputSchema' does not, which is there besides"]
    );
    assert_eq!((remarks[3], remarks[4]), (&[][..], &[][..]));
    for at in [2, 3] {
        let schema = tools[at].tool.definition.input_schema().as_str();
        assert!(schema.contains(r#""x""#), "{schema}");
    }
}

#[test]
fn no_query_has_no_figures() {
    let report = report("");
    assert_eq!(report.overall.percent("hit@1"), None);
    assert_eq!(report.no_match.percent(), None);
    assert_eq!(report.overall.all().count(), 0);
    assert_eq!(report.per_query(), std::time::Duration::ZERO);
    assert_eq!(report.to_json()["unanswered"], 0);
}

#[test]
fn there_is_no_figure_of_another_name() {
    let report = report(r#"{"query":"t1","relevant":["s/t1"]}"#);
    assert_eq!(report.overall.percent("R@7"), None);
    let names: Vec<&str> = report.overall.all().map(|(name, _)| name).collect();
    assert_eq!(names, METRICS);
}

#[test]
fn fifty_hits_are_asked_for() {
    let all: Vec<String> = (1..=60).map(|number| format!("t{number}")).collect();
    let report = report(&format!(
        r#"{{"query":"{}","relevant":["s/t51"]}}"#,
        all.join(" ")
    ));
    assert_eq!(report.runs[0].len(), 50);
    assert_eq!(report.overall.percent("MRR"), Some(0.0));
}

#[test]
fn the_report_as_json_has_one_decimal() {
    let report = report(
        r#"{"query":"t9 t8 t1","relevant":["s/t1"],"kind":"fair"}
           {"query":"none","relevant":[],"kind":"no-match"}"#,
    );
    let json = report.to_json();
    assert_eq!(json["overall"]["MRR"], 33.3);
    assert_eq!(json["overall"]["queries"], 1);
    assert_eq!(json["kinds"]["fair"]["nDCG@5"], 50.0);
    assert_eq!(json["no-match"]["empty"], 100.0);
    assert!(json["per_query_us"].is_number() && json["first_query_us"].is_number());
}

#[test]
fn ids_are_given_or_made_of_server_and_name() {
    let tools = read_tools(
        "tools",
        r#"{"id":"mine","server":"s","name":"a"}
           {"server":"s","name":"b","title":"B","description":"Does b.","inputSchema":{"properties":{}}}
           {"name":"c"}

           {"server":"s","name":"a"}"#,
    )
    .unwrap();
    let ids: Vec<&str> = tools.iter().map(|tool| &*tool.id).collect();
    assert_eq!(ids, ["mine", "s/b", "/c", "s/a"]);
    let keys: Vec<String> = tools.iter().map(|tool| tool.tool.key.to_string()).collect();
    assert_eq!(keys[..2], ["s/a", "s/b"]);
    // Both tools called `s/a` are handed over, the second in a group of its own.
    assert_ne!(keys[0], keys[3]);
    assert_eq!(tools[1].tool.definition.title(), Some("B"));
    assert_eq!(tools[1].tool.definition.description(), Some("Does b."));
}

#[test]
fn what_no_server_may_send_is_read_all_the_same() {
    let tools = read_tools(
        "tools",
        r#"{"server":"s, t","name":"find, then 'replace'","input_schema":"none"}
           {"server":"","name":"/a/","input_schema":{"type":"dict","properties":{"zloty":{}}}}"#,
    )
    .unwrap();
    assert_eq!(tools[0].id, "s, t/find, then 'replace'");
    let index = Lexical::default();
    load(&index, &tools);
    for (text, id) in [("find then replace", 0), ("zloty", 1)] {
        let hits = index.search(&crate::world::query(text)).unwrap().hits;
        assert_eq!(hits[0].key, tools[id].tool.key, "{text}");
    }
}

#[test]
fn nothing_is_better_than_perfect() {
    // One tool that meets two needs, and one that is named twice.
    let report = report(
        r#"{"query":"t1","groups":[["s/t1","s/t2"],["s/t1"]]}
           {"query":"t1","relevant":["s/t1","s/t1"]}"#,
    );
    assert_figures(&report.overall, [1.0; 8]);
    assert_eq!(
        report.remarks,
        [
            "queries:1: 's/t1' is in several groups of 'groups'; found, it meets all of them",
            "queries:2: 'relevant' names 's/t1' twice; it counts once",
        ]
    );
}

#[test]
fn what_does_not_count_is_remarked_with_its_place() {
    let report = report(
        r#"{"query":"t1","relevant":["s/t1","s/nope","s/neither"]}
           {"query":"t1","relevant":["t1"],"kind":"lost"}
           {"query":"t1","relevant":[]}

           {"query":"t2","groups":[["s/t2"],[]],"relevant":["s/t2"],"kind":""}
           {"query":"t2","groups":[["s/t2"]],"relevant":["s/t2","s/t3"]}
           {"query":"t2","groups":[],"relevant":["s/t2"]}
           {"query":"none","relevant":[],"kind":"no-match"}"#,
    );
    assert_figures(&report.overall, [1.0; 8]);
    assert_eq!((report.overall.queries, report.not_counted), (4, 2));
    assert_eq!(report.to_json()["not_counted"], 2);
    assert!(report.kinds.is_empty());
    assert_eq!(
        report.remarks,
        [
            "queries:1: no tool has the id 's/nope' (and 1 more), which is left out",
            "queries:2: no tool has the id 't1', which is left out",
            "queries:2: the query is not counted: it needs no tool of the set, and its kind is not \
             'no-match'",
            "queries:3: the query is not counted: it needs no tool of the set, and its kind is not \
             'no-match'",
            "queries:5: a group of 'groups' is empty, and is left out",
            "queries:5: the kind is empty, which counts as none",
            "queries:6: 'groups' counts and 'relevant' does not, which names 's/t3' besides",
        ]
    );
}

#[test]
fn tools_that_queries_cannot_mean_are_remarked() {
    let tools = read_tools(
        "tools",
        "\u{feff}{\"name\":\"a\"}\n{\"id\":\"/a\",\"name\":\"b\"}\n{\"server\":\"s\",\"name\":\"c\"}",
    )
    .unwrap();
    let remarks: Vec<&str> = tools
        .iter()
        .flat_map(|tool| tool.remarks.iter().map(String::as_str))
        .collect();
    assert_eq!(
        remarks,
        [
            "the tool has neither 'server' nor 'id', so its id is '/a'",
            "the id '/a' is that of tools:1, too; queries mean the last one",
        ]
    );
    assert_eq!(tools[1].place, "tools:2");
}

fn fault<T>(read: Result<T, Error>) -> String {
    let error = read.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidConfig);
    error.message().to_owned()
}

#[test]
fn a_fault_in_the_tools_names_file_line_and_field() {
    let good = "{\"name\":\"a\"}\n\n";
    for (line, says) in [
        ("{", "tools.jsonl:3: not a JSON object"),
        ("[]", "tools.jsonl:3: not a JSON object"),
        (
            r#"{"server":"s"}"#,
            "tools.jsonl:3: the field 'name' is missing",
        ),
        (
            r#"{"name":null}"#,
            "tools.jsonl:3: the field 'name' is missing",
        ),
        (
            r#"{"name":7}"#,
            "tools.jsonl:3: the field 'name' cannot be read",
        ),
        (
            r#"{"name":" "}"#,
            "tools.jsonl:3: the field 'name' is empty",
        ),
        (
            r#"{"name":"a","server":[]}"#,
            "tools.jsonl:3: the field 'server' cannot be read",
        ),
        (
            r#"{"name":"a","id":1}"#,
            "tools.jsonl:3: the field 'id' cannot be read",
        ),
        (
            r#"{"name":"a","title":1}"#,
            "tools.jsonl:3: the field 'title' cannot be read",
        ),
        (
            r#"{"name":"a","description":{}}"#,
            "tools.jsonl:3: the field 'description' cannot be read",
        ),
    ] {
        let message = fault(read_tools("tools.jsonl", &format!("{good}{line}")));
        assert!(message.starts_with(says), "{line}: {message}");
    }
}

#[test]
fn a_fault_in_the_queries_names_file_line_and_field() {
    let good = "{\"query\":\"a\",\"relevant\":[]}\r\n";
    for (line, says) in [
        (
            "nonsense",
            "q.jsonl:2: not a JSON object: expected ident (column 2)",
        ),
        (
            r#"{"query":"a","relevant":[],"kind":"overall"}"#,
            "q.jsonl:2: the field 'kind' cannot be 'overall'",
        ),
        (
            r#"{"relevant":[]}"#,
            "q.jsonl:2: the field 'query' is missing",
        ),
        (
            r#"{"query":1,"relevant":[]}"#,
            "q.jsonl:2: the field 'query' cannot be read",
        ),
        (
            r#"{"query":"a"}"#,
            "q.jsonl:2: the field 'relevant' is missing",
        ),
        (
            r#"{"query":"a","relevant":"b"}"#,
            "q.jsonl:2: the field 'relevant' cannot be read",
        ),
        (
            r#"{"query":"a","relevant":[1]}"#,
            "q.jsonl:2: the field 'relevant' cannot be read",
        ),
        (
            r#"{"query":"a","groups":["b"]}"#,
            "q.jsonl:2: the field 'groups' cannot be read",
        ),
        (
            r#"{"query":"a","relevant":[],"kind":1}"#,
            "q.jsonl:2: the field 'kind' cannot be read",
        ),
    ] {
        let message = fault(read_queries("q.jsonl", &format!("{good}{line}")));
        assert!(message.starts_with(says), "{line}: {message}");
    }
}

#[test]
fn an_error_of_the_index_is_the_error_of_the_evaluation() {
    let queries = read_queries("q", r#"{"query":"select:","relevant":[]}"#).unwrap();
    let error = evaluate(&Lexical::default(), &sixty(), &queries).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidArguments);
}

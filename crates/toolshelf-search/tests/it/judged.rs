//! The judged set, and below what no change may let it fall.

use std::collections::BTreeMap;

use toolshelf_search::Lexical;
use toolshelf_search::evaluate::{
    JudgedQuery, JudgedTool, Report, evaluate, read_queries, read_tools,
};

fn tools() -> Vec<JudgedTool> {
    read_tools("tools.jsonl", include_str!("../judged/tools.jsonl")).unwrap()
}

fn queries() -> Vec<JudgedQuery> {
    read_queries("queries.jsonl", include_str!("../judged/queries.jsonl")).unwrap()
}

/// The report over the tools of all servers but one.
fn without(server: &str) -> Report {
    let tools: Vec<JudgedTool> = tools()
        .into_iter()
        .filter(|judged| judged.tool.key.group != *server)
        .collect();
    report(&tools)
}

fn report(tools: &[JudgedTool]) -> Report {
    evaluate(&Lexical::default(), tools, &queries()).unwrap()
}

fn percent(report: &Report, kind: &str, metric: &str) -> f64 {
    report.kinds[kind].percent(metric).unwrap()
}

/// Says which queries went wrong, so that a fall shows where.
fn missed(report: &Report) -> String {
    let queries = queries();
    let lines = queries.iter().zip(&report.runs).filter_map(|(query, run)| {
        let is_right = match run.first() {
            None => query.needed.is_empty(),
            Some(first) => query.needed.iter().flatten().any(|id| id == first),
        };
        let kind = query.kind.as_deref().unwrap_or_default();
        let best = &run[..run.len().min(3)];
        (!is_right).then(|| format!("{kind}: {} -> {best:?}\n", query.query))
    });
    lines.collect()
}

#[test]
fn the_set_is_large_enough_to_judge_by() {
    let mut servers: Vec<_> = tools()
        .iter()
        .map(|judged| judged.tool.key.group.clone())
        .collect();
    servers.dedup();
    assert!(tools().len() >= 150 && servers.len() >= 15 && queries().len() >= 300);
}

#[test]
fn a_name_in_any_writing_is_rank_one() {
    let report = report(&tools());
    for kind in ["exact", "normalised"] {
        assert_eq!(
            percent(&report, kind, "hit@1"),
            100.0,
            "{kind}\n{}",
            missed(&report)
        );
    }
}

#[test]
fn what_no_tool_does_has_no_good_match() {
    let report = report(&tools());
    assert_eq!(
        report.no_match.percent(),
        Some(100.0),
        "{}",
        missed(&report)
    );
}

/// Among few tools a word that one of them has by accident is a good match: `numbers`, where
/// one tells a phone number.
#[test]
fn among_the_tools_of_a_single_server_it_hardly_ever_has_one() {
    let mut servers: BTreeMap<String, Vec<JudgedTool>> = BTreeMap::new();
    for judged in tools() {
        let server = judged.tool.key.group.to_string();
        servers.entry(server).or_default().push(judged);
    }
    let queries: Vec<JudgedQuery> = queries()
        .into_iter()
        .filter(|query| query.needed.is_empty())
        .collect();
    let (mut all, mut answered) = (0, Vec::new());
    for (server, tools) in servers {
        let report = evaluate(&Lexical::default(), &tools, &queries).unwrap();
        all += report.runs.len();
        let runs = queries.iter().zip(&report.runs);
        answered.extend(
            runs.filter(|(_, run)| !run.is_empty())
                .map(|(query, run)| format!("{server}: {} -> {run:?}", query.query)),
        );
    }
    assert!(all >= 900 && answered.len() * 100 <= all, "{answered:#?}");
}

#[test]
fn misspelt_words_cost_three_points_at_most() {
    let report = report(&tools());
    let (clean, typo) = (
        percent(&report, "clean", "nDCG@5"),
        percent(&report, "typo", "nDCG@5"),
    );
    assert!(typo >= clean - 3.0, "{clean} {typo}\n{}", missed(&report));
}

#[test]
fn chinese_is_searched_as_well_as_english() {
    let english = percent(&without("backoffice-cn"), "english", "nDCG@5");
    let report = without("backoffice");
    let chinese = percent(&report, "chinese", "nDCG@5");
    assert!(
        chinese >= english - 1.0,
        "{english} {chinese}\n{}",
        missed(&report)
    );
}

/// Figures as they were reached, less a point. They rise with the index and never fall.
#[test]
fn no_kind_of_query_falls_behind() {
    let report = report(&tools());
    let figures: Vec<String> = report
        .kinds
        .iter()
        .map(|(kind, figures)| format!("{kind} {:.1}", figures.percent("nDCG@5").unwrap()))
        .collect();
    for (kind, least) in [
        ("abbreviation", 95.5),
        ("chinese", 99.0),
        ("clean", 99.0),
        ("english", 99.0),
        ("exact", 99.0),
        ("inflection", 99.0),
        ("mixed", 99.0),
        ("normalised", 99.0),
        ("paraphrase", 88.9),
        ("two-tool", 99.0),
        ("typo", 99.0),
    ] {
        let reached = percent(&report, kind, "nDCG@5");
        assert!(
            reached >= least,
            "{kind}: {reached:.1}\n{figures:?}\n{}",
            missed(&report)
        );
    }
}

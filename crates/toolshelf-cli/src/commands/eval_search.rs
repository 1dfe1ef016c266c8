//! `eval-search`: how good the index is on a judged set.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolshelf_core::Registry;
use toolshelf_core::search::{SearchIndex, SearchQuery};
use toolshelf_search::evaluate::{self, Figures, JudgedQuery, JudgedTool, METRICS, Report};

use crate::arguments::EvalSearchArguments;
use crate::commands::judged;
use crate::failure::Failure;
use crate::output::{Look, Output, counted, cut};
use crate::source::{self, STANDARD_INPUT};

/// How many hits a timed search asks for: as many as a model's does.
const LIMIT: usize = toolshelf_catalog::texts::DEFAULT_RESULTS;

/// How long the index takes.
struct Times {
    /// From the tools to the first answer.
    build: Duration,
    /// Of half of the queries, and of all but one in a hundred.
    p50: Duration,
    p99: Duration,
}

pub(crate) fn run(
    arguments: &EvalSearchArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    if arguments.tools == arguments.queries && arguments.tools == Path::new(STANDARD_INPUT) {
        return Err(Failure::usage(
            "'-' can be the tools or the queries, and not both: there is one standard input",
        ));
    }
    let (tools_name, tools) = judged::tools(&arguments.tools)?;
    let (queries_name, text) = source::text(&arguments.queries)?;
    let queries =
        evaluate::read_queries(&queries_name, &text).map_err(|error| Failure::asked(&error))?;
    if queries.is_empty() {
        return Err(Failure::usage(format!(
            "{queries_name} holds no query: a line of it is a JSON object with 'query' and 'relevant'"
        )));
    }
    let index = registry
        .search_index(&arguments.index, &Value::Null)
        .map_err(|error| Failure::asked(&error))?;
    let times = times(index.as_ref(), &tools, &queries)?;
    let report = evaluate::evaluate(index.as_ref(), &tools, &queries)
        .map_err(|error| Failure::usage(format!("{queries_name}: {error}")))?;
    judged::warn(report.remarks.iter());
    if report.overall.queries == 0 && report.no_match.queries == 0 {
        return Err(Failure::usage(format!(
            "no query of {queries_name} is about a tool of {tools_name}: do the ids in 'relevant' \
             fit those of the tools?"
        )));
    }
    if arguments.json {
        output.write_json(&document(index.as_ref(), &tools, &queries, &report, &times))
    } else {
        let text = table(index.as_ref(), &tools, &queries, &report, &times, output);
        output.write(&text)
    }
}

fn times(
    index: &dyn SearchIndex,
    tools: &[JudgedTool],
    queries: &[JudgedQuery],
) -> Result<Times, Failure> {
    let ask = |query: &JudgedQuery| {
        let request = SearchQuery {
            text: query.query.clone(),
            limit: LIMIT,
            groups: Vec::new(),
        };
        let begun = Instant::now();
        let found = index.search(&request);
        let took = begun.elapsed();
        match found {
            Ok(_) => Ok(took),
            Err(error) => Err(Failure::usage(format!(
                "{}: the query '{}' cannot be searched: {error}",
                query.place,
                cut(&query.query, 80)
            ))),
        }
    };
    let begun = Instant::now();
    evaluate::load(index, tools);
    if let Some(query) = queries.first() {
        ask(query)?;
    }
    let build = begun.elapsed();
    let mut each = queries.iter().map(ask).collect::<Result<Vec<_>, _>>()?;
    each.sort_unstable();
    let at = |percent: usize| {
        let at = (each.len() * percent).div_ceil(100).saturating_sub(1);
        each.get(at).copied().unwrap_or_default()
    };
    Ok(Times {
        build,
        p50: at(50),
        p99: at(99),
    })
}

fn document(
    index: &dyn SearchIndex,
    tools: &[JudgedTool],
    queries: &[JudgedQuery],
    report: &Report,
    times: &Times,
) -> Value {
    let micros = |time: Duration| (time.as_secs_f64() * 1e7).round() / 10.0;
    let mut document = json!({
        "index": index.name(),
        "tools": tools.len(),
        "queries": queries.len(),
    });
    if let (Value::Object(document), Value::Object(figures)) = (&mut document, report.to_json()) {
        document.extend(figures);
        for name in ["first_query_us", "per_query_us"] {
            document.remove(name);
        }
        document.insert("build_us".to_owned(), json!(micros(times.build)));
        document.insert(
            "query_us".to_owned(),
            json!({"p50": micros(times.p50), "p99": micros(times.p99)}),
        );
    }
    document
}

fn table(
    index: &dyn SearchIndex,
    tools: &[JudgedTool],
    queries: &[JudgedQuery],
    report: &Report,
    times: &Times,
    output: &Output,
) -> String {
    let row = |name: &str, figures: &Figures| {
        let figures_of = METRICS.iter().map(|metric| match figures.percent(metric) {
            Some(percent) => format!("{percent:>8.1}"),
            None => format!("{:>8}", "–"),
        });
        format!(
            "{:16}{:>8}{}\n",
            cut(name, 16),
            figures.queries,
            figures_of.collect::<String>()
        )
    };
    let names = METRICS.iter().map(|metric| format!("{metric:>8}"));
    let head = format!("{:16}{:>8}{}", "%", "queries", names.collect::<String>());
    let mut text = format!("{}\n", output.paint(Look::Strong, &head));
    text.push_str(&row("overall", &report.overall));
    for (kind, figures) in &report.kinds {
        text.push_str(&row(kind, figures));
    }
    text.push('\n');
    if let Some(percent) = report.no_match.percent() {
        text.push_str(&format!(
            "{} that no tool answers: {percent:.1} % got no hit\n",
            queries_of(report.no_match.queries)
        ));
    }
    text.push_str(&format!(
        "{} with an answer got no hit\n",
        queries_of(report.unanswered)
    ));
    if report.not_counted > 0 {
        text.push_str(&format!("{} not counted\n", queries_of(report.not_counted)));
    }
    text.push_str(&format!(
        "{}: {}, {}; built in {}, a query takes {} (p50) to {} (p99)\n",
        index.name(),
        counted(tools.len(), "tool"),
        queries_of(queries.len()),
        time(times.build),
        time(times.p50),
        time(times.p99),
    ));
    text
}

fn queries_of(number: usize) -> String {
    if number == 1 {
        "1 query".to_owned()
    } else {
        format!("{} queries", crate::output::grouped(number))
    }
}

fn time(time: Duration) -> String {
    if time < Duration::from_millis(1) {
        format!("{} µs", time.as_micros())
    } else {
        format!("{:.1} ms", time.as_secs_f64() * 1e3)
    }
}

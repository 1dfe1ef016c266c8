//! Asks an index all queries of a judged set, and counts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use toolshelf_core::search::{IndexedTool, SearchIndex, SearchQuery};
use toolshelf_core::text::one_line;
use toolshelf_core::{Error, GroupId, ToolKey};

use crate::evaluate::metric::Figures;
use crate::evaluate::read::{JudgedQuery, JudgedTool, NO_MATCH};

/// What the figures of all queries are called, so that no kind can be.
pub(crate) const OVERALL: &str = "overall";

/// How many hits are asked for.
const LIMIT: usize = 50;

/// How many of the queries that no tool answers were answered so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NoMatch {
    /// The queries.
    pub queries: usize,
    /// Those with an empty answer.
    pub empty: usize,
}

impl NoMatch {
    /// The share of empty answers in percent; `None` without queries.
    pub fn percent(&self) -> Option<f64> {
        (self.queries > 0).then(|| 100.0 * self.empty as f64 / self.queries as f64)
    }
}

/// What an index is worth on a judged set.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Report {
    /// Over all queries that some tool answers.
    pub overall: Figures,
    /// By kind.
    pub kinds: BTreeMap<String, Figures>,
    /// Over the queries that no tool answers.
    pub no_match: NoMatch,
    /// Queries with an answer that got none.
    pub unanswered: usize,
    /// Queries that name no tool of the set, and are not of the kind that no tool answers.
    pub not_counted: usize,
    /// What is odd about lines of the set, each with its place.
    pub remarks: Vec<String>,
    /// How long the first search took, which may have built the index.
    pub first: Duration,
    /// How long all queries took together, once the index was built.
    pub elapsed: Duration,
    /// What was found for each query, in their order: the ids of the tools, best first.
    pub runs: Vec<Vec<String>>,
}

impl Report {
    /// Mean time of a query.
    pub fn per_query(&self) -> Duration {
        self.elapsed / u32::try_from(self.runs.len().max(1)).unwrap_or(u32::MAX)
    }

    /// The report as JSON: figures in percent with one decimal, under `overall` and `kinds`.
    pub fn to_json(&self) -> Value {
        let kinds: Map<String, Value> = self
            .kinds
            .iter()
            .map(|(kind, figures)| (kind.clone(), figures_json(figures)))
            .collect();
        let mut report = json!({
            OVERALL: figures_json(&self.overall),
            "kinds": kinds,
            "unanswered": self.unanswered,
            "not_counted": self.not_counted,
            "first_query_us": micros(self.first),
            "per_query_us": micros(self.per_query()),
        });
        if let (Some(percent), Value::Object(report)) = (self.no_match.percent(), &mut report) {
            let no_match = json!({"queries": self.no_match.queries, "empty": rounded(percent)});
            report.insert(NO_MATCH.to_owned(), no_match);
        }
        report
    }
}

fn figures_json(figures: &Figures) -> Value {
    let mut json: Map<String, Value> = figures
        .all()
        .map(|(metric, percent)| (metric.to_owned(), rounded(percent)))
        .collect();
    json.insert("queries".to_owned(), figures.queries.into());
    json.into()
}

fn rounded(percent: f64) -> Value {
    json!((percent * 10.0).round() / 10.0)
}

fn micros(time: Duration) -> Value {
    json!((time.as_secs_f64() * 1e7).round() / 10.0)
}

/// Hands tools over to an index, group by group.
pub fn load(index: &dyn SearchIndex, tools: &[JudgedTool]) {
    let mut groups: BTreeMap<&GroupId, Vec<IndexedTool>> = BTreeMap::new();
    for judged in tools {
        groups
            .entry(&judged.tool.key.group)
            .or_default()
            .push(judged.tool.clone());
    }
    for (group, tools) in groups {
        index.replace_group(group, tools);
    }
}

/// Hands the tools over to an index, asks it all queries, and scores the answers.
///
/// A query that names no tool of the set is not counted, unless it is one that no tool
/// answers.
///
/// # Errors
///
/// Those of [`SearchIndex::search`].
pub fn evaluate(
    index: &dyn SearchIndex,
    tools: &[JudgedTool],
    queries: &[JudgedQuery],
) -> Result<Report, Error> {
    load(index, tools);
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut by_key: HashMap<&ToolKey, usize> = HashMap::new();
    for (at, judged) in tools.iter().enumerate() {
        by_id.insert(&judged.id, at);
        by_key.insert(&judged.tool.key, at);
    }
    let mut report = Report {
        remarks: remarks(tools, queries),
        ..Report::default()
    };
    if let Some(query) = queries.first() {
        let start = Instant::now();
        ask(index, query)?;
        report.first = start.elapsed();
    }
    for query in queries {
        let start = Instant::now();
        let found = ask(index, query)?;
        report.elapsed += start.elapsed();
        let found: Vec<usize> = found
            .iter()
            .filter_map(|key| by_key.get(key).copied())
            .collect();
        report.count(query, &by_id, &found);
        let ids = found.iter().map(|at| tools[*at].id.clone()).collect();
        report.runs.push(ids);
    }
    Ok(report)
}

/// What is odd about lines of a judged set, each with its place: of the tools, then of the
/// queries.
fn remarks(tools: &[JudgedTool], queries: &[JudgedQuery]) -> Vec<String> {
    let ids: HashSet<&str> = tools.iter().map(|judged| &*judged.id).collect();
    let mut remarks = Vec::new();
    for judged in tools {
        let place = &judged.place;
        remarks.extend(judged.remarks.iter().map(|it| format!("{place}: {it}")));
    }
    for judged in queries {
        let place = &judged.place;
        remarks.extend(judged.remarks.iter().map(|it| format!("{place}: {it}")));
        let needed = judged.needed.iter().flatten();
        let (known, unknown): (Vec<&str>, Vec<&str>) =
            needed.map(String::as_str).partition(|id| ids.contains(id));
        if let Some(first) = unknown.first() {
            let more = match unknown.len() - 1 {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            remarks.push(format!(
                "{place}: no tool has the id '{}'{more}, which is left out",
                one_line(first, 96)
            ));
        }
        let no_match = judged.needed.is_empty() && judged.kind.as_deref() == Some(NO_MATCH);
        if known.is_empty() && !no_match {
            remarks.push(format!(
                "{place}: the query is not counted: it needs no tool of the set, and its kind is \
                 not '{NO_MATCH}'"
            ));
        }
    }
    remarks
}

fn ask(index: &dyn SearchIndex, query: &JudgedQuery) -> Result<Vec<ToolKey>, Error> {
    let found = index.search(&SearchQuery {
        text: query.query.clone(),
        limit: LIMIT,
        groups: Vec::new(),
    })?;
    Ok(found.hits.into_iter().map(|hit| hit.key).collect())
}

impl Report {
    fn count(&mut self, query: &JudgedQuery, by_id: &HashMap<&str, usize>, found: &[usize]) {
        if query.needed.is_empty() && query.kind.as_deref() == Some(NO_MATCH) {
            self.no_match.queries += 1;
            self.no_match.empty += usize::from(found.is_empty());
            return;
        }
        let needed: Vec<Vec<usize>> = query
            .needed
            .iter()
            .map(|group| {
                let known = group.iter().filter_map(|id| by_id.get(id.as_str()));
                known.copied().collect()
            })
            .collect();
        if needed.iter().all(Vec::is_empty) {
            self.not_counted += 1;
            return;
        }
        self.unanswered += usize::from(found.is_empty());
        self.overall.add(&needed, found);
        if let Some(kind) = &query.kind {
            self.kinds
                .entry(kind.clone())
                .or_default()
                .add(&needed, found);
        }
    }
}

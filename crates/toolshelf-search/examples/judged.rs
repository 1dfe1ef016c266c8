//! Prints what the lexical index is worth on the judged set of this crate, kind by kind.
//!
//! The kinds `english` and `chinese` are measured on a catalog without the server that holds
//! the same tools in the other language; all others on the whole one.

use anyhow::Result;
use toolshelf_search::Lexical;
use toolshelf_search::evaluate::{self, Figures, JudgedTool, Report};

const TOOLS: &str = include_str!("../tests/judged/tools.jsonl");
const QUERIES: &str = include_str!("../tests/judged/queries.jsonl");

fn main() -> Result<()> {
    let whole = measure("")?;
    let (english, chinese) = (measure("backoffice-cn")?, measure("backoffice")?);
    for (kind, figures) in &whole.kinds {
        let figures = match kind.as_str() {
            "english" => english.kinds.get(kind),
            "chinese" => chinese.kinds.get(kind),
            _ => Some(figures),
        };
        print_line(kind, figures.unwrap_or(&Figures::default()));
    }
    let no_match = whole.no_match;
    let empty = no_match.percent().unwrap_or_default();
    println!(
        "{:12} {:4} queries  empty {empty:5.1}",
        evaluate::NO_MATCH,
        no_match.queries
    );
    Ok(())
}

/// The report on the tools of all servers but one.
fn measure(left_out: &str) -> Result<Report> {
    let tools: Vec<JudgedTool> = evaluate::read_tools("tools.jsonl", TOOLS)?
        .into_iter()
        .filter(|judged| judged.tool.key.group.as_str() != left_out)
        .collect();
    let queries = evaluate::read_queries("queries.jsonl", QUERIES)?;
    Ok(evaluate::evaluate(&Lexical::default(), &tools, &queries)?)
}

fn print_line(kind: &str, figures: &Figures) {
    let figure = |name: &str| figures.percent(name).unwrap_or_default();
    println!(
        "{kind:12} {:4} queries  hit@1 {:5.1}  R@5 {:5.1}  nDCG@5 {:5.1}",
        figures.queries,
        figure("hit@1"),
        figure("R@5"),
        figure("nDCG@5"),
    );
}

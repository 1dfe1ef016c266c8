//! Measures the search index beside other people's: time of a query, of a build, of a change;
//! and what its answers cost a model.
//!
//! `cargo run --release -p toolshelf-benches --features peers --bin search-bench` with the
//! folder of a corpus in `TOOLSHELF_CORPUS`: `scale/tools.jsonl` holds tools and
//! `retrieval/*/queries.jsonl` what people ask for. There are too few tools for the largest
//! size, so they stand there several times, in groups of other names. `--answers` measures
//! answers over `retrieval/*/tools.jsonl` instead of times.

mod answers;
mod engines;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Parser;
use toolshelf_core::GroupId;
use toolshelf_core::search::IndexedTool;
use toolshelf_search::evaluate::{read_queries, read_tools};

use crate::answers::answer_tokens;
use crate::engines::{Bm25, Engine, Ours, Tantivy};

/// Hits that each engine is asked for.
const LIMIT: usize = 5;

/// Time of searches over a corpus, in turns with the crates bm25 and tantivy
#[derive(Debug, Parser)]
#[command(name = "search-bench")]
struct Arguments {
    /// How many tools; several sizes are measured one after the other
    #[arg(long, value_delimiter = ',', default_value = "100,1000,10000,100000")]
    sizes: Vec<usize>,
    /// How many queries at most, evenly taken from all of them
    #[arg(long, default_value_t = 600)]
    queries: usize,
    /// Leave an engine out of sizes above this: it takes a tenth of a second a query there
    #[arg(long, default_value_t = 10_000)]
    bm25_up_to: usize,
    /// Count the tokens (o200k) of the answers to all queries of each set, instead of time
    #[arg(long)]
    answers: bool,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let corpus = std::env::var_os("TOOLSHELF_CORPUS").map(PathBuf::from);
    let corpus = corpus.context("TOOLSHELF_CORPUS must name the folder of a corpus")?;
    if arguments.answers {
        return count_answers(&corpus);
    }
    let tools = corpus_tools(&corpus)?;
    let queries = corpus_queries(&corpus, arguments.queries)?;
    let words = queries.iter().map(|query| query.split_whitespace().count());
    println!(
        "{} tools, {} queries of {:.1} words on average; times in microseconds, {LIMIT} hits",
        tools.len(),
        queries.len(),
        words.sum::<usize>() as f64 / queries.len() as f64
    );
    println!(
        "{:>8}  {:<12} {:>10} {:>10} {:>12} {:>14} {:>12}",
        "tools", "engine", "p50", "p99", "build (ms)", "1 server (ms)", "bytes/tool"
    );
    for size in &arguments.sizes {
        measure(
            &repeated(&tools, *size),
            &queries,
            *size <= arguments.bm25_up_to,
        )?;
    }
    Ok(())
}

fn count_answers(corpus: &Path) -> Result<()> {
    println!(
        "{:<20} {:>8} {:>8} {:>8} {:>8}",
        "tokens of answers", "queries", "median", "p99", "most"
    );
    for set in corpus_sets(corpus)? {
        let tokens = answer_tokens(&set)?;
        let at = |percent: usize| tokens[tokens.len() * percent / 100];
        println!(
            "{:<20} {:>8} {:>8} {:>8} {:>8}",
            set.file_name().unwrap_or_default().to_string_lossy(),
            tokens.len(),
            at(50),
            at(99),
            tokens[tokens.len() - 1]
        );
    }
    Ok(())
}

fn measure(tools: &[IndexedTool], queries: &[String], with_bm25: bool) -> Result<()> {
    let mut engines: Vec<(Box<dyn Engine>, Duration, usize)> = Vec::new();
    let mut add = |build: &dyn Fn() -> Result<Box<dyn Engine>>| -> Result<()> {
        let (before, started) = (resident()?, Instant::now());
        let engine = build()?;
        let took = started.elapsed();
        engines.push((engine, took, resident()?.saturating_sub(before)));
        Ok(())
    };
    add(&|| Ok(Box::new(Ours::new(tools))))?;
    add(&|| Ok(Box::new(Tantivy::new(tools)?)))?;
    if with_bm25 {
        add(&|| Ok(Box::new(Bm25::new(tools))))?;
    }
    let mut times = vec![Vec::with_capacity(queries.len()); engines.len()];
    // Query by query, so that what else the machine does hits all alike.
    for query in queries {
        for ((engine, ..), times) in engines.iter_mut().zip(&mut times) {
            let started = Instant::now();
            engine.search(query, LIMIT)?;
            times.push(started.elapsed());
        }
    }
    for ((engine, built, memory), mut times) in engines.into_iter().zip(times) {
        times.sort_unstable();
        let micros = |at: usize| times[times.len() * at / 100].as_secs_f64() * 1e6;
        let change = match engine.replace_one_server(tools)? {
            Some(took) => format!("{:.2}", took.as_secs_f64() * 1e3),
            None => "-".to_owned(),
        };
        println!(
            "{:>8}  {:<12} {:>10.0} {:>10.0} {:>12.0} {:>14} {:>12}",
            tools.len(),
            engine.name(),
            micros(50),
            micros(99),
            built.as_secs_f64() * 1e3,
            change,
            memory / tools.len()
        );
    }
    Ok(())
}

/// Resident memory in bytes.
fn resident() -> Result<usize> {
    let status = std::fs::read_to_string("/proc/self/status").context("this needs /proc")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.split_whitespace().next());
    let kibibytes: usize = kibibytes.context("no VmRSS")?.parse()?;
    Ok(kibibytes * 1024)
}

/// The name of a file for messages, and its text.
fn read(path: &Path) -> Result<(String, String)> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).with_context(|| name.clone())?;
    Ok((name, text))
}

fn corpus_tools(corpus: &Path) -> Result<Vec<IndexedTool>> {
    let (name, text) = read(&corpus.join("scale").join("tools.jsonl"))?;
    let tools = read_tools(&name, &text)?;
    Ok(tools.into_iter().map(|judged| judged.tool).collect())
}

/// The folders of the sets that have queries.
fn corpus_sets(corpus: &Path) -> Result<Vec<PathBuf>> {
    let folder = corpus.join("retrieval");
    let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut sets: Vec<PathBuf> = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    sets.sort();
    Ok(sets)
}

fn corpus_queries(corpus: &Path, most: usize) -> Result<Vec<String>> {
    let mut queries = Vec::new();
    for set in corpus_sets(corpus)? {
        let (name, text) = read(&set.join("queries.jsonl"))?;
        let judged = read_queries(&name, &text)?.into_iter();
        queries.extend(judged.map(|judged| judged.query));
    }
    if queries.is_empty() {
        bail!("{} holds no queries", corpus.display());
    }
    let step = queries.len().div_ceil(most.max(1));
    Ok(queries.into_iter().step_by(step).collect())
}

/// So many tools: the first ones, or all of them several times in groups of other names.
fn repeated(tools: &[IndexedTool], size: usize) -> Vec<IndexedTool> {
    let copies = (0..).flat_map(|copy| tools.iter().map(move |tool| (copy, tool)));
    copies
        .take(size)
        .map(|(copy, tool)| {
            let mut tool = tool.clone();
            if copy > 0
                && let Ok(group) = GroupId::new(format!("{}-{copy}", tool.key.group))
            {
                tool.key.group = group;
            }
            tool
        })
        .collect()
}

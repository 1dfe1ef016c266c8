//! Prints what the lexical index is worth on the labelled sets in `TOOLSHELF_CORPUS`.
//!
//! `cargo run --release -p toolshelf-search --example corpus` prints a line per set and the
//! mean. A constant can be set, to see what it does: `-- coverage=0.2`. `--runs DIR` writes
//! the answers, one JSON array of ids a line. `--tune` goes through the constants one by
//! one, and chooses on all sets but one what the remaining one is measured with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use toolshelf_search::evaluate::{self, JudgedQuery, JudgedTool, Report};
use toolshelf_search::{Lexical, Weights};

fn main() -> ExitCode {
    let Some(corpus) = std::env::var_os("TOOLSHELF_CORPUS") else {
        eprintln!(
            "TOOLSHELF_CORPUS IS NOT SET: nothing was measured.\n\
             Set it to the folder that holds retrieval/*/tools.jsonl and queries.jsonl."
        );
        return ExitCode::from(2);
    };
    match run(Path::new(&corpus)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

struct Set {
    name: String,
    tools: Vec<JudgedTool>,
    queries: Vec<JudgedQuery>,
}

fn run(corpus: &Path) -> Result<()> {
    let mut sets = read_sets(&corpus.join("retrieval"))?;
    let mut weights = Weights::default();
    let mut runs = None;
    let mut tune = false;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--runs" {
            runs = Some(PathBuf::from(
                arguments.next().context("--runs wants a folder")?,
            ));
        } else if argument == "--tune" {
            tune = true;
        } else if argument == "--foreign" {
            // The queries of another set: most of them ask for what no tool does.
            let queries: Vec<_> = sets.iter().map(|set| set.queries.clone()).collect();
            let others = queries.iter().cycle().skip(1);
            sets.iter_mut()
                .zip(others)
                .for_each(|(set, other)| set.queries = other.clone());
        } else if argument == "--typos" {
            for query in sets.iter_mut().flat_map(|set| &mut set.queries) {
                query.query = misspelt(&query.query);
            }
        } else {
            let (name, value) = argument.split_once('=').context("name=value")?;
            *constant(&mut weights, name)? = value.parse()?;
        }
    }
    if tune {
        return leave_one_out(&sets);
    }
    let mut total = 0.0;
    for set in &sets {
        let report = measure(set, &weights)?;
        total += ndcg(&report);
        print_line(set, &report);
        if let Some(folder) = &runs {
            fs::create_dir_all(folder)?;
            let lines: Vec<String> = report
                .runs
                .iter()
                .map(serde_json::to_string)
                .collect::<Result<_, _>>()?;
            fs::write(folder.join(&set.name), lines.join("\n"))?;
        }
    }
    println!("mean nDCG@5 {:.2}", total / sets.len() as f64);
    Ok(())
}

/// The text with one in three of its longer words misspelt: two letters swapped, one left
/// out, one doubled or one changed, in turn.
fn misspelt(text: &str) -> String {
    let mut longer = 0;
    let words: Vec<String> = text
        .split(' ')
        .map(|word| {
            if word.len() < 6 || !word.bytes().all(|b| b.is_ascii_alphabetic()) {
                return word.to_owned();
            }
            longer += 1;
            if longer % 3 != 1 {
                return word.to_owned();
            }
            let mut letters: Vec<char> = word.chars().collect();
            let at = 1 + (longer * 7 + word.len()) % (letters.len() - 2);
            match longer / 3 % 4 {
                0 => letters.swap(at, at + 1),
                1 => drop(letters.remove(at)),
                2 => letters.insert(at, letters[at]),
                _ => letters[at] = if letters[at] == 'e' { 'a' } else { 'e' },
            }
            letters.into_iter().collect()
        })
        .collect();
    words.join(" ")
}

fn print_line(set: &Set, report: &Report) {
    let figure = |name: &str| report.overall.percent(name).unwrap_or_default();
    println!(
        "{:16} {:5} queries  hit@1 {:5.1}  R@5 {:5.1}  nDCG@5 {:5.2}  unanswered {:3}  {:6.1} us a query",
        set.name,
        report.runs.len(),
        figure("hit@1"),
        figure("R@5"),
        figure("nDCG@5"),
        report.runs.iter().filter(|run| run.is_empty()).count(),
        report.per_query().as_secs_f64() * 1e6,
    );
}

fn read_sets(folder: &Path) -> Result<Vec<Set>> {
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .with_context(|| format!("{}", folder.display()))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    names.sort();
    let mut sets = Vec::new();
    for path in names
        .iter()
        .filter(|path| path.join("tools.jsonl").exists())
    {
        let read = |file: &str| fs::read_to_string(path.join(file));
        sets.push(Set {
            name: path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            tools: evaluate::read_tools("tools.jsonl", &read("tools.jsonl")?)?,
            queries: evaluate::read_queries("queries.jsonl", &read("queries.jsonl")?)?,
        });
    }
    if sets.is_empty() {
        bail!("there is no set in {}", folder.display());
    }
    Ok(sets)
}

fn measure(set: &Set, weights: &Weights) -> Result<Report> {
    let index = Lexical::with_weights(weights.clone());
    Ok(evaluate::evaluate(&index, &set.tools, &set.queries)?)
}

fn ndcg(report: &Report) -> f64 {
    report.overall.percent("nDCG@5").unwrap_or_default()
}

/// The constants that are chosen, and the values that they are chosen from.
const GRID: &[(&str, &[f32])] = &[
    ("name", &[1.5, 2.0, 3.0, 4.0, 6.0]),
    ("group", &[0.5, 1.0, 2.0, 3.0]),
    ("argument", &[0.5, 1.0, 1.5]),
    ("argument_text", &[0.3, 0.6, 1.0]),
    ("value", &[0.3, 0.6, 1.0]),
    ("k1", &[0.5, 0.9, 1.3, 2.0]),
    ("b", &[0.3, 0.5, 0.7]),
    ("inflection", &[0.6, 0.7, 0.8, 0.9, 1.0]),
    ("root", &[0.2, 0.35, 0.5, 0.65]),
    ("synonym", &[0.15, 0.2, 0.3, 0.4]),
    ("correction", &[0.4, 0.7, 0.9]),
    ("talk", &[0.1, 0.2, 0.3, 0.5]),
    ("number", &[0.1, 0.3, 0.5]),
    ("coverage", &[0.1, 0.2, 0.3, 0.4, 0.5]),
];

fn constant<'a>(weights: &'a mut Weights, name: &str) -> Result<&'a mut f32> {
    Ok(match name {
        "name" => &mut weights.name,
        "title" => &mut weights.title,
        "group" => &mut weights.group,
        "group_text" => &mut weights.group_text,
        "description" => &mut weights.description,
        "argument" => &mut weights.argument,
        "argument_text" => &mut weights.argument_text,
        "value" => &mut weights.value,
        "k1" => &mut weights.k1,
        "b" => &mut weights.b,
        "inflection" => &mut weights.inflection,
        "root" => &mut weights.root,
        "synonym" => &mut weights.synonym,
        "correction" => &mut weights.correction,
        "talk" => &mut weights.talk,
        "number" => &mut weights.number,
        "coverage" => &mut weights.coverage,
        "floor" => &mut weights.floor,
        "evidence" => &mut weights.evidence,
        "words" => &mut weights.words,
        _ => bail!("there is no constant '{name}'"),
    })
}

/// For each set, what the constants reach on it that are best on the others; and what
/// those reach that are best on all.
fn leave_one_out(sets: &[Set]) -> Result<()> {
    let mut total = 0.0;
    for (held, set) in sets.iter().enumerate() {
        let others: Vec<usize> = (0..sets.len()).filter(|at| *at != held).collect();
        let (weights, _) = climb(sets, &others)?;
        let report = measure(set, &weights)?;
        total += ndcg(&report);
        print_line(set, &report);
    }
    println!("left out: mean nDCG@5 {:.2}", total / sets.len() as f64);
    let all: Vec<usize> = (0..sets.len()).collect();
    let (weights, best) = climb(sets, &all)?;
    println!("chosen on all: mean nDCG@5 {best:.2} with {weights:?}");
    Ok(())
}

/// One pass through the grid, from the defaults: a value is taken when it is better.
fn climb(sets: &[Set], on: &[usize]) -> Result<(Weights, f64)> {
    let mean = |weights: &Weights| -> Result<f64> {
        let mut total = 0.0;
        for at in on {
            total += ndcg(&measure(&sets[*at], weights)?);
        }
        Ok(total / on.len() as f64)
    };
    let mut weights = Weights::default();
    let mut best = mean(&weights)?;
    for (name, values) in GRID {
        for value in *values {
            let mut other = weights.clone();
            *constant(&mut other, name)? = *value;
            let reached = mean(&other)?;
            if reached > best {
                (weights, best) = (other, reached);
            }
        }
    }
    Ok((weights, best))
}

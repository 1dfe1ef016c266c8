//! How long a host waits for a gateway: from the start of the process to the answer of
//! `tools/list`, over a handshake as hosts make it.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use super::client::Client;
use super::report::{Report, milliseconds, quantile};
use super::setup::{
    Entry, Place, children, command_line, own_program, profile, samples, toolshelf,
};
use crate::programs::SILENT_SERVER;

/// Time from the start of `toolshelf serve` to the answer of `tools/list`
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Starts of each kind
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// No process here lives longer.
const LIMIT: Duration = Duration::from_secs(60);

/// What is started.
enum What {
    /// One sample server, without a gateway: what a process costs here at least.
    Server,
    /// A gateway with a cache that was filled before.
    Warm(Place),
    /// A gateway with an empty cache.
    Cold(Place),
}

struct Kind {
    name: String,
    what: What,
    times: Vec<Duration>,
}

impl Kind {
    fn new(name: impl Into<String>, what: What) -> Self {
        Self {
            name: name.into(),
            what,
            times: Vec::new(),
        }
    }

    fn run(&mut self) -> Result<()> {
        if let What::Cold(place) = &self.what {
            place.forget()?;
        }
        let begun = Instant::now();
        let mut client = match &self.what {
            What::Server => {
                let mut command = Command::new(toolshelf()?);
                command.args(["sample-server", "issues"]);
                Client::start(command, LIMIT)?
            }
            What::Warm(place) | What::Cold(place) => place.serve(LIMIT)?,
        };
        client.handshake()?;
        let list = client.request("tools/list", &json!({}))?;
        self.times.push(begun.elapsed());
        if list["tools"].as_array().is_none_or(Vec::is_empty) {
            bail!("{}: no tools in {list}", self.name);
        }
        if matches!(self.what, What::Warm(_)) {
            no_servers(client.pid())?;
        }
        client.end()
    }
}

/// A warm start that starts servers is none, and its figure would be another one's.
fn no_servers(pid: u32) -> Result<()> {
    let lines = children(pid)
        .unwrap_or_default()
        .into_iter()
        .map(command_line);
    match lines
        .into_iter()
        .find(|line| line.contains("sample-server"))
    {
        Some(line) => bail!("a warm start has started a server: {line}"),
        None => Ok(()),
    }
}

fn silent(count: usize) -> Result<Vec<Entry>> {
    let program = own_program()?;
    let entries = (0..count).map(|at| {
        let mut entry = Entry::new(format!("silent{at:02}"), program.clone());
        entry.args = vec![SILENT_SERVER.to_owned()];
        entry.env = vec![("BENCH_SERVER".to_owned(), at.to_string())];
        entry
    });
    Ok(entries.collect())
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut kinds = vec![Kind::new("one sample server, no gateway", What::Server)];
    for count in [10, 30] {
        let warm = Place::new(&samples(count)?)?;
        warm.refresh()?;
        kinds.push(Kind::new(
            format!("{count} servers, warm"),
            What::Warm(warm),
        ));
        kinds.push(Kind::new(
            format!("{count} servers, cold"),
            What::Cold(Place::new(&samples(count)?)?),
        ));
        kinds.push(Kind::new(
            format!("{count} servers that never answer, cold"),
            What::Cold(Place::new(&silent(count)?)?),
        ));
    }
    // The first start of each reads the program from disk.
    for kind in &mut kinds {
        kind.run()?;
        kind.times.clear();
    }
    for _ in 0..arguments.runs {
        for kind in &mut kinds {
            kind.run()?;
        }
    }
    let title = format!(
        "From the start of the process to the answer of tools/list, {} starts each, in turns",
        arguments.runs
    );
    let mut report = Report::new(title, "ms", &["fastest", "median", "p95"]);
    for kind in &kinds {
        let at = |at| milliseconds(quantile(&kind.times, at));
        report.row(&kind.name, [at(0.0), at(0.5), at(0.95)]);
    }
    report.note(profile());
    report.print(arguments.json);
    Ok(())
}

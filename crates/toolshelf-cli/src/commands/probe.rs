//! `probe`: how any MCP gateway behaves with faulty servers behind it.

use std::time::Duration;

use clap::Args;
use serde_json::json;
use toolshelf_probe::{Adapter, Error, Finding, Options, Outcome, Progress, Report, behaviours};

use crate::failure::Failure;
use crate::output::{Look, Output, wrap};
use crate::signals::guarded;
use crate::source::this_program;
use crate::stderr;

const AFTER: &str = "\
COMMAND starts a gateway that speaks MCP over its standard streams. For each behaviour it is started
anew, with a configuration of servers that are part of this program and have faults. Where no word of
COMMAND has {config} (the path of that file) or {folder}, what the gateway needs is added.

--gateway says how it is configured and called: the name of one that is known, or a JSON file that says
so. Without it the name of the program decides, then the tools in its list.

Outcomes: pass, FAIL, n/a (the gateway does not claim it, or cannot by what it is) and SKIPPED (it
cannot be looked at on this machine). The exit code is 0 when nothing failed, 1 when something did, and
2 when the command line is wrong.

JSON: version (1), command, adapter, server, protocol, passed, failed, not_applicable, skipped, and
behaviours, each with name, group, promise, outcome (pass, fail, not-applicable, skipped), seen, took_ms
and, where there are any, figures.

Examples:
  toolshelf probe -- toolshelf serve
  toolshelf probe --only slow,crash,orphans-kill -- mcp-compressor
  toolshelf probe --gateway mine.json --json -- my-gateway --config {config}";

/// Run an MCP gateway before faulty servers, and say how it behaves
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct ProbeArguments {
    /// The command of the gateway
    #[arg(last = true, value_name = "COMMAND", required_unless_present = "list")]
    command: Vec<String>,

    /// How it is configured and called: a name (see --list) or a file
    #[arg(short, long, value_name = "NAME|FILE")]
    gateway: Option<String>,

    /// Only these behaviours, with commas between them
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only: Vec<String>,

    /// List behaviours and known gateways, and probe nothing
    #[arg(long)]
    list: bool,

    /// How long one answer may take
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
          value_parser = clap::value_parser!(u64).range(1..=600))]
    patience: u64,

    /// How many behaviours to look at at a time
    #[arg(short, long, value_name = "N", default_value_t = 1,
          value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    jobs: usize,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) async fn run(arguments: &ProbeArguments, output: &Output) -> Result<(), Failure> {
    if arguments.list {
        return list(arguments.json, output);
    }
    let adapter = arguments.gateway.as_deref().map(Adapter::find);
    let options = Options {
        command: arguments.command.clone(),
        adapter: adapter.transpose().map_err(failure)?,
        upstream: vec![this_program()?, "faulty-server".to_owned()],
        only: arguments.only.clone(),
        patience: Duration::from_secs(arguments.patience),
        jobs: arguments.jobs,
    };
    let probing = async {
        let mut shown = Shown::default();
        let report = toolshelf_probe::probe(&options, |progress| shown.tell(&progress)).await;
        stderr::clear();
        report.map_err(failure)
    };
    let report = guarded(Box::pin(probing), async {}).await?;
    match arguments.json {
        true => output.write_json(&report.json())?,
        false => output.write(&table(&report, output))?,
    }
    match report.passed() {
        true => Ok(()),
        // The report has said it.
        false => Err(Failure::said()),
    }
}

fn failure(error: Error) -> Failure {
    match error {
        Error::Usage(text) => Failure::usage(text),
        other => Failure::server(other.to_string()),
    }
}

fn list(as_json: bool, output: &Output) -> Result<(), Failure> {
    let gateways = Adapter::built_in().map_err(failure)?;
    if as_json {
        let behaviours = behaviours()
            .iter()
            .map(|it| json!({"name": it.name, "group": it.group, "promise": it.promise}));
        let gateways = gateways
            .iter()
            .map(|it| json!({"name": it.name, "about": it.about}));
        return output.write_json(&json!({
            "behaviours": behaviours.collect::<Vec<_>>(),
            "gateways": gateways.collect::<Vec<_>>(),
        }));
    }
    let mut text = String::new();
    let mut group = "";
    for behaviour in behaviours() {
        if behaviour.group != group {
            group = behaviour.group;
            text += &format!("{}\n", output.paint(Look::Strong, group));
        }
        text += &row(behaviour.name, 21, behaviour.promise, output);
    }
    text += &format!("{}\n", output.paint(Look::Strong, "gateways"));
    for gateway in gateways {
        text += &row(&gateway.name, 21, &gateway.about, output);
    }
    output.write(&text)
}

/// A name and a text, which goes on under itself.
fn row(name: &str, width: usize, text: &str, output: &Output) -> String {
    let lines = wrap(text, output.width.saturating_sub(width + 4));
    let indent = format!("\n{}", " ".repeat(width + 4));
    format!("  {name:width$}  {}\n", lines.join(&indent))
}

fn table(report: &Report, output: &Output) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        let look = match finding.outcome {
            Outcome::Pass => Look::Good,
            Outcome::Fail => Look::Bad,
            Outcome::NotApplicable => Look::Faint,
            Outcome::Skipped => Look::Strong,
        };
        let word = output.paint(look, &format!("{:7}", finding.outcome.word()));
        text += &format!("{word}{}", row(finding.name, 19, &finding.seen, output));
        if finding.outcome == Outcome::Fail {
            text += &format!("{:30}promised: {}\n", "", finding.promise);
        }
    }
    let skipped = match report.count(Outcome::Skipped) {
        0 => String::new(),
        number => format!(", {number} SKIPPED on this machine"),
    };
    text + &format!(
        "\n{} of {} passed, {} failed, {} not applicable{skipped} (spoken to as {})\n",
        report.count(Outcome::Pass),
        report.findings.len(),
        report.count(Outcome::Fail),
        report.count(Outcome::NotApplicable),
        report.adapter
    )
}

/// What is shown while it goes on: a line that changes at a terminal, a line for each
/// behaviour elsewhere.
#[derive(Default)]
struct Shown {
    all: usize,
    ended: usize,
    running: Vec<&'static str>,
}

impl Shown {
    fn tell(&mut self, progress: &Progress<'_>) {
        match progress {
            Progress::Ready { behaviours, .. } => self.all = *behaviours,
            Progress::Begun(behaviour) => self.running.push(behaviour.name),
            Progress::Ended(finding) => self.ended(finding),
            _ => {}
        }
        if stderr::is_watched() {
            let running = self.running.join(", ");
            stderr::show(&format!("{} of {} done; {running}", self.ended, self.all));
        }
    }

    fn ended(&mut self, finding: &Finding) {
        self.ended += 1;
        self.running.retain(|name| *name != finding.name);
        if !stderr::is_watched() {
            stderr::note(&format!(
                "{}/{} {} {} ({} ms)",
                self.ended,
                self.all,
                finding.outcome.word(),
                finding.name,
                finding.took_ms
            ));
        }
    }
}

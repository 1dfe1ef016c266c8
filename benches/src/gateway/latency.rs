//! What a call costs more when it goes through the gateway.
//!
//! One echo server, reached four ways: directly, through bare rmcp proxies, and through
//! `toolshelf serve`, where the call is a forwarded one that is resolved and validated. The
//! ways take turns call by call, so that what else the machine does hits all of them alike.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;
use serde_json::json;

use super::client::Client;
use super::report::{Report, milliseconds, quantile};
use super::setup::{Entry, Place, own_program, profile, toolshelf};
use crate::programs::{ECHO_SERVER, RMCP_PROXY};

/// Added latency of a forwarded call: direct, bare rmcp proxy, gateway, in turns
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// Measured calls each way
    #[arg(long, default_value_t = 3_000, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    calls: u32,
    /// Calls each way before that
    #[arg(long, default_value_t = 300)]
    warm_up: u32,
    /// Bytes of the message
    #[arg(long, default_value_t = 100)]
    bytes: usize,
    /// Another `toolshelf` to measure in the same run, such as the one before a change
    #[arg(long, value_name = "PROGRAM")]
    against: Vec<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// In so many parts the calls are looked at again, to see how much the figures vary.
const PARTS: usize = 10;

/// No process here lives longer.
const LIMIT: Duration = Duration::from_secs(300);

struct Way {
    name: String,
    client: Client,
    params: String,
    times: Vec<Duration>,
}

impl Way {
    fn new(name: &str, mut client: Client, params: String) -> Result<Self> {
        client.handshake()?;
        client.request("tools/list", &json!({}))?;
        Ok(Self {
            name: name.to_owned(),
            client,
            params,
            times: Vec::new(),
        })
    }

    fn call(&mut self, message: &str) -> Result<Duration> {
        let (took, answer) = self.client.timed("tools/call", &self.params)?;
        // Whoever answers fast and wrong is not fast.
        let text = answer["result"]["content"][0]["text"].as_str();
        if !text.is_some_and(|text| text.contains(message)) {
            bail!("{} answered {answer}", self.name);
        }
        Ok(took)
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let own = own_program()?;
    let message = "x".repeat(arguments.bytes);
    let call = json!({"name": "echo", "arguments": {"message": message}}).to_string();

    let mut echo = Command::new(&own);
    echo.arg(ECHO_SERVER);
    let direct = Client::start(echo, LIMIT)?;
    let proxy = |pipes: bool| -> Result<Client> {
        let mut command = Command::new(&own);
        command.arg(RMCP_PROXY).args(pipes.then_some("--pipes"));
        command.arg(&own).arg(ECHO_SERVER);
        Client::start(command, LIMIT)
    };
    let mut entry = Entry::new("echo", own.clone());
    entry.args = vec![ECHO_SERVER.to_owned()];
    let place = Place::new(&[entry])?;
    let forwarded = json!({
        "name": "deferred_tool_call",
        "arguments": {"tool_name": "echo/echo", "arguments": {"message": message}},
    })
    .to_string();
    let gateway = |name: &str, program: &Path| -> Result<Way> {
        let client = Client::start(place.command(program, "serve"), LIMIT)?;
        let mut way = Way::new(name, client, forwarded.clone())?;
        way.client
            .call("load_tools", &json!({"group_id": "echo"}))?;
        Ok(way)
    };
    let mut ways = vec![
        Way::new("direct", direct, call.clone())?,
        Way::new("bare rmcp proxy, stdio()", proxy(false)?, call.clone())?,
        Way::new("bare rmcp proxy, stdio_pipes()", proxy(true)?, call)?,
        gateway("toolshelf serve", &toolshelf()?)?,
    ];
    for program in &arguments.against {
        ways.push(gateway(&program.display().to_string(), program)?);
    }

    for _ in 0..arguments.warm_up {
        for way in &mut ways {
            way.call(&message)?;
        }
    }
    for _ in 0..arguments.calls {
        for way in &mut ways {
            let took = way.call(&message)?;
            way.times.push(took);
        }
    }

    let columns = ["p50", "p99", "p50 above", "p99 above", "lowest", "highest"];
    let title = format!(
        "Latency of a call of an echo tool, {} calls each way, in turns",
        arguments.calls
    );
    let mut report = Report::new(title, "ms", &columns);
    let base = ways[0].times.clone();
    let part = (base.len() / PARTS).max(1);
    let above = |times: &[Duration], base: &[Duration], at| {
        milliseconds(quantile(times, at)) - milliseconds(quantile(base, at))
    };
    for way in &ways {
        let times = &way.times;
        let differences = times
            .chunks(part)
            .zip(base.chunks(part))
            .map(|(times, base)| above(times, base, 0.5));
        let (lowest, highest) = differences.fold((f64::MAX, f64::MIN), |(low, high), one| {
            (low.min(one), high.max(one))
        });
        report.row(
            way.name.as_str(),
            [
                milliseconds(quantile(times, 0.5)),
                milliseconds(quantile(times, 0.99)),
                above(times, &base, 0.5),
                above(times, &base, 0.99),
                lowest,
                highest,
            ],
        );
    }
    report.note("above: above the direct connection.");
    report.note(format!(
        "lowest, highest: p50 above, in each of {PARTS} parts of the run."
    ));
    report.note(profile());
    for way in ways {
        way.client.end()?;
    }
    report.print(arguments.json);
    Ok(())
}

//! What a gateway needs of memory and of disk.
//!
//! The folder of real answers to `tools/list` is named by `TOOLSHELF_CORPUS`.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Deserialize;
use serde_json::json;
use toolshelf_core::{JsonText, ServerInfo, ToolDefinition};
use toolshelf_gateway::cache::{CachedServer, DescriptorCache};
use toolshelf_mcp::StdioConfig;

use super::client::Client;
use super::report::Report;
use super::setup::{Entry, Place, children, command_line, profile, samples, toolshelf};

/// Memory of an idle `toolshelf serve`: alone, with a corpus in its cache, with servers
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// How many sample servers are connected
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100))]
    servers: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// No process here lives longer.
const LIMIT: Duration = Duration::from_secs(120);

/// How long a gateway is left alone before it is looked at.
const IDLE: Duration = Duration::from_secs(2);

const CORPUS: &str = "TOOLSHELF_CORPUS";

const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// The lines of `/proc/PID/status` on memory, in MiB.
fn memory(pid: u32) -> Result<[f64; 4]> {
    let path = format!("/proc/{pid}/status");
    let status = std::fs::read_to_string(&path)
        .with_context(|| format!("{path}: this needs a system with /proc, such as Linux"))?;
    let figure = |name: &str| -> Result<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = line.and_then(|line| line.trim_start_matches(':').trim().split(' ').next());
        let kibibytes: f64 = kibibytes
            .with_context(|| format!("{path} has no {name}"))?
            .parse()?;
        Ok(kibibytes / 1024.0)
    };
    Ok([
        figure("VmRSS")?,
        figure("RssAnon")?,
        figure("RssFile")?,
        figure("VmHWM")?,
    ])
}

/// Looks at a gateway that nobody has used for a while.
fn idle(client: &mut Client) -> Result<[f64; 4]> {
    std::thread::sleep(IDLE);
    memory(client.pid())
}

fn started(place: &Place) -> Result<Client> {
    let mut client = place.serve(LIMIT)?;
    client.handshake()?;
    client.request("tools/list", &json!({}))?;
    Ok(client)
}

/// A server of the corpus. One file holds what it answered to `tools/list`.
#[derive(Deserialize)]
struct Listed {
    server: String,
    tools: Vec<JsonText>,
}

/// What the gateway of the corpus has in its cache.
struct Corpus {
    entries: Vec<Entry>,
    records: Vec<CachedServer>,
    tools: usize,
    bytes: usize,
}

fn corpus(folder: &Path) -> Result<Corpus> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join("tools"))
        .with_context(|| format!("{CORPUS} has no folder tools"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    files.sort();
    let mut corpus = Corpus {
        entries: Vec::new(),
        records: Vec::new(),
        tools: 0,
        bytes: 0,
    };
    for file in files {
        let manifest = file.file_name().is_some_and(|name| name == "MANIFEST.json");
        if manifest || file.extension().is_none_or(|kind| kind != "json") {
            continue;
        }
        let text = std::fs::read_to_string(&file)?;
        let listed: Listed =
            serde_json::from_str(&text).with_context(|| file.display().to_string())?;
        let tools: Vec<ToolDefinition> = listed
            .tools
            .into_iter()
            .filter_map(|tool| ToolDefinition::from_descriptor(tool).ok())
            .map(|parsed| parsed.definition)
            .collect();
        let id = listed.server.replace("__", "-");
        corpus.tools += tools.len();
        corpus.bytes += tools
            .iter()
            .map(|tool| tool.descriptor().as_str().len())
            .sum::<usize>();
        corpus
            .records
            .push(CachedServer::new(&ServerInfo::default(), &tools, &[]));
        // Never started: everything that is asked of it is in the cache.
        corpus
            .entries
            .push(Entry::new(id.clone(), format!("no-such-program-{id}")));
    }
    if corpus.tools == 0 {
        bail!("{CORPUS} has no tools");
    }
    Ok(corpus)
}

fn with_corpus(corpus: &Corpus) -> Result<(Place, Client)> {
    let place = Place::new(&corpus.entries)?;
    let cache = DescriptorCache::open(place.cache())?;
    for (entry, record) in corpus.entries.iter().zip(&corpus.records) {
        let command = entry.command.to_string_lossy();
        let key = cache.key(&StdioConfig::new(entry.id.as_str(), command));
        cache.store(&key, record)?;
    }
    let mut client = started(&place)?;
    // Every one of them must have come from the cache, or less is measured than is said.
    let last = corpus.entries.last().context("no server")?;
    client
        .call("load_tools", &json!({"group_id": last.id}))
        .context("the gateway has not taken up the cache")?;
    Ok((place, client))
}

fn with_servers(count: usize) -> Result<(Place, Client)> {
    let entries = samples(count)?;
    let place = Place::new(&entries)?;
    let mut client = started(&place)?;
    let until = Instant::now() + Duration::from_secs(30);
    for entry in &entries {
        client.call("load_tools", &json!({"group_id": entry.id}))?;
    }
    while connected(client.pid()) < count {
        if Instant::now() > until {
            bail!("not all servers have started");
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok((place, client))
}

/// How many sample servers run behind a gateway.
fn connected(pid: u32) -> usize {
    let all = children(pid).unwrap_or_default();
    let lines = all.into_iter().map(command_line);
    lines.filter(|line| line.contains("sample-server")).count()
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let columns = ["RSS", "anonymous", "file", "highest RSS"];
    let mut report = Report::new("Memory of an idle `toolshelf serve`", "MiB", &columns);

    let place = Place::new(&[])?;
    let mut client = started(&place)?;
    report.row("no server", idle(&mut client)?);
    client.end()?;

    match std::env::var_os(CORPUS) {
        Some(folder) => {
            let corpus = corpus(Path::new(&folder))?;
            let (_place, mut client) = with_corpus(&corpus)?;
            let name = format!(
                "{} tools of {} servers, from the cache",
                corpus.tools,
                corpus.entries.len()
            );
            report.row(name, idle(&mut client)?);
            client.end()?;
            report.note(format!(
                "The descriptors of the corpus are {:.1} MiB of JSON.",
                corpus.bytes as f64 / MEBIBYTE
            ));
        }
        None => {
            let gap = format!(
                "{CORPUS} IS NOT SET: the gateway with a corpus in its cache was NOT measured."
            );
            eprintln!("{gap}");
            report.note(gap);
        }
    }

    let count = arguments.servers as usize;
    let (_place, mut client) = with_servers(count)?;
    report.row(
        format!("{count} sample servers connected"),
        idle(&mut client)?,
    );
    client.end()?;

    report
        .note("file: the pages of the program itself that were used; shared by all its processes.");
    let size = std::fs::metadata(toolshelf()?)?.len() as f64 / MEBIBYTE;
    report.note(format!("The binary has {size:.1} MiB."));
    report.note(profile());
    report.print(arguments.json);
    Ok(())
}

//! `cargo xtask probe-peers FOLDER`: installs other people's gateways, in versions that are written down here, and
//! prints how they and ours behave, as Markdown for BENCHMARKS.md.
//!
//! The network is used to install and for nothing else. What each probe saw stays in the folder as JSON.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::process::{self, run};
use crate::workspace::Workspace;

/// Python packages: name and version stand in `xtask/peers/requirements.txt`, with all that they need.
const REQUIREMENTS: &str = "xtask/peers/requirements.txt";

/// Crates, each with its version. Their own lock files are used.
const CRATES: &[(&str, &str)] = &[("mcp-multiplexer", "0.5.0"), ("mcpzip", "0.1.0")];

/// A gateway of the table.
struct Peer {
    /// How it is spoken to.
    adapter: &'static str,
    /// What it is installed from, as `requirements.txt` or [`CRATES`] name it.
    package: &'static str,
    /// The program, below the folder.
    program: &'static str,
}

const PEERS: &[Peer] = &[
    Peer {
        adapter: "mcp-compressor",
        package: "mcp-compressor",
        program: "python/bin/mcp-compressor",
    },
    Peer {
        adapter: "fastmcp",
        package: "fastmcp",
        program: "python/bin/fastmcp",
    },
    Peer {
        adapter: "fastmcp-search",
        package: "fastmcp",
        program: "python/bin/fastmcp",
    },
    Peer {
        adapter: "mcp-multiplexer",
        package: "mcp-multiplexer",
        program: "cargo/bin/mcp-multiplexer",
    },
    Peer {
        adapter: "mcpzip",
        package: "mcpzip",
        program: "cargo/bin/mcpzip",
    },
];

/// Installs, probes, and prints.
pub(crate) fn probe(workspace: &Workspace, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("{} could not be created", folder.display()))?;
    let folder = fs::canonicalize(folder)?;
    install(workspace, &folder)?;
    let toolshelf = build(workspace)?;
    let requirements = fs::read_to_string(workspace.root().join(REQUIREMENTS))?;
    let command = [toolshelf.display().to_string(), "serve".to_owned()];
    let ours = report(&folder, &toolshelf, "toolshelf", &command)?;
    let version_of_ours = ours["server"]["version"].as_str().unwrap_or_default();
    let mut reports = vec![(format!("toolshelf {version_of_ours}"), ours.clone())];
    for peer in PEERS {
        let version = version(&requirements, peer.package)?;
        let program = folder.join(peer.program).display().to_string();
        reports.push((
            format!("{} {version}", peer.adapter),
            report(&folder, &toolshelf, peer.adapter, &[program])?,
        ));
    }
    println!("\n{}", markdown(&reports));
    Ok(())
}

fn install(workspace: &Workspace, folder: &Path) -> Result<()> {
    let python = folder.join("python");
    let pip = python.join("bin/pip");
    if !pip.exists() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
    }
    let requirements = workspace.root().join(REQUIREMENTS);
    run(Command::new(pip)
        .args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--requirement",
        ])
        .arg(requirements))?;
    for (name, version) in CRATES {
        run(workspace
            .cargo(["install", "--locked", "--version", version, name, "--root"])
            .arg(folder.join("cargo")))?;
    }
    Ok(())
}

fn build(workspace: &Workspace) -> Result<PathBuf> {
    run(&mut workspace.cargo(["build", "--release", "--package", "toolshelf-cli"]))?;
    let metadata = workspace.metadata()?;
    let target = metadata["target_directory"]
        .as_str()
        .context("no target folder")?;
    Ok(Path::new(target).join("release").join("toolshelf"))
}

/// Probes one gateway; what failed there is no failure here.
fn report(folder: &Path, toolshelf: &Path, adapter: &str, command: &[String]) -> Result<Value> {
    let mut probe = Command::new(toolshelf);
    probe
        .args(["probe", "--json", "--gateway", adapter, "--"])
        .args(command)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit());
    println!("$ {}", process::display(&probe));
    let output = probe.output().context("the probe could not be started")?;
    if !matches!(output.status.code(), Some(0 | 1)) || output.stdout.is_empty() {
        bail!(
            "the probe of {adapter} ended without a report ({})",
            output.status
        );
    }
    let place = folder.join(format!("{adapter}.json"));
    fs::write(&place, &output.stdout)
        .with_context(|| format!("{} could not be written", place.display()))?;
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn version(requirements: &str, package: &str) -> Result<String> {
    let pinned = requirements.lines().find_map(|line| {
        let (name, version) = line.split_once("==")?;
        (name == package).then(|| version.to_owned())
    });
    let of_crates = || {
        let of = CRATES.iter().find(|(name, _)| *name == package)?;
        Some(of.1.to_owned())
    };
    pinned
        .or_else(of_crates)
        .with_context(|| format!("no version of {package} is written down"))
}

/// A table of outcomes, then what was seen where something failed.
fn markdown(reports: &[(String, Value)]) -> String {
    let mut text = String::from("| behaviour |");
    for (name, _) in reports {
        text += &format!(" {name} |");
    }
    text += &format!("\n|---|{}\n", "---|".repeat(reports.len()));
    let findings = |report: &Value| report["behaviours"].as_array().cloned().unwrap_or_default();
    let Some((_, first)) = reports.first() else {
        return text;
    };
    for behaviour in findings(first) {
        let name = behaviour["name"].as_str().unwrap_or_default();
        text += &format!("| `{name}` |");
        for (_, report) in reports {
            let findings = findings(report);
            let finding = findings.iter().find(|it| it["name"] == name);
            text += match finding.and_then(|it| it["outcome"].as_str()) {
                Some("pass") => " pass |",
                Some("fail") => " **fail** |",
                Some("not-applicable") => " n/a |",
                _ => " skipped |",
            };
        }
        text += "\n";
    }
    text += "| passed, of those that apply |";
    for (_, report) in reports {
        let findings = findings(report);
        let count = |outcome| {
            let with = findings.iter().filter(|it| it["outcome"] == outcome);
            with.count()
        };
        let (passed, failed) = (count("pass"), count("fail"));
        text += &format!(" {passed} of {} |", passed + failed);
    }
    text += "\n| bytes of its list before 213 tools |";
    for (_, report) in reports {
        let findings = findings(report);
        let list = findings.iter().find(|it| it["name"] == "list-bytes");
        let bytes = list.and_then(|it| it["figures"]["start"].as_u64());
        text += &bytes.map_or(" not seen |".to_owned(), |bytes| format!(" {bytes} |"));
    }
    text += "\n";
    for (name, report) in reports {
        let failed: Vec<Value> = findings(report)
            .into_iter()
            .filter(|it| it["outcome"] == "fail")
            .collect();
        if failed.is_empty() {
            continue;
        }
        text += &format!("\n{name}:\n\n");
        for finding in failed {
            let (name, seen) = (&finding["name"], &finding["seen"]);
            let seen = seen.as_str().unwrap_or_default().replace('`', "'");
            text += &format!("* {}: `{seen}`\n", name.as_str().unwrap_or_default());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_peer_has_a_version() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/requirements.txt");
        let requirements = fs::read_to_string(root).unwrap();
        for peer in PEERS {
            assert!(
                version(&requirements, peer.package).is_ok(),
                "{}",
                peer.package
            );
        }
        assert!(version(&requirements, "unheard").is_err());
    }

    #[test]
    fn the_table_says_what_was_seen_where_something_failed() {
        let finding = |name: &str, outcome: &str| json!({"name": name, "outcome": outcome, "seen": "no `echo`", "figures": {"start": 7}});
        let report = |one: &str, two: &str| json!({"behaviours": [finding("slow", one), finding("list-bytes", two)]});
        let table = markdown(&[
            ("ours 1".to_owned(), report("pass", "pass")),
            ("theirs 2".to_owned(), report("fail", "not-applicable")),
        ]);
        assert_eq!(
            table,
            "| behaviour | ours 1 | theirs 2 |\n|---|---|---|\n\
             | `slow` | pass | **fail** |\n| `list-bytes` | pass | n/a |\n\
             | passed, of those that apply | 2 of 2 | 0 of 1 |\n\
             | bytes of its list before 213 tools | 7 | 7 |\n\
             \ntheirs 2:\n\n* slow: `no 'echo'`\n"
        );
    }
}

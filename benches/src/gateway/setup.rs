//! What is measured: programs of this build, and the files that they are given.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::client::Client;

/// The names of the sample servers that are part of `toolshelf`.
const SAMPLES: &[&str] = &["calendar", "issues", "warehouse"];

/// This program, which is also the servers and the proxy that are measured.
///
/// # Errors
///
/// When the system does not tell where it is.
pub(crate) fn own_program() -> Result<PathBuf> {
    std::env::current_exe().context("cannot tell where this program is")
}

/// The `toolshelf` that stands beside this program.
///
/// # Errors
///
/// When it is not there; the message says how to build it.
pub(crate) fn toolshelf() -> Result<PathBuf> {
    let name = format!("toolshelf{}", std::env::consts::EXE_SUFFIX);
    let path = own_program()?.with_file_name(name);
    if path.is_file() {
        return Ok(path);
    }
    bail!(
        "`toolshelf` is not beside this program; build it in the same profile: \
         cargo build --release -p toolshelf-cli"
    )
}

/// A line on the build, so that nobody takes a debug build's figures for anything.
pub(crate) fn profile() -> &'static str {
    if cfg!(debug_assertions) {
        "DEBUG BUILD: these figures say nothing."
    } else {
        "Release build."
    }
}

/// A server as an entry of `mcpServers`.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its id.
    pub(crate) id: String,
    /// The program.
    pub(crate) command: PathBuf,
    /// Its arguments.
    pub(crate) args: Vec<String>,
    /// Its environment. It makes two servers of the same program two servers to a cache.
    pub(crate) env: Vec<(String, String)>,
}

impl Entry {
    /// A server without arguments.
    pub(crate) fn new(id: impl Into<String>, command: impl Into<PathBuf>) -> Self {
        Self {
            id: id.into(),
            command: command.into(),
            args: Vec::new(),
            env: Vec::new(),
        }
    }

    fn json(&self) -> Value {
        let env: Map<String, Value> = self
            .env
            .iter()
            .map(|(name, value)| (name.clone(), Value::from(value.as_str())))
            .collect();
        json!({"command": self.command, "args": self.args, "env": env})
    }
}

/// So many sample servers of `toolshelf`.
///
/// # Errors
///
/// When `toolshelf` is not there.
pub(crate) fn samples(count: usize) -> Result<Vec<Entry>> {
    let command = toolshelf()?;
    let entries = (0..count).zip(SAMPLES.iter().cycle()).map(|(at, sample)| {
        let mut entry = Entry::new(format!("{sample}{at:02}"), command.clone());
        entry.args = vec!["sample-server".to_owned(), (*sample).to_owned()];
        entry.env = vec![("BENCH_SERVER".to_owned(), at.to_string())];
        entry
    });
    Ok(entries.collect())
}

/// A folder with a configuration and a cache, which is gone afterwards.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    /// Writes the configuration.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made or written to.
    pub(crate) fn new(entries: &[Entry]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let servers: Map<String, Value> = entries
            .iter()
            .map(|entry| (entry.id.clone(), entry.json()))
            .collect();
        let text = json!({"mcpServers": servers}).to_string();
        std::fs::write(folder.path().join("mcp.json"), text)?;
        std::fs::create_dir(folder.path().join("cache"))?;
        Ok(Self { folder })
    }

    /// The folder of the cache.
    pub(crate) fn cache(&self) -> PathBuf {
        self.folder.path().join("cache")
    }

    /// Empties the cache.
    ///
    /// # Errors
    ///
    /// When it cannot be emptied.
    pub(crate) fn forget(&self) -> Result<()> {
        std::fs::remove_dir_all(self.cache())?;
        std::fs::create_dir(self.cache())?;
        Ok(())
    }

    /// A command of `toolshelf` over this configuration and cache.
    ///
    /// # Errors
    ///
    /// When `toolshelf` is not there.
    pub(crate) fn toolshelf(&self, name: &str) -> Result<Command> {
        Ok(self.command(&toolshelf()?, name))
    }

    /// A command of another `toolshelf`.
    pub(crate) fn command(&self, program: &Path, name: &str) -> Command {
        let mut command = Command::new(program);
        command
            // A server that a benchmark stops in its start is no news.
            .args(["--log-level", "error", name, "--config"])
            .arg(self.folder.path().join("mcp.json"))
            .env("TOOLSHELF_CACHE_DIR", self.cache());
        command
    }

    /// Starts a gateway.
    ///
    /// # Errors
    ///
    /// When it cannot be started.
    pub(crate) fn serve(&self, limit: Duration) -> Result<Client> {
        Client::start(self.toolshelf("serve")?, limit)
    }

    /// Fills the cache from the servers.
    ///
    /// # Errors
    ///
    /// When one of them has no list.
    pub(crate) fn refresh(&self) -> Result<()> {
        let output = self.toolshelf("refresh")?.output()?;
        if !output.status.success() {
            bail!(
                "`toolshelf refresh` failed: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(())
    }
}

/// The child processes of a process; nothing where the system does not tell.
pub(crate) fn children(pid: u32) -> Option<Vec<u32>> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut all = Vec::new();
    for task in tasks {
        let list = std::fs::read_to_string(task.ok()?.path().join("children")).ok()?;
        all.extend(
            list.split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    Some(all)
}

/// The command line of a process.
pub(crate) fn command_line(pid: u32) -> String {
    let path = Path::new("/proc").join(pid.to_string()).join("cmdline");
    let text = std::fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text).replace('\0', " ")
}

//! The processes of a gateway and of all that it started, as `/proc` shows them.
//!
//! Elsewhere than on Linux none are seen: what would count them is skipped, and says so.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Whether processes can be counted here.
pub(crate) const COUNTED: bool = cfg!(target_os = "linux");

/// A process; the time of its start tells it from a later one of the same number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Process {
    pid: u32,
    started: u64,
}

/// What the kernel says of a process.
struct Entry {
    process: Process,
    parent: u32,
    name: String,
}

/// A gateway and what it started, as far as it was seen.
pub(crate) struct Family {
    folder: PathBuf,
    members: BTreeMap<Process, String>,
    /// The gateway itself, which is ended by whoever started it.
    gateway: u32,
}

impl Family {
    /// The family of a gateway. `folder` stands in the command lines of its servers.
    pub(crate) fn new(gateway: u32, folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            members: BTreeMap::new(),
            gateway,
        }
    }

    /// Looks for processes that came since the last time, and returns how many there are.
    pub(crate) fn look(&mut self) -> usize {
        let entries = entries();
        let mut known: BTreeSet<u32> = self.living(&entries).iter().map(|it| it.pid).collect();
        known.insert(self.gateway);
        // A number may have gone to somebody else since it was logged.
        let logged = logged(&self.folder).into_iter();
        known.extend(logged.filter(|pid| command_line(*pid) == "sleep\x001000\x00"));
        loop {
            let before = known.len();
            for entry in &entries {
                if known.contains(&entry.parent) {
                    known.insert(entry.process.pid);
                }
            }
            if known.len() == before {
                break;
            }
        }
        let folder = self.folder.to_string_lossy().into_owned();
        for entry in entries {
            let pid = entry.process.pid;
            let is_other = pid == std::process::id() || pid == self.gateway;
            if !is_other && (known.contains(&pid) || command_line(pid).contains(&folder)) {
                self.members.insert(entry.process, entry.name);
            }
        }
        self.left().len()
    }

    /// The names of those that run.
    pub(crate) fn left(&self) -> Vec<&str> {
        let entries = entries();
        let living = self.living(&entries);
        living
            .iter()
            .filter_map(|process| self.members.get(process).map(String::as_str))
            .collect()
    }

    fn living(&self, entries: &[Entry]) -> Vec<Process> {
        let running = entries.iter().map(|entry| entry.process);
        running
            .filter(|process| self.members.contains_key(process))
            .collect()
    }

    /// Ends all that is left, at once.
    pub(crate) fn kill(&mut self) {
        self.look();
        #[cfg(unix)]
        for process in self.living(&entries()) {
            use nix::sys::signal::{Signal, kill};
            if let Ok(pid) = i32::try_from(process.pid) {
                // One that has ended meanwhile needs no signal.
                let _ = kill(nix::unistd::Pid::from_raw(pid), Signal::SIGKILL);
            }
        }
    }
}

/// Processes that servers wrote into their logs.
fn logged(folder: &Path) -> BTreeSet<u32> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let logs = files.filter(|file| file.path().extension().is_some_and(|it| it == "log"));
    logs.filter_map(|log| std::fs::read_to_string(log.path()).ok())
        .flat_map(|text| {
            let pids = text.lines().filter_map(|line| line.strip_prefix("pid "));
            pids.filter_map(|pid| pid.parse().ok())
                .collect::<Vec<u32>>()
        })
        .collect()
}

fn command_line(pid: u32) -> String {
    let bytes = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// All processes that run; one that only waits to be collected does not.
fn entries() -> Vec<Entry> {
    if !COUNTED {
        return Vec::new();
    }
    let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    folders
        .filter_map(|folder| folder.file_name().to_str()?.parse().ok())
        .filter_map(|pid: u32| {
            parse(
                pid,
                &std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?,
            )
        })
        .collect()
}

/// Reads `PID (NAME) STATE PARENT …`; the name may hold anything. The 22nd field is the start.
fn parse(pid: u32, stat: &str) -> Option<Entry> {
    let (before, after) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = after.split_whitespace().collect();
    if matches!(*fields.first()?, "Z" | "X") {
        return None;
    }
    Some(Entry {
        process: Process {
            pid,
            started: fields.get(19)?.parse().ok()?,
        },
        parent: fields.get(1)?.parse().ok()?,
        name: before.split_once('(')?.1.to_owned(),
    })
}

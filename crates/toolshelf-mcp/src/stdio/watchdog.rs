//! A small process that ends our servers when we no longer can.
//!
//! Whoever is killed at once (`SIGKILL`, out of memory) ends nothing. A parent-death
//! signal would not reach what a server started in its turn, and it fires when the thread
//! ends that started the server. So a watchdog process reads from a pipe which groups of
//! processes run; when the pipe ends, its owner is gone, and it ends those that are left.
//!
//! The program of the watchdog calls [`watch_over`] and nothing else. On Windows a job
//! object does the same, and no watchdog is needed.

use std::collections::BTreeSet;
use std::io::{self, BufRead, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolshelf_core::{Error, ErrorKind};

/// How often it is looked whether a group has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// The owner's side of a watchdog. Cloning shares it; with the last clone it ends.
#[derive(Clone)]
pub struct Watchdog(Arc<Owner>);

struct Owner(Mutex<Running>);

struct Running {
    child: Child,
    pipe: Option<ChildStdin>,
}

impl Watchdog {
    /// Starts a watchdog: a program that calls [`watch_over`] on its standard input.
    ///
    /// Its input is a pipe of ours, and it runs in a process group of its own, so that
    /// what ends our group does not end it. The other streams are the command's.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Unavailable`] when the program cannot be started.
    pub fn start(mut command: Command) -> Result<Self, Error> {
        command.stdin(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|cause| {
            Error::new(
                ErrorKind::Unavailable,
                format!("the watchdog cannot be started: {cause}"),
            )
        })?;
        let pipe = child.stdin.take();
        Ok(Self(Arc::new(Owner(Mutex::new(Running { child, pipe })))))
    }

    /// Ends the watchdog and with it whatever is still watched, whoever else holds a clone.
    /// Waits for it: a moment when nothing is left, its grace otherwise.
    pub fn end(&self) {
        self.0.end();
    }

    /// Has a process group watched until the guard is dropped.
    pub(crate) fn watch(&self, group: u32) -> Watched {
        self.0.say('+', group);
        Watched {
            owner: self.0.clone(),
            group,
        }
    }
}

impl std::fmt::Debug for Watchdog {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watchdog")
    }
}

impl Owner {
    fn running(&self) -> MutexGuard<'_, Running> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, what: char, group: u32) {
        // A few bytes into a pipe that is always read: this does not block. A watchdog
        // that is gone cannot help any more, and must not keep us from working.
        if let Some(pipe) = &mut self.running().pipe
            && let Err(cause) = writeln!(pipe, "{what}{group}")
        {
            tracing::warn!("the watchdog does not listen: {cause}");
        }
    }
}

impl Owner {
    fn end(&self) {
        let mut running = self.running();
        drop(running.pipe.take());
        // It ends as soon as it has read the end of its input, unless somebody is left.
        let _ = running.child.wait();
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.end();
    }
}

/// A process group that is watched.
pub(crate) struct Watched {
    owner: Arc<Owner>,
    group: u32,
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.owner.say('-', self.group);
    }
}

/// The whole of a watchdog process: reads which process groups run until the input ends,
/// then ends those that are left, asking first and killing after `grace`.
///
/// A line is `+GROUP` or `-GROUP`; others are passed over.
///
/// # Errors
///
/// None that stops it: an input that cannot be read any more has ended.
pub fn watch_over(input: impl BufRead, grace: Duration) -> io::Result<()> {
    let mut groups: BTreeSet<i32> = BTreeSet::new();
    for line in input.lines() {
        let Ok(line) = line else {
            break;
        };
        match line.split_at_checked(1) {
            Some(("+", group)) => groups.extend(group.parse::<i32>().ok().filter(|id| *id > 1)),
            Some(("-", group)) => {
                if let Ok(group) = group.parse::<i32>() {
                    groups.remove(&group);
                }
            }
            _ => {}
        }
    }
    end_all(groups, grace);
    Ok(())
}

#[cfg(unix)]
fn end_all(mut groups: BTreeSet<i32>, grace: Duration) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    // A group that takes no signal is gone.
    let mut signal_all = |signal: Option<Signal>| {
        groups.retain(|group| killpg(Pid::from_raw(*group), signal).is_ok());
        groups.is_empty()
    };
    let mut all_gone = signal_all(Some(Signal::SIGTERM));
    let until = Instant::now() + grace;
    while !all_gone && Instant::now() < until {
        std::thread::sleep(LOOK_INTERVAL);
        all_gone = signal_all(None);
    }
    if !all_gone {
        signal_all(Some(Signal::SIGKILL));
    }
}

#[cfg(not(unix))]
fn end_all(_groups: BTreeSet<i32>, _grace: Duration) {}

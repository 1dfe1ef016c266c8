//! A child process with all that it starts, and a supervisor that never leaves one
//! behind: no survivor of the group, no zombie.

use std::io;
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[cfg(windows)]
use process_wrap::tokio::JobObject;
#[cfg(unix)]
use process_wrap::tokio::ProcessGroup;
use process_wrap::tokio::{ChildWrapper, CommandWrap, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use toolshelf_core::{Error, ErrorKind};

use super::config::StdioConfig;
use super::environment::inherited;
use super::redact::Redactor;
use super::tail::Tail;
use super::watchdog::{Watchdog, Watched};
use crate::client::Faults;
use crate::sync::lock;

/// How long a killed process may take to be gone. Longer only where it hangs in the
/// kernel.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// How long an error waits for the exit status and the last words of a process.
const REPORT_PATIENCE: Duration = Duration::from_secs(1);

/// How often it is looked whether a process group is empty.
#[cfg(unix)]
const GROUP_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Debug, Clone, PartialEq)]
enum State {
    Running,
    /// The process itself has exited.
    Exited(String),
    /// So have those that it started, and its standard error was read to the end.
    Gone(String),
}

/// A running process. Dropping it ends the process in the background.
pub(crate) struct Process {
    stop: watch::Sender<Option<Duration>>,
    state: watch::Receiver<State>,
    tail: Arc<Tail>,
    redactor: Redactor,
    grace: Duration,
}

impl Process {
    /// Starts a process; returns it with its standard input and output.
    ///
    /// # Errors
    ///
    /// `NotFound` when there is no such program, `InvalidConfig` when there is no such
    /// folder, `Unavailable` when the system does not start it.
    pub(crate) fn spawn(
        config: &StdioConfig,
        faults: &Faults,
        watchdog: Option<&Watchdog>,
    ) -> Result<(Self, ChildStdin, ChildStdout), Error> {
        // A missing folder and a missing program are the same error of the system.
        if let Some(cwd) = &config.cwd
            && !cwd.is_dir()
        {
            return Err(faults.not_started(
                ErrorKind::InvalidConfig,
                format!(
                    "the working directory '{}' does not exist{}",
                    cwd.display(),
                    hint(&cwd.to_string_lossy())
                ),
            ));
        }
        let mut command = Command::new(&config.command);
        command
            .args(&config.args)
            .env_clear()
            .envs(inherited(std::env::vars_os(), &config.inherit_env))
            .envs(&config.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        if let Some(cwd) = &config.cwd {
            command.current_dir(cwd);
        }
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop);
        #[cfg(unix)]
        command.wrap(ProcessGroup::leader());
        #[cfg(windows)]
        command.wrap(JobObject);
        let child = command
            .spawn()
            .map_err(|cause| not_spawned(config, faults, cause))?;
        // The process leads its group, so both have the same number.
        let watched = watchdog.zip(child.id());
        let mut group = Group {
            child,
            reaped: false,
            _watched: watched.map(|(watchdog, group)| watchdog.watch(group)),
        };
        let (stdin, stdout, stderr) = (
            group.child.stdin().take(),
            group.child.stdout().take(),
            group.child.stderr().take(),
        );
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(faults.not_started(
                ErrorKind::Internal,
                "the process has no standard input or output".to_owned(),
            ));
        };
        let (stop, stopped) = watch::channel(None);
        let (report, state) = watch::channel(State::Running);
        let tail = Arc::new(Tail::default());
        let grace = config.close_grace;
        tokio::spawn(supervise(
            group,
            stderr,
            tail.clone(),
            stopped,
            report,
            grace,
        ));
        let process = Self {
            stop,
            state,
            tail,
            redactor: Redactor::of(config),
            grace,
        };
        Ok((process, stdin, stdout))
    }

    /// What is known of the end of the process, waiting a moment for it.
    pub(crate) async fn explain(&self, error: Error) -> Error {
        // Whatever is known by then is told.
        let _ = tokio::time::timeout(REPORT_PATIENCE, self.gone()).await;
        self.annotate(error)
    }

    /// What is known of the process by now.
    pub(crate) fn annotate(&self, error: Error) -> Error {
        let error = match &*self.state.borrow() {
            State::Running => error,
            State::Exited(status) | State::Gone(status) => error.context("exit", status.clone()),
        };
        match self.stderr() {
            Some(text) => error.context("stderr", text),
            None => error,
        }
    }

    /// The end of what it wrote to its standard error so far, without values of its
    /// configuration.
    pub(crate) fn stderr(&self) -> Option<String> {
        self.tail.text().map(|text| self.redactor.redact(text))
    }

    /// A text of the process without values of its configuration.
    pub(crate) fn redact(&self, text: String) -> String {
        self.redactor.redact(text)
    }

    /// Resolves when it is gone with all that it started.
    pub(crate) fn gone(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut state = self.state.clone();
        async move {
            // An error means that nobody looks after it any more, as at the end.
            let _ = state
                .wait_for(|state| matches!(state, State::Gone(_)))
                .await;
        }
    }

    /// Ends the process, within its grace: end of input (which is for the caller to
    /// bring about), signal, kill. Returns when it is gone with all that it started.
    pub(crate) async fn stop(&self) {
        self.stop_within(self.grace).await;
    }

    /// What ends it within a grace when it is dropped, for as long as its start is waited for.
    pub(crate) fn starting(&self, grace: Duration) -> Starting {
        Starting {
            stop: self.stop.clone(),
            grace: Some(grace),
        }
    }

    /// As [`Process::stop`], with another grace.
    pub(crate) async fn stop_within(&self, grace: Duration) {
        self.stop.send_replace(Some(grace));
        let limit = longest_end(grace);
        if tokio::time::timeout(limit, self.gone()).await.is_err() {
            tracing::warn!("a server process does not end although it was killed");
        }
    }
}

/// The start of a process. Dropped before it came to an end, it was given up.
pub(crate) struct Starting {
    stop: watch::Sender<Option<Duration>>,
    grace: Option<Duration>,
}

impl Starting {
    /// It came to an end, whichever.
    pub(crate) fn ended(mut self) {
        self.grace = None;
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if self.grace.is_some() {
            self.stop.send_replace(self.grace);
        }
    }
}

/// The processes of one server that may still be there, also those that are ended in the
/// background because whoever waited for their start has given up.
#[derive(Default)]
pub(crate) struct Ends(Mutex<Vec<watch::Receiver<State>>>);

impl Ends {
    /// Notes a process, and forgets those that are gone.
    pub(crate) fn note(&self, process: &Process) {
        let mut states = lock(&self.0);
        states.retain(|state| !matches!(*state.borrow(), State::Gone(_)));
        states.push(process.state.clone());
    }

    /// Waits until all are gone, but no longer than they may take with this grace.
    pub(crate) async fn all(&self, grace: Duration) {
        let states = std::mem::take(&mut *lock(&self.0));
        let all = async {
            for mut state in states {
                // An error means that nobody looks after it any more, as at the end of
                // the runtime.
                let _ = state
                    .wait_for(|state| matches!(state, State::Gone(_)))
                    .await;
            }
        };
        // Whoever ends a process warns when it stays.
        let _ = tokio::time::timeout(longest_end(grace), all).await;
    }
}

/// How long the end of a process may take.
fn longest_end(grace: Duration) -> Duration {
    grace * 3 + KILL_PATIENCE * 2
}

fn not_spawned(config: &StdioConfig, faults: &Faults, cause: io::Error) -> Error {
    let command = &config.command;
    match cause.kind() {
        io::ErrorKind::NotFound => {
            let path = config
                .env
                .get("PATH")
                .cloned()
                .or_else(|| std::env::var("PATH").ok())
                .unwrap_or_default();
            let message = if command.contains(std::path::is_separator) {
                format!("there is no program '{command}'{}", hint(command))
            } else {
                format!(
                    "the command '{command}' was not found in PATH ({path}){}",
                    hint(command)
                )
            };
            faults.no_program(message)
        }
        _ => faults.not_started(
            ErrorKind::Unavailable,
            format!("the command '{command}' could not be started: {cause}"),
        ),
    }
    .caused_by(cause)
}

/// What a shell would have made of a word, and nobody else does.
fn hint(word: &str) -> &'static str {
    if word == "~" || word.starts_with("~/") {
        "; '~' is expanded by shells only: write the whole path, or ${HOME}"
    } else if word.trim().contains(char::is_whitespace) {
        "; a command is the program alone: the words behind it belong into 'args'"
    } else {
        ""
    }
}

/// A process group that is killed when nobody looks after it any more, such as at the
/// end of the runtime.
struct Group {
    child: Box<dyn ChildWrapper>,
    reaped: bool,
    /// Until nothing of the group is left.
    _watched: Option<Watched>,
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.reaped {
            // It may be gone already.
            let _ = self.child.start_kill();
        }
    }
}

async fn supervise(
    mut group: Group,
    stderr: Option<ChildStderr>,
    tail: Arc<Tail>,
    mut stopped: watch::Receiver<Option<Duration>>,
    report: watch::Sender<State>,
    grace: Duration,
) {
    let mut reading = tokio::spawn(async move {
        if let Some(stderr) = stderr {
            tail.follow(stderr).await;
        }
    });
    let stop = async {
        // An error means that the owner is gone, which is the same.
        match stopped.wait_for(Option::is_some).await {
            Ok(stop) => stop.unwrap_or(grace),
            Err(_) => grace,
        }
    };
    let (status, grace) = tokio::select! {
        status = group.child.wait() => (Some(status), grace),
        grace = stop => (None, grace),
    };
    let status = match status {
        Some(status) => status,
        None => end(&mut *group.child, grace).await,
    };
    group.reaped = status.is_ok();
    let status = match status {
        Ok(status) => status.to_string(),
        Err(cause) => format!("unknown: {cause}"),
    };
    report.send_replace(State::Exited(status.clone()));
    sweep(&mut *group.child, grace).await;
    // A process that left the group may hold the pipe open for ever.
    if tokio::time::timeout(REPORT_PATIENCE / 2, &mut reading)
        .await
        .is_err()
    {
        reading.abort();
    }
    report.send_replace(State::Gone(status));
}

/// Ends a process whose input was closed.
async fn end(child: &mut dyn ChildWrapper, grace: Duration) -> io::Result<ExitStatus> {
    if let Ok(status) = tokio::time::timeout(grace, child.wait()).await {
        return status;
    }
    #[cfg(unix)]
    {
        // It may have ended by itself just now.
        let _ = child.signal(libc::SIGTERM);
        if let Ok(status) = tokio::time::timeout(grace, child.wait()).await {
            return status;
        }
    }
    let _ = child.start_kill();
    match tokio::time::timeout(KILL_PATIENCE, child.wait()).await {
        Ok(status) => status,
        Err(_) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "the process does not end",
        )),
    }
}

/// Ends what a process has left behind in its group.
#[cfg(unix)]
async fn sweep(child: &mut dyn ChildWrapper, grace: Duration) {
    // An error says that the group is empty.
    if child.signal(libc::SIGTERM).is_err() {
        return;
    }
    let until = tokio::time::Instant::now() + grace;
    while tokio::time::Instant::now() < until {
        tokio::time::sleep(GROUP_INTERVAL).await;
        // A signal that changes nothing tells whether somebody is there.
        if child.signal(libc::SIGCONT).is_err() {
            return;
        }
    }
    let _ = child.start_kill();
}

/// Ends what a process has left behind in its job.
#[cfg(not(unix))]
async fn sweep(child: &mut dyn ChildWrapper, _grace: Duration) {
    let _ = child.start_kill();
}

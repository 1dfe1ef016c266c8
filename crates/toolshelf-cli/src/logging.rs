//! The log, on standard error only.

use std::io::IsTerminal;

use clap::ValueEnum;
use toolshelf_gateway::log::{FAILED, LEFT_OUT};
use tracing_subscriber::EnvFilter;

use crate::arguments::{Command, Global, LogLevel};
use crate::failure::Failure;
use crate::output::color_wanted;
use crate::stderr::{self, Log};

/// The level that was asked for: by the command line, else by the environment, where an empty
/// value is none.
///
/// # Errors
///
/// A value that is no level.
pub(crate) fn asked(global: &Global) -> Result<Option<LogLevel>, Failure> {
    const VARIABLE: &str = "TOOLSHELF_LOG";
    if global.log_level.is_some() || global.verbose > 0 {
        return Ok(global.log_level);
    }
    let Some(value) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    let value = value.to_string_lossy();
    LogLevel::from_str(&value, false).map(Some).map_err(|_| {
        let levels = LogLevel::value_variants().iter().map(|level| level.name());
        Failure::usage(format!(
            "{VARIABLE} is '{}', which is none of {}",
            crate::output::cut(&value, 64),
            levels.collect::<Vec<_>>().join(", ")
        ))
    })
}

/// Targets of what a command says itself.
fn said_elsewhere(command: &Command) -> &'static [&'static str] {
    match command {
        Command::Tools(_) => &[FAILED, LEFT_OUT],
        Command::Catalog(_) | Command::Call(_) | Command::Refresh(_) | Command::Search(_) => {
            &[FAILED]
        }
        _ => &[],
    }
}

/// Starts the log.
pub(crate) fn start(global: &Global, command: &Command, asked: Option<LogLevel>) {
    let level = match (asked, global.verbose) {
        (Some(level), _) => level,
        // What the others warn of is what it reports.
        (None, 0) if matches!(command, Command::Doctor(_)) => LogLevel::Error,
        (None, 0) => LogLevel::Warn,
        (None, 1) => LogLevel::Info,
        (None, 2) => LogLevel::Debug,
        (None, _) => LogLevel::Trace,
    };
    // Other crates log what concerns their authors; rmcp even logs messages.
    let others = level.min(LogLevel::Warn);
    let mut filter = format!("{},toolshelf={}", others.name(), level.name());
    // What a command says itself is not said again, unless somebody asked for the log.
    if level == LogLevel::Warn && asked.is_none() {
        for target in said_elsewhere(command) {
            filter.push_str(&format!(",{target}=error"));
        }
    }
    let filter = EnvFilter::new(filter);
    let log = tracing_subscriber::fmt()
        .with_writer(|| Log)
        .with_ansi(color_wanted(global.color, std::io::stderr().is_terminal()))
        .with_env_filter(filter)
        .log_internal_errors(false);
    // A host keeps the log of a server; at a terminal everybody knows what time it is.
    let started = if global.log_json {
        stderr::use_json();
        let log = log.json().with_ansi(false);
        log.with_current_span(false)
            .with_span_list(false)
            .try_init()
    } else if matches!(command, Command::Serve(_)) {
        log.with_target(false).try_init()
    } else {
        log.with_target(false).without_time().try_init()
    };
    // Whoever called us has a log of their own already.
    let _ = started;
}

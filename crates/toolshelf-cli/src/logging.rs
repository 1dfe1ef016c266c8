//! The log, on standard error only.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::arguments::{Command, Global, LogLevel};
use crate::output::color_wanted;
use crate::stderr::{self, Log};

/// Starts the log.
pub(crate) fn start(global: &Global, command: &Command) {
    let level = match (global.log_level, global.verbose) {
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
    let filter = EnvFilter::new(format!("{},toolshelf={}", others.name(), level.name()));
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

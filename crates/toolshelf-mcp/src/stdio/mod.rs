//! Servers that are child processes.

mod config;
mod environment;
mod process;
mod redact;
mod restarts;
mod server;
mod tail;
mod uses;
mod watchdog;

pub use config::StdioConfig;
pub use server::{PLUGIN, ServerHooks, Sidelights, StdioServer};
pub use watchdog::{Watchdog, watch_over};

//! Servers that are child processes.

mod config;
mod environment;
mod process;
mod server;
mod tail;

pub use config::StdioConfig;
pub use server::{PLUGIN, StdioServer};

//! Measures a whole gateway from outside: `toolshelf serve` as a process, over its pipes.
//!
//! `cargo build --release -p toolshelf-cli` makes the `toolshelf` that is measured, and
//! `cargo run --release -p toolshelf-benches -- latency` (`start`, `memory`) measures it. The
//! two are built one after the other, so that `toolshelf` gets no feature of a dependency
//! that only the benchmarks need.

mod gateway;
mod programs;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::programs::{ECHO_SERVER, RMCP_PROXY, SILENT_SERVER};

/// Measures `toolshelf serve`, which has to stand beside this program
#[derive(Debug, Parser)]
#[command(name = "gateway-bench", arg_required_else_help = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Latency(gateway::latency::Arguments),
    Start(gateway::start::Arguments),
    Memory(gateway::memory::Arguments),
    #[command(hide = true, name = ECHO_SERVER)]
    EchoServer,
    #[command(hide = true, name = SILENT_SERVER)]
    SilentServer,
    #[command(hide = true, name = RMCP_PROXY)]
    RmcpProxy(programs::rmcp_proxy::Arguments),
}

fn main() -> Result<()> {
    match Cli::parse().command {
        Command::Latency(arguments) => gateway::latency::run(&arguments),
        Command::Start(arguments) => gateway::start::run(&arguments),
        Command::Memory(arguments) => gateway::memory::run(&arguments),
        Command::EchoServer => programs::echo_server::run(),
        Command::SilentServer => programs::silent_server(),
        Command::RmcpProxy(arguments) => programs::rmcp_proxy::run(&arguments),
    }
}

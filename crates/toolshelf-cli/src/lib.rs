//! The command line of Toolshelf.
//!
//! The binary `toolshelf` is two lines over [`run`]. Whoever wants strategies, catalog
//! formats or loaders of their own in it builds a binary with a registry of their own:
//!
//! ```no_run
//! use std::process::ExitCode;
//! use toolshelf_core::Registry;
//!
//! fn main() -> ExitCode {
//!     match Registry::linked() {
//!         // registry.register(my_crate::PLUGIN) …
//!         Ok(registry) => toolshelf_cli::run(registry),
//!         Err(error) => toolshelf_cli::refuse(&error),
//!     }
//! }
//! ```
//!
//! Standard output belongs to what was asked for, and under `serve` to the protocol;
//! everything else goes to standard error.

mod arguments;
mod commands;
mod doctor;
mod failure;
mod logging;
mod output;
pub mod samples;
mod signals;
mod source;
mod stderr;
mod tokens;
mod tour;
mod waiting;

use std::process::ExitCode;

use clap::Parser;
use toolshelf_core::{Error, Registry};
// Plugins are chosen by name; naming their crates links them.
use toolshelf_discovery as _;
use toolshelf_strategies as _;

pub use tokens::O200kBase;

use crate::arguments::{Cli, Command};
use crate::failure::Failure;
use crate::output::Output;

/// Runs the command that the arguments of this process ask for.
pub fn run(registry: Registry) -> ExitCode {
    // `help --help` asks for what `help` gives.
    let words: Vec<_> = std::env::args_os().collect();
    let is_help = |word: &std::ffi::OsString| word == "--help" || word == "-h";
    let help_of_help = words.len() == 3 && words[1] == "help" && is_help(&words[2]);
    let words = &words[..words.len() - usize::from(help_of_help)];
    let cli = match Cli::try_parse_from(words) {
        Ok(cli) => cli,
        Err(message) => {
            let code = u8::try_from(message.exit_code()).unwrap_or(1);
            if message.use_stderr() && std::env::args_os().any(|word| word == "--log-json") {
                stderr::use_json();
                let text = message.render().to_string();
                let text = text.strip_prefix("error: ").unwrap_or(&text);
                stderr::complain("", text.trim_end(), code);
            } else {
                // A help text or a usage error; whoever closed the pipe does not want it.
                let _ = message.print();
            }
            return ExitCode::from(code);
        }
    };
    if matches!(cli.command, Command::Watchdog) {
        return commands::watchdog::run();
    }
    if let Command::FaultyServer(arguments) = &cli.command {
        return commands::faulty_server::run(arguments);
    }
    let output = Output::new(cli.global.color);
    let asked = match logging::asked(&cli.global) {
        Ok(asked) => asked,
        Err(failure) => return failure.report(&output),
    };
    logging::start(&cli.global, &cli.command, asked);
    // One thread: a message that passes through wakes nobody else. Files and programs are
    // waited for elsewhere.
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(cause) => {
            return Failure::server(format!("cannot start: {cause}")).report(&output);
        }
    };
    let result = runtime.block_on(Box::pin(command(cli.command, &registry, &output)));
    // Nothing is left to wait for; a thread that reads standard input may never end.
    runtime.shutdown_background();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&output),
    }
}

/// Reports an error that came before any command could run, such as two plugins of the
/// same name.
pub fn refuse(error: &Error) -> ExitCode {
    Failure::usage(error.to_string()).report(&Output::new(arguments::Color::Auto))
}

async fn command(command: Command, registry: &Registry, output: &Output) -> Result<(), Failure> {
    match command {
        Command::Serve(arguments) => commands::serve::run(&arguments, registry).await,
        Command::Tools(arguments) => commands::tools::run(&arguments, registry, output).await,
        Command::Catalog(arguments) => commands::catalog::run(&arguments, registry, output).await,
        Command::Call(arguments) => commands::call::run(&arguments, registry, output).await,
        Command::Search(arguments) => commands::search::run(&arguments, registry, output).await,
        Command::EvalSearch(arguments) => commands::eval_search::run(&arguments, registry, output),
        Command::Plugins(arguments) => commands::plugins::run(&arguments, registry, output),
        Command::Tour(arguments) => tour::run(&arguments, output).await,
        Command::Refresh(arguments) => commands::refresh::run(&arguments, registry, output).await,
        Command::Doctor(arguments) => doctor::run(&arguments, registry, output).await,
        Command::Probe(arguments) => commands::probe::run(&arguments, output).await,
        Command::Completions(arguments) => commands::completions::run(&arguments, output),
        Command::SampleServer(arguments) => commands::sample_server::run(&arguments).await,
        // They have no runtime, and ran before there was one.
        Command::FaultyServer(_) | Command::Watchdog => Ok(()),
    }
}

//! `faulty-server`: the server with faults, over standard input and output.

use std::process::ExitCode;

use clap::Args;

const AFTER: &str = "\
Words are faults and settings, and can be combined: banner, chatter, stays, child, start=MS,
gate=FILE, exit=CODE, flood=BYTES, crash-on=N, changes, log=FILE, modern; list=malformed,
hostile, twins, many:N, wide:BYTES, named:NAME, empty, file:PATH, error, null, nothing, hang;
pages=N, circle, endless, fault; probe=silent, dies, late:MS, slow:MS; connect=null, error.
The documentation of the crate toolshelf-faults says what each does.

Examples:
  toolshelf faulty-server banner start=8000    Is noisy and slow
  toolshelf faulty-server list=many:1500       Has very many tools";

/// Serve tools with faults, to test what stands before them
#[derive(Debug, Args)]
#[command(after_help = AFTER)]
pub(crate) struct FaultyServerArguments {
    /// What is wrong with it
    #[arg(value_name = "WORD")]
    words: Vec<String>,
}

/// Has no runtime, since it blocks on what it reads.
pub(crate) fn run(arguments: &FaultyServerArguments) -> ExitCode {
    toolshelf_faults::run(arguments.words.iter().cloned())
}

//! `completions`: a script for a shell.

use clap::CommandFactory;

use crate::arguments::{Cli, CompletionsArguments};
use crate::failure::Failure;
use crate::output::Output;

pub(crate) fn run(arguments: &CompletionsArguments, output: &Output) -> Result<(), Failure> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    clap_complete::generate(arguments.shell, &mut command, "toolshelf", &mut script);
    output.write(&String::from_utf8_lossy(&script))?;
    Ok(())
}

//! The server of `toolshelf-faults` as a program.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolshelf_faults::run(std::env::args().skip(1))
}

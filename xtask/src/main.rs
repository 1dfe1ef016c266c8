//! `cargo xtask`: the project's checks, the same on a contributor's machine and in continuous integration.
//!
//! `ci` runs every step that must pass before a change lands, `nightly` what takes longer, and each step
//! runs alone by its name. The steps stand in one table in [`steps`]; help, order and the commands come from it.

// This is a command-line program: what it prints is its result.
#![allow(clippy::print_stdout)]

mod api;
mod budget;
mod facade;
mod fixtures;
mod fuzz;
mod hosts;
mod layering;
mod package;
mod peers;
mod process;
mod steps;
mod workspace;

use std::path::PathBuf;
use std::process::ExitCode;

use steps::{STEPS, Step, Suite};
use workspace::Workspace;

/// A step or a suite failed; its own output says why.
const FAILED: u8 = 1;
/// The command line could not be understood.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Command::parse(&arguments) {
        Ok(Command::Help) => {
            print!("{}", help());
            ExitCode::SUCCESS
        }
        Ok(command) => execute(&command),
        Err(message) => {
            eprintln!("error: {message}\n");
            eprint!("{}", help());
            ExitCode::from(USAGE)
        }
    }
}

fn execute(command: &Command) -> ExitCode {
    let result = Workspace::locate().and_then(|workspace| match command {
        Command::Help => Ok(()),
        Command::Suite(suite) => steps::run_suite(&workspace, *suite),
        Command::Step(step) => steps::run_alone(&workspace, step),
        Command::ProbePeers(folder) => peers::probe(&workspace, folder),
        Command::CheckFixtures => {
            fixtures::install(&workspace).and_then(|()| fixtures::check(&workspace))
        }
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(FAILED)
        }
    }
}

/// What the command line asks for.
#[derive(Debug, PartialEq)]
enum Command {
    Help,
    Suite(Suite),
    Step(&'static Step),
    CheckFixtures,
    ProbePeers(PathBuf),
}

impl Command {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut arguments = arguments.iter().map(String::as_str);
        let Some(name) = arguments.next() else {
            return Err("no command given".to_owned());
        };
        let rest: Vec<&str> = arguments.collect();
        if matches!(name, "help" | "--help" | "-h")
            || rest.iter().any(|a| matches!(*a, "--help" | "-h"))
        {
            return Ok(Self::Help);
        }
        let command = if name == "fixtures" && rest == ["--check"] {
            return Ok(Self::CheckFixtures);
        } else if name == "probe-peers" {
            return match rest.as_slice() {
                [folder] => Ok(Self::ProbePeers(PathBuf::from(folder))),
                _ => Err("`probe-peers` takes the folder to install into".to_owned()),
            };
        } else if let Some(suite) = Suite::ALL.into_iter().find(|suite| suite.name() == name) {
            Self::Suite(suite)
        } else if let Some(step) = STEPS.iter().find(|step| step.name == name) {
            Self::Step(step)
        } else {
            return Err(format!("there is no command `{name}`"));
        };
        match rest.first() {
            None => Ok(command),
            Some(extra) => Err(format!(
                "`{name}` does not take `{extra}`; to pass options to cargo, run the command that the step prints"
            )),
        }
    }
}

fn help() -> String {
    let mut text = String::from(
        "The checks of this workspace.\n\n\
         Usage: cargo xtask <COMMAND>\n\n\
         Suites, which stop at the first step that fails:\n",
    );
    for suite in Suite::ALL {
        let steps: Vec<&str> = suite.steps().map(|step| step.name).collect();
        text += &format!(
            "  {:<13} {}: {}\n",
            suite.name(),
            suite.about(),
            steps.join(", ")
        );
    }
    text += "\nSteps:\n";
    for step in STEPS {
        text += &format!("  {:<13} {}\n", step.name, step.about);
    }
    text += "\n  fixtures --check   also start each installed server and list its tools\n  \
             probe-peers FOLDER install other gateways there and print how they and ours behave\n\
             \nExit status: 0 everything passed, 1 a step failed, 2 the command line was wrong.\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Command, String> {
        let arguments: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Command::parse(&arguments)
    }

    #[test]
    fn every_name_in_the_help_is_a_command() {
        for suite in Suite::ALL {
            assert_eq!(parse(suite.name()), Ok(Command::Suite(suite)));
        }
        for step in STEPS {
            assert_eq!(parse(step.name), Ok(Command::Step(step)));
            assert!(
                help().contains(step.name),
                "{} is missing from the help",
                step.name
            );
        }
        assert_eq!(parse("fixtures --check"), Ok(Command::CheckFixtures));
    }

    #[test]
    fn a_wrong_command_line_says_what_is_wrong() {
        assert_eq!(parse("").unwrap_err(), "no command given");
        assert_eq!(parse("chek").unwrap_err(), "there is no command `chek`");
        assert!(
            parse("clippy --fix")
                .unwrap_err()
                .starts_with("`clippy` does not take `--fix`")
        );
        assert!(parse("ci --check").is_err());
    }

    #[test]
    fn help_can_be_asked_for_in_any_place() {
        for line in ["help", "--help", "-h", "ci --help", "clippy -h"] {
            assert_eq!(parse(line), Ok(Command::Help), "{line}");
        }
    }
}

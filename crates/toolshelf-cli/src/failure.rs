//! How a command ends that does not end well.

use std::io;
use std::process::ExitCode;

use toolshelf_core::{Error, ErrorKind};

use crate::output::Output;
use crate::signals::Signal;

/// Why a command failed, which is also its exit code.
#[derive(Debug)]
pub(crate) enum Failure {
    /// 1: a tool or a server failed. The text is empty where all was said already.
    Server(String),
    /// 2: the command line or the configuration is wrong.
    Usage(String),
    /// 128 + number: a signal ended it.
    Signal(Signal),
    /// 0: whoever reads the output has seen enough.
    OutputClosed,
}

impl Failure {
    pub(crate) fn server(text: impl Into<String>) -> Self {
        Self::Server(text.into())
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::Usage(text.into())
    }

    /// A tool or server failed, and the output has said how.
    pub(crate) fn said() -> Self {
        Self::Server(String::new())
    }

    /// An error of a server or of its configuration.
    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::InvalidConfig => Self::Usage(error.to_string()),
            _ => Self::Server(error.to_string()),
        }
    }

    /// An error of what was asked for.
    pub(crate) fn asked(error: &Error) -> Self {
        Self::Usage(error.to_string())
    }

    /// Says what went wrong, and returns the exit code.
    pub(crate) fn report(self, output: &Output) -> ExitCode {
        let (code, text) = match self {
            Self::Server(text) => (1, text),
            Self::Usage(text) => (2, text),
            Self::Signal(signal) => (signal.exit_code(), String::new()),
            Self::OutputClosed => (0, String::new()),
        };
        if !text.is_empty() {
            output.complain(&text, code);
        }
        ExitCode::from(code)
    }
}

impl From<io::Error> for Failure {
    fn from(cause: io::Error) -> Self {
        match cause.kind() {
            io::ErrorKind::BrokenPipe => Self::OutputClosed,
            _ => Self::Server(format!("cannot write: {cause}")),
        }
    }
}

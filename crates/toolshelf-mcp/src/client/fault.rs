//! Errors for two readers: all that is known for the operator, and for the model a
//! text that names the server's id and nothing else of it.

use std::time::Duration;

use toolshelf_core::text::one_line;
use toolshelf_core::{Error, ErrorKind};

use crate::message::RpcError;

/// How much of a server's own error text is shown, in bytes.
const MAX_SERVER_MESSAGE_BYTES: usize = 1_024;

/// The operation that can have an effect.
const CALL: &str = "tools/call";

/// Makes the errors of one server.
#[derive(Debug, Clone)]
pub(crate) struct Faults {
    id: String,
}

impl Faults {
    /// Errors of the server with this id.
    pub(crate) fn new(id: &str) -> Self {
        Self {
            id: one_line(id, 128),
        }
    }

    fn error(
        &self,
        kind: ErrorKind,
        operation: &'static str,
        message: impl Into<String>,
        for_model: &str,
    ) -> Error {
        Error::new(kind, message)
            .operation(operation)
            .context("server", self.id.clone())
            .for_model_text(format!("The server '{}' {for_model}", self.id))
    }

    /// The program does not exist.
    pub(crate) fn no_program(&self, message: String) -> Error {
        self.error(
            ErrorKind::NotFound,
            "start",
            message,
            "cannot be started: its program is not installed. Its operator has to install it or \
             to correct the configuration.",
        )
    }

    /// The operating system did not start the program.
    pub(crate) fn not_started(&self, kind: ErrorKind, message: String) -> Error {
        self.error(
            kind,
            "start",
            message,
            "cannot be started. Its operator has to look at the configuration.",
        )
    }

    /// It ended before it was ready.
    pub(crate) fn ended_early(&self, message: impl Into<String>) -> Error {
        self.error(
            ErrorKind::Exited,
            "connect",
            message,
            "ended while it was starting. Its operator has to look at its configuration.",
        )
    }

    /// It ends again and again, so that it is not started at present.
    pub(crate) fn keeps_ending(&self, operation: &'static str, ends: u32, rest: Duration) -> Error {
        let seconds = rest.as_secs_f64().ceil();
        self.error(
            ErrorKind::Unavailable,
            operation,
            format!("ended {ends} times in a row shortly after it was started"),
            &format!(
                "ended {ends} times in a row shortly after it was started. Try again in {seconds} s \
                 at the earliest. If it goes on like that, its operator has to look at it."
            ),
        )
        .retry_after(rest)
    }

    /// It was not ready in time.
    pub(crate) fn slow_start(&self, after: Duration) -> Error {
        self.error(
            ErrorKind::TimedOut,
            "connect",
            format!("not ready within {}", written(after)),
            "did not start in time. Try again later.",
        )
    }

    /// It ended in the middle of something.
    pub(crate) fn ended(&self, operation: &'static str) -> Error {
        let next = if operation == CALL {
            "whether the call took effect is not known. It is started again for the next call."
        } else {
            "it is started again when it is needed."
        };
        self.error(
            ErrorKind::Exited,
            operation,
            "the server ended before it answered",
            &format!("ended before it answered; {next}"),
        )
    }

    /// It takes no more messages.
    pub(crate) fn not_sent(&self, operation: &'static str, message: String) -> Error {
        self.error(
            ErrorKind::Unavailable,
            operation,
            message,
            "does not take requests at the moment. Try again later.",
        )
    }

    /// Somebody closed the connection for good.
    pub(crate) fn closed(&self, operation: &'static str) -> Error {
        self.error(
            ErrorKind::Unavailable,
            operation,
            "the connection was closed by its owner",
            "is shut down.",
        )
    }

    /// It did not answer in time.
    pub(crate) fn timed_out(&self, operation: &'static str, after: Duration) -> Error {
        let effect = if operation == CALL {
            "; whether the call took effect is not known"
        } else {
            ""
        };
        self.error(
            ErrorKind::TimedOut,
            operation,
            format!("no answer within {}", written(after)),
            &format!("did not answer in time{effect}."),
        )
    }

    /// Other calls took all the time.
    pub(crate) fn crowded(&self, operation: &'static str, limit: usize, after: Duration) -> Error {
        self.error(
            ErrorKind::TimedOut,
            operation,
            format!(
                "none of {limit} calls in flight ended within {}, and no more are allowed",
                written(after)
            ),
            "was busy with other calls all the time; this call was not made. Try again later.",
        )
    }

    /// The caller cancelled.
    pub(crate) fn cancelled(&self, operation: &'static str) -> Error {
        Error::new(ErrorKind::Cancelled, "cancelled by the caller")
            .operation(operation)
            .context("server", self.id.clone())
            .for_model_text("The call was cancelled.")
    }

    /// It did not keep to the protocol.
    pub(crate) fn protocol(&self, operation: &'static str, message: impl Into<String>) -> Error {
        self.error(
            ErrorKind::Protocol,
            operation,
            message,
            "sent an answer that does not follow the protocol. Another try will hardly help.",
        )
    }

    /// It sent more than is accepted.
    pub(crate) fn too_large(&self, operation: &'static str, bytes: usize) -> Error {
        self.error(
            ErrorKind::TooLarge,
            operation,
            format!("the answer has at least {bytes} bytes, more than is accepted"),
            "sent an answer that is too large to be read. Ask for less at a time.",
        )
    }

    /// It answered with an error of its own.
    pub(crate) fn server(&self, operation: &'static str, error: &RpcError) -> Error {
        let message = one_line(&error.message, MAX_SERVER_MESSAGE_BYTES);
        self.error(
            ErrorKind::Server,
            operation,
            message.clone(),
            &format!("answered with an error: {message}"),
        )
        .context("code", error.code.to_string())
    }
}

/// A duration as people write it.
fn written(time: Duration) -> String {
    if time.as_millis() < 1_000 {
        format!("{} ms", time.as_millis())
    } else {
        format!("{} s", (time.as_secs_f64() * 10.0).round() / 10.0)
    }
}

//! One error for two readers: the operator gets kind, operation, context and
//! cause; the model gets a separate, safe, bounded text that says how to go on.

use std::fmt;
use std::time::Duration;

use crate::text::bounded_text;

/// The longest text for a model that an error carries, in bytes.
pub const MAX_MODEL_TEXT_BYTES: usize = 2_048;

/// What kind of thing went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A group, tool or name is defined in a way that cannot work.
    InvalidDefinition,
    /// Options of a plugin, or a configuration file, are not valid.
    InvalidConfig,
    /// Something that was asked for does not exist.
    NotFound,
    /// A name stands for more than one tool.
    Ambiguous,
    /// The arguments of a call do not fit the tool's schema.
    InvalidArguments,
    /// A policy said no.
    Denied,
    /// A server wants its user to sign in first.
    NeedsSignIn,
    /// A server could not be started or reached.
    Unavailable,
    /// A server ended while it was needed.
    Exited,
    /// A deadline passed.
    TimedOut,
    /// The caller cancelled.
    Cancelled,
    /// A peer sent what the protocol does not allow.
    Protocol,
    /// A server answered with an error of its own.
    Server,
    /// A record was written by another strategy or a newer version.
    Mismatch,
    /// Somebody else wrote first.
    Conflict,
    /// The definition that something was done under is not the current one any more.
    Changed,
    /// Something is larger than its bound.
    TooLarge,
    /// A fault of this library or of a plugin.
    Internal,
}

impl ErrorKind {
    /// A word for the kind, the same in logs, in JSON and in texts.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InvalidDefinition => "invalid definition",
            Self::InvalidConfig => "invalid configuration",
            Self::NotFound => "not found",
            Self::Ambiguous => "ambiguous",
            Self::InvalidArguments => "invalid arguments",
            Self::Denied => "denied",
            Self::NeedsSignIn => "needs sign-in",
            Self::Unavailable => "unavailable",
            Self::Exited => "exited",
            Self::TimedOut => "timed out",
            Self::Cancelled => "cancelled",
            Self::Protocol => "protocol error",
            Self::Server => "server error",
            Self::Mismatch => "mismatch",
            Self::Conflict => "conflict",
            Self::Changed => "changed",
            Self::TooLarge => "too large",
            Self::Internal => "internal error",
        }
    }

    /// Whether the same request may succeed later without anybody mending anything.
    pub fn is_retryable(self) -> bool {
        matches!(
            self,
            Self::Unavailable | Self::Exited | Self::TimedOut | Self::Conflict
        )
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

struct Inner {
    kind: ErrorKind,
    message: String,
    operation: Option<&'static str>,
    context: Vec<(&'static str, String)>,
    for_model: Option<String>,
    retry_after: Option<Duration>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// An error with what the operator needs, and apart from it a text for the model.
///
/// [`fmt::Display`] is for the operator: message, operation, context. It may hold
/// paths, commands and what a server wrote to its standard error.
/// [`Error::for_model`] is safe to show to a model and never holds any of these.
///
/// ```
/// use toolshelf_core::{Error, ErrorKind};
/// let error = Error::new(ErrorKind::TimedOut, "no answer within 30 s")
///     .operation("tools/list")
///     .context("server", "github")
///     .for_model_text("The server 'github' did not answer in time. Try again later.");
/// assert_eq!(
///     error.to_string(),
///     "tools/list: no answer within 30 s (server: github)"
/// );
/// assert!(error.kind().is_retryable());
/// ```
pub struct Error(Box<Inner>);

impl Error {
    /// An error of a kind, with a message for the operator.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            message: message.into(),
            operation: None,
            context: Vec::new(),
            for_model: None,
            retry_after: None,
            source: None,
        }))
    }

    /// Names what was being done.
    #[must_use]
    pub fn operation(mut self, operation: &'static str) -> Self {
        self.0.operation = Some(operation);
        self
    }

    /// Adds a fact for the operator.
    #[must_use]
    pub fn context(mut self, key: &'static str, value: impl Into<String>) -> Self {
        self.0.context.push((key, value.into()));
        self
    }

    /// Keeps the cause.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Sets the text for the model; it is cut at [`MAX_MODEL_TEXT_BYTES`].
    #[must_use]
    pub fn for_model_text(mut self, text: impl Into<String>) -> Self {
        self.0.for_model = Some(bounded_text(&text.into(), MAX_MODEL_TEXT_BYTES));
        self
    }

    /// Says when to try again at the earliest.
    #[must_use]
    pub fn retry_after(mut self, wait: Duration) -> Self {
        self.0.retry_after = Some(wait);
        self
    }

    /// The kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The message without operation and context.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The facts for the operator.
    pub fn contexts(&self) -> &[(&'static str, String)] {
        &self.0.context
    }

    /// The text for the operator without facts that stand beside it already.
    ///
    /// ```
    /// use toolshelf_core::{Error, ErrorKind};
    /// let error = Error::new(ErrorKind::Exited, "it ended")
    ///     .context("server", "github")
    ///     .context("exit", "1");
    /// assert_eq!(error.without(&["server"]).to_string(), "it ended (exit: 1)");
    /// ```
    pub fn without<'a>(&'a self, keys: &'a [&'a str]) -> impl fmt::Display + 'a {
        Without {
            error: &self.0,
            keys,
        }
    }

    /// The earliest time for another try, when somebody set one.
    pub fn retry_delay(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The text for the model. Where none was set, the kind alone, so that no detail
    /// reaches a model that nobody meant for it.
    pub fn for_model(&self) -> &str {
        match &self.0.for_model {
            Some(text) => text,
            None => self.0.kind.as_str(),
        }
    }

    /// A copy without the cause, which cannot be cloned: its text joins the context.
    #[must_use]
    pub fn duplicate(&self) -> Self {
        let mut context = self.0.context.clone();
        if let Some(source) = &self.0.source {
            context.push(("cause", source.to_string()));
        }
        Self(Box::new(Inner {
            kind: self.0.kind,
            message: self.0.message.clone(),
            operation: self.0.operation,
            context,
            for_model: self.0.for_model.clone(),
            retry_after: self.0.retry_after,
            source: None,
        }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = &self.0;
        Without { error, keys: &[] }.fmt(f)
    }
}

/// See [`Error::without`].
struct Without<'a> {
    error: &'a Inner,
    keys: &'a [&'a str],
}

impl fmt::Display for Without<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(operation) = self.error.operation {
            write!(f, "{operation}: ")?;
        }
        f.write_str(&self.error.message)?;
        let mut separator = " (";
        let told = |(key, _): &&(&str, String)| !self.keys.contains(key);
        for (key, value) in self.error.context.iter().filter(told) {
            write!(f, "{separator}{key}: {value}")?;
            separator = ", ";
        }
        if separator == ", " {
            f.write_str(")")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Error({}: {self}", self.0.kind)?;
        if let Some(source) = &self.0.source {
            write!(f, "; caused by {source}")?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn std::error::Error + 'static))
    }
}

//! Why a probe could not be made.

use std::io;

/// Why a probe could not be made. What a gateway does wrong is no error but a finding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for is wrong: a name, a file, a command that does not exist.
    #[error("{0}")]
    Usage(String),
    /// Not even a call without any fault came through, so that nothing else can be said.
    #[error("{0}")]
    Unusable(String),
    /// The machine does not do what it should.
    #[error("{0}: {1}")]
    Io(&'static str, #[source] io::Error),
}

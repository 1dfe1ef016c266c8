//! Signals that end a command.

use std::io;

use crate::failure::Failure;

/// A signal that asks to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Signal {
    /// Control-C.
    Interrupt,
    /// What `kill` and service managers send.
    Terminate,
}

impl Signal {
    /// The exit code of a command that it ended, as shells have it.
    pub(crate) fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Waits for signals; from its making on they do not end the process by themselves.
pub(crate) struct Signals {
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
}

impl Signals {
    /// Begins to wait.
    #[cfg(unix)]
    pub(crate) fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// Begins to wait.
    #[cfg(not(unix))]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// The next signal.
    #[cfg(unix)]
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Interrupt,
            _ = self.terminate.recv() => Signal::Terminate,
        }
    }

    /// The next signal.
    #[cfg(not(unix))]
    pub(crate) async fn next(&mut self) -> Signal {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
        Signal::Interrupt
    }
}

/// Runs a command's work, then what has to be tidied up after it. The first signal ends
/// the work, a second one the tidying.
pub(crate) async fn guarded<T>(
    work: impl Future<Output = Result<T, Failure>>,
    tidy: impl Future<Output = ()>,
) -> Result<T, Failure> {
    let mut signals = Signals::new()?;
    let result = tokio::select! {
        result = work => result,
        signal = signals.next() => Err(Failure::Signal(signal)),
    };
    tokio::select! {
        () = tidy => {}
        _ = signals.next() => {}
    }
    result
}

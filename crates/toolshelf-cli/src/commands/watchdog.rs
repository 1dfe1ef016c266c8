//! `watchdog`: ends the servers of a gateway that was killed.

use std::process::ExitCode;
use std::time::Duration;

/// How long a server has to end by itself before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// Reads from the gateway which servers run, until it is gone.
pub(crate) fn run() -> ExitCode {
    match toolshelf_mcp::watch_over(std::io::stdin().lock(), GRACE) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

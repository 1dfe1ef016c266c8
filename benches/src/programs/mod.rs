//! What the gateway is measured with and against: processes of this same program.

use std::io::Read as _;

pub(crate) mod echo_server;
pub(crate) mod rmcp_proxy;

/// The command that is the echo server.
pub(crate) const ECHO_SERVER: &str = "echo-server";

/// The command that is the server which never answers.
pub(crate) const SILENT_SERVER: &str = "silent-server";

/// The command that is the proxy.
pub(crate) const RMCP_PROXY: &str = "rmcp-proxy";

/// A server that never answers, and ends with its input.
///
/// # Errors
///
/// When its input breaks.
pub(crate) fn silent_server() -> anyhow::Result<()> {
    let mut ignored = [0; 4096];
    while std::io::stdin().read(&mut ignored)? > 0 {}
    Ok(())
}

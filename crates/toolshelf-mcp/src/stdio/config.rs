//! What is known of a server that is a child process.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::client::{ClientOptions, Lifecycle, optional_seconds, seconds};

/// A server that is a child process, and how it is treated. The options of the plugin
/// `stdio`; times are seconds there, fractions allowed.
///
/// ```
/// use toolshelf_mcp::StdioConfig;
/// let config: StdioConfig = serde_json::from_value(serde_json::json!({
///     "id": "files",
///     "command": "mcp-server-filesystem",
///     "args": ["."],
///     "call_timeout": 30
/// }))?;
/// assert_eq!(config.call_timeout.as_secs(), 30);
/// assert_eq!(config.connect_timeout.as_secs(), 60);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct StdioConfig {
    /// The server's id: how texts for the model and errors call it.
    pub id: String,
    /// The program: a path, or a name that is looked up in `PATH`.
    pub command: String,
    /// Its arguments.
    #[serde(default)]
    pub args: Vec<String>,
    /// Environment variables for it, beside the few harmless ones that it inherits.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Names of further variables that it inherits, such as `HTTPS_PROXY`.
    #[serde(default)]
    pub inherit_env: Vec<String>,
    /// The folder that it runs in; by default that of this process.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
    /// How the connection begins.
    #[serde(default)]
    pub lifecycle: Lifecycle,
    /// The longest time of spawn, handshake and list together. Default: 60.
    ///
    /// A server that is not known yet and says nothing for half of this time is started
    /// once more, with `initialize` as the first message: some do not survive another.
    #[serde(default = "connect_timeout", with = "seconds")]
    #[schemars(with = "f64")]
    pub connect_timeout: Duration,
    /// How long the answer to `server/discover` is waited for before `initialize` is
    /// sent too. No limit of the start. Default: 3.
    #[serde(default = "probe_timeout", with = "seconds")]
    #[schemars(with = "f64")]
    pub probe_timeout: Duration,
    /// The longest time of a call without an answer or a sign of progress. Default: 300.
    #[serde(default = "call_timeout", with = "seconds")]
    #[schemars(with = "f64")]
    pub call_timeout: Duration,
    /// The longest time of a call, progress or not. Default: 3600.
    #[serde(default = "max_call_time", with = "seconds")]
    #[schemars(with = "f64")]
    pub max_call_time: Duration,
    /// How long the process may take to end by itself after its input was closed, and
    /// again after it was asked by a signal, before it is killed. Default: 2.
    #[serde(default = "close_grace", with = "seconds")]
    #[schemars(with = "f64")]
    pub close_grace: Duration,
    /// How long nobody may use the process before it is ended; the next use starts it
    /// again. Calls, lists and questions in flight are uses. Default: it stays.
    #[serde(default, with = "optional_seconds")]
    #[schemars(with = "Option<f64>")]
    pub idle_timeout: Option<Duration>,
    /// How many calls may be in flight at once; further ones wait for their turn.
    /// Default: any number.
    #[serde(default, deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub max_concurrent_calls: Option<usize>,
    /// The longest message that is read, in bytes. Default: 64 MiB.
    #[serde(default = "max_message_bytes")]
    pub max_message_bytes: usize,
    /// Whether the server is told that its user can be asked (elicitation). Default:
    /// false.
    #[serde(default)]
    pub elicitation: bool,
}

fn defaults() -> ClientOptions {
    ClientOptions::new("")
}

fn connect_timeout() -> Duration {
    defaults().connect_timeout
}

fn probe_timeout() -> Duration {
    defaults().probe_timeout
}

fn call_timeout() -> Duration {
    defaults().call_timeout
}

fn max_call_time() -> Duration {
    defaults().max_call_time
}

fn close_grace() -> Duration {
    Duration::from_secs(2)
}

fn max_message_bytes() -> usize {
    defaults().max_message_bytes
}

fn at_least_one<'de, D: Deserializer<'de>>(source: D) -> Result<Option<usize>, D::Error> {
    let limit = Option::<NonZeroUsize>::deserialize(source)?;
    Ok(limit.map(NonZeroUsize::get))
}

impl StdioConfig {
    /// The defaults for a program.
    pub fn new(id: impl Into<String>, command: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            command: command.into(),
            args: Vec::new(),
            env: BTreeMap::new(),
            inherit_env: Vec::new(),
            cwd: None,
            lifecycle: Lifecycle::Auto,
            connect_timeout: connect_timeout(),
            probe_timeout: probe_timeout(),
            call_timeout: call_timeout(),
            max_call_time: max_call_time(),
            close_grace: close_grace(),
            idle_timeout: None,
            max_concurrent_calls: None,
            max_message_bytes: max_message_bytes(),
            elicitation: false,
        }
    }

    /// Adds arguments behind those that there are, as `std::process::Command` does.
    ///
    /// ```
    /// use toolshelf_mcp::StdioConfig;
    /// let config = StdioConfig::new("time", "uvx").args(["mcp-server-time"]).args(["--utc"]);
    /// assert_eq!(config.args, ["mcp-server-time", "--utc"]);
    /// ```
    #[must_use]
    pub fn args<S: Into<String>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env.insert(name.into(), value.into());
        self
    }

    /// The part that concerns the connection.
    pub(crate) fn client(&self) -> ClientOptions {
        let mut options = ClientOptions::new(self.id.clone());
        options.lifecycle = self.lifecycle;
        options.connect_timeout = self.connect_timeout;
        options.probe_timeout = self.probe_timeout;
        options.call_timeout = self.call_timeout;
        options.max_call_time = self.max_call_time;
        options.max_message_bytes = self.max_message_bytes;
        options.elicitation = self.elicitation;
        options
    }
}

/// Without the values of variables and arguments, which may be secrets.
impl fmt::Debug for StdioConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioConfig")
            .field("id", &self.id)
            .field("command", &self.command)
            .field("args", &self.args.len())
            .field("env", &self.env.keys().collect::<Vec<_>>())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}

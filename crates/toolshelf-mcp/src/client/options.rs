//! How a client behaves towards one server.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a connection begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Lifecycle {
    /// `server/discover` first (2026-07-28), `initialize` where that leads nowhere.
    #[default]
    Auto,
    /// `initialize` only, for servers that do not survive another first message.
    Initialize,
}

/// How a client behaves towards one server.
///
/// ```
/// use toolshelf_mcp::ClientOptions;
/// let mut options = ClientOptions::new("github");
/// options.call_timeout = std::time::Duration::from_secs(30);
/// assert_eq!(options.connect_timeout.as_secs(), 60);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The server's id: how texts for the model and errors call it.
    pub id: String,
    /// How the connection begins.
    pub lifecycle: Lifecycle,
    /// The longest time from the start until the tools are listed. Default: 60 s.
    pub connect_timeout: Duration,
    /// How long the answer to `server/discover` is waited for before `initialize` is
    /// sent on the same connection. Not a limit of the start: the answer may still
    /// come later. Default: 3 s.
    pub probe_timeout: Duration,
    /// The longest time of a call without an answer or a sign of progress. A question
    /// to the user suspends it. Default: 300 s.
    pub call_timeout: Duration,
    /// The longest time of a call, progress or not. Default: 3,600 s.
    pub max_call_time: Duration,
    /// The longest message that is read, in bytes. Default: 64 MiB.
    pub max_message_bytes: usize,
    /// Whether the server is told that its user can be asked (elicitation). Set it
    /// only where calls carry an `Elicitor`. Default: false.
    pub elicitation: bool,
}

impl ClientOptions {
    /// The defaults for a server of this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            lifecycle: Lifecycle::Auto,
            connect_timeout: Duration::from_secs(60),
            probe_timeout: Duration::from_secs(3),
            call_timeout: Duration::from_secs(300),
            max_call_time: Duration::from_secs(3_600),
            max_message_bytes: 64 * 1024 * 1024,
            elicitation: false,
        }
    }
}

/// Durations in a configuration: seconds, fractions allowed.
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// The longest duration that is accepted: a week.
    const MAX: f64 = 604_800.0;

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(source: D) -> Result<Duration, D::Error> {
        let seconds = f64::deserialize(source)?;
        if !(seconds > 0.0 && seconds <= MAX) {
            return Err(D::Error::custom(format!(
                "a time must be more than 0 and at most {MAX} seconds"
            )));
        }
        Ok(Duration::from_secs_f64(seconds))
    }

    pub(crate) fn serialize<S: Serializer>(time: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(time.as_secs_f64())
    }
}

/// As [`seconds`], where `null` or nothing is no duration.
pub(crate) mod optional_seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    struct Seconds(#[serde(with = "super::seconds")] Duration);

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        source: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<Seconds>::deserialize(source)?.map(|Seconds(time)| time))
    }

    pub(crate) fn serialize<S: Serializer>(
        time: &Option<Duration>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        time.map(Seconds).serialize(to)
    }
}

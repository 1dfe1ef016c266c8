//! How a connection begins, whatever revision the server speaks.
//!
//! The policy is that of the reference client: `server/discover` first; a result that
//! lists a revision without handshake decides for it; -32022 that lists one leads to
//! one more try; anything else, silence included, leads to `initialize`. If that is
//! answered with -32022, the server is asked once more. rmcp's own `Auto` mode is not
//! used: it fails on servers that answer the probe late, with an unexpected result,
//! or not at all.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::time::Instant;
use toolshelf_core::ServerInfo;

use super::options::{ClientOptions, Lifecycle};
use super::wire::{Incoming, Wire};
use crate::message::{self, Id, Message, RpcError};
use crate::protocol::{
    HANDSHAKE, META_CAPABILITIES, META_CLIENT, META_SERVER, META_VERSION, METHOD_NOT_FOUND, MODERN,
    OFFERED, UNSUPPORTED_VERSION,
};

/// The id of the handshake: a number, since some old servers know no others, and
/// beyond those that rmcp counts up from 0.
const HANDSHAKE_ID: i64 = 2_000_000_000;

/// How many times as long as a probe its late answer is waited for where the handshake was
/// refused.
const LATE_PROBES: u32 = 3;

/// What was agreed upon.
#[derive(Debug)]
pub(crate) struct Agreed {
    /// The revision.
    pub(crate) version: String,
    /// Whether it has no handshake.
    pub(crate) modern: bool,
    /// What the server says of itself.
    pub(crate) server: ServerInfo,
    /// Whether the server says that it has tools.
    pub(crate) has_tools: bool,
    /// Whether the server says that it tells when they change.
    pub(crate) tools_change: bool,
}

/// Why nothing was agreed upon.
#[derive(Debug)]
pub(crate) enum Disagreed {
    /// The stream ended.
    Ended,
    /// The time was over.
    TimedOut,
    /// The time was over, and the probe was not answered either: it may be the reason.
    Wedged,
    /// The server refused.
    Refused(RpcError),
    /// The server speaks other revisions only.
    NoCommonVersion(Vec<String>),
    /// The server answered with something else.
    Protocol(String),
    /// The server takes no messages.
    NotSent(String),
}

/// The client in the words of the protocol.
pub(crate) fn client_info() -> Value {
    json!({ "name": "toolshelf", "version": env!("CARGO_PKG_VERSION") })
}

/// What the client can do.
pub(crate) fn capabilities(options: &ClientOptions) -> Value {
    if options.elicitation {
        json!({ "elicitation": { "form": {}, "url": {} } })
    } else {
        json!({})
    }
}

/// When to give up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Deadlines {
    /// At the latest.
    pub(crate) last: Instant,
    /// Where the server has answered nothing at all, the probe included.
    pub(crate) silent: Instant,
}

/// Begins a connection.
pub(crate) async fn negotiate(
    wire: &mut Wire,
    options: &ClientOptions,
    lifecycle: Lifecycle,
    deadlines: Deadlines,
) -> Result<Agreed, Disagreed> {
    let mut negotiation = Negotiation {
        wire,
        options,
        deadlines,
        probes: 0,
    };
    let mut late = None;
    if lifecycle == Lifecycle::Auto {
        match negotiation.probe(MODERN[0]).await? {
            Probe::Modern(agreed) => return Ok(agreed),
            Probe::Legacy => {}
            Probe::Silent(id) => late = Some(id),
        }
    }
    let refused = match negotiation.initialize(late).await? {
        Initialized::Agreed(agreed) => return Ok(agreed),
        Initialized::Refused {
            late: Some(agreed), ..
        } => return Ok(agreed),
        Initialized::Refused { error, late: None } => error,
    };
    // Asked at once where it was known as a server with handshake: it may have changed.
    let unasked = lifecycle == Lifecycle::Initialize && options.lifecycle == Lifecycle::Auto;
    if (unasked || refused.code == UNSUPPORTED_VERSION)
        && let Probe::Modern(agreed) = negotiation.probe(MODERN[0]).await?
    {
        return Ok(agreed);
    }
    Err(Disagreed::Refused(refused))
}

enum Probe {
    Modern(Agreed),
    Legacy,
    /// Nothing came so far on the probe with this id.
    Silent(Id),
}

enum Initialized {
    Agreed(Agreed),
    Refused {
        error: RpcError,
        /// What a late answer to the probe said meanwhile.
        late: Option<Agreed>,
    },
}

struct Negotiation<'a> {
    wire: &'a mut Wire,
    options: &'a ClientOptions,
    deadlines: Deadlines,
    probes: u32,
}

impl Negotiation<'_> {
    async fn probe(&mut self, version: &str) -> Result<Probe, Disagreed> {
        let mut version = version.to_owned();
        for last in [false, true] {
            self.probes += 1;
            let id = Id::Text(format!("toolshelf-probe-{}", self.probes));
            let params = json!({ "_meta": {
                (META_VERSION): version,
                (META_CLIENT): client_info(),
                (META_CAPABILITIES): capabilities(self.options),
            }});
            self.send(message::request(
                &id,
                "server/discover",
                &params.to_string(),
            ))?;
            let patience = Instant::now() + self.options.probe_timeout;
            let answer = match self
                .answer(&id, None, patience.min(self.deadlines.silent))
                .await
            {
                Ok(answer) => answer,
                Err(Disagreed::TimedOut) => return Ok(Probe::Silent(id)),
                Err(fault) => return Err(fault),
            };
            let error = match answer.result {
                Ok(result) => {
                    return Ok(read_discover(&result).map_or(Probe::Legacy, Probe::Modern));
                }
                Err(error) => error,
            };
            if error.code != UNSUPPORTED_VERSION {
                return Ok(Probe::Legacy);
            }
            let supported = supported_versions(&error);
            match common(&supported) {
                Some(common) if !last => version = common.to_owned(),
                Some(_) => return Ok(Probe::Legacy),
                // Only later revisions than ours: `initialize` would not help.
                None if !supported.is_empty() && supported.iter().all(|v| is_later(v)) => {
                    return Err(Disagreed::NoCommonVersion(supported));
                }
                None => return Ok(Probe::Legacy),
            }
        }
        Ok(Probe::Legacy)
    }

    async fn initialize(&mut self, probe: Option<Id>) -> Result<Initialized, Disagreed> {
        let id = Id::Number(HANDSHAKE_ID);
        let params = json!({
            "protocolVersion": OFFERED,
            "capabilities": capabilities(self.options),
            "clientInfo": client_info(),
        });
        self.send(message::request(&id, "initialize", &params.to_string()))?;
        let answer = match &probe {
            None => self.answer(&id, None, self.deadlines.last).await?,
            Some(_) => self
                .answer(&id, probe.as_ref(), self.deadlines.silent)
                .await
                .map_err(|why| match why {
                    Disagreed::TimedOut => Disagreed::Wedged,
                    why => why,
                })?,
        };
        let result = match answer.result {
            Ok(result) => result,
            Err(error) => {
                let late = match (answer.late, &probe) {
                    (None, Some(probe)) => self.late_answer(probe).await,
                    (late, _) => late,
                };
                let late = late.as_deref().and_then(read_discover);
                return Ok(Initialized::Refused { error, late });
            }
        };
        let agreed = read_initialize(&result)?;
        self.send(message::notification("notifications/initialized", None))?;
        Ok(Initialized::Agreed(agreed))
    }

    /// The result of a probe that was not answered in its time. A server that refuses the
    /// handshake may speak a later revision, and be slow to say so.
    async fn late_answer(&mut self, probe: &Id) -> Option<String> {
        let patience = Instant::now() + self.options.probe_timeout * LATE_PROBES;
        let patience = patience.min(self.deadlines.silent);
        // Without an answer the refusal is what there is to tell.
        let answer = self.answer(probe, None, patience).await.ok()?;
        answer.result.ok()
    }

    fn send(&self, text: String) -> Result<(), Disagreed> {
        match self.wire.push(text) {
            // Whether it arrived shows in the answer.
            Ok(_) => Ok(()),
            // A server that is gone closes both its streams; the other one tells more.
            Err(fault) if fault.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(fault) => Err(Disagreed::NotSent(fault.to_string())),
        }
    }

    /// Waits for the answer to a request. Nothing else that a server may send before
    /// it matters here, but it is answered as the protocol wants it.
    async fn answer(
        &mut self,
        expected: &Id,
        also: Option<&Id>,
        deadline: Instant,
    ) -> Result<Answer, Disagreed> {
        let mut late = None;
        loop {
            let next = tokio::time::timeout_at(deadline, self.wire.next()).await;
            let incoming = next
                .map_err(|_| Disagreed::TimedOut)?
                .ok_or(Disagreed::Ended)?;
            let message = match incoming {
                Incoming::Message(message) => message,
                Incoming::TooLong { bytes, .. } => {
                    return Err(Disagreed::Protocol(format!(
                        "a message of {bytes} bytes before the connection was made"
                    )));
                }
            };
            match message {
                Message::Response { id, result } if same(expected, &id) => {
                    return Ok(Answer {
                        result: Ok(result),
                        late,
                    });
                }
                Message::Response { id, result } if Some(&id) == also => late = Some(result),
                Message::Error { id, error } => match id {
                    // The answer of a server that does not read ids, or could not.
                    None if also.is_none() => {
                        return Ok(Answer {
                            result: Err(error),
                            late,
                        });
                    }
                    Some(id) if same(expected, &id) => {
                        return Ok(Answer {
                            result: Err(error),
                            late,
                        });
                    }
                    _ => {}
                },
                Message::Malformed {
                    id: Some(id),
                    fault,
                } if same(expected, &id) => {
                    return Err(Disagreed::Protocol(fault.to_owned()));
                }
                Message::Request { id, method, .. } if method == "ping" => {
                    self.send(message::response(&id, "{}"))?;
                }
                Message::Request { id, method, .. } => {
                    let error = RpcError {
                        code: METHOD_NOT_FOUND,
                        message: format!("{method} is not possible before the handshake"),
                        data: None,
                    };
                    self.send(message::error(Some(&id), &error))?;
                }
                _ => {}
            }
        }
    }
}

struct Answer {
    result: Result<String, RpcError>,
    /// The result of an earlier request that came while this one was waited for.
    late: Option<String>,
}

/// Whether an answer's id is that of a request; some servers make text of numbers.
pub(crate) fn same(expected: &Id, got: &Id) -> bool {
    expected == got
        || matches!((expected, got), (Id::Number(number), Id::Text(text)) if *text == number.to_string())
}

/// The first revision without handshake that both sides speak.
fn common(supported: &[String]) -> Option<&'static str> {
    MODERN
        .iter()
        .find(|version| supported.iter().any(|other| other == *version))
        .copied()
}

/// Revisions are dates, so that their order is that of their texts.
fn is_later(version: &str) -> bool {
    version > HANDSHAKE[0]
}

fn supported_versions(error: &RpcError) -> Vec<String> {
    #[derive(Deserialize)]
    struct Data {
        supported: Vec<String>,
    }
    let data = error.data.as_deref().unwrap_or("null");
    serde_json::from_str::<Data>(data).map_or_else(|_| Vec::new(), |data| data.supported)
}

/// Reads the result of `server/discover`; `None` when it is not one, or lists no
/// revision without handshake.
fn read_discover(result: &str) -> Option<Agreed> {
    #[derive(Deserialize)]
    struct Read<'a> {
        #[serde(rename = "supportedVersions")]
        supported: Vec<String>,
        #[serde(borrow)]
        capabilities: Option<&'a RawValue>,
        instructions: Option<Value>,
        #[serde(rename = "_meta")]
        meta: Option<Map<String, Value>>,
        #[serde(rename = "serverInfo")]
        info: Option<Value>,
    }
    let read: Read<'_> = serde_json::from_str(result).ok()?;
    let version = common(&read.supported)?;
    let info = read
        .meta
        .and_then(|mut meta| meta.remove(META_SERVER))
        .or(read.info);
    Some(Agreed {
        version: version.to_owned(),
        modern: true,
        server: server_info(info, read.instructions, version),
        has_tools: tools(read.capabilities).is_some(),
        tools_change: tools_change(read.capabilities),
    })
}

fn read_initialize(result: &str) -> Result<Agreed, Disagreed> {
    #[derive(Deserialize)]
    struct Read<'a> {
        #[serde(rename = "protocolVersion")]
        version: String,
        #[serde(borrow)]
        capabilities: Option<&'a RawValue>,
        instructions: Option<Value>,
        #[serde(rename = "serverInfo")]
        info: Option<Value>,
    }
    let read: Read<'_> = serde_json::from_str(result)
        .map_err(|fault| Disagreed::Protocol(format!("the result of initialize: {fault}")))?;
    if !HANDSHAKE.contains(&read.version.as_str()) {
        return Err(Disagreed::NoCommonVersion(vec![read.version]));
    }
    Ok(Agreed {
        modern: false,
        server: server_info(read.info, read.instructions, &read.version),
        has_tools: tools(read.capabilities).is_some(),
        tools_change: tools_change(read.capabilities),
        version: read.version,
    })
}

/// What the server says of its tools; nothing when it has none.
fn tools(capabilities: Option<&RawValue>) -> Option<Value> {
    let capabilities = serde_json::from_str::<Map<String, Value>>(capabilities?.get());
    capabilities.ok()?.remove("tools")
}

fn tools_change(capabilities: Option<&RawValue>) -> bool {
    tools(capabilities).is_some_and(|tools| tools.get("listChanged") == Some(&Value::Bool(true)))
}

fn server_info(info: Option<Value>, instructions: Option<Value>, version: &str) -> ServerInfo {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_owned);
    let field = |name: &str| text(info.as_ref().and_then(|info| info.get(name)));
    ServerInfo {
        name: field("name"),
        title: field("title"),
        version: field("version"),
        website: field("websiteUrl"),
        instructions: text(instructions.as_ref()),
        protocol: Some(version.to_owned()),
    }
}

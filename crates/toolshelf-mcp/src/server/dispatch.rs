//! What a request means: its session, its parameters, its answer.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use toolshelf_core::{CallContext, Cancellation, JsonText};

use super::progress::Reporter;
use super::question::{Questions, SessionElicitor};
use super::session::{Client, Elicitation, Era, Outbox, Session};
use super::subscription::Wanted;
use super::{IncomingCall, McpServer, answer};
use crate::message::{Id, RpcError};
use crate::protocol::{
    HANDSHAKE, INTERNAL_ERROR, INVALID_PARAMS, INVALID_REQUEST, META_CAPABILITIES, META_CLIENT,
    META_PREFIX, META_PROGRESS, META_TRACEPARENT, META_TRACESTATE, META_VERSION, METHOD_NOT_FOUND,
    MODERN, OFFERED,
};

/// The parameters of a request, opened one level deep.
pub(crate) struct Params<'a> {
    fields: BTreeMap<Cow<'a, str>, &'a RawValue>,
    meta: BTreeMap<String, &'a RawValue>,
}

impl<'a> Params<'a> {
    /// Reads parameters.
    pub(crate) fn read(params: Option<&'a str>) -> Result<Self, RpcError> {
        let wrong = |what| RpcError::new(INVALID_PARAMS, what);
        let mut fields: BTreeMap<Cow<'a, str>, &'a RawValue> = match params {
            None | Some("null") => BTreeMap::new(),
            Some(text) => {
                serde_json::from_str(text).map_err(|_| wrong("params is not an object"))?
            }
        };
        let meta = match fields.remove("_meta").filter(|meta| meta.get() != "null") {
            None => BTreeMap::new(),
            Some(raw) => {
                serde_json::from_str(raw.get()).map_err(|_| wrong("_meta is not an object"))?
            }
        };
        Ok(Self { fields, meta })
    }

    fn text(&self, field: &str) -> Option<String> {
        serde_json::from_str(self.fields.get(field)?.get()).ok()
    }

    fn value(raw: &RawValue) -> Value {
        serde_json::from_str(raw.get()).unwrap_or(Value::Null)
    }
}

fn client(info: Option<&RawValue>, capabilities: Option<&RawValue>) -> Client {
    let info = info.map_or(Value::Null, Params::value);
    let text = |field: &str| info.get(field).and_then(Value::as_str).map(str::to_owned);
    let capabilities = capabilities.map_or(Value::Null, Params::value);
    let elicitation = match capabilities.get("elicitation") {
        Some(Value::Object(modes)) => Elicitation {
            // Before 2025-11-25 there were forms only, and no word for them.
            form: modes.is_empty() || modes.contains_key("form"),
            url: modes.contains_key("url"),
        },
        _ => Elicitation::default(),
    };
    Client {
        name: text("name"),
        version: text("version"),
        elicitation,
    }
}

/// What a request comes to.
pub(crate) enum Work {
    /// The result is there.
    Done(String),
    /// The tools are asked for.
    List(Session),
    /// A tool is called.
    Call(Box<IncomingCall>, Option<Arc<Reporter>>),
    /// The client is told of changes from now on.
    Listen(Session),
}

/// Understands requests, and remembers the sessions of a connection.
pub(crate) struct Dispatcher {
    server: Arc<dyn McpServer>,
    outbox: Arc<Outbox>,
    questions: Arc<Questions>,
    handshake: Option<Session>,
    modern: Option<Session>,
}

impl Dispatcher {
    /// A connection on which nothing was said yet.
    pub(crate) fn new(
        server: Arc<dyn McpServer>,
        outbox: Arc<Outbox>,
        questions: Arc<Questions>,
    ) -> Self {
        Self {
            server,
            outbox,
            questions,
            handshake: None,
            modern: None,
        }
    }

    /// The sessions that have begun.
    pub(crate) fn sessions(&self) -> impl Iterator<Item = &Session> {
        self.handshake.iter().chain(&self.modern)
    }

    /// The client is ready for notifications.
    pub(crate) fn initialized(&self) {
        if let Some(session) = &self.handshake {
            session.set_ready();
        }
    }

    /// A request was withdrawn.
    pub(crate) fn withdrawn(&self, id: &Id) {
        if let Some(session) = &self.modern {
            session.unsubscribe(id);
        }
    }

    /// Understands a request.
    pub(crate) fn request(
        &mut self,
        id: &Id,
        method: &str,
        params: Option<&str>,
        cancellation: Cancellation,
    ) -> Result<Work, RpcError> {
        let params = Params::read(params)?;
        match method {
            "initialize" => return self.initialize(&params).map(Work::Done),
            // Allowed before the handshake.
            "ping" if !params.meta.contains_key(META_VERSION) => {
                return Ok(Work::Done("{}".to_owned()));
            }
            _ => {}
        }
        let session = self.session(&params)?;
        let era = session.era();
        match method {
            "ping" => Ok(Work::Done(answer::empty(era, &self.server.identity(era)))),
            "server/discover" if era == Era::Modern => {
                Ok(Work::Done(answer::discover(&self.server.identity(era))))
            }
            "tools/list" => match params.fields.get("cursor") {
                Some(cursor) if cursor.get() != "null" => Err(RpcError::new(
                    INVALID_PARAMS,
                    "the cursor is not known: the list has one page",
                )),
                _ => Ok(Work::List(session)),
            },
            "tools/call" => self.call(params, session, cancellation),
            "subscriptions/listen"
                if era == Era::Modern && self.server.identity(era).tools_change =>
            {
                let notifications = params.fields.get("notifications");
                let wanted = Wanted::read(notifications.map(|raw| raw.get()))?;
                session
                    .subscribe(id, wanted)
                    .map_err(|cause| RpcError::new(INTERNAL_ERROR, cause.to_string()))?;
                Ok(Work::Listen(session))
            }
            _ => Err(RpcError::new(
                METHOD_NOT_FOUND,
                "this server does not know the method",
            )),
        }
    }

    fn initialize(&mut self, params: &Params<'_>) -> Result<String, RpcError> {
        if self.handshake.is_some() {
            return Err(RpcError::new(
                INVALID_REQUEST,
                "the session was initialized already",
            ));
        }
        let Some(requested) = params.text("protocolVersion") else {
            return Err(RpcError::new(INVALID_PARAMS, "protocolVersion is missing"));
        };
        let version = HANDSHAKE
            .iter()
            .copied()
            .find(|version| *version == requested)
            .unwrap_or(OFFERED);
        let client = client(
            params.fields.get("clientInfo").copied(),
            params.fields.get("capabilities").copied(),
        );
        let session = Session::new(Era::Handshake, version, client, self.outbox.clone());
        tracing::debug!(
            session = session.id(),
            revision = version,
            "a session begins"
        );
        self.server.session_started(&session);
        self.handshake = Some(session);
        Ok(answer::initialize(
            &self.server.identity(Era::Handshake),
            version,
        ))
    }

    /// The session of a request: that of the handshake, or where the request names a
    /// revision without one, that of the connection.
    fn session(&mut self, params: &Params<'_>) -> Result<Session, RpcError> {
        let missing = |what: &str| RpcError::new(INVALID_PARAMS, what);
        let requested = match params.meta.get(META_VERSION) {
            None => {
                return self.handshake.clone().ok_or_else(|| {
                    missing(
                        "there was no `initialize`, and `_meta` does not hold \
                         `io.modelcontextprotocol/protocolVersion`",
                    )
                });
            }
            Some(raw) => serde_json::from_str::<String>(raw.get())
                .map_err(|_| missing("the protocol version is not a string"))?,
        };
        let Some(version) = MODERN.iter().find(|version| **version == requested) else {
            return match &self.handshake {
                Some(session) if session.protocol() == requested => Ok(session.clone()),
                _ => Err(answer::unsupported(&requested)),
            };
        };
        let capabilities = params.meta.get(META_CAPABILITIES).copied();
        if !capabilities.is_some_and(|raw| raw.get().starts_with('{')) {
            return Err(missing(
                "`_meta` does not hold `io.modelcontextprotocol/clientCapabilities`",
            ));
        }
        if let Some(session) = &self.modern {
            return Ok(session.clone());
        }
        let client = client(params.meta.get(META_CLIENT).copied(), capabilities);
        let session = Session::new(Era::Modern, version, client, self.outbox.clone());
        tracing::debug!(
            session = session.id(),
            revision = version,
            "a session begins"
        );
        self.server.session_started(&session);
        self.modern = Some(session.clone());
        Ok(session)
    }

    fn call(
        &self,
        params: Params<'_>,
        session: Session,
        cancellation: Cancellation,
    ) -> Result<Work, RpcError> {
        let Some(name) = params.text("name") else {
            return Err(RpcError::new(
                INVALID_PARAMS,
                "the name of the tool is missing or is not a string",
            ));
        };
        let arguments = match params.fields.get("arguments") {
            Some(raw) => Some(
                JsonText::from_raw(raw)
                    .map_err(|fault| RpcError::new(INVALID_PARAMS, fault.message()))?,
            ),
            None => None,
        };
        let mut context = CallContext::new();
        context.cancellation = cancellation;
        let mut reporter = None;
        let mut meta = Map::new();
        for (key, raw) in &params.meta {
            match key.as_str() {
                META_PROGRESS => {
                    if let Some(token) = Id::read(raw) {
                        reporter = Some(Arc::new(Reporter::new(self.outbox.clone(), token)));
                    }
                }
                META_TRACEPARENT => context.trace.traceparent = text(raw),
                META_TRACESTATE => context.trace.tracestate = text(raw),
                key if key.starts_with(META_PREFIX) => {}
                _ => {
                    meta.insert(key.clone(), Params::value(raw));
                }
            }
        }
        context.meta = meta;
        context.progress = reporter.clone().map(|reporter| reporter as _);
        let able = session.elicitation();
        if session.era() == Era::Handshake && able != Elicitation::default() {
            context.elicitor = Some(Arc::new(SessionElicitor {
                questions: self.questions.clone(),
                able,
                cancellation: context.cancellation.clone(),
            }));
        }
        for key in ["inputResponses", "requestState"] {
            if let Some(raw) = params.fields.get(key) {
                context.resume.insert(key.to_owned(), Params::value(raw));
            }
        }
        let call = IncomingCall {
            name,
            arguments,
            context,
            session,
        };
        Ok(Work::Call(Box::new(call), reporter))
    }
}

fn text(raw: &RawValue) -> Option<String> {
    serde_json::from_str(raw.get()).ok()
}

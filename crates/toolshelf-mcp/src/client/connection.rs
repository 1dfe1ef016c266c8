//! One connection to a server, shared by all who call its tools.

use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientCapabilities, ClientConfig,
    ClientNotification, ClientRequest, CustomRequest, CustomResult, ElicitationCapability,
    Implementation, ProtocolVersion, RequestId, ServerCapabilities, ServerPeerInfo, ServerResult,
};
use rmcp::service::{
    Peer, PeerRequestOptions, RoleClient, RunningService, ServiceError, serve_directly,
};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::Instant;
use toolshelf_core::{
    Arguments, CallContext, Cancellation, Error, InputRequired, JsonText, LoadContext, Loaded,
    ServerInfo, TaskStarted, Tool, ToolDefinition, ToolLoader, ToolOutcome, ToolResult,
};

use super::fault::Faults;
use super::handler::Handler;
use super::link::{InFlight, Link, Unreadable};
use super::listing::{Collect, Listing, ToolList, Verbatim};
use super::negotiate::{Deadlines, Disagreed, negotiate};
use super::options::{ClientOptions, Lifecycle};
use super::tool::{Caller, McpTool};
use super::transport::LineTransport;
use super::wire::Wire;
use crate::lines::{LineReader, LineWriter, WriterTask};
use crate::message::RpcError;
use crate::protocol::{META_TRACEPARENT, META_TRACESTATE, METHOD_NOT_FOUND};
use crate::sync::lock;

/// How long the end of a connection may take, for each of its two parts.
const PATIENCE: Duration = Duration::from_secs(3);

/// A connection to an MCP server over a pair of streams, of any revision from
/// 2024-11-05 to 2026-07-28. Clones share it, and any number of calls are in flight at
/// the same time.
///
/// It ends with [`McpClient::close`], with its last clone, or with the streams; it
/// does not come back by itself. [`StdioServer`](crate::StdioServer) starts a server
/// process and starts it again.
#[derive(Clone)]
pub struct McpClient {
    shared: Arc<Shared>,
}

struct Shared {
    options: ClientOptions,
    faults: Faults,
    link: Arc<Link>,
    peer: Peer<RoleClient>,
    info: ServerInfo,
    modern: bool,
    has_tools: bool,
    running: Mutex<Option<(RunningService<RoleClient, Handler>, WriterTask)>>,
}

/// Why there is no connection.
pub(crate) struct ConnectFault {
    /// What went wrong.
    pub(crate) why: Disagreed,
    /// The server's lines that were no messages: how many, and the first one.
    pub(crate) noise: Option<(usize, String)>,
}

impl ConnectFault {
    /// The error for both readers.
    pub(crate) fn into_error(self, faults: &Faults, limit: Duration) -> Error {
        let error = match self.why {
            Disagreed::Ended => faults.ended_early("the server ended before it answered"),
            Disagreed::TimedOut | Disagreed::Wedged => faults.slow_start(limit),
            Disagreed::Refused(error) => faults.server("connect", &error),
            Disagreed::NoCommonVersion(versions) => faults.protocol(
                "connect",
                format!("the server speaks only revisions unknown here: {versions:?}"),
            ),
            Disagreed::Protocol(fault) => faults.protocol("connect", fault),
            Disagreed::NotSent(fault) => faults.not_sent("connect", fault),
        };
        match self.noise {
            Some((lines, first)) => error.context(
                "standard output",
                format!("{lines} lines that are no messages, the first: {first}"),
            ),
            None => error,
        }
    }
}

/// Why a request has no answer.
enum Failure {
    Answered(RpcError),
    Unreadable(Unreadable),
    Ended,
    NotSent(String),
    TimedOut(Duration),
    Cancelled,
}

/// Why a call failed.
pub(crate) struct CallFault {
    /// For the two readers.
    pub(crate) error: Error,
    /// Whether the connection ended.
    pub(crate) ended: bool,
}

struct Limits<'a> {
    deadline: Instant,
    idle: Duration,
    cancellation: &'a Cancellation,
}

impl McpClient {
    /// Connects over a pair of streams: what the server writes, and what it reads.
    ///
    /// ```
    /// # use toolshelf_mcp::{ClientOptions, McpClient};
    /// # async fn connect(
    /// #     reader: tokio::io::DuplexStream,
    /// #     writer: tokio::io::DuplexStream,
    /// # ) -> Result<(), toolshelf_core::Error> {
    /// let client = McpClient::connect(reader, writer, ClientOptions::new("github")).await?;
    /// let list = client.list_tools(&Default::default()).await?;
    /// println!("{} tools", list.tools.len());
    /// client.close().await;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// `Exited` when a stream ends, `TimedOut` after the connect time-out, `Protocol`
    /// when there is no common revision or the answer is not one, `Server` when the
    /// server refuses.
    pub async fn connect(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        options: ClientOptions,
    ) -> Result<Self, Error> {
        let faults = Faults::new(&options.id);
        let limit = options.connect_timeout;
        let last = Instant::now() + limit;
        let deadlines = Deadlines { last, silent: last };
        let lifecycle = options.lifecycle;
        Self::begin(reader, writer, options, lifecycle, deadlines, None)
            .await
            .map_err(|fault| fault.into_error(&faults, limit))
    }

    /// Connects, with the facts of a failure.
    pub(crate) async fn begin(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        options: ClientOptions,
        lifecycle: Lifecycle,
        deadlines: Deadlines,
        on_list_changed: Option<Arc<dyn Fn() + Send + Sync>>,
    ) -> Result<Self, ConnectFault> {
        let link = Arc::new(Link::new(&options.id, on_list_changed));
        let limit = options.max_message_bytes;
        let lines = LineReader::new(reader, limit);
        let (writer, writing) = LineWriter::start(writer, limit);
        let mut wire = Wire::new(lines, writer, link.clone());
        let agreed = negotiate(&mut wire, &options, lifecycle, deadlines)
            .await
            .map_err(|why| ConnectFault {
                why,
                noise: link
                    .noise_seen()
                    .map(|(lines, first)| (lines, first.to_owned())),
            })?;
        tracing::debug!(server = options.id, revision = agreed.version, "connected");

        let mut capabilities = ClientCapabilities::default();
        if options.elicitation {
            capabilities.elicitation = Some(
                ElicitationCapability::new()
                    .with_form(Default::default())
                    .with_url(Default::default()),
            );
        }
        let implementation = Implementation::new("toolshelf", env!("CARGO_PKG_VERSION"));
        let handler = Handler {
            link: link.clone(),
            config: ClientConfig::new(capabilities, implementation),
            elicitation: options.elicitation && !agreed.modern,
        };
        // rmcp needs the revision only: with one that has no handshake, it writes the
        // metadata that each request must carry.
        let version = ProtocolVersion::KNOWN_VERSIONS
            .iter()
            .find(|version| version.as_str() == agreed.version)
            .cloned()
            .unwrap_or_default();
        let peer_info = ServerPeerInfo::new(version, ServerCapabilities::default());
        let running = serve_directly(
            handler,
            LineTransport::new(wire, agreed.modern),
            Some(peer_info),
        );
        if agreed.modern && agreed.tools_change && link.wants_changes() {
            // Before any list is asked for, so that no change falls in between.
            let until = deadlines.last;
            listen(&options.id, running.peer().clone(), link.clone(), until).await;
        }
        Ok(Self {
            shared: Arc::new(Shared {
                faults: Faults::new(&options.id),
                options,
                link,
                peer: running.peer().clone(),
                info: agreed.server,
                modern: agreed.modern,
                has_tools: agreed.has_tools,
                running: Mutex::new(Some((running, writing))),
            }),
        })
    }

    /// What the server says of itself. Untrusted text.
    pub fn server_info(&self) -> &ServerInfo {
        &self.shared.info
    }

    /// Whether the server speaks a revision without handshake (2026-07-28).
    pub fn is_modern(&self) -> bool {
        self.shared.modern
    }

    /// How many lines the server has written that are no messages, and the first one.
    pub(crate) fn noise(&self) -> Option<(usize, String)> {
        let seen = self.shared.link.noise_seen();
        seen.map(|(lines, first)| (lines, first.to_owned()))
    }

    /// Ends the calls in flight of a connection whose server is known to be gone,
    /// although its stream has not ended: somebody else may hold it open.
    pub(crate) fn end_when(&self, gone: impl Future<Output = ()> + Send + 'static) {
        let link = self.shared.link.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = gone => link.end(),
                () = link.ended().cancelled() => {}
            }
        });
    }

    /// Raised when the connection has ended.
    pub(crate) fn ended(&self) -> Cancellation {
        self.shared.link.ended().clone()
    }

    /// When the connection ended.
    pub(crate) fn ended_at(&self) -> Option<Instant> {
        self.shared.link.ended_at()
    }

    /// Whether the connection still stands, as far as is known.
    pub fn is_connected(&self) -> bool {
        !self.shared.link.ended().is_cancelled()
    }

    /// Lists the tools, all pages of them, within the connect time-out.
    ///
    /// # Errors
    ///
    /// As [`McpClient::call_tool`]; `Protocol` too when the list has no end.
    pub async fn list_tools(&self, context: &LoadContext) -> Result<ToolList, Error> {
        let deadline = Instant::now() + self.shared.options.connect_timeout;
        self.list(context, deadline)
            .await
            .map_err(|fault| fault.error)
    }

    /// Lists the tools as the server wrote them, all pages of them, within the connect
    /// time-out: for looking at a server. What it calls a tool and is none is among them.
    /// Untrusted text.
    ///
    /// # Errors
    ///
    /// As [`McpClient::list_tools`].
    pub async fn list_verbatim(&self, context: &LoadContext) -> Result<Vec<Box<RawValue>>, Error> {
        let deadline = Instant::now() + self.shared.options.connect_timeout;
        self.verbatim(context, deadline)
            .await
            .map_err(|fault| fault.error)
    }

    /// Lists the tools until a deadline.
    pub(crate) async fn list(
        &self,
        context: &LoadContext,
        deadline: Instant,
    ) -> Result<ToolList, CallFault> {
        let mut listing = Listing::default();
        self.collect(&mut listing, context, deadline).await?;
        Ok(listing.finish())
    }

    /// Lists the tools as the server wrote them until a deadline.
    pub(crate) async fn verbatim(
        &self,
        context: &LoadContext,
        deadline: Instant,
    ) -> Result<Vec<Box<RawValue>>, CallFault> {
        let mut verbatim = Verbatim::default();
        self.collect(&mut verbatim, context, deadline).await?;
        Ok(verbatim.tools)
    }

    /// Asks for page after page.
    async fn collect(
        &self,
        pages: &mut (dyn Collect + Send),
        context: &LoadContext,
        deadline: Instant,
    ) -> Result<(), CallFault> {
        const OPERATION: &str = "tools/list";
        let deadline = earlier(deadline, context.deadline);
        let limits = Limits {
            deadline,
            idle: self.shared.options.connect_timeout,
            cancellation: &context.cancellation,
        };
        let mut cursor: Option<String> = None;
        loop {
            let mut params = Map::new();
            if let Some(cursor) = cursor {
                params.insert("cursor".to_owned(), Value::String(cursor));
            }
            let result = self
                .request(OPERATION, params, Arc::default(), &limits)
                .await;
            let result = match result {
                Ok(result) => result,
                // A server that says that it has no tools need not know the method.
                Err(Failure::Answered(error))
                    if error.code == METHOD_NOT_FOUND && !self.shared.has_tools =>
                {
                    return Ok(());
                }
                Err(failure) => return Err(self.fault(OPERATION, failure)),
            };
            cursor = pages.page(&result).map_err(|fault| CallFault {
                error: self.shared.faults.protocol(OPERATION, fault),
                ended: false,
            })?;
            if cursor.is_none() {
                return Ok(());
            }
        }
    }

    /// Calls a tool. `arguments` goes to the server as it is; `null` leaves it out.
    /// Cancelling, or dropping the future, tells the server.
    ///
    /// # Errors
    ///
    /// `Server` when the server answers with an error of the protocol (a failure of
    /// the tool itself is a result), `TimedOut`, `Cancelled`, `Exited` when the
    /// connection ends, `TooLarge`, `Protocol`, and `Unavailable` when the server does
    /// not read.
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Into<Value>,
        context: CallContext,
    ) -> Result<ToolOutcome, Error> {
        self.invoke(name, arguments.into(), context)
            .await
            .map_err(|fault| fault.error)
    }

    /// Calls a tool, with the facts of a failure.
    pub(crate) async fn invoke(
        &self,
        name: &str,
        arguments: Value,
        context: CallContext,
    ) -> Result<ToolOutcome, CallFault> {
        const OPERATION: &str = "tools/call";
        let options = &self.shared.options;
        let mut params = context.resume;
        params.insert("name".to_owned(), Value::String(name.to_owned()));
        if !arguments.is_null() {
            params.insert("arguments".to_owned(), arguments);
        }
        let mut meta = context.meta;
        for (key, value) in [
            (META_TRACEPARENT, context.trace.traceparent),
            (META_TRACESTATE, context.trace.tracestate),
        ] {
            if let Some(value) = value {
                meta.insert(key.to_owned(), Value::String(value));
            }
        }
        if !meta.is_empty() {
            params.insert("_meta".to_owned(), Value::Object(meta));
        }
        let call = Arc::new(InFlight {
            progress: context.progress,
            elicitor: context.elicitor,
            ..InFlight::default()
        });
        let limits = Limits {
            deadline: earlier(Instant::now() + options.max_call_time, context.deadline),
            idle: options.call_timeout,
            cancellation: &context.cancellation,
        };
        let result = self
            .request(OPERATION, params, call, &limits)
            .await
            .map_err(|failure| self.fault(OPERATION, failure))?;
        self.read_outcome(&result).map_err(|fault| CallFault {
            error: self.shared.faults.protocol(OPERATION, fault),
            ended: false,
        })
    }

    fn read_outcome(&self, result: &str) -> Result<ToolOutcome, String> {
        #[derive(Deserialize)]
        struct Kind {
            #[serde(default, rename = "resultType")]
            kind: Option<String>,
        }
        let whole = || JsonText::parse(result).map_err(|fault| fault.message().to_owned());
        if self.shared.modern {
            let read: Kind = serde_json::from_str(result)
                .map_err(|fault| format!("the result of a call is not an object: {fault}"))?;
            match read.kind.as_deref() {
                None | Some("complete") => {}
                Some("input_required") => {
                    return Ok(ToolOutcome::InputRequired(InputRequired {
                        result: whole()?,
                    }));
                }
                Some("task") => return Ok(ToolOutcome::Task(TaskStarted { result: whole()? })),
                Some(_) => return Err("the result of a call is of an unknown type".to_owned()),
            }
        }
        ToolResult::from_json(result)
            .map(ToolOutcome::Complete)
            .map_err(|fault| fault.message().to_owned())
    }

    /// Sends a request and waits for its answer, the text of the result.
    async fn request(
        &self,
        method: &'static str,
        params: Map<String, Value>,
        call: Arc<InFlight>,
        limits: &Limits<'_>,
    ) -> Result<String, Failure> {
        let begun = Instant::now();
        let link = &self.shared.link;
        if link.ended().is_cancelled() {
            return Err(Failure::Ended);
        }
        let mut request = CustomRequest::new(method, Some(Value::Object(params)));
        request.extensions.insert(call.clone());
        let sending = self.shared.peer.send_request_with_option(
            ClientRequest::CustomRequest(request),
            PeerRequestOptions::no_options(),
        );
        let sent = tokio::select! {
            biased;
            () = limits.cancellation.cancelled() => return Err(Failure::Cancelled),
            sent = tokio::time::timeout_at(limits.deadline, sending) => sent,
        };
        let mut handle = match sent {
            Ok(Ok(handle)) => handle,
            Ok(Err(_)) => return Err(Failure::Ended),
            Err(_) => return Err(Failure::TimedOut(begun.elapsed())),
        };
        let mut withdrawal = Withdrawal {
            id: handle.id.clone(),
            shared: &self.shared,
            armed: true,
        };
        let idle = tokio::time::sleep(limits.idle);
        tokio::pin!(idle);
        loop {
            tokio::select! {
                biased;
                answer = &mut handle.rx => {
                    withdrawal.armed = false;
                    return match answer {
                        Ok(Ok(ServerResult::CustomResult(CustomResult(Value::String(raw))))) => {
                            Ok(raw)
                        }
                        Ok(Ok(_)) => Err(Failure::Unreadable(Unreadable::Malformed("not a result"))),
                        Ok(Err(error)) => Err(failure(error)),
                        Err(_) => Err(Failure::Ended),
                    };
                }
                () = call.activity.notified() => {
                    if let Some(why) = call.unreadable.get() {
                        return Err(Failure::Unreadable(why.clone()));
                    }
                    idle.as_mut().reset(Instant::now() + limits.idle);
                }
                () = limits.cancellation.cancelled() => return Err(Failure::Cancelled),
                () = link.ended().cancelled() => {
                    withdrawal.armed = false;
                    link.finish(withdrawal.number());
                    return Err(Failure::Ended);
                }
                () = tokio::time::sleep_until(limits.deadline) => {
                    return Err(Failure::TimedOut(begun.elapsed()));
                }
                () = &mut idle => {
                    if call.asking.load(Ordering::SeqCst) == 0 {
                        return Err(Failure::TimedOut(limits.idle));
                    }
                    idle.as_mut().reset(Instant::now() + limits.idle);
                }
            }
        }
    }

    fn fault(&self, operation: &'static str, failure: Failure) -> CallFault {
        let faults = &self.shared.faults;
        let ended = matches!(failure, Failure::Ended);
        let error = match failure {
            Failure::Answered(error) => faults.server(operation, &error),
            Failure::Unreadable(Unreadable::Malformed(fault)) => faults.protocol(operation, fault),
            Failure::Unreadable(Unreadable::TooLong(bytes)) => faults.too_large(operation, bytes),
            Failure::Ended => faults.ended(operation),
            Failure::NotSent(fault) => faults.not_sent(operation, fault),
            Failure::TimedOut(after) => faults.timed_out(operation, after),
            Failure::Cancelled => faults.cancelled(operation),
        };
        CallFault { error, ended }
    }

    /// A tool of this connection, from its definition alone, such as one that was
    /// stored.
    pub fn tool(&self, definition: Arc<ToolDefinition>) -> Arc<dyn Tool> {
        Arc::new(McpTool {
            definition,
            caller: Arc::new(self.clone()),
        })
    }

    /// Ends the connection: calls in flight fail, and both streams are closed. Takes
    /// a few seconds at most. Doing it again does nothing.
    pub async fn close(&self) {
        self.shared.link.end();
        let running = lock(&self.shared.running).take();
        if let Some((mut running, writing)) = running {
            // Whatever rmcp waits for ends at the latest with the drop below.
            let _ = running.close_with_timeout(PATIENCE).await;
            drop(running);
            writing.finish(PATIENCE).await;
        }
    }
}

/// Asks a server of 2026-07-28 to tell when its tools change, for as long as the
/// connection lasts. One that refuses, or ends it, is simply not heard of.
async fn listen(id: &str, peer: Peer<RoleClient>, link: Arc<Link>, until: Instant) {
    const METHOD: &str = "subscriptions/listen";
    let params = json!({ "notifications": { "toolsListChanged": true } });
    let mut request = CustomRequest::new(METHOD, Some(params));
    let subscription = Arc::new(InFlight {
        listens: true,
        ..InFlight::default()
    });
    request.extensions.insert(subscription.clone());
    let sending = peer.send_request_with_option(
        ClientRequest::CustomRequest(request),
        PeerRequestOptions::no_options(),
    );
    let Ok(Ok(handle)) = tokio::time::timeout_at(until, sending).await else {
        // The next request meets the same fault, and somebody waits for that one.
        return;
    };
    let id = id.to_owned();
    tokio::spawn(async move {
        let number = number(&handle.id);
        // The changes themselves are told by the transport; this is about the end only.
        tokio::select! {
            answer = handle.rx => match answer {
                Ok(Err(ServiceError::McpError(error))) => {
                    tracing::debug!(server = id, code = error.code.0, "changes are not told");
                }
                _ => tracing::debug!(server = id, "changes are told no more"),
            },
            // Cancelled by the server, or answered with something that cannot be read.
            () = subscription.activity.notified() => {
                tracing::debug!(server = id, "changes are told no more");
            }
            () = link.ended().cancelled() => {}
        }
        link.finish(number);
    });
}

/// The number of a request.
fn number(id: &RequestId) -> i64 {
    match id {
        RequestId::Number(number) => *number,
        // rmcp counts; it makes no text ids.
        RequestId::String(_) => -1,
    }
}

fn earlier(deadline: Instant, other: Option<std::time::Instant>) -> Instant {
    match other {
        Some(other) => deadline.min(Instant::from_std(other)),
        None => deadline,
    }
}

fn failure(error: ServiceError) -> Failure {
    match error {
        ServiceError::McpError(error) => Failure::Answered(RpcError {
            code: error.code.0.into(),
            message: error.message.into_owned(),
            data: None,
        }),
        ServiceError::TransportSend(error) => {
            let kind = error.error.downcast_ref::<io::Error>().map(io::Error::kind);
            match kind {
                Some(io::ErrorKind::WouldBlock) => Failure::NotSent(error.error.to_string()),
                Some(io::ErrorKind::BrokenPipe) => Failure::Ended,
                _ => Failure::NotSent(error.error.to_string()),
            }
        }
        _ => Failure::Ended,
    }
}

/// Tells the server that nobody waits for an answer any more, when it is dropped.
struct Withdrawal<'a> {
    id: RequestId,
    shared: &'a Shared,
    armed: bool,
}

impl Withdrawal<'_> {
    fn number(&self) -> i64 {
        number(&self.id)
    }
}

impl Drop for Withdrawal<'_> {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        self.shared.link.finish(self.number());
        // Without a runtime the connection is over anyway.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let peer = self.shared.peer.clone();
        let id = self.id.clone();
        runtime.spawn(async move {
            let reason = Some("nobody waits for the answer any more".to_owned());
            let params = CancelledNotificationParam::new(Some(id), reason);
            let notification = CancelledNotification::new(params);
            let sending =
                peer.send_notification(ClientNotification::CancelledNotification(notification));
            // A server that does not read it is left alone.
            let _ = tokio::time::timeout(PATIENCE, sending).await;
        });
    }
}

#[async_trait]
impl Caller for McpClient {
    async fn call(
        &self,
        tool: &str,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<ToolOutcome, Error> {
        self.call_tool(tool, arguments, context).await
    }
}

#[async_trait]
impl ToolLoader for McpClient {
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error> {
        let list = self.list_tools(&context).await?;
        Ok(loaded(
            list,
            self.server_info().clone(),
            &(Arc::new(self.clone()) as _),
        ))
    }
}

/// A list as the core wants it.
pub(crate) fn loaded(list: ToolList, server: ServerInfo, caller: &Arc<dyn Caller>) -> Loaded {
    let tools = list.tools.into_iter().map(|definition| {
        Arc::new(McpTool {
            definition,
            caller: caller.clone(),
        }) as Arc<dyn Tool>
    });
    let mut loaded = Loaded::new(tools);
    loaded.server = server;
    loaded.set_aside = list.set_aside;
    loaded
}

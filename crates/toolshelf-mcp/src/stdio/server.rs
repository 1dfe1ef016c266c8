//! A server that is started when it is needed, shared by all who need it, and
//! started again after it ended.

use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;
use toolshelf_core::{
    Arguments, Builder, CallContext, Cancellation, Error, ErrorKind, LoadContext, Loaded, Plugin,
    ServerInfo, Tool, ToolDefinition, ToolLoader, ToolOutcome, options_schema, read_options,
};

use super::config::StdioConfig;
use super::process::{Ends, Process};
use super::restarts::{End, Restarts};
use super::uses::Uses;
use super::watchdog::Watchdog;
use crate::client::{
    CallFault, Caller, ConnectFault, Deadlines, Disagreed, Faults, Lifecycle, McpClient, McpTool,
    ToolList, loaded,
};

/// How long a process gets to end that did not survive our first message, or has not come to
/// be a server: there is nothing that it could lose.
const FAILED_GRACE: Duration = Duration::from_millis(200);

/// An MCP server that is a child process, as a loader of tools.
///
/// # Behavior
///
/// * The process is started by the first load or call. All tools share it, and calls
///   run at the same time.
/// * Where [`StdioConfig::max_concurrent_calls`] is set, further calls wait for their
///   turn, in order. A call that is cancelled or late gives up its place, and none waits
///   longer than [`StdioConfig::max_call_time`].
/// * When it ends, the calls in flight fail, and only they; the next one starts it
///   again. A failed call is never repeated.
/// * One that ends three times in a row within seconds of its start, without having
///   answered anything, is not started at once any more: the next start waits 1 s, that
///   after a further such end 2 s, and so on up to 60 s. Whoever needs it meanwhile gets
///   `Unavailable` at once, with [`Error::retry_delay`]. An answer, a longer run and time
///   are a new beginning; an end that was asked for is none of these ends. A shelf's
///   pause after a failed load runs at the same time and is the longer one, so that the
///   two do not add up.
/// * Several who need it while it starts wait for the same start and share its
///   failure.
/// * Where [`StdioConfig::idle_timeout`] is set, a process that nobody has used for that
///   long is ended, and started again by the next use. One that comes while it is being
///   ended waits for that, since two processes may not get along, and gets a new one.
/// * It runs in a process group of its own with little of our environment, and ends
///   with the group: at [`StdioServer::close`], at [`StdioServer::disconnect`], and in
///   the background when the last clone and the last tool are dropped.
/// * What it writes to its standard error is never shown to a model; the end of it is
///   part of errors for the operator.
///
/// Clones share everything. All methods need a tokio runtime with time and I/O.
///
/// ```no_run
/// # async fn example() -> Result<(), toolshelf_core::Error> {
/// use toolshelf_core::{GroupId, ToolGroup};
/// use toolshelf_mcp::{StdioConfig, StdioServer};
///
/// let config = StdioConfig::new("time", "uvx").args(["mcp-server-time"]);
/// let server = StdioServer::new(config);
/// let group = ToolGroup::new(GroupId::new("mcp:time")?, server.clone());
/// // … a shelf loads the group and calls its tools …
/// server.close().await;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct StdioServer {
    inner: Arc<Inner>,
}

/// What is to be seen of a running server beside its answers, for its operator. Untrusted
/// text, without values of the server's configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sidelights {
    /// Whether it speaks a revision without handshake (2026-07-28).
    pub modern: bool,
    /// How many lines of its standard output were no messages, and the first one.
    pub noise: Option<(usize, String)>,
    /// The end of its standard error.
    pub stderr: Option<String>,
}

/// What a host has to do with the servers that it starts.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct ServerHooks {
    /// Called when a server says that its tools have changed. It runs on the connection's
    /// task and must not block. A server of 2026-07-28 that tells changes is asked to do so
    /// at the start of each connection (`subscriptions/listen`).
    pub on_list_changed: Option<Arc<dyn Fn() + Send + Sync>>,
    /// Ends the server when this process is killed. Without one, a server that ignores
    /// the end of its input outlives a host that is killed.
    pub watchdog: Option<Watchdog>,
}

struct Inner {
    me: Weak<Inner>,
    config: StdioConfig,
    faults: Faults,
    hooks: ServerHooks,
    slot: tokio::sync::Mutex<Slot>,
    failures: AtomicU64,
    generation: AtomicU64,
    closed: Cancellation,
    ends: Ends,
    /// One permit per call that may be in flight.
    permits: Option<Semaphore>,
}

#[derive(Default)]
struct Slot {
    live: Option<Arc<Live>>,
    /// Whether the server, or what was seen of it, asks for a handshake at once.
    handshake: bool,
    failure: Option<Error>,
    restarts: Restarts,
    /// The last end that was not asked for, and what is known of it.
    last_end: Option<Error>,
}

/// What of an error tells how a process ended.
const OF_THE_END: &[&str] = &["exit", "stderr", "standard output"];

impl Slot {
    /// Lets go of a connection that has ended by itself.
    fn note_end(&mut self) {
        let Some(live) = self.live.take() else {
            return;
        };
        self.restarts.ended(End {
            begun: live.begun,
            at: live.client.ended_at().unwrap_or_else(Instant::now),
            answered: live.answered.load(Ordering::SeqCst),
        });
        let end = Error::new(ErrorKind::Exited, "the connection has ended");
        self.last_end = Some(live.process.annotate(end));
    }

    /// Notes a start that failed.
    fn note_failure(&mut self, begun: Instant, error: &Error) {
        // Others say what is wrong, or take their time.
        if error.kind() == ErrorKind::Exited {
            self.restarts.ended(End {
                begun,
                at: Instant::now(),
                answered: false,
            });
            self.last_end = Some(error.duplicate());
        }
        self.failure = Some(error.duplicate());
    }

    /// Whether a start is allowed.
    fn may_start(&self, faults: &Faults, operation: &'static str) -> Result<(), Error> {
        let Some(rest) = self.restarts.pause(Instant::now()) else {
            return Ok(());
        };
        let mut error = faults.keeps_ending(operation, self.restarts.ends(), rest);
        let facts = self.last_end.iter().flat_map(Error::contexts);
        for (key, value) in facts.filter(|(key, _)| OF_THE_END.contains(key)) {
            error = error.context(key, value.clone());
        }
        Err(error)
    }
}

/// A process and the connection to it. The order of the fields is that of their end:
/// the input is closed before the process is waited for.
struct Live {
    client: McpClient,
    process: Process,
    uses: Arc<Uses>,
    begun: Instant,
    /// Whether it has answered a list or a call.
    answered: AtomicBool,
}

/// A use of a connection. While there is one, it is not idle.
struct Lease(Arc<Live>);

impl Lease {
    fn new(live: &Arc<Live>) -> Self {
        live.uses.begin();
        Self(live.clone())
    }
}

impl Deref for Lease {
    type Target = Live;

    fn deref(&self) -> &Live {
        &self.0
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.0.uses.end();
    }
}

impl StdioServer {
    /// A server that is not started yet.
    pub fn new(config: StdioConfig) -> Self {
        Self::with_hooks(config, ServerHooks::default())
    }

    /// As [`StdioServer::new`], with [`ServerHooks::on_list_changed`].
    pub fn on_list_changed(
        config: StdioConfig,
        changed: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let hooks = ServerHooks {
            on_list_changed: Some(Arc::new(changed)),
            ..ServerHooks::default()
        };
        Self::with_hooks(config, hooks)
    }

    /// As [`StdioServer::new`], with hooks.
    pub fn with_hooks(config: StdioConfig, hooks: ServerHooks) -> Self {
        Self {
            inner: Arc::new_cyclic(|me| Inner {
                me: me.clone(),
                faults: Faults::new(&config.id),
                permits: config
                    .max_concurrent_calls
                    .map(|limit| Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS))),
                config,
                hooks,
                slot: tokio::sync::Mutex::default(),
                failures: AtomicU64::new(0),
                generation: AtomicU64::new(0),
                closed: Cancellation::new(),
                ends: Ends::default(),
            }),
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &StdioConfig {
        &self.inner.config
    }

    /// Starts it where it is not running, and returns what it says of itself.
    ///
    /// # Errors
    ///
    /// `NotFound` when the program does not exist, `Exited` when it ended while it was
    /// starting, `TimedOut`, `Protocol`, `Server`, `Cancelled`, and `Unavailable` after
    /// [`StdioServer::close`] and for a while after it ended several times in a row.
    pub async fn server_info(&self, context: &LoadContext) -> Result<ServerInfo, Error> {
        let live = self
            .inner
            .live("connect", context.deadline, &context.cancellation)
            .await?;
        Ok(live.client.server_info().clone())
    }

    /// Lists its tools. Spawn, handshake and list together take at most the connect
    /// time-out.
    ///
    /// # Errors
    ///
    /// As [`StdioServer::server_info`].
    pub async fn list_tools(&self, context: &LoadContext) -> Result<ToolList, Error> {
        let (list, _) = self.inner.list(context).await?;
        Ok(list)
    }

    /// Lists its tools as it wrote them: see [`McpClient::list_verbatim`].
    ///
    /// # Errors
    ///
    /// As [`StdioServer::server_info`].
    pub async fn list_verbatim(&self, context: &LoadContext) -> Result<Vec<Box<RawValue>>, Error> {
        let deadline = Instant::now() + self.inner.config.connect_timeout;
        let live = self
            .inner
            .live("connect", context.deadline, &context.cancellation)
            .await?;
        match live.client.verbatim(context, deadline).await {
            Ok(tools) => {
                live.answered.store(true, Ordering::SeqCst);
                Ok(tools)
            }
            Err(fault) => Err(live.explain(fault).await),
        }
    }

    /// What is to be seen of it beside its answers; nothing while it does not run.
    pub async fn sidelights(&self) -> Option<Sidelights> {
        let slot = self.inner.slot.lock().await;
        let live = slot.live.as_ref()?;
        Some(Sidelights {
            modern: live.client.is_modern(),
            noise: live
                .client
                .noise()
                .map(|(lines, first)| (lines, live.process.redact(first))),
            stderr: live.process.stderr(),
        })
    }

    /// Calls one of its tools. `arguments` goes to the server as it is; `null` leaves
    /// it out.
    ///
    /// # Errors
    ///
    /// As [`McpClient::call_tool`] and [`StdioServer::server_info`].
    pub async fn call_tool(
        &self,
        name: &str,
        arguments: impl Into<Value>,
        context: CallContext,
    ) -> Result<ToolOutcome, Error> {
        // Boxed, so that it stays small in the futures of its callers.
        Box::pin(self.inner.call(name, arguments.into(), context)).await
    }

    /// A tool of this server from its definition alone, such as one that was stored.
    /// The server is started when it is called.
    pub fn tool(&self, definition: Arc<ToolDefinition>) -> Arc<dyn Tool> {
        Arc::new(McpTool {
            definition,
            caller: self.inner.clone(),
        })
    }

    /// How often a connection was made: zero before the first, and another number after
    /// each time the process was started again.
    pub fn generation(&self) -> u64 {
        self.inner.generation.load(Ordering::SeqCst)
    }

    /// Whether the process runs and is connected.
    pub async fn is_connected(&self) -> bool {
        let slot = self.inner.slot.lock().await;
        slot.live
            .as_ref()
            .is_some_and(|live| live.client.is_connected())
    }

    /// Ends the process; the next load or call starts it again. Calls in flight fail.
    pub async fn disconnect(&self) {
        let live = self.inner.slot.lock().await.live.take();
        if let Some(live) = live {
            live.end().await;
        }
    }

    /// Ends the process for good: later loads and calls fail. Returns when it is gone
    /// with all that it started, after a few seconds at most.
    pub async fn close(&self) {
        self.inner.closed.cancel();
        self.disconnect().await;
        // A start that was given up ends in the background.
        self.inner.ends.all(self.inner.config.close_grace).await;
    }
}

impl std::fmt::Debug for StdioServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("StdioServer")
            .field(&self.inner.config)
            .finish()
    }
}

impl Inner {
    /// The running server; starts it where it is not running.
    async fn live(
        &self,
        operation: &'static str,
        deadline: Option<std::time::Instant>,
        cancellation: &Cancellation,
    ) -> Result<Lease, Error> {
        let begun = Instant::now();
        let seen = self.failures.load(Ordering::SeqCst);
        // Boxed: it is large, and stays small for the calls that find a connection.
        let starting = Box::pin(async {
            let mut slot = self.slot.lock().await;
            if let Some(live) = &slot.live
                && live.client.is_connected()
            {
                return Ok(Lease::new(live));
            }
            // Whoever waited while a start failed shares the failure.
            if self.failures.load(Ordering::SeqCst) != seen
                && let Some(failure) = &slot.failure
            {
                return Err(failure.duplicate());
            }
            slot.note_end();
            slot.may_start(&self.faults, operation)?;
            let begun = Instant::now();
            match self.start(&mut slot.handshake).await {
                Ok(live) => {
                    let lease = Lease::new(&Arc::new(live));
                    slot.live = Some(lease.0.clone());
                    slot.failure = None;
                    self.generation.fetch_add(1, Ordering::SeqCst);
                    self.watch_idle(&lease);
                    Ok(lease)
                }
                Err(error) => {
                    slot.note_failure(begun, &error);
                    self.failures.fetch_add(1, Ordering::SeqCst);
                    Err(error)
                }
            }
        });
        let late = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(Instant::from_std(deadline)).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(self.faults.closed(operation)),
            () = cancellation.cancelled() => Err(self.faults.cancelled(operation)),
            () = late => Err(self.faults.slow_start(begun.elapsed())),
            result = starting => result,
        }
    }

    /// Ends a connection that nobody uses for long enough.
    fn watch_idle(&self, live: &Live) {
        let Some(time) = self.config.idle_timeout else {
            return;
        };
        // Neither the server nor the connection is kept by it.
        let (inner, uses) = (self.me.clone(), live.uses.clone());
        let ended = live.client.ended();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = ended.cancelled() => return,
                    () = uses.idle(time) => {}
                }
                let Some(inner) = inner.upgrade() else {
                    return;
                };
                inner.evict(&uses, time).await;
            }
        });
    }

    /// Ends a connection if it is still the present one and still idle.
    async fn evict(&self, uses: &Arc<Uses>, time: Duration) {
        // Uses begin under this lock, and who comes meanwhile waits.
        let mut slot = self.slot.lock().await;
        let own = |live: &mut Arc<Live>| Arc::ptr_eq(&live.uses, uses) && uses.is_idle(time);
        if let Some(live) = slot.live.take_if(own) {
            tracing::debug!(
                server = self.config.id,
                "nobody uses the process; it is ended"
            );
            live.end().await;
        }
    }

    async fn start(&self, handshake: &mut bool) -> Result<Live, Error> {
        let limit = self.config.connect_timeout;
        let begun = Instant::now();
        let lifecycle = match self.config.lifecycle {
            Lifecycle::Auto if !*handshake => Lifecycle::Auto,
            _ => Lifecycle::Initialize,
        };
        let last = begun + limit;
        // Half of the time, since a second attempt follows. A server that is only slow
        // gets all of it at the next start, which knows of this one.
        let silent = begun + limit / 2;
        let deadlines = Deadlines { last, silent };
        let mut attempt = self.attempt(lifecycle, deadlines).await?;
        if let Err((fault, process)) = &attempt
            && lifecycle == Lifecycle::Auto
            && matches!(fault.why, Disagreed::Ended | Disagreed::Wedged)
        {
            // It may be a server that does not survive a request before `initialize`.
            tracing::debug!(
                server = self.config.id,
                "no connection; once more with `initialize` only"
            );
            *handshake = true;
            process.stop_within(FAILED_GRACE).await;
            attempt = self.attempt(Lifecycle::Initialize, deadlines).await?;
        }
        match attempt {
            Ok(live) => {
                *handshake = !live.client.is_modern();
                Ok(live)
            }
            Err((mut fault, process)) => {
                let ended = matches!(fault.why, Disagreed::Ended);
                fault.noise = fault
                    .noise
                    .map(|(lines, first)| (lines, process.redact(first)));
                if matches!(fault.why, Disagreed::Refused(_)) {
                    *handshake = false;
                }
                let error = fault.into_error(&self.faults, limit);
                let error = if ended {
                    process.explain(error).await
                } else {
                    process.annotate(error)
                };
                process.stop_within(FAILED_GRACE).await;
                Err(error)
            }
        }
    }

    async fn attempt(
        &self,
        lifecycle: Lifecycle,
        deadlines: Deadlines,
    ) -> Result<Result<Live, (ConnectFault, Process)>, Error> {
        let (process, stdin, stdout) =
            Process::spawn(&self.config, &self.faults, self.hooks.watchdog.as_ref())?;
        self.ends.note(&process);
        let starting = process.starting(FAILED_GRACE);
        let connecting = McpClient::begin(
            stdout,
            stdin,
            self.config.client(),
            lifecycle,
            deadlines,
            self.hooks.on_list_changed.clone(),
        );
        let connection = tokio::select! {
            biased;
            connection = connecting => connection,
            () = process.gone() => Err(ConnectFault {
                why: Disagreed::Ended,
                noise: None,
            }),
        };
        starting.ended();
        Ok(match connection {
            Ok(client) => {
                client.end_when(process.gone());
                Ok(Live {
                    client,
                    process,
                    uses: Arc::new(Uses::new()),
                    begun: Instant::now(),
                    answered: AtomicBool::new(false),
                })
            }
            Err(fault) => Err((fault, process)),
        })
    }

    async fn list(&self, context: &LoadContext) -> Result<(ToolList, ServerInfo), Error> {
        let deadline = Instant::now() + self.config.connect_timeout;
        let live = self
            .live("connect", context.deadline, &context.cancellation)
            .await?;
        let list = match live.client.list(context, deadline).await {
            Ok(list) => list,
            Err(fault) => return Err(live.explain(fault).await),
        };
        live.answered.store(true, Ordering::SeqCst);
        Ok((list, live.client.server_info().clone()))
    }

    /// Waits until one more call may be in flight, in the order of the calls.
    async fn turn(&self, context: &CallContext) -> Result<Option<SemaphorePermit<'_>>, Error> {
        const OPERATION: &str = "tools/call";
        let Some(permits) = &self.permits else {
            return Ok(None);
        };
        if let Ok(permit) = permits.try_acquire() {
            return Ok(Some(permit));
        }
        let begun = Instant::now();
        let last = begun.checked_add(self.config.max_call_time);
        let last = last
            .into_iter()
            .chain(context.deadline.map(Instant::from_std))
            .min();
        let late = async {
            match last {
                Some(last) => tokio::time::sleep_until(last).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.closed.cancelled() => Err(self.faults.closed(OPERATION)),
            () = context.cancellation.cancelled() => Err(self.faults.cancelled(OPERATION)),
            // Nobody closes it.
            permit = permits.acquire() => Ok(permit.ok()),
            () = late => {
                let limit = self.config.max_concurrent_calls.unwrap_or_default();
                Err(self.faults.crowded(OPERATION, limit, begun.elapsed()))
            }
        }
    }

    async fn call(
        &self,
        name: &str,
        arguments: Value,
        context: CallContext,
    ) -> Result<ToolOutcome, Error> {
        let _turn = self.turn(&context).await?;
        let live = self
            .live("tools/call", context.deadline, &context.cancellation)
            .await?;
        match live.client.invoke(name, arguments, context).await {
            Ok(outcome) => {
                live.answered.store(true, Ordering::SeqCst);
                Ok(outcome)
            }
            Err(fault) => Err(live.explain(fault).await),
        }
    }
}

impl Live {
    async fn end(&self) {
        self.client.close().await;
        self.process.stop().await;
    }

    async fn explain(&self, fault: CallFault) -> Error {
        if fault.ended {
            self.process.explain(fault.error).await
        } else {
            self.process.annotate(fault.error)
        }
    }
}

#[async_trait]
impl Caller for Inner {
    async fn call(
        &self,
        tool: &str,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<ToolOutcome, Error> {
        Inner::call(self, tool, Value::Object(arguments), context).await
    }
}

#[async_trait]
impl ToolLoader for StdioServer {
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error> {
        let (list, server) = self.inner.list(&context).await?;
        let caller: Arc<dyn Caller> = self.inner.clone();
        Ok(loaded(list, server, &caller))
    }
}

/// The loader `stdio`: its options are a [`StdioConfig`].
pub const PLUGIN: Plugin = Plugin {
    name: "stdio",
    provider: env!("CARGO_PKG_NAME"),
    about: "An MCP server that is a child process.",
    build: Builder::Loader(|options| {
        let config: StdioConfig = read_options("stdio", options)?;
        Ok(Arc::new(StdioServer::new(config)))
    }),
    options: options_schema::<StdioConfig>,
};

toolshelf_core::submit!(PLUGIN);

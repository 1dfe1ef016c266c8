//! The MCP server that hosts see.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use toolshelf_catalog::texts;
use toolshelf_core::catalog::CatalogFormat;
use toolshelf_core::codec::DiscoveryCodec;
use toolshelf_core::tokens::TokenCounter;
use toolshelf_core::{
    Call, Cancellation, ContentBlock, Digest, Error, ErrorKind, GroupId, JsonText, LoadContext,
    LoadedGroup, Placement, Registry, Repair, State, Strategy, ToolOutcome, ToolSlot,
};
use toolshelf_mcp::{
    Era, IncomingCall, McpServer, ServerIdentity, Session as Client, Sidelights, Watchdog,
};
use toolshelf_shelf::{AnsweredBy, Limits, Observer, SessionOptions, Shelf, ShelfEvent};

use crate::cache::DescriptorCache;
use crate::chain::refuse_recursion;
use crate::choice::{self, Choice, DISPATCH, TST_AUTO};
use crate::config::{Config, Selection};
use crate::descriptor::without_odd_fields;
use crate::log::log;
use crate::news::{Change, NewsDesk};
use crate::second_look;
use crate::servers::{Common, Servers};
use crate::sessions::{Connected, Sessions};

/// The `_meta` key that keeps a host from deferring the gateway's own tools.
pub const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";

/// The `_meta` key of a result under which repairs of the arguments are listed.
pub const REPAIRS: &str = "toolshelf/repairs";

/// From how many tokens of definitions on the strategy `auto` defers, where nothing else is
/// said.
pub const DEFER_ABOVE: u64 = 20_000;

/// How long reading what is kept of the servers may take beside waiting for them.
const READING: Duration = Duration::from_secs(1);

/// How long a list that holds every tool waits for the servers by default.
const STANDARD_WAIT: Duration = Duration::from_secs(10);

/// How the gateway behaves.
#[derive(Clone)]
#[non_exhaustive]
pub struct GatewayOptions {
    /// The strategy. `None` = that of the configuration, and `dispatch` where it has none.
    /// `inject`, `tst` and `tst-auto` are for clients with a handshake; those of 2026-07-28 get `dispatch`, since their list of tools must not
    /// depend on the connection. `auto` is `standard` while all that is known of the servers
    /// is small, and `dispatch` otherwise: decided once, when the gateway is made.
    pub strategy: Option<Selection>,
    /// The index that tools are searched by. `None` = that of the configuration, and
    /// `lexical/1` where it has none and it is part of the build. With one, `dispatch` has `search_tools`, unless its options say otherwise.
    pub index: Option<Selection>,
    /// The format of catalogs. `None` = that of the configuration, and the strategy's own
    /// where it has none.
    pub catalog: Option<Selection>,
    /// How `tst` names what a search found. `None` as under `catalog`.
    pub codec: Option<Selection>,
    /// Counts tokens for `auto` and `tst-auto`; `None` = they are estimated.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// From how many tokens of definitions on `auto` defers.
    pub defer_above: u64,
    /// The context window of the model in tokens, of which `tst-auto` takes a share. `None` =
    /// its absolute threshold decides.
    pub context_window: Option<u64>,
    /// How long after the start of the gateway lists of tools wait for servers that are still
    /// starting, so that the catalog holds the names of their tools. The default is not to
    /// wait at all, and 10 s under `standard` and `tst-auto`, whose list is the tools themselves or
    /// depends on all of them.
    pub wait: Option<Duration>,
    /// Ends the servers when this process is killed.
    pub watchdog: Option<Watchdog>,
    /// Where lists of tools are kept between starts; `None` = nowhere.
    pub cache: Option<DescriptorCache>,
    /// Bounds of the shelf.
    pub limits: Limits,
    /// Is told of everything that happens on the shelf, beside the log.
    pub observer: Option<Arc<dyn Observer>>,
}

impl std::fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GatewayOptions")
            .field("strategy", &self.strategy)
            .field("index", &self.index)
            .field("catalog", &self.catalog)
            .field("codec", &self.codec)
            .field("defer_above", &self.defer_above)
            .field("context_window", &self.context_window)
            .field("wait", &self.wait)
            .field("watchdog", &self.watchdog)
            .field("cache", &self.cache)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Default for GatewayOptions {
    fn default() -> Self {
        Self {
            strategy: None,
            index: None,
            catalog: None,
            codec: None,
            counter: None,
            defer_above: DEFER_ABOVE,
            context_window: None,
            wait: None,
            watchdog: None,
            cache: None,
            limits: Limits::default(),
            observer: None,
        }
    }
}

/// Many MCP servers behind a shelf, and one MCP server in front of it.
///
/// It answers as soon as it is made. A server that is slow, dead or wrongly configured
/// costs its own tools and nothing else.
pub struct Gateway {
    shelf: Shelf,
    servers: Servers,
    strategy: Arc<dyn Strategy>,
    /// What clients of the modern era get.
    modern: Arc<dyn Strategy>,
    /// What `tst-auto` comes to where servers are late.
    late: Option<Arc<dyn Strategy>>,
    decision: Option<String>,
    counter: Option<Arc<dyn TokenCounter>>,
    context_window: Option<u64>,
    catalog: Option<Arc<dyn CatalogFormat>>,
    codec: Option<Arc<dyn DiscoveryCodec>>,
    wait: Duration,
    sessions: Arc<Sessions>,
    desk: Arc<NewsDesk>,
    settled: watch::Sender<bool>,
    /// When the servers were started.
    begun: OnceLock<Instant>,
    closing: Cancellation,
    calls: AtomicU64,
}

impl Gateway {
    /// Puts a gateway together. No process is started yet.
    ///
    /// # Errors
    ///
    /// `NotFound` or `InvalidConfig` when a plugin that was chosen does not exist, or its
    /// options are not valid, `InvalidConfig` when the configuration would be served within
    /// itself without end, and as [`Shelf::session`] when the strategy cannot be used.
    pub fn new(
        config: &Config,
        options: GatewayOptions,
        registry: &Registry,
    ) -> Result<Arc<Self>, Error> {
        let chain = refuse_recursion(config.path.as_deref())?;
        let index = options.index.as_ref().or(config.index.as_ref());
        let index = choice::index(index, registry)?;
        let catalog = options.catalog.as_ref().or(config.catalog.as_ref());
        let catalog = catalog
            .map(|chosen| registry.catalog_format(&chosen.name, &chosen.options))
            .transpose()?;
        let codec = options.codec.as_ref().or(config.codec.as_ref());
        let codec = codec
            .map(|chosen| choice::codec(chosen, registry))
            .transpose()?;
        let usual = Selection::from(DISPATCH);
        let strategy = options.strategy.as_ref().or(config.strategy.as_ref());
        let strategy = strategy.unwrap_or(&usual);
        let desk = Arc::new(NewsDesk::default());
        let sessions = Arc::new(Sessions::default());
        let common = Common {
            chain,
            cache: options.cache.clone(),
            watchdog: options.watchdog.clone(),
            desk: desk.clone(),
            sessions: sessions.clone(),
        };
        let (servers, groups) = Servers::of(config, &common, registry);
        let choice = Choice::new(strategy, &options, &servers, index.is_some(), registry)?;
        if let Some(decision) = &choice.decision {
            tracing::info!(strategy = choice.strategy.name(), "{decision}");
        }
        let defers = !choice.strategy.own_tools().is_empty();
        let waits = !defers || choice.strategy.name() == TST_AUTO;
        let mut limits = options.limits;
        // The servers have their own, finer bounds; that of the shelf is the last one.
        limits.load_timeout = limits
            .load_timeout
            .max(servers.longest_start() + Duration::from_secs(5));
        limits.call_timeout = Duration::MAX;
        let told = sessions.clone();
        let observer = options.observer;
        let closing = Cancellation::new();
        let ending = closing.clone();
        let mut shelf = Shelf::builder();
        if let Some(index) = index {
            shelf = shelf.index(index);
        }
        let shelf = shelf
            .groups(groups)
            .limits(limits)
            .observer(move |event: &ShelfEvent| {
                log(event, ending.is_cancelled());
                if let Some(observer) = &observer {
                    observer.observe(event);
                }
                if matches!(event, ShelfEvent::Loaded { .. }) {
                    told.tools_arrived();
                }
            })
            .build()?;
        servers.stand_on(&shelf, !defers);
        // What no session can be made of is told now, and not to the first client.
        for strategy in [&choice.strategy, &choice.modern] {
            shelf.session(
                strategy.clone(),
                SessionOptions::placed(Placement::McpServer),
            )?;
        }
        Ok(Arc::new(Self {
            shelf,
            servers,
            strategy: choice.strategy,
            modern: choice.modern,
            late: choice.late,
            decision: choice.decision,
            counter: options.counter,
            context_window: options.context_window,
            catalog,
            codec,
            wait: options
                .wait
                .unwrap_or(if waits { STANDARD_WAIT } else { Duration::ZERO }),
            sessions,
            desk,
            settled: watch::Sender::new(false),
            begun: OnceLock::new(),
            closing,
            calls: AtomicU64::new(0),
        }))
    }

    /// Starts the servers whose tools are not known yet in the background, a few at a time.
    /// A server that is known from the cache is started by the first call of one of its
    /// tools.
    pub fn start(self: &Arc<Self>) {
        self.begun.get_or_init(Instant::now);
        let gateway = Arc::downgrade(self);
        let (shelf, closing) = (self.shelf.clone(), self.closing.child());
        let unknown = self.shelf.with_groups(|groups| {
            let unknown = groups.iter().filter(|(_, entry)| !entry.names_known());
            unknown.map(|(id, _)| id.clone()).collect::<Vec<_>>()
        });
        tokio::spawn(async move {
            let loads = unknown.iter().map(|id| shelf.load(id, &closing));
            futures::future::join_all(loads).await;
            if let Some(gateway) = gateway.upgrade() {
                gateway.settled.send_replace(true);
            }
        });
    }

    /// Asks every server for its tools again, whatever is known of them, and returns each
    /// result, sorted by id.
    pub async fn refresh(
        &self,
        cancellation: &Cancellation,
    ) -> Vec<(GroupId, Result<Arc<LoadedGroup>, Arc<Error>>)> {
        let ids: Vec<GroupId> = self
            .shelf
            .with_groups(|groups| groups.iter().map(|(id, _)| id.clone()).collect());
        self.servers.distrust();
        for id in &ids {
            self.shelf.invalidate(id);
        }
        self.shelf.load_all(cancellation).await
    }

    /// The shelf with all servers as groups.
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// Lists the tools of one server as it wrote them, for looking at it: see
    /// [`StdioServer::list_verbatim`](toolshelf_mcp::StdioServer::list_verbatim).
    ///
    /// # Errors
    ///
    /// Why the server cannot be used; `NotFound` when there is none of this id that is
    /// switched on.
    pub async fn list_verbatim(
        &self,
        id: &GroupId,
        cancellation: &Cancellation,
    ) -> Result<Vec<Box<RawValue>>, Error> {
        let Some(server) = self.servers.get(id) else {
            // A faulty entry is a group that says what is wrong with it.
            let loaded = self.shelf.load(id, cancellation).await;
            return loaded
                .map(|_| Vec::new())
                .map_err(|error| error.duplicate());
        };
        let mut context = LoadContext::default();
        context.cancellation = cancellation.clone();
        server.list_verbatim(&context).await
    }

    /// The tools that are kept of a server from an earlier start, by what their definitions are
    /// compared by; nothing where none are, and without a cache. Reads a file.
    pub fn kept_tools(&self, id: &GroupId) -> Option<BTreeMap<String, Digest>> {
        let record = self.servers.record(id)?;
        let tools = record.definitions().into_iter();
        Some(
            tools
                .map(|tool| (tool.name().to_string(), tool.digest()))
                .collect(),
        )
    }

    /// How `auto` decided and by which figures; nothing under another strategy.
    pub fn decision(&self) -> Option<&str> {
        self.decision.as_deref()
    }

    /// What is to be seen of a running server beside its answers.
    pub async fn sidelights(&self, id: &GroupId) -> Option<Sidelights> {
        self.servers.get(id)?.sidelights().await
    }

    /// The longest time that a server may take to start and to list its tools; nothing for
    /// one that cannot be started, and for a loader whose entry does not say.
    pub fn start_limit(&self, id: &GroupId) -> Option<Duration> {
        self.servers.start_limit(id)
    }

    /// Ends all servers. Returns when their processes are gone.
    pub async fn close(&self) {
        self.closing.cancel();
        self.servers.close().await;
    }

    fn strategy_for(&self, era: Era) -> &Arc<dyn Strategy> {
        match era {
            Era::Handshake => &self.strategy,
            Era::Modern => &self.modern,
        }
    }

    fn connected(&self, client: &Client) -> Result<Arc<Connected>, Error> {
        if let Some(connected) = self.sessions.get(client) {
            return Ok(connected);
        }
        let strategy = self.strategy_for(client.era()).clone();
        let session = self.shelf.session(strategy, self.session_options())?;
        let connected = Connected::new(client.clone(), session, self.desk.next());
        Ok(self.sessions.insert(connected))
    }

    fn session_options(&self) -> SessionOptions {
        let mut options = SessionOptions::placed(Placement::McpServer);
        options.counter.clone_from(&self.counter);
        options.context_window = self.context_window;
        options.catalog.clone_from(&self.catalog);
        options.codec.clone_from(&self.codec);
        options
    }

    /// Lets `tst-auto` decide for a client, which takes all servers. Where they are not there
    /// in time they count as large.
    async fn decide(
        &self,
        connected: Arc<Connected>,
        left: Duration,
    ) -> Result<Arc<Connected>, Error> {
        let Some(late) = &self.late else {
            return Ok(connected);
        };
        let undecided = connected.session.strategy().name() == TST_AUTO;
        if !undecided || connected.decided().is_some() {
            return Ok(connected);
        }
        let surface = connected.session.surface(&self.closing);
        match tokio::time::timeout(left.max(READING), surface).await {
            Ok(surface) => {
                surface?;
                if let Some(made) = connected.decided() {
                    let why = made["why"].as_str().unwrap_or_default();
                    tracing::info!(defer = made["defer"] == true, "tst-auto: {why}");
                }
                Ok(connected)
            }
            Err(_) => {
                tracing::info!(
                    defer = true,
                    "tst-auto: not all servers were there in time, which counts as large"
                );
                let session = self.shelf.session(late.clone(), self.session_options())?;
                let client = connected.client.clone();
                let connected = Connected::new(client, session, self.desk.next());
                Ok(self.sessions.insert(connected))
            }
        }
    }

    /// Waits until every server has started or failed, but no longer than the option
    /// says, counted from the start of the gateway: later lists do not wait again. How much
    /// of that time is left.
    async fn wait_for_servers(&self) -> Duration {
        let until = *self.begun.get_or_init(Instant::now) + self.wait;
        let mut settled = self.settled.subscribe();
        let all = settled.wait_for(|settled| *settled);
        // What is not there by then is not in the list; that is what the bound means.
        let _ = tokio::time::timeout_at(until.into(), all).await;
        until.saturating_duration_since(Instant::now())
    }
}

/// Whether a list that may grow has more tools than before: those that were loaded, or found.
fn has_grown(before: &State, after: &State) -> bool {
    before.expanded_groups != after.expanded_groups || before.discovered != after.discovered
}

/// How to use the tools of a strategy. Before `tst-auto` has decided there is nothing that
/// would be true either way.
fn instructions(strategy: &dyn Strategy) -> Option<&'static str> {
    match strategy.name() {
        "dispatch" => {
            let own = strategy.own_tools();
            let has = |name: &str| own.iter().any(|tool| tool == name);
            let (search, split) = (has(texts::SEARCH_TOOLS), has(texts::DEFERRED_TOOL_READ));
            Some(texts::instructions_dispatch(search, split))
        }
        "inject" => Some(texts::instructions_inject()),
        "tst" => Some(texts::instructions_tst()),
        "standard" => Some(texts::instructions_standard()),
        _ => None,
    }
}

/// The descriptor of a slot. Own tools ask hosts not to defer them: a load tool that is
/// not seen is never used.
fn descriptor(slot: &ToolSlot) -> Result<JsonText, Error> {
    let descriptor = slot.definition.descriptor_as(&slot.name)?;
    if slot.key.is_some() {
        return without_odd_fields(descriptor);
    }
    let meta = JsonText::from_serialize(&json!({ ALWAYS_LOAD: true }))?;
    descriptor.with_member("_meta", &meta)
}

/// Notes repairs in the result's `_meta`; nothing else of it is touched.
fn note_repairs(outcome: &mut ToolOutcome, repairs: &[Repair]) {
    if repairs.is_empty() {
        return;
    }
    if let ToolOutcome::Complete(result) = outcome {
        let repairs: Vec<&str> = repairs.iter().map(|repair| repair.as_str()).collect();
        result
            .meta
            .get_or_insert_with(Map::new)
            .insert(REPAIRS.to_owned(), json!(repairs));
    }
}

/// Says what has changed, as a block of its own behind the answer.
fn add_news(outcome: &mut ToolOutcome, changes: &[Arc<Change>]) {
    if changes.is_empty() {
        return;
    }
    if let ToolOutcome::Complete(result) = outcome {
        let lines: Vec<String> = changes.iter().map(|change| change.text()).collect();
        result.content.push(ContentBlock::text(lines.join("\n")));
    }
}

#[async_trait]
impl McpServer for Gateway {
    fn identity(&self, era: Era) -> ServerIdentity {
        let mut identity = ServerIdentity::new("toolshelf", env!("CARGO_PKG_VERSION"));
        identity.title = Some("Toolshelf".to_owned());
        let strategy = self.strategy_for(era);
        identity.instructions = instructions(strategy.as_ref()).map(|text| {
            if self.strategy.name() == strategy.name() {
                text.to_owned()
            } else {
                format!("{text}{}", texts::INJECT_NOT_OFFERED)
            }
        });
        identity.tools_change = !strategy.stable();
        identity
    }

    fn session_started(&self, session: &Client) {
        tracing::info!(
            client = session.client_name().unwrap_or("unknown"),
            protocol = session.protocol(),
            strategy = self.strategy_for(session.era()).name(),
            "client connected"
        );
        if session.era() == Era::Modern && self.strategy.name() != self.modern.name() {
            tracing::warn!(
                "the client speaks {}, whose list of tools must not depend on the connection: \
                 it gets '{}' instead of '{}'",
                session.protocol(),
                self.modern.name(),
                self.strategy.name()
            );
        }
    }

    fn session_ended(&self, session: &Client) {
        self.sessions.remove(session);
    }

    async fn list_tools(&self, session: &Client) -> Result<Vec<JsonText>, Error> {
        let connected = self.connected(session)?;
        let left = self.wait_for_servers().await;
        let connected = self.decide(connected, left).await?;
        let surface = connected.session.surface(&self.closing).await;
        let surface = surface.inspect_err(|error| {
            if error.kind() != ErrorKind::Cancelled {
                tracing::error!("tools cannot be listed: {error}");
            }
        })?;
        let listed = connected.list(&surface, || surface.tools.iter().map(descriptor).collect())?;
        Ok(listed.to_vec())
    }

    async fn call_tool(&self, call: IncomingCall) -> Result<ToolOutcome, Error> {
        let connected = self.connected(&call.session)?;
        let session = &connected.session;
        let before = session.state();
        let number = self.calls.fetch_add(1, Ordering::Relaxed);
        let arguments = call
            .arguments
            .as_ref()
            .map_or(Value::Null, JsonText::to_value);
        let own = Call {
            id: format!("call_{number}"),
            name: call.name,
            arguments,
        };
        let mut report = second_look::call(&self.servers, session, own, call.context).await;
        if let Some(error) = &report.error {
            tracing::info!(
                call = %report.envelope.id,
                kind = %error.kind(),
                "call did not succeed: {error}"
            );
        }
        // A load under inject adds tools to the list, and so does a search under tst.
        if connected.may_grow() && has_grown(&before, &session.state()) {
            connected.client.tools_changed();
        }
        note_repairs(&mut report.outcome, &report.repairs);
        if report.answered_by == AnsweredBy::Strategy {
            add_news(&mut report.outcome, &connected.news(&self.desk));
        }
        Ok(report.outcome)
    }
}

impl std::fmt::Debug for Gateway {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Gateway")
            .field("strategy", &self.strategy.name())
            .field("shelf", &self.shelf)
            .finish_non_exhaustive()
    }
}

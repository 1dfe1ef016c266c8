//! A server whose tools are known before it runs.
//!
//! Their names come from the cache at once, and their definitions when they are needed
//! first. The server is started by the first call, and before that call the list is asked
//! for again: if it is another one now, the shelf gets the new one, and the call is
//! validated against that.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use async_trait::async_trait;
use globset::GlobSet;
use toolshelf_core::{
    Arguments, CallContext, Digest, Error, ErrorKind, Exposure, GroupId, LoadContext, Loaded,
    LoadedTool, Tool, ToolDefinition, ToolLoader, ToolName, ToolOutcome,
};
use toolshelf_mcp::{ServerHooks, StdioConfig, StdioServer};
use toolshelf_shelf::WeakShelf;

use crate::cache::{CacheKey, CachedHead, CachedServer, DescriptorCache};
use crate::news::{Change, NewsDesk};
use crate::servers::Common;
use crate::sessions::Sessions;

/// Where a server's list is kept.
struct Place {
    cache: DescriptorCache,
    key: CacheKey,
}

/// A server, its list, and the shelf that holds it. Cloning shares it.
#[derive(Clone)]
pub(crate) struct KnownServer {
    inner: Arc<Inner>,
}

struct Inner {
    id: GroupId,
    server: StdioServer,
    place: Option<Place>,
    /// Which of its tools are shown beside the gateway's own.
    pinned: GlobSet,
    desk: Arc<NewsDesk>,
    sessions: Arc<Sessions>,
    shelf: OnceLock<WeakShelf>,
    /// What the shelf holds.
    current: Mutex<Option<Current>>,
    /// Whether the next load may take what is kept. Only the first one may: another means
    /// that the server is to be asked.
    kept_will_do: AtomicBool,
    /// The connection under which the list was last confirmed; zero = none.
    confirmed: AtomicU64,
    /// How often the server said that its list has changed.
    announced: AtomicU64,
    confirming: tokio::sync::Mutex<()>,
    /// Whether a confirmation waits for its turn after the server said that its list has
    /// changed.
    asked: AtomicBool,
}

#[derive(Clone)]
struct Current {
    record: Arc<CachedServer>,
    definitions: Arc<BTreeMap<ToolName, Arc<ToolDefinition>>>,
}

impl Current {
    /// What the definitions are compared by. Made where there is something to compare and
    /// not before: digests of all tools cost more than the rest of a start.
    fn digests(&self) -> BTreeMap<String, Digest> {
        self.definitions
            .iter()
            .map(|(name, tool)| (name.to_string(), tool.digest()))
            .collect()
    }
}

impl KnownServer {
    pub(crate) fn new(id: GroupId, config: StdioConfig, pinned: GlobSet, common: &Common) -> Self {
        let desk = common.desk.clone();
        let sessions = common.sessions.clone();
        let place = common.cache.as_ref().map(|cache| Place {
            key: cache.key(&config),
            cache: cache.clone(),
        });
        let inner = Arc::new_cyclic(|inner: &std::sync::Weak<Inner>| {
            let changed = inner.clone();
            let mut hooks = ServerHooks::default();
            hooks.watchdog = common.watchdog.clone();
            hooks.on_list_changed = Some(Arc::new(move || {
                if let Some(inner) = changed.upgrade() {
                    inner.list_changed();
                }
            }));
            let server = StdioServer::with_hooks(config, hooks);
            Inner {
                id,
                server,
                place,
                pinned,
                desk,
                sessions,
                shelf: OnceLock::new(),
                current: Mutex::new(None),
                kept_will_do: AtomicBool::new(true),
                confirmed: AtomicU64::new(0),
                announced: AtomicU64::new(0),
                confirming: tokio::sync::Mutex::new(()),
                asked: AtomicBool::new(false),
            }
        });
        Self { inner }
    }

    pub(crate) fn id(&self) -> &GroupId {
        &self.inner.id
    }

    pub(crate) fn server(&self) -> &StdioServer {
        &self.inner.server
    }

    /// Says which shelf holds the group.
    pub(crate) fn stands_on(&self, shelf: WeakShelf) {
        // Set once, when the gateway is made.
        let _ = self.inner.shelf.set(shelf);
    }

    /// What is kept of the server, without its definitions.
    pub(crate) fn head(&self) -> Option<CachedHead> {
        let place = self.inner.place.as_ref()?;
        place.cache.head(&place.key)
    }

    /// All that is kept of the server, for looking at it.
    pub(crate) fn record(&self) -> Option<CachedServer> {
        let place = self.inner.place.as_ref()?;
        place.cache.load(&place.key)
    }

    /// Whether tools of it stand beside the gateway's own.
    pub(crate) fn has_pins(&self) -> bool {
        !self.inner.pinned.is_empty()
    }

    /// The tools as they were when the server was last listed, without starting it.
    pub(crate) fn kept(&self) -> Option<Loaded> {
        if !self.inner.kept_will_do.swap(false, Ordering::SeqCst) {
            return None;
        }
        let place = self.inner.place.as_ref()?;
        let record = Arc::new(place.cache.load(&place.key)?);
        Some(self.inner.take_up(record))
    }

    /// Makes sure that what the shelf holds is what the server offers now.
    pub(crate) async fn confirm(&self, context: &LoadContext) -> Result<(), Error> {
        self.inner.confirm(context).await
    }

    /// Has the next load ask the server, whatever is kept of it.
    pub(crate) fn distrust(&self) {
        self.inner.kept_will_do.store(false, Ordering::SeqCst);
    }

    /// Forgets what is kept on disk.
    pub(crate) fn forget(&self) {
        if let Some(place) = &self.inner.place {
            place.cache.remove(&place.key);
        }
    }
}

impl Inner {
    /// Makes a record the current one, and tools of it.
    fn take_up(self: &Arc<Self>, record: Arc<CachedServer>) -> Loaded {
        let definitions: Vec<Arc<ToolDefinition>> =
            record.definitions().into_iter().map(Arc::new).collect();
        let by_name = definitions
            .iter()
            .map(|tool| (tool.name().clone(), tool.clone()))
            .collect();
        let mut loaded = Loaded::default();
        loaded.server = record.head().server();
        loaded.set_aside = record.head().set_aside();
        loaded.tools = definitions
            .into_iter()
            .map(|definition| {
                let pinned = self.pinned.is_match(definition.name().as_str());
                let mut tool = LoadedTool::new(Arc::new(KnownTool {
                    tool: self.server.tool(definition),
                    owner: self.clone(),
                }));
                tool.exposure = pinned.then_some(Exposure::Always);
                tool
            })
            .collect();
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Current {
            record,
            definitions: Arc::new(by_name),
        });
        loaded
    }

    fn current(&self) -> Option<Current> {
        self.current
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn keep(&self, record: &CachedServer) {
        if let Some(place) = &self.place
            && let Err(error) = place.cache.store(&place.key, record)
        {
            tracing::warn!(server = %self.id, "{error}");
        }
    }

    /// Starts the server where it is not running, and lists its tools.
    async fn list(&self, context: &LoadContext) -> Result<CachedServer, Error> {
        let list = self.server.list_tools(context).await?;
        let info = self.server.server_info(context).await?;
        let tools = list.tools.iter().map(AsRef::as_ref);
        Ok(CachedServer::new(&info, tools, &list.set_aside))
    }

    /// Makes sure that what the shelf holds is what the server offers under its present
    /// connection.
    async fn confirm(self: &Arc<Self>, context: &LoadContext) -> Result<(), Error> {
        if self.is_confirmed().await {
            return Ok(());
        }
        let _turn = self.confirming.lock().await;
        if self.is_confirmed().await {
            return Ok(());
        }
        let announced = self.announced.load(Ordering::SeqCst);
        let record = self.list(context).await?;
        let generation = self.server.generation();
        let before = self.current();
        let same = before
            .as_ref()
            .is_some_and(|current| current.record.says_the_same(&record));
        if !same {
            self.keep(&record);
            let loaded = self.take_up(Arc::new(record));
            let after = self.current();
            if let Some(shelf) = self.shelf.get().and_then(WeakShelf::upgrade) {
                shelf.hand_over(&self.id, loaded)?;
            }
            if let (Some(before), Some(after)) = (before, after) {
                self.tell(&before.digests(), &after.digests());
            }
        }
        self.confirmed.store(generation, Ordering::SeqCst);
        // One that was announced meanwhile need not be the one that came.
        if self.announced.load(Ordering::SeqCst) != announced {
            self.confirmed.store(0, Ordering::SeqCst);
        }
        Ok(())
    }

    /// Whether the list is that of the present connection. One that has ended says nothing
    /// of the next process.
    async fn is_confirmed(&self) -> bool {
        let confirmed = self.confirmed.load(Ordering::SeqCst);
        confirmed != 0 && confirmed == self.server.generation() && self.server.is_connected().await
    }

    fn tell(&self, before: &BTreeMap<String, Digest>, after: &BTreeMap<String, Digest>) {
        let change = Change::between(self.id.clone(), before, after);
        if change.is_empty() {
            return;
        }
        tracing::info!(server = %self.id, "tools changed: {}", change.text());
        self.desk.publish(change);
        self.sessions.tools_changed(&self.id);
    }

    /// The server says that its list is another one. It is listed again soon; however often
    /// it says so meanwhile, one time is enough.
    fn list_changed(self: &Arc<Self>) {
        self.announced.fetch_add(1, Ordering::SeqCst);
        self.confirmed.store(0, Ordering::SeqCst);
        if self.current().is_none() || self.asked.swap(true, Ordering::SeqCst) {
            return;
        }
        let inner = self.clone();
        tokio::spawn(async move {
            inner.asked.store(false, Ordering::SeqCst);
            if let Err(error) = inner.confirm(&LoadContext::default()).await {
                tracing::warn!(server = %inner.id, "the changed list cannot be read: {error}");
            }
        });
    }
}

#[async_trait]
impl ToolLoader for KnownServer {
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error> {
        let _turn = self.inner.confirming.lock().await;
        let known = self.clone();
        // Files are read where they may block.
        if let Ok(Some(kept)) = tokio::task::spawn_blocking(move || known.kept()).await {
            return Ok(kept);
        }
        let record = self.inner.list(&context).await?;
        let generation = self.inner.server.generation();
        self.inner.keep(&record);
        let loaded = self.inner.take_up(Arc::new(record));
        self.inner.confirmed.store(generation, Ordering::SeqCst);
        Ok(loaded)
    }
}

/// A tool of such a server.
struct KnownTool {
    tool: Arc<dyn Tool>,
    owner: Arc<Inner>,
}

#[async_trait]
impl Tool for KnownTool {
    fn definition(&self) -> &Arc<ToolDefinition> {
        self.tool.definition()
    }

    async fn call(&self, arguments: Arguments, context: CallContext) -> Result<ToolOutcome, Error> {
        let mut load = LoadContext::default();
        load.cancellation = context.cancellation.clone();
        load.deadline = context.deadline;
        self.owner.confirm(&load).await?;
        let definition = self.tool.definition();
        let name = definition.name().as_str();
        let current = self.owner.current();
        let now = current.as_ref().and_then(|now| now.definitions.get(name));
        let same = now
            .is_some_and(|now| Arc::ptr_eq(now, definition) || now.digest() == definition.digest());
        if !same {
            return Err(Error::new(
                ErrorKind::Changed,
                format!("the definition of '{}/{name}' has changed", self.owner.id),
            )
            .for_model_text("its definition has changed; load its group again."));
        }
        self.tool.call(arguments, context).await
    }
}

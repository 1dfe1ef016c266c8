//! Servers of a configuration as groups of a shelf.

use std::sync::Arc;
use std::time::Duration;

use toolshelf_core::tokens::{TokenCounter, definition_text};
use toolshelf_core::{Error, ErrorKind, GroupId, LoadContext, Loaded, Registry, ToolGroup};
use toolshelf_mcp::{StdioConfig, StdioServer};
use toolshelf_shelf::Shelf;

use toolshelf_mcp::Watchdog;

use crate::cache::{CachedServer, DescriptorCache};
use crate::chain::CHAIN_VARIABLE;
use crate::config::{Config, EntryState, ServerEntry};
use crate::known::KnownServer;
use crate::news::NewsDesk;
use crate::pinning::{Pinning, pinned};
use crate::sessions::Sessions;
use crate::size::{Size, tokens};
use crate::timed::Timed;

/// What all servers of a gateway share.
pub(crate) struct Common {
    /// What `refuse_recursion` returned.
    pub(crate) chain: String,
    pub(crate) cache: Option<DescriptorCache>,
    pub(crate) watchdog: Option<Watchdog>,
    pub(crate) desk: Arc<NewsDesk>,
    pub(crate) sessions: Arc<Sessions>,
}

/// The servers that a configuration starts. Closing them ends their processes.
pub(crate) struct Servers {
    servers: Vec<KnownServer>,
    /// Groups that a loader of the build loads, whose tools nobody knows before, and how long a
    /// load may take.
    loaders: Vec<(GroupId, Option<Duration>)>,
}

impl Servers {
    /// The servers of a configuration and their groups, in the order of their ids. No
    /// process is started yet.
    ///
    /// A faulty entry becomes a group whose load fails and says why.
    pub(crate) fn of(
        config: &Config,
        common: &Common,
        registry: &Registry,
    ) -> (Self, Vec<ToolGroup>) {
        let mut servers = Vec::new();
        let mut loaders = Vec::new();
        let mut groups = Vec::new();
        for entry in config.enabled() {
            let mut group = match &entry.state {
                EntryState::Loader {
                    name,
                    options,
                    timeout,
                } => match registry.loader(name, options) {
                    Ok(loader) => {
                        let id = entry.id.clone();
                        loaders.push((id.clone(), *timeout));
                        let timeout = *timeout;
                        let loader = Arc::new(Timed {
                            id,
                            loader,
                            timeout,
                        });
                        let pinned = pinned(&entry.always_visible);
                        ToolGroup::new(entry.id.clone(), Pinning { loader, pinned })
                    }
                    Err(error) => wrongly_configured(entry, &error),
                },
                _ => match stdio_config(entry, &common.chain) {
                    Ok(config) => {
                        let id = entry.id.clone();
                        let pinned = pinned(&entry.always_visible);
                        let server = KnownServer::new(id, config, pinned, common);
                        servers.push(server.clone());
                        known_group(entry.id.clone(), server)
                    }
                    Err(fault) => faulty(entry, fault),
                },
            };
            if entry.title.is_some() {
                group.title.clone_from(&entry.title);
            }
            if entry.description.is_some() {
                group.description.clone_from(&entry.description);
            }
            groups.push(group);
        }
        (Self { servers, loaders }, groups)
    }

    /// Lets the servers know their shelf, and puts those tools on it that are shown
    /// without having been loaded: pinned ones, or all.
    pub(crate) fn stand_on(&self, shelf: &Shelf, all: bool) {
        for server in &self.servers {
            server.stands_on(shelf.downgrade());
            if !(all || server.has_pins()) {
                continue;
            }
            let Some(loaded) = server.kept() else {
                continue;
            };
            // A list that was kept by mistake is as good as none.
            if let Err(error) = shelf.hand_over(server.id(), loaded) {
                tracing::warn!(server = %server.id(), "the cached list is ignored: {error}");
                server.forget();
            }
        }
    }

    /// What the definitions that are kept come to, counted until they reach a threshold. A
    /// faulty entry has no tools.
    pub(crate) fn size(&self, threshold: u64, counter: Option<&dyn TokenCounter>) -> Size {
        let unknown = |server: &KnownServer| Size::Unknown(server.id().clone());
        // Asked first: one that is unknown saves the counting.
        if let Some(server) = self.servers.iter().find(|server| server.head().is_none()) {
            return unknown(server);
        }
        if let Some((id, _)) = self.loaders.first() {
            return Size::Unknown(id.clone());
        }
        let mut sum = 0;
        for server in &self.servers {
            if sum >= threshold {
                break;
            }
            let Some(record) = server.record() else {
                return unknown(server);
            };
            for definition in record.definitions() {
                let name = format!("{}__{}", server.id(), definition.name());
                sum += tokens(&definition_text(&name, &definition), counter);
                if sum >= threshold {
                    break;
                }
            }
        }
        if sum >= threshold {
            Size::Large(sum)
        } else {
            Size::Small(sum)
        }
    }

    /// Has the next load of each ask the server, whatever is kept of it.
    pub(crate) fn distrust(&self) {
        self.servers.iter().for_each(KnownServer::distrust);
    }

    /// A server that can be started.
    pub(crate) fn get(&self, id: &GroupId) -> Option<&StdioServer> {
        let server = self.servers.iter().find(|server| server.id() == id);
        server.map(KnownServer::server)
    }

    /// What is kept of a server.
    pub(crate) fn record(&self, id: &GroupId) -> Option<CachedServer> {
        let server = self.servers.iter().find(|server| server.id() == id);
        server?.record()
    }

    /// Makes sure that the list of a server is its present one, which starts it.
    pub(crate) async fn confirm(&self, id: &GroupId, context: &LoadContext) -> Result<(), Error> {
        match self.servers.iter().find(|server| server.id() == id) {
            Some(server) => server.confirm(context).await,
            None => Ok(()),
        }
    }

    /// The longest time that starting a server, or a load by a loader, may take, where there is
    /// a bound of its own.
    pub(crate) fn start_limit(&self, id: &GroupId) -> Option<Duration> {
        match self.get(id) {
            Some(server) => Some(server.config().connect_timeout),
            None => self.loaders.iter().find(|(of, _)| of == id)?.1,
        }
    }

    /// The longest time that starting one of them may take.
    pub(crate) fn longest_start(&self) -> Duration {
        let servers = self.servers.iter().map(|server| server.id());
        let loaders = self.loaders.iter().map(|(id, _)| id);
        let limits = servers.chain(loaders).filter_map(|id| self.start_limit(id));
        limits.max().unwrap_or_default()
    }

    /// Ends all of them at the same time. Returns when all are gone.
    pub(crate) async fn close(&self) {
        let servers = self.servers.iter();
        futures::future::join_all(servers.map(|server| server.server().close())).await;
    }
}

/// The group of a server: with what is kept of it, so that a catalog lists it like one that
/// is loaded.
fn known_group(id: GroupId, server: KnownServer) -> ToolGroup {
    let head = server.head();
    let group = ToolGroup::new(id, server.clone());
    let Some(head) = head else {
        return group;
    };
    match group.clone().declared_tools(head.names()) {
        Ok(mut declared) => {
            let info = head.server();
            declared.description = info.summary();
            declared.title = info.title;
            declared
        }
        Err(error) => {
            tracing::warn!(server = %server.id(), "the cached list is ignored: {error}");
            server.forget();
            group
        }
    }
}

fn stdio_config(entry: &ServerEntry, chain: &str) -> Result<StdioConfig, String> {
    let EntryState::Stdio {
        command,
        args,
        env,
        cwd,
        timeout,
        idle_timeout,
        max_concurrent_calls,
    } = &entry.state
    else {
        return Err(match &entry.state {
            EntryState::Faulty(fault) => fault.clone(),
            _ => "it is disabled".to_owned(),
        });
    };
    let mut config = StdioConfig::new(entry.id.as_str(), command).args(args);
    config.env.clone_from(env);
    config
        .env
        .insert(CHAIN_VARIABLE.to_owned(), chain.to_owned());
    config.cwd.clone_from(cwd);
    config.elicitation = true;
    config.idle_timeout = *idle_timeout;
    config.max_concurrent_calls = *max_concurrent_calls;
    if let Some(timeout) = timeout {
        config.call_timeout = *timeout;
        config.connect_timeout = *timeout;
        config.max_call_time = config.max_call_time.max(*timeout);
    }
    Ok(config)
}

/// The group of an entry with a fault that may be told to everybody.
fn faulty(entry: &ServerEntry, fault: String) -> ToolGroup {
    failing(entry, fault.clone(), Some(fault))
}

/// The group of an entry whose loader cannot be built. Its options may hold secrets, and what is
/// said of them is for operators.
fn wrongly_configured(entry: &ServerEntry, error: &Error) -> ToolGroup {
    let told = error.for_model().trim_end_matches('.');
    let told = (told != error.kind().as_str()).then(|| told.to_owned());
    failing(entry, error.message().to_owned(), told)
}

/// A group that cannot be loaded: why, and what of it a model may read.
fn failing(entry: &ServerEntry, fault: String, told: Option<String>) -> ToolGroup {
    let why = told.map_or_else(String::new, |told| format!(": {told}"));
    let text = format!("the server `{}` is configured wrongly{why}.", entry.id);
    ToolGroup::new(entry.id.clone(), move |_: LoadContext| {
        let error = Error::new(ErrorKind::InvalidConfig, fault.clone());
        let error = error.for_model_text(text.clone());
        async move { Err::<Loaded, Error>(error) }
    })
}

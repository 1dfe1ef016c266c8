//! `serve`: the gateway over standard input and output.

use std::io::IsTerminal;
use std::process::Stdio;
use std::sync::Arc;

use serde_json::json;
use toolshelf_core::{Cancellation, Registry};
use toolshelf_gateway::cache::{DescriptorCache, user_cache_dir};
use toolshelf_gateway::config::{Config, Selection};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::{McpServer, ServeOptions, Watchdog, serve_stdio};
use toolshelf_strategies::search_setting;

use crate::arguments::ServeArguments;
use crate::failure::Failure;
use crate::signals::Signals;
use crate::source;
use crate::stderr::note;
use crate::tokens::O200kBase;

/// The user's cache. A gateway without one starts its servers each time, and works.
pub(crate) fn cache(no_cache: bool) -> Option<DescriptorCache> {
    if no_cache {
        return None;
    }
    let Some(folder) = user_cache_dir() else {
        tracing::warn!(
            "there is no place for a cache: neither HOME nor TOOLSHELF_CACHE_DIR is set"
        );
        return None;
    };
    DescriptorCache::open(folder)
        .inspect_err(|error| tracing::warn!("lists of tools are not kept: {error}"))
        .ok()
}

/// A process of this program that ends the servers should this one be killed.
fn watchdog() -> Option<Watchdog> {
    if cfg!(windows) {
        return None;
    }
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(cause) => {
            tracing::warn!("no watchdog: cannot tell where this program is: {cause}");
            return None;
        }
    };
    let mut command = std::process::Command::new(program);
    command
        .arg("watchdog")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Watchdog::start(command)
        .inspect_err(|error| tracing::warn!("no watchdog: {error}"))
        .ok()
}

/// The strategy and its options: what the command line says, else what the environment says
/// where the configuration says nothing.
fn strategy(arguments: &ServeArguments, config: &Config) -> Result<Option<Selection>, Failure> {
    let named = arguments.strategy.as_deref();
    let configured = config.strategy.as_ref().map(|chosen| chosen.name.as_str());
    if arguments.defer_above.is_some() && named.or(configured) != Some("auto") {
        return Err(Failure::usage("--defer-above is for the strategy auto"));
    }
    if arguments.split_calls {
        if named.is_some_and(|named| named != "dispatch") {
            return Err(Failure::usage("--split-calls is for the strategy dispatch"));
        }
        let split = json!({"splitCalls": true});
        return Ok(Some(Selection::new("dispatch", split)));
    }
    if let Some(named) = named {
        return Ok(Some(named.into()));
    }
    if config.strategy.is_some() {
        return Ok(None);
    }
    let setting = search_setting(|name| std::env::var(name).ok());
    let Some(variable) = setting.variable else {
        return Ok(None);
    };
    if let Some(warning) = &setting.warning {
        tracing::warn!("{warning}");
    }
    let strategy = setting.mode.strategy();
    tracing::info!("{variable} chooses the strategy '{strategy}'");
    Ok(Some(Selection::new(strategy, setting.mode.options())))
}

/// Strategies of ours that have no use for the size of the context window.
const WINDOWLESS: [&str; 5] = ["dispatch", "inject", "tst", "standard", "auto"];

pub(crate) async fn run(arguments: &ServeArguments, registry: &Registry) -> Result<(), Failure> {
    let config = source::config(&arguments.servers)?;
    let mut options = GatewayOptions::default();
    options.strategy = strategy(arguments, &config)?;
    let chosen = options.strategy.as_ref().or(config.strategy.as_ref());
    let chosen = chosen.map_or("dispatch", |chosen| chosen.name.as_str());
    if arguments.context_window.is_some() && WINDOWLESS.contains(&chosen) {
        tracing::warn!(
            "--context-window changes nothing under the strategy '{chosen}'; it is for tst-auto"
        );
    }
    options.index = arguments.index.clone().map(Selection::from);
    options.catalog = arguments.catalog.clone().map(Selection::from);
    options.context_window = arguments.context_window;
    options.counter = Some(Arc::new(O200kBase));
    if let Some(tokens) = arguments.defer_above {
        options.defer_above = tokens;
    }
    options.wait = arguments.wait;
    // The samples start in a moment, and a tour leaves nothing on the disk.
    options.cache = cache(arguments.no_cache || arguments.servers.samples);
    let watchdog = watchdog();
    options.watchdog.clone_from(&watchdog);
    let gateway =
        Gateway::new(&config, options, registry).map_err(|error| Failure::asked(&error))?;
    if config.enabled().count() == 0 {
        tracing::warn!("the configuration has no server that is switched on");
    }
    if std::io::stdin().is_terminal() {
        note(
            "This program speaks MCP on standard input and output and is meant to be started by an \
             MCP host (see --help). Control-C ends it.",
        );
    }
    let mut signals = Signals::new()?;
    let shutdown = Cancellation::new();
    gateway.start();
    let server: Arc<dyn McpServer> = gateway.clone();
    let mut serving = std::pin::pin!(serve_stdio(
        server,
        ServeOptions::default(),
        shutdown.clone()
    ));
    let served = tokio::select! {
        served = &mut serving => served,
        signal = signals.next() => {
            tracing::info!("{signal:?} received");
            shutdown.cancel();
            tokio::select! {
                served = &mut serving => served,
                // Somebody is in a hurry.
                _ = signals.next() => Ok(()),
            }
        }
    };
    tokio::select! {
        () = gateway.close() => {}
        _ = signals.next() => {}
    }
    if let Some(watchdog) = watchdog {
        watchdog.end();
    }
    served.map_err(|error| Failure::of(&error))
}

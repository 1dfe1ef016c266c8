//! `serve`: the gateway over standard input and output.

use std::io::IsTerminal;
use std::process::Stdio;
use std::sync::Arc;

use toolshelf_core::{Cancellation, Registry};
use toolshelf_gateway::cache::{DescriptorCache, user_cache_dir};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_mcp::{McpServer, ServeOptions, Watchdog, serve_stdio};

use crate::arguments::ServeArguments;
use crate::failure::Failure;
use crate::signals::Signals;
use crate::source;
use crate::stderr::note;

/// The user's cache. A gateway without one starts its servers each time, and works.
fn cache(no_cache: bool) -> Option<DescriptorCache> {
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

pub(crate) async fn run(arguments: &ServeArguments, registry: &Registry) -> Result<(), Failure> {
    let config = source::config(&arguments.servers)?;
    let mut options = GatewayOptions::default();
    options.strategy.clone_from(&arguments.strategy);
    if arguments.split_calls {
        if arguments.strategy != "dispatch" {
            return Err(Failure::usage("--split-calls is for the strategy dispatch"));
        }
        options.strategy_options = serde_json::json!({"splitCalls": true});
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
            "toolshelf speaks MCP on standard input and output and is meant to be started by an \
             MCP host (see `toolshelf --help`). Control-C ends it.",
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

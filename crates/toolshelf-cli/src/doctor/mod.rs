//! `doctor`: what is wrong with a configuration and its servers, and how to mend it.
//!
//! The servers are started and listed as the gateway does it; then all that is known is
//! looked at: [`examine`] makes findings of it, [`findings`] is what they are, and
//! [`render`] writes them for people.

mod examine;
mod findings;
mod list;
mod place;
mod program;
mod render;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use toolshelf_core::{Cancellation, GroupId, Registry};
use toolshelf_gateway::{Gateway, GatewayOptions};
use toolshelf_shelf::ShelfEvent;

use self::examine::{Facts, examine, shared_names};
use self::findings::{Report, Severity};
use crate::arguments::DoctorArguments;
use crate::commands::serve::cache;
use crate::commands::tools::keep;
use crate::failure::Failure;
use crate::output::Output;
use crate::signals::guarded;
use crate::source;
use crate::waiting::Waiting;

pub(crate) async fn run(
    arguments: &DoctorArguments,
    registry: &Registry,
    output: &Output,
) -> Result<(), Failure> {
    let mut config = source::config(&arguments.servers)?;
    let (config_place, mut findings) = place::config(&arguments.servers, &config);
    let (cache_place, of_the_cache) = place::cache();
    findings.extend(of_the_cache);
    keep(&mut config, &arguments.only)?;

    let waiting = Waiting::new();
    let times = Arc::new(Times::default());
    let mut options = GatewayOptions::default();
    let (shown, timed) = (waiting.observer(), times.clone());
    options.observer = Some(Arc::new(move |event: &ShelfEvent| {
        timed.note(event);
        if let Some(shown) = &shown {
            shown.observe(event);
        }
    }));
    options.cache = cache(arguments.servers.samples);
    let gateway =
        Gateway::new(&config, options, registry).map_err(|error| Failure::asked(&error))?;
    let kept: BTreeMap<GroupId, _> = config
        .enabled()
        .filter_map(|entry| Some((entry.id.clone(), gateway.kept_tools(&entry.id)?)))
        .collect();
    let cancellation = Cancellation::new();
    let (loaded, mut sidelights) = guarded(
        async {
            let loaded = gateway.refresh(&cancellation).await;
            let mut sidelights = BTreeMap::new();
            for (id, _) in &loaded {
                if let Some(seen) = gateway.sidelights(id).await {
                    sidelights.insert(id.clone(), seen);
                }
            }
            Ok((loaded, sidelights))
        },
        gateway.close(),
    )
    .await?;
    drop(waiting);

    let own_tools = own_tools(registry);
    let servers = config.servers.iter().map(|entry| {
        let result = loaded.iter().find(|(id, _)| *id == entry.id);
        examine(&Facts {
            entry,
            loaded: result.map(|(_, result)| match result {
                Ok(loaded) => Ok(&**loaded),
                Err(error) => Err(&**error),
            }),
            sidelights: sidelights.remove(&entry.id),
            took: times.of(&entry.id),
            limit: gateway.start_limit(&entry.id),
            own_tools: &own_tools,
            kept: kept.get(&entry.id),
        })
    });
    let servers = servers.collect();
    let groups = loaded
        .iter()
        .filter_map(|(_, result)| result.as_deref().ok());
    findings.extend(shared_names(groups));
    let report = Report {
        config: config_place,
        cache: cache_place,
        findings,
        servers,
    };
    if arguments.json {
        output.write_json(&report.json())?;
    } else {
        output.write(&render::render(&report, output))?;
    }
    if report.count(Severity::Error) > 0 {
        // The report has said it.
        return Err(Failure::said());
    }
    Ok(())
}

/// How long each load took.
#[derive(Default)]
struct Times(Mutex<BTreeMap<GroupId, Duration>>);

impl Times {
    fn note(&self, event: &ShelfEvent) {
        if let ShelfEvent::Loaded { group, took, .. } | ShelfEvent::LoadFailed { group, took, .. } =
            event
        {
            let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            times.insert(group.clone(), *took);
        }
    }

    fn of(&self, group: &GroupId) -> Option<Duration> {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        times.get(group).copied()
    }
}

/// The names of the tools that strategies add.
fn own_tools(registry: &Registry) -> Vec<String> {
    let kinds = [
        ("dispatch", json!({"search": true})),
        ("dispatch", json!({"splitCalls": true})),
        ("inject", Value::Null),
    ];
    // A build without one of them has no tools of it.
    let strategies = kinds
        .iter()
        .filter_map(|(name, options)| registry.strategy(name, options).ok());
    let mut names: Vec<String> = strategies.flat_map(|one| one.own_tools()).collect();
    names.sort();
    names.dedup();
    names
}

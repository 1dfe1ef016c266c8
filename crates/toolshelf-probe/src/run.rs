//! From a command to a report.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::adapter::Adapter;
use crate::behaviours::{Behaviour, behaviours};
use crate::error::Error;
use crate::report::{Bad, Finding, Good, Outcome, Report, milliseconds, one_line};
use crate::stage::{Setup, Stage};

/// How many times its patience a behaviour may take in all, beside [`SLACK`].
const PATIENCES: u32 = 8;

/// What servers that are slow by intention take.
const SLACK: Duration = Duration::from_secs(30);

/// What to probe, and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// The command that starts the gateway. Where no word has `{config}` or `{folder}`, the
    /// arguments of the adapter are added.
    pub command: Vec<String>,
    /// How to configure and call it. `None`: by the name of its program, else by its list of
    /// tools, else as our own.
    pub adapter: Option<Adapter>,
    /// The command of the server with faults: a program that passes its other arguments to
    /// `toolshelf_faults::run`.
    pub upstream: Vec<String>,
    /// The names of the behaviours to look at; empty: all.
    pub only: Vec<String>,
    /// How long one answer may take.
    pub patience: Duration,
    /// How many behaviours are looked at at a time. More than one is faster, and can make a
    /// gateway that starts slowly look worse than it is.
    pub jobs: usize,
}

/// What a probe is doing.
#[derive(Debug)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// It is known how the gateway is spoken to, and a plain call came through.
    Ready {
        /// The name of the adapter.
        adapter: &'a str,
        /// How many behaviours will be looked at.
        behaviours: usize,
    },
    /// A behaviour is looked at.
    Begun(&'a Behaviour),
    /// A behaviour was looked at.
    Ended(&'a Finding),
}

/// Looks at the behaviours of a gateway.
///
/// Every wait has an end: of one answer, [`Options::patience`]; of one behaviour, eight times that and
/// half a minute.
///
/// # Errors
///
/// [`Error::Usage`] when a behaviour is unknown or the command is empty;
/// [`Error::Unusable`] when a plain call does not come through the gateway.
pub async fn probe(
    options: &Options,
    mut observe: impl FnMut(Progress<'_>),
) -> Result<Report, Error> {
    let chosen = chosen(&options.only)?;
    if options.command.is_empty() {
        return Err(Error::Usage(
            "there is no command that starts the gateway".to_owned(),
        ));
    }
    let adapter = match &options.adapter {
        Some(adapter) => adapter.clone(),
        None => guess(options).await?,
    };
    let setup = Arc::new(Setup {
        adapter,
        command: options.command.clone(),
        upstream: options.upstream.clone(),
        patience: options.patience,
    });
    let identity = usable(&setup).await?;
    observe(Progress::Ready {
        adapter: &setup.adapter.name,
        behaviours: chosen.len(),
    });
    let mut findings: Vec<Option<Finding>> = chosen.iter().map(|_| None).collect();
    let mut waiting = chosen.iter().copied().enumerate();
    let mut running = tokio::task::JoinSet::new();
    loop {
        while running.len() < options.jobs.max(1)
            && let Some((at, behaviour)) = waiting.next()
        {
            observe(Progress::Begun(behaviour));
            let setup = setup.clone();
            running.spawn(async move { (at, look(behaviour, setup).await) });
        }
        let Some(ended) = running.join_next().await else {
            break;
        };
        let (at, finding) = ended
            .map_err(|cause| Error::Unusable(format!("a behaviour was not looked at: {cause}")))?;
        observe(Progress::Ended(&finding));
        findings[at] = Some(finding);
    }
    Ok(Report {
        command: options.command.clone(),
        adapter: setup.adapter.name.clone(),
        identity,
        findings: findings.into_iter().flatten().collect(),
    })
}

async fn look(behaviour: &'static Behaviour, setup: Arc<Setup>) -> Finding {
    let begun = Instant::now();
    let limit = setup.patience * PATIENCES + SLACK;
    let verdict = match setup.adapter.not_claimed.get(behaviour.name) {
        Some(why) => Err(Bad::not_applicable(why.as_str())),
        None => match tokio::time::timeout(limit, (behaviour.run)(setup)).await {
            Ok(verdict) => verdict,
            Err(_) => Err(Bad::failed(format!(
                "not done within {} s",
                limit.as_secs()
            ))),
        },
    };
    let (outcome, seen, figures) = match verdict {
        Ok(Good { seen, figures }) => (Outcome::Pass, seen, figures),
        Err(Bad {
            outcome,
            seen,
            figures,
        }) => (outcome, seen, figures),
    };
    Finding {
        name: behaviour.name,
        group: behaviour.group,
        promise: behaviour.promise,
        outcome,
        seen: one_line(&seen),
        figures,
        took_ms: milliseconds(begun.elapsed()),
    }
}

fn chosen(only: &[String]) -> Result<Vec<&'static Behaviour>, Error> {
    let all = behaviours();
    if let Some(unknown) = only
        .iter()
        .find(|name| all.iter().all(|it| it.name != **name))
    {
        let names: Vec<&str> = all.iter().map(|it| it.name).collect();
        return Err(Error::Usage(format!(
            "there is no behaviour '{unknown}'; there are: {}",
            names.join(", ")
        )));
    }
    let wanted = |it: &&Behaviour| only.is_empty() || only.iter().any(|name| it.name == name);
    Ok(all.iter().filter(wanted).collect())
}

/// Makes sure that a plain call comes through: else nothing that is seen would mean anything.
async fn usable(setup: &Arc<Setup>) -> Result<Value, Error> {
    let plain = async {
        let session = Stage::new(setup)?
            .server("alpha", &[])
            .start_within(setup.patience * 3)
            .await?;
        session.list().await?;
        session
            .echo_within("alpha", "hello", setup.patience)
            .await?;
        Ok::<Value, Bad>(session.identity.clone())
    };
    plain.await.map_err(|bad: Bad| {
        Error::Unusable(format!(
            "a plain call does not come through, spoken to as '{}': {}; another --gateway may fit \
             better",
            setup.adapter.name,
            one_line(&bad.seen)
        ))
    })
}

/// Which gateway it is.
async fn guess(options: &Options) -> Result<Adapter, Error> {
    let mut known = Adapter::built_in()?;
    let program = options
        .command
        .first()
        .map(Path::new)
        .and_then(Path::file_stem);
    let program = program.map(|name| name.to_string_lossy().into_owned());
    let named = |it: &Adapter| {
        it.programs
            .iter()
            .any(|name| Some(name) == program.as_ref())
    };
    if let Some(at) = known.iter().position(named) {
        return Ok(known.swap_remove(at));
    }
    let setup = Arc::new(Setup {
        adapter: known.swap_remove(0),
        command: options.command.clone(),
        upstream: options.upstream.clone(),
        patience: options.patience,
    });
    let looked = async {
        let stage = Stage::new(&setup)?.server("alpha", &[]);
        let session = stage.start_within(setup.patience * 3).await?;
        session.list().await
    };
    // What does not answer is looked at as ours, and that says what is wrong.
    let listing = looked.await.ok();
    let recognised = known.into_iter().find(|adapter| {
        let has = |name: &String| {
            listing
                .as_ref()
                .is_some_and(|list| list.tool(name).is_some())
        };
        !adapter.recognise.is_empty() && adapter.recognise.iter().all(has)
    });
    Ok(recognised.unwrap_or_else(|| setup.adapter.clone()))
}

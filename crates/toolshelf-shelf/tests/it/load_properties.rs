//! What holds of loads whatever happens at the same time, in whichever order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use tokio::time::Instant;
use toolshelf_core::{Cancellation, Error, GroupId, LoadContext, Loaded, ToolGroup};
use toolshelf_shelf::{Limits, Shelf, ShelfEvent};

use crate::fixtures::{Log, echoes, id, refused};

const GROUPS: usize = 3;

const LIMITS: Limits = Limits {
    concurrent_loads: 2,
    load_timeout: Duration::from_millis(400),
    probe_timeout: Duration::from_secs(5),
    call_timeout: Duration::from_secs(600),
    backoff: Duration::from_millis(50),
    max_backoff: Duration::from_millis(300),
    max_schema_bytes: 1024,
    suggestions: 5,
};

/// What a loader does when its turn comes.
#[derive(Debug, Clone)]
enum Behaviour {
    Succeeds,
    Fails,
    Panics,
    Hangs,
    RepeatsAName,
}

/// What somebody does at some time.
#[derive(Debug, Clone)]
enum Act {
    Load { patience: Option<u64> },
    Invalidate,
    HandOver,
    Replace,
}

#[derive(Debug, Clone)]
struct Step {
    at: u64,
    yields: usize,
    group: usize,
    act: Act,
}

fn behaviour() -> impl Strategy<Value = (Behaviour, u64, usize)> {
    let kind = prop_oneof![
        4 => Just(Behaviour::Succeeds),
        3 => Just(Behaviour::Fails),
        1 => Just(Behaviour::Panics),
        1 => Just(Behaviour::Hangs),
        1 => Just(Behaviour::RepeatsAName),
    ];
    (kind, 0..60_u64, 0..4_usize)
}

fn step() -> impl Strategy<Value = Step> {
    let act = prop_oneof![
        8 => prop::option::of(0..100_u64).prop_map(|patience| Act::Load { patience }),
        2 => Just(Act::Invalidate),
        1 => Just(Act::HandOver),
        1 => Just(Act::Replace),
    ];
    (0..300_u64, 0..4_usize, 0..GROUPS, act).prop_map(|(at, yields, group, act)| Step {
        at,
        yields,
        group,
        act,
    })
}

async fn yields(times: usize) {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
}

/// Something that was seen, with the time at which it was.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Seen {
    Started,
    Loaded,
    Failed,
    /// A load whose group was changed ended.
    Stale,
    /// The group was changed from outside.
    Changed,
}

/// What is seen of the loaders of a world.
#[derive(Default)]
struct World {
    seen: Mutex<BTreeMap<GroupId, Vec<(Instant, Seen)>>>,
    running: [AtomicUsize; GROUPS],
    total: AtomicUsize,
    /// Counts changes of each group; a loader returns what it was when it began.
    epoch: [AtomicU64; GROUPS],
    faults: Mutex<Vec<String>>,
}

impl World {
    fn note(&self, group: &GroupId, seen: Seen) {
        let mut all = self.seen.lock().unwrap();
        all.entry(group.clone())
            .or_default()
            .push((Instant::now(), seen));
    }

    fn fault(&self, what: String) {
        self.faults.lock().unwrap().push(what);
    }

    fn group(self: &Arc<Self>, at: usize, script: Vec<(Behaviour, u64, usize)>) -> ToolGroup {
        let world = self.clone();
        let script = Mutex::new(script.into_iter().cycle());
        let loader = move |_: LoadContext| {
            let (world, (behaviour, pause, turns)) =
                (world.clone(), script.lock().unwrap().next().unwrap());
            async move {
                let _running = Running::begin(&world, at);
                let epoch = world.epoch[at].load(Ordering::SeqCst);
                yields(turns).await;
                tokio::time::sleep(Duration::from_millis(pause)).await;
                match behaviour {
                    Behaviour::Succeeds => Ok(tools(at, epoch)),
                    Behaviour::Fails => Err(refused()),
                    Behaviour::Panics => panic!("of a loader"),
                    Behaviour::Hangs => std::future::pending::<Result<Loaded, Error>>().await,
                    Behaviour::RepeatsAName => {
                        Ok(echoes(&Log::default(), &name(at), &["same", "same"]))
                    }
                }
            }
        };
        ToolGroup::new(id(&name(at)), loader)
    }
}

/// A loader that runs; it may be dropped at any time.
struct Running<'a>(&'a World, usize);

impl<'a> Running<'a> {
    fn begin(world: &'a World, at: usize) -> Self {
        if world.running[at].fetch_add(1, Ordering::SeqCst) != 0 {
            world.fault(format!("two loads of {} in flight", name(at)));
        }
        if world.total.fetch_add(1, Ordering::SeqCst) >= LIMITS.concurrent_loads {
            world.fault("more loaders run than the limit allows".to_owned());
        }
        Self(world, at)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running[self.1].fetch_sub(1, Ordering::SeqCst);
        self.0.total.fetch_sub(1, Ordering::SeqCst);
    }
}

fn name(at: usize) -> String {
    format!("g{at}")
}

/// Tools whose name says in which epoch they were loaded.
fn tools(at: usize, epoch: u64) -> Loaded {
    echoes(&Log::default(), &name(at), &[&format!("epoch_{epoch}")])
}

fn epoch_of(loaded: &toolshelf_core::LoadedGroup) -> u64 {
    let name = loaded.tools[0].key.tool.as_str();
    name.strip_prefix("epoch_").unwrap().parse().unwrap()
}

/// One who acts. A change counts before it is made, so that nobody who begins after it
/// may get what was before.
async fn act(world: Arc<World>, shelf: Shelf, step: Step) {
    tokio::time::sleep(Duration::from_millis(step.at)).await;
    yields(step.yields).await;
    let group = id(&name(step.group));
    let next_epoch = || world.epoch[step.group].fetch_add(1, Ordering::SeqCst) + 1;
    match step.act {
        Act::Load { patience } => {
            let began_in = world.epoch[step.group].load(Ordering::SeqCst);
            let cancellation = Cancellation::new();
            let load = shelf.load(&group, &cancellation);
            let load = async {
                match patience {
                    None => load.await,
                    Some(patience) => {
                        let gives_up = async {
                            tokio::time::sleep(Duration::from_millis(patience)).await;
                            cancellation.cancel();
                        };
                        let (result, ()) = futures::future::join(load, gives_up).await;
                        result
                    }
                }
            };
            // Each load in turn may take its time, and a change begins it anew.
            let bound = LIMITS.load_timeout * 40;
            match tokio::time::timeout(bound, load).await {
                Err(_) => world.fault(format!("a waiter for {group} waited for ever")),
                Ok(Ok(loaded)) if epoch_of(&loaded) < began_in => {
                    world.fault(format!(
                        "a waiter for {group} got what was invalidated before"
                    ));
                }
                Ok(Err(error)) if error.retry_delay() > Some(LIMITS.max_backoff) => {
                    world.fault(format!("a pause of {:?}", error.retry_delay()));
                }
                Ok(_) => {}
            }
        }
        Act::Invalidate => {
            next_epoch();
            world.note(&group, Seen::Changed);
            shelf.invalidate(&group);
        }
        Act::HandOver => {
            let epoch = next_epoch();
            world.note(&group, Seen::Changed);
            // It may have been removed.
            let _ = shelf.hand_over(&group, tools(step.group, epoch));
        }
        Act::Replace => {
            next_epoch();
            world.note(&group, Seen::Changed);
            if shelf.remove(&group) {
                let (world, at) = (world.clone(), step.group);
                let succeeds = move |_: LoadContext| {
                    let loaded = tools(at, world.epoch[at].load(Ordering::SeqCst));
                    async move { Ok(loaded) }
                };
                let _ = shelf.insert(ToolGroup::new(group, succeeds));
            }
        }
    }
}

fn observed(world: &Arc<World>) -> impl Fn(&ShelfEvent) + Send + Sync + use<> {
    let world = world.clone();
    move |event| match event {
        ShelfEvent::LoadStarted { group, .. } => world.note(group, Seen::Started),
        ShelfEvent::Loaded { group, .. } => world.note(group, Seen::Loaded),
        ShelfEvent::LoadFailed { group, error, .. } => {
            let stale = error.kind() == toolshelf_core::ErrorKind::Cancelled;
            world.note(group, if stale { Seen::Stale } else { Seen::Failed });
        }
        _ => {}
    }
}

/// Checks the history of one group: each start has an end before the next start, none
/// follows a success without a change in between, and none comes before the pause after
/// a failure is over.
fn check_history(history: &[(Instant, Seen)]) -> Result<(), String> {
    let mut flying = false;
    let mut loaded = false;
    let mut failures = 0;
    let mut paused_until = None;
    for (at, (time, seen)) in history.iter().enumerate() {
        let here = || {
            format!(
                "at {at} of {:?}",
                history.iter().map(|(_, seen)| seen).collect::<Vec<_>>()
            )
        };
        match seen {
            Seen::Started => {
                if flying || loaded || paused_until.is_some_and(|until| time < &until) {
                    return Err(format!("a load too many or too early {}", here()));
                }
                flying = true;
            }
            Seen::Loaded | Seen::Failed | Seen::Stale if !flying => {
                return Err(format!("an end without a start {}", here()));
            }
            Seen::Loaded => {
                (flying, loaded, failures, paused_until) = (false, true, 0, None);
            }
            Seen::Failed => {
                let pause = LIMITS.backoff * (1 << failures.min(10));
                paused_until = Some(*time + pause.min(LIMITS.max_backoff));
                failures += 1;
                flying = false;
            }
            Seen::Stale => flying = false,
            Seen::Changed => (loaded, failures, paused_until) = (false, 0, None),
        }
    }
    match flying {
        true => Err("a start without an end".to_owned()),
        false => Ok(()),
    }
}

fn run(scripts: Vec<Vec<(Behaviour, u64, usize)>>, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let world = Arc::new(World::default());
    // A removed group's loader may still be dropped when its successor begins, which is
    // another one.
    let replaced: Vec<usize> = steps
        .iter()
        .filter(|step| matches!(step.act, Act::Replace))
        .map(|step| step.group)
        .collect();
    runtime.block_on(async {
        let groups = scripts.into_iter().enumerate();
        let shelf = Shelf::builder()
            .groups(groups.map(|(at, script)| world.group(at, script)))
            .limits(LIMITS)
            .observer(observed(&world))
            .build()
            .unwrap();
        let actors = steps
            .into_iter()
            .map(|step| tokio::spawn(act(world.clone(), shelf.clone(), step)));
        for actor in actors.collect::<Vec<_>>() {
            actor.await.unwrap();
        }
        // Loads that nobody waits for any more end too.
        tokio::time::sleep(LIMITS.load_timeout * 10).await;
        shelf.with_groups(|groups| {
            for (group, entry) in groups.iter() {
                if entry.condition.as_str() == "pending" {
                    world.fault(format!("{group} is pending for ever"));
                }
            }
        });
    });
    let faults = world.faults.lock().unwrap();
    prop_assert!(faults.is_empty(), "{faults:?}");
    for (group, history) in &*world.seen.lock().unwrap() {
        let at: usize = group.as_str()[1..].parse().unwrap();
        if !replaced.contains(&at) {
            prop_assert_eq!(check_history(history), Ok(()), "{}", group);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn loads_keep_their_promises_in_any_interleaving(
        scripts in prop::collection::vec(prop::collection::vec(behaviour(), 1..6), GROUPS),
        steps in prop::collection::vec(step(), 1..25),
    ) {
        // Loaders that panic are meant to.
        quietly(|| run(scripts, steps))?;
    }
}

/// Runs without the messages of panics that are part of the play.
fn quietly<T>(play: impl FnOnce() -> T) -> T {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref::<&str>() != Some(&"of a loader") {
                usual(info);
            }
        }));
    });
    play()
}

/// On several threads only what does not depend on an order of observations is checked.
#[test]
fn loads_keep_their_promises_on_several_threads() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(4)
        .enable_time()
        .build()
        .unwrap();
    let running: Arc<[AtomicUsize; GROUPS]> = Arc::default();
    let most: Arc<AtomicUsize> = Arc::default();
    let successes: Arc<[AtomicUsize; GROUPS]> = Arc::default();
    let invalidations: Arc<[AtomicUsize; GROUPS]> = Arc::default();
    let groups = (0..GROUPS).map(|at| {
        let (running, most) = (running.clone(), most.clone());
        ToolGroup::new(id(&name(at)), move |_: LoadContext| {
            let (running, most) = (running.clone(), most.clone());
            async move {
                let before = running[at].fetch_add(1, Ordering::SeqCst);
                most.fetch_max(before + 1, Ordering::SeqCst);
                yields(5).await;
                running[at].fetch_sub(1, Ordering::SeqCst);
                Ok(tools(at, 0))
            }
        })
    });
    let counted = successes.clone();
    let shelf = Shelf::builder()
        .groups(groups)
        .observer(move |event: &ShelfEvent| {
            if let ShelfEvent::Loaded { group, .. } = event {
                let at: usize = group.as_str()[1..].parse().unwrap();
                counted[at].fetch_add(1, Ordering::SeqCst);
            }
        })
        .build()
        .unwrap();
    runtime.block_on(async {
        let actors = (0..24).map(|actor| {
            let (shelf, invalidations) = (shelf.clone(), invalidations.clone());
            tokio::spawn(async move {
                for round in 0..60 {
                    let at = (actor + round) % GROUPS;
                    let group = id(&name(at));
                    if (actor * 7 + round) % 10 == 0 {
                        invalidations[at].fetch_add(1, Ordering::SeqCst);
                        shelf.invalidate(&group);
                    }
                    match shelf.load(&group, &Cancellation::new()).await {
                        Ok(loaded) => assert_eq!(loaded.tools.len(), 1),
                        // Somebody invalidated it over and over again.
                        Err(error) => assert!(error.kind().is_retryable()),
                    }
                }
            })
        });
        for actor in actors.collect::<Vec<_>>() {
            actor.await.unwrap();
        }
    });
    assert_eq!(
        most.load(Ordering::SeqCst),
        1,
        "two loads of a group in flight"
    );
    for at in 0..GROUPS {
        let (loads, changes) = (&successes[at], &invalidations[at]);
        assert!(loads.load(Ordering::SeqCst) <= changes.load(Ordering::SeqCst) + 1);
    }
}

//! Loading: once at a time for a group, in parallel for several, with deadline,
//! back-off, cancellation and invalidation.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;
use toolshelf_core::{
    Cancellation, Condition, Error, ErrorKind, GroupId, Groups, LoadContext, Loaded, LoadedGroup,
    ToolGroup,
};

use crate::limits::Limits;
use crate::observer::{LoadCause, Observer, ShelfEvent};
use crate::validate::Compiled;

/// How often one request for a load is begun anew because the group was invalidated
/// under way.
const MAX_RESTARTS: usize = 8;

/// The tools of a group and their compiled schemas, in the same order.
pub(crate) struct Shelved {
    pub(crate) loaded: Arc<LoadedGroup>,
    pub(crate) compiled: Vec<Compiled>,
}

impl Shelved {
    fn new(loaded: LoadedGroup) -> Self {
        Self {
            compiled: loaded.tools.iter().map(|_| Compiled::default()).collect(),
            loaded: Arc::new(loaded),
        }
    }
}

#[derive(Clone)]
enum Outcome {
    Settled(Result<Arc<Shelved>, Arc<Error>>),
    /// The group was changed while it was loaded: what came is of no use.
    Stale,
}

/// A load that is under way.
struct InFlight {
    /// Different for every load of a shelf, so that one which outlives its group is not
    /// taken for a load of another group of the same id.
    id: u64,
    begun: Instant,
    /// Whether the group was changed since it began.
    stale: bool,
    cancellation: Cancellation,
    outcome: watch::Receiver<Option<Outcome>>,
}

#[derive(Default)]
struct Slot {
    flight: Option<InFlight>,
    shelved: Option<Arc<Shelved>>,
    failures: u32,
    retry_at: Option<Instant>,
}

impl Slot {
    /// Forgets what is loaded, and failures; what a load that is under way brings is of
    /// no use.
    fn reset(&mut self) {
        self.shelved = None;
        self.failures = 0;
        self.retry_at = None;
        if let Some(flight) = &mut self.flight {
            flight.stale = true;
        }
    }
}

/// The groups of a shelf and the state of their loads, under one lock that is never
/// held across an await.
#[derive(Default)]
pub(crate) struct Table {
    pub(crate) groups: Groups,
    slots: HashMap<GroupId, Slot>,
    flights: u64,
    /// Grows with every change that a surface can depend on.
    pub(crate) revision: u64,
}

/// Loads groups.
pub(crate) struct Loads {
    table: RwLock<Table>,
    permits: Arc<Semaphore>,
    limits: Limits,
    context: LoadContext,
    observer: Option<Arc<dyn Observer>>,
    /// Raised when the shelf is dropped.
    shelf_gone: Cancellation,
}

impl Drop for Loads {
    fn drop(&mut self) {
        self.shelf_gone.cancel();
    }
}

enum Begin {
    Ready(Arc<Shelved>),
    Flight(watch::Receiver<Option<Outcome>>),
    Refused(Arc<Error>),
}

impl Loads {
    pub(crate) fn new(
        groups: Groups,
        limits: Limits,
        context: LoadContext,
        observer: Option<Arc<dyn Observer>>,
    ) -> Self {
        Self {
            table: RwLock::new(Table {
                groups,
                ..Table::default()
            }),
            permits: Arc::new(Semaphore::new(limits.concurrent_loads.max(1))),
            limits,
            context,
            observer,
            shelf_gone: Cancellation::new(),
        }
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the observer. It only looks on: when it panics, what it looks at goes on.
    pub(crate) fn tell(&self, event: &ShelfEvent) {
        if let Some(observer) = &self.observer {
            let _ = std::panic::catch_unwind(AssertUnwindSafe(|| observer.observe(event)));
        }
    }

    /// The tools of a group if it is loaded.
    pub(crate) fn shelved(&self, group: &GroupId) -> Option<Arc<Shelved>> {
        self.read()
            .slots
            .get(group)
            .and_then(|slot| slot.shelved.clone())
    }

    /// Loads a group as [`Loads::load`] does, but does not wait for a load that has been under
    /// way for long: it goes on, and its result is for others.
    pub(crate) async fn probe(
        self: &Arc<Self>,
        group: &GroupId,
        cause: LoadCause,
        cancellation: &Cancellation,
    ) -> Result<Arc<Shelved>, Arc<Error>> {
        let age = self.read().slots.get(group).and_then(|slot| {
            let flight = slot.flight.as_ref()?;
            Some(flight.begun.elapsed())
        });
        let patience = self.limits.probe_timeout;
        let patience = patience.saturating_sub(age.unwrap_or_default());
        let load = self.load(group, cause, cancellation);
        match tokio::time::timeout(patience, load).await {
            Ok(ended) => ended,
            Err(_) => Err(Arc::new(
                Error::new(
                    ErrorKind::TimedOut,
                    format!("the names of group '{group}' are not known yet"),
                )
                .for_model_text("it is still starting."),
            )),
        }
    }

    /// Loads a group, or waits for the load that is under way.
    pub(crate) async fn load(
        self: &Arc<Self>,
        group: &GroupId,
        cause: LoadCause,
        cancellation: &Cancellation,
    ) -> Result<Arc<Shelved>, Arc<Error>> {
        let nobody_waits = || {
            Arc::new(Error::new(
                ErrorKind::Cancelled,
                format!("nobody waits for group '{group}' any more"),
            ))
        };
        for _ in 0..MAX_RESTARTS {
            if cancellation.is_cancelled() {
                return Err(nobody_waits());
            }
            let mut flight = match self.begin(group, cause) {
                Begin::Ready(shelved) => return Ok(shelved),
                Begin::Refused(error) => return Err(error),
                Begin::Flight(flight) => flight,
            };
            let outcome = tokio::select! {
                biased;
                settled = flight.wait_for(Option::is_some) => match settled {
                    Ok(outcome) => outcome.clone(),
                    Err(_) => None,
                },
                () = cancellation.cancelled() => return Err(nobody_waits()),
            };
            match outcome {
                Some(Outcome::Settled(result)) => return result,
                Some(Outcome::Stale) => {}
                None => break,
            }
        }
        Err(Arc::new(
            Error::new(
                ErrorKind::Unavailable,
                format!("the load of group '{group}' was given up"),
            )
            .for_model_text(format!(
                "The load of group '{group}' was given up. Try again."
            )),
        ))
    }

    fn begin(self: &Arc<Self>, group: &GroupId, cause: LoadCause) -> Begin {
        if let Some(shelved) = self.shelved(group) {
            return Begin::Ready(shelved);
        }
        let mut table = self.write();
        let Table {
            groups,
            slots,
            flights,
            ..
        } = &mut *table;
        let Some(entry) = groups.get(group.as_str()) else {
            return Begin::Refused(Arc::new(
                Error::new(ErrorKind::NotFound, format!("there is no group '{group}'"))
                    .for_model_text(format!("There is no group '{group}'.")),
            ));
        };
        let definition = entry.group.clone();
        let failure = entry.condition.failure().cloned();
        let slot = slots.entry(group.clone()).or_default();
        // Between the look without the write lock and this one somebody may have been
        // faster.
        if let Some(shelved) = &slot.shelved {
            return Begin::Ready(shelved.clone());
        }
        if let Some(flight) = &slot.flight {
            return Begin::Flight(flight.outcome.clone());
        }
        let now = Instant::now();
        if let (Some(retry_at), Some(failure)) = (slot.retry_at, failure)
            && retry_at > now
        {
            return Begin::Refused(Arc::new(failure.duplicate().retry_after(retry_at - now)));
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return Begin::Refused(Arc::new(Error::new(
                ErrorKind::Internal,
                "groups are loaded on a tokio runtime, and there is none here",
            )));
        };
        let (sender, outcome) = watch::channel(None);
        *flights += 1;
        let mut context = self.context.clone();
        context.cancellation = self.shelf_gone.child();
        slot.flight = Some(InFlight {
            id: *flights,
            begun: now,
            stale: false,
            cancellation: context.cancellation.clone(),
            outcome: outcome.clone(),
        });
        let flight = Flight {
            loads: Arc::downgrade(self),
            group: definition,
            id: *flights,
            cause,
            begun: now,
            sender,
            ended: false,
        };
        groups.set_condition(group, Condition::Pending);
        drop(table);

        self.tell(&ShelfEvent::LoadStarted {
            group: group.clone(),
            cause,
        });
        runtime.spawn(flight.run(self.permits.clone(), context, self.limits.load_timeout));
        Begin::Flight(outcome)
    }

    /// Ends a load: the condition is set before anybody who waits is woken.
    fn settle(&self, flight: &Flight, result: Result<Loaded, Error>) -> Outcome {
        let id = &flight.group.id;
        let result = result
            .and_then(|loaded| LoadedGroup::new(&flight.group, loaded))
            .map(|loaded| Arc::new(Shelved::new(loaded)))
            .map_err(|error| {
                let named =
                    |(key, value): &(&str, String)| *key == "server" && value == id.as_str();
                // A server that is a group under the same name is named once.
                if error.contexts().iter().any(named) {
                    return Arc::new(error);
                }
                Arc::new(error.context("group", id.as_str()))
            });
        let outcome = self.settle_slot(flight, result);
        let took = flight.begun.elapsed();
        let failed = |error: Arc<Error>| ShelfEvent::LoadFailed {
            group: id.clone(),
            cause: flight.cause,
            error,
            took,
        };
        self.tell(&match &outcome {
            Outcome::Settled(Ok(shelved)) => ShelfEvent::Loaded {
                group: id.clone(),
                cause: flight.cause,
                loaded: shelved.loaded.clone(),
                took,
            },
            Outcome::Settled(Err(error)) => failed(error.clone()),
            Outcome::Stale => failed(Arc::new(
                Error::new(
                    ErrorKind::Cancelled,
                    "the group was changed while it was loaded",
                )
                .context("group", id.as_str()),
            )),
        });
        outcome
    }

    fn settle_slot(&self, flight: &Flight, result: Result<Arc<Shelved>, Arc<Error>>) -> Outcome {
        let id = &flight.group.id;
        let limits = self.limits;
        let mut table = self.write();
        let Table {
            groups,
            slots,
            revision,
            ..
        } = &mut *table;
        // A group that was removed, and perhaps added anew, is not this load's any more.
        let Some(slot) = slots.get_mut(id) else {
            return Outcome::Stale;
        };
        let Some(own) = slot.flight.take_if(|own| own.id == flight.id) else {
            return Outcome::Stale;
        };
        *revision += 1;
        if own.stale {
            // What was handed over meanwhile stays.
            if slot.shelved.is_none() {
                groups.set_condition(id, Condition::Declared);
            }
            return Outcome::Stale;
        }
        let condition = match &result {
            Ok(shelved) => {
                slot.failures = 0;
                slot.retry_at = None;
                slot.shelved = Some(shelved.clone());
                Condition::Ready(shelved.loaded.clone())
            }
            Err(error) => {
                slot.failures = slot.failures.saturating_add(1);
                slot.retry_at = Some(Instant::now() + limits.pause_after(slot.failures));
                match error.kind() {
                    ErrorKind::NeedsSignIn => Condition::NeedsSignIn(error.clone()),
                    _ => Condition::Failed(error.clone()),
                }
            }
        };
        groups.set_condition(id, condition);
        Outcome::Settled(result)
    }

    /// Takes what the host loaded itself.
    pub(crate) fn hand_over(&self, group: &GroupId, loaded: Loaded) -> Result<(), Error> {
        let mut table = self.write();
        let Some(entry) = table.groups.get(group.as_str()) else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("there is no group '{group}'"),
            ));
        };
        let shelved = Arc::new(Shelved::new(LoadedGroup::new(&entry.group, loaded)?));
        let condition = Condition::Ready(shelved.loaded.clone());
        let slot = table.slots.entry(group.clone()).or_default();
        slot.reset();
        // Nobody needs what a load that is under way would bring.
        if let Some(flight) = &slot.flight {
            flight.cancellation.cancel();
        }
        slot.shelved = Some(shelved);
        table.groups.set_condition(group, condition);
        table.revision += 1;
        Ok(())
    }

    /// Forgets what is loaded of a group, and its failures.
    ///
    /// A load that is under way goes on, and who waits for it waits for the next one too:
    /// servers that say that their tools changed while they are being connected to would
    /// otherwise never be.
    pub(crate) fn invalidate(&self, group: &GroupId) {
        let mut table = self.write();
        let Some(slot) = table.slots.get_mut(group) else {
            return;
        };
        slot.reset();
        let condition = if slot.flight.is_some() {
            Condition::Pending
        } else {
            Condition::Declared
        };
        table.groups.set_condition(group, condition);
        table.revision += 1;
    }

    pub(crate) fn insert(&self, group: ToolGroup) -> Result<(), Error> {
        let mut table = self.write();
        table.groups.insert(group)?;
        table.revision += 1;
        Ok(())
    }

    /// Removes a group; who waits for its load is told that it does not exist.
    pub(crate) fn remove(&self, group: &GroupId) -> bool {
        let mut table = self.write();
        if let Some(flight) = table.slots.remove(group).and_then(|slot| slot.flight) {
            flight.cancellation.cancel();
        }
        table.revision += 1;
        table.groups.remove(group).is_some()
    }
}

/// One run of a loader. It ends in any case: when it is dropped, as a runtime does with
/// its tasks when it is shut down, it has failed.
struct Flight {
    loads: Weak<Loads>,
    group: Arc<ToolGroup>,
    id: u64,
    cause: LoadCause,
    begun: Instant,
    sender: watch::Sender<Option<Outcome>>,
    ended: bool,
}

impl Flight {
    async fn run(mut self, permits: Arc<Semaphore>, context: LoadContext, timeout: Duration) {
        let cancellation = context.cancellation.clone();
        let result = tokio::select! {
            biased;
            () = cancellation.cancelled() => Err(Error::new(
                ErrorKind::Cancelled,
                "nobody wants the group any more",
            )),
            result = self.load(&permits, context, timeout) => result,
        };
        self.end(result);
    }

    async fn load(
        &mut self,
        permits: &Semaphore,
        mut context: LoadContext,
        timeout: Duration,
    ) -> Result<Loaded, Error> {
        // The wait for a turn is bounded by the time-outs of those who are before us. The
        // semaphore is never closed.
        let _permit = permits.acquire().await;
        self.begun = Instant::now();
        context.deadline = self.begun.into_std().checked_add(timeout);
        let id = &self.group.id;
        let loader = &self.group.loader;
        let load = AssertUnwindSafe(async { loader.load(context).await }).catch_unwind();
        match tokio::time::timeout(timeout, load).await {
            Ok(Ok(result)) => result,
            Ok(Err(_panic)) => Err(Error::new(
                ErrorKind::Internal,
                format!("the loader of group '{id}' panicked"),
            )),
            Err(_elapsed) => Err(Error::new(
                ErrorKind::TimedOut,
                format!("the loader of group '{id}' did not end within {timeout:?}"),
            )
            .for_model_text(format!(
                "Group '{id}' did not answer within {} s.",
                timeout.as_secs_f64().ceil() as u64
            ))),
        }
    }

    fn end(&mut self, result: Result<Loaded, Error>) {
        if let Some(loads) = self.loads.upgrade() {
            let outcome = loads.settle(self, result);
            self.sender.send_replace(Some(outcome));
        }
        self.ended = true;
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if !self.ended {
            self.end(Err(Error::new(
                ErrorKind::Unavailable,
                "the runtime of the load was shut down",
            )));
        }
    }
}

//! A session: a strategy, its state, and calls that go through both.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use toolshelf_core::catalog::CatalogFormat;
use toolshelf_core::codec::DiscoveryCodec;
use toolshelf_core::search::SearchIndex;
use toolshelf_core::tokens::TokenCounter;
use toolshelf_core::{
    Call, CallContext, Cancellation, Cx, Delta, Error, ErrorKind, Event, Need, Placement, Settled,
    State, Step, Strategy, Surface, is_legal_wire_name,
};

use crate::call::{self, CallReport};
use crate::observer::LoadCause;
use crate::shelf::{Shelf, contract_broken};

/// How often a planner may ask for needs within one step.
pub(crate) const MAX_ROUNDS: usize = 32;

/// What a strategy is told of where it is used.
///
/// ```
/// use toolshelf_core::Placement;
/// use toolshelf_shelf::SessionOptions;
/// let options = SessionOptions::placed(Placement::McpServer).context_window(200_000);
/// assert_eq!(options.context_window, Some(200_000));
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Where its texts go.
    pub placement: Placement,
    /// The model's context window in tokens, where it is known.
    pub context_window: Option<u64>,
    /// What counts tokens, for strategies that decide by them.
    pub counter: Option<Arc<dyn TokenCounter>>,
    /// The format of its catalog; `None` = its own.
    pub catalog: Option<Arc<dyn CatalogFormat>>,
    /// How the answers of its search name what was found; `None` = its own way.
    pub codec: Option<Arc<dyn DiscoveryCodec>>,
}

impl SessionOptions {
    /// Options for texts in a certain place.
    pub fn placed(placement: Placement) -> Self {
        Self {
            placement,
            ..Self::default()
        }
    }

    /// Sets the model's context window, in tokens.
    #[must_use]
    pub fn context_window(mut self, tokens: u64) -> Self {
        self.context_window = Some(tokens);
        self
    }

    /// Sets what counts tokens.
    #[must_use]
    pub fn counter(mut self, counter: Arc<dyn TokenCounter>) -> Self {
        self.counter = Some(counter);
        self
    }

    /// Sets the format of the catalog.
    #[must_use]
    pub fn catalog(mut self, format: Arc<dyn CatalogFormat>) -> Self {
        self.catalog = Some(format);
        self
    }

    /// Sets how the answers of a search name what was found.
    #[must_use]
    pub fn codec(mut self, codec: Arc<dyn DiscoveryCodec>) -> Self {
        self.codec = Some(codec);
        self
    }
}

/// The error of tools that no request can carry. A client is told whose they are; a name may
/// come from the configuration, and is for the operator.
fn unlisted(strategy: &dyn Strategy, what: &str) -> Error {
    contract_broken(strategy, what).for_model_text(format!(
        "The strategy '{}' offers tools that cannot be listed. Its operator finds the cause in the \
         log.",
        strategy.name()
    ))
}

struct Kept {
    state: Arc<State>,
    state_revision: u64,
    surface: Option<KeptSurface>,
    /// The name of the last call, and how many calls of it came in a row that count: see
    /// [`Cx::repeats`].
    streak: (String, usize),
}

impl Kept {
    fn apply(&mut self, deltas: &[Delta]) {
        if deltas.is_empty() {
            return;
        }
        let state = Arc::make_mut(&mut self.state);
        for delta in deltas {
            state.apply(delta);
        }
        self.state_revision += 1;
    }
}

#[derive(Clone)]
struct KeptSurface {
    surface: Arc<Surface>,
    state_revision: u64,
    table_revision: u64,
}

/// One conversation over a shelf. All methods take `&self`: calls may run at the same
/// time.
pub struct Session {
    shelf: Shelf,
    strategy: Arc<dyn Strategy>,
    options: SessionOptions,
    kept: Mutex<Kept>,
}

impl Session {
    pub(crate) fn new(
        shelf: Shelf,
        strategy: Arc<dyn Strategy>,
        options: SessionOptions,
        state: State,
    ) -> Result<Self, Error> {
        for name in strategy.own_tools() {
            if !is_legal_wire_name(&name) {
                return Err(unlisted(
                    strategy.as_ref(),
                    &format!(
                        "has a tool of its own under the illegal name {name:?}: names have 1 to \
                         64 letters, digits, '_' and '-' of ASCII"
                    ),
                ));
            }
            let taken =
                shelf.with_groups(|groups| groups.by_wire_name(&name).map(|key| key.group.clone()));
            if let Some(group) = taken {
                return Err(Error::new(
                    ErrorKind::InvalidDefinition,
                    format!(
                        "group '{group}' offers a tool under the name '{name}', which the \
                         strategy '{}' needs for its own; rename the tool or give the group \
                         qualified names",
                        strategy.name()
                    ),
                ));
            }
        }
        Ok(Self {
            shelf,
            strategy,
            options,
            kept: Mutex::new(Kept {
                state: Arc::new(state),
                state_revision: 0,
                surface: None,
                streak: Default::default(),
            }),
        })
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The shelf below.
    pub fn shelf(&self) -> &Shelf {
        &self.shelf
    }

    /// The strategy.
    pub fn strategy(&self) -> &Arc<dyn Strategy> {
        &self.strategy
    }

    /// The state as it is now, to be kept beside the history.
    pub fn state(&self) -> Arc<State> {
        self.kept().state.clone()
    }

    /// A session of its own with the state as it is now, over the same shelf. What it
    /// does never changes this one. It goes on with the same history, so a surface that
    /// is stable stays the same bytes for it.
    pub fn fork(&self) -> Self {
        let kept = self.kept();
        Self {
            shelf: self.shelf.clone(),
            strategy: self.strategy.clone(),
            options: self.options.clone(),
            kept: Mutex::new(Kept {
                state: kept.state.clone(),
                state_revision: kept.state_revision,
                surface: kept.surface.clone(),
                streak: kept.streak.clone(),
            }),
        }
    }

    /// Tells the strategy that something happened.
    pub fn observe(&self, event: &Event) {
        self.with_cx(&Settled::new(), |cx| {
            let mut kept = self.kept();
            self.strategy
                .observe(cx, Arc::make_mut(&mut kept.state), event);
            kept.state_revision += 1;
        });
    }

    /// For each of the calls that are made at the same time, how many of its name came
    /// directly before all of them. They count for the next.
    fn repeats<'a>(&self, names: impl Iterator<Item = &'a str>) -> Vec<usize> {
        let streak = &mut self.kept().streak;
        let before = streak.clone();
        let count = |name: &str| {
            if streak.0 != name {
                *streak = (name.to_owned(), 0);
            }
            streak.1 += 1;
            if before.0 == name { before.1 } else { 0 }
        };
        names.map(count).collect()
    }

    /// Takes a call that ended in an error, or came too early, out of the row again: who
    /// corrects a call, or asks again, does not make it once more for nothing.
    fn uncount(&self, report: &CallReport) {
        let streak = &mut self.kept().streak;
        let counts = !report.is_error() && !report.premature;
        if !counts && streak.0 == report.envelope.name {
            streak.1 = streak.1.saturating_sub(1);
        }
    }

    pub(crate) fn apply(&self, deltas: &[Delta]) {
        self.kept().apply(deltas);
    }

    pub(crate) fn with_cx<T>(&self, settled: &Settled, look: impl FnOnce(&Cx<'_>) -> T) -> T {
        let table = self.shelf.inner.loads.read();
        let mut cx = Cx::new(&table.groups);
        cx.settled = Some(settled);
        let access = self.shelf.inner.access.as_deref();
        let index = self.shelf.inner.index.as_ref();
        let index = index.map(|index| index.over(&table.groups, access));
        cx.access = access;
        cx.index = index.as_ref().map(|index| index as &dyn SearchIndex);
        cx.counter = self.options.counter.as_deref();
        cx.catalog = self.options.catalog.as_deref();
        cx.codec = self.options.codec.as_deref();
        cx.context_window = self.options.context_window;
        cx.placement = self.options.placement;
        look(&cx)
    }

    /// What the next request carries. Made once for a stable strategy; otherwise anew
    /// when the state or a group has changed since.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Internal`] when the strategy breaks its contract,
    /// [`ErrorKind::Cancelled`].
    pub async fn surface(&self, cancellation: &Cancellation) -> Result<Arc<Surface>, Error> {
        let mut met = BTreeSet::new();
        let mut settled = Settled::new();
        for _ in 0..MAX_ROUNDS {
            let table_revision = self.shelf.inner.loads.read().revision;
            let (state, state_revision) = {
                let kept = self.kept();
                if let Some(made) = &kept.surface
                    && (self.strategy.stable()
                        || (made.state_revision == kept.state_revision
                            && made.table_revision == table_revision))
                {
                    return Ok(made.surface.clone());
                }
                (kept.state.clone(), kept.state_revision)
            };
            match self.with_cx(&settled, |cx| self.strategy.surface(cx, &state)) {
                Step::Done(surface) => {
                    self.check(&surface)?;
                    let mut kept = self.kept();
                    // Two callers may have made it at the same time; a stable one must
                    // stay what it was for the first.
                    if let (true, Some(made)) = (self.strategy.stable(), &kept.surface) {
                        return Ok(made.surface.clone());
                    }
                    // A surface may change the state that it was made of. Changes that
                    // came meanwhile are not in it, and it is not kept for them.
                    let unchanged = kept.state_revision == state_revision;
                    kept.apply(&surface.deltas);
                    let surface = Arc::new(surface);
                    kept.surface = Some(KeptSurface {
                        surface: told(&surface),
                        state_revision: if unchanged {
                            kept.state_revision
                        } else {
                            state_revision
                        },
                        table_revision,
                    });
                    return Ok(surface);
                }
                Step::Need(needs) => {
                    self.note_needs(&mut met, &needs)?;
                    self.meet(&needs, &mut settled, LoadCause::Surface, cancellation)
                        .await?;
                }
            }
        }
        Err(contract_broken(
            self.strategy.as_ref(),
            "never came to a surface",
        ))
    }

    fn check(&self, surface: &Surface) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        for slot in &surface.tools {
            if !is_legal_wire_name(&slot.name) {
                return Err(unlisted(
                    self.strategy.as_ref(),
                    &format!("offers a tool under the illegal name {:?}", slot.name),
                ));
            }
            if !names.insert(&slot.name) {
                return Err(unlisted(
                    self.strategy.as_ref(),
                    &format!("offers two tools under the name {:?}", slot.name),
                ));
            }
        }
        Ok(())
    }

    /// Refuses needs that were all met in this step already, and a step without any.
    pub(crate) fn note_needs(&self, met: &mut BTreeSet<Need>, needs: &[Need]) -> Result<(), Error> {
        let before = met.len();
        met.extend(needs.iter().cloned());
        if met.len() == before {
            return Err(contract_broken(
                self.strategy.as_ref(),
                &format!("asked for nothing that it had not asked for already: {needs:?}"),
            ));
        }
        Ok(())
    }

    /// Meets all needs but permissions, in parallel. A load that fails is settled too:
    /// the planner is told how each ended.
    pub(crate) async fn meet(
        &self,
        needs: &[Need],
        settled: &mut Settled,
        cause: LoadCause,
        cancellation: &Cancellation,
    ) -> Result<(), Error> {
        let loads = &self.shelf.inner.loads;
        let mut groups: BTreeMap<_, bool> = BTreeMap::new();
        for need in needs {
            let (group, whole) = match need {
                Need::Load(group) | Need::Descriptors(group) | Need::Settle(group) => (group, true),
                Need::Probe(key) => (&key.group, false),
                Need::SettleSoon(group) => (group, false),
                _ => continue,
            };
            // One that a policy kept from being loaded is settled already.
            if !settled.contains_key(group) {
                *groups.entry(group).or_default() |= whole;
            }
        }
        let ended =
            futures::future::join_all(groups.into_iter().map(|(group, whole)| async move {
                let result = if whole {
                    loads.load(group, cause, cancellation).await
                } else {
                    loads.probe(group, cause, cancellation).await
                };
                (group.clone(), result.map(|shelved| shelved.loaded.clone()))
            }))
            .await;
        settled.extend(ended);
        if cancellation.is_cancelled() {
            return Err(Error::new(ErrorKind::Cancelled, "the caller cancelled"));
        }
        Ok(())
    }

    /// Makes one call.
    ///
    /// The sequence is always the same: decode, resolve, policy on the name, load,
    /// repair, validate, hooks, validate again if they edited, policy on annotations and
    /// arguments, execute. What goes wrong on the way is in the report, with a text for
    /// the model; a call never fails without one.
    pub async fn call(&self, call: Call, context: CallContext) -> CallReport {
        let policy = call::policy_of(&self.shelf);
        let state = self.state();
        let repeats = self.repeats([call.name.as_str()].into_iter());
        let repeats = repeats.first().copied().unwrap_or_default();
        let applied = |deltas: Vec<Delta>| self.apply(&deltas);
        let report = call::run(self, &policy, &state, call, context, repeats, applied).await;
        self.uncount(&report);
        report
    }

    /// Makes the calls of one message of the model at the same time.
    ///
    /// All are resolved against the state, and judged by the policy, from before the
    /// batch. Changes of the state are applied in the order of the calls, whichever
    /// load ends first. Reports come in the order of the calls.
    pub async fn call_batch(&self, calls: Vec<(Call, CallContext)>) -> Vec<CallReport> {
        let policy = call::policy_of(&self.shelf);
        let state = self.state();
        let (senders, receivers): (Vec<_>, Vec<_>) =
            calls.iter().map(|_| oneshot::channel()).unzip();
        let repeats = self.repeats(calls.iter().map(|(call, _)| call.name.as_str()));
        let runs = calls.into_iter().zip(senders).zip(repeats).map(
            |(((call, context), sender), repeats)| {
                let (policy, state) = (&policy, &state);
                call::run(self, policy, state, call, context, repeats, move |deltas| {
                    // The receiver is in this same future; it is gone only when all is.
                    let _ = sender.send(deltas);
                })
            },
        );
        let apply = async {
            for receiver in receivers {
                if let Ok(deltas) = receiver.await {
                    self.apply(&deltas);
                }
            }
        };
        let (reports, ()) = futures::future::join(futures::future::join_all(runs), apply).await;
        reports.iter().for_each(|report| self.uncount(report));
        reports
    }
}

/// The surface for whoever asks again: news is told once.
fn told(surface: &Arc<Surface>) -> Arc<Surface> {
    if surface.news.is_empty() && surface.deltas.is_empty() {
        return surface.clone();
    }
    Arc::new(Surface {
        news: Vec::new(),
        deltas: Vec::new(),
        ..Surface::clone(surface)
    })
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session")
            .field("strategy", &self.strategy.name())
            .field("state", &self.state())
            .finish_non_exhaustive()
    }
}

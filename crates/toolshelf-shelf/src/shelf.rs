//! The shelf: groups, what is loaded of them, and the host's policies.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use futures::StreamExt;
use toolshelf_core::search::SearchIndex;
use toolshelf_core::{
    Access, Cancellation, Digest, Error, ErrorKind, GroupId, Groups, LoadContext, Loaded,
    LoadedGroup, State, Strategy, ToolGroup, ToolKey, ToolName,
};

use crate::index::ShelfIndex;
use crate::limits::Limits;
use crate::loads::Loads;
use crate::observer::{LoadCause, Observer};
use crate::policy::{CallHook, PermitAll, Policy};
use crate::session::{Session, SessionOptions};
use crate::validate::Validation;

/// How a tool's arguments are validated, by tool.
pub type ValidationOf = dyn Fn(&ToolKey) -> Validation + Send + Sync;

pub(crate) struct Inner {
    pub(crate) loads: Arc<Loads>,
    pub(crate) policy: Arc<dyn Policy>,
    pub(crate) hooks: Vec<Arc<dyn CallHook>>,
    pub(crate) access: Option<Arc<dyn Access>>,
    pub(crate) index: Option<ShelfIndex>,
    pub(crate) validation: Arc<ValidationOf>,
    pub(crate) limits: Limits,
}

/// The groups of a host, shared by all of its sessions. Cloning shares it.
///
/// Everything that loads needs a tokio runtime around it.
#[derive(Clone)]
pub struct Shelf {
    pub(crate) inner: Arc<Inner>,
}

/// Puts a shelf together.
pub struct ShelfBuilder {
    groups: Vec<ToolGroup>,
    policy: Arc<dyn Policy>,
    hooks: Vec<Arc<dyn CallHook>>,
    access: Option<Arc<dyn Access>>,
    index: Option<Arc<dyn SearchIndex>>,
    observer: Option<Arc<dyn Observer>>,
    validation: Arc<ValidationOf>,
    limits: Limits,
    context: LoadContext,
}

impl ShelfBuilder {
    /// Adds a group.
    #[must_use]
    pub fn group(mut self, group: ToolGroup) -> Self {
        self.groups.push(group);
        self
    }

    /// Adds groups.
    #[must_use]
    pub fn groups(mut self, groups: impl IntoIterator<Item = ToolGroup>) -> Self {
        self.groups.extend(groups);
        self
    }

    /// Sets who decides about calls. The default permits everything.
    #[must_use]
    pub fn policy(mut self, policy: impl Policy + 'static) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// Adds a hook.
    #[must_use]
    pub fn hook(mut self, hook: impl CallHook + 'static) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    /// Sets which tools exist for the model. The default: all that are not hidden.
    #[must_use]
    pub fn access(mut self, access: impl Access + 'static) -> Self {
        self.access = Some(Arc::new(access));
        self
    }

    /// Sets the index that strategies with a search need. The shelf hands it the tools
    /// that are loaded, those alone that exist for the model, and only when somebody
    /// searches; so it belongs to this shelf.
    #[must_use]
    pub fn index(mut self, index: Arc<dyn SearchIndex>) -> Self {
        self.index = Some(index);
        self
    }

    /// Sets who is told of what happens.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Sets how arguments are validated, by tool. The default is strict.
    #[must_use]
    pub fn validation(
        mut self,
        validation: impl Fn(&ToolKey) -> Validation + Send + Sync + 'static,
    ) -> Self {
        self.validation = Arc::new(validation);
        self
    }

    /// Sets bounds.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what every loader is told: tenant and user data. Cancellation and deadline
    /// are the driver's.
    #[must_use]
    pub fn load_context(mut self, context: LoadContext) -> Self {
        self.context = context;
        self
    }

    /// Puts the shelf together. Nothing is loaded yet.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDefinition`] when two groups have the same id, or declare the
    /// same bare name.
    pub fn build(self) -> Result<Shelf, Error> {
        let mut groups = Groups::new();
        for group in self.groups {
            groups.insert(group)?;
        }
        Ok(Shelf {
            inner: Arc::new(Inner {
                loads: Arc::new(Loads::new(groups, self.limits, self.context, self.observer)),
                policy: self.policy,
                hooks: self.hooks,
                access: self.access,
                index: self.index.map(ShelfIndex::new),
                validation: self.validation,
                limits: self.limits,
            }),
        })
    }
}

impl Shelf {
    /// Begins a shelf.
    pub fn builder() -> ShelfBuilder {
        ShelfBuilder {
            groups: Vec::new(),
            policy: Arc::new(PermitAll),
            hooks: Vec::new(),
            access: None,
            index: None,
            observer: None,
            validation: Arc::new(|_| Validation::default()),
            limits: Limits::default(),
            context: LoadContext::default(),
        }
    }

    /// A reference that does not keep the shelf alive.
    pub fn downgrade(&self) -> WeakShelf {
        WeakShelf {
            inner: Arc::downgrade(&self.inner),
        }
    }

    /// Looks at the groups and their conditions. The shelf is locked for changes while
    /// the closure runs: it must not block, nor call methods of the shelf or of a session.
    pub fn with_groups<T>(&self, look: impl FnOnce(&Groups) -> T) -> T {
        look(&self.inner.loads.read().groups)
    }

    /// Begins a session under a strategy.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidDefinition`] when a group offers a tool under a bare name
    /// that the strategy needs for a tool of its own; [`ErrorKind::Internal`] when the strategy
    /// has an own tool under a name that no provider takes.
    pub fn session(
        &self,
        strategy: Arc<dyn Strategy>,
        options: SessionOptions,
    ) -> Result<Session, Error> {
        let state = State::new(strategy.name());
        Session::new(self.clone(), strategy, options, state)
    }

    /// Loads a group, or returns what is loaded.
    ///
    /// # Errors
    ///
    /// The loader's failure, shared by all who wait for it; during the back-off after a
    /// failure, that failure with the time until the next try; [`ErrorKind::NotFound`]
    /// for an unknown group; [`ErrorKind::Cancelled`].
    pub async fn load(
        &self,
        group: &GroupId,
        cancellation: &Cancellation,
    ) -> Result<Arc<LoadedGroup>, Arc<Error>> {
        let loads = &self.inner.loads;
        let shelved = loads.load(group, LoadCause::Host, cancellation).await?;
        Ok(shelved.loaded.clone())
    }

    /// Loads all groups, in parallel under the bound of the shelf, and returns each
    /// result, sorted by id. One failure does not touch the others.
    pub async fn load_all(
        &self,
        cancellation: &Cancellation,
    ) -> Vec<(GroupId, Result<Arc<LoadedGroup>, Arc<Error>>)> {
        let ids: Vec<GroupId> =
            self.with_groups(|groups| groups.iter().map(|(id, _)| id.clone()).collect());
        futures::future::join_all(ids.into_iter().map(|id| async move {
            let result = self.load(&id, cancellation).await;
            (id, result)
        }))
        .await
    }

    /// Takes tools that the host loaded itself, in place of what was loaded. A load that is
    /// under way is cancelled, and who waits for it gets these.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`] for an unknown group, [`ErrorKind::InvalidDefinition`]
    /// when a name occurs twice.
    pub fn hand_over(&self, group: &GroupId, loaded: Loaded) -> Result<(), Error> {
        self.inner.loads.hand_over(group, loaded)
    }

    /// Forgets what is loaded of a group, and its failures: the next need loads it
    /// again, without back-off. The names of its tools stay known until then. Who waits
    /// for a load that is under way gets the result of the next one.
    pub fn invalidate(&self, group: &GroupId) {
        self.inner.loads.invalidate(group);
    }

    /// Adds a group while sessions run.
    ///
    /// # Errors
    ///
    /// As [`ShelfBuilder::build`].
    pub fn insert(&self, group: ToolGroup) -> Result<(), Error> {
        self.inner.loads.insert(group)
    }

    /// Removes a group; whether there was one. Calls that run go on; a load that is under
    /// way is cancelled.
    pub fn remove(&self, group: &GroupId) -> bool {
        self.inner.loads.remove(group)
    }

    /// Takes up a session again: loads what its state names, in the order in which it
    /// was loaded first, in parallel under the bound of the shelf.
    ///
    /// A group that fails, or that does not exist any more, is reported and does not
    /// touch the others; the state keeps it, so that it is loaded when it is needed.
    /// What is loaded here is not loaded again by the first call. A surface that is
    /// stable is made before anything is loaded, as it was when the session began.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Mismatch`] when the state is of another strategy or a newer version;
    /// [`ErrorKind::InvalidDefinition`] as [`Shelf::session`].
    pub async fn resume(
        &self,
        strategy: Arc<dyn Strategy>,
        options: SessionOptions,
        mut state: State,
        cancellation: &Cancellation,
    ) -> Result<(Session, ResumeReport), Error> {
        state.check(strategy.name())?;
        strategy.name().clone_into(&mut state.strategy);
        let stable = strategy.stable();
        let session = Session::new(self.clone(), strategy, options, state)?;
        if stable {
            // Who cares for the surface asks for it, and is told then if it cannot be made.
            let _ = session.surface(cancellation).await;
        }
        let state = session.state();
        let mut report = ResumeReport::default();
        let mut wanted = Vec::new();
        for (group, tools) in state.expanded_in_order() {
            // A record may hold an empty list, which asks for nothing.
            if tools.is_some_and(<[_]>::is_empty) {
                continue;
            }
            if self.with_groups(|groups| groups.get(group.as_str()).is_some()) {
                wanted.push((group.clone(), tools.unwrap_or_default().to_vec()));
            } else {
                report.unknown.push(group.clone());
            }
        }
        let loads = &self.inner.loads;
        let width = self.inner.limits.concurrent_loads.max(1);
        let results: Vec<_> = futures::stream::iter(wanted)
            .map(|(group, selected)| async move {
                let result = loads.load(&group, LoadCause::Resume, cancellation).await;
                (group, selected, result)
            })
            .buffered(width)
            .collect()
            .await;
        let mut disclosed = self.disclosed(&state);
        for (group, selected, result) in results {
            let loaded = match result {
                Ok(shelved) => shelved.loaded.clone(),
                Err(error) => {
                    report.failed.push((group, error));
                    continue;
                }
            };
            report.loaded.push(group.clone());
            let mut known = disclosed.remove(&group).unwrap_or_default();
            for tool in selected {
                known.entry(tool).or_insert(None);
            }
            for (tool, before) in known {
                let now = loaded
                    .get(tool.as_str())
                    .map(|tool| tool.definition().digest());
                let key = ToolKey::new(group.clone(), tool);
                if now.is_none() {
                    report.gone.push(key);
                } else if before.is_some() && before != now {
                    report.changed.push(key);
                }
            }
        }
        Ok((session, report))
    }

    /// The tools of which a state holds fingerprints, by group.
    fn disclosed(&self, state: &State) -> BTreeMap<GroupId, BTreeMap<ToolName, Option<Digest>>> {
        let mut disclosed: BTreeMap<GroupId, BTreeMap<_, _>> = BTreeMap::new();
        self.with_groups(|groups| {
            for (key, digest) in &state.fingerprints {
                if let Some(key) = groups.qualified(key) {
                    let group = disclosed.entry(key.group).or_default();
                    group.insert(key.tool, Some(*digest));
                }
            }
        });
        disclosed
    }
}

/// What became of a session's groups when it was resumed.
#[derive(Debug, Clone, Default)]
pub struct ResumeReport {
    /// Loaded again.
    pub loaded: Vec<GroupId>,
    /// Could not be loaded.
    pub failed: Vec<(GroupId, Arc<Error>)>,
    /// Groups that this shelf does not have.
    pub unknown: Vec<GroupId>,
    /// Tools that their group does not have any more.
    pub gone: Vec<ToolKey>,
    /// Tools whose definition is another one than when it was disclosed.
    pub changed: Vec<ToolKey>,
}

/// A shelf that is not kept alive, for loaders and tools that hand over what they learn.
#[derive(Clone)]
pub struct WeakShelf {
    inner: Weak<Inner>,
}

impl WeakShelf {
    /// The shelf, if somebody still holds it.
    pub fn upgrade(&self) -> Option<Shelf> {
        self.inner.upgrade().map(|inner| Shelf { inner })
    }
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.with_groups(|groups| f.debug_map().entries(groups.iter()).finish())
    }
}

/// The error for a strategy that breaks its contract.
pub(crate) fn contract_broken(strategy: &dyn Strategy, what: &str) -> Error {
    Error::new(
        ErrorKind::Internal,
        format!("the strategy '{}' {what}", strategy.name()),
    )
}

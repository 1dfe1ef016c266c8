//! The sessions of the clients that are connected.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use toolshelf_core::{GroupId, JsonText, Surface};
use toolshelf_mcp::Session as Client;
use toolshelf_shelf::Session;
use toolshelf_strategies::tst_auto::DECISION;

use crate::news::{Change, NewsDesk};

/// A client and its session on the shelf.
pub(crate) struct Connected {
    pub(crate) client: Client,
    pub(crate) session: Session,
    listed: Mutex<Option<Listed>>,
    /// The number of the first change that the client has not heard of.
    heard: AtomicUsize,
}

/// The list that was made of a surface.
struct Listed {
    surface: Arc<Surface>,
    descriptors: Arc<[JsonText]>,
}

impl Connected {
    pub(crate) fn new(client: Client, session: Session, heard: usize) -> Self {
        Self {
            client,
            session,
            listed: Mutex::new(None),
            heard: AtomicUsize::new(heard),
        }
    }

    /// The changes that the client has not heard of; each is given out once.
    pub(crate) fn news(&self, desk: &NewsDesk) -> Vec<Arc<Change>> {
        let heard = self.heard.load(Ordering::SeqCst);
        let (changes, next) = desk.since(heard);
        // Of two answers at the same time one takes them.
        match self
            .heard
            .compare_exchange(heard, next, Ordering::SeqCst, Ordering::SeqCst)
        {
            Ok(_) => changes,
            Err(_) => Vec::new(),
        }
    }

    /// The list of a surface, made once for as long as the surface is the same.
    pub(crate) fn list(
        &self,
        surface: &Arc<Surface>,
        make: impl FnOnce() -> Result<Vec<JsonText>, toolshelf_core::Error>,
    ) -> Result<Arc<[JsonText]>, toolshelf_core::Error> {
        let mut listed = lock(&self.listed);
        if let Some(listed) = &*listed
            && Arc::ptr_eq(&listed.surface, surface)
        {
            return Ok(listed.descriptors.clone());
        }
        let descriptors: Arc<[JsonText]> = make()?.into();
        *listed = Some(Listed {
            surface: surface.clone(),
            descriptors: descriptors.clone(),
        });
        Ok(descriptors)
    }

    /// Whether every tool is in the list: by the strategy, or by what it decided.
    fn lists_everything(&self) -> bool {
        let strategy = self.session.strategy();
        strategy.own_tools().is_empty() || self.decided().is_some_and(|made| made["defer"] == false)
    }

    /// Whether tools can join the list by a call.
    pub(crate) fn may_grow(&self) -> bool {
        !self.session.strategy().stable() && !self.lists_everything()
    }

    /// What `tst-auto` decided for this client, where that is its strategy.
    pub(crate) fn decided(&self) -> Option<Value> {
        self.session.state().latched.get(DECISION).cloned()
    }

    /// Whether tools of a group stand in the list that the client asked for last.
    fn lists(&self, group: &GroupId) -> bool {
        let listed = lock(&self.listed);
        let slots = listed.iter().flat_map(|listed| &listed.surface.tools);
        let mut keys = slots.filter_map(|slot| slot.key.as_ref());
        keys.any(|key| key.group == *group)
    }

    /// Whether the client has asked for the list.
    fn has_listed(&self) -> bool {
        lock(&self.listed).is_some()
    }
}

/// All clients by the id of their session.
#[derive(Default)]
pub(crate) struct Sessions(Mutex<BTreeMap<u64, Arc<Connected>>>);

impl Sessions {
    pub(crate) fn get(&self, client: &Client) -> Option<Arc<Connected>> {
        lock(&self.0).get(&client.id()).cloned()
    }

    pub(crate) fn insert(&self, connected: Connected) -> Arc<Connected> {
        let connected = Arc::new(connected);
        lock(&self.0).insert(connected.client.id(), connected.clone());
        connected
    }

    pub(crate) fn remove(&self, client: &Client) {
        lock(&self.0).remove(&client.id());
    }

    /// Tells those clients whose list it changes that tools of a group are others now. The
    /// list of a stable strategy stays as it is.
    pub(crate) fn tools_changed(&self, group: &GroupId) {
        let all: Vec<Arc<Connected>> = lock(&self.0).values().cloned().collect();
        for connected in all {
            let shows =
                connected.lists(group) || (connected.lists_everything() && connected.has_listed());
            if shows && !connected.session.strategy().stable() {
                connected.client.tools_changed();
            }
        }
    }

    /// Tells those clients that list every tool, and have done so, that there are more.
    pub(crate) fn tools_arrived(&self) {
        let all: Vec<Arc<Connected>> = lock(&self.0).values().cloned().collect();
        for connected in all {
            if connected.lists_everything() && connected.has_listed() {
                connected.client.tools_changed();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! The index that needs no model.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError, RwLock, RwLockReadGuard};

use toolshelf_core::search::{Found, Hit, IndexedTool, Match, SearchIndex, SearchQuery};
use toolshelf_core::{Error, GroupId};

use crate::concepts::concepts;
use crate::rank::{Scratch, rank};
use crate::store::Store;
use crate::weights::Weights;

/// The index `lexical/1`.
pub struct Lexical {
    store: RwLock<Store>,
    pending: Mutex<BTreeMap<GroupId, Vec<IndexedTool>>>,
    scratch: Mutex<Vec<Scratch>>,
}

impl Lexical {
    /// An empty index with other constants than the measured ones.
    pub fn with_weights(weights: Weights) -> Self {
        Self {
            store: RwLock::new(Store::new(weights)),
            pending: Mutex::default(),
            scratch: Mutex::default(),
        }
    }

    fn current(&self) -> RwLockReadGuard<'_, Store> {
        let lock = || self.pending.lock().unwrap_or_else(PoisonError::into_inner);
        let is_current = lock().is_empty();
        if !is_current {
            // Taken while the store is locked, so that nobody reads between the two.
            let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
            let pending = std::mem::take(&mut *lock());
            for (group, tools) in pending {
                store.replace(group, tools);
            }
        }
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for Lexical {
    fn default() -> Self {
        Self::with_weights(Weights::default())
    }
}

impl SearchIndex for Lexical {
    fn name(&self) -> &str {
        "lexical/1"
    }

    fn replace_group(&self, group: &GroupId, tools: Vec<IndexedTool>) {
        self.pending
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(group.clone(), tools);
    }

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        let store = self.current();
        let mut scratch = self
            .scratch
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop()
            .unwrap_or_default();
        let concepts = concepts(&query.text, &store);
        let ranked = rank(&store, &concepts, query.limit, |_| true, &mut scratch);
        self.scratch
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(scratch);
        Ok(Found::hits(
            ranked
                .into_iter()
                .map(|hit| Hit {
                    key: store.entry(hit.slot).tool.key.clone(),
                    score: f64::from(hit.score),
                    why: Match::Text,
                })
                .collect(),
        ))
    }
}

//! The search index of a shelf, which follows what is loaded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolshelf_core::search::{Found, IndexedTool, QueryForms, ScorePart, SearchIndex, SearchQuery};
use toolshelf_core::{Access, Error, Exposure, GroupEntry, GroupId, Groups, LoadedGroup, ToolKey};

/// An index, and what it was given.
pub(crate) struct ShelfIndex {
    index: Arc<dyn SearchIndex>,
    given: Mutex<BTreeMap<GroupId, Arc<LoadedGroup>>>,
}

impl ShelfIndex {
    pub(crate) fn new(index: Arc<dyn SearchIndex>) -> Self {
        Self {
            index,
            given: Mutex::default(),
        }
    }

    /// The index over groups as they are now.
    pub(crate) fn over<'a>(
        &'a self,
        groups: &'a Groups,
        access: Option<&'a dyn Access>,
    ) -> IndexOver<'a> {
        IndexOver {
            shelf: self,
            groups,
            access,
        }
    }

    /// Hands over the groups that have changed since the last search. Nothing is done for a
    /// shelf that nobody searches.
    fn follow(&self, groups: &Groups, access: Option<&dyn Access>) {
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        given.retain(|id, _| {
            let stays = groups
                .get(id.as_str())
                .is_some_and(|entry| entry.last.is_some());
            if !stays {
                self.index.replace_group(id, Vec::new());
            }
            stays
        });
        for (id, entry) in groups.iter() {
            // What was loaded last stays found while its server is away.
            let Some(loaded) = &entry.last else { continue };
            if given
                .get(id)
                .is_some_and(|before| Arc::ptr_eq(before, loaded))
            {
                continue;
            }
            self.index.replace_group(id, tools(entry, loaded, access));
            given.insert(id.clone(), loaded.clone());
        }
    }
}

/// The tools of a group that a search may find: those that exist for the model. One that is
/// in every request is found like any other, for who does not see that it is there.
fn tools(
    entry: &GroupEntry,
    loaded: &LoadedGroup,
    access: Option<&dyn Access>,
) -> Vec<IndexedTool> {
    let title = entry
        .group
        .title
        .as_deref()
        .or(loaded.server.title.as_deref());
    let description = entry
        .group
        .description
        .as_deref()
        .or(loaded.summary.as_deref());
    let text: Vec<&str> = title.into_iter().chain(description).collect();
    let group_text: Arc<str> = text.join("\n").into();
    let found = loaded.tools.iter().filter(|tool| {
        tool.exposure != Exposure::Hidden && access.is_none_or(|it| it.visible(&tool.key))
    });
    found
        .map(|tool| IndexedTool {
            key: tool.key.clone(),
            definition: tool.definition().clone(),
            group_text: group_text.clone(),
        })
        .collect()
}

/// The index as planners see it.
pub(crate) struct IndexOver<'a> {
    shelf: &'a ShelfIndex,
    groups: &'a Groups,
    access: Option<&'a dyn Access>,
}

impl SearchIndex for IndexOver<'_> {
    fn name(&self) -> &str {
        self.shelf.index.name()
    }

    fn forms(&self) -> QueryForms {
        self.shelf.index.forms()
    }

    /// Planners decide and change nothing.
    fn replace_group(&self, _group: &GroupId, _tools: Vec<IndexedTool>) {}

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        self.shelf.follow(self.groups, self.access);
        self.shelf.index.search(query)
    }

    fn explain(&self, query: &SearchQuery, key: &ToolKey) -> Result<Vec<ScorePart>, Error> {
        self.shelf.follow(self.groups, self.access);
        self.shelf.index.explain(query, key)
    }
}

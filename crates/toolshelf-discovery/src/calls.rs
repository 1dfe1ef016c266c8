//! Which call an answer belongs to, and so whether it may discover anything.

use std::collections::{BTreeMap, VecDeque};

use toolshelf_core::codec::IssueKind;

use crate::history::Called;

/// How many calls may wait for their answers. Older ones are forgotten beyond it; their
/// answers then count for nothing.
const MAX_OPEN: usize = 1_024;

/// Where an answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A tool whose results are read: its place in the list of sources.
    Source(usize),
    /// The provider's own search.
    ProviderSearch,
    /// A tool whose results say nothing.
    Elsewhere,
}

/// What is open under an id.
#[derive(Debug, Clone)]
struct Open {
    /// `None` after several calls to different tools with this id: nobody can tell which of them
    /// an answer belongs to.
    origin: Option<Origin>,
    /// The name of the tool, to compare with what an answer says. Kept for sources only.
    name: Option<Box<str>>,
    since: u64,
}

/// The calls that were not answered yet.
///
/// An id counts from its call to its answer. So an id that a model uses again later
/// means its latest call, a second answer means none, and two calls at once under one id
/// mean none either, unless both are to the same tool.
#[derive(Debug, Clone, Default)]
pub(crate) struct OpenCalls {
    by_id: BTreeMap<Box<str>, Open>,
    /// Calls without an id, in order, by name; of the model's last turn.
    in_order: VecDeque<(Option<Box<str>>, Origin)>,
    calls: u64,
}

impl OpenCalls {
    /// The model begins a turn.
    pub(crate) fn turn(&mut self) {
        self.in_order.clear();
    }

    /// The model calls.
    pub(crate) fn call(&mut self, id: Option<&str>, called: &Called<'_>, origin: Origin) {
        self.calls += 1;
        let name = match called {
            Called::Tool(name) => Some(&**name),
            Called::ProviderSearch => None,
        };
        let Some(id) = id else {
            if self.in_order.len() >= MAX_OPEN {
                self.in_order.pop_front();
            }
            self.in_order.push_back((name.map(Box::from), origin));
            return;
        };
        let since = self.calls;
        if let Some(open) = self.by_id.get_mut(id) {
            if open.origin != Some(origin) {
                open.origin = None;
            }
            open.since = since;
            return;
        }
        self.forget_the_oldest();
        let name = match origin {
            Origin::Source(_) => name.map(Box::from),
            _ => None,
        };
        let origin = Some(origin);
        self.by_id.insert(
            id.into(),
            Open {
                origin,
                name,
                since,
            },
        );
    }

    /// Drops the older half where there are too many, so that it seldom has to.
    fn forget_the_oldest(&mut self) {
        if self.by_id.len() < MAX_OPEN {
            return;
        }
        let mut ages: Vec<u64> = self.by_id.values().map(|open| open.since).collect();
        ages.sort_unstable();
        let middle = ages.get(MAX_OPEN / 2).copied().unwrap_or_default();
        self.by_id.retain(|_, open| open.since > middle);
    }

    /// A call is answered: where the answer comes from. It is open no longer.
    pub(crate) fn answer(
        &mut self,
        id: Option<&str>,
        called: Option<&Called<'_>>,
    ) -> Result<Origin, IssueKind> {
        match id {
            Some(id) => self.answer_by_id(id, called),
            None => self.answer_in_order(called),
        }
    }

    fn answer_by_id(&mut self, id: &str, called: Option<&Called<'_>>) -> Result<Origin, IssueKind> {
        let open = self.by_id.remove(id).ok_or(IssueKind::UnknownCall)?;
        let origin = open.origin.ok_or(IssueKind::AmbiguousCall)?;
        let agrees = match (origin, called) {
            (Origin::ProviderSearch, called) => called == Some(&Called::ProviderSearch),
            (Origin::Source(_), Some(Called::Tool(name))) => open.name.as_deref() == Some(name),
            (_, Some(Called::ProviderSearch)) => false,
            _ => true,
        };
        agrees.then_some(origin).ok_or(IssueKind::AmbiguousCall)
    }

    fn answer_in_order(&mut self, called: Option<&Called<'_>>) -> Result<Origin, IssueKind> {
        let name = match called.ok_or(IssueKind::UnknownCall)? {
            Called::Tool(name) => Some(&**name),
            Called::ProviderSearch => None,
        };
        let at = self
            .in_order
            .iter()
            .position(|(open, _)| open.as_deref() == name);
        at.and_then(|at| self.in_order.remove(at))
            .map(|(_, origin)| origin)
            .ok_or(IssueKind::UnknownCall)
    }
}

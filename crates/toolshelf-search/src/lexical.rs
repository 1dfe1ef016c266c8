//! The index that needs no model: parts that are built when they are needed, and searches
//! side by side.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use toolshelf_core::search::{
    Found, Hit, IndexedTool, Match, QueryForms, ScorePart, SearchIndex, SearchQuery,
};
use toolshelf_core::text::bounded_text;
use toolshelf_core::{
    Builder, Error, GroupId, NoOptions, Plugin, ToolKey, options_schema, read_options,
};

use crate::concepts::concepts;
use crate::explain::explain;
use crate::lookup::{MAX_NAME_BYTES, Named, is_name, lookup};
use crate::pattern::fitting;
use crate::query::{MAX_SELECTED, Query, invalid, letter, plain, read, too_many_tools};
use crate::rank::{Demand, Scored, best_of, in_order, rank};
use crate::required::having;
use crate::store::Store;
use crate::sums::Scratch;
use crate::weights::Weights;

/// The name of the index.
const NAME: &str = "lexical/1";

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "Names first, then words: field-weighted BM25 with inflections, synonyms and corrections.",
    build: Builder::SearchIndex(|options| {
        let NoOptions {} = read_options(NAME, options)?;
        Ok(Arc::new(Lexical::default()))
    }),
    options: options_schema::<NoOptions>,
};

toolshelf_core::submit!(PLUGIN);

/// The index `lexical/1`.
///
/// A group that was replaced is read at the next search. Searches run side by side; one
/// that finds groups to be read waits for that, as do those that come meanwhile.
///
/// ```
/// use std::sync::Arc;
/// use toolshelf_core::search::{IndexedTool, SearchIndex, SearchQuery};
/// use toolshelf_core::{GroupId, JsonText, ToolDefinition, ToolKey, ToolName};
/// use toolshelf_search::Lexical;
///
/// let group = GroupId::new("mail")?;
/// let tools = ["send_message", "list_folders"].map(|name| {
///     let name = ToolName::new(name)?;
///     let schema = JsonText::parse(r#"{"type":"object"}"#)?;
///     Ok(IndexedTool {
///         key: ToolKey::new(group.clone(), name.clone()),
///         definition: Arc::new(ToolDefinition::new(name, "", schema)?),
///         group_text: Arc::from("Mail"),
///     })
/// });
/// let index = Lexical::default();
/// index.replace_group(&group, tools.into_iter().collect::<Result<_, toolshelf_core::Error>>()?);
/// let query = |text: &str| SearchQuery { text: text.to_owned(), limit: 5, groups: Vec::new() };
/// let found = index.search(&query("sending a mesage"))?;
/// assert_eq!(found.hits[0].key.to_string(), "mail/send_message");
/// assert!(index.search(&query("bake a cake"))?.hits.is_empty());
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
pub struct Lexical {
    store: RwLock<Store>,
    /// Groups that were replaced since the store was last brought up to date.
    pending: Mutex<BTreeMap<GroupId, Vec<IndexedTool>>>,
    /// Memory of searches that have ended.
    scratch: Mutex<Vec<Scratch>>,
}

impl Default for Lexical {
    fn default() -> Self {
        Self::with_weights(Weights::default())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The store, brought up to date.
    fn store(&self) -> RwLockReadGuard<'_, Store> {
        let is_current = lock(&self.pending).is_empty();
        if !is_current {
            // What is pending is taken while the store is locked, so that nobody reads it
            // between the two.
            let mut store = self.store.write().unwrap_or_else(PoisonError::into_inner);
            let pending = std::mem::take(&mut *lock(&self.pending));
            for (group, tools) in pending {
                store.replace(group, tools);
            }
            store.settle();
        }
        self.store.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn with_scratch<T>(&self, work: impl FnOnce(&mut Scratch) -> T) -> T {
        let mut scratch = lock(&self.scratch).pop().unwrap_or_default();
        let result = work(&mut scratch);
        lock(&self.scratch).push(scratch);
        result
    }

    fn words(
        &self,
        store: &Store,
        text: &str,
        limit: usize,
        demand: Demand,
        eligible: &dyn Fn(u32) -> bool,
    ) -> Vec<Hit> {
        let named = lookup(text, store, eligible);
        let mut hits: Vec<Hit> = named
            .iter()
            .take(limit)
            .map(|(slot, named)| hit_by_name(store, *slot, *named))
            .collect();
        let others = |slot: u32| eligible(slot) && !named.iter().any(|(other, _)| *other == slot);
        let room = limit - hits.len();
        if room > 0 {
            let concepts = concepts(text, store);
            let ranked = match letter(text).filter(|_| concepts.is_empty()) {
                Some(regex) => fitting(&regex, store, room, others),
                None => self
                    .with_scratch(|scratch| rank(store, &concepts, room, demand, others, scratch)),
            };
            hits.extend(ranked.into_iter().map(|scored| hit_by_text(store, scored)));
        }
        hits
    }

    fn required(
        &self,
        store: &Store,
        required: &[&str],
        text: &str,
        limit: usize,
        scope: &Scope,
    ) -> Result<Vec<Hit>, Error> {
        let having = having(required, store, |slot| scope.holds(slot))?;
        let has = |slot: u32| having.binary_search_by_key(&slot, |hit| hit.slot).is_ok();
        let mut hits = self.words(store, text, limit, Demand::Order, &has);
        // They are in full what was asked for where no other word was.
        let is_all = concepts(text, store).is_empty();
        let is_new = |other: &Scored| {
            let key = &store.entry(other.slot).tool.key;
            !hits.iter().any(|hit| hit.key == *key)
        };
        let others = having.iter().copied().filter(is_new).collect();
        let order = |a: &Scored, b: &Scored| in_order(store, a, b);
        let others = best_of(others, limit - hits.len(), order);
        hits.extend(others.into_iter().map(|scored| {
            let score = if is_all { scored.score } else { 0.0 };
            hit_by_text(store, Scored { score, ..scored })
        }));
        Ok(hits)
    }
}

impl SearchIndex for Lexical {
    fn forms(&self) -> QueryForms {
        QueryForms::ALL
    }

    fn name(&self) -> &str {
        NAME
    }

    fn replace_group(&self, group: &GroupId, tools: Vec<IndexedTool>) {
        lock(&self.pending).insert(group.clone(), tools);
    }

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        if query.limit == 0 {
            return Err(invalid(
                "the limit is zero",
                "At least one result must be asked for: give a number of 1 or more.",
            ));
        }
        let store = self.store();
        let scope = Scope::new(&store, &query.groups);
        Ok(match meant(&store, &query.text, &scope)? {
            Query::Select(names) => select(&store, &names, &scope)?,
            Query::Pattern(regex) => Found::hits(
                fitting(&regex, &store, query.limit, |slot| scope.holds(slot))
                    .into_iter()
                    .map(|scored| hit_by_text(&store, scored))
                    .collect(),
            ),
            Query::Words { required, text } if required.is_empty() => {
                let holds = |slot: u32| scope.holds(slot);
                Found::hits(self.words(&store, &text, query.limit, scope.demand(), &holds))
            }
            Query::Words { required, text } => {
                Found::hits(self.required(&store, &required, &text, query.limit, &scope)?)
            }
        })
    }

    fn explain(&self, query: &SearchQuery, key: &ToolKey) -> Result<Vec<ScorePart>, Error> {
        let found = self.search(query)?;
        let Some(hit) = found.hits.iter().find(|hit| hit.key == *key) else {
            return Ok(Vec::new());
        };
        let store = self.store();
        let scope = Scope::new(&store, &query.groups);
        let concepts = match meant(&store, &query.text, &scope)? {
            Query::Words { text, .. } if hit.why == Match::Text => concepts(&text, &store),
            _ => Vec::new(),
        };
        // What has the required words and none of the others is scored by no concept.
        if !concepts.is_empty() && hit.score > 0.0 {
            return Ok(explain(&store, &concepts, hit));
        }
        let what = match hit.why {
            Match::Name => "name",
            Match::Suffix => "end of the name",
            _ => "pattern or required words",
        };
        Ok(vec![ScorePart {
            what: what.to_owned(),
            score: hit.score,
        }])
    }
}

/// What a query asks for: a tool, when its text is a tool's name, whatever it looks like.
fn meant<'a>(store: &Store, text: &'a str, scope: &Scope) -> Result<Query<'a>, Error> {
    if is_name(text, store, |slot| scope.holds(slot)) {
        Ok(plain(text))
    } else {
        read(text)
    }
}

/// Which places a search is about.
struct Scope(Option<Vec<Range<u32>>>);

impl Scope {
    fn new(store: &Store, groups: &[GroupId]) -> Self {
        Self((!groups.is_empty()).then(|| {
            let parts = groups.iter().filter_map(|group| store.part(group));
            parts.cloned().collect()
        }))
    }

    /// What a good match is.
    fn demand(&self) -> Demand {
        match self.0 {
            None => Demand::Good,
            Some(_) => Demand::Scoped,
        }
    }

    fn holds(&self, slot: u32) -> bool {
        match &self.0 {
            None => true,
            Some(parts) => parts.iter().any(|part| part.contains(&slot)),
        }
    }
}

/// All tools that are named, whatever the limit: who selects knows how many.
fn select(store: &Store, names: &[&str], scope: &Scope) -> Result<Found, Error> {
    let mut found = Found::default();
    for name in names {
        let named = lookup(name, store, |slot| scope.holds(slot));
        let Some((_, surest)) = named.first().copied() else {
            found.missing.push(bounded_text(name, MAX_NAME_BYTES));
            continue;
        };
        let meant = named.iter().filter(|(_, named)| *named == surest);
        for (slot, named) in meant {
            let hit = Hit {
                score: score_of(Named::Verbatim),
                ..hit_by_name(store, *slot, *named)
            };
            if !found.hits.iter().any(|other| other.key == hit.key) {
                found.hits.push(hit);
            }
        }
    }
    if found.hits.len() > MAX_SELECTED {
        return Err(too_many_tools(found.hits.len()));
    }
    Ok(found)
}

/// Above every score of a text.
fn score_of(named: Named) -> f64 {
    match named {
        Named::Verbatim => 4.0,
        Named::Normalised => 3.0,
        Named::Suffix => 2.0,
    }
}

fn hit_by_name(store: &Store, slot: u32, named: Named) -> Hit {
    Hit {
        key: store.entry(slot).tool.key.clone(),
        score: score_of(named),
        why: if named == Named::Suffix {
            Match::Suffix
        } else {
            Match::Name
        },
    }
}

fn hit_by_text(store: &Store, scored: Scored) -> Hit {
    Hit {
        key: store.entry(scored.slot).tool.key.clone(),
        score: f64::from(scored.score),
        why: Match::Text,
    }
}

//! The search index `overlap/1`: a tool fits as well as the share of the query's words that
//! stand in its name or description.
//!
//! ```
//! use toolshelf_core::search::{SearchIndex, SearchQuery};
//! let index = outside_overlap::Overlap::default();
//! let query = SearchQuery { text: "send mail".into(), limit: 5, groups: Vec::new() };
//! assert!(index.search(&query)?.hits.is_empty());
//! # Ok::<(), toolshelf_core::Error>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, PoisonError, RwLock};

use schemars::JsonSchema;
use serde::Deserialize;
use toolshelf_core::search::{
    Found, Hit, IndexedTool, Match, QueryForms, SearchIndex, SearchQuery,
};
use toolshelf_core::{
    Builder, Error, ErrorKind, GroupId, Plugin, ToolKey, options_schema, read_options,
};

const NAME: &str = "overlap/1";
const SELECT: &str = "select:";

/// The options.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct OverlapOptions {
    /// The least share of the query's words, in percent, that a good match has.
    #[schemars(range(min = 1, max = 100))]
    pub percent: u8,
}

impl Default for OverlapOptions {
    fn default() -> Self {
        Self { percent: 50 }
    }
}

/// The plugin.
pub const PLUGIN: Plugin = Plugin {
    name: NAME,
    provider: env!("CARGO_PKG_NAME"),
    about: "The share of the query's words that a name or description has.",
    build: Builder::SearchIndex(|options| Ok(Arc::new(Overlap::new(read_options(NAME, options)?)))),
    options: options_schema::<OverlapOptions>,
};

toolshelf_core::submit!(PLUGIN);

struct Document {
    key: ToolKey,
    /// Its name, letters and digits alone.
    name: String,
    words: BTreeSet<String>,
}

/// The index.
#[derive(Default)]
pub struct Overlap {
    options: OverlapOptions,
    groups: RwLock<BTreeMap<GroupId, Vec<Document>>>,
}

impl Overlap {
    /// An empty index.
    pub fn new(options: OverlapOptions) -> Self {
        Self {
            options,
            ..Self::default()
        }
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric());
    let words = parts.filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Letters and digits alone, so that `send-mail` is `send_mail`.
fn folded(text: &str) -> String {
    let letters = text.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

impl Document {
    fn new(tool: &IndexedTool) -> Self {
        let name = tool.key.tool.as_str();
        let about = tool.definition.description().unwrap_or_default();
        Self {
            key: tool.key.clone(),
            name: folded(name),
            words: words(&format!("{name} {about}")),
        }
    }

    /// Whether a text is its name, with or without its group.
    fn is_called(&self, text: &str) -> bool {
        let text = text.trim();
        self.key.to_string() == text
            || self.key.tool.as_str() == text
            || (!self.name.is_empty() && self.name == folded(text))
    }

    fn hit(&self, score: f64, why: Match) -> Hit {
        let key = self.key.clone();
        Hit { key, score, why }
    }
}

impl SearchIndex for Overlap {
    fn name(&self) -> &str {
        NAME
    }

    fn forms(&self) -> QueryForms {
        QueryForms {
            selects: true,
            ..QueryForms::default()
        }
    }

    fn replace_group(&self, group: &GroupId, tools: Vec<IndexedTool>) {
        let mut groups = self.groups.write().unwrap_or_else(PoisonError::into_inner);
        if tools.is_empty() {
            groups.remove(group);
        } else {
            groups.insert(group.clone(), tools.iter().map(Document::new).collect());
        }
    }

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        if query.limit == 0 || query.text.trim().is_empty() {
            let told = "The query is empty, or no result was asked for: say what you look for.";
            let error = Error::new(ErrorKind::InvalidArguments, "nothing is asked for");
            return Err(error.for_model_text(told));
        }
        let groups = self.groups.read().unwrap_or_else(PoisonError::into_inner);
        let wanted = |id: &GroupId| query.groups.is_empty() || query.groups.contains(id);
        let documents: Vec<&Document> = groups
            .iter()
            .filter(|(id, _)| wanted(id))
            .flat_map(|(_, documents)| documents)
            .collect();
        if let Some(names) = query.text.trim().strip_prefix(SELECT) {
            let mut found = Found::default();
            for name in names
                .split(',')
                .map(str::trim)
                .filter(|name| !name.is_empty())
            {
                let named = documents.iter().filter(|document| document.is_called(name));
                let before = found.hits.len();
                found
                    .hits
                    .extend(named.map(|document| document.hit(2.0, Match::Name)));
                if found.hits.len() == before {
                    found.missing.push(name.to_owned());
                }
            }
            return Ok(found);
        }
        let asked = words(&query.text);
        let mut hits: Vec<Hit> = documents
            .iter()
            .filter_map(|document| {
                if document.is_called(&query.text) {
                    return Some(document.hit(2.0, Match::Name));
                }
                let shared = asked.intersection(&document.words).count();
                let enough = shared * 100 >= asked.len() * usize::from(self.options.percent);
                let share = shared as f64 / asked.len() as f64;
                (shared > 0 && enough).then(|| document.hit(share, Match::Text))
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
        hits.truncate(query.limit);
        Ok(Found::hits(hits))
    }
}

//! An index that knows names and nothing else.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use toolshelf_core::search::{Found, Hit, IndexedTool, Match, SearchIndex, SearchQuery};
use toolshelf_core::{Error, ErrorKind, GroupId, ToolKey};

/// A search index that finds tools by their names, and by the words of their descriptions:
/// enough for a strategy that searches, without a search engine.
///
/// A query is a tool's name in any style, `group/tool`, or words all of which have to occur in name or description.
///
/// ```
/// use toolshelf_core::search::{SearchIndex, SearchQuery};
/// use toolshelf_testkit::NameIndex;
///
/// let index = NameIndex::default();
/// let query = SearchQuery { text: "send mail".to_owned(), limit: 5, groups: Vec::new() };
/// assert!(index.search(&query)?.hits.is_empty());
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct NameIndex {
    tools: Mutex<BTreeMap<GroupId, Vec<Entry>>>,
}

#[derive(Debug)]
struct Entry {
    key: ToolKey,
    name: String,
    words: Vec<String>,
}

fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for c in text.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && before_lower) {
            words.push(String::new());
        }
        before_lower = c.is_lowercase();
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

impl Entry {
    fn new(tool: &IndexedTool) -> Self {
        let name = tool.key.tool.as_str();
        let mut all = words(name);
        all.extend(words(tool.definition.description().unwrap_or_default()));
        Self {
            key: tool.key.clone(),
            name: words(name).concat(),
            words: all,
        }
    }

    fn fits(&self, query: &str, asked: &[String]) -> Option<(Match, f64)> {
        if self.key.to_string() == query || (!asked.is_empty() && self.name == asked.concat()) {
            return Some((Match::Name, 2.0));
        }
        let all = !asked.is_empty() && asked.iter().all(|word| self.words.contains(word));
        all.then_some((Match::Text, 1.0))
    }
}

impl SearchIndex for NameIndex {
    fn name(&self) -> &str {
        "names"
    }

    fn replace_group(&self, group: &GroupId, tools: Vec<IndexedTool>) {
        let entries = tools.iter().map(Entry::new).collect();
        let mut all = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        all.insert(group.clone(), entries);
    }

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        if query.limit == 0 || query.text.trim().is_empty() {
            let told = "Say what you look for: the name of a tool, or words of its description.";
            let error = Error::new(ErrorKind::InvalidArguments, "nothing is asked for");
            return Err(error.for_model_text(told));
        }
        let asked = words(&query.text);
        let all = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let mut hits: Vec<Hit> = all
            .iter()
            .filter(|(group, _)| query.groups.is_empty() || query.groups.contains(group))
            .flat_map(|(_, entries)| entries)
            .filter_map(|entry| {
                let (why, score) = entry.fits(query.text.trim(), &asked)?;
                let key = entry.key.clone();
                Some(Hit { key, score, why })
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
        hits.truncate(query.limit);
        Ok(Found::hits(hits))
    }
}

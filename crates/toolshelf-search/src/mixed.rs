//! A reference for indexes that use a model: any index, mixed with vectors from a function
//! of the host's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolshelf_core::search::{
    Found, Hit, IndexedTool, Match, QueryForms, ScorePart, SearchIndex, SearchQuery,
};
use toolshelf_core::text::bounded_text;
use toolshelf_core::{Error, GroupId, ToolKey};

use crate::common::{is_stop, is_talk};
use crate::query::{Query, read};
use crate::stems::Stems;
use crate::words::each_word;

/// How many hits of the wrapped index are mixed at least.
const POOL: usize = 100;

/// How much of a tool's text is embedded, in bytes.
const MAX_TEXT_BYTES: usize = 2_048;

/// What a word of a request as such ("please", "find") counts beside one of the matter.
const TALK: f32 = 0.4;

/// Turns texts into vectors. A closure that does is one.
///
/// # Behavior
///
/// * One vector for each text, in their order, all of the same length. One of another
///   length, or with a number that is not finite, is like nothing.
/// * The same text gives the same vector.
/// * It may block: it is called when a search finds tools that have no vector, and once
///   for each query, on the thread that searches.
pub trait Embed: Send + Sync {
    /// The vectors of texts.
    ///
    /// # Errors
    ///
    /// Any. The search goes on without vectors, and the next one asks again.
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error>;
}

impl<F> Embed for F
where
    F: Fn(&[String]) -> Result<Vec<Vec<f32>>, Error> + Send + Sync,
{
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        self(texts)
    }
}

/// How much vectors count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixOptions {
    /// The weight of the vectors when the words of the query are found nowhere. It falls
    /// with the share of the query that the best hit by words covers, down to nothing.
    pub weight: f32,
    /// The smallest cosine at which a tool that no word leads to is a match. It depends on
    /// the model: take one below which your judged queries that no tool answers stay.
    pub floor: f32,
}

impl Default for MixOptions {
    fn default() -> Self {
        Self {
            weight: 0.6,
            floor: 0.4,
        }
    }
}

/// An index mixed with vectors.
///
/// Both sides score the tools; each side's scores are divided by its best, and the sum is
/// linear, with the weight of [`MixOptions`]. What is found by name, by `select:`, by a
/// pattern or by required words is the wrapped index's answer, in its order. Vectors are
/// compared one by one, which is enough for 100,000 tools; there is no approximate search.
///
/// ```
/// use std::sync::Arc;
/// use toolshelf_core::search::SearchIndex;
/// use toolshelf_search::{Lexical, MixOptions, Mixed};
///
/// // A model of two notions: what is about money, and what is not.
/// let embed = |texts: &[String]| {
///     let is_money = |text: &String| text.contains("invoice") || text.contains("bill");
///     let vector = |text| if is_money(text) { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
///     Ok(texts.iter().map(vector).collect::<Vec<_>>())
/// };
/// let index = Mixed::new("mine/1", Arc::new(Lexical::default()), embed, MixOptions::default());
/// assert_eq!(index.name(), "mine/1");
/// ```
pub struct Mixed<E> {
    name: String,
    inner: Arc<dyn SearchIndex>,
    embed: E,
    options: MixOptions,
    stems: Stems,
    parts: Mutex<BTreeMap<GroupId, Arc<Part>>>,
}

/// The vectors of a group, made when they are needed.
struct Part {
    tools: Vec<IndexedTool>,
    /// Of length one, or empty where there is none; nothing until they are made.
    vectors: Mutex<Option<Arc<Vec<Vec<f32>>>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<E: Embed> Mixed<E> {
    /// Mixes an index with what an embedding function says.
    pub fn new(
        name: impl Into<String>,
        inner: Arc<dyn SearchIndex>,
        embed: E,
        options: MixOptions,
    ) -> Self {
        Self {
            name: name.into(),
            inner,
            embed,
            options,
            stems: Stems::new(),
            parts: Mutex::default(),
        }
    }

    /// The cosines of the tools in scope; `None` when there is no vector for the query.
    fn cosines(&self, query: &SearchQuery) -> Option<Vec<(ToolKey, f32)>> {
        let texts = [bounded_text(&query.text, MAX_TEXT_BYTES)];
        let wanted = unit(self.embed.embed(&texts).ok()?.into_iter().next()?);
        if wanted.is_empty() {
            return None;
        }
        let in_scope = |group: &GroupId| query.groups.is_empty() || query.groups.contains(group);
        // The parts are shared, so that nobody waits for a model who replaces a group.
        let parts: Vec<Arc<Part>> = lock(&self.parts)
            .iter()
            .filter(|(group, _)| in_scope(group))
            .map(|(_, part)| part.clone())
            .collect();
        let mut cosines = Vec::new();
        for part in parts {
            let Some(vectors) = self.vectors(&part) else {
                continue;
            };
            for (tool, vector) in part.tools.iter().zip(&*vectors) {
                cosines.push((tool.key.clone(), dot(&wanted, vector)));
            }
        }
        Some(cosines)
    }

    fn vectors(&self, part: &Part) -> Option<Arc<Vec<Vec<f32>>>> {
        let mut vectors = lock(&part.vectors);
        if vectors.is_none() {
            let texts: Vec<String> = part.tools.iter().map(text_of).collect();
            let made = self.embed.embed(&texts).ok()?;
            *vectors = Some(Arc::new(made.into_iter().map(unit).collect()));
        }
        vectors.clone()
    }

    /// The share of the query's words that the best hit by words has.
    fn share(&self, text: &str, best: Option<&Hit>) -> f32 {
        let parts = lock(&self.parts);
        let tool = best.and_then(|hit| {
            let tools = &parts.get(&hit.key.group)?.tools;
            tools.iter().find(|tool| tool.key == hit.key)
        });
        let Some(tool) = tool else {
            return 0.0;
        };
        let mut known = BTreeSet::new();
        let texts = format!("{} {}", tool.group_text, text_of(tool));
        each_word(&texts, 512, |word, _| {
            known.insert(self.stems.stem(word));
        });
        let (mut covered, mut all) = (0.0, 0.0);
        each_word(text, 192, |word, _| {
            if !is_stop(word) {
                let weight = if is_talk(word) { TALK } else { 1.0 };
                all += weight;
                covered += f32::from(u8::from(known.contains(&self.stems.stem(word)))) * weight;
            }
        });
        if all > 0.0 { covered / all } else { 1.0 }
    }

    /// The answer of the wrapped index, and how vectors change it; `None` where they do not.
    fn sides(&self, query: &SearchQuery) -> Result<(Found, Option<Vectors>), Error> {
        let is_words = matches!(
            read(&query.text),
            Ok(Query::Words { required, .. }) if required.is_empty()
        );
        if !is_words || query.limit == 0 {
            return Ok((self.inner.search(query)?, None));
        }
        let mut found = self.inner.search(&pooled(query))?;
        let Some(mut cosines) = self.cosines(query) else {
            found.hits.truncate(query.limit);
            return Ok((found, None));
        };
        cosines.retain(|(_, cosine)| *cosine > 0.0);
        let best = found.hits.iter().find(|hit| hit.why == Match::Text);
        let weight = self.options.weight * (1.0 - self.share(&query.text, best));
        let vectors = Vectors {
            by_words: f64::from(1.0 - weight) / best.map_or(1.0, |hit| hit.score),
            weight: f64::from(weight),
            best: cosines
                .iter()
                .map(|(_, cosine)| *cosine)
                .fold(0.0, f32::max),
            cosines,
        };
        Ok((found, Some(vectors)))
    }

    fn mix(&self, hits: Vec<Hit>, vectors: Vectors) -> Vec<Hit> {
        let (named, by_words): (Vec<Hit>, Vec<Hit>) =
            hits.into_iter().partition(|hit| hit.why != Match::Text);
        let mut scores: BTreeMap<ToolKey, f64> = by_words
            .into_iter()
            .map(|hit| (hit.key, hit.score * vectors.by_words))
            .collect();
        for (key, cosine) in &vectors.cosines {
            let counts = vectors.counts(*cosine);
            if let Some(score) = scores.get_mut(key) {
                *score += counts;
            } else if *cosine >= self.options.floor {
                scores.insert(key.clone(), counts);
            }
        }
        let mut mixed: Vec<Hit> = scores
            .into_iter()
            .filter(|(key, score)| *score > 0.0 && !named.iter().any(|hit| hit.key == *key))
            .map(|(key, score)| Hit {
                key,
                score,
                why: Match::Text,
            })
            .collect();
        mixed.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
        let mut hits = named;
        hits.extend(mixed);
        hits
    }
}

/// What vectors add to an answer.
struct Vectors {
    /// What a score of the wrapped index is multiplied with.
    by_words: f64,
    /// What the largest cosine adds.
    weight: f64,
    best: f32,
    /// Those above zero.
    cosines: Vec<(ToolKey, f32)>,
}

impl Vectors {
    fn counts(&self, cosine: f32) -> f64 {
        self.weight * f64::from(cosine / self.best)
    }
}

/// The query with room for what vectors may bring to the front.
fn pooled(query: &SearchQuery) -> SearchQuery {
    SearchQuery {
        limit: query.limit.max(POOL),
        ..query.clone()
    }
}

impl<E: Embed> SearchIndex for Mixed<E> {
    fn name(&self) -> &str {
        &self.name
    }

    fn forms(&self) -> QueryForms {
        self.inner.forms()
    }

    fn replace_group(&self, group: &GroupId, mut tools: Vec<IndexedTool>) {
        let mut known = BTreeSet::new();
        tools.retain(|tool| known.insert(tool.key.clone()));
        self.inner.replace_group(group, tools.clone());
        let mut parts = lock(&self.parts);
        if tools.is_empty() {
            parts.remove(group);
        } else {
            let part = Part {
                tools,
                vectors: Mutex::default(),
            };
            parts.insert(group.clone(), Arc::new(part));
        }
    }

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        let (mut found, vectors) = self.sides(query)?;
        if let Some(vectors) = vectors {
            found.hits = self.mix(found.hits, vectors);
            found.hits.truncate(query.limit);
        }
        Ok(found)
    }

    fn explain(&self, query: &SearchQuery, key: &ToolKey) -> Result<Vec<ScorePart>, Error> {
        let (found, vectors) = self.sides(query)?;
        let Some(vectors) = vectors else {
            return self.inner.explain(query, key);
        };
        let cosine = vectors.cosines.iter().find(|(other, _)| other == key);
        let alike = cosine.map_or(0.0, |(_, cosine)| vectors.counts(*cosine));
        let by_words = vectors.by_words;
        let mut hits = self.mix(found.hits, vectors);
        hits.truncate(query.limit);
        let Some(hit) = hits.iter().find(|hit| hit.key == *key) else {
            return Ok(Vec::new());
        };
        let mut parts = self.inner.explain(&pooled(query), key)?;
        if hit.why == Match::Text {
            parts.iter_mut().for_each(|part| part.score *= by_words);
            parts.push(ScorePart {
                what: "likeness of meaning".to_owned(),
                score: alike,
            });
            parts.retain(|part| part.score > 0.0);
            parts.sort_by(|a, b| {
                b.score
                    .total_cmp(&a.score)
                    .then_with(|| a.what.cmp(&b.what))
            });
        }
        Ok(parts)
    }
}

/// What is embedded of a tool.
fn text_of(tool: &IndexedTool) -> String {
    let mut words = Vec::new();
    each_word(tool.key.tool.as_str(), 32, |word, role| {
        if role != crate::words::Role::Part {
            words.push(word.to_owned());
        }
    });
    let definition = &tool.definition;
    let text = format!(
        "{}. {} {}",
        words.join(" "),
        definition.title().unwrap_or_default(),
        definition.description().unwrap_or_default()
    );
    bounded_text(&text, MAX_TEXT_BYTES)
}

/// The vector with the length one; nothing where that cannot be.
fn unit(vector: Vec<f32>) -> Vec<f32> {
    let length = dot(&vector, &vector).sqrt();
    if length.is_finite() && length > 0.0 {
        vector.into_iter().map(|x| x / length).collect()
    } else {
        Vec::new()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    if a.len() == b.len() {
        a.iter().zip(b).map(|(a, b)| a * b).sum()
    } else {
        0.0
    }
}

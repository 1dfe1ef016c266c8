//! A sound index with one fault put before it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use toolshelf_core::search::{
    Found, Hit, IndexedTool, Match, QueryForms, ScorePart, SearchIndex, SearchQuery,
};
use toolshelf_core::{Error, ErrorKind, GroupId, JsonText, ToolDefinition, ToolKey, ToolName};
use toolshelf_search::Lexical;

/// What is wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Fault {
    None,
    NameOfTwoLines,
    NamesNoForms,
    Counts,
    OrderOfArrival,
    Twice,
    Rising,
    NotANumber,
    LimitByScore,
    PanicsSideBySide,
    NameLast,
    NameIsText,
    ExactNamesOnly,
    IgnoresGroupInName,
    IgnoresScope,
    RefusesWhenEmpty,
    NeverReplaces,
    KeepsGroups,
    KeepsTools,
    KeepsTheLargest,
    LeastBad,
    AnswersNothing,
    UnlimitedZero,
    BareRefusal,
    PanicsAtLength,
    RepeatsTwice,
    ForgetsOthers,
    FirstThousand,
    NoTexts,
    TextsAreNames,
    MissingIsFound,
    CutsSelected,
    SelectsEverywhere,
    PlusIsNothing,
    PlusForKnownWords,
    PatternFitsPart,
    BrokenPatternIsWords,
    PatternFitsAll,
    NoCorrection,
    CorrectsAll,
    PartsUnsorted,
    PartsOfHalf,
    ExplainsOthers,
    ExplainsNothing,
    TiesBackwards,
    EndsThatAreNone,
    OwnFormIsNoNumber,
}

/// The index.
pub(super) struct Mini {
    fault: Fault,
    inner: Lexical,
    asked: AtomicUsize,
    busy: AtomicUsize,
    groups: Mutex<BTreeMap<GroupId, Vec<IndexedTool>>>,
    order: Mutex<Vec<ToolKey>>,
}

impl Mini {
    pub(super) fn new(fault: Fault) -> Self {
        Self {
            fault,
            inner: Lexical::default(),
            asked: AtomicUsize::default(),
            busy: AtomicUsize::default(),
            groups: Mutex::default(),
            order: Mutex::default(),
        }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == fault
    }

    /// All tools, as hits by their texts.
    fn all(&self) -> Vec<Hit> {
        let groups = self.groups.lock().unwrap();
        let keys = groups.values().flatten().map(|tool| tool.key.clone());
        let hit = |key| Hit {
            key,
            score: 0.5,
            why: Match::Text,
        };
        keys.map(hit).collect()
    }

    /// What the fault makes of a query before it is asked.
    fn before(&self, query: &mut SearchQuery) {
        let text = query.text.trim().to_owned();
        match self.fault {
            Fault::IgnoresGroupInName if is_words(&text) => {
                query.text = text.rsplit('/').next().unwrap_or_default().to_owned();
            }
            Fault::IgnoresScope => query.groups.clear(),
            Fault::SelectsEverywhere if text.starts_with("select:") => query.groups.clear(),
            Fault::UnlimitedZero => query.limit = query.limit.max(1),
            Fault::PlusIsNothing => query.text = text.replace('+', ""),
            Fault::PlusForKnownWords => query.text = text.replace("+xylophone", ""),
            Fault::BrokenPatternIsWords if self.inner.search(query).is_err() => {
                query.text = text.replace(['/', '(', '[', '-'], " ");
            }
            Fault::PatternFitsPart => query.text = text.replace("(find|send)", "(find)"),
            Fault::PatternFitsAll if text.contains("(a|a)*") => query.text = "/a/".to_owned(),
            _ => {}
        }
    }

    fn named(&self, text: &str) -> bool {
        let groups = self.groups.lock().unwrap();
        let mut tools = groups.values().flatten();
        let text = text.trim();
        tools.any(|tool| tool.key.tool == *text || tool.key.to_string() == text)
    }

    /// What the fault makes of an answer.
    fn after(&self, query: &SearchQuery, mut found: Found) -> Result<Found, Error> {
        let text = query.text.trim();
        let is_words = is_words(text);
        match self.fault {
            Fault::Counts => {
                let asked = self.asked.fetch_add(1, Ordering::SeqCst) as f64;
                found
                    .hits
                    .iter_mut()
                    .for_each(|hit| hit.score += 1e-6 * (1e3 - asked));
            }
            Fault::OrderOfArrival => {
                let order = self.order.lock().unwrap();
                let place = |hit: &Hit| order.iter().position(|key| *key == hit.key);
                let (mut named, mut others): (Vec<Hit>, Vec<Hit>) =
                    found.hits.drain(..).partition(|hit| hit.why != Match::Text);
                others.sort_by_key(place);
                others.iter_mut().for_each(|hit| hit.score = 0.1);
                named.append(&mut others);
                found.hits = named;
            }
            Fault::Twice if is_words => {
                found.hits.extend(found.hits.last().cloned());
                found.hits.truncate(query.limit);
            }
            Fault::Rising => {
                let of = |at: usize| at as f64 + 1.0;
                found
                    .hits
                    .iter_mut()
                    .enumerate()
                    .for_each(|(at, hit)| hit.score = of(at));
            }
            Fault::NotANumber => found.hits.iter_mut().for_each(|hit| hit.score /= 0.0),
            Fault::OwnFormIsNoNumber if text.starts_with('~') => {
                found.hits.iter_mut().for_each(|hit| hit.score = f64::NAN);
            }
            Fault::TiesBackwards => {
                found
                    .hits
                    .sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.key.cmp(&a.key)));
            }
            Fault::EndsThatAreNone => {
                let by_text = found.hits.iter_mut().filter(|hit| hit.why == Match::Text);
                by_text.for_each(|hit| hit.why = Match::Suffix);
            }
            Fault::LimitByScore if is_words && query.limit < 3 => {
                found.hits.iter_mut().for_each(|hit| hit.score *= 2.0);
            }
            Fault::NameLast => found.hits.reverse(),
            Fault::NameIsText => found.hits.iter_mut().for_each(|hit| hit.why = Match::Text),
            Fault::ExactNamesOnly if is_words && !self.named(text) => {
                found.hits.retain(|hit| hit.why == Match::Text);
            }
            Fault::RefusesWhenEmpty if self.all().is_empty() => {
                return Err(Error::new(ErrorKind::NotFound, "there are no tools"));
            }
            Fault::LeastBad if found.hits.is_empty() && found.missing.is_empty() && is_words => {
                found.hits = self.all();
                found.hits.truncate(query.limit.min(1));
            }
            Fault::RepeatsTwice if text.starts_with("select:") && found.missing.len() > 1 => {
                found.missing = vec![text.to_owned(); 2];
            }
            Fault::NoTexts if is_words => found.hits.retain(|hit| hit.why != Match::Text),
            Fault::TextsAreNames => {
                found.hits.iter_mut().for_each(|hit| hit.why = Match::Name);
            }
            Fault::MissingIsFound => found.missing.clear(),
            Fault::CutsSelected => found.hits.truncate(query.limit),
            Fault::NoCorrection if text.starts_with("forec") => found.hits.clear(),
            Fault::CorrectsAll if text == "stable" => {
                found.hits.extend(self.all().into_iter().take(1));
                found.hits.extend(
                    self.all()
                        .into_iter()
                        .filter(|hit| hit.key.tool == *"table"),
                );
            }
            _ => {}
        }
        Ok(found)
    }
}

/// Whether a text is a name or words, and not of another form.
fn is_words(text: &str) -> bool {
    !text.contains([':', '+']) && !text.starts_with('/')
}

/// A tool that no one handed over.
fn ghost(group: &GroupId) -> IndexedTool {
    let name = ToolName::new("ghost").unwrap();
    let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
    IndexedTool {
        key: ToolKey::new(group.clone(), name.clone()),
        definition: Arc::new(ToolDefinition::new(name, "Haunts an issue.", schema).unwrap()),
        group_text: Arc::from(""),
    }
}

impl SearchIndex for Mini {
    fn name(&self) -> &str {
        match self.fault {
            Fault::NameOfTwoLines => "mini\n1",
            _ => "mini/1",
        }
    }

    fn forms(&self) -> QueryForms {
        match self.fault {
            Fault::NamesNoForms => QueryForms::default(),
            _ => self.inner.forms(),
        }
    }

    fn replace_group(&self, group: &GroupId, mut tools: Vec<IndexedTool>) {
        let mut groups = self.groups.lock().unwrap();
        let known = groups.get(group).cloned().unwrap_or_default();
        match self.fault {
            Fault::NeverReplaces if !known.is_empty() && !tools.is_empty() => return,
            Fault::KeepsGroups if tools.is_empty() && !known.is_empty() => {
                tools.push(ghost(group));
            }
            Fault::KeepsTools if !tools.is_empty() => {
                let gone = known
                    .iter()
                    .filter(|tool| tools.iter().all(|new| new.key != tool.key));
                tools.extend(gone.cloned().collect::<Vec<_>>());
            }
            // What is kept is right unless it shrinks to one and grows again.
            Fault::KeepsTheLargest if known.len() == 1 && tools.len() > 1 => {
                tools.truncate(1);
            }
            Fault::ForgetsOthers if tools.iter().any(|tool| tool.key.tool == *"loudest") => {
                self.inner
                    .replace_group(&GroupId::new("lsp").unwrap(), Vec::new());
            }
            Fault::FirstThousand => tools.truncate(1_000),
            _ => {}
        }
        let mut order = self.order.lock().unwrap();
        order.extend(tools.iter().map(|tool| tool.key.clone()));
        groups.insert(group.clone(), tools.clone());
        self.inner.replace_group(group, tools);
    }

    fn search(&self, query: &SearchQuery) -> Result<Found, Error> {
        if self.is(Fault::PanicsSideBySide) {
            let before = self.busy.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(std::time::Duration::from_micros(200));
            assert!(before == 0, "somebody else is searching");
        }
        assert!(
            !self.is(Fault::PanicsAtLength) || query.text.len() < 10_000,
            "a query that is too long"
        );
        let mut asked = query.clone();
        self.before(&mut asked);
        let found = match self.inner.search(&asked) {
            Err(_) if self.is(Fault::AnswersNothing) && query.text.trim().is_empty() => {
                Ok(Found::default())
            }
            Err(error) if self.is(Fault::BareRefusal) => {
                Err(Error::new(error.kind(), error.message()))
            }
            ended => ended,
        };
        let found = found.and_then(|found| self.after(query, found));
        if self.is(Fault::PanicsSideBySide) {
            self.busy.fetch_sub(1, Ordering::SeqCst);
        }
        found
    }

    fn explain(&self, query: &SearchQuery, key: &ToolKey) -> Result<Vec<ScorePart>, Error> {
        let parts = self.inner.explain(query, key);
        match self.fault {
            Fault::PartsUnsorted => parts.map(|parts| parts.into_iter().rev().collect()),
            Fault::PartsOfHalf => parts.map(|mut parts| {
                parts.iter_mut().for_each(|part| part.score /= 2.0);
                parts
            }),
            Fault::ExplainsOthers => parts.map(|mut parts| {
                if parts.is_empty() {
                    let what = "nothing in particular".to_owned();
                    parts.push(ScorePart { what, score: 1.0 });
                }
                parts
            }),
            Fault::ExplainsNothing => Ok(parts.unwrap_or_default()),
            _ => parts,
        }
    }
}

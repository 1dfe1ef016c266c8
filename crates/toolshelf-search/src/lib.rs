//! Ranks deferred tools for a query.
//!
//! [`Lexical`] is the index `lexical/1`: it needs no model and no network, reads a group when
//! it is first searched after a change, and gives the same answer on every machine. [`Mixed`]
//! is a reference for indexes that do use a model: it wraps any index and adds vectors from a
//! function of the host's. [`evaluate`] measures either on a judged set.
//!
//! ```
//! use std::sync::Arc;
//! use toolshelf_core::search::{IndexedTool, Match, SearchIndex, SearchQuery};
//! use toolshelf_core::{Error, GroupId, JsonText, ToolDefinition, ToolKey, ToolName};
//! use toolshelf_search::Lexical;
//!
//! let group = GroupId::new("github")?;
//! let tools = [
//!     ("create_issue", "Opens a new issue in a repository."),
//!     ("list_issues", "Shows the issues of a repository."),
//!     ("merge_pull_request", "Merges a branch. Not for create issue."),
//! ];
//! let tools = tools.map(|(name, description)| {
//!     let name = ToolName::new(name)?;
//!     let schema = JsonText::parse(r#"{"type":"object"}"#)?;
//!     Ok(IndexedTool {
//!         key: ToolKey::new(group.clone(), name.clone()),
//!         definition: Arc::new(ToolDefinition::new(name, description, schema)?),
//!         group_text: Arc::from("GitHub: issues and pull requests"),
//!     })
//! });
//! let index = Lexical::default();
//! index.replace_group(&group, tools.into_iter().collect::<Result<_, Error>>()?);
//!
//! let search = |text: &str| {
//!     let query = SearchQuery { text: text.to_owned(), limit: 5, groups: Vec::new() };
//!     index.search(&query)
//! };
//! let best = |text: &str| Ok::<_, Error>(search(text)?.hits[0].key.tool.to_string());
//! assert_eq!(best("CreateIssue")?, "create_issue");
//! assert_eq!(best("mcp__github__merge_pull_request")?, "merge_pull_request");
//! assert_eq!(best("open a new isue")?, "create_issue");
//! assert_eq!(best("+github show them")?, "list_issues");
//! assert_eq!(search("select:list-issues,close_issue")?.missing, ["close_issue"]);
//! assert_eq!(search("create_issue")?.hits[0].why, Match::Name);
//! assert!(search("bake a cake")?.hits.is_empty());
//! # Ok::<(), Error>(())
//! ```
//!
//! # Queries
//!
//! | form | what is found |
//! |---|---|
//! | a name: `find_symbol`, `find symbol`, `FindSymbol`, `server/tool`, `mcp__server__tool` | that tool first, whatever else the words stand in |
//! | the end of one name alone: `ask_codex` for `mcp__plugin_x__ask_codex` | that tool first |
//! | words | by relevance; nothing when nothing is good |
//! | one letter: `R`, `C++`, `C#` | what is written so in names, titles and descriptions |
//! | `+word others` | all tools that have `word`, their group's id included, ranked by the others alone |
//! | `select:a,b` | these tools by name, and which names no tool has |
//! | `/pattern/`, `regex:pattern` | names first, then titles, descriptions |
//!
//! A text that is the name of a tool is a name, even where it looks like another form.
//!
//! # How a tool is ranked
//!
//! A text becomes words: separators of every style, CamelCase and digits divide it, Latin and
//! Greek letters lose their accents, and scripts without blanks become pairs of characters. A
//! word of the query is answered by the same word, its inflections (of English, Russian and
//! Greek), words of its root, synonyms of the field and, when no tool has it, by what it
//! abbreviates or misspells. Each tool counts its best answer to each word, by how rare the word
//! is and in which field it stands (BM25F), and gains by the share of its name that the query
//! covers. [`SearchIndex::explain`] says which word in which field
//! made a score.
//!
//! [`SearchIndex::explain`]: toolshelf_core::search::SearchIndex::explain
//!
//! | to change | look at |
//! |---|---|
//! | what a query's form means | `query.rs`, `required.rs`, `pattern.rs` |
//! | which tool a text names | `lookup.rs`, `names.rs` |
//! | what a word is | `words.rs`, `accents.rs`, `stems.rs`, `common.rs` |
//! | what answers a word | `concepts.rs`, `synonyms.rs`, `correct.rs`, `spellings.rs`, `edits.rs`, `literals.rs` |
//! | what a tool says, and where | `document.rs`, `schema.rs` |
//! | how it is counted | `rank.rs`, `candidates.rs`, `sums.rs`, `weights.rs`, `explain.rs` |
//! | how groups come and go | `store.rs`, `vocabulary.rs`, `lexical.rs` |
//! | vectors | `mixed.rs` |
//! | what it is measured by | `evaluate/` |
//!
//! # How the constants were chosen
//!
//! [`Weights`] are few and round, and were chosen on five public sets of 6,061 queries, by
//! the mean over the sets of nDCG@5, which counts a set of 47 queries as much as one of 2,351.
//! What says how far that can be trusted is `--tune` of the example `corpus`: it goes once
//! through a grid of values from the defaults, for each set on the other four alone, and
//! measures that set with what it chose.
//!
//! | constants | mean nDCG@5 |
//! |---|---|
//! | the defaults, on all five sets, when the grid was tried | 67.45 |
//! | best of the grid on four sets, on the fifth | 66.90 |
//! | best of the grid on all five, on all five | 67.76 |
//!
//! So the grid gains nothing on a set that it has not seen, and the defaults are kept. That
//! comparison starts from the defaults, which have seen all five sets: of what they themselves
//! owe to these sets it says nothing. The table of synonyms and the lists of common words
//! were written by hand as general vocabulary, but not without these sets in view either.
//!
//! The judged set of this crate (`tests/judged`) is a ratchet, and no weight was chosen on it.
//! One bound was: a word is corrected by two edits from nine letters on instead of eight, since
//! a query of it that nothing answers was answered otherwise. On the five sets the mean of the
//! defaults is the same with either; the figures of the grid are from before. What share
//! of a query's words is enough whatever their weight ([`Weights::words`]) was chosen by hand:
//! with it the mean is the same, and of 6,061 queries put to the tools of another set 734
//! had no answer instead of 746; now 749 have none.
//!
//! Since then irregular forms were added, synonyms that go one way, that of the synonyms of an
//! unknown word none counts more because it is rare, and that what one word of a query says
//! answers no other one. That was done for plain requests in small catalogs (`new ticket`); the
//! mean of the five sets is 67.60 with it.

mod accents;
mod candidates;
mod common;
mod concepts;
mod correct;
mod document;
mod edits;
pub mod evaluate;
mod explain;
mod lexical;
mod literals;
mod lookup;
mod mixed;
mod names;
mod pattern;
mod query;
mod rank;
mod required;
mod schema;
mod spellings;
mod stems;
mod store;
mod sums;
mod synonyms;
mod vocabulary;
mod weights;
mod words;

pub use lexical::{Lexical, PLUGIN};
pub use mixed::{Embed, MixOptions, Mixed};
pub use weights::Weights;

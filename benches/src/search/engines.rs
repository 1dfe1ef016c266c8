//! The engines: what each is given, and what it is asked.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use tantivy::collector::TopDocs;
use tantivy::query::QueryParser;
use tantivy::schema::{Field, STORED, STRING, Schema, TEXT};
use tantivy::{Index, IndexReader, TantivyDocument, doc};
use toolshelf_core::GroupId;
use toolshelf_core::search::{IndexedTool, SearchIndex, SearchQuery};
use toolshelf_search::Lexical;

/// What is measured of an engine.
pub(crate) trait Engine {
    fn name(&self) -> &'static str;

    fn search(&mut self, query: &str, limit: usize) -> Result<()>;

    /// How long it takes until a search sees the tools of one server replaced; nothing where
    /// that means to build everything again.
    fn replace_one_server(&self, tools: &[IndexedTool]) -> Result<Option<Duration>>;
}

/// The text that the others are given: what the documented BM25 modes of providers index.
fn text(tool: &IndexedTool) -> String {
    let definition = &tool.definition;
    format!(
        "{} {} {}",
        tool.key.tool,
        definition.description().unwrap_or_default(),
        definition.input_schema()
    )
}

fn query(text: &str, limit: usize) -> SearchQuery {
    SearchQuery {
        text: text.to_owned(),
        limit,
        groups: Vec::new(),
    }
}

/// Our index over these tools, built.
pub(crate) fn indexed(tools: &[IndexedTool]) -> Lexical {
    let mut groups: BTreeMap<GroupId, Vec<IndexedTool>> = BTreeMap::new();
    for tool in tools {
        let group = groups.entry(tool.key.group.clone()).or_default();
        group.push(tool.clone());
    }
    let index = Lexical::default();
    for (group, tools) in groups {
        index.replace_group(&group, tools);
    }
    // What was handed over is read by the first search.
    let _ = index.search(&query("anything", 1));
    index
}

pub(crate) struct Ours(Lexical);

impl Ours {
    pub(crate) fn new(tools: &[IndexedTool]) -> Self {
        Self(indexed(tools))
    }
}

impl Engine for Ours {
    fn name(&self) -> &'static str {
        "toolshelf"
    }

    fn search(&mut self, text: &str, limit: usize) -> Result<()> {
        self.0.search(&query(text, limit))?;
        Ok(())
    }

    fn replace_one_server(&self, tools: &[IndexedTool]) -> Result<Option<Duration>> {
        let group = &tools.first().context("no tools")?.key.group;
        let of_group = tools.iter().filter(|tool| tool.key.group == *group);
        let of_group: Vec<IndexedTool> = of_group.cloned().collect();
        let started = Instant::now();
        self.0.replace_group(group, of_group);
        self.0.search(&query("anything", 1))?;
        Ok(Some(started.elapsed()))
    }
}

pub(crate) struct Bm25(bm25::SearchEngine<u32>);

impl Bm25 {
    pub(crate) fn new(tools: &[IndexedTool]) -> Self {
        let texts: Vec<String> = tools.iter().map(text).collect();
        let builder = bm25::SearchEngineBuilder::<u32>::with_corpus(bm25::Language::English, texts);
        Self(builder.build())
    }
}

impl Engine for Bm25 {
    fn name(&self) -> &'static str {
        "bm25 2.3"
    }

    fn search(&mut self, text: &str, limit: usize) -> Result<()> {
        std::hint::black_box(self.0.search(text, limit));
        Ok(())
    }

    fn replace_one_server(&self, _tools: &[IndexedTool]) -> Result<Option<Duration>> {
        Ok(None)
    }
}

pub(crate) struct Tantivy {
    index: Index,
    reader: IndexReader,
    parser: QueryParser,
    key: Field,
    body: Field,
}

/// The memory that its writer may take, in bytes; the least is 15 MB.
const ARENA: usize = 50_000_000;

impl Tantivy {
    pub(crate) fn new(tools: &[IndexedTool]) -> Result<Self> {
        let mut schema = Schema::builder();
        let key = schema.add_text_field("key", STRING | STORED);
        let body = schema.add_text_field("body", TEXT);
        let index = Index::create_in_ram(schema.build());
        let mut writer = index.writer_with_num_threads::<TantivyDocument>(1, ARENA)?;
        for tool in tools {
            writer.add_document(doc!(key => tool.key.to_string(), body => text(tool)))?;
        }
        writer.commit()?;
        let reader = index.reader()?;
        let parser = QueryParser::for_index(&index, vec![body]);
        Ok(Self {
            index,
            reader,
            parser,
            key,
            body,
        })
    }
}

impl Engine for Tantivy {
    fn name(&self) -> &'static str {
        "tantivy 0.27"
    }

    fn search(&mut self, text: &str, limit: usize) -> Result<()> {
        // Its query language would read signs of the text as operators.
        let (query, _) = self.parser.parse_query_lenient(text);
        let hits = TopDocs::with_limit(limit).order_by_score();
        std::hint::black_box(self.reader.searcher().search(&query, &hits)?);
        Ok(())
    }

    fn replace_one_server(&self, tools: &[IndexedTool]) -> Result<Option<Duration>> {
        let group = &tools.first().context("no tools")?.key.group;
        let of_group = tools.iter().filter(|tool| tool.key.group == *group);
        let mut writer = self
            .index
            .writer_with_num_threads::<TantivyDocument>(1, ARENA)?;
        let started = Instant::now();
        for tool in of_group {
            let key = tool.key.to_string();
            writer.delete_term(tantivy::Term::from_field_text(self.key, &key));
            writer.add_document(doc!(self.key => key, self.body => text(tool)))?;
        }
        writer.commit()?;
        self.reader.reload()?;
        Ok(Some(started.elapsed()))
    }
}

//! What an answer of `search_tools` costs the model that asked.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use tiktoken_rs::o200k_base_singleton;
use toolshelf_catalog::texts::{DEFAULT_RESULTS, MAX_ANSWER_BYTES, found_tools};
use toolshelf_core::search::{IndexedTool, SearchIndex, SearchQuery};
use toolshelf_core::{ToolDefinition, ToolKey};
use toolshelf_search::evaluate::{read_queries, read_tools};

use crate::engines::indexed;
use crate::read;

/// The tokens of all answers to the queries of a set over its own tools, fewest first.
pub(crate) fn answer_tokens(set: &Path) -> Result<Vec<usize>> {
    let (name, text) = read(&set.join("tools.jsonl"))?;
    let tools = read_tools(&name, &text)?.into_iter();
    let tools: Vec<IndexedTool> = tools.map(|judged| judged.tool).collect();
    let index = indexed(&tools);
    let (name, text) = read(&set.join("queries.jsonl"))?;
    let mut tokens = Vec::new();
    for judged in read_queries(&name, &text)? {
        let found = index.search(&SearchQuery {
            text: judged.query.clone(),
            limit: DEFAULT_RESULTS,
            groups: Vec::new(),
        })?;
        let hits: Vec<(&ToolKey, &ToolDefinition)> = found
            .hits
            .iter()
            .map(|hit| definition(&tools, &hit.key))
            .collect::<Result<_>>()?;
        let answer = found_tools(&judged.query, &hits, MAX_ANSWER_BYTES);
        tokens.push(o200k_base_singleton().encode_ordinary(&answer).len());
    }
    tokens.sort_unstable();
    Ok(tokens)
}

fn definition<'a>(
    tools: &'a [IndexedTool],
    key: &ToolKey,
) -> Result<(&'a ToolKey, &'a ToolDefinition)> {
    let tool = tools.iter().find(|tool| tool.key == *key);
    let tool = tool.with_context(|| format!("{key} was found and is not among the tools"))?;
    Ok((&tool.key, Arc::as_ref(&tool.definition)))
}

//! Files of judged sets, as `search` and `eval-search` take them.

use std::path::Path;

use toolshelf_search::evaluate::{self, JudgedTool};

use crate::failure::Failure;
use crate::source;

/// How many remarks on lines of files are shown; a fault of the program that wrote them is
/// in every line.
const MAX_REMARKS: usize = 10;

/// The tools of a file, and what messages call it.
pub(crate) fn tools(file: &Path) -> Result<(String, Vec<JudgedTool>), Failure> {
    let (name, text) = source::text(file)?;
    let tools = evaluate::read_tools(&name, &text).map_err(|error| Failure::asked(&error))?;
    if tools.is_empty() {
        return Err(Failure::usage(format!(
            "{name} holds no tool: a line of it is a JSON object with 'server', 'name', \
             'description' and 'input_schema'"
        )));
    }
    Ok((name, tools))
}

/// Says what is odd about lines, each with its place.
pub(crate) fn warn(mut remarks: impl Iterator<Item = impl std::fmt::Display>) {
    for remark in remarks.by_ref().take(MAX_REMARKS) {
        tracing::warn!("{remark}");
    }
    let others = remarks.count();
    if others > 0 {
        tracing::warn!("… and {others} more such remarks");
    }
}

//! Which tools a mistaken name probably meant.

use toolshelf_core::nearest::nearest;
use toolshelf_core::{Cx, ToolKey};

/// The qualified names nearest to a mistaken one, best first.
pub(crate) fn nearest_tools(cx: &Cx<'_>, name: &str, limit: usize) -> Vec<String> {
    let mut known: Vec<ToolKey> = Vec::new();
    for (id, entry) in cx.groups.iter() {
        for tool in entry.names().unwrap_or_default() {
            let key = ToolKey::new(id.clone(), tool.clone());
            if cx.shows(&key) {
                known.push(key);
            }
        }
    }
    // The tool is what counts, whichever group was put before it.
    let tool = name.rsplit('/').next().unwrap_or(name);
    let near = nearest(tool, known.iter().map(|key| key.tool.as_str()), limit);
    let mut qualified: Vec<String> = near
        .iter()
        .flat_map(|bare| known.iter().filter(move |key| key.tool == **bare))
        .map(ToString::to_string)
        .collect();
    // Among tools of the same name that of the nearest group comes first.
    let best = nearest(name, qualified.iter().map(String::as_str), 1)
        .first()
        .map(|best| (*best).to_owned());
    if let Some(at) = best.and_then(|best| qualified.iter().position(|name| *name == best)) {
        qualified[..=at].rotate_right(1);
    }
    qualified.truncate(limit);
    qualified
}

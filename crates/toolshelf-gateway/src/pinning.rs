//! Tools that are shown without having been loaded, whatever loads them.

use std::sync::Arc;

use async_trait::async_trait;
use globset::{Glob, GlobSet, GlobSetBuilder};
use toolshelf_core::{Error, Exposure, LoadContext, Loaded, ToolLoader};

/// The patterns as one set. They were checked when the configuration was read.
pub(crate) fn pinned(patterns: &[String]) -> GlobSet {
    let mut set = GlobSetBuilder::new();
    for glob in patterns
        .iter()
        .filter_map(|pattern| Glob::new(pattern).ok())
    {
        set.add(glob);
    }
    set.build().unwrap_or_else(|_| GlobSet::empty())
}

/// A loader, of whose tools some are always shown.
pub(crate) struct Pinning {
    pub(crate) loader: Arc<dyn ToolLoader>,
    pub(crate) pinned: GlobSet,
}

#[async_trait]
impl ToolLoader for Pinning {
    async fn load(&self, context: LoadContext) -> Result<Loaded, Error> {
        let mut loaded = self.loader.load(context).await?;
        for tool in &mut loaded.tools {
            if self.pinned.is_match(tool.definition().name().as_str()) {
                tool.exposure = Some(Exposure::Always);
            }
        }
        Ok(loaded)
    }
}

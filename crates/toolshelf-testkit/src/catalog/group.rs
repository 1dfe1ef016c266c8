//! Groups that own what a catalog shows of them.
#![allow(
    clippy::expect_used,
    reason = "a helper of a test fails as a test does; what it is given are literals of that test"
)]

use toolshelf_core::catalog::{CatalogGroup, CatalogView};
use toolshelf_core::{GroupId, ToolName};

/// A [`CatalogGroup`] that owns its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// The id.
    pub id: GroupId,
    /// The title, as a server may write it.
    pub title: Option<String>,
    /// The description, as a server may write it.
    pub description: Option<String>,
    /// The names of its tools, where they are known.
    pub names: Option<Vec<ToolName>>,
    /// Whether `names` is what remains.
    pub partly_loaded: bool,
}

impl Group {
    /// A group of which nothing but the id is known.
    ///
    /// # Panics
    ///
    /// When it is no id.
    pub fn new(id: &str) -> Self {
        Self {
            id: GroupId::new(id).expect("an id of a group"),
            title: None,
            description: None,
            names: None,
            partly_loaded: false,
        }
    }

    /// With a title.
    #[must_use]
    pub fn title(mut self, title: &str) -> Self {
        self.title = Some(title.to_owned());
        self
    }

    /// With a description.
    #[must_use]
    pub fn description(mut self, description: &str) -> Self {
        self.description = Some(description.to_owned());
        self
    }

    /// With names of tools.
    ///
    /// # Panics
    ///
    /// When one is none.
    #[must_use]
    pub fn names(mut self, names: &[&str]) -> Self {
        let names = names
            .iter()
            .map(|name| ToolName::new(name).expect("a tool's name"));
        self.names = Some(names.collect());
        self
    }

    /// Of which a part is loaded.
    #[must_use]
    pub fn partly_loaded(mut self) -> Self {
        self.partly_loaded = true;
        self
    }

    /// As a format sees it.
    pub fn view(&self) -> CatalogGroup<'_> {
        CatalogGroup {
            id: &self.id,
            title: self.title.as_deref(),
            description: self.description.as_deref(),
            names: self.names.as_ref().map(|names| names.iter().collect()),
            partly_loaded: self.partly_loaded,
        }
    }
}

/// The groups in this order, without a header or a budget of the host's.
pub fn view(groups: &[Group]) -> CatalogView<'_> {
    CatalogView {
        groups: groups.iter().map(Group::view).collect(),
        ..CatalogView::default()
    }
}

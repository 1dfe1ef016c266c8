//! What a host can choose of a catalog.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The options of the three catalog formats. What is left out has the format's own
/// default, and with all defaults the bytes are those of the golden files.
///
/// ```
/// use toolshelf_catalog::CatalogOptions;
/// let options: CatalogOptions = serde_json::from_str(r#"{"names_per_group":3}"#)?;
/// assert_eq!(options.names_per_group, Some(3));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CatalogOptions {
    /// A header in place of the format's own; an empty one means none. A header that
    /// comes with the view goes before this one.
    pub header: Option<String>,
    /// The most bytes that the title of a group, and its description, may have each;
    /// what is longer is cut with an ellipsis.
    pub text_bytes: Option<usize>,
    /// How many names of each group are shown where a budget does not allow all of
    /// them: 5 by default, 1 at least.
    pub names_per_group: Option<usize>,
}

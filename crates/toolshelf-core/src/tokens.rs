//! The contract of a token counter, and what is counted.

use serde_json::Value;

use crate::definition::ToolDefinition;

/// Counts tokens of a text. Tokens are only ever reported; budgets are bytes, so that
/// no text depends on a tokenizer.
///
/// # Behavior
///
/// * Deterministic, and never fails: a text that cannot be tokenised is estimated.
/// * Adding text never lowers the count by more than the few tokens at the seam.
pub trait TokenCounter: Send + Sync {
    /// The name of the encoding, such as `o200k_base`.
    fn name(&self) -> &str;

    /// The number of tokens.
    fn count(&self, text: &str) -> usize;
}

/// What a request carries of a definition: name, description and input schema. Titles,
/// hints and output schemas stay with the host. Counts of definitions are counts of this
/// text, whatever a provider makes of it.
///
/// ```
/// use toolshelf_core::{JsonText, ToolDefinition, ToolName, tokens::definition_text};
/// let tool = ToolDefinition::new(ToolName::new("add")?, "Adds.", JsonText::parse("{}")?)?;
/// let text = r#"{"name":"g__add","description":"Adds.","input_schema":{}}"#;
/// assert_eq!(definition_text("g__add", &tool), text);
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
pub fn definition_text(name: &str, definition: &ToolDefinition) -> String {
    let name = Value::from(name);
    let description = Value::from(definition.description().unwrap_or_default());
    let schema = definition.input_schema();
    format!(r#"{{"name":{name},"description":{description},"input_schema":{schema}}}"#)
}

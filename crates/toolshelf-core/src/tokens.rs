//! The contract of a token counter.

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

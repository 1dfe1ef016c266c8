//! Counting tokens.

use std::sync::LazyLock;

use tiktoken_rs::CoreBPE;
use toolshelf_core::tokens::TokenCounter;

/// Bytes per token where nothing better is known.
const BYTES_PER_TOKEN: usize = 4;

/// Built at the first count: it takes a tenth of a second, which no other command pays.
static ENCODING: LazyLock<Option<CoreBPE>> = LazyLock::new(|| tiktoken_rs::o200k_base().ok());

/// Counts tokens of the encoding `o200k_base`. Other models count otherwise; figures
/// are for comparing, and nothing else depends on them.
///
/// ```
/// use toolshelf_cli::O200kBase;
/// use toolshelf_core::tokens::TokenCounter;
/// assert_eq!(O200kBase.count("hello world"), 2);
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct O200kBase;

impl TokenCounter for O200kBase {
    fn name(&self) -> &str {
        "o200k_base"
    }

    fn count(&self, text: &str) -> usize {
        match &*ENCODING {
            Some(encoding) => encoding.count_ordinary(text),
            None => text.len().div_ceil(BYTES_PER_TOKEN),
        }
    }
}

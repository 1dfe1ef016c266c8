//! Context windows of models, for hosts that do not know that of theirs.

/// What is known of a model's context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ContextWindow {
    /// Model names that begin with this.
    pub prefix: &'static str,
    /// Its size in tokens, as it is had without asking for more.
    pub tokens: u64,
    /// The year and month of which the figure is.
    pub as_of: &'static str,
    /// Who says so.
    pub source: &'static str,
}

const ANTHROPIC: &str = "Anthropic, models overview";
const OPENAI: &str = "OpenAI, models";
const GOOGLE: &str = "Google, Gemini API models";
const DEEPSEEK: &str = "DeepSeek, models and pricing";

const fn row(
    prefix: &'static str,
    tokens: u64,
    as_of: &'static str,
    source: &'static str,
) -> ContextWindow {
    ContextWindow {
        prefix,
        tokens,
        as_of,
        source,
    }
}

/// The table. A host that knows better says so in its session's options.
pub const CONTEXT_WINDOWS: &[ContextWindow] = &[
    row("claude-", 200_000, "2026-05", ANTHROPIC),
    row("claude-opus-4-7", 1_000_000, "2026-05", ANTHROPIC),
    row("claude-sonnet-4-6", 1_000_000, "2026-05", ANTHROPIC),
    row("gpt-4.1", 1_047_576, "2025-10", OPENAI),
    row("gpt-4o", 128_000, "2025-10", OPENAI),
    row("gpt-5", 400_000, "2025-10", OPENAI),
    row("o1", 200_000, "2025-10", OPENAI),
    row("o3", 200_000, "2025-10", OPENAI),
    row("o4-mini", 200_000, "2025-10", OPENAI),
    row("gemini-2", 1_048_576, "2025-10", GOOGLE),
    row("gemini-3", 1_048_576, "2026-02", GOOGLE),
    row("deepseek-", 128_000, "2025-10", DEEPSEEK),
];

/// The context window of a model: the row with the longest prefix of its name. What stands
/// before a `/`, as routers write it, is left out, and case does not count.
///
/// ```
/// use toolshelf_strategies::context_window;
/// assert_eq!(context_window("claude-haiku-4-5-20251001").unwrap().tokens, 200_000);
/// assert_eq!(context_window("anthropic/Claude-Sonnet-4-6").unwrap().tokens, 1_000_000);
/// assert_eq!(context_window("somebody-elses"), None);
/// ```
pub fn context_window(model: &str) -> Option<ContextWindow> {
    let name = model
        .rsplit('/')
        .next()
        .unwrap_or(model)
        .to_ascii_lowercase();
    let rows = CONTEXT_WINDOWS.iter();
    rows.filter(|row| name.starts_with(row.prefix))
        .max_by_key(|row| row.prefix.len())
        .copied()
}

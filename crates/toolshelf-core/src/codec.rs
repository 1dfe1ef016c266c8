//! The contract of a discovery codec: tool names into a text, and back.

/// What was read out of a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadDiscovery {
    /// The names, in order, each once.
    pub names: Vec<String>,
    /// What was odd about the text, one line each.
    pub issues: Vec<String>,
}

/// Writes and reads discoveries in a history.
///
/// # Behavior
///
/// * Reading what was written gives back exactly the names that were written.
/// * Reading is total: any text gives names and issues, never an error or a panic.
/// * The time to read grows with the length of the text and nothing else.
pub trait DiscoveryCodec: Send + Sync {
    /// Name and version.
    fn name(&self) -> &str;

    /// Writes names.
    fn write(&self, names: &[&str]) -> String;

    /// Reads a text.
    fn read(&self, text: &str) -> ReadDiscovery;
}

//! The contract of a provider: a surface and a history into a request.

use serde_json::Value;

use crate::error::Error;
use crate::message::Message;
use crate::strategy::Surface;

/// What a provider can do with tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProviderCapabilities {
    /// It keeps definitions back until they are referred to.
    pub native_deferral: bool,
    /// The most tools in a request; 0 = no bound is known.
    pub max_tools: usize,
}

/// Builds requests for a model API.
///
/// # Behavior
///
/// * A pure function: the same surface and history give the same bytes.
/// * Every tool that the request refers to is in it, under a unique and legal name.
pub trait Provider: Send + Sync {
    /// The name under which it is chosen.
    fn name(&self) -> &str;

    /// What it can do.
    fn capabilities(&self) -> ProviderCapabilities;

    /// The body of the next request.
    ///
    /// # Errors
    ///
    /// When the history cannot be written in the provider's form.
    fn request(&self, system: &str, surface: &Surface, history: &[Message])
    -> Result<Value, Error>;
}

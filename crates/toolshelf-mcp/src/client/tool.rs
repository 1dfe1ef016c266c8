//! A tool of a server as the core knows tools.

use std::sync::Arc;

use async_trait::async_trait;
use toolshelf_core::{Arguments, CallContext, Error, Tool, ToolDefinition, ToolOutcome};

/// Whoever can call the tools of a server by name.
#[async_trait]
pub(crate) trait Caller: Send + Sync {
    /// Calls one.
    async fn call(
        &self,
        tool: &str,
        arguments: Arguments,
        context: CallContext,
    ) -> Result<ToolOutcome, Error>;
}

/// A definition and whoever can call it.
pub(crate) struct McpTool {
    /// What the tool is.
    pub(crate) definition: Arc<ToolDefinition>,
    /// Who calls it.
    pub(crate) caller: Arc<dyn Caller>,
}

#[async_trait]
impl Tool for McpTool {
    fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    async fn call(&self, arguments: Arguments, context: CallContext) -> Result<ToolOutcome, Error> {
        self.caller
            .call(self.definition.name().as_str(), arguments, context)
            .await
    }
}

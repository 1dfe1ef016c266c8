//! What a host may decide about a call.

use std::sync::Arc;

use async_trait::async_trait;
use toolshelf_core::{Arguments, CallContext, ToolDefinition, ToolKey};

/// A decision about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permission {
    /// It may go on.
    Allow,
    /// It may not; the model is told the reason, bounded.
    Deny(String),
}

/// Decides which calls are made. A prompt to a user is one way to decide.
///
/// # Behavior
///
/// * `permit_name` is asked before anything is loaded or started for a call that a name
///   alone causes. Annotations are not known then.
/// * `permit_call` is asked when the tool is loaded and its arguments are valid, last
///   before the call.
/// * Both are asked for the tool that really runs, never for a forwarding tool.
/// * All calls of a batch are judged by the policy that `for_batch` returned before any
///   of them began, so that one call cannot grant another.
/// * What is loaded or was found never matters: loading is not granting.
#[async_trait]
pub trait Policy: Send + Sync {
    /// Decides on the name alone.
    async fn permit_name(&self, key: &ToolKey, context: &CallContext) -> Permission {
        let _ = (key, context);
        Permission::Allow
    }

    /// Decides on annotations and arguments.
    async fn permit_call(
        &self,
        key: &ToolKey,
        definition: &ToolDefinition,
        arguments: &Arguments,
        context: &CallContext,
    ) -> Permission {
        let _ = (key, definition, arguments, context);
        Permission::Allow
    }

    /// The policy as it is now, for policies whose answers change with what happens.
    /// `None` means that this one can be asked itself.
    fn for_batch(&self) -> Option<Arc<dyn Policy>> {
        None
    }
}

/// The policy that permits everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct PermitAll;

impl Policy for PermitAll {}

/// What a hook wants before a call.
#[derive(Debug, Clone, PartialEq)]
pub enum BeforeCall {
    /// Go on.
    Continue,
    /// Go on with other arguments; they are validated again.
    Edit(Arguments),
    /// Do not call; the model is told the reason, bounded.
    Block(String),
}

/// A host's own steps around a call.
///
/// # Behavior
///
/// * `repair` runs before validation, once for each call; what it returns is reported
///   as [`Repair::Host`](toolshelf_core::Repair::Host).
/// * `before_tool_call` runs on valid arguments, after `repair` and before the policy on
///   arguments. Hooks run in the order of their registration; the first block ends the
///   call, edits flow on to the next hook.
/// * Both see the tool that really runs.
#[async_trait]
pub trait CallHook: Send + Sync {
    /// Mends arguments before they are validated.
    async fn repair(
        &self,
        key: &ToolKey,
        definition: &ToolDefinition,
        arguments: &Arguments,
    ) -> Option<Arguments> {
        let _ = (key, definition, arguments);
        None
    }

    /// Looks at a call before it is made.
    async fn before_tool_call(
        &self,
        key: &ToolKey,
        definition: &ToolDefinition,
        arguments: &Arguments,
    ) -> BeforeCall {
        let _ = (key, definition, arguments);
        BeforeCall::Continue
    }
}

//! What happens on the shelf, as lines of a log for the operator.

use toolshelf_shelf::ShelfEvent;

/// The target of records of servers that cannot be used, for programs that say so elsewhere.
pub const FAILED: &str = "toolshelf_gateway::failed";

/// The target of records of tools that are left out.
pub const LEFT_OUT: &str = "toolshelf_gateway::left_out";

/// Writes an event. Arguments and results never stand in it. A load that ends because the
/// gateway is `ending` is no fault of its server.
pub(crate) fn log(event: &ShelfEvent, ending: bool) {
    match event {
        ShelfEvent::LoadFailed { group, .. } if ending => {
            tracing::debug!(server = %group, "given up, since the gateway ends");
        }
        ShelfEvent::LoadStarted { group, cause } => {
            tracing::debug!(server = %group, cause = cause.as_str(), "starting");
        }
        ShelfEvent::Loaded {
            group,
            loaded,
            took,
            ..
        } => {
            tracing::info!(
                server = %group,
                tools = loaded.tools.len(),
                protocol = loaded.server.protocol.as_deref().unwrap_or("unknown"),
                ms = took.as_millis() as u64,
                "ready"
            );
            for tool in &loaded.set_aside {
                tracing::warn!(target: LEFT_OUT, server = %group, tool = %tool.name, reason = %tool.reason, "tool left out");
            }
        }
        ShelfEvent::LoadFailed {
            group, error, took, ..
        } => {
            tracing::warn!(
                target: FAILED,
                server = %group,
                kind = %error.kind(),
                ms = took.as_millis() as u64,
                "cannot be used: {}",
                error.without(&["server", "group"])
            );
        }
        ShelfEvent::CallStarted {
            call_id,
            key,
            repairs,
        } => {
            tracing::debug!(call = %call_id, tool = %key, repairs = repairs.len(), "call");
        }
        ShelfEvent::CallEnded {
            call_id,
            key,
            is_error,
            took,
        } => {
            tracing::debug!(
                call = %call_id,
                tool = %key,
                is_error,
                ms = took.as_millis() as u64,
                "call ended"
            );
        }
        ShelfEvent::InvalidArgumentsSent { key, faults } => {
            tracing::warn!(tool = %key, faults = faults.len(), "invalid arguments were sent");
        }
        ShelfEvent::SchemaUnusable { key, fault } => {
            tracing::warn!(tool = %key, "the input schema cannot be used for validation: {fault}");
        }
        _ => {}
    }
}

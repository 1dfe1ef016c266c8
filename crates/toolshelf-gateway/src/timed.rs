//! The time-out of an entry whose tools come from a loader: servers keep their own.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use toolshelf_core::{
    Arguments, CallContext, Error, ErrorKind, GroupId, LoadContext, Loaded, Tool, ToolDefinition,
    ToolLoader, ToolOutcome,
};

/// How long a call has where its entry says nothing: what the longest call of a server has.
const CALL_TIMEOUT: Duration = Duration::from_secs(3_600);

/// A loader whose load, and each call of whose tools, has an end. Where the entry has no
/// `timeout`, a load ends by the limits of the shelf.
pub(crate) struct Timed {
    pub(crate) id: GroupId,
    pub(crate) loader: Arc<dyn ToolLoader>,
    pub(crate) timeout: Option<Duration>,
}

#[async_trait]
impl ToolLoader for Timed {
    async fn load(&self, mut context: LoadContext) -> Result<Loaded, Error> {
        let mut loaded = match self.timeout {
            None => self.loader.load(context).await?,
            Some(timeout) => {
                context.deadline = earlier(context.deadline, timeout);
                let loaded = within(timeout, self.loader.load(context)).await;
                loaded.unwrap_or_else(|late| {
                    let id = &self.id;
                    Err(late.for_model_text(format!(
                        "Group '{id}' did not answer within {} s.",
                        timeout.as_secs_f64()
                    )))
                })?
            }
        };
        let timeout = self.timeout.unwrap_or(CALL_TIMEOUT);
        for one in &mut loaded.tools {
            let tool = one.tool.clone();
            one.tool = Arc::new(TimedTool { tool, timeout });
        }
        Ok(loaded)
    }
}

struct TimedTool {
    tool: Arc<dyn Tool>,
    timeout: Duration,
}

#[async_trait]
impl Tool for TimedTool {
    fn definition(&self) -> &Arc<ToolDefinition> {
        self.tool.definition()
    }

    async fn call(
        &self,
        arguments: Arguments,
        mut context: CallContext,
    ) -> Result<ToolOutcome, Error> {
        context.deadline = earlier(context.deadline, self.timeout);
        let timeout = self.timeout;
        let called = within(timeout, self.tool.call(arguments, context)).await;
        called.unwrap_or_else(|late| {
            Err(late.for_model_text(format!(
                "it did not end within {} s.",
                timeout.as_secs_f64()
            )))
        })
    }
}

fn earlier(deadline: Option<Instant>, timeout: Duration) -> Option<Instant> {
    let ours = Instant::now().checked_add(timeout);
    deadline.into_iter().chain(ours).min()
}

/// What takes longer is dropped, which ends it.
async fn within<T>(timeout: Duration, work: impl Future<Output = T>) -> Result<T, Error> {
    tokio::time::timeout(timeout, work).await.map_err(|_| {
        let fault = format!(
            "it did not end within {} s; the 'timeout' of its entry says how long it may take",
            timeout.as_secs_f64()
        );
        Error::new(ErrorKind::TimedOut, fault)
    })
}

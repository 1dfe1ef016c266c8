//! Calls of tools that were loaded.

use std::sync::Arc;
use std::time::{Duration, Instant};

use toolshelf_core::{CallContext, Error, ErrorKind, Tool, ToolOutcome};

use super::giving_up::cancelled;
use super::{Calling, Subject, tool};
use crate::clause::{Verdict, clause, require, short};
use crate::wait::{Pause, all, both, polled, within};

/// How many calls are made at a time.
const MANY: usize = 8;

/// How long a call gets before its deadline, or before it is left alone.
const A_MOMENT: Duration = Duration::from_millis(200);

fn answered(name: &str, ended: Result<ToolOutcome, Error>) -> Result<(), String> {
    match ended {
        Ok(ToolOutcome::Complete(result)) if !result.is_error => Ok(()),
        other => Err(format!("a call of `{name}` ends with {}", short(&other))),
    }
}

impl Subject {
    /// Loads, and runs a check with a tool.
    async fn with_tool<F>(
        &self,
        calling: &Calling,
        check: impl FnOnce(Arc<dyn Tool>) -> F,
    ) -> Result<(), String>
    where
        F: Future<Output = Result<(), String>>,
    {
        let loader = (self.build)();
        let loaded = self.loaded(&*loader).await?;
        check(tool(&loaded, &calling.tool)?.clone()).await
    }

    async fn is_answered(&self, tool: &Arc<dyn Tool>, calling: &Calling) -> Result<(), String> {
        let ended = self.called(tool, calling, CallContext::new()).await?;
        answered(&calling.tool, ended)
    }
}

/// A tool that was loaded is called, more than once.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_call_is_answered(subject: &Subject) -> Verdict {
    clause("a_call_is_answered", || {
        let calling = subject.calling()?;
        subject.run(subject.with_tool(calling, async |tool| {
            subject.is_answered(&tool, calling).await?;
            subject.is_answered(&tool, calling).await
        }))
    })
}

/// Calls of one tool that run at the same time are all answered.
///
/// # Errors
///
/// When the clause does not hold.
pub fn calls_run_at_the_same_time(subject: &Subject) -> Verdict {
    clause("calls_run_at_the_same_time", || {
        let calling = subject.calling()?;
        subject.run(subject.with_tool(calling, async |tool| {
            let calls = (0..MANY).map(|_| subject.is_answered(&tool, calling));
            all(calls).await.into_iter().collect()
        }))
    })
}

/// A call that is dropped at any of its awaits harms no other, whether that began before or
/// begins later.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_call_that_is_dropped_leaves_others_alone(subject: &Subject) -> Verdict {
    clause("a_call_that_is_dropped_leaves_others_alone", || {
        let calling = subject.calling()?;
        subject.run(subject.with_tool(calling, async |tool| {
            for at in 1..=MANY {
                let other = subject.is_answered(&tool, calling);
                let dropped = async {
                    let call = tool.call(calling.arguments.clone(), CallContext::new());
                    let _ = within(A_MOMENT, polled(at, call)).await;
                };
                let (answered, ()) = both(other, dropped).await;
                answered?;
                subject.is_answered(&tool, calling).await?;
            }
            Ok(())
        }))
    })
}

/// That a call ended as it may: with an answer, or with an error of a kind.
fn may_end(name: &str, ended: Result<ToolOutcome, Error>, kind: ErrorKind) -> Result<(), String> {
    match ended {
        Err(error) if error.kind() == kind => Ok(()),
        ended => answered(name, ended),
    }
}

/// A call that was cancelled before it began ends: with [`ErrorKind::Cancelled`], or with its
/// answer. The next one is answered.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_call_that_is_cancelled_ends(subject: &Subject) -> Verdict {
    clause("a_call_that_is_cancelled_ends", || {
        let calling = subject.calling()?;
        subject.run(subject.with_tool(calling, async |tool| {
            let mut context = CallContext::new();
            context.cancellation = cancelled();
            let ended = subject.called(&tool, calling, context).await?;
            may_end(&calling.tool, ended, ErrorKind::Cancelled)?;
            subject.is_answered(&tool, calling).await
        }))
    })
}

/// A call whose deadline is over ends: with [`ErrorKind::TimedOut`], or with its answer. The
/// next one is answered.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_call_that_is_late_ends(subject: &Subject) -> Verdict {
    clause("a_call_that_is_late_ends", || {
        let calling = subject.calling()?;
        subject.run(subject.with_tool(calling, async |tool| {
            let mut context = CallContext::new();
            context.deadline = Some(Instant::now());
            let ended = subject.called(&tool, calling, context).await?;
            may_end(&calling.tool, ended, ErrorKind::TimedOut)?;
            subject.is_answered(&tool, calling).await
        }))
    })
}

/// A call that would go on ends when it is cancelled, as cancelled.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_long_call_ends_when_it_is_cancelled(subject: &Subject) -> Verdict {
    clause("a_long_call_ends_when_it_is_cancelled", || {
        let calling = subject.waiting()?;
        subject.run(subject.with_tool(calling, async |tool| {
            let context = CallContext::new();
            let cancellation = context.cancellation.clone();
            let call = async {
                let ended = subject.called(&tool, calling, context).await?;
                ended_as(ended, ErrorKind::Cancelled)
            };
            let cancel = async {
                Pause::new(A_MOMENT).await;
                cancellation.cancel();
            };
            both(call, cancel).await.0
        }))
    })
}

fn ended_as(ended: Result<ToolOutcome, Error>, kind: ErrorKind) -> Result<(), String> {
    match ended {
        Err(error) if error.kind() == kind => Ok(()),
        other => Err(format!("it ends with {}, not `{kind}`", short(&other))),
    }
}

/// A call that would go on ends at its deadline, as timed out.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_long_call_ends_at_its_deadline(subject: &Subject) -> Verdict {
    clause("a_long_call_ends_at_its_deadline", || {
        let calling = subject.waiting()?;
        subject.run(subject.with_tool(calling, async |tool| {
            let mut context = CallContext::new();
            context.deadline = Some(Instant::now() + A_MOMENT);
            let ended = subject.called(&tool, calling, context).await?;
            ended_as(ended, ErrorKind::TimedOut)
        }))
    })
}

/// While a call goes on, others of the group are answered, and loads end.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_long_call_keeps_nobody_waiting(subject: &Subject) -> Verdict {
    clause("a_long_call_keeps_nobody_waiting", || {
        let (waiting, calling) = (subject.waiting()?, subject.calling()?);
        subject.run(async {
            let loader = (subject.build)();
            let loaded = subject.loaded(&*loader).await?;
            let long = tool(&loaded, &waiting.tool)?;
            let other = tool(&loaded, &calling.tool)?;
            let mut goes_on = long.call(waiting.arguments.clone(), CallContext::new());
            let ended = within(A_MOMENT, &mut goes_on).await;
            require(ended.is_none(), || {
                format!("the long call ends by itself: {}", short(&ended))
            })?;
            subject.is_answered(other, calling).await?;
            subject.loaded(&*loader).await.map(|_| ())
        })
    })
}

//! Loads that nobody waits for any more.

use std::time::{Duration, Instant};

use toolshelf_core::{Cancellation, Error, ErrorKind, LoadContext, Loaded, ToolLoader};

use super::Subject;
use crate::clause::{Verdict, clause, require, short};
use crate::wait::{both, polled, within};

/// At how many of its awaits a load is dropped.
const AWAITS: usize = 12;

/// How long the next await is waited for.
const A_MOMENT: Duration = Duration::from_millis(200);

/// Drops a load at one of its awaits.
pub(super) async fn given_up(loader: &dyn ToolLoader, at: usize) {
    let load = polled(at, loader.load(LoadContext::default()));
    let _ = within(A_MOMENT, load).await;
}

/// A load that was dropped at any of its awaits leaves a loader that loads as before.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_that_was_given_up_can_be_made_again(subject: &Subject) -> Verdict {
    clause("a_load_that_was_given_up_can_be_made_again", || {
        subject.run(async {
            for at in 1..=AWAITS {
                let loader = (subject.build)();
                given_up(&*loader, at).await;
                let loaded = subject.loaded(&*loader).await?;
                require(loaded.tools.len() == subject.names.len(), || {
                    format!(
                        "after a load that was dropped at its await {at}, there are {} tools",
                        loaded.tools.len()
                    )
                })?;
            }
            Ok(())
        })
    })
}

pub(super) fn cancelled() -> Cancellation {
    let cancellation = Cancellation::new();
    cancellation.cancel();
    cancellation
}

/// That a load ended as it may: with all tools, or with an error of a kind.
fn ended(subject: &Subject, ended: Result<Loaded, Error>, kind: ErrorKind) -> Result<(), String> {
    match ended {
        Ok(loaded) => require(loaded.tools.len() == subject.names.len(), || {
            format!("the load ends with {} tools", loaded.tools.len())
        }),
        Err(error) if error.kind() == kind => subject.may_be_read(&error),
        Err(error) => Err(format!("the load ends with {}", short(&error))),
    }
}

/// A load that is cancelled, before it begins or while it runs, ends: with
/// [`ErrorKind::Cancelled`], or with all tools, if it was done anyway.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_that_is_cancelled_ends(subject: &Subject) -> Verdict {
    clause("a_load_that_is_cancelled_ends", || {
        subject.run(async {
            let mut context = LoadContext::default();
            context.cancellation = cancelled();
            let loader = (subject.build)();
            let load = subject.ends("a cancelled load", loader.load(context));
            ended(subject, load.await?, ErrorKind::Cancelled)?;

            let load = cancelled_later(subject, (subject.build)());
            ended(subject, load.await?, ErrorKind::Cancelled)
        })
    })
}

/// A load that is cancelled once it has begun.
pub(super) async fn cancelled_later(
    subject: &Subject,
    loader: std::sync::Arc<dyn ToolLoader>,
) -> Result<Result<Loaded, Error>, String> {
    let mut context = LoadContext::default();
    let cancellation = Cancellation::new();
    context.cancellation = cancellation.clone();
    let load = subject.ends("a cancelled load", loader.load(context));
    let cancel = async { cancellation.cancel() };
    both(load, cancel).await.0
}

/// A load whose deadline is over ends: with [`ErrorKind::TimedOut`], or with all tools, if it
/// was done anyway.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_that_is_late_ends(subject: &Subject) -> Verdict {
    clause("a_load_that_is_late_ends", || {
        subject.run(async {
            let mut context = LoadContext::default();
            context.deadline = Some(Instant::now());
            let loader = (subject.build)();
            let load = subject.ends("a load that is late", loader.load(context));
            ended(subject, load.await?, ErrorKind::TimedOut)
        })
    })
}

/// That a load ended with an error of a kind that a model may read.
fn ends_as(subject: &Subject, ended: Result<Loaded, Error>, kind: ErrorKind) -> Result<(), String> {
    match ended {
        Err(error) if error.kind() == kind => subject.may_be_read(&error),
        Err(error) => Err(format!("it ends with {}, not `{kind}`", short(&error))),
        Ok(loaded) => Err(format!("it ends with {} tools", loaded.tools.len())),
    }
}

/// A load that would not end by itself ends when it is cancelled, as cancelled.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_hanging_load_ends_when_it_is_cancelled(subject: &Subject) -> Verdict {
    clause("a_hanging_load_ends_when_it_is_cancelled", || {
        subject.run(async {
            let ended = cancelled_later(subject, subject.hanging_loader()?).await?;
            ends_as(subject, ended, ErrorKind::Cancelled)
        })
    })
}

/// A load that would not end by itself ends at its deadline, as timed out.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_hanging_load_ends_at_its_deadline(subject: &Subject) -> Verdict {
    clause("a_hanging_load_ends_at_its_deadline", || {
        subject.run(async {
            let loader = subject.hanging_loader()?;
            let mut context = LoadContext::default();
            context.deadline = Some(Instant::now() + A_MOMENT);
            let load = subject.ends("a load with a deadline", loader.load(context));
            ends_as(subject, load.await?, ErrorKind::TimedOut)
        })
    })
}

//! Threads, which belong to everybody.

use std::time::Duration;

use toolshelf_core::{CallContext, LoadContext};

use super::{Subject, tool};
use crate::clause::{Verdict, clause, require};
use crate::wait::longest_poll;

/// How long one poll may take. What blocks takes longer each time.
const MOST: Duration = Duration::from_millis(250);

/// How often it is tried: a busy machine is slow once, and no fault.
const TRIES: usize = 3;

fn blocks(what: &str, shortest: Duration) -> Result<(), String> {
    require(shortest < MOST, || {
        format!(
            "{what} keeps its thread for {} ms between two awaits, and others wait for it: work \
             that blocks belongs on a thread of its own",
            shortest.as_millis()
        )
    })
}

/// A load does not block the thread that polls it: it awaits, or works elsewhere.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_does_not_keep_its_thread(subject: &Subject) -> Verdict {
    clause("a_load_does_not_keep_its_thread", || {
        subject.run(async {
            let loader = (subject.build)();
            let mut shortest = Duration::MAX;
            for _ in 0..TRIES {
                let load = longest_poll(loader.load(LoadContext::default()));
                let (loaded, longest) = subject.ends("a load", load).await?;
                loaded.map_err(|error| format!("the load fails: {error}"))?;
                shortest = shortest.min(longest);
            }
            blocks("a load", shortest)
        })
    })
}

/// A call does not block the thread that polls it: it awaits, or works elsewhere.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_call_does_not_keep_its_thread(subject: &Subject) -> Verdict {
    clause("a_call_does_not_keep_its_thread", || {
        let calling = subject.calling()?;
        subject.run(async {
            let loader = (subject.build)();
            let loaded = subject.loaded(&*loader).await?;
            let tool = tool(&loaded, &calling.tool)?;
            let what = format!("a call of `{}`", calling.tool);
            let mut shortest = Duration::MAX;
            for _ in 0..TRIES {
                let call = tool.call(calling.arguments.clone(), CallContext::new());
                let (_, longest) = subject.ends(&what, longest_poll(call)).await?;
                shortest = shortest.min(longest);
            }
            blocks(&what, shortest)
        })
    })
}

//! What is left of a loader.

use std::time::Duration;

use toolshelf_core::{CallContext, LoadContext};

use super::giving_up::given_up;
use super::{Leftovers, Subject, tool};
use crate::clause::{Verdict, clause, require};
use crate::wait::{Pause, within};

/// How often is looked whether something is left. What ends outside of this process does not
/// say when.
const LOOKS: Duration = Duration::from_millis(10);

impl Subject {
    fn remains(&self) -> Result<&Leftovers, String> {
        let lacking = "the subject does not say what is left (`leftovers`)";
        self.leftovers.as_deref().ok_or_else(|| lacking.to_owned())
    }

    async fn nothing_is_left(&self, when: &str) -> Result<(), String> {
        let leftovers = self.remains()?;
        let gone = async {
            while !leftovers().is_empty() {
                Pause::new(LOOKS).await;
            }
        };
        let ended = within(self.patience, gone).await;
        ended.ok_or_else(|| format!("{when}, there is still {:?}", leftovers()))
    }
}

/// When a load was dropped at any of its awaits, and its loader with it, nothing is left of
/// what it had begun: no process, no connection.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_load_that_is_given_up_leaves_nothing(subject: &Subject) -> Verdict {
    clause("a_load_that_is_given_up_leaves_nothing", || {
        subject.run(async {
            for at in [1, 2, 3, 5, 8] {
                let loader = (subject.build)();
                given_up(&*loader, at).await;
                drop(loader);
                let when = format!("after a load that was dropped at its await {at}");
                subject.nothing_is_left(&when).await?;
            }
            if subject.hanging.is_some() {
                let loader = subject.hanging_loader()?;
                let load = loader.load(LoadContext::default());
                let _ = within(Duration::from_millis(500), load).await;
                drop(loader);
                subject
                    .nothing_is_left("after a hanging load was dropped")
                    .await?;
            }
            Ok(())
        })
    })
}

/// When a loader and its tools are dropped, nothing is left of what they had begun, also when
/// a call was under way.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_loader_that_is_dropped_leaves_nothing(subject: &Subject) -> Verdict {
    clause("a_loader_that_is_dropped_leaves_nothing", || {
        subject.run(async {
            let loader = (subject.build)();
            let loaded = subject.loaded(&*loader).await?;
            require(!subject.remains()?().is_empty(), || {
                "a loader that has loaded has begun nothing that `leftovers` sees".to_owned()
            })?;
            for calling in subject.call.iter().chain(&subject.long_call) {
                let tool = tool(&loaded, &calling.tool)?;
                let call = tool.call(calling.arguments.clone(), CallContext::new());
                let _ = within(Duration::from_millis(200), call).await;
            }
            drop((loader, loaded));
            subject.nothing_is_left("after all was dropped").await?;

            if subject.failing.is_some() {
                let loader = subject.failing_loader()?;
                let load = loader.load(LoadContext::default());
                let _ = subject.ends("a load that fails", load).await?;
                drop(loader);
                subject.nothing_is_left("after a load that failed").await?;
            }
            Ok(())
        })
    })
}

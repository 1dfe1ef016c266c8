//! Loads that fail.

use toolshelf_core::LoadContext;

use super::Subject;
use crate::clause::{Verdict, clause};

/// A load that fails is an error: an empty list would say that there are no tools.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_failure_is_an_error_and_no_empty_list(subject: &Subject) -> Verdict {
    clause("a_failure_is_an_error_and_no_empty_list", || {
        subject.run(async {
            let loader = subject.failing_loader()?;
            let load = loader.load(LoadContext::default());
            match subject.ends("a load that fails", load).await? {
                Err(_) => Ok(()),
                Ok(loaded) => Err(format!("it brings {} tools", loaded.tools.len())),
            }
        })
    })
}

/// The error of a load has a text for the model, and it names no secret, no path and no
/// address.
///
/// # Errors
///
/// When the clause does not hold.
pub fn an_error_tells_a_model_nothing_secret(subject: &Subject) -> Verdict {
    clause("an_error_tells_a_model_nothing_secret", || {
        subject.run(async {
            let loader = subject.failing_loader()?;
            let load = loader.load(LoadContext::default());
            match subject.ends("a load that fails", load).await? {
                Err(error) => subject.may_be_read(&error),
                Ok(_) => Err("it does not fail".to_owned()),
            }
        })
    })
}

/// A loader that failed can be asked again, and fails again or brings tools: it neither panics
/// nor hangs, and has not become empty.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_loader_that_failed_can_be_asked_again(subject: &Subject) -> Verdict {
    clause("a_loader_that_failed_can_be_asked_again", || {
        subject.run(async {
            let loader = subject.failing_loader()?;
            for _ in 0..3 {
                let load = loader.load(LoadContext::default());
                match subject.ends("a further load", load).await? {
                    Ok(loaded) if loaded.tools.is_empty() => {
                        return Err("a further load brings an empty list".to_owned());
                    }
                    _ => {}
                }
            }
            Ok(())
        })
    })
}

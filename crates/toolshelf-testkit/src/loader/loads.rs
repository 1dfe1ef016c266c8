//! What a load brings.

use toolshelf_core::Loaded;

use super::Subject;
use crate::clause::{Verdict, clause, require, same};

fn names(loaded: &Loaded) -> Vec<String> {
    let tools = loaded.tools.iter();
    tools
        .map(|tool| tool.definition().name().to_string())
        .collect()
}

/// The definitions of a load, each as its name and a digest of all that it says.
fn definitions(loaded: &Loaded) -> Vec<(String, String)> {
    let tools = loaded.tools.iter().map(|tool| tool.definition());
    tools
        .map(|it| (it.name().to_string(), it.digest().short(64)))
        .collect()
}

/// A load brings all tools of the group, each once, under their own names and in their order.
///
/// # Errors
///
/// When the clause does not hold.
pub fn its_tools_are_all_there_in_order(subject: &Subject) -> Verdict {
    clause("its_tools_are_all_there_in_order", || {
        subject.run(async {
            let loader = (subject.build)();
            let loaded = names(&subject.loaded(&*loader).await?);
            require(loaded == subject.names, || {
                format!("it should load {:?}, and loads {loaded:?}", subject.names)
            })
        })
    })
}

/// A further load brings the same tools in the same order, of this loader and of another that
/// was built alike: a catalog that changes for nothing costs a prompt cache.
///
/// # Errors
///
/// When the clause does not hold.
pub fn loading_again_brings_the_same(subject: &Subject) -> Verdict {
    clause("loading_again_brings_the_same", || {
        subject.run(async {
            let (one, other) = ((subject.build)(), (subject.build)());
            let first = definitions(&subject.loaded(&*one).await?);
            let again = definitions(&subject.loaded(&*one).await?);
            same("what is loaded", &first, &again)?;
            let elsewhere = definitions(&subject.loaded(&*other).await?);
            same("what is loaded", &first, &elsewhere)
        })
    })
}

/// A tool has the definition that it was loaded with, also after further loads: one whose
/// definition is another is another tool.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_tool_keeps_its_definition(subject: &Subject) -> Verdict {
    clause("a_tool_keeps_its_definition", || {
        subject.run(async {
            let loader = (subject.build)();
            let loaded = subject.loaded(&*loader).await?;
            let before = definitions(&loaded);
            same("a definition", &before, &definitions(&loaded))?;
            subject.loaded(&*loader).await?;
            same("a definition", &before, &definitions(&loaded))
        })
    })
}

/// A tool that was left out has a reason, and is not among those that were loaded.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_left_out_has_a_reason(subject: &Subject) -> Verdict {
    clause("what_is_left_out_has_a_reason", || {
        subject.run(async {
            let loader = (subject.build)();
            let loaded = subject.loaded(&*loader).await?;
            let loads = names(&loaded);
            for aside in &loaded.set_aside {
                require(!loads.contains(&aside.name), || {
                    format!("`{}` is left out, and is loaded", aside.name)
                })?;
                require(!aside.reason.trim().is_empty(), || {
                    format!("`{}` is left out without a reason", aside.name)
                })?;
            }
            Ok(())
        })
    })
}

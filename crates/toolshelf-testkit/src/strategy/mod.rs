//! The kit for strategies.
//!
//! A [`Subject`] says how a strategy is built and how a model asks for its own tools;
//! [`strategy_tests!`](crate::strategy_tests) stamps a test for each clause that holds for every strategy, and
//! for those of the capabilities that are declared:
//!
//! | capability | of a strategy that |
//! |---|---|
//! | `stable` | says so: its surface is made once ([`Strategy::stable`](toolshelf_core::Strategy::stable)) |
//! | `defers` | keeps deferred tools out of the tools array until they are disclosed |
//! | `lazy` | starts no server of deferred tools for a surface |
//! | `loads` | has a tool that loads groups ([`Subject::load_with`]) |
//! | `parts` | loads some tools of a group where they are named, and not the whole of it |
//! | `searches` | has a tool that searches ([`Subject::search_with`]) |
//! | `forwards` | has a tool through which others are called ([`Subject::forward_with`]) |
//! | `grows` | lets what was disclosed join the tools array |
//! | `catalogs` | writes its catalog in the format that the host has chosen ([`Cx::catalog`](toolshelf_core::Cx::catalog)) |
//! | `encodes` | answers a search by the codec that the host has chosen ([`Cx::codec`](toolshelf_core::Cx::codec)) |
//! | `rebuilds` | learns from [`Event::Discovered`](toolshelf_core::Event::Discovered) what a history disclosed |
//!
//! Nothing is skipped in silence: `declares_the_capabilities_that_it_has` fails where a
//! strategy has a capability that was not declared, or the other way round.

mod always;
mod choosing;
mod deferring;
mod disclosing;
mod forwarding;
mod loading;
mod meaning;
mod searching;
mod secrecy;
mod sessions;
mod subject;

use crate::clause::{Clause, Verdict, clause};
use subject::{arguments, executes, host, some_tools};

pub use always::*;
pub use choosing::*;
pub use deferring::*;
pub use disclosing::*;
pub use forwarding::*;
pub use loading::*;
pub use meaning::*;
pub use searching::*;
pub use secrecy::*;
pub use sessions::*;
pub use subject::Subject;

/// The lists of clauses.
#[doc(hidden)]
#[macro_export]
macro_rules! __strategy {
    (always $then:ident) => {
        $crate::__clauses! { $then strategy always:
            its_name_is_legal,
            its_own_tools_are_legal,
            the_same_question_has_the_same_answer,
            needs_settle,
            names_in_the_array_are_unique_and_legal,
            own_tools_are_told_apart,
            what_is_offered_exists_and_is_verbatim,
            an_mcp_server_has_no_prompt_section,
            no_schema_stands_in_the_prompt_section,
            a_surface_comes_to_rest,
            what_is_offered_is_what_its_name_calls,
            a_name_means_its_own_tool_or_none,
            a_name_of_the_hosts_is_not_its_own,
            arguments_arrive_as_they_were,
            arguments_are_never_taken_for_none,
            permission_comes_before_a_load,
            any_arguments_of_an_own_tool_are_answered,
            a_denied_tool_costs_no_byte,
            a_hidden_group_costs_no_byte,
            a_denied_tool_is_named_by_no_answer,
            what_is_for_operators_reaches_no_model,
            sessions_do_not_see_each_other,
            a_fork_leaves_its_parent_alone,
            a_session_resumes_from_its_record,
            a_compaction_keeps_what_was_disclosed,
            what_is_said_is_no_discovery,
            any_event_is_taken,
        }
    };
    (stable $then:ident) => {
        $crate::__clauses! { $then strategy stable:
            the_surface_does_not_look_at_the_state,
            a_load_changes_no_byte,
        }
    };
    (defers $then:ident) => {
        $crate::__clauses! { $then strategy defers:
            the_way_to_deferred_tools_is_always_there,
            deferred_tools_stay_out_until_they_are_disclosed,
        }
    };
    (lazy $then:ident) => {
        $crate::__clauses! { $then strategy lazy:
            a_surface_starts_no_server_of_deferred_tools,
        }
    };
    (loads $then:ident) => {
        $crate::__clauses! { $then strategy loads:
            a_load_names_its_tools,
            a_load_stands_in_the_state,
            loading_twice_is_loading_once,
            loads_of_a_batch_add_up_in_order,
            a_failed_load_changes_nothing,
            a_load_of_an_unknown_group_changes_nothing,
            what_opens_groups_says_which_there_are,
        }
    };
    (parts $then:ident) => {
        $crate::__clauses! { $then strategy parts:
            a_part_stands_in_the_state,
            parts_and_the_whole_are_the_whole,
            a_load_of_unknown_tools_changes_nothing,
        }
    };
    (searches $then:ident) => {
        $crate::__clauses! { $then strategy searches:
            a_search_finds_a_tool_by_its_name,
            searching_twice_is_searching_once,
            a_search_that_finds_nothing_discovers_nothing,
            a_search_without_an_index_is_answered,
        }
    };
    (forwards $then:ident) => {
        $crate::__clauses! { $then strategy forwards:
            a_forwarded_call_is_the_call_itself,
            a_forwarded_call_never_reaches_another_tool,
        }
    };
    (grows $then:ident) => {
        $crate::__clauses! { $then strategy grows:
            what_is_disclosed_joins_the_array,
            the_array_grows_at_its_end_only,
            what_is_gone_is_left_out_and_returns_to_its_place,
        }
    };
    (catalogs $then:ident) => {
        $crate::__clauses! { $then strategy catalogs:
            the_catalog_is_of_the_hosts_format,
            the_hosts_format_sees_what_a_model_may,
        }
    };
    (encodes $then:ident) => {
        $crate::__clauses! { $then strategy encodes:
            the_answer_of_a_search_is_of_the_hosts_codec,
            a_codec_that_writes_nothing_fails_no_search,
        }
    };
    (rebuilds $then:ident) => {
        $crate::__clauses! { $then strategy rebuilds:
            folding_a_history_equals_living_it,
            a_history_may_be_cut_anywhere,
            discovering_twice_is_discovering_once,
            a_marker_brings_back_what_was_disclosed,
            what_is_not_known_yet_is_remembered,
            a_name_that_nobody_has_discovers_nothing,
        }
    };
    ($unknown:ident $then:ident) => {
        compile_error!(concat!(
            "a strategy has no capability `",
            stringify!($unknown),
            "`; there are: ",
            "stable, defers, lazy, loads, parts, searches, forwards, grows, catalogs, encodes, rebuilds",
        ));
    };
}

/// Stamps the tests of a strategy: a module of the name of the function that makes its
/// [`Subject`], with one test for each clause that always holds and for each of a capability
/// that is declared.
///
/// ```
/// use serde_json::json;
/// use toolshelf_core::{Call, Cx, Resolution, State, Step, Strategy, Surface};
/// use toolshelf_testkit::strategy::Subject;
///
/// /// Shows nothing and knows nothing.
/// struct Nothing;
///
/// impl Strategy for Nothing {
///     fn name(&self) -> &str {
///         "nothing"
///     }
///     fn own_tools(&self) -> Vec<String> {
///         Vec::new()
///     }
///     fn surface(&self, _: &Cx<'_>, _: &State) -> Step<Surface> {
///         Step::Done(Surface::default())
///     }
///     fn resolve(&self, _: &Cx<'_>, _: &State, _: &Call) -> Step<Resolution> {
///         Step::Done(Resolution::NotMine)
///     }
/// }
///
/// fn nothing() -> Subject {
///     Subject::new(|| Nothing)
/// }
///
/// toolshelf_testkit::strategy_tests!(nothing: lazy, defers);
///
/// # fn main() {
/// // What the tests would say: it keeps tools back and gives no way to them.
/// let clauses = toolshelf_testkit::strategy::clauses();
/// let fails = toolshelf_testkit::broken(&clauses, &nothing(), &["lazy", "defers"]);
/// assert!(fails.contains(&"the_way_to_deferred_tools_is_always_there"));
/// assert!(!fails.contains(&"a_surface_starts_no_server_of_deferred_tools"));
/// # }
/// ```
#[macro_export]
macro_rules! strategy_tests {
    ($subject:ident $(: $($capability:ident),+ $(,)?)?) => {
        $crate::__stamp! { strategy __strategy $subject [$($($capability)+)?] }
    };
}

/// All clauses, with the capability that makes each apply.
pub fn clauses() -> Vec<Clause<Subject>> {
    let mut all = Vec::new();
    all.extend(__strategy!(always table));
    all.extend(__strategy!(stable table));
    all.extend(__strategy!(defers table));
    all.extend(__strategy!(lazy table));
    all.extend(__strategy!(loads table));
    all.extend(__strategy!(parts table));
    all.extend(__strategy!(searches table));
    all.extend(__strategy!(forwards table));
    all.extend(__strategy!(grows table));
    all.extend(__strategy!(catalogs table));
    all.extend(__strategy!(encodes table));
    all.extend(__strategy!(rebuilds table));
    all
}

/// The capabilities that were declared are those that are there, so that no clause is left
/// out that applies.
///
/// # Errors
///
/// When one is missing, or one too many.
pub fn declares_the_capabilities_that_it_has(subject: &Subject, declared: &[&str]) -> Verdict {
    clause("declares_the_capabilities_that_it_has", || {
        let has = deferring::capabilities(subject)?;
        for (capability, has) in has {
            crate::clause::declared(capability, has, declared)?;
        }
        Ok(())
    })
}

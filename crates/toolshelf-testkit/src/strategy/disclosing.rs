//! What joins the tools array, and what a history tells of it.

use toolshelf_core::{Event, State, ToolKey, wire_name};

use super::sessions::{disclosures, lived};
use super::{Subject, some_tools};
use crate::clause::{Verdict, clause, require, same};
use crate::live::{Live, offered};

fn wire(key: &ToolKey) -> String {
    wire_name(&key.group, &key.tool)
}

fn array(live: &mut Live) -> Result<Vec<String>, String> {
    let surface = live.surface()?;
    Ok(offered(&surface).iter().map(ToString::to_string).collect())
}

/// A tool that was disclosed is in the next request, once.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_disclosed_joins_the_array(subject: &Subject) -> Verdict {
    clause("what_is_disclosed_joins_the_array", || {
        let mut live = subject.host();
        for key in some_tools() {
            for _ in 0..2 {
                subject.disclose(&mut live, &key)?;
                let names = array(&mut live)?;
                let times = names.iter().filter(|name| **name == wire(&key)).count();
                require(times == 1, || {
                    format!("{key} is there {times} times: {names:?}")
                })?;
            }
        }
        Ok(())
    })
}

/// What joins the array stands after all that is there: no tool moves, so that the prompt
/// cache is lost from the new ones on only.
///
/// # Errors
///
/// When the clause does not hold.
pub fn the_array_grows_at_its_end_only(subject: &Subject) -> Verdict {
    clause("the_array_grows_at_its_end_only", || {
        let mut live = subject.host();
        let mut before = array(&mut live)?;
        for key in some_tools() {
            subject.disclose(&mut live, &key)?;
            let now = array(&mut live)?;
            require(now.starts_with(&before), || {
                format!("{before:?}, and then {now:?}")
            })?;
            before = now;
        }
        live.world.load_all();
        same("the array", &before, &array(&mut live)?)
    })
}

/// A tool whose server left is not offered; when it returns, also with its tools in another
/// order, it is where it was.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_gone_is_left_out_and_returns_to_its_place(subject: &Subject) -> Verdict {
    clause("what_is_gone_is_left_out_and_returns_to_its_place", || {
        let mut live = lived(subject)?;
        let all = array(&mut live)?;
        live.world.remove("mail");
        let without: Vec<String> = all
            .iter()
            .filter(|name| !name.starts_with("mail__"))
            .cloned()
            .collect();
        same("the array", &without, &array(&mut live)?)?;
        live.world.return_with("mail", &["list", "send"]);
        same("the array", &all, &array(&mut live)?)?;
        live.world.return_with("mail", &["list"]);
        let left: Vec<String> = all
            .iter()
            .filter(|name| **name != "mail__send")
            .cloned()
            .collect();
        same("the array", &left, &array(&mut live)?)
    })
}

/// The names that a history shows, one list for each of its searches.
fn history() -> Vec<Vec<String>> {
    let tools = some_tools();
    vec![
        vec![wire(&tools[0])],
        vec![wire(&tools[1]), wire(&tools[2])],
        vec![wire(&tools[0]), wire(&tools[3])],
    ]
}

/// A session that was lived, and what its history shows: what joined the array at each turn.
fn told(subject: &Subject) -> Result<(Live, Vec<Vec<String>>), String> {
    let mut live = subject.host();
    let mut before = array(&mut live)?;
    let mut history = Vec::new();
    for key in &some_tools()[..3] {
        subject.disclose(&mut live, key)?;
        let now = array(&mut live)?;
        let joined = now.iter().filter(|name| !before.contains(name));
        history.push(joined.cloned().collect());
        before = now;
    }
    Ok((live, history))
}

fn fold(live: &mut Live, history: &[Vec<String>]) {
    for names in history {
        let names = names.clone();
        live.observe(&Event::Discovered { names });
    }
}

/// A session that is rebuilt from what its history shows is the session that was lived: the
/// same disclosures in the same order, and the same requests.
///
/// # Errors
///
/// When the clause does not hold.
pub fn folding_a_history_equals_living_it(subject: &Subject) -> Verdict {
    clause("folding_a_history_equals_living_it", || {
        let (mut live, history) = told(subject)?;
        let mut rebuilt = subject.host();
        rebuilt.world.load_all();
        fold(&mut rebuilt, &history);
        same("the array", &array(&mut live)?, &array(&mut rebuilt)?)?;
        same(
            "what is disclosed",
            &disclosures(&live.state),
            &disclosures(&rebuilt.state),
        )
    })
}

/// Wherever a history is cut, by a fork or by a turn, its first part and then the rest come to
/// what all of it at once comes to.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_history_may_be_cut_anywhere(subject: &Subject) -> Verdict {
    clause("a_history_may_be_cut_anywhere", || {
        let mut whole = subject.host();
        whole.world.load_all();
        fold(&mut whole, &history());
        let expected = array(&mut whole)?;
        for cut in 0..=history().len() {
            let mut live = subject.host();
            live.world.load_all();
            fold(&mut live, &history()[..cut]);
            live.surface()?;
            // A fork at the cut begins with a copy of the state.
            let mut fork = Live::new(subject.strategy(), live.world);
            fork.state = live.state;
            fold(&mut fork, &history()[cut..]);
            same("the array", &expected, &array(&mut fork)?)?;
            same(
                "what is disclosed",
                &disclosures(&whole.state),
                &disclosures(&fork.state),
            )?;
        }
        Ok(())
    })
}

/// A discovery that is told twice is one.
///
/// # Errors
///
/// When the clause does not hold.
pub fn discovering_twice_is_discovering_once(subject: &Subject) -> Verdict {
    clause("discovering_twice_is_discovering_once", || {
        let (mut live, history) = told(subject)?;
        let before = live.state.clone();
        fold(&mut live, &history);
        fold(&mut live, &history);
        same("the state", &before, &live.state)
    })
}

/// A session that begins at a compaction has what its marker says was disclosed.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_marker_brings_back_what_was_disclosed(subject: &Subject) -> Verdict {
    clause("a_marker_brings_back_what_was_disclosed", || {
        let mut live = lived(subject)?;
        let all = array(&mut live)?;
        let marker = Some(Box::new(live.state.clone()));
        let mut after = Live::new(subject.strategy(), live.world);
        after.observe(&Event::Compacted { marker });
        same("the array", &all, &array(&mut after)?)?;
        same(
            "what is disclosed",
            &disclosures(&live.state),
            &disclosures(&after.state),
        )
    })
}

/// A name that belongs to no known tool yet counts as soon as its group is there, in its turn.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_not_known_yet_is_remembered(subject: &Subject) -> Verdict {
    clause("what_is_not_known_yet_is_remembered", || {
        let mut live = subject.host();
        fold(&mut live, &history());
        live.surface()?;
        live.world.load_all();
        let names = array(&mut live)?;
        for key in &some_tools()[..4] {
            require(names.contains(&wire(key)), || {
                format!("{key} is not in {names:?}")
            })?;
        }
        let again = array(&mut live)?;
        same("the array", &names, &again)
    })
}

/// A name that nobody has discloses nothing, however often it is said.
///
/// # Errors
///
/// When the clause does not hold.
pub fn a_name_that_nobody_has_discovers_nothing(subject: &Subject) -> Verdict {
    clause("a_name_that_nobody_has_discovers_nothing", || {
        let mut live = subject.host();
        live.world.load_all();
        let before = array(&mut live)?;
        let names = ["nobody", "mail__nothing", "send", "", "x\ny"].map(str::to_owned);
        for _ in 0..2 {
            fold(&mut live, &[names.to_vec()]);
            same("the array", &before, &array(&mut live)?)?;
        }
        let nothing = disclosures(&State::new(live.strategy.name()));
        same("what is disclosed", &nothing, &disclosures(&live.state))
    })
}

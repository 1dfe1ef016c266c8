//! A history that grows, and one that changes.

use toolshelf_core::{Message, Role};
use toolshelf_discovery::{DiscoveryReader, Followed, Neutral, Source, read_marker, write_marker};

use crate::origin::{calls, says};

fn reader() -> DiscoveryReader<Neutral> {
    DiscoveryReader::new(Neutral, Source::usual())
}

/// A history of so many turns, each of which finds a tool.
fn history(turns: usize) -> Vec<Message> {
    (0..turns)
        .flat_map(|at| {
            let id = format!("call_{at}");
            [
                says(Role::User, None, "nothing"),
                calls(&[(&id, "search_tools")]),
                says(Role::Tool, Some(&id), &format!("tool_{at}")),
            ]
        })
        .collect()
}

#[test]
fn a_turn_reads_what_is_new() {
    let history = history(10);
    let mut reader = reader();
    assert_eq!(
        reader.follow(&history[..3]),
        Followed::Read {
            messages: 3,
            names: 1
        }
    );
    assert_eq!(
        reader.follow(&history[..3]),
        Followed::Read {
            messages: 0,
            names: 0
        }
    );
    // Between a call and its answer.
    assert_eq!(
        reader.follow(&history[..5]),
        Followed::Read {
            messages: 2,
            names: 0
        }
    );
    assert_eq!(
        reader.follow(&history),
        Followed::Read {
            messages: 25,
            names: 9
        }
    );
    assert_eq!(reader.messages(), 30);
}

#[test]
fn a_history_that_was_cut_is_another_one() {
    let history = history(10);
    let mut reader = reader();
    reader.feed(&history);
    assert_eq!(reader.follow(&history[..29]), Followed::Changed);
    assert_eq!(reader.follow(&[]), Followed::Changed);
    // Nothing was read, and the whole one still goes on.
    assert_eq!(
        reader.follow(&history),
        Followed::Read {
            messages: 0,
            names: 0
        }
    );
}

#[test]
fn a_history_that_was_compacted_is_another_one() {
    let full = history(10);
    let mut reader = reader();
    assert_eq!(
        reader.follow(&full),
        Followed::Read {
            messages: 30,
            names: 10
        }
    );

    let names: Vec<&str> = reader.names().iter().map(|name| &**name).collect();
    let marker = write_marker(&names).unwrap();
    let mut compacted = vec![says(Role::User, None, "summary")];
    compacted.extend_from_slice(&full[24..]);
    // It has grown to the old length meanwhile.
    compacted.extend(history(12).into_iter().skip(30));
    compacted.extend_from_slice(&full[..18]);
    assert!(compacted.len() >= full.len());
    assert_eq!(reader.follow(&compacted), Followed::Changed);

    // What was discovered stays.
    reader.rewind();
    assert!(matches!(reader.follow(&compacted), Followed::Read { .. }));
    assert_eq!(reader.names()[..10], names_of(10));
    // Another process knows it from the marker.
    let mut resumed = DiscoveryReader::new(Neutral, Source::usual());
    resumed.adopt(&read_marker(&marker));
    assert!(matches!(resumed.follow(&compacted), Followed::Read { .. }));
    assert_eq!(resumed.names(), reader.names());
}

fn names_of(turns: usize) -> Vec<std::sync::Arc<str>> {
    (0..turns).map(|at| format!("tool_{at}").into()).collect()
}

#[test]
fn an_edit_of_the_first_or_the_last_message_is_seen() {
    let history = history(10);
    for at in [0, 1, 3, 7, 15, 29] {
        let mut reader = reader();
        reader.feed(&history);
        let mut edited = history.clone();
        edited[at].role = Role::System;
        assert_eq!(reader.follow(&edited), Followed::Changed, "{at}");
        let mut edited = history.clone();
        edited[at] = says(Role::User, None, "other");
        assert_eq!(reader.follow(&edited), Followed::Changed, "{at}");
    }
}

#[test]
fn an_empty_history_can_become_any() {
    let mut reader = reader();
    assert_eq!(
        reader.follow(&[]),
        Followed::Read {
            messages: 0,
            names: 0
        }
    );
    assert_eq!(
        reader.follow(&history(1)),
        Followed::Read {
            messages: 3,
            names: 1
        }
    );
}

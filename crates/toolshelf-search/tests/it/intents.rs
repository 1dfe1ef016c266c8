//! Intents: what is asked for in other words than those of the tools.

use toolshelf_core::search::SearchIndex;
use toolshelf_search::Lexical;

use crate::world::{first, index, keys, tool};

/// A tracker whose tools all have the word `issue`, beside a calendar and a warehouse.
fn team() -> Lexical {
    index(&[
        tool("issues", "create_issue", "Creates an issue in a project."),
        tool("issues", "get_issue", "Returns one issue with all fields."),
        tool(
            "issues",
            "update_issue",
            "Changes the fields of one issue; null clears a field.",
        ),
        tool(
            "issues",
            "transition_issue",
            "Moves an issue along: backlog, todo, in_progress, done.",
        ),
        tool(
            "issues",
            "bulk_update",
            "Changes every issue that a filter finds, one after another.",
        ),
        tool(
            "calendar",
            "create_event",
            "Creates an event in a calendar.",
        ),
        tool("calendar", "move_event", "Moves an event to another time."),
        tool(
            "calendar",
            "list_events",
            "Lists events in a window of time.",
        ),
        tool("warehouse", "track_shipment", "Returns where a parcel is."),
        tool("warehouse", "create_order", "Creates an order."),
    ])
}

#[test]
fn who_opens_reports_or_schedules_something_wants_it_created() {
    let index = team();
    for (text, expected) in [
        ("open an issue", "issues/create_issue"),
        ("report a bug", "issues/create_issue"),
        ("raise a ticket", "issues/create_issue"),
        ("schedule a meeting", "calendar/create_event"),
        ("close an issue", "issues/transition_issue"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
}

#[test]
fn who_creates_something_does_not_want_it_opened() {
    let index = index(&[
        tool("a", "create_page", "Makes a page."),
        tool("a", "open_door", "Opens the door."),
    ]);
    assert_eq!(keys(&index, "create"), ["a/create_page"]);
    assert_eq!(keys(&index, "open").len(), 2);
}

/// Of the synonyms of a word that no tool has, a rare one does not say more than the one that
/// names the thing.
#[test]
fn a_synonym_is_no_more_because_it_is_rare() {
    assert_eq!(first(&team(), "new ticket"), "issues/create_issue");
}

#[test]
fn who_wants_music_wants_no_shipment_tracked() {
    assert!(keys(&team(), "play music").is_empty());
    assert!(keys(&team(), "find a song").is_empty());
}

#[test]
fn one_word_of_a_tool_does_not_answer_two_of_the_query() {
    let index = index(&[
        tool("a", "plan_meeting", "Finds a day for it."),
        tool("b", "schedule", "Keeps a meeting."),
        tool("c", "walk", "Takes a walk."),
    ]);
    // Alone, each word also stands for the other.
    assert_eq!(keys(&index, "schedule").len(), 2);
    assert_eq!(keys(&index, "schedule a meeting")[0], "b/schedule");
    let query = crate::world::query("schedule a meeting");
    let hits = index.search(&query).unwrap().hits;
    for hit in hits {
        let parts = index.explain(&query, &hit.key).unwrap();
        let is_borrowed = |what: &str| {
            what.ends_with("meeting for schedule") || what.ends_with("schedule for meeting")
        };
        assert!(
            !parts.iter().any(|part| is_borrowed(&part.what)),
            "{parts:?}"
        );
    }
}

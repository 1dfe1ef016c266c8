//! The session: what a user asks and what a model does about it.

use serde_json::json;

use super::act::{Act, Expect, Turn};

/// All acts in order.
pub(super) fn acts() -> Vec<Act> {
    vec![
        Act {
            title: "Find what is needed, and load it",
            user: Some("Customers lose their vouchers in the shop. Do we know about it?"),
            turns: vec![
                Turn::search("search bugs and comment on them", "issues/search("),
                Turn::load(
                    json!({"group_id": "issues", "tool_names": ["search", "add_comment"]}),
                    &["search", "add_comment"],
                ),
            ],
        },
        Act {
            title: "Call it",
            user: None,
            turns: vec![
                Turn::call(
                    "issues/search",
                    json!({"query": "voucher", "filter": {"project": "WEB"}}),
                    Expect::Says("WEB-101"),
                ),
                Turn::call(
                    "add_comment",
                    json!({"key": "WEB-101", "body": "Reported again on 2 March."}),
                    Expect::Says("WEB-101#2"),
                )
                .run_by("issues"),
            ],
        },
        Act {
            title: "A tool that nobody loaded runs all the same",
            user: Some("When do Mara and Jonas have an hour for it tomorrow?"),
            turns: vec![Turn::call(
                "calendar/find_free_time",
                json!({
                    "people": [{"person": "mara"}, {"person": "jonas"}],
                    "duration_minutes": 60,
                    "window": {
                        "from": "2026-03-03T09:00:00+01:00",
                        "to": "2026-03-03T17:00:00+01:00",
                    },
                }),
                Expect::Says("Tue 3 Mar 11:00"),
            )],
        },
        Act {
            title: "A wrong argument: nothing runs, and the error teaches the schema",
            user: Some("Book the second one."),
            turns: vec![
                Turn::call(
                    "calendar/create_event",
                    json!({
                        "title": "Voucher bug",
                        "start": "2026-03-03T11:00:00+01:00",
                        "end": {"date_time": "2026-03-03T12:00:00+01:00"},
                    }),
                    Expect::Refused(&["start", "object", "\"date_time\""]),
                ),
                Turn::call(
                    "calendar/create_event",
                    json!({
                        "title": "Voucher bug",
                        "start": {"date_time": "2026-03-03T11:00:00+01:00"},
                        "end": {"date_time": "2026-03-03T12:00:00+01:00"},
                        "attendees": [{"person": "mara"}, {"person": "jonas"}],
                    }),
                    Expect::Says("Created ev-101"),
                ),
            ],
        },
        Act {
            title: "Two servers have a `search`: neither is called by mistake",
            user: Some("And how many desk lamps are left?"),
            turns: vec![
                Turn::call(
                    "search",
                    json!({"query": "desk lamp"}),
                    Expect::Refused(&["issues/search", "warehouse/search"]),
                ),
                Turn::call(
                    "warehouse/search",
                    json!({"query": "desk lamp"}),
                    Expect::Says("LMP-001"),
                ),
            ],
        },
        Act {
            title: "Progress and cancelling pass through",
            user: Some("Count everything."),
            turns: vec![
                Turn::call("warehouse/stocktake", json!({}), Expect::Progress(7)),
                Turn::call(
                    "calendar/optimize_week",
                    json!({"people": ["mara"], "rounds": 600}),
                    Expect::Cancelled,
                )
                .cancelled_after(2),
            ],
        },
        Act {
            title: "So do images",
            user: Some("Show me how the shop is doing."),
            turns: vec![Turn::call(
                "issues/burndown_chart",
                json!({"project": "WEB"}),
                Expect::Image,
            )],
        },
    ]
}

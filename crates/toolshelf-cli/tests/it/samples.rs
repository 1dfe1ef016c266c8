//! Every tool of every sample: its schema is valid, its minimal call works, and its
//! answer is what its output schema says.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolshelf_cli::samples::{SAMPLES, find};
use toolshelf_core::{
    Arguments, CallContext, ContentBlock, ErrorKind, Progress, ProgressSink, Tool, ToolOutcome,
    ToolResult,
};

use crate::helpers::run;

/// The least that each tool with required arguments can be called with.
fn minimal(sample: &str, tool: &str) -> Value {
    match (sample, tool) {
        (_, "search") => json!({"query": ""}),
        ("issues", "get_issue" | "list_comments") => json!({"key": "WEB-101"}),
        ("issues", "create_issue") => json!({"project": "OPS", "title": "Try"}),
        ("issues", "update_issue") => json!({"key": "WEB-102", "changes": {"priority": "low"}}),
        ("issues", "transition_issue") => json!({"key": "WEB-102", "to": "in_progress"}),
        ("issues", "assign_issue") => json!({"key": "WEB-104", "assignee": null}),
        ("issues", "add_comment") => json!({"key": "WEB-101", "body": "Yes."}),
        ("issues", "add_labels" | "remove_labels") => {
            json!({"key": "WEB-104", "labels": ["search"]})
        }
        ("issues", "list_labels" | "list_milestones" | "burndown_chart") => {
            json!({"project": "WEB"})
        }
        ("issues", "link_issues") => json!({"from": "WEB-104", "kind": "causes", "to": "WEB-102"}),
        ("issues", "unlink_issues") => json!({"from": "WEB-103", "to": "WEB-101"}),
        ("issues", "create_milestone") => {
            json!({"project": "OPS", "name": "Q2", "due": "2026-06-30"})
        }
        ("issues", "set_milestone") => json!({"key": "WEB-101", "milestone": "Spring release"}),
        ("issues", "bulk_update") => {
            json!({"filter": {"project": "OPS"}, "changes": {"priority": "low"}})
        }
        ("calendar", "create_event") => json!({
            "title": "Lunch",
            "start": {"date_time": "2026-03-05T12:00:00+01:00"},
            "end": {"date_time": "2026-03-05T13:00:00+01:00"},
        }),
        ("calendar", "update_event") => json!({"event_id": "ev-2", "changes": {"title": "Review"}}),
        ("calendar", "move_event") => {
            json!({"event_id": "ev-6", "new_start": "2026-03-05T13:00:00+01:00"})
        }
        ("calendar", "respond_to_event") => {
            json!({"event_id": "ev-3", "person": "tomas", "answer": "accepted"})
        }
        ("calendar", "find_free_time") => {
            json!({"people": [{"person": "mara"}], "duration_minutes": 30})
        }
        ("calendar", "check_availability") => json!({
            "people": ["mara", "kofi"],
            "window": {"from": "2026-03-03T00:00:00Z", "to": "2026-03-04T00:00:00Z"},
        }),
        ("calendar", "book_room") => json!({"event_id": "ev-7", "room": "loft"}),
        ("calendar", "cancel_event") => json!({"event_id": "ev-5"}),
        ("calendar", "get_event" | "release_room" | "list_attendees") => {
            json!({"event_id": "ev-2"})
        }
        ("calendar", "add_attendees") => {
            json!({"event_id": "ev-2", "attendees": [{"person": "yuki"}]})
        }
        ("calendar", "remove_attendees") => json!({"event_id": "ev-2", "people": ["amina"]}),
        ("calendar", "add_note") => json!({"event_id": "ev-2", "text": "Bring cake."}),
        ("calendar", "list_holidays") => json!({"country": "DE"}),
        ("calendar", "set_working_hours") => {
            json!({"person": "yuki", "hours": {"mo": {"from": "10:00", "to": "18:00"}, "fr": null}})
        }
        ("calendar", "optimize_week") => json!({"people": ["mara"], "rounds": 2}),
        ("warehouse", "get_item" | "get_stock") => json!({"sku": "LMP-001"}),
        ("warehouse", "create_item") => {
            json!({"sku": "MUG-002", "name": "Cup", "category": "kitchen", "price_cents": 900})
        }
        ("warehouse", "update_item") => {
            json!({"sku": "LMP-002", "changes": {"price_cents": 11_900}})
        }
        ("warehouse", "adjust_stock") => {
            json!({"sku": "PEN-001", "location": "rack-c", "delta": -1, "reason": "lost"})
        }
        ("warehouse", "transfer_stock") => {
            json!({"sku": "KEY-001", "from": "rack-b", "to": "packing", "quantity": 2})
        }
        ("warehouse", "reserve_stock") => {
            json!({"sku": "MUG-001", "quantity": 3, "for": {"customer": "Studio Brandt"}})
        }
        ("warehouse", "create_order") => json!({
            "customer": "Studio Brandt",
            "lines": [{"sku": "KEY-001", "quantity": 1}],
            "ship_to": {"street": "Kai 1", "postal_code": "20457", "city": "Hamburg", "country": "DE"},
        }),
        ("warehouse", "get_order") => json!({"order": "SO-1001"}),
        ("warehouse", "add_note") => json!({"order": "SO-1001", "text": "Fragile."}),
        ("warehouse", "cancel_order") => json!({"order": "SO-1001", "reason": "customer"}),
        ("warehouse", "ship_order") => json!({"order": "SO-1003", "carrier": "freight"}),
        ("warehouse", "track_shipment") => json!({"order": "SO-1002"}),
        ("warehouse", "create_purchase_order") => {
            json!({"supplier": "lumen", "lines": [{"sku": "LMP-002", "quantity": 10}]})
        }
        _ => json!({}),
    }
}

fn arguments(value: Value) -> Arguments {
    match value {
        Value::Object(arguments) => arguments,
        other => panic!("not an object: {other}"),
    }
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap()
        .block_on(work)
}

async fn call(tool: &Arc<dyn Tool>, value: Value, context: CallContext) -> ToolResult {
    match tool.call(arguments(value), context).await.unwrap() {
        ToolOutcome::Complete(result) => result,
        other => panic!("{other:?}"),
    }
}

fn tool(sample: &str, name: &str) -> Arc<dyn Tool> {
    let tools = find(sample).unwrap().tools().unwrap();
    let named = |tool: &Arc<dyn Tool>| tool.definition().name().as_str() == name;
    tools.into_iter().find(named).unwrap()
}

#[test]
fn there_are_twenty_tools_each_and_two_names_twice() {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for sample in SAMPLES {
        let tools = sample.tools().unwrap();
        assert_eq!(tools.len(), 20, "{}", sample.name);
        for tool in tools {
            *names
                .entry(tool.definition().name().to_string())
                .or_default() += 1;
            assert!(tool.definition().title().is_some());
            assert!(
                tool.definition()
                    .description()
                    .is_some_and(|text| text.len() > 40)
            );
            assert!(tool.definition().annotations().read_only.is_some());
        }
    }
    let twice: Vec<&str> = names
        .iter()
        .filter(|(_, count)| **count > 1)
        .map(|(name, _)| name.as_str())
        .collect();
    assert_eq!(twice, ["add_note", "search"]);
}

#[test]
fn every_schema_is_valid_and_every_minimal_call_works() {
    for sample in SAMPLES {
        // Some change what others read, so each gets records of its own.
        for at in 0..20 {
            let tool = sample.tools().unwrap().swap_remove(at);
            let definition = tool.definition();
            let name = definition.name().as_str();
            let schema = definition.input_schema().to_value();
            jsonschema::meta::validate(&schema).unwrap_or_else(|fault| panic!("{name}: {fault}"));
            let given = minimal(sample.name, name);
            let validator = jsonschema::validator_for(&schema).unwrap();
            let faults: Vec<String> = validator
                .iter_errors(&given)
                .map(|fault| fault.to_string())
                .collect();
            assert!(faults.is_empty(), "{}/{name}: {faults:?}", sample.name);

            let first = block_on(call(&tool, given.clone(), CallContext::new()));
            assert!(
                !first.is_error,
                "{}/{name}: {}",
                sample.name,
                first.joined_text()
            );
            assert!(!first.joined_text().is_empty());
            let value = first.structured_content.as_ref().unwrap().to_value();
            assert!(value.is_object());
            if let Some(output) = definition.output_schema() {
                let output = output.to_value();
                jsonschema::meta::validate(&output).unwrap();
                jsonschema::validate(&output, &value)
                    .unwrap_or_else(|fault| panic!("{name}: {fault}"));
            }

            // The same records give the same answer.
            let again = sample.tools().unwrap().swap_remove(at);
            assert_eq!(
                block_on(call(&again, given, CallContext::new())),
                first,
                "{name}"
            );
        }
    }
}

#[test]
fn missing_arguments_are_an_error_of_the_tool_and_no_panic() {
    for sample in SAMPLES {
        for tool in sample.tools().unwrap() {
            let required = tool.definition().input_schema().to_value()["required"].is_array();
            for given in [
                json!({}),
                json!({"key": 1, "query": {}, "lines": "x", "days": -1}),
            ] {
                let result = block_on(call(&tool, given.clone(), CallContext::new()));
                if required && given == json!({}) {
                    assert!(result.is_error, "{}", tool.definition().name());
                }
            }
        }
    }
}

#[test]
fn records_change() {
    let tools = find("issues").unwrap().tools().unwrap();
    let named = |name: &str| {
        tools
            .iter()
            .find(|tool| tool.definition().name().as_str() == name)
            .unwrap()
    };
    block_on(async {
        let made = json!({"project": "API", "title": "Cursor is lost", "assignee": "yuki"});
        let made = call(named("create_issue"), made, CallContext::new()).await;
        assert!(
            made.joined_text().contains("API-104"),
            "{}",
            made.joined_text()
        );
        let found = call(
            named("search"),
            json!({"query": "cursor lost"}),
            CallContext::new(),
        )
        .await;
        assert!(
            found.joined_text().contains("API-104"),
            "{}",
            found.joined_text()
        );
        let circle = json!({"from": "WEB-101", "kind": "blocks", "to": "WEB-103"});
        assert!(
            call(named("link_issues"), circle, CallContext::new())
                .await
                .is_error
        );
        let closed = json!({"key": "API-104", "to": "done"});
        assert!(
            call(named("transition_issue"), closed, CallContext::new())
                .await
                .is_error
        );
    });
    // Another set of the same sample has seen nothing of it.
    let found = block_on(call(
        &tool("issues", "search"),
        json!({"query": "API-104"}),
        CallContext::new(),
    ));
    assert_eq!(found.joined_text(), "No issue matches.");
}

#[test]
fn an_order_goes_all_the_way() {
    let tools = find("warehouse").unwrap().tools().unwrap();
    let named = |name: &str| {
        tools
            .iter()
            .find(|tool| tool.definition().name().as_str() == name)
            .unwrap()
    };
    let free = async || {
        let stock = call(
            named("get_stock"),
            json!({"sku": "KEY-001"}),
            CallContext::new(),
        )
        .await;
        stock.structured_content.unwrap().to_value()["free"]
            .as_i64()
            .unwrap()
    };
    block_on(async {
        let before = free().await;
        let mut order = minimal("warehouse", "create_order");
        let address = order["ship_to"].clone();
        order["lines"][0]["quantity"] = json!(4);
        let made = call(named("create_order"), order, CallContext::new()).await;
        let made = made.structured_content.unwrap().to_value();
        assert_eq!(made["total_cents"], 4 * 8_900);
        assert_eq!(free().await, before - 4);
        let number = made["order"].clone();
        let ship = json!({"order": number, "carrier": "parcel"});
        assert!(
            !call(named("ship_order"), ship.clone(), CallContext::new())
                .await
                .is_error
        );
        assert!(
            call(named("ship_order"), ship, CallContext::new())
                .await
                .is_error
        );
        assert_eq!(free().await, before - 4);
        let too_many = json!({
            "customer": "x",
            "lines": [{"sku": "KEY-001", "quantity": 999}],
            "ship_to": address,
        });
        assert!(
            call(named("create_order"), too_many, CallContext::new())
                .await
                .is_error
        );
    });
}

#[derive(Default)]
struct Reports(Mutex<Vec<f64>>);

impl ProgressSink for Reports {
    fn report(&self, progress: Progress) {
        self.0.lock().unwrap().push(progress.progress);
    }
}

#[test]
fn progress_grows_and_a_cancelled_call_ends() {
    let sink = Arc::new(Reports::default());
    let mut context = CallContext::new();
    context.progress = Some(sink.clone());
    block_on(call(&tool("warehouse", "stocktake"), json!({}), context));
    assert_eq!(*sink.0.lock().unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);

    let context = CallContext::new();
    context.cancellation.cancel();
    let given = arguments(json!({"people": ["mara"], "rounds": 600}));
    let ended = block_on(tool("calendar", "optimize_week").call(given, context));
    assert_eq!(ended.unwrap_err().kind(), ErrorKind::Cancelled);
}

#[test]
fn the_image_is_a_png() {
    use base64::Engine;
    let given = json!({"project": "WEB", "size": {"width": 600, "height": 400}});
    let result = block_on(call(
        &tool("issues", "burndown_chart"),
        given,
        CallContext::new(),
    ));
    let data = result.content.iter().find_map(|block| match block {
        ContentBlock::Image { data, .. } => Some(data),
        _ => None,
    });
    let png = base64::engine::general_purpose::STANDARD
        .decode(data.unwrap())
        .unwrap();
    let (signature, mut rest) = png.split_at(8);
    assert_eq!(signature, b"\x89PNG\r\n\x1a\n");
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_be_bytes(rest[..4].try_into().unwrap()) as usize;
        chunks.push((&rest[4..8], &rest[8..8 + length]));
        rest = &rest[12 + length..];
    }
    let kinds: Vec<&[u8]> = chunks.iter().map(|(kind, _)| *kind).collect();
    assert_eq!(kinds, [b"IHDR", b"PLTE", b"IDAT", b"IEND"]);
    assert_eq!(
        chunks[0].1[..8],
        [0, 0, 600_u16.to_be_bytes()[0], 88, 0, 0, 1, 144]
    );
    // Stored blocks: five bytes before each, two before all and four after.
    let pixels = 400 * 601;
    let blocks = usize::div_ceil(pixels, 0xffff);
    assert_eq!(chunks[2].1.len(), 2 + blocks * 5 + pixels + 4);
}

#[test]
fn an_unknown_sample_lists_those_there_are() {
    let ran = run(&["sample-server", "isues"]).ended(2);
    for text in ["calendar", "issues", "warehouse", "Did you mean 'issues'?"] {
        assert!(ran.err.contains(text), "{}", ran.err);
    }
}

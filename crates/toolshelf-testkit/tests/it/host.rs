//! A host with a model that follows a script, over a session without a shelf.

use std::sync::Arc;

use serde_json::{Value, json};
use toolshelf_core::{Answer, Call, Cx, Resolution, Role, State, Step, Strategy, Surface};
use toolshelf_testkit::host::Host;
use toolshelf_testkit::{Live, World, block_on};

/// Shows what the host shows, and answers `ask` itself.
struct Plain;

impl Strategy for Plain {
    fn name(&self) -> &str {
        "plain"
    }

    fn own_tools(&self) -> Vec<String> {
        Vec::new()
    }

    fn surface(&self, cx: &Cx<'_>, _: &State) -> Step<Surface> {
        match cx.eager_slots(&[]) {
            Ok(tools) => Step::Done(Surface {
                tools,
                ..Surface::default()
            }),
            Err(needs) => Step::Need(needs),
        }
    }

    fn resolve(&self, cx: &Cx<'_>, _: &State, call: &Call) -> Step<Resolution> {
        if call.name == "ask" {
            return Step::Done(Resolution::Answer(Answer::error("Ask somebody else.")));
        }
        let Some(key) = cx.groups.by_wire_name(&call.name).cloned() else {
            return Step::Done(Resolution::NotMine);
        };
        Step::Done(Resolution::Execute {
            key,
            arguments: serde_json::Map::new(),
            repairs: Vec::new(),
        })
    }
}

fn host() -> Host<Live> {
    let world = World::default().core("host", &["read", "write"]);
    Host::new(Live::new(Arc::new(Plain), world.loaded("host")))
}

fn none() -> Value {
    json!({})
}

#[test]
fn a_script_is_played_and_written_down() {
    let mut host = host();
    let script = [
        vec![("read", none())],
        vec![("write", json!({"text": 1})), ("read", none())],
        vec![],
    ];
    let lines = block_on(host.play(&script)).unwrap();
    let offered = "offered: read write";
    assert_eq!(lines, [offered, "done", offered, "done", "done", offered]);

    let ids: Vec<Vec<&str>> = host
        .history
        .iter()
        .filter(|message| message.role == Role::Assistant)
        .map(|message| message.calls.iter().map(|call| &*call.id).collect())
        .collect();
    assert_eq!(ids, [vec!["call_1"], vec!["call_2", "call_3"], vec![]]);
    let answers: Vec<&str> = host
        .history
        .iter()
        .filter_map(|message| message.answers.as_deref())
        .collect();
    assert_eq!(answers, ["call_1", "call_2", "call_3"]);
    assert_eq!(host.history[2].calls[0].arguments, json!({"text": 1}));
}

#[test]
fn a_model_calls_only_what_it_is_offered_unless_it_makes_things_up() {
    let mut host = host();
    let refused = block_on(host.turn(&[("read", none()), ("ask", none())]));
    assert_eq!(
        refused.unwrap_err(),
        r#"the model calls `ask`, and is offered ["read", "write"]"#
    );
    assert!(host.history.is_empty(), "nothing of the message was sent");
    let answers = block_on(host.made_up(&[("ask", none()), ("sing", none())])).unwrap();
    let told: Vec<(String, bool)> = answers.iter().map(|it| (it.text(), it.is_error)).collect();
    assert_eq!(
        told,
        [
            ("Ask somebody else.".to_owned(), true),
            ("There is no tool `sing`.".to_owned(), true)
        ]
    );
    assert_eq!(host.history.len(), 3);
}

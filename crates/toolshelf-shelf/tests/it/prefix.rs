//! In dispatch, tools array and prompt section are the same bytes all session long.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolshelf_core::{LoadContext, Placement, ToolGroup};
use toolshelf_shelf::{Session, SessionOptions, Shelf};
use toolshelf_strategies::Dispatch;

use crate::fixtures::{
    ANY, Log, call, echo, echoes, forward, group, id, load, pick, prefix, refused, returning,
    surface,
};

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

fn world(log: &Log, broken: &Arc<AtomicBool>) -> Shelf {
    let (notes, is_broken) = (log.clone(), broken.clone());
    let flaky = move |_: LoadContext| {
        let result = match is_broken.load(Ordering::SeqCst) {
            true => Err(refused()),
            false => Ok(echoes(&notes, "flaky", &["f1", "f2"])),
        };
        async move { result }
    };
    let mut groups = vec![
        ToolGroup::core(id("host"), vec![echo(log, "host", "answer", ANY)]),
        group(log, "files", &["read", "write", "same"]),
        group(log, "mcp:git", &["log", "show", "same"]),
        // Returns other tools than it declares.
        returning(log, "liar", &["l1", "surprise"])
            .declared_tools(["l1", "l2"])
            .unwrap(),
        returning(log, "unknown", &["u1", "u2"]),
        ToolGroup::new(id("flaky"), flaky)
            .declared_tools(["f1", "f2"])
            .unwrap(),
    ];
    groups.extend((0..20).map(|n| group(log, &format!("more{n}"), &["m"])));
    crate::fixtures::shelf(groups)
}

async fn turn(
    session: &Session,
    shelf: &Shelf,
    log: &Log,
    broken: &AtomicBool,
    turn: u64,
    n: &mut Numbers,
) {
    let groups = [
        "files", "mcp:git", "liar", "unknown", "flaky", "more7", "nope", "host",
    ];
    let tools = [
        "read",
        "files/write",
        "same",
        "mcp:git/log",
        "surprise",
        "l2",
        "u1",
        "f1",
        "m",
        "more3/m",
        "answer",
        "nope",
        "`show`",
    ];
    let group = groups[n.below(groups.len() as u64) as usize];
    let tool = tools[n.below(tools.len() as u64) as usize];
    match n.below(10) {
        0 | 1 => drop(load(session, group).await),
        2 => drop(pick(session, group, json!([tool, "m"])).await),
        3 | 4 => drop(forward(session, tool, json!({"turn": turn})).await),
        5 => drop(call(session, tool, Value::Null).await),
        6 => shelf.invalidate(&id(group)),
        7 => broken.store(n.below(2) == 0, Ordering::SeqCst),
        8 => {
            let added = format!("added{turn}");
            shelf
                .insert(crate::fixtures::group(log, &added, &["x"]))
                .unwrap();
            if n.below(2) == 0 {
                shelf.remove(&id(&added));
            }
        }
        _ => {
            let handed = echoes(log, "more1", &["handed", "over"]);
            shelf.hand_over(&id("more1"), handed).unwrap();
            tokio::time::advance(Duration::from_secs(n.below(90))).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn two_hundred_turns_change_no_byte() {
    for placement in [Placement::SystemPrompt, Placement::McpServer] {
        let log = Log::default();
        let broken = Arc::new(AtomicBool::new(true));
        let shelf = world(&log, &broken);
        let strategy = Arc::new(Dispatch::default());
        let session = shelf
            .session(strategy, SessionOptions::placed(placement))
            .unwrap();
        let first = prefix(&*surface(&session).await);
        assert!(first.contains("load_tools") && first.contains("flaky"));
        let mut numbers = Numbers(7);
        for at in 0..200 {
            turn(&session, &shelf, &log, &broken, at, &mut numbers).await;
            assert_eq!(prefix(&*surface(&session).await), first, "turn {at}");
        }
        // It was a session in which something happened.
        assert!(session.state().expanded_groups.len() > 5);
        let calls = log.take();
        assert!(
            calls
                .iter()
                .filter(|line| line.starts_with("execute"))
                .count()
                > 30
        );
        assert!(calls.iter().filter(|line| line.starts_with("load")).count() > 8);
    }
}

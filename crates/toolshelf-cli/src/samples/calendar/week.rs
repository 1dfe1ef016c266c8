//! The tool that takes its time.

use std::time::Duration;

use serde_json::json;
use toolshelf_core::{Arguments, CallContext, Progress};

use super::data::{Calendar, Event};
use super::moment::Moment;
use crate::samples::input::Input;
use crate::samples::tool::{Records, SlowReply, reply};

/// The time of one round.
const ROUND: Duration = Duration::from_millis(50);

/// The most rounds.
const MAX_ROUNDS: usize = 600;

pub(super) fn optimize_week(
    records: Records<Calendar>,
    arguments: Arguments,
    context: CallContext,
) -> SlowReply {
    Box::pin(async move {
        let input = Input(&arguments);
        let people = input.texts("people");
        let goal = input.text_or("goal", "long_blocks");
        let rounds = input.count_or("rounds", 20).clamp(1, MAX_ROUNDS);
        let keep = input.texts("keep");
        let (before, proposals) = {
            let all = records.lock();
            for person in &people {
                all.person(person)?;
            }
            (gap(&all, &people), propose(&all, &people, &keep))
        };
        let mut after = before;
        let mut moves = Vec::new();
        for round in 1..=rounds {
            tokio::time::sleep(ROUND).await;
            if let Some((event, title, start, gain)) = proposals.get(moves.len()) {
                after += gain;
                moves.push(json!({"event_id": event, "title": title, "to": start.text()}));
            }
            if let Some(sink) = &context.progress {
                sink.report(Progress {
                    progress: round as f64,
                    total: Some(rounds as f64),
                    message: Some(format!("longest block {after} min")),
                });
            }
        }
        reply(
            format!(
                "{} move(s) make the longest block {after} instead of {before} minutes.",
                moves.len()
            ),
            &json!({
                "goal": goal,
                "rounds": rounds,
                "longest_block_minutes": {"before": before, "after": after},
                "moves": moves,
            }),
        )
    })
}

/// The longest stretch of a working day without an event for any of the people.
fn gap(all: &Calendar, people: &[&str]) -> i64 {
    (2..=6)
        .map(|day| {
            let mut free_from = Moment::march(day, 9, 0);
            let end = Moment::march(day, 17, 0);
            let mut events: Vec<&Event> = all
                .events
                .iter()
                .filter(|event| event.overlaps(free_from, end))
                .filter(|event| people.iter().any(|person| event.occupies(person)))
                .collect();
            events.sort_by_key(|event| event.start);
            let mut longest = 0;
            for event in events {
                longest = longest.max(event.start.since(free_from));
                free_from = free_from.max(event.end);
            }
            longest.max(end.since(free_from))
        })
        .max()
        .unwrap_or(0)
}

/// Event, title, new start, and the minutes that the longest block grows by.
type Proposal = (String, String, Moment, i64);

/// Puts movable events to the end of their day, one after another.
fn propose(all: &Calendar, people: &[&str], keep: &[&str]) -> Vec<Proposal> {
    all.events
        .iter()
        .filter(|event| event.every.is_none() && !keep.contains(&event.id.as_str()))
        .filter(|event| people.iter().any(|person| event.occupies(person)))
        .filter_map(|event| {
            let (_, minute) = event.start.local();
            let length = event.end.since(event.start);
            let start = event.start.plus(17 * 60 - length - minute);
            let busy = event.attendees.iter().any(|own| {
                all.occupied(&own.person, start, start.plus(length))
                    .is_some()
            });
            (start > event.start && !busy).then(|| {
                // Some of what the event gives way to.
                let gain = start.since(event.start).min(30);
                (event.id.clone(), event.title.clone(), start, gain)
            })
        })
        .collect()
}

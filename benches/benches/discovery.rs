//! Reading what a history of 10,000 messages discovered, and one further turn.

#![allow(
    clippy::unwrap_used,
    reason = "a benchmark that cannot be set up has to stop"
)]

use divan::Bencher;
use divan::counter::BytesCount;
use serde_json::{Value, json};
use toolshelf_core::codec::{Block, DiscoveryCodec};
use toolshelf_core::{Call, ContentBlock, Message, Role};
use toolshelf_discovery::{
    Anthropic, DiscoveryReader, FoundLine, HistoryFormat, Neutral, Source, found_line,
};

fn main() {
    divan::main();
}

const MESSAGES: usize = 10_000;

/// Every so manieth call is a search, the others fetch something.
const SEARCHES: [usize; 2] = [10, 1];

/// About four kilobytes of prose, as files and pages are.
fn page() -> String {
    "Found in the docs: a list of tools, some of them deferred, and what each is for.\n".repeat(50)
}

/// What a search answers: the line, and a page on what was found.
fn answer(at: usize) -> String {
    let names: Vec<String> = (0..5)
        .map(|hit| format!("group{:03}__action_{hit}", at % 200))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    format!("{}\n{}", found_line(&names).unwrap(), page())
}

/// A turn: question, call, result, reply.
fn turn(at: usize, searches: usize) -> [Message; 4] {
    let message = |role, text: String| Message {
        role,
        content: vec![ContentBlock::text(text)],
        calls: vec![],
        answers: None,
    };
    let search = at.is_multiple_of(searches);
    let id = format!("call_{at:06}");
    let mut calling = message(Role::Assistant, "Let me look.".to_owned());
    calling.calls.push(Call {
        id: id.clone(),
        name: if search { "search_tools" } else { "fetch" }.to_owned(),
        arguments: json!({"query": "cron jobs"}),
    });
    let mut result = message(Role::Tool, if search { answer(at) } else { page() });
    result.answers = Some(id);
    [
        message(
            Role::User,
            "Please go on with the next of them. ".repeat(10),
        ),
        calling,
        result,
        message(Role::Assistant, "It says that there are some. ".repeat(20)),
    ]
}

fn history(searches: usize) -> Vec<Message> {
    (0..MESSAGES / 4)
        .flat_map(|at| turn(at, searches))
        .collect()
}

/// A message as Anthropic has it.
fn anthropic(message: &Message) -> Value {
    let text = message.content.first().and_then(ContentBlock::as_text);
    match (&message.answers, message.calls.first()) {
        (Some(id), _) => json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": text}]}),
        (None, Some(call)) => json!({"role": "assistant", "content": [
            {"type": "text", "text": text},
            {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}]}),
        (None, None) => {
            let role = if message.role == Role::User {
                "user"
            } else {
                "assistant"
            };
            json!({"role": role, "content": text})
        }
    }
}

/// All texts of a history.
fn bytes(history: &[Message]) -> BytesCount {
    let texts = history.iter().flat_map(|message| &message.content);
    BytesCount::new(
        texts
            .filter_map(ContentBlock::as_text)
            .map(str::len)
            .sum::<usize>(),
    )
}

fn whole<F: HistoryFormat + Copy>(
    bencher: Bencher<'_, '_>,
    format: F,
    history: &[F::Message],
    bytes: BytesCount,
) where
    F::Message: Sync,
{
    bencher.counter(bytes).bench(|| {
        let mut reader = DiscoveryReader::new(format, Source::usual());
        reader.feed(divan::black_box(history));
        reader.names().len()
    });
}

#[divan::bench(args = SEARCHES)]
fn whole_history(bencher: Bencher<'_, '_>, searches: usize) {
    let history = history(searches);
    whole(bencher, Neutral, &history, bytes(&history));
}

#[divan::bench(args = SEARCHES)]
fn whole_history_of_anthropic(bencher: Bencher<'_, '_>, searches: usize) {
    let history = history(searches);
    let values: Vec<Value> = history.iter().map(anthropic).collect();
    whole(bencher, Anthropic, &values, bytes(&history));
}

fn further<F: HistoryFormat + Copy + Sync>(
    bencher: Bencher<'_, '_>,
    format: F,
    history: &[F::Message],
) where
    F::Message: Sync,
{
    let mut reader = DiscoveryReader::new(format, Source::usual());
    reader.feed(&history[..history.len() - 4]);
    bencher
        .with_inputs(|| reader.clone())
        .bench_refs(|reader| reader.follow(divan::black_box(history)));
}

/// A turn that searches, after 10,000 messages.
fn grown() -> Vec<Message> {
    let mut history = history(10);
    history.extend(turn(MESSAGES, 1));
    history
}

#[divan::bench]
fn one_further_turn(bencher: Bencher<'_, '_>) {
    further(bencher, Neutral, &grown());
}

#[divan::bench]
fn one_further_turn_of_anthropic(bencher: Bencher<'_, '_>) {
    let values: Vec<Value> = grown().iter().map(anthropic).collect();
    further(bencher, Anthropic, &values);
}

/// The codec alone, on a result of ten megabytes.
#[divan::bench]
fn found_line_in_a_long_result(bencher: Bencher<'_, '_>) {
    let text = format!("{}{}", page().repeat(2_500), answer(1));
    let content = [Block::Text(text.as_str().into())];
    bencher
        .counter(BytesCount::new(text.len()))
        .bench(|| FoundLine.read(divan::black_box(&content)).names.len());
}

//! Reads whatever the fuzzer thinks of as each thing that discovery reads, and asserts what
//! holds for all inputs: no panic, bounds, and that reading and writing agree.

#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toolshelf_core::Message;
use toolshelf_core::codec::{
    Block, DiscoveryCodec, MAX_DISCOVERED_NAME_BYTES, MAX_DISCOVERED_NAMES, MAX_DISCOVERY_ISSUES,
    ReadDiscovery,
};
use toolshelf_discovery::{
    Anthropic, DiscoveryReader, Followed, FoundLine, Functions, Gemini, HistoryFormat, LoadAnswers,
    MAX_HISTORY_ISSUES, Neutral, OpenAiChat, OpenAiResponses, Source, ToolReferences, found_line,
    read_marker, write_marker,
};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    as_result(&text);
    as_names(&text);
    check(&read_marker(&text));
    if let Ok(json) = serde_json::from_str::<Value>(&text) {
        as_history(&json);
    }
});

/// As the content of a result, whole and in blocks.
fn as_result(text: &str) {
    let lines: Vec<Block<'_>> = text
        .split_inclusive('\n')
        .map(|line| Block::Text(line.into()))
        .collect();
    let whole = [Block::Text(text.into())];
    let codecs: [&dyn DiscoveryCodec; 4] = [&FoundLine, &Functions, &LoadAnswers, &ToolReferences];
    for codec in codecs {
        check(&codec.read(&whole));
        check(&codec.read(&lines));
    }
    // The line is the same whether a provider keeps a string or makes blocks of it.
    assert_eq!(FoundLine.read(&whole).names, FoundLine.read(&lines).names);
}

/// As names, one in each line.
fn as_names(text: &str) {
    let names: Vec<&str> = text.lines().collect();
    let Ok(line) = found_line(&names) else {
        assert!(write_marker(&names).is_err());
        return;
    };
    let mut once: Vec<&str> = Vec::new();
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    let content = [Block::Text(line.into())];
    let read = FoundLine.read(&content);
    assert_eq!(read.names, once);
    assert!(read.issues.is_empty(), "{:?}", read.issues);
    let marker = write_marker(&once).unwrap();
    assert_eq!(read_marker(&marker).names, once);
}

/// As a history of every shape.
fn as_history(json: &Value) {
    in_steps(Anthropic, Anthropic::messages(json));
    in_steps(OpenAiChat, OpenAiChat::messages(json));
    in_steps(OpenAiResponses, OpenAiResponses::items(json));
    in_steps(Gemini, Gemini::contents(json));
    if let Ok(messages) = serde_json::from_value::<Vec<Message>>(json.clone()) {
        in_steps(Neutral, &messages);
    }
}

fn in_steps<F: HistoryFormat + Clone>(format: F, history: &[F::Message]) {
    let mut whole = DiscoveryReader::new(format.clone(), Source::usual());
    whole.feed(history);
    let mut steps = DiscoveryReader::new(format, Source::usual());
    for end in 0..=history.len() {
        assert!(matches!(
            steps.follow(&history[..end]),
            Followed::Read { .. }
        ));
    }
    assert_eq!(whole.names(), steps.names());
    assert_eq!(whole.issues(), steps.issues());
    assert!(whole.issues().len() <= MAX_HISTORY_ISSUES);
    let names: Vec<&str> = whole.names().iter().map(Arc::as_ref).collect();
    found_line(&names).unwrap();
}

/// What holds for everything that was read.
fn check(read: &ReadDiscovery<'_>) {
    assert!(read.names.len() <= MAX_DISCOVERED_NAMES);
    assert!(read.issues.len() <= MAX_DISCOVERY_ISSUES);
    assert!(
        read.names
            .iter()
            .all(|name| name.len() <= MAX_DISCOVERED_NAME_BYTES)
    );
    let names: Vec<&str> = read.names.iter().map(|name| &**name).collect();
    let content = [Block::Text(found_line(&names).unwrap().into())];
    assert_eq!(FoundLine.read(&content).names, names);
}

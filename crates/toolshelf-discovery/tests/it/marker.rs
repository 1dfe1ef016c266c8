//! `marker/1`.

use toolshelf_core::codec::IssueKind;
use toolshelf_discovery::{DiscoveryReader, Neutral, Source, read_marker, write_marker};

use crate::GOLDEN;

#[test]
fn the_set_is_written_byte_for_byte() {
    GOLDEN.check("marker-1.none", &write_marker(&[]).unwrap());
    let names = ["CronCreate", "g/größe.lesen", "quote\"\\", "CronCreate"];
    GOLDEN.check("marker-1.names", &write_marker(&names).unwrap());
    assert!(write_marker(&["a,b"]).is_err());
}

#[test]
fn what_was_written_is_read() {
    let names = ["b", "a", "quote\"\\", "g/größe.lesen"];
    let read = read_marker(&write_marker(&names).unwrap());
    assert_eq!(read.names, names);
    assert!(read.issues.is_empty());
}

#[test]
fn the_marker_of_another_system_is_read() {
    for text in [
        r#"{"compactMetadata":{"trigger":"auto","preCompactDiscoveredTools":["a","b"]}}"#,
        r#"{"preCompactDiscoveredTools":["a","b"]}"#,
    ] {
        assert_eq!(read_marker(text).names, ["a", "b"], "{text}");
    }
}

#[test]
fn anything_else_is_an_issue() {
    for (text, kind) in [
        (
            r#"{"names":["a"],"toolshelf_discovered":2}"#,
            IssueKind::UnknownVersion,
        ),
        (
            r#"{"names":["a"],"toolshelf_discovered":"1"}"#,
            IssueKind::UnknownVersion,
        ),
        (
            r#"{"names":"a","toolshelf_discovered":1}"#,
            IssueKind::UnknownShape,
        ),
        (r#"{"names":["a"]}"#, IssueKind::UnknownShape),
        (
            r#"{"names":[1],"toolshelf_discovered":1}"#,
            IssueKind::InvalidName,
        ),
        (
            r#"{"names":["a\n"],"toolshelf_discovered":1}"#,
            IssueKind::InvalidName,
        ),
        ("Summary of the conversation", IssueKind::UnknownShape),
        ("null", IssueKind::UnknownShape),
        ("", IssueKind::UnknownShape),
    ] {
        let read = read_marker(text);
        assert!(read.names.is_empty(), "{text}");
        assert_eq!(read.issues[0].kind, kind, "{text}");
    }
}

#[test]
fn a_reader_takes_a_marker_over() {
    let mut reader = DiscoveryReader::new(Neutral, Source::usual());
    reader.adopt(&read_marker(&write_marker(&["b", "a"]).unwrap()));
    reader.adopt(&read_marker(&write_marker(&["a", "c"]).unwrap()));
    reader.adopt(&read_marker("?"));
    assert_eq!(reader.names(), ["b".into(), "a".into(), "c".into()]);
    assert_eq!(reader.issues().len(), 1);
}

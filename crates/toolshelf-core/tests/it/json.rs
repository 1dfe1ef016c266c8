use proptest::prelude::*;
use serde_json::Value;
use toolshelf_core::{Digest, ErrorKind, JsonText, MAX_DEPTH};

use crate::generate::{json, style};

#[track_caller]
fn check(input: &str, expect: &str) {
    let text = JsonText::parse(input).unwrap();
    assert_eq!(text.as_str(), expect);
    assert_eq!(text.len(), expect.len());
}

#[test]
fn blanks_go_and_everything_else_stays() {
    check(
        " { \"b\" : [ 1 , 2.50 , -0 ] ,\r\n\t\"a\" : null } ",
        r#"{"b":[1,2.50,-0],"a":null}"#,
    );
    check("\"a b\\t{ }\"", r#""a b\t{ }""#);
    check("  1e400 ", "1e400");
    check(
        "123456789012345678901234567890",
        "123456789012345678901234567890",
    );
    check("[ ]", "[]");
    check("{ }", "{}");
}

#[test]
fn keys_keep_their_order_and_their_repetitions() {
    check(r#"{"z":1,"a":2,"z":3}"#, r#"{"z":1,"a":2,"z":3}"#);
}

#[test]
fn escapes_are_as_few_as_possible() {
    check(r#""\u00e9\/\u0041\ud83d\ude00""#, "\"é/A😀\"");
    check(
        r#""\u000a\u0009\u0008\u000c\u000d\u001f""#,
        r#""\n\t\b\f\r\u001f""#,
    );
    check(r#""\"\\""#, r#""\"\\""#);
    check("\"\u{2028}\u{7f}\"", "\"\u{2028}\u{7f}\"");
}

#[test]
fn half_a_character_is_replaced() {
    // Valid JSON that no Rust string can hold and that providers refuse.
    check(r#"{"a":"x\ud83d"}"#, "{\"a\":\"x\u{fffd}\"}");
    check(r#""\ude00\ud83d""#, "\"\u{fffd}\u{fffd}\"");
    check(r#""\ud83d\u0041\n\ud83d\ude00""#, "\"\u{fffd}A\\n😀\"");
    check(r#""\ud83d\ud83d\ude00""#, "\"\u{fffd}😀\"");
    let key = JsonText::parse(r#"{"\ud800":1,"b":2}"#).unwrap();
    let other = JsonText::parse(r#"{"b":2,"\ud800":1}"#).unwrap();
    assert_eq!(key.digest(), other.digest());
    assert_eq!(key.to_value()["b"], 2);
}

#[test]
fn what_is_no_json_is_refused() {
    for text in [
        "", "{", "[1,]", "nul", "{a:1}", "\"\n\"", "1 2", "'a'", "\"\\x\"",
    ] {
        let error = JsonText::parse(text).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Protocol, "{text}");
    }
}

#[test]
fn deep_nesting_is_refused() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(JsonText::parse(&nested(MAX_DEPTH)).is_ok());
    for depth in [MAX_DEPTH + 1, 500_000] {
        let error = JsonText::parse(&nested(depth)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Protocol);
    }
    // As deep as is accepted, everything else works too.
    let deepest = JsonText::parse(&"{\"a\":".repeat(MAX_DEPTH - 1).add_end(MAX_DEPTH - 1)).unwrap();
    assert!(deepest.to_value().is_object());
    assert_ne!(deepest.digest(), JsonText::parse("{}").unwrap().digest());
}

trait AddEnd {
    fn add_end(self, depth: usize) -> String;
}

impl AddEnd for String {
    fn add_end(self, depth: usize) -> String {
        format!("{self}0{}", "}".repeat(depth))
    }
}

#[test]
fn a_digest_tells_contents_apart() {
    let digest = |text: &str| JsonText::parse(text).unwrap().digest();
    let texts = [
        "{}",
        "[]",
        "null",
        "\"\"",
        "0",
        "[[]]",
        "[{}]",
        "[1,2]",
        "[2,1]",
        "[12]",
        "[\"1,2\"]",
        "[\"1\",\"2\"]",
        "{\"a\":1}",
        "{\"a\":\"1\"}",
        "{\"a\":1,\"b\":2}",
        "{\"a\":{\"b\":2}}",
        "{\"a\":[\"b\",2]}",
        "1.0",
        "1",
        "1e0",
        "{\"b\":1}",
    ];
    let mut digests: Vec<Digest> = texts.iter().map(|text| digest(text)).collect();
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), texts.len());
    // Of repeated keys the last one counts.
    assert_eq!(digest(r#"{"a":1,"a":2}"#), digest(r#"{"a":2}"#));
}

/// Fingerprints are stored, so the digest of a text never changes.
#[test]
fn a_digest_is_stable() {
    let text = r#"{"b":[1,"é",{"c":null}],"a":1.50}"#;
    let digest = JsonText::parse(text).unwrap().digest().to_string();
    assert_eq!(
        digest,
        "ae5a853346267b2f275c2f2049e2836b41fc3890aed22a953d91a78a5e49f00d"
    );
}

#[test]
fn a_digest_is_written_and_read() {
    let digest = Digest::of_parts(["a", "b"]);
    let written = serde_json::to_string(&digest).unwrap();
    assert_eq!(written.len(), 66);
    assert_eq!(serde_json::from_str::<Digest>(&written).unwrap(), digest);
    assert_eq!(digest.short(12), digest.to_string()[..12]);
    assert_ne!(digest, Digest::of_parts(["ab"]));
    assert_ne!(digest, Digest::of_parts(["a", "b", ""]));
    for text in ["\"\"", "\"zz\"", &format!("\"{}\"", "+1".repeat(32))] {
        assert!(serde_json::from_str::<Digest>(text).is_err(), "{text}");
    }
}

#[test]
fn one_member_is_replaced_and_the_others_stay() {
    let object = JsonText::parse(r#"{"z":1.50,"name":"old","a":{"b":[]}}"#).unwrap();
    let new = JsonText::parse("\"new\"").unwrap();
    let with = |name: &str| object.with_member(name, &new).unwrap().to_string();
    assert_eq!(with("name"), r#"{"z":1.50,"name":"new","a":{"b":[]}}"#);
    assert_eq!(
        with("other"),
        r#"{"z":1.50,"name":"old","a":{"b":[]},"other":"new"}"#
    );
    let empty = JsonText::parse("{}").unwrap();
    assert_eq!(
        empty.with_member("a", &new).unwrap().as_str(),
        r#"{"a":"new"}"#
    );
    let array = JsonText::parse("[]").unwrap();
    assert_eq!(
        array.with_member("a", &new).err().unwrap().kind(),
        ErrorKind::Protocol
    );
}

proptest! {
    #[test]
    fn the_canonical_form_does_not_depend_on_how_it_was_written(json in json(), mut style in style()) {
        let text = JsonText::parse(&json.print(&mut style)).unwrap();
        prop_assert_eq!(text.as_str(), json.canonical());
    }

    #[test]
    fn parsing_again_changes_nothing(json in json(), mut style in style()) {
        let once = JsonText::parse(&json.print(&mut style)).unwrap();
        let twice = JsonText::parse(once.as_str()).unwrap();
        prop_assert_eq!(once.as_str(), twice.as_str());
        prop_assert_eq!(once.digest(), twice.digest());
    }

    #[test]
    fn the_content_is_that_of_serde_json(json in json(), mut style in style()) {
        let written = json.print(&mut style);
        let theirs: Value = serde_json::from_str(&written).unwrap();
        let ours = JsonText::parse(&written).unwrap();
        prop_assert_eq!(&ours.to_value(), &theirs);
        prop_assert_eq!(ours.is_object(), theirs.is_object());
        prop_assert_eq!(JsonText::from_serialize(&theirs).unwrap().to_value(), theirs);
    }

    #[test]
    fn it_is_written_and_read_as_it_is(json in json(), mut style in style()) {
        let text = JsonText::parse(&json.print(&mut style)).unwrap();
        let written = serde_json::to_string(&[&text]).unwrap();
        prop_assert_eq!(&written, &format!("[{text}]"));
        let read: Vec<JsonText> = serde_json::from_str(&written).unwrap();
        prop_assert_eq!(&read[0], &text);
    }

    #[test]
    fn order_of_keys_does_not_change_a_digest(json in json(), mut style in style()) {
        let one = JsonText::parse(&json.print(&mut style)).unwrap();
        let other = JsonText::parse(&json.reversed().print(&mut style)).unwrap();
        prop_assert_eq!(one.digest(), other.digest());
    }

    #[test]
    fn other_content_has_another_digest(one in json(), other in json()) {
        let digest = |json: &crate::generate::Json| JsonText::parse(&json.canonical()).unwrap().digest();
        // Sorted by reversing twice: equal contents have equal texts then.
        let content = |json: &crate::generate::Json| json.reversed().reversed().canonical();
        prop_assume!(JsonText::parse(&content(&one)).unwrap().to_value() != JsonText::parse(&content(&other)).unwrap().to_value());
        prop_assert_ne!(digest(&one), digest(&other));
    }

    #[test]
    fn reading_is_total(text in any::<String>()) {
        let ours = JsonText::parse(&text);
        let theirs = serde_json::from_str::<Value>(&text);
        if let Ok(theirs) = theirs {
            prop_assert_eq!(ours.unwrap().to_value(), theirs);
        }
    }

    #[test]
    fn reading_is_total_for_what_looks_like_json(text in r#"[\[\]{}",:0-9a\\u ed.-]{0,24}"#) {
        if let Ok(ours) = JsonText::parse(&text) {
            let again = JsonText::parse(ours.as_str()).unwrap();
            prop_assert_eq!(ours.as_str(), again.as_str());
            ours.digest();
            ours.to_value();
        }
    }
}

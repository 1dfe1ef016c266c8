use proptest::prelude::*;
use proptest::sample::select;
use toolshelf_core::text::{bounded_text, first_sentence, one_line};

#[test]
fn one_line_neutralises() {
    let cases = [
        ("Reads\n# files", "Reads # files"),
        ("a\r\n\r\n- `evil` — x", "a - 'evil' — x"),
        ("\u{1b}[31mred\u{7}", "[31mred"),
        ("a\u{2028}b\u{2029}c\u{85}d\u{b}e\u{c}f", "a b c d e f"),
        ("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e", "abcde"),
        ("tag\u{e0041}\u{e0042}s", "tags"),
        ("sel\u{e0101}\u{e01ef}ected", "selected"),
        ("fill\u{3164}\u{115f}er", "filler"),
        ("  \t ", ""),
        ("", ""),
        ("é 日本 🛠\u{fe0f}", "é 日本 🛠\u{fe0f}"),
        ("```rust\nx\n```", "'''rust x '''"),
    ];
    for (text, expect) in cases {
        assert_eq!(one_line(text, 100), expect, "{text:?}");
    }
}

#[test]
fn cuts_are_at_characters_and_said() {
    assert_eq!(bounded_text("ééé", 6), "ééé");
    assert_eq!(bounded_text("éééé", 7), "éé…");
    assert_eq!(bounded_text("ab cd", 5), "ab cd");
    assert_eq!(bounded_text("ab cdef", 6), "ab…");
    assert_eq!(bounded_text("abcd", 3), "…");
    assert_eq!(bounded_text("abcd", 2), "");
    assert_eq!(one_line("a b c d e f", 8), "a b c…");
}

#[test]
fn sentences_end_where_they_should() {
    let cases = [
        ("One. Two.", "One."),
        ("  Version 1.5 is out! More", "Version 1.5 is out!"),
        ("一つ。二つ。", "一つ。"),
        ("No end", "No end"),
        (
            "First line\nstill the first\n\nsecond",
            "First line still the first",
        ),
        ("First\r\n\r\nsecond", "First"),
        ("", ""),
        ("...", "..."),
    ];
    for (text, expect) in cases {
        assert_eq!(first_sentence(text, 100), expect, "{text:?}");
    }
}

fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "\n",
        "\r\n",
        "\u{2028}",
        "\u{85}",
        "`",
        " ",
        "\t",
        "# ",
        "- ",
        "a",
        "é",
        "日",
        "\u{202e}",
        "\u{e0041}",
        "\u{e0100}",
        "\u{0}",
        ". ",
        "\n\n",
        "\u{a0}",
    ];
    prop_oneof![
        any::<String>(),
        prop::collection::vec(select(pieces.to_vec()), 0..40).prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #[test]
    fn one_line_is_one_bounded_line(text in pieces(), bytes in 0usize..60) {
        let line = one_line(&text, bytes);
        prop_assert!(line.len() <= bytes);
        prop_assert!(!line.chars().any(|c| c.is_control() || c == '`'));
        let hidden = line.contains(['\u{2028}', '\u{2029}', '\u{202e}', '\u{e0041}']);
        prop_assert!(!hidden);
        prop_assert_eq!(line.trim(), &line);
        prop_assert!(!line.contains("  "));
        prop_assert_eq!(one_line(&line, bytes), line);
    }

    #[test]
    fn a_wider_bound_only_adds(text in pieces(), bytes in 3usize..60) {
        let narrow = one_line(&text, bytes);
        let wide = one_line(&text, bytes + 20);
        let kept = narrow.trim_end_matches('…').trim_end();
        prop_assert!(wide.starts_with(kept));
    }

    #[test]
    fn bounded_text_is_a_beginning(text in any::<String>(), bytes in 0usize..40) {
        let cut = bounded_text(&text, bytes);
        prop_assert!(cut.len() <= bytes);
        if cut != text {
            prop_assert!(text.len() > bytes);
            prop_assert!(text.starts_with(cut.trim_end_matches('…')));
        }
    }

    #[test]
    fn a_sentence_is_one_bounded_line(text in pieces(), bytes in 0usize..60) {
        let line = first_sentence(&text, bytes);
        prop_assert!(line.len() <= bytes);
        prop_assert_eq!(one_line(&line, bytes), line);
    }
}

//! Content that is nearly a result.

use std::borrow::Cow;
use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use toolshelf_core::ContentBlock;
use toolshelf_core::codec::Block;

use super::{Subject, blocks};
use crate::generators::server_text;

/// Names that stand nowhere else in a result.
pub(super) const NAMES: [&str; 3] = ["alpha_tool", "beta.tool", "gamma_tool"];

/// What the texts of a result with [`NAMES`] have around the names: before, between and after
/// them, and the lines, words and characters of that.
pub(super) fn surroundings(content: &[ContentBlock]) -> BTreeSet<String> {
    let mut pieces = BTreeSet::new();
    for block in blocks(content) {
        let Block::Text(text) = block else { continue };
        let mut around: Vec<&str> = vec![&text];
        for name in NAMES {
            around = around.iter().flat_map(|piece| piece.split(name)).collect();
        }
        for piece in around {
            pieces.extend([piece.to_owned(), piece.trim().to_owned()]);
            pieces.extend(piece.lines().map(|line| line.trim().to_owned()));
            pieces.extend(piece.split_whitespace().map(str::to_owned));
            pieces.extend(piece.chars().map(String::from));
        }
    }
    pieces.remove("");
    pieces
}

/// A block of its own, with its text changed.
pub(super) fn changed(block: &Block<'_>, change: impl Fn(&str) -> String) -> Block<'static> {
    match block {
        Block::Text(text) => Block::Text(Cow::Owned(change(text))),
        Block::ToolReference(name) => Block::ToolReference(Cow::Owned(change(name))),
        _ => Block::Other,
    }
}

pub(super) fn replaced(content: &[ContentBlock], from: &str, to: &str) -> Vec<Block<'static>> {
    let blocks = blocks(content);
    let replace = |block| changed(block, |text| text.replace(from, to));
    blocks.iter().map(replace).collect()
}

/// What happens to a text.
#[derive(Debug, Clone)]
enum Edit {
    Cut(Index),
    Drop(Index, Index),
    Put(Index, String),
    Repeat,
}

fn place(text: &str, at: &Index) -> usize {
    let mut at = at.index(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn edited(text: &str, edit: &Edit) -> String {
    match edit {
        Edit::Cut(at) => text[..place(text, at)].to_owned(),
        Edit::Drop(from, to) => {
            let (one, other) = (place(text, from), place(text, to));
            format!("{}{}", &text[..one.min(other)], &text[one.max(other)..])
        }
        Edit::Put(at, piece) => {
            let at = place(text, at);
            format!("{}{piece}{}", &text[..at], &text[at..])
        }
        Edit::Repeat => text.repeat(2),
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        any::<Index>().prop_map(Edit::Cut),
        any::<(Index, Index)>().prop_map(|(from, to)| Edit::Drop(from, to)),
        (any::<Index>(), server_text()).prop_map(|(at, piece)| Edit::Put(at, piece)),
        Just(Edit::Repeat),
    ]
}

/// Content of all kinds: results of the subject with pieces cut out, put in and repeated, whole
/// and in lines; text of servers; bytes that are no text; blocks that are none of either.
pub(super) fn odd_content(
    subject: &Subject,
) -> Result<impl Strategy<Value = Vec<Block<'static>>> + use<>, String> {
    let result = subject.result(&NAMES)?;
    let result: Vec<Block<'static>> = replaced(&result, "\0", "");
    let nearly = vec(edit(), 0..4).prop_map(move |edits| {
        let edit = |block: &Block<'_>| {
            changed(block, |text| {
                let apply = |text: String, edit: &Edit| edited(&text, edit);
                edits.iter().fold(text.to_owned(), apply)
            })
        };
        result.iter().map(edit).collect::<Vec<_>>()
    });
    let nearly = nearly.boxed();
    let text = |text: String| vec![Block::Text(Cow::Owned(text))];
    let bytes = vec(any::<u8>(), 0..200)
        .prop_map(move |bytes| text(String::from_utf8_lossy(&bytes).into_owned()));
    let part = prop_oneof![
        5 => nearly.clone(),
        2 => nearly.prop_map(|blocks| blocks.iter().flat_map(in_lines).collect()),
        2 => server_text().prop_map(text),
        1 => bytes,
        1 => server_text().prop_map(|name| vec![Block::ToolReference(Cow::Owned(name))]),
        1 => Just(vec![Block::Other]),
    ];
    Ok(vec(part, 0..4).prop_map(|parts| parts.concat()))
}

/// A text as a block for each of its lines.
fn in_lines(block: &Block<'static>) -> Vec<Block<'static>> {
    match block {
        Block::Text(text) => {
            let lines = text.split_inclusive('\n');
            lines
                .map(|line| Block::Text(Cow::Owned(line.to_owned())))
                .collect()
        }
        other => vec![other.clone()],
    }
}

//! The indexes keep to the contract of a search index.

use std::sync::Arc;

use toolshelf_search::{Embed, Lexical, MixOptions, Mixed};
use toolshelf_testkit::index::Subject;
use toolshelf_testkit::index_tests;

fn lexical() -> Subject {
    Subject::new(Lexical::default)
}

/// A model that knows words by their letters: each has a direction of its own.
fn words_as_vectors(texts: &[String]) -> Result<Vec<Vec<f32>>, toolshelf_core::Error> {
    const DIRECTIONS: usize = 4_096;
    let vector = |text: &String| {
        let mut vector = vec![0.0; DIRECTIONS];
        let text = text.to_lowercase();
        for word in text.split(|c: char| !c.is_alphanumeric()) {
            let number = word.bytes().fold(7_u32, |sum, byte| {
                sum.wrapping_mul(16_777_619) ^ u32::from(byte)
            });
            if !word.is_empty() {
                vector[number as usize % DIRECTIONS] += 1.0;
            }
        }
        vector
    };
    Ok(texts.iter().map(vector).collect())
}

fn mix(embed: impl Embed + 'static) -> Mixed<impl Embed> {
    let inner = Arc::new(Lexical::default());
    Mixed::new("mixed/1", inner, embed, MixOptions::default())
}

fn mixed() -> Subject {
    Subject::new(|| mix(words_as_vectors))
}

/// The model cannot be reached, and the search goes on without.
fn mixed_without_its_model() -> Subject {
    let unreachable = |_: &[String]| {
        let kind = toolshelf_core::ErrorKind::Unavailable;
        Err(toolshelf_core::Error::new(kind, "no model"))
    };
    Subject::new(move || mix(unreachable))
}

index_tests!(lexical: texts, selects, requires, patterns, corrects, explains);
index_tests!(mixed: texts, selects, requires, patterns, corrects, explains);
index_tests!(mixed_without_its_model: texts, selects, requires, patterns, corrects, explains);

mod plugins {
    use toolshelf_testkit::plugin::Subject;
    use toolshelf_testkit::plugin_tests;

    fn lexical() -> Subject {
        Subject::new(toolshelf_search::PLUGIN)
    }

    plugin_tests!(lexical: defaults);
}

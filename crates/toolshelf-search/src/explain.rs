//! Why a tool has its score.

use toolshelf_core::search::{Hit, ScorePart};

use crate::concepts::{Answering, Concept};
use crate::rank::coverage;
use crate::store::Store;

/// The parts of a hit's score: for each word of the query the tool's word that answers it
/// best, divided among the fields that hold it, and the rest, which the name's words make.
pub(crate) fn explain(store: &Store, concepts: &[Concept], hit: &Hit) -> Vec<ScorePart> {
    let Some(slot) = store.slot(&hit.key) else {
        return Vec::new();
    };
    let counts = |concept: &Concept| {
        concept
            .answers
            .iter()
            .filter_map(|answer| {
                let term = &store.vocabulary.terms[answer.term as usize];
                Some((answer, answer.value * term.impact_in(slot)?))
            })
            .max_by(|(a, counts), (b, others)| {
                // Of those that count the same, the one that stands there oftener; of those,
                // the last one.
                let text = |answer: &Answering| &store.vocabulary.terms[answer.term as usize].text;
                counts
                    .total_cmp(others)
                    .then_with(|| b.value.total_cmp(&a.value))
                    .then_with(|| text(a).cmp(text(b)))
            })
            .map(|(answer, counts)| (answer.term, counts))
    };
    let mut parts = Vec::new();
    for concept in concepts {
        let Some((term, score)) = counts(concept) else {
            continue;
        };
        let known = &store.vocabulary.terms[term as usize].text;
        for (field, share) in store.shares(slot, term) {
            parts.push(ScorePart {
                what: if **known == *concept.word {
                    format!("{}: {known}", field.as_str())
                } else {
                    format!("{}: {known} for {}", field.as_str(), concept.word)
                },
                score: f64::from(score * share),
            });
        }
    }
    let by_name = store.weights.coverage * covered(store, slot, concepts);
    let sum: f64 = parts.iter().map(|part| part.score).sum();
    let of_texts = hit.score - f64::from(by_name);
    for part in &mut parts {
        part.score *= of_texts / sum;
    }
    if by_name > 0.0 {
        parts.push(ScorePart {
            what: "share of the name that the query covers".to_owned(),
            score: f64::from(by_name),
        });
    }
    parts.sort_by(|a, b| {
        b.score
            .total_cmp(&a.score)
            .then_with(|| a.what.cmp(&b.what))
    });
    parts
}

fn covered(store: &Store, slot: u32, concepts: &[Concept]) -> f32 {
    let answers = || concepts.iter().flat_map(|concept| &concept.answers);
    coverage(store, slot, |term| {
        let same = answers().filter(|answer| answer.term == term);
        same.map(|answer| answer.fit).fold(0.0, f32::max)
    })
}

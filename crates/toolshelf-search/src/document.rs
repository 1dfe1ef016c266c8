//! A tool as words: which it has, and how much each counts.

use toolshelf_core::search::IndexedTool;

use crate::common::is_stop;
use crate::schema::{SchemaTexts, tell};
use crate::vocabulary::Place;
use crate::weights::Weights;
use crate::words::each_word;

/// Where a word stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Field {
    Name,
    Title,
    Group,
    GroupText,
    Description,
    Argument,
    ArgumentText,
    Value,
}

const FIELDS: usize = 8;

impl Field {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Title => "title",
            Self::Group => "group",
            Self::GroupText => "group description",
            Self::Description => "description",
            Self::Argument => "argument",
            Self::ArgumentText => "argument description",
            Self::Value => "value",
        }
    }

    /// How many words of it are read; a tool that has more says no more by it.
    fn most(self) -> usize {
        match self {
            Self::Name | Self::Title | Self::Group => 32,
            Self::GroupText => 64,
            Self::Description | Self::ArgumentText => 512,
            Self::Argument | Self::Value => 256,
        }
    }

    /// How many words it usually has.
    fn usual(self) -> f32 {
        match self {
            Self::Name => 3.0,
            Self::Title => 3.0,
            Self::Group => 2.0,
            Self::GroupText => 8.0,
            Self::Description => 16.0,
            Self::Argument => 6.0,
            Self::ArgumentText => 24.0,
            Self::Value => 6.0,
        }
    }

    fn place(self) -> Place {
        match self {
            Self::Name => Place::Name,
            Self::Group => Place::Group,
            Self::GroupText => Place::GroupText,
            Self::Title | Self::Description => Place::Text,
            Self::Argument | Self::ArgumentText | Self::Value => Place::Text,
        }
    }

    fn weight(self, weights: &Weights) -> f32 {
        match self {
            Self::Name => weights.name,
            Self::Title => weights.title,
            Self::Group => weights.group,
            Self::GroupText => weights.group_text,
            Self::Description => weights.description,
            Self::Argument => weights.argument,
            Self::ArgumentText => weights.argument_text,
            Self::Value => weights.value,
        }
    }
}

/// The words of one tool, by their numbers.
#[derive(Default)]
pub(crate) struct Document {
    /// Word and field, once for each time that it stands there.
    hits: Vec<(u32, Field)>,
    lengths: [u32; FIELDS],
    /// The different words of the name, in its order.
    pub(crate) name: Vec<u32>,
}

/// A word of a tool, all its places together.
pub(crate) struct Weighed {
    pub(crate) term: u32,
    /// What it counts, in 0..1.
    pub(crate) impact: f32,
    pub(crate) place: Place,
}

impl Document {
    /// Reads a tool, with what gives words their numbers. A word without one is as if it
    /// did not stand there, but for the length of its field.
    pub(crate) fn read(
        &mut self,
        tool: &IndexedTool,
        number_of: &mut dyn FnMut(&str) -> Option<u32>,
    ) {
        self.hits.clear();
        self.lengths = [0; FIELDS];
        self.name.clear();
        let mut reader = Reader {
            document: self,
            number_of,
        };
        let definition = &tool.definition;
        reader.add(Field::Name, tool.key.tool.as_str());
        reader.add(Field::Title, definition.title().unwrap_or_default());
        reader.add(Field::Group, tool.key.group.as_str());
        reader.add(Field::GroupText, &tool.group_text);
        reader.add(
            Field::Description,
            definition.description().unwrap_or_default(),
        );
        tell(definition.input_schema().as_str(), &mut reader);
        self.hits.sort_unstable();
    }

    /// The words with what they count, in the order of their numbers.
    pub(crate) fn weigh(&self, weights: &Weights) -> impl Iterator<Item = Weighed> {
        self.hits.chunk_by(|a, b| a.0 == b.0).map(|hits| {
            let sum: f32 = hits
                .iter()
                .map(|(_, field)| self.share(*field, weights))
                .sum();
            Weighed {
                term: hits[0].0,
                impact: sum / (weights.k1 + sum),
                place: hits
                    .iter()
                    .map(|(_, field)| field.place())
                    .max()
                    .unwrap_or(Place::GroupText),
            }
        })
    }

    /// What a word counts for once standing in a field.
    fn share(&self, field: Field, weights: &Weights) -> f32 {
        let length = self.lengths[field as usize] as f32;
        field.weight(weights) / (1.0 - weights.b + weights.b * length / field.usual())
    }

    /// The share of each field in what a word counts, in the order of the fields.
    pub(crate) fn shares(&self, term: u32, weights: &Weights) -> Vec<(Field, f32)> {
        let hits: Vec<Field> = self
            .hits
            .iter()
            .filter(|hit| hit.0 == term)
            .map(|hit| hit.1)
            .collect();
        let sum: f32 = hits.iter().map(|field| self.share(*field, weights)).sum();
        hits.chunk_by(|a, b| a == b)
            .map(|same| {
                let part = self.share(same[0], weights) * same.len() as f32;
                (same[0], part / sum)
            })
            .collect()
    }
}

struct Reader<'a> {
    document: &'a mut Document,
    number_of: &'a mut dyn FnMut(&str) -> Option<u32>,
}

impl Reader<'_> {
    fn add(&mut self, field: Field, text: &str) {
        let length = &mut self.document.lengths[field as usize];
        let room = field.most().saturating_sub(*length as usize);
        each_word(text, room, |word, _| {
            if is_stop(word) {
                return;
            }
            *length += 1;
            let Some(term) = (self.number_of)(word) else {
                return;
            };
            self.document.hits.push((term, field));
            if field == Field::Name && !self.document.name.contains(&term) {
                self.document.name.push(term);
            }
        });
    }
}

impl SchemaTexts for Reader<'_> {
    fn argument(&mut self, name: &str) {
        self.add(Field::Argument, name);
    }

    fn description(&mut self, text: &str) {
        self.add(Field::ArgumentText, text);
    }

    fn value(&mut self, text: &str) {
        self.add(Field::Value, text);
    }
}

//! The constants of the ranker.

/// The constants of the ranker. The defaults are what the crate is measured with; others
/// are for experiments.
///
/// A word counts in a field as often as it occurs there, times the field's weight, divided
/// by `1 - b + b * length / usual length`; the sum `f` over the fields counts as
/// `f / (k1 + f)`. The usual length of a field is a constant instead of the mean of the
/// catalog, so that a tool's part does not change when other servers come and go.
#[derive(Debug, Clone, PartialEq)]
pub struct Weights {
    /// Of a word in the tool's name.
    pub name: f32,
    /// Of a word in the tool's title.
    pub title: f32,
    /// Of a word in the group's id.
    pub group: f32,
    /// Of a word in the group's title or description.
    pub group_text: f32,
    /// Of a word in the description.
    pub description: f32,
    /// Of a word in the name of an argument.
    pub argument: f32,
    /// Of a word in the description of an argument.
    pub argument_text: f32,
    /// Of a word in an enum value.
    pub value: f32,
    /// How soon repetition stops to count.
    pub k1: f32,
    /// How much the length of a field counts.
    pub b: f32,
    /// Of another inflection of the query's word.
    pub inflection: f32,
    /// Of a word with the same root.
    pub root: f32,
    /// Of a synonym.
    pub synonym: f32,
    /// Of a correction of a word that no tool has.
    pub correction: f32,
    /// Of a query's word that only makes the request.
    pub talk: f32,
    /// Of a number in the query.
    pub number: f32,
    /// Of the share of a tool's name that the query covers, beside the best text score of 1.
    pub coverage: f32,
    /// The smallest share of the query's weight that a good match covers.
    pub floor: f32,
    /// What a match counts that is good whatever share it covers: so many times a word that
    /// one tool has.
    pub evidence: f32,
    /// The smallest share of the query's words, but for those that only make the request, that is
    /// good whatever their weight, so that a word which most tools have is found beside one
    /// that none has.
    pub words: f32,
    /// The same where the search is only about some groups.
    pub words_in_scope: f32,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            name: 3.0,
            title: 1.0,
            group: 2.0,
            group_text: 0.5,
            description: 1.0,
            argument: 1.0,
            argument_text: 0.6,
            value: 0.6,
            k1: 0.9,
            b: 0.5,
            inflection: 0.7,
            root: 0.5,
            synonym: 0.5,
            correction: 0.9,
            talk: 0.4,
            number: 0.5,
            coverage: 0.3,
            floor: 0.2,
            evidence: 0.35,
            words: 0.2,
            words_in_scope: 0.1,
        }
    }
}

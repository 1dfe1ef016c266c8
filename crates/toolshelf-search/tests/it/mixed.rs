//! An index mixed with vectors, with a model of three notions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use toolshelf_core::search::{IndexedTool, Match, SearchIndex, SearchQuery};
use toolshelf_core::{Error, ErrorKind};
use toolshelf_search::{Embed, Lexical, MixOptions, Mixed};

use crate::world::{fill, first, group, keys, query, search, tool};

const NOTIONS: [&[&str]; 3] = [
    &["invoice", "bill", "money", "debt"],
    &["car", "vehicle", "drive", "lorry"],
    &["song", "serenade", "lullaby"],
];

/// How much of each notion a text has.
fn notions(text: &str) -> Vec<f32> {
    let text = text.to_lowercase();
    NOTIONS
        .iter()
        .map(|words| words.iter().filter(|word| text.contains(**word)).count() as f32)
        .collect()
}

/// A model that remembers what it was asked.
#[derive(Default, Clone)]
struct Model {
    asked: Arc<Mutex<Vec<Vec<String>>>>,
    is_down: Arc<Mutex<bool>>,
}

impl Model {
    /// How often each text was embedded.
    fn times(&self) -> BTreeMap<String, usize> {
        let mut times = BTreeMap::new();
        for text in self.asked.lock().unwrap().iter().flatten() {
            *times.entry(text.clone()).or_default() += 1;
        }
        times
    }
}

impl Embed for Model {
    fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, Error> {
        if *self.is_down.lock().unwrap() {
            return Err(Error::new(ErrorKind::Internal, "down"));
        }
        self.asked.lock().unwrap().push(texts.to_vec());
        Ok(texts.iter().map(|text| notions(text)).collect())
    }
}

fn tools() -> Vec<IndexedTool> {
    vec![
        tool("desk", "create_invoice", "Writes what a customer owes."),
        tool("desk", "list_customers", "Shows who buys."),
        tool("fleet", "book_vehicle", "Reserves one for a day."),
        tool("fleet", "vehicle_debt", "What is owed for one, in money."),
        tool("radio", "play_song", "Starts it."),
        tool("radio", "drive_time", "The programme at five."),
    ]
}

fn mixed_with(model: Model, options: MixOptions) -> Mixed<Model> {
    let index = Mixed::new("mixed/1", Arc::new(Lexical::default()), model, options);
    fill(&index, &tools());
    index
}

fn mixed() -> Mixed<Model> {
    mixed_with(Model::default(), MixOptions::default())
}

fn lexical() -> Lexical {
    crate::world::index(&tools())
}

#[test]
fn a_word_that_no_tool_has_finds_by_its_meaning() {
    assert!(keys(&lexical(), "serenade").is_empty());
    assert_eq!(keys(&mixed(), "serenade"), ["radio/play_song"]);
    assert_eq!(
        search(&mixed(), "serenade").unwrap().hits[0].why,
        Match::Text
    );
}

#[test]
fn names_come_first_whatever_the_vectors_say() {
    let index = mixed_with(
        Model::default(),
        MixOptions {
            weight: 1.0,
            floor: 0.0,
        },
    );
    // By its vector `drive_time` is a vehicle, and three tools are more so.
    for (text, expected) in [
        ("drive_time", "radio/drive_time"),
        ("DriveTime", "radio/drive_time"),
        ("mcp__radio__drive_time", "radio/drive_time"),
        ("list customers", "desk/list_customers"),
        ("customers", "desk/list_customers"),
    ] {
        assert_eq!(first(&index, text), expected, "{text}");
    }
    let hits = search(&index, "drive_time").unwrap().hits;
    assert_eq!(hits[0].why, Match::Name);
    assert!(hits.len() > 1 && hits.is_sorted_by(|a, b| a.score >= b.score));
}

#[test]
fn the_mix_is_linear_in_its_weight() {
    // Of the query's words `owes` is known to the best hit by words and `serenade` is not:
    // half of the weight is left to the vectors.
    let text = "owes serenade";
    let by_words = search(&lexical(), text).unwrap().hits;
    assert_eq!(by_words[0].key.to_string(), "desk/create_invoice");
    for weight in [0.0, 0.3, 0.6, 1.0] {
        let options = MixOptions { weight, floor: 0.4 };
        let hits = search(&mixed_with(Model::default(), options), text)
            .unwrap()
            .hits;
        let score = |key: &str| {
            let hit = hits.iter().find(|hit| hit.key.to_string() == key);
            hit.map_or(0.0, |hit| hit.score)
        };
        let vectors = f64::from(weight) / 2.0;
        assert!(
            (score("desk/create_invoice") - (1.0 - vectors)).abs() < 1e-6,
            "{hits:?}"
        );
        assert!(
            (score("radio/play_song") - vectors).abs() < 1e-6,
            "{hits:?}"
        );
    }
}

#[test]
fn vectors_count_less_the_more_of_the_query_words_cover() {
    let index = mixed();
    let share = |text: &str| {
        let hits = search(&index, text).unwrap().hits;
        let hit = hits
            .iter()
            .find(|hit| hit.key.to_string() == "radio/play_song");
        hit.map_or(0.0, |hit| hit.score)
    };
    let shares = [
        share("serenade"),
        share("customer serenade"),
        share("what a customer owes serenade"),
    ];
    assert!(
        shares[0] > shares[1] && shares[1] > shares[2] && shares[2] > 0.0,
        "{shares:?}"
    );
    // Words that cover all leave nothing to the vectors.
    let text = "what a customer owes";
    assert_eq!(keys(&index, text), keys(&lexical(), text));
}

#[test]
fn a_hit_of_both_sides_gains_by_both() {
    // `reserves` alone finds the booking, and so does what a lorry is.
    let hits = search(&mixed(), "reserves lorry").unwrap().hits;
    assert_eq!(hits[0].key.to_string(), "fleet/book_vehicle");
    assert!((hits[0].score - 1.0).abs() < 1e-6, "{hits:?}");
}

#[test]
fn what_is_less_alike_than_the_floor_is_no_match() {
    let of_floor = |floor: f32| {
        let options = MixOptions {
            floor,
            ..MixOptions::default()
        };
        keys(&mixed_with(Model::default(), options), "lorry")
    };
    // `vehicle_debt` is half about money: a cosine of 1/√3.
    assert_eq!(
        of_floor(0.4),
        [
            "fleet/book_vehicle",
            "radio/drive_time",
            "fleet/vehicle_debt"
        ]
    );
    assert_eq!(of_floor(0.9), ["fleet/book_vehicle", "radio/drive_time"]);
    assert!(keys(&mixed(), "quixotic").is_empty());
}

#[test]
fn a_group_is_embedded_once() {
    let model = Model::default();
    let index = mixed_with(model.clone(), MixOptions::default());
    assert!(
        model.times().is_empty(),
        "nothing is embedded before a search"
    );
    for text in ["serenade", "lorry", "serenade", "owes serenade"] {
        search(&index, text).unwrap();
    }
    let mut times = model.times();
    for text in ["serenade", "lorry", "owes serenade"] {
        times.remove(text);
    }
    assert_eq!(times.len(), tools().len());
    assert!(times.values().all(|count| *count == 1), "{times:?}");
}

#[test]
fn only_a_group_that_changed_is_embedded_again() {
    let model = Model::default();
    let index = mixed_with(model.clone(), MixOptions::default());
    search(&index, "serenade").unwrap();
    model.asked.lock().unwrap().clear();
    index.replace_group(
        &group("radio"),
        vec![tool("radio", "hum_lullaby", "Quietly.")],
    );
    assert_eq!(keys(&index, "serenade"), ["radio/hum_lullaby"]);
    assert_eq!(
        model.asked.lock().unwrap().len(),
        2,
        "the query and one group"
    );
    index.replace_group(&group("radio"), Vec::new());
    assert!(keys(&index, "serenade").is_empty());
}

#[test]
fn only_groups_in_scope_are_embedded_and_found() {
    let model = Model::default();
    let index = mixed_with(model.clone(), MixOptions::default());
    let scoped = SearchQuery {
        groups: vec![group("fleet")],
        ..query("lorry")
    };
    let hits = index.search(&scoped).unwrap().hits;
    assert!(hits.iter().all(|hit| hit.key.group == *"fleet") && hits.len() == 2);
    assert_eq!(model.asked.lock().unwrap().len(), 2);
}

#[test]
fn other_forms_are_the_wrapped_index_alone() {
    let model = Model::default();
    let index = mixed_with(model.clone(), MixOptions::default());
    for text in ["select:play_song,none", "/^radio/", "+radio song", "+fleet"] {
        assert_eq!(
            search(&index, text).unwrap(),
            search(&lexical(), text).unwrap(),
            "{text}"
        );
    }
    for text in ["", "select:", "/(/"] {
        assert_eq!(
            search(&index, text).unwrap_err().kind(),
            ErrorKind::InvalidArguments
        );
    }
    assert!(
        index
            .search(&SearchQuery {
                limit: 0,
                ..query("song")
            })
            .is_err()
    );
    assert!(model.times().is_empty());
}

#[test]
fn a_model_that_fails_leaves_the_words_and_is_asked_again() {
    let model = Model::default();
    let index = mixed_with(model.clone(), MixOptions::default());
    *model.is_down.lock().unwrap() = true;
    let text = "customer owes serenade";
    assert_eq!(
        search(&index, text).unwrap(),
        search(&lexical(), text).unwrap()
    );
    *model.is_down.lock().unwrap() = false;
    assert!(keys(&index, text).contains(&"radio/play_song".to_owned()));
}

#[test]
fn vectors_that_are_none_are_like_nothing() {
    for vector in [
        vec![],
        vec![0.0; 3],
        vec![f32::NAN; 3],
        vec![f32::INFINITY; 3],
        vec![f32::MAX; 3],
    ] {
        let model = move |texts: &[String]| -> Result<Vec<Vec<f32>>, Error> {
            let of_text = |text: &String| match &**text {
                "serenade" | "song" => vec![1.0, 0.0, 0.0],
                _ => vector.clone(),
            };
            Ok(texts.iter().map(of_text).collect())
        };
        let index = Mixed::new(
            "m",
            Arc::new(Lexical::default()),
            model,
            MixOptions::default(),
        );
        fill(&index, &tools());
        assert!(keys(&index, "serenade").is_empty());
        assert_eq!(first(&index, "song"), "radio/play_song");
        assert_eq!(first(&index, "invoice"), "desk/create_invoice");
    }
    let none = |_: &[String]| -> Result<Vec<Vec<f32>>, Error> { Ok(Vec::new()) };
    let index = Mixed::new(
        "m",
        Arc::new(Lexical::default()),
        none,
        MixOptions::default(),
    );
    fill(&index, &tools());
    assert_eq!(first(&index, "invoice"), "desk/create_invoice");
}

#[test]
fn the_limit_holds_and_takes_the_best() {
    let index = mixed();
    let all = keys(&index, "lorry money");
    assert!(all.len() > 2);
    let two = index
        .search(&SearchQuery {
            limit: 2,
            ..query("lorry money")
        })
        .unwrap();
    let two: Vec<String> = two.hits.iter().map(|hit| hit.key.to_string()).collect();
    assert_eq!(two, all[..2]);
}

#[test]
fn the_parts_of_a_score_are_its_sum() {
    let index = mixed();
    for text in [
        "owes serenade",
        "reserves lorry",
        "serenade",
        "play_song",
        "customers",
        "+radio song",
    ] {
        let query = query(text);
        for hit in index.search(&query).unwrap().hits {
            let parts = index.explain(&query, &hit.key).unwrap();
            let sum: f64 = parts.iter().map(|part| part.score).sum();
            assert!((sum - hit.score).abs() < 1e-6, "{text}: {hit:?} {parts:?}");
            assert!(parts.is_sorted_by(|a, b| a.score >= b.score));
        }
    }
    let what = |text: &str, key: usize| {
        let parts = index.explain(&query(text), &tools()[key].key).unwrap();
        parts.into_iter().map(|part| part.what).collect::<Vec<_>>()
    };
    assert_eq!(what("serenade", 4), ["likeness of meaning"]);
    assert!(what("serenade", 0).is_empty());
}

#[test]
fn a_tool_handed_over_twice_counts_once() {
    let index = mixed();
    let before = search(&index, "serenade").unwrap();
    let twice: Vec<_> = tools()
        .into_iter()
        .filter(|tool| tool.key.group == *"radio")
        .collect();
    index.replace_group(&group("radio"), [twice.clone(), twice].concat());
    assert_eq!(search(&index, "serenade").unwrap(), before);
}

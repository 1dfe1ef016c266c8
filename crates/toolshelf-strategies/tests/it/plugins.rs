//! The strategies as plugins: found by name, built from options.

use serde_json::{Value, json};
use toolshelf_core::{Builder, ErrorKind, Plugin, PluginKind, Registry, State, Strategy};
use toolshelf_strategies::{dispatch, inject, standard, tst, tst_auto};

use crate::fixtures::{World, offered};

/// The constants keep the crate linked.
const ALL: [Plugin; 5] = [
    dispatch::PLUGIN,
    inject::PLUGIN,
    standard::PLUGIN,
    tst::PLUGIN,
    tst_auto::PLUGIN,
];

#[test]
fn a_host_that_links_the_crate_finds_all_of_them() {
    let names = ALL.map(|plugin| plugin.name);
    assert_eq!(names, ["dispatch", "inject", "standard", "tst", "tst-auto"]);
    let registry = Registry::linked().unwrap();
    assert_eq!(registry.names(PluginKind::Strategy), names);
}

fn build(
    name: &str,
    options: &Value,
) -> Result<std::sync::Arc<dyn Strategy>, toolshelf_core::Error> {
    let plugin = ALL.into_iter().find(|plugin| plugin.name == name).unwrap();
    match plugin.build {
        Builder::Strategy(build) => build(options),
        _ => panic!("{name} is no strategy"),
    }
}

#[test]
fn a_strategy_is_built_from_options_and_refuses_those_that_it_does_not_have() {
    for name in ALL.map(|plugin| plugin.name) {
        for options in [json!({}), Value::Null] {
            let strategy = build(name, &options).unwrap();
            assert_eq!(strategy.name(), name);
        }
        let error = build(name, &json!({"catalogBugdet": 1})).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::InvalidConfig);
        assert!(error.to_string().contains("catalogBugdet"), "{error}");
    }
    let strategy = build("standard", &json!({"load": false})).unwrap();
    let mut world = World::default().group("g", &["t"]);
    let surface = world
        .surface(strategy.as_ref(), &State::new("standard"))
        .unwrap();
    assert!(offered(&surface).is_empty() && world.asked.is_empty());
}

#[test]
fn options_have_a_schema() {
    for plugin in ALL {
        let schema = (plugin.options)();
        let schema = serde_json::to_value(&schema).unwrap();
        assert_eq!(schema["additionalProperties"], false, "{}", plugin.name);
        assert!(schema["properties"].is_object());
    }
}

//! The strategies as plugins: found by name, built from options.

use serde_json::json;
use toolshelf_core::{Plugin, PluginKind, Registry, State};
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

#[test]
fn options_make_a_strategy() {
    let registry = Registry::linked().unwrap();
    let options = json!({"load": false});
    let strategy = registry.strategy("standard", &options).unwrap();
    let mut world = World::default().group("g", &["t"]);
    let surface = world
        .surface(strategy.as_ref(), &State::new("standard"))
        .unwrap();
    assert!(offered(&surface).is_empty() && world.asked.is_empty());
}

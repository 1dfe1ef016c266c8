//! `canned` under the kits for plugins and for loaders.

use std::path::{Path, PathBuf};

use outside_canned::{CannedOptions, canned};
use serde_json::json;
use toolshelf_core::ToolLoader;
use toolshelf_testkit::loader::Subject;
use toolshelf_testkit::loader_tests;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(name)
}

fn of(name: &str) -> impl ToolLoader + use<> {
    canned(CannedOptions { file: file(name) })
}

fn weather() -> Subject {
    Subject::new(|| of("weather.json"), &["weather", "tides"])
        .call("weather", json!({"place": "Kiel"}))
        .failing(|| of("nothing.json"))
        .secrets(&["nothing.json", env!("CARGO_MANIFEST_DIR")])
}

loader_tests!(weather: calls, fails);

fn plugin() -> toolshelf_testkit::plugin::Subject {
    toolshelf_testkit::plugin::Subject::new(outside_canned::PLUGIN)
        .options(json!({"file": file("weather.json")}))
}

toolshelf_testkit::plugin_tests!(plugin);

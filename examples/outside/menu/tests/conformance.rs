//! `menu` under the kits for plugins and for strategies.

use outside_menu::{Menu, MenuOptions};
use serde_json::json;
use toolshelf_testkit::strategy::Subject;
use toolshelf_testkit::{call, strategy_tests};

fn menu() -> Subject {
    let build = || Menu::new(MenuOptions::default()).expect("`menu` is the name of a tool");
    Subject::new(build)
        .forward_with(|name, arguments| call("menu", json!({"tool": name, "input": arguments})))
}

strategy_tests!(menu: stable, defers, lazy, forwards);

fn plugin() -> toolshelf_testkit::plugin::Subject {
    toolshelf_testkit::plugin::Subject::new(outside_menu::PLUGIN)
}

toolshelf_testkit::plugin_tests!(plugin: defaults);

//! Each strategy under the kit, as its defaults and its options make it.

use serde_json::{Value, json};
use toolshelf_core::{Call, Strategy};
use toolshelf_search::Lexical;
use toolshelf_strategies::{
    Dispatch, DispatchOptions, Inject, Standard, StandardOptions, Tst, TstAuto, TstAutoOptions,
    TstOptions,
};
use toolshelf_testkit::strategy::Subject;
use toolshelf_testkit::{call, strategy_tests};

fn load(group: &str, tools: Option<&[&str]>) -> Call {
    call(
        "load_tools",
        json!({"group_id": group, "tool_names": tools}),
    )
}

fn search(query: &str) -> Call {
    call("search_tools", json!({"query": query}))
}

fn forward(name: &str, arguments: Value) -> Call {
    let arguments = json!({"tool_name": name, "arguments": arguments});
    call("deferred_tool_call", arguments)
}

fn subject<S: Strategy + 'static>(build: fn() -> S) -> Subject {
    Subject::new(build).index(Lexical::default)
}

fn dispatch() -> Subject {
    subject(Dispatch::default)
        .load_with(load)
        .forward_with(forward)
}

fn dispatch_with_search() -> Subject {
    let build = || {
        Dispatch::new(DispatchOptions {
            search: true,
            ..DispatchOptions::default()
        })
    };
    subject(build)
        .load_with(load)
        .search_with(search)
        .forward_with(forward)
}

fn dispatch_with_split_calls() -> Subject {
    let build = || {
        Dispatch::new(DispatchOptions {
            split_calls: true,
            ..DispatchOptions::default()
        })
    };
    // Tools without hints may destroy.
    let forward = |name: &str, arguments: Value| {
        let arguments = json!({"tool_name": name, "arguments": arguments});
        call("deferred_tool_destroy", arguments)
    };
    subject(build).load_with(load).forward_with(forward)
}

fn inject() -> Subject {
    subject(Inject::default).load_with(load)
}

fn standard() -> Subject {
    subject(Standard::default)
}

fn standard_without_loads() -> Subject {
    subject(|| Standard::new(StandardOptions { load: false }))
}

fn tst() -> Subject {
    subject(Tst::default).search_with(search)
}

fn tst_renamed() -> Subject {
    let build = || {
        let options = TstOptions {
            search_tool: "find".to_owned(),
            ..TstOptions::default()
        };
        Tst::new(options).unwrap()
    };
    let search = |query: &str| call("find", json!({"query": query}));
    subject(build).search_with(search)
}

fn tst_auto_that_defers() -> Subject {
    subject(|| auto(0)).search_with(search)
}

fn tst_auto_that_does_not_defer() -> Subject {
    subject(|| auto(u64::MAX)).search_with(search)
}

fn auto(threshold_tokens: u64) -> TstAuto {
    let options = TstAutoOptions {
        threshold_tokens,
        ..TstAutoOptions::default()
    };
    TstAuto::new(options).unwrap()
}

strategy_tests!(dispatch: stable, defers, lazy, loads, parts, forwards, catalogs);
strategy_tests!(dispatch_with_search: stable, defers, lazy, loads, parts, searches, forwards, catalogs);
strategy_tests!(dispatch_with_split_calls: stable, defers, lazy, loads, parts, forwards, catalogs);
strategy_tests!(inject: defers, lazy, loads, parts, grows, catalogs);
strategy_tests!(standard);
strategy_tests!(standard_without_loads: lazy);
strategy_tests!(tst: defers, lazy, searches, grows, rebuilds, encodes);
strategy_tests!(tst_renamed: defers, lazy, searches, grows, rebuilds, encodes);
strategy_tests!(tst_auto_that_defers: defers, searches, grows, rebuilds, encodes);
strategy_tests!(tst_auto_that_does_not_defer: searches, encodes);

mod plugins {
    use toolshelf_testkit::plugin::Subject;
    use toolshelf_testkit::plugin_tests;

    fn dispatch() -> Subject {
        Subject::new(toolshelf_strategies::dispatch::PLUGIN)
    }

    fn inject() -> Subject {
        Subject::new(toolshelf_strategies::inject::PLUGIN)
    }

    fn standard() -> Subject {
        Subject::new(toolshelf_strategies::standard::PLUGIN)
    }

    fn tst() -> Subject {
        Subject::new(toolshelf_strategies::tst::PLUGIN)
    }

    fn tst_auto() -> Subject {
        Subject::new(toolshelf_strategies::tst_auto::PLUGIN)
    }

    plugin_tests!(dispatch: defaults);
    plugin_tests!(inject: defaults);
    plugin_tests!(standard: defaults);
    plugin_tests!(tst: defaults);
    plugin_tests!(tst_auto: defaults);
}

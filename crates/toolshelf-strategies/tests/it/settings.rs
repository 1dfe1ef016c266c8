//! The setting by which users of tool search choose a mode: every row of its table.

use toolshelf_core::{Builder, Strategy};
use toolshelf_strategies::{SearchMode, Setting, search_setting, standard, tst, tst_auto};

const NEW: &str = "ENABLE_SEARCH_EXTRA_TOOLS";
const OLD: &str = "ENABLE_TOOL_SEARCH";

fn set(variables: &[(&str, &str)]) -> Setting {
    search_setting(|name| {
        let mut set = variables.iter().filter(|(variable, _)| *variable == name);
        set.next().map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn every_value_means_what_the_table_says() {
    use SearchMode::{Standard, Tst, TstAuto};
    let rows = [
        ("true", Tst, false),
        ("1", Tst, false),
        ("yes", Tst, false),
        ("on", Tst, false),
        ("  TRUE\n", Tst, false),
        ("auto", TstAuto(10), false),
        ("Auto", TstAuto(10), false),
        ("auto:0", Tst, false),
        ("auto:1", TstAuto(1), false),
        ("auto:10", TstAuto(10), false),
        ("auto:007", TstAuto(7), false),
        ("auto: 25 ", TstAuto(25), false),
        ("auto:+25", TstAuto(25), false),
        ("auto:99", TstAuto(99), false),
        ("auto:100", Standard, false),
        ("auto:101", Standard, false),
        ("auto:99999999999999999999999", Standard, false),
        ("auto:-1", Tst, false),
        ("auto:-99999999999999999999999", Tst, false),
        ("auto:", TstAuto(10), true),
        ("auto:-", TstAuto(10), true),
        ("auto:ten", TstAuto(10), true),
        ("auto:10%", TstAuto(10), true),
        ("auto:1.5", TstAuto(10), true),
        ("auto:1e1", TstAuto(10), true),
        ("auto:１０", TstAuto(10), true),
        ("auto:10:20", TstAuto(10), true),
        ("false", Standard, false),
        ("0", Standard, false),
        ("no", Standard, false),
        ("off", Standard, false),
        ("OFF", Standard, false),
        ("2", Tst, true),
        ("automatic", Tst, true),
        ("auto 10", Tst, true),
        ("enabled", Tst, true),
    ];
    for variable in [NEW, OLD] {
        for (value, mode, odd) in rows {
            let setting = set(&[(variable, value)]);
            assert_eq!(setting.mode, mode, "{variable}={value:?}");
            assert_eq!(setting.variable, Some(variable));
            assert_eq!(setting.warning.is_some(), odd, "{variable}={value:?}");
        }
    }
}

#[test]
fn unset_means_tst() {
    let unset = Setting {
        mode: SearchMode::Tst,
        variable: None,
        warning: None,
    };
    assert_eq!(set(&[]), unset);
    assert_eq!(set(&[("ENABLE_SOMETHING", "false")]), unset);
    assert_eq!(set(&[(NEW, ""), (OLD, " ")]), unset);
}

#[test]
fn the_first_variable_that_is_set_counts() {
    let both = set(&[(NEW, "auto:30"), (OLD, "false")]);
    assert_eq!(both.mode, SearchMode::TstAuto(30));
    assert_eq!(both.variable, Some(NEW));
    // Also where it says nothing that is known.
    let odd = set(&[(NEW, "maybe"), (OLD, "false")]);
    assert_eq!(odd.mode, SearchMode::Tst);
    assert_eq!(set(&[(OLD, "false")]).mode, SearchMode::Standard);
    assert_eq!(set(&[(NEW, ""), (OLD, "false")]).variable, Some(OLD));
}

#[test]
fn a_warning_names_the_variable_and_the_value_on_one_line() {
    let setting = set(&[(OLD, "auto:a\nb`c`")]);
    assert_eq!(
        setting.warning.as_deref(),
        Some("ENABLE_TOOL_SEARCH: 'auto:a b'c'' has no whole number of percent; 10 is taken")
    );
    let setting = set(&[(NEW, &"x".repeat(10_000))]);
    let warning = setting.warning.unwrap();
    assert!(warning.len() < 200 && warning.starts_with(NEW), "{warning}");
}

#[test]
fn a_mode_is_a_strategy_with_options() {
    for (value, plugin) in [
        ("on", tst::PLUGIN),
        ("auto:25", tst_auto::PLUGIN),
        ("off", standard::PLUGIN),
    ] {
        let mode = set(&[(NEW, value)]).mode;
        assert_eq!(mode.strategy(), plugin.name);
        let Builder::Strategy(build) = plugin.build else {
            panic!("{value} is no strategy")
        };
        let strategy: std::sync::Arc<dyn Strategy> = build(&mode.options()).unwrap();
        assert_eq!(strategy.name(), mode.strategy());
    }
}

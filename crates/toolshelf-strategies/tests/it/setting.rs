//! The setting, row by row.

use toolshelf_strategies::SearchMode::{Standard, Tst, TstAuto};
use toolshelf_strategies::{CONTEXT_WINDOWS, context_window, search_setting};

const FIRST: &str = "ENABLE_SEARCH_EXTRA_TOOLS";
const SECOND: &str = "ENABLE_TOOL_SEARCH";

#[test]
fn each_value_means_a_mode_and_odd_ones_are_warned_of() {
    for (value, mode, warns) in [
        ("true", Tst, false),
        ("1", Tst, false),
        ("yes", Tst, false),
        ("on", Tst, false),
        (" TRUE ", Tst, false),
        ("auto", TstAuto(10), false),
        ("auto:1", TstAuto(1), false),
        ("auto:10", TstAuto(10), false),
        ("auto:99", TstAuto(99), false),
        ("Auto: 25", TstAuto(25), false),
        ("auto:0", Tst, false),
        ("auto:-5", Tst, false),
        ("auto:100", Standard, false),
        ("auto:1000", Standard, false),
        ("auto:99999999999999999999999", Standard, false),
        ("auto:", TstAuto(10), true),
        ("auto:many", TstAuto(10), true),
        ("auto:1.5", TstAuto(10), true),
        ("auto:5%", TstAuto(10), true),
        ("false", Standard, false),
        ("0", Standard, false),
        ("no", Standard, false),
        ("off", Standard, false),
        ("", Tst, true),
        ("maybe", Tst, true),
        ("2", Tst, true),
    ] {
        let setting = search_setting(|name| (name == FIRST).then(|| value.to_owned()));
        assert_eq!(setting.mode, mode, "{value:?}");
        assert_eq!(setting.warning.is_some(), warns, "{value:?}: {setting:?}");
        assert_eq!(setting.variable, Some(FIRST));
        if let Some(warning) = setting.warning {
            assert!(warning.starts_with(FIRST), "{warning}");
        }
    }
}

#[test]
fn the_first_variable_that_is_set_counts() {
    let unset = search_setting(|_| None);
    assert_eq!(
        (unset.mode, unset.variable, unset.warning),
        (Tst, None, None)
    );
    let second = search_setting(|name| (name == SECOND).then(|| "off".to_owned()));
    assert_eq!((second.mode, second.variable), (Standard, Some(SECOND)));
    let both = search_setting(|name| Some(if name == FIRST { "auto:7" } else { "off" }.to_owned()));
    assert_eq!(both.mode, TstAuto(7));
}

#[test]
fn a_mode_names_its_strategy_and_options() {
    assert_eq!(Tst.strategy(), "tst");
    assert_eq!(Standard.strategy(), "standard");
    assert_eq!(TstAuto(7).strategy(), "tst-auto");
    assert_eq!(TstAuto(7).options(), serde_json::json!({"percent": 7}));
}

#[test]
fn each_window_has_a_date_and_a_source_and_the_longest_prefix_counts() {
    for row in CONTEXT_WINDOWS {
        assert!(row.tokens >= 100_000 && !row.source.is_empty(), "{row:?}");
        assert!(
            row.as_of.len() == 7 && row.as_of.starts_with("20"),
            "{row:?}"
        );
        assert_eq!(context_window(row.prefix), Some(*row));
    }
    assert_eq!(
        context_window("claude-sonnet-4-6-x").unwrap().tokens,
        1_000_000
    );
    assert_eq!(context_window("claude-opus-5").unwrap().tokens, 200_000);
    assert_eq!(context_window(""), None);
}

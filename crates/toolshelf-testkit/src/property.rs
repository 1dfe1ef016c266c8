//! Properties inside of clauses.

use std::cell::Cell;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestError, TestRng, TestRunner};

use crate::clause::short;

const CASES: u32 = 64;

thread_local! {
    /// Whether it is always [`CASES`], whatever the environment says.
    static FIXED: Cell<bool> = const { Cell::new(false) };
}

/// Runs something whose properties have the same inputs wherever it runs.
pub(crate) fn with_the_same_cases<T>(run: impl FnOnce() -> T) -> T {
    let before = FIXED.replace(true);
    let done = run();
    FIXED.set(before);
    done
}

/// Checks what holds for all inputs with inputs that are the same each time, so that a kit
/// never fails by chance. `PROPTEST_CASES` says how many; there are few otherwise, since a
/// plugin has many clauses and runs them often.
pub(crate) fn for_all<S: Strategy>(
    inputs: &S,
    check: impl Fn(&S::Value) -> Result<(), String>,
) -> Result<(), String> {
    let mut config = Config {
        failure_persistence: None,
        ..Config::default()
    };
    if FIXED.get() || std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = CASES;
    }
    let rng = TestRng::deterministic_rng(config.rng_algorithm);
    let mut runner = TestRunner::new_with_rng(config, rng);
    let ended = runner.run(inputs, |input| check(&input).map_err(TestCaseError::fail));
    ended.map_err(|error| match error {
        TestError::Fail(seen, input) => format!("{seen}, of {}", short(&input)),
        TestError::Abort(why) => format!("no inputs could be made: {why}"),
    })
}

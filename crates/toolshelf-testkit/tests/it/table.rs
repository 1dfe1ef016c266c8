//! Which specimen breaks which clauses.

use std::fmt::Debug;
use std::thread;

use toolshelf_testkit::{Clause, broken};

/// Each specimen breaks the clauses that stand beside it, and no other. They are tried side by
/// side, since some wait most of the time.
#[track_caller]
pub(crate) fn check<S, F: Debug + Copy + Sync>(
    clauses: &[Clause<S>],
    capabilities: &[&str],
    table: &[(F, &[&str])],
    with: impl Fn(F) -> S + Sync,
) {
    let wrong: Vec<String> = thread::scope(|scope| {
        let with = &with;
        let run = |(fault, expected): &'_ (F, &[&str])| {
            let (fault, mut expected) = (fault, expected.to_vec());
            let mut fails = broken(clauses, &with(*fault), capabilities);
            fails.sort_unstable();
            expected.sort_unstable();
            (fails != expected)
                .then(|| format!("{fault:?} breaks {fails:#?}, and not {expected:#?}"))
        };
        let threads: Vec<_> = table
            .iter()
            .map(|row| scope.spawn(move || run(row)))
            .collect();
        let ended = threads.into_iter().map(|thread| thread.join().unwrap());
        ended.flatten().collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// No clause is there that nothing was seen to break.
#[track_caller]
pub(crate) fn is_complete<S, F>(clauses: &[Clause<S>], table: &[(F, &[&str])]) {
    let shown = |name: &str| table.iter().any(|(_, broken)| broken.contains(&name));
    let bare: Vec<&str> = clauses
        .iter()
        .map(|clause| clause.name)
        .filter(|name| !shown(name))
        .collect();
    assert!(bare.is_empty(), "without a specimen: {bare:#?}");
    for (_, broken) in table {
        let known = |name: &&str| clauses.iter().any(|clause| clause.name == *name);
        assert!(
            broken.iter().all(known),
            "not all of these are clauses: {broken:?}"
        );
    }
}

/// A subject that only panics breaks each clause, which says its own name; and no two clauses
/// have one name.
#[track_caller]
pub(crate) fn names_itself<S>(clauses: &[Clause<S>], panics: &S) {
    let mut names: Vec<&str> = clauses.iter().map(|clause| clause.name).collect();
    for clause in clauses {
        let error = (clause.check)(panics).unwrap_err();
        assert_eq!(error.clause, clause.name);
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), clauses.len());
}

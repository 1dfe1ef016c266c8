//! Loaders with faults do what their script says.

use std::task::{Context, Waker};

use serde_json::json;
use toolshelf_core::{Error, ErrorKind, LoadContext, Loaded, LoadedGroup, ToolLoader};
use toolshelf_testkit::faulty::{Faulty, Gate, Load, MANY, hostile};
use toolshelf_testkit::loader::{Subject, clauses};
use toolshelf_testkit::world::FOR_OPERATORS;
use toolshelf_testkit::{block_on, broken};

fn load(loader: &Faulty) -> Result<Loaded, Error> {
    block_on(loader.load(LoadContext::default()))
}

fn names(loaded: &Loaded) -> Vec<String> {
    let tools = loaded.tools.iter();
    tools
        .map(|tool| tool.definition().name().to_string())
        .collect()
}

#[test]
fn loads_follow_the_script_and_its_last_step_is_repeated() {
    let loader = Faulty::new([
        Load::Fails(ErrorKind::Exited),
        Load::brings(&["a"]),
        Load::brings(&["a", "b"]),
    ]);
    let error = load(&loader).err().unwrap();
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Exited, FOR_OPERATORS)
    );
    assert!(!error.for_model().contains("hunter2"));
    assert_eq!(names(&load(&loader).unwrap()), ["a"]);
    for _ in 0..2 {
        assert_eq!(names(&load(&loader).unwrap()), ["a", "b"]);
    }
    assert_eq!(
        (loader.begun(), loader.running(), loader.most_at_once()),
        (4, 0, 1)
    );
}

#[test]
fn a_load_that_hangs_runs_until_it_is_dropped() {
    let loader = Faulty::hangs();
    let mut cx = Context::from_waker(Waker::noop());
    let mut one = loader.load(LoadContext::default());
    let mut other = loader.load(LoadContext::default());
    assert!(one.as_mut().poll(&mut cx).is_pending() && other.as_mut().poll(&mut cx).is_pending());
    assert_eq!((loader.running(), loader.most_at_once()), (2, 2));
    drop(one);
    assert_eq!((loader.begun(), loader.running()), (2, 1));
}

#[test]
fn a_load_behind_a_gate_ends_once_it_is_open() {
    let gate = Gate::new();
    let loader = Faulty::new([Load::brings(&["a"]).after(&gate)]);
    let waiting = loader.clone();
    let loads = std::thread::spawn(move || load(&waiting).map(|loaded| loaded.tools.len()));
    block_on(loader.until_begun(1));
    assert_eq!(loader.running(), 1);
    gate.open();
    assert_eq!(loads.join().unwrap().unwrap(), 1);
}

#[test]
fn a_load_that_panics_is_over() {
    let loader = Faulty::panics();
    let panic = std::panic::catch_unwind(|| load(&loader).is_ok()).unwrap_err();
    assert_eq!(panic.downcast_ref::<String>().unwrap(), FOR_OPERATORS);
    assert_eq!(loader.running(), 0);
}

#[test]
fn a_large_server_and_a_hostile_one_are_groups_like_others() {
    for (load, tools) in [(Load::many(), MANY), (Load::hostile(), hostile().len())] {
        let loader = Faulty::new([load]);
        let loaded = self::load(&loader).unwrap();
        let group = LoadedGroup::new(&loader.group("bad"), loaded).unwrap();
        assert_eq!(group.tools.len(), tools);
    }
}

#[test]
fn what_is_sound_of_them_keeps_to_the_contract() {
    let sound = || Faulty::new([Load::brings(&["a", "b"])]);
    let subject = Subject::new(sound, &["a", "b"])
        .call("a", json!({}))
        .failing(|| Faulty::fails(ErrorKind::Unavailable))
        .secrets(&["hunter2", FOR_OPERATORS]);
    let fails = broken(&clauses(), &subject, &["calls", "fails"]);
    assert_eq!(fails, Vec::<&str>::new());
}

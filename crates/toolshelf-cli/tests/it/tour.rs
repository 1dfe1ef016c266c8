//! The tour shows what it says, and its figures hold together.

use crate::helpers::run;

#[test]
fn the_tour_is_as_it_should_be() {
    let ran = run(&["tour"]).ended(0);
    assert!(ran.err.is_empty(), "{}", ran.err);
    assert!(!ran.out.contains("WRONG"), "{}", ran.out);
    assert!(ran.out.lines().count() <= 100, "{}", ran.out);
    let widest = ran.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}");
}

#[test]
fn its_figures_are_consistent() {
    let tour = run(&["tour", "--json"]).ended(0).json();
    assert_eq!(tour["ok"], true, "{}", tour["faults"]);
    let figures = &tour["figures"];
    let figure = |name: &str| figures[name].as_u64().unwrap();
    assert_eq!(figure("servers"), 3);
    assert_eq!(figure("tools"), 60);
    assert_eq!(figure("own_tools"), 3);
    assert_eq!(figure("prefix_bytes_changed"), 0);

    let acts = tour["acts"].as_array().unwrap();
    let calls: Vec<_> = acts
        .iter()
        .flat_map(|act| act["calls"].as_array().unwrap())
        .collect();
    assert_eq!(figure("comparisons"), calls.len() as u64);
    let answers: u64 = calls
        .iter()
        .filter(|call| call["answered_by"] == "toolshelf")
        .map(|call| call["tokens"].as_u64().unwrap())
        .sum();
    assert_eq!(figure("answer_tokens"), answers);
    assert_eq!(figure("session_tokens"), figure("shelf_tokens") + answers);
    assert!(
        figure("shelf_tokens") * 10 < figure("inline_tokens"),
        "{figures}"
    );
    let percent = figure("session_tokens") as f64 * 100.0 / figure("inline_tokens") as f64;
    assert!(
        (percent - figures["session_percent"].as_f64().unwrap()).abs() < 0.1,
        "{figures}"
    );

    // What `tools` counts is what the tour counts, but for names and instructions.
    let tools = run(&["tools", "--samples", "--json"]).ended(0).json();
    let counted = tools["totals"]["tokens"].as_f64().unwrap();
    let inline = figure("inline_tokens") as f64;
    assert!(
        (inline - counted).abs() < 0.05 * counted,
        "{inline} and {counted}"
    );
}

//! The three catalogs in each of their forms.

use toolshelf_catalog::{
    CatalogOptions, DispatchCatalog, GatewayCatalog, InjectCatalog, dispatch, gateway, inject,
};
use toolshelf_core::catalog::{CatalogFormat, CatalogTier};

use crate::GOLDEN;
use crate::fixtures::{Group, cases, hostile, thirty, two, view};

#[track_caller]
fn check(name: &str, format: &dyn CatalogFormat, groups: &[Group], budget: Option<usize>) {
    let mut view = view(groups);
    view.budget = budget;
    GOLDEN.check(name, &format.render(&view).text);
}

/// Checks the golden file and the snapshot of one form of the thirty groups.
#[track_caller]
fn check_tier(format: &dyn CatalogFormat, budget: usize, tier: CatalogTier, form: &str) -> String {
    let groups = thirty();
    let mut view = view(&groups);
    view.budget = Some(budget);
    let catalog = format.render(&view);
    assert_eq!(catalog.tier, tier, "{form}:\n{}", catalog.text);
    assert!(catalog.text.len() <= budget, "{form} exceeds its budget");
    let name = format.name().replace('/', "-");
    GOLDEN.check(&format!("{name}.{form}"), &catalog.text);
    catalog.text
}

/// The forms in their order, each under a budget that lets it be the first that fits.
fn check_tiers(format: &dyn CatalogFormat, header: &str, prefix: &str) {
    use CatalogTier::{Full, IdsOnly, NoNames, SomeGroups, SomeNames};
    let forms = [
        (8_000, Full, "full"),
        (5_000, SomeNames, "some-names"),
        (2_700, NoNames, "no-names"),
        (2_500, NoNames, "summaries"),
        (2_000, NoNames, "short-summaries"),
        (1_200, IdsOnly, "ids-only"),
        (600, SomeGroups, "some-groups"),
    ];
    let mut last = usize::MAX;
    for (room, tier, form) in forms {
        let text = check_tier(format, header.len() + room, tier, form);
        assert!(text.len() < last, "{form} is not another form");
        last = text.len();
        insta::assert_snapshot!(format!("{prefix}_{form}"), text);
    }
}

#[test]
fn dispatch_is_the_documented_text() {
    let text = DispatchCatalog::default().render(&view(&two())).text;
    assert_eq!(
        text,
        "# Deferred tool groups\n\
         \n\
         These tool groups are available but not yet loaded. Call `load_tools(group_id)`\n\
         to get their full schemas, then invoke them via\n\
         `deferred_tool_call(tool_name=..., arguments=...)`.\n\
         \n\
         - `mcp:github` — GitHub: Issues, PRs, repos, code search (4 tools)\n  \
           create_issue, search_repos, create_pr, list_comments\n\
         - `mcp:linear` — Linear: Issues, projects and cycles (2 tools)\n  \
           create_issue, update_issue"
    );
    GOLDEN.check("dispatch-1.two", &text);
}

#[test]
fn dispatch_knows_each_case_of_a_line() {
    check(
        "dispatch-1.cases",
        &DispatchCatalog::default(),
        &cases(),
        None,
    );
}

#[test]
fn dispatch_neutralises_server_text() {
    check(
        "dispatch-1.hostile",
        &DispatchCatalog::default(),
        &hostile(),
        None,
    );
}

#[test]
fn dispatch_comes_down_in_order() {
    check_tiers(&DispatchCatalog::default(), dispatch::HEADER, "dispatch");
}

#[test]
fn inject_shows_what_remains() {
    let groups = vec![
        Group::new("whole")
            .title("Whole")
            .description("Not loaded")
            .names(&["a", "b"]),
        Group::new("part")
            .title("Part")
            .description("Partly loaded")
            .names(&["c", "d"])
            .partly_loaded(),
        Group::new("last")
            .title("Last")
            .description("One left")
            .names(&["e"])
            .partly_loaded(),
        Group::new("gone").title("Gone").names(&[]).partly_loaded(),
    ];
    check(
        "inject-1.remaining",
        &InjectCatalog::default(),
        &groups,
        None,
    );
}

#[test]
fn inject_knows_each_case_of_a_line() {
    check("inject-1.cases", &InjectCatalog::default(), &cases(), None);
}

#[test]
fn inject_comes_down_in_order() {
    check_tiers(&InjectCatalog::default(), inject::HEADER, "inject");
}

#[test]
fn gateway_comes_down_in_order() {
    check_tiers(&GatewayCatalog::default(), "", "gateway");
}

#[test]
fn gateway_has_a_budget_of_its_own() {
    let groups = thirty();
    let catalog = GatewayCatalog::default().render(&view(&groups));
    assert!(catalog.text.len() <= gateway::DEFAULT_BUDGET);
    GOLDEN.check("gateway-1.thirty", &catalog.text);
    let mut unbounded = view(&groups);
    unbounded.budget = Some(usize::MAX);
    let unbounded = GatewayCatalog::default().render(&unbounded);
    assert_eq!(unbounded.tier, CatalogTier::Full);
}

#[test]
fn gateway_bounds_one_talkative_server() {
    check(
        "gateway-1.hostile",
        &GatewayCatalog::default(),
        &hostile(),
        None,
    );
}

#[test]
fn gateway_shows_two_groups_without_a_header() {
    check("gateway-1.two", &GatewayCatalog::default(), &two(), None);
}

#[test]
fn a_budget_that_nothing_fits_into_gets_the_shortest_form() {
    let groups = thirty();
    for (format, name) in [
        (
            &DispatchCatalog::default() as &dyn CatalogFormat,
            "dispatch",
        ),
        (&InjectCatalog::default(), "inject"),
        (&GatewayCatalog::default(), "gateway"),
    ] {
        let mut view = view(&groups);
        view.budget = Some(0);
        let catalog = format.render(&view);
        assert_eq!(catalog.tier, CatalogTier::SomeGroups);
        GOLDEN.check(&format!("{name}-1.nothing-fits"), &catalog.text);
    }
}

#[test]
fn one_group_that_does_not_fit_is_one_group() {
    let groups = [Group::new("only").description("The only group there is")];
    check(
        "dispatch-1.one-does-not-fit",
        &DispatchCatalog::default(),
        &groups,
        Some(0),
    );
}

#[test]
fn a_header_is_replaced_or_left_out() {
    let groups = two();
    let lines = GatewayCatalog::default().render(&view(&groups)).text;
    let mut with = view(&groups);
    with.header = Some("Mine");
    let mut without = view(&groups);
    without.header = Some("");
    let options = |header: &str| CatalogOptions {
        header: Some(header.to_owned()),
        ..CatalogOptions::default()
    };
    let formats: [(Box<dyn CatalogFormat>, Box<dyn CatalogFormat>); 2] = [
        (
            Box::new(DispatchCatalog::new(options("Its own"))),
            Box::new(DispatchCatalog::new(options(""))),
        ),
        (
            Box::new(InjectCatalog::new(options("Its own"))),
            Box::new(InjectCatalog::new(options(""))),
        ),
    ];
    let plain = view(&groups);
    for (named, silent) in formats {
        assert_eq!(named.render(&plain).text, format!("Its own\n\n{lines}"));
        assert_eq!(named.render(&with).text, format!("Mine\n\n{lines}"));
        assert_eq!(named.render(&without).text, lines);
        assert_eq!(silent.render(&plain).text, lines);
    }
}

#[test]
fn options_bound_texts_and_names() {
    let groups = &thirty()[..3];
    let mut view = view(groups);
    view.header = Some("");
    view.budget = Some(400);
    let format = DispatchCatalog::new(CatalogOptions {
        text_bytes: Some(12),
        names_per_group: Some(1),
        ..CatalogOptions::default()
    });
    let catalog = format.render(&view);
    assert_eq!(catalog.tier, CatalogTier::SomeNames);
    GOLDEN.check("dispatch-1.options", &catalog.text);
}

#[test]
fn names_are_those_of_the_modules() {
    assert_eq!(DispatchCatalog::default().name(), dispatch::NAME);
    assert_eq!(InjectCatalog::default().name(), inject::NAME);
    assert_eq!(GatewayCatalog::default().name(), gateway::NAME);
}

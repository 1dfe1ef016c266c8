use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use toolshelf_core::{
    Arguments, CallContext, Condition, Error, ErrorKind, Exposure, FnTool, GroupId, Groups,
    JsonText, LoadContext, Loaded, LoadedGroup, Tool, ToolDefinition, ToolGroup, ToolKey, ToolName,
    ToolResult, wire_name,
};

fn id(text: &str) -> GroupId {
    GroupId::new(text).unwrap()
}

fn tool(name: &str) -> Arc<dyn Tool> {
    let schema = JsonText::parse("{}").unwrap();
    let definition = ToolDefinition::new(ToolName::new(name).unwrap(), "", schema).unwrap();
    Arc::new(FnTool::new(
        definition,
        async |_: Arguments, _: CallContext| Ok(ToolResult::default()),
    ))
}

fn group(name: &str, declared: Option<&[&str]>) -> ToolGroup {
    let group = ToolGroup::new(id(name), async |_: LoadContext| Ok(Loaded::default()));
    match declared {
        Some(names) => group.declared_tools(names).unwrap(),
        None => group,
    }
}

fn shelf(groups: &[(&str, Option<&[&str]>)]) -> Groups {
    let mut shelf = Groups::new();
    for (name, declared) in groups {
        shelf.insert(group(name, *declared)).unwrap();
    }
    shelf
}

fn load(shelf: &mut Groups, name: &str, tools: &[&str]) -> Arc<LoadedGroup> {
    let loaded = Loaded::new(tools.iter().map(|name| tool(name)));
    let loaded = LoadedGroup::new(&shelf.get(name).unwrap().group, loaded).unwrap();
    let loaded = Arc::new(loaded);
    shelf.set_condition(&id(name), Condition::Ready(loaded.clone()));
    loaded
}

fn with(shelf: &Groups, tool: &str) -> Vec<String> {
    shelf
        .groups_with(tool)
        .iter()
        .map(GroupId::to_string)
        .collect()
}

#[test]
fn a_group_is_there_once() {
    let mut shelf = shelf(&[("a", None)]);
    let error = shelf.insert(group("a", None)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidDefinition);
    assert_eq!(shelf.len(), 1);
    assert!(group_twice().is_err());
}

fn group_twice() -> Result<ToolGroup, Error> {
    group("a", None).declared_tools(["x", "y", "x"])
}

#[test]
fn groups_come_in_the_order_of_their_ids() {
    let shelf = shelf(&[("b", None), ("Z", None), ("a/b", None), ("a", None)]);
    let order: Vec<&str> = shelf.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(order, ["Z", "a", "a/b", "b"]);
}

#[test]
fn the_group_of_a_qualified_name_is_the_longest() {
    let shelf = shelf(&[("a", None), ("a/b", None), ("a/b/c", None)]);
    let cases = [
        ("a/x", Some(("a", "x"))),
        ("a/b", Some(("a", "b"))),
        ("a/b/x", Some(("a/b", "x"))),
        ("a/b/c/x", Some(("a/b/c", "x"))),
        ("a/x/y", Some(("a", "x/y"))),
        ("a/b/c", Some(("a/b", "c"))),
        ("a//x", Some(("a", "/x"))),
        ("b/x", None),
        ("x", None),
        ("", None),
        ("/", None),
        ("a/", None),
        ("/a/x", None),
    ];
    for (name, expect) in cases {
        let expect =
            expect.map(|(group, tool)| ToolKey::new(id(group), ToolName::new(tool).unwrap()));
        assert_eq!(shelf.qualified(name), expect, "{name}");
    }
}

#[test]
fn a_bare_name_knows_all_its_groups() {
    let shelf = shelf(&[("b", Some(&["x", "y"])), ("a", Some(&["x"])), ("c", None)]);
    assert_eq!(with(&shelf, "x"), ["a", "b"]);
    assert_eq!(with(&shelf, "y"), ["b"]);
    assert!(with(&shelf, "z").is_empty());
    let mut names: Vec<&str> = shelf.known_names().collect();
    names.sort_unstable();
    assert_eq!(names, ["x", "x", "y"]);
}

#[test]
fn after_a_load_the_loader_is_right() {
    let mut shelf = shelf(&[("a", Some(&["ghost", "y", "x"])), ("b", Some(&["x"]))]);
    let loaded = load(&mut shelf, "a", &["new", "x", "y"]);
    // Declared order first, then the loader's.
    let order: Vec<&str> = loaded
        .tools
        .iter()
        .map(|tool| tool.key.tool.as_str())
        .collect();
    assert_eq!(order, ["y", "x", "new"]);
    assert_eq!(loaded.missing, [ToolName::new("ghost").unwrap()]);
    assert_eq!(loaded.undeclared, [ToolName::new("new").unwrap()]);
    assert_eq!(loaded.position("x"), Some(1));
    assert_eq!(with(&shelf, "new"), ["a"]);
    assert!(with(&shelf, "ghost").is_empty());
    assert_eq!(with(&shelf, "x"), ["a", "b"]);
    let key = ToolKey::new(id("a"), ToolName::new("new").unwrap());
    assert_eq!(
        shelf.by_wire_name(&wire_name(&key.group, &key.tool)),
        Some(&key)
    );
    assert_eq!(shelf.tool(&key).unwrap().key, key);
    let ghost = wire_name(&id("a"), &ToolName::new("ghost").unwrap());
    assert_eq!(shelf.by_wire_name(&ghost), None);
}

#[test]
fn a_group_without_declared_names_has_no_undeclared_ones() {
    let mut shelf = shelf(&[("a", None)]);
    assert!(!shelf.get("a").unwrap().names_known());
    let loaded = load(&mut shelf, "a", &["x"]);
    assert!(loaded.undeclared.is_empty() && loaded.missing.is_empty());
    assert!(shelf.get("a").unwrap().names_known());
}

#[test]
fn names_stay_known_while_a_later_load_fails() {
    let mut shelf = shelf(&[("a", Some(&["old"]))]);
    load(&mut shelf, "a", &["new"]);
    let error = Arc::new(Error::new(ErrorKind::Exited, "gone"));
    shelf.set_condition(&id("a"), Condition::Failed(error));
    assert_eq!(with(&shelf, "new"), ["a"]);
    assert!(with(&shelf, "old").is_empty());
    let key = ToolKey::new(id("a"), ToolName::new("new").unwrap());
    assert!(
        shelf.tool(&key).is_none(),
        "a failed group has no tools to call"
    );
    load(&mut shelf, "a", &["newer"]);
    assert!(with(&shelf, "new").is_empty());
    assert_eq!(with(&shelf, "newer"), ["a"]);
}

#[test]
fn a_removed_group_leaves_nothing_behind() {
    let mut shelf = shelf(&[("a", Some(&["x", "ghost"])), ("b", Some(&["x"]))]);
    load(&mut shelf, "a", &["x", "new"]);
    assert!(shelf.remove(&id("a")).is_some());
    assert!(shelf.remove(&id("a")).is_none());
    assert_eq!(with(&shelf, "x"), ["b"]);
    for name in ["ghost", "new"] {
        assert!(with(&shelf, name).is_empty());
        let wire = wire_name(&id("a"), &ToolName::new(name).unwrap());
        assert_eq!(shelf.by_wire_name(&wire), None);
    }
    shelf.insert(group("a", Some(&["x"]))).unwrap();
    assert_eq!(with(&shelf, "x"), ["a", "b"]);
}

#[test]
fn a_loader_may_not_return_a_name_twice() {
    let loaded = Loaded::new([tool("x"), tool("x")]);
    let error = LoadedGroup::new(&group("a", None), loaded).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::InvalidDefinition);
    assert!(error.for_model().contains("'a'"));
}

#[test]
fn names_that_are_declared_twice_are_loaded_once() {
    let mut twice = group("a", None);
    let x = ToolName::new("x").unwrap();
    twice.declared = Some(vec![x.clone(), x]);
    let loaded = LoadedGroup::new(&twice, Loaded::new([tool("x"), tool("y")])).unwrap();
    assert_eq!(loaded.tools.len(), 2);
}

#[test]
fn a_hosts_own_tools_keep_their_names() {
    let mut shelf = Groups::new();
    shelf
        .insert(ToolGroup::core(
            id("host"),
            vec![tool("read"), tool("odd name")],
        ))
        .unwrap();
    let loaded = load(&mut shelf, "host", &["read", "odd name"]);
    assert_eq!(&*loaded.tools[0].wire_name, "read");
    assert_eq!(loaded.tools[0].exposure, Exposure::Core);
    assert_eq!(shelf.by_wire_name("read").unwrap().group, "host");
    // A provider would refuse the request because of such a name.
    assert_eq!(
        *loaded.tools[1].wire_name,
        *wire_name(&id("host"), &loaded.tools[1].key.tool)
    );
    assert!(shelf.by_wire_name("odd name").is_none());
}

#[test]
fn a_bare_name_that_another_tool_has_on_the_wire_is_refused() {
    let mut shelf = shelf(&[("github", Some(&["create_issue"]))]);
    let own = ToolGroup::core(id("host"), vec![tool("github__create_issue")]);
    let error = shelf.insert(own.clone()).err().unwrap();
    let said = error.to_string();
    assert!(
        said.contains("'github'") && said.contains("'host'"),
        "{said}"
    );
    assert_eq!(shelf.len(), 1);
    // The other way round.
    let mut shelf = Groups::new();
    shelf.insert(own).unwrap();
    assert!(
        shelf
            .insert(group("github", Some(&["create_issue"])))
            .is_err()
    );
    // And two groups of bare names.
    assert!(
        shelf
            .insert(ToolGroup::core(
                id("host2"),
                vec![tool("github__create_issue")]
            ))
            .is_err()
    );
}

#[derive(Debug, Clone)]
enum Step {
    Insert(usize, Option<Vec<usize>>),
    Remove(usize),
    Load(usize, Vec<usize>),
    Fail(usize),
}

const IDS: [&str; 4] = ["a", "a/b", "b", "a__b"];
const NAMES: [&str; 5] = ["x", "y", "b/x", "_x", "b__x"];

fn step() -> impl Strategy<Value = Step> {
    let names = || prop::collection::vec(0..NAMES.len(), 0..4);
    prop_oneof![
        (0..IDS.len(), prop::option::of(names())).prop_map(|(id, names)| Step::Insert(id, names)),
        (0..IDS.len()).prop_map(Step::Remove),
        (0..IDS.len(), names()).prop_map(|(id, names)| Step::Load(id, names)),
        (0..IDS.len()).prop_map(Step::Fail),
    ]
}

fn distinct(names: &[usize]) -> Vec<&'static str> {
    let mut seen = BTreeSet::new();
    names
        .iter()
        .filter(|at| seen.insert(**at))
        .map(|at| NAMES[*at])
        .collect()
}

proptest! {
    /// The indexes against a model that looks through everything.
    #[test]
    fn look_ups_agree_with_looking_through(steps in prop::collection::vec(step(), 0..24)) {
        let mut shelf = Groups::new();
        let mut model: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Insert(at, names) => {
                    let names = names.map(|names| distinct(&names));
                    let fresh = shelf.insert(group(IDS[at], names.as_deref())).is_ok();
                    prop_assert_eq!(fresh, !model.contains_key(IDS[at]));
                    if fresh {
                        model.insert(IDS[at], names.unwrap_or_default().into_iter().collect());
                    }
                }
                Step::Remove(at) => {
                    let removed = shelf.remove(&id(IDS[at])).is_some();
                    prop_assert_eq!(removed, model.remove(IDS[at]).is_some());
                }
                Step::Load(at, names) if model.contains_key(IDS[at]) => {
                    let names = distinct(&names);
                    load(&mut shelf, IDS[at], &names);
                    model.insert(IDS[at], names.into_iter().collect());
                }
                Step::Load(at, _) | Step::Fail(at) => {
                    let error = Arc::new(Error::new(ErrorKind::Exited, "gone"));
                    shelf.set_condition(&id(IDS[at]), Condition::Failed(error));
                }
            }
            for name in NAMES {
                let holders: Vec<&str> = model.iter()
                    .filter(|(_, names)| names.contains(name))
                    .map(|(id, _)| *id)
                    .collect();
                prop_assert_eq!(with(&shelf, name), holders);
                for group in IDS {
                    let key = ToolKey::new(id(group), ToolName::new(name).unwrap());
                    let found = shelf.by_wire_name(&wire_name(&key.group, &key.tool));
                    let there = model.get(group).is_some_and(|names| names.contains(name));
                    prop_assert_eq!(found.is_some(), there);
                    prop_assert!(found.is_none_or(|found| *found == key));
                }
            }
        }
    }

    #[test]
    fn qualified_names_find_their_way_back(parts in prop::collection::vec("[ab]", 1..6)) {
        let shelf = shelf(&IDS.map(|id| (id, None)));
        let name = parts.join("/");
        let longest = IDS.iter().filter(|id| name.strip_prefix(**id).is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))).max_by_key(|id| id.len());
        let found = shelf.qualified(&name);
        prop_assert_eq!(found.as_ref().map(|key| key.group.as_str()), longest.copied());
        if let Some(key) = found {
            prop_assert_eq!(key.to_string(), name);
        }
    }
}

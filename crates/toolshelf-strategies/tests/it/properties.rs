//! What holds for every history of a session that defers.

use proptest::prelude::*;
use toolshelf_core::{Condition, ContentBlock, Error, ErrorKind, Event, Message, News, Role};
use toolshelf_strategies::Tst;

use crate::fixtures::{Live, LiveExt, World, WorldExt, begin, id};

#[derive(Debug, Clone)]
enum Act {
    Search(String),
    Discovered(Vec<String>),
    Return(&'static str, Vec<&'static str>),
    Remove(&'static str),
    Fail(&'static str),
    Set(&'static str, u8),
    Compact(bool),
    Appended,
}

const GROUPS: [&str; 3] = ["a", "b", "mcp:c"];
const TOOLS: [&str; 4] = ["one", "two", "three", "search_tools"];

fn act() -> impl proptest::strategy::Strategy<Value = Act> {
    let group = || prop::sample::select(&GROUPS);
    let tools = || prop::sample::subsequence(&TOOLS, 0..=4).prop_shuffle();
    let name = (group(), prop::sample::select(&TOOLS)).prop_map(|(group, tool)| {
        let tool = toolshelf_core::ToolName::new(tool).unwrap();
        toolshelf_core::wire_name(&id(group), &tool)
    });
    let query = prop_oneof![
        prop::sample::select(&TOOLS).prop_map(|name| format!("select:{name}")),
        prop::sample::select(&["one", "does two", "cake", "", "+three"]).prop_map(str::to_owned),
    ];
    prop_oneof![
        4 => query.prop_map(Act::Search),
        2 => prop::collection::vec(name, 0..4).prop_map(Act::Discovered),
        3 => (group(), tools()).prop_map(|(group, tools)| Act::Return(group, tools)),
        1 => group().prop_map(Act::Remove),
        1 => group().prop_map(Act::Fail),
        1 => (group(), 0u8..3).prop_map(|(group, to)| Act::Set(group, to)),
        1 => any::<bool>().prop_map(Act::Compact),
        1 => Just(Act::Appended),
    ]
}

fn perform(live: &mut Live, act: Act) {
    let here = |live: &Live, group: &str| live.world.groups.get(group).is_some();
    match act {
        Act::Search(query) => drop(live.search(&query)),
        Act::Discovered(names) => live.observe(&Event::Discovered { names }),
        Act::Return(group, tools) => live.world.return_with(group, &tools),
        Act::Remove(group) if here(live, group) => live.world.remove(group),
        Act::Fail(group) if here(live, group) => live.world.fail(group),
        Act::Set(group, to) => {
            let sign_in = Error::new(ErrorKind::NeedsSignIn, "401");
            let condition = match to {
                0 => Condition::Declared,
                1 => Condition::Pending,
                _ => Condition::NeedsSignIn(sign_in.into()),
            };
            live.world.groups.set_condition(&id(group), condition);
        }
        Act::Compact(marked) => {
            let marker = marked.then(|| Box::new(live.state.clone()));
            live.observe(&Event::Compacted { marker });
        }
        // Nothing that is said is a discovery, whoever says it.
        _ => live.observe(&Event::Appended(Message {
            role: Role::Tool,
            content: vec![ContentBlock::text("Found 1 deferred tool(s): a__one.")],
            calls: Vec::new(),
            answers: Some("call_1".to_owned()),
        })),
    }
}

proptest! {
    #[test]
    fn the_search_tool_is_in_every_request_and_the_list_only_grows_at_its_end(
        acts in prop::collection::vec(act(), 0..25),
    ) {
        let world = World::default()
            .searchable()
            .core("host", &["read_file"])
            .group("a", &["one", "two"])
            .undeclared("b", &["one", "three"])
            .broken("mcp:c", &["two"]);
        let mut live = begin(Tst::default(), world);
        let mut order: Vec<String> = Vec::new();
        for act in acts {
            perform(&mut live, act);
            let surface = live.surface().unwrap();
            let names: Vec<String> =
                surface.tools.iter().map(|slot| slot.name.to_string()).collect();
            prop_assert_eq!(&names[..2], ["read_file", "search_tools"]);
            let mut unique = names.clone();
            unique.sort();
            unique.dedup();
            prop_assert_eq!(unique.len(), names.len());
            // In the order of the first discovery, whichever of them are there.
            let discovered: Vec<String> = live
                .state
                .discovered
                .iter()
                .map(|key| toolshelf_core::wire_name(&key.group, &key.tool))
                .collect();
            prop_assert!(discovered.starts_with(&order));
            order = discovered;
            let mut rest = order.iter();
            for name in &names[2..] {
                prop_assert!(rest.any(|known| known == name), "{} of {:?}", name, order);
            }
            // Each thing is said once.
            let again = live.surface().unwrap();
            prop_assert_eq!(again.news, Vec::<News>::new());
            prop_assert_eq!(again.deltas, vec![]);
            prop_assert_eq!(again.tools, surface.tools);
        }
    }
}

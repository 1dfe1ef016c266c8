//! Inputs for properties are what they say, and reach what they are made for.

use std::cell::Cell;
use std::collections::BTreeSet;

use proptest::prelude::*;
use toolshelf_core::codec::writable;
use toolshelf_core::{Role, ToolDefinition};
use toolshelf_testkit::generators::{
    catalog_groups, definitions, discovered_name, history, server_text,
};

#[test]
fn definitions_are_read_again_and_have_names_of_their_own() {
    proptest!(|(all in definitions(8))| {
        let names: BTreeSet<&str> = all.iter().map(|one| one.name().as_str()).collect();
        prop_assert_eq!(names.len(), all.len());
        for one in &all {
            let again = ToolDefinition::from_descriptor(one.descriptor().clone()).unwrap();
            prop_assert_eq!(again.definition.digest(), one.digest());
        }
    });
}

#[test]
fn names_that_are_found_may_be_written() {
    proptest!(|(name in discovered_name())| {
        prop_assert_eq!(writable(&[&name]).unwrap(), [name.as_str()]);
    });
}

#[test]
fn groups_have_ids_of_their_own_and_names_once() {
    proptest!(|(groups in catalog_groups(8))| {
        let ids: BTreeSet<_> = groups.iter().map(|group| &group.id).collect();
        prop_assert_eq!(ids.len(), groups.len());
        for names in groups.iter().filter_map(|group| group.names.as_ref()) {
            let once: BTreeSet<_> = names.iter().collect();
            prop_assert_eq!(once.len(), names.len());
        }
    });
}

#[test]
fn histories_have_calls_that_are_answered_and_answers_to_nothing() {
    let (answered, astray) = (Cell::new(0), Cell::new(0));
    proptest!(|(messages in history(&["search_tools", "fetch"], server_text()))| {
        let mut open = BTreeSet::new();
        for message in &messages {
            open.extend(message.calls.iter().map(|call| call.id.clone()));
            if let Some(id) = &message.answers {
                prop_assert_eq!(message.role, Role::Tool);
                let count = if open.remove(id) { &answered } else { &astray };
                count.set(count.get() + 1);
            }
        }
    });
    assert!(answered.get() > 10 && astray.get() > 10);
}

//! What holds for all shelves.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::Value;
use toolshelf_catalog::{
    CatalogOptions, DispatchCatalog, GatewayCatalog, InjectCatalog, LoadAnswer,
    MAX_INSTRUCTIONS_BYTES, Schemas, Separators,
};
use toolshelf_core::ShelvedTool;
use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogTier};

use toolshelf_testkit::generators::{catalog_group, catalog_groups, server_text, tool_name};

use crate::fixtures::{Group, loaded, view};

fn groups() -> impl Strategy<Value = Vec<Group>> {
    catalog_groups(11)
}

/// A format that a failing case can print.
trait Format: CatalogFormat + std::fmt::Debug {}

impl<T: CatalogFormat + std::fmt::Debug> Format for T {}

fn format() -> impl Strategy<Value = Box<dyn Format>> {
    let options = (prop::option::of(0usize..300), prop::option::of(0usize..4)).prop_map(
        |(text_bytes, names_per_group)| CatalogOptions {
            header: None,
            text_bytes,
            names_per_group,
        },
    );
    (options, 0..3).prop_map(|(options, which)| -> Box<dyn Format> {
        match which {
            0 => Box::new(DispatchCatalog::new(options)),
            1 => Box::new(InjectCatalog::new(options)),
            _ => Box::new(GatewayCatalog::new(options)),
        }
    })
}

/// Renders under a header that no server text can contain.
fn rendered(format: &dyn CatalogFormat, groups: &[Group], budget: usize) -> CatalogText {
    let mut view = view(groups);
    view.header = Some("HEADER");
    view.budget = Some(budget);
    format.render(&view)
}

fn budget() -> impl Strategy<Value = usize> {
    prop_oneof![0usize..400, 0usize..6_000, Just(usize::MAX)]
}

proptest! {
    #[test]
    fn a_catalog_keeps_to_its_budget(format in format(), groups in groups(), budget in budget()) {
        let catalog = rendered(&*format, &groups, budget);
        let shortest = rendered(&*format, &groups, 0);
        prop_assert!(catalog.text.len() <= budget || catalog == shortest);
        prop_assert!(!catalog.text.ends_with('\n'));
        if budget == usize::MAX {
            prop_assert_eq!(catalog.tier, CatalogTier::Full);
        }
    }

    #[test]
    fn a_group_that_is_named_twice_does_not_make_order_matter(
        format in format(),
        mut groups in groups(),
        again in catalog_group(),
        at in any::<Index>(),
    ) {
        prop_assume!(!groups.is_empty());
        let twin = Group { id: groups[at.index(groups.len())].id.clone(), ..again };
        groups.push(twin);
        let mut reversed = groups.clone();
        reversed.reverse();
        prop_assert_eq!(
            rendered(&*format, &groups, usize::MAX),
            rendered(&*format, &reversed, usize::MAX)
        );
    }

    #[test]
    fn server_text_never_makes_a_line_of_its_own(
        format in format(),
        groups in groups(),
        budget in budget(),
    ) {
        let catalog = rendered(&*format, &groups, budget);
        let mut shown = Vec::new();
        for line in catalog.text.split(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}')) {
            // A fence, a heading, a rule or a list item is one up to three blanks in.
            let start = line.trim_start_matches(' ');
            for opener in ["#", "> ", "~~~", "```", "===", "* ", "+ "] {
                prop_assert!(!start.starts_with(opener), "{:?}", line);
            }
            if start.starts_with('-') {
                let id = line.strip_prefix("- `").and_then(|rest| rest.split_once('`'));
                prop_assert!(id.is_some(), "{:?}", line);
                shown.extend(id.map(|(id, _)| id));
            }
            // One code span for the id, and none in what a server said.
            let spans = line.matches('`').count();
            prop_assert!(spans % 2 == 0, "{:?}", line);
            if line.starts_with("- ") {
                prop_assert_eq!(spans, 2, "{:?}", line);
            }
        }
        let mut known: Vec<&str> = groups.iter().map(|group| group.id.as_str()).collect();
        known.sort_unstable();
        // Groups appear once, in order, and only those that there are.
        let places: Vec<usize> = shown
            .iter()
            .filter_map(|id| known.binary_search(id).ok())
            .collect();
        prop_assert_eq!(places.len(), shown.len());
        prop_assert!(places.is_sorted_by(|a, b| a < b));
        // What is not shown is counted.
        if catalog.tier == CatalogTier::SomeGroups {
            let left = catalog.text.lines().last().and_then(|line| line.split(' ').next());
            let left: usize = left.and_then(|number| number.parse().ok()).unwrap_or_default();
            let gone = groups.iter().filter(|group| {
                format.name() != "dispatch/1"
                    && group.partly_loaded
                    && group.names.as_ref().is_some_and(Vec::is_empty)
            });
            prop_assert_eq!(shown.len() + left, groups.len() - gone.count());
        }
    }

    #[test]
    fn whatever_is_left_out_is_said(format in format(), groups in groups(), budget in budget()) {
        let catalog = rendered(&*format, &groups, budget);
        let says = catalog
            .text
            .rsplit("\n\n")
            .next()
            .is_some_and(|note| note.contains("load_tools"));
        prop_assert_eq!(says, catalog.tier != CatalogTier::Full);
    }
}

/// Descriptors of tools with unique names, and schemas of all sizes.
fn descriptors() -> impl Strategy<Value = Vec<String>> {
    let tool = (
        tool_name(),
        prop::option::of(server_text()),
        0usize..2_000,
        prop::collection::vec("[a-z]{1,8}", 0..5),
    );
    prop::collection::vec(tool, 0..10).prop_map(|tools| {
        let mut seen = BTreeSet::new();
        tools
            .into_iter()
            .filter(|(name, ..)| seen.insert(name.clone()))
            .map(|(name, description, size, properties)| {
                let schema = serde_json::json!({
                    "title": "x".repeat(size),
                    "properties": properties.into_iter().map(|name| (name, Value::Bool(true)))
                        .collect::<serde_json::Map<_, _>>(),
                });
                let mut descriptor =
                    serde_json::json!({"name": name.as_str(), "inputSchema": schema});
                if let Some(description) = description {
                    descriptor["description"] = description.into();
                }
                descriptor.to_string()
            })
            .collect()
    })
}

fn schemas() -> impl Strategy<Value = Schemas> {
    prop_oneof![
        Just(Schemas::Omit),
        Just(Schemas::Null),
        (0usize..6_000).prop_map(|budget| Schemas::Whole { budget }),
        (0usize..6_000).prop_map(|cap| Schemas::Named { cap }),
    ]
}

proptest! {
    #[test]
    fn an_answer_says_everything_once(
        descriptors in descriptors(),
        schemas in schemas(),
        call_as in any::<bool>(),
        instructions in prop::option::of(server_text()),
        error in prop::option::of(server_text()),
        beyond in 0usize..5,
    ) {
        let descriptors: Vec<&str> = descriptors.iter().map(String::as_str).collect();
        let group = loaded("g", None, &descriptors);
        let tools: Vec<&ShelvedTool> = group.tools.iter().collect();
        let answer = LoadAnswer {
            schemas,
            call_as,
            instructions: instructions.as_deref(),
            error: error.clone(),
            ..LoadAnswer::loaded("g", tools.len() + beyond, tools.clone())
        };
        let text = answer.write();
        prop_assert_eq!(&text, &answer.write());
        let value: Value = serde_json::from_str(&text).unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool.key.tool.as_str()).collect();
        let listed: Vec<&str> = value["tool_names"].as_array().unwrap().iter()
            .map(|name| name.as_str().unwrap()).collect();
        prop_assert_eq!(&listed, &names);
        prop_assert_eq!(&value["remaining"], beyond);
        prop_assert_eq!(value.get("call_as").is_some(), call_as);
        if let Some(text) = value["instructions"].as_str() {
            prop_assert!(text.len() <= MAX_INSTRUCTIONS_BYTES);
            prop_assert!(text.chars().all(|c| c == '\n' || !c.is_control()));
            prop_assert!(!text.contains('`'));
        }
        let omitted = value["omitted"].as_array().map_or(0, Vec::len);
        match schemas {
            Schemas::Omit => prop_assert!(value.get("schemas").is_none()),
            Schemas::Null => prop_assert_eq!(value.get("schemas"), Some(&Value::Null)),
            Schemas::Whole { budget: bound } | Schemas::Named { cap: bound } => {
                let given = value["schemas"].as_array().unwrap();
                prop_assert_eq!(given.len() + omitted, tools.len());
                let bytes: usize = given.iter().map(|schema| schema.to_string().len()).sum();
                prop_assert!(bytes <= bound);
                for schema in given {
                    let tool = group.get(schema["name"].as_str().unwrap()).unwrap();
                    let definition = tool.definition();
                    prop_assert_eq!(
                        schema["description"].as_str().unwrap(),
                        definition.description().unwrap_or_default()
                    );
                    prop_assert_eq!(&schema["parameters"], &definition.input_schema().to_value());
                    // Verbatim, not only equal.
                    let parameters = format!("\"parameters\":{}}}", definition.input_schema());
                    prop_assert!(text.contains(&parameters));
                }
            }
        }
        prop_assert_eq!(value.get("note").is_some(), omitted > 0);
        if let Some(error) = &error {
            prop_assert!(value["error"].as_str().unwrap().starts_with(error.as_str()));
        }
    }

    #[test]
    fn keys_are_sorted_and_strings_are_those_of_serde_json(error in any::<String>(), id in ".{0,30}") {
        let quoted = |text: &str| serde_json::to_string(text).unwrap();
        prop_assert_eq!(
            LoadAnswer::refused(&id, 3, error.clone()).write(),
            format!(
                r#"{{"error":{},"expanded":false,"group_id":{},"remaining":3,"schemas":[],"tool_names":[]}}"#,
                quoted(&error),
                quoted(&id)
            )
        );
    }

    #[test]
    fn python_separators_change_blanks_only(error in any::<String>(), descriptors in descriptors()) {
        let descriptors: Vec<&str> = descriptors.iter().map(String::as_str).collect();
        let group = loaded("g", None, &descriptors);
        let compact = LoadAnswer {
            error: Some(error),
            ..LoadAnswer::loaded("g", 9, group.tools.iter().collect())
        };
        let spaced = LoadAnswer { separators: Separators::Python, ..compact.clone() };
        let read = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        prop_assert_eq!(read(&compact.write()), read(&spaced.write()));
        let begins_spaced = spaced.write().starts_with("{\"error\": \"");
        prop_assert!(begins_spaced);
    }
}

//! The kit for plugins.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolshelf_core::catalog::{CatalogFormat, CatalogText, CatalogTier, CatalogView};
use toolshelf_core::{Builder, Error, ErrorKind, NoOptions, Plugin, options_schema, read_options};
use toolshelf_testkit::plugin::{Subject, clauses, declares_the_capabilities_that_it_has};
use toolshelf_testkit::plugin_tests;

use crate::table;

struct Empty(&'static str);

impl CatalogFormat for Empty {
    fn name(&self) -> &str {
        self.0
    }

    fn render(&self, _: &CatalogView<'_>) -> CatalogText {
        let (text, tier) = (String::new(), CatalogTier::Full);
        CatalogText { text, tier }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[derive(Default)]
struct Options {
    /// Its words.
    #[allow(dead_code, reason = "it is read, and used for nothing")]
    words: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(default)]
#[derive(Default)]
struct Open {
    #[allow(dead_code, reason = "it is read, and used for nothing")]
    words: Vec<String>,
}

type Built = Result<Arc<dyn CatalogFormat>, Error>;

fn empty(name: &'static str) -> Built {
    Ok(Arc::new(Empty(name)))
}

fn build(options: &Value) -> Built {
    let Options { .. } = read_options("empty/1", options)?;
    empty("empty/1")
}

const SOUND: Plugin = Plugin {
    name: "empty/1",
    provider: "toolshelf-testkit",
    about: "Nothing at all.",
    build: Builder::CatalogFormat(build),
    options: options_schema::<Options>,
};

/// Another way to build it.
const fn built(build: fn(&Value) -> Built) -> Plugin {
    Plugin {
        build: Builder::CatalogFormat(build),
        ..SOUND
    }
}

/// What is wrong with it.
#[derive(Debug, Clone, Copy)]
enum Fault {
    TwoLines,
    OtherName,
    OpenSchema,
    TakesUnknown,
    NamesNoPlace,
    OtherKindOfError,
    NeedsAnObject,
    NoDefaults,
}

fn with(fault: Fault) -> Subject {
    let plugin = match fault {
        Fault::TwoLines => Plugin {
            about: "Nothing\nat all.",
            ..SOUND
        },
        Fault::OtherName => built(|options| {
            let Options { .. } = read_options("empty/1", options)?;
            empty("empty/2")
        }),
        Fault::OpenSchema => Plugin {
            options: options_schema::<Open>,
            ..SOUND
        },
        Fault::TakesUnknown => built(|options| {
            let Open { .. } = read_options("empty/1", options)?;
            empty("empty/1")
        }),
        Fault::NamesNoPlace => built(|options| {
            let known = options
                .as_object()
                .is_none_or(|all| !all.contains_key("words"));
            if options.is_object() && !known {
                return Err(Error::new(ErrorKind::InvalidConfig, "'empty/1': no"));
            }
            build(options)
        }),
        Fault::OtherKindOfError => built(|options| {
            build(options).map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
        }),
        Fault::NeedsAnObject => built(|options| match options {
            Value::Null => Err(Error::new(ErrorKind::InvalidConfig, "'empty/1': nothing")),
            options => build(options),
        }),
        Fault::NoDefaults => built(|options| match options.get("words") {
            None => Err(Error::new(
                ErrorKind::InvalidConfig,
                "'empty/1': words is missing",
            )),
            Some(_) => build(options),
        }),
    };
    Subject::new(plugin)
}

fn sound() -> Subject {
    Subject::new(SOUND)
}

/// One that cannot be without options.
fn with_words() -> Subject {
    with(Fault::NoDefaults).options(json!({"words": ["a"]}))
}

/// One without any.
fn without_options() -> Subject {
    Subject::new(Plugin {
        build: Builder::CatalogFormat(|options| {
            let NoOptions {} = read_options("empty/1", options)?;
            empty("empty/1")
        }),
        options: options_schema::<NoOptions>,
        ..SOUND
    })
}

plugin_tests!(sound: defaults);
plugin_tests!(without_options: defaults);

const BROKEN: [(Fault, &[&str]); 8] = [
    (Fault::TwoLines, &["it_says_what_it_is"]),
    (Fault::OtherName, &["what_is_built_has_its_name"]),
    (Fault::OpenSchema, &["its_options_have_a_schema"]),
    (Fault::TakesUnknown, &["an_unknown_option_is_refused"]),
    (
        Fault::NamesNoPlace,
        &["an_option_of_another_type_is_refused"],
    ),
    (
        Fault::OtherKindOfError,
        &[
            "an_unknown_option_is_refused",
            "an_option_of_another_type_is_refused",
        ],
    ),
    (Fault::NeedsAnObject, &["no_options_are_the_defaults"]),
    (
        Fault::NoDefaults,
        // Built without the options that it needs.
        &[
            "what_is_built_has_its_name",
            "an_unknown_option_is_refused",
            "an_option_of_another_type_is_refused",
            "no_options_are_the_defaults",
        ],
    ),
];

#[test]
fn each_specimen_breaks_its_clauses_and_no_other() {
    table::check(&clauses(), &["defaults"], &BROKEN, with);
}

#[test]
fn no_clause_is_without_a_specimen() {
    table::is_complete(&clauses(), &BROKEN);
}

#[test]
fn a_capability_that_is_left_out_or_made_up_is_an_error() {
    let check = declares_the_capabilities_that_it_has;
    assert_eq!(check(&with_words(), &[]), Ok(()));
    let error = check(&sound(), &[]).unwrap_err().to_string();
    assert!(error.contains("it has `defaults`"), "{error}");
    let error = check(&with_words(), &["defaults"]).unwrap_err().to_string();
    assert!(error.contains("`defaults` is declared"), "{error}");
}

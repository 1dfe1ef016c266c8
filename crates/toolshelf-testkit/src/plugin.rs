//! The kit for plugins of any kind: how they are named, and what they do with options.
//!
//! A [`Subject`] holds the plugin, and options where it cannot be built without;
//! [`plugin_tests!`](crate::plugin_tests) stamps a test for each clause.
//!
//! | capability | of a plugin that |
//! |---|---|
//! | `defaults` | can be built without options |
//!
//! What is built has a kit of its own.

use serde_json::{Map, Value, json};
use toolshelf_core::{Builder, Error, ErrorKind, Plugin};

use crate::clause::{Clause, Verdict, clause, require, same};

/// A plugin to be tested.
#[derive(Debug, Clone)]
pub struct Subject {
    plugin: Plugin,
    options: Value,
}

/// A key that no plugin has.
const UNKNOWN: &str = "noSuchOption";

impl Subject {
    /// A plugin that needs no options.
    pub fn new(plugin: Plugin) -> Self {
        let options = json!({});
        Self { plugin, options }
    }

    /// The options that it is built with.
    #[must_use]
    pub fn options(mut self, options: Value) -> Self {
        self.options = options;
        self
    }

    /// Builds it; the name of what was built, where that has one.
    fn build(&self, options: &Value) -> Result<Option<String>, Error> {
        Ok(match self.plugin.build {
            Builder::Strategy(build) => Some(build(options)?.name().to_owned()),
            Builder::CatalogFormat(build) => Some(build(options)?.name().to_owned()),
            Builder::DiscoveryCodec(build) => Some(build(options)?.name().to_owned()),
            Builder::SearchIndex(build) => Some(build(options)?.name().to_owned()),
            Builder::Loader(build) => build(options).map(|_| None)?,
            Builder::Checkpointer(build) => build(options).map(|_| None)?,
            Builder::Provider(build) => Some(build(options)?.name().to_owned()),
            // A kind of plugin that is newer than this kit.
            _ => None,
        })
    }

    /// The options with one of them set.
    fn with(&self, key: &str, value: Value) -> Value {
        let mut options = self.options.as_object().cloned().unwrap_or_default();
        options.insert(key.to_owned(), value);
        Value::Object(options)
    }

    /// That options are refused, by an error which names the plugin and this.
    fn refuses(&self, options: &Value, named: &str) -> Result<(), String> {
        let Err(error) = self.build(options) else {
            return Err(format!("it is built from {options}"));
        };
        same(
            "the kind of the error",
            &ErrorKind::InvalidConfig,
            &error.kind(),
        )?;
        let text = error.to_string();
        require(
            text.contains(self.plugin.name) && text.contains(named),
            || {
                format!(
                    "`{}` and `{named}` should be named: {text}",
                    self.plugin.name
                )
            },
        )
    }

    /// Whether it is built from its own options, since otherwise it refuses anything.
    fn is_built(&self) -> Result<Option<String>, String> {
        let built = self.build(&self.options);
        built.map_err(|error| format!("it is not built from {}: {error}", self.options))
    }

    fn properties(&self) -> Map<String, Value> {
        let schema = (self.plugin.options)();
        schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default()
    }
}

/// Its name, its provider and what it says of itself are a line each.
///
/// # Errors
///
/// When the clause does not hold.
pub fn it_says_what_it_is(subject: &Subject) -> Verdict {
    clause("it_says_what_it_is", || {
        let Plugin {
            name,
            provider,
            about,
            ..
        } = subject.plugin;
        for (what, text) in [("name", name), ("provider", provider), ("about", about)] {
            let line = !text.is_empty() && text.trim() == text && !text.contains(char::is_control);
            require(line, || format!("`{what}` is {text:?}"))?;
        }
        require(!name.contains(char::is_whitespace), || {
            format!("{name:?} is no name")
        })
    })
}

/// It is built, and what is built has its name.
///
/// # Errors
///
/// When the clause does not hold.
pub fn what_is_built_has_its_name(subject: &Subject) -> Verdict {
    clause("what_is_built_has_its_name", || {
        let name = subject.is_built()?;
        require(
            name.as_deref()
                .is_none_or(|name| name == subject.plugin.name),
            || format!("`{}` builds {name:?}", subject.plugin.name),
        )
    })
}

/// The schema of its options says what each is for, and that there are no others.
///
/// # Errors
///
/// When the clause does not hold.
pub fn its_options_have_a_schema(subject: &Subject) -> Verdict {
    clause("its_options_have_a_schema", || {
        let schema = (subject.plugin.options)();
        let closed = schema["type"] == "object" && schema["additionalProperties"] == false;
        require(closed, || {
            format!("it is none of an object without other keys: {schema}")
        })?;
        for (name, property) in subject.properties() {
            let said = ["description", "$ref", "anyOf", "oneOf", "allOf"];
            let described = said.iter().any(|key| property.get(key).is_some());
            require(described, || {
                format!("`{name}` has no description: {property}")
            })?;
        }
        Ok(())
    })
}

/// An option that it does not have is an error that names it: a misspelt one is not silently
/// nothing.
///
/// # Errors
///
/// When the clause does not hold.
pub fn an_unknown_option_is_refused(subject: &Subject) -> Verdict {
    clause("an_unknown_option_is_refused", || {
        subject.is_built()?;
        subject.refuses(&subject.with(UNKNOWN, json!(1)), UNKNOWN)
    })
}

/// An option of another type is an error that names its place, and so are options that are no
/// object.
///
/// # Errors
///
/// When the clause does not hold.
pub fn an_option_of_another_type_is_refused(subject: &Subject) -> Verdict {
    clause("an_option_of_another_type_is_refused", || {
        subject.is_built()?;
        for options in [json!(7), json!("text"), json!([[]]), json!(true)] {
            subject.refuses(&options, "")?;
        }
        for name in subject.properties().keys() {
            // Nothing but an option that takes any value takes this one.
            let options = subject.with(name, json!([[[]]]));
            if subject.build(&options).is_err() {
                subject.refuses(&options, name)?;
            }
        }
        Ok(())
    })
}

/// Without options it is what it is with none of them set.
///
/// # Errors
///
/// When the clause does not hold.
pub fn no_options_are_the_defaults(subject: &Subject) -> Verdict {
    clause("no_options_are_the_defaults", || {
        for options in [Value::Null, json!({})] {
            let built = subject.build(&options);
            built.map_err(|error| format!("it is not built from {options}: {error}"))?;
        }
        Ok(())
    })
}

/// The lists of clauses.
#[doc(hidden)]
#[macro_export]
macro_rules! __plugin {
    (always $then:ident) => {
        $crate::__clauses! { $then plugin always:
            it_says_what_it_is,
            what_is_built_has_its_name,
            its_options_have_a_schema,
            an_unknown_option_is_refused,
            an_option_of_another_type_is_refused,
        }
    };
    (defaults $then:ident) => {
        $crate::__clauses! { $then plugin defaults:
            no_options_are_the_defaults,
        }
    };
    ($unknown:ident $then:ident) => {
        compile_error!(concat!(
            "a plugin has no capability `",
            stringify!($unknown),
            "`; there is: defaults",
        ));
    };
}

/// Stamps the tests of a plugin: a module of the name of the function that makes its
/// [`Subject`], with one test for each clause that always holds and for each of a capability
/// that is declared.
///
/// ```
/// use std::sync::Arc;
/// use toolshelf_core::{Builder, LoadContext, Loaded, NoOptions, Plugin, options_schema};
/// use toolshelf_testkit::plugin::{Subject, clauses};
///
/// const NOTHING: Plugin = Plugin {
///     name: "nothing",
///     provider: env!("CARGO_PKG_NAME"),
///     about: "No tools.",
///     // It does not read its options, so it cannot refuse any.
///     build: Builder::Loader(|_| Ok(Arc::new(async |_: LoadContext| Ok(Loaded::default())))),
///     options: options_schema::<NoOptions>,
/// };
///
/// fn nothing() -> Subject {
///     Subject::new(NOTHING)
/// }
///
/// toolshelf_testkit::plugin_tests!(nothing: defaults);
///
/// # fn main() {
/// // What the tests would say:
/// let fails = toolshelf_testkit::broken(&clauses(), &nothing(), &["defaults"]);
/// assert_eq!(fails, ["an_unknown_option_is_refused", "an_option_of_another_type_is_refused"]);
/// # }
/// ```
#[macro_export]
macro_rules! plugin_tests {
    ($subject:ident $(: $($capability:ident),+ $(,)?)?) => {
        $crate::__stamp! { plugin __plugin $subject [$($($capability)+)?] }
    };
}

/// All clauses, with the capability that makes each apply.
pub fn clauses() -> Vec<Clause<Subject>> {
    let mut all = Vec::new();
    all.extend(__plugin!(always table));
    all.extend(__plugin!(defaults table));
    all
}

/// The capabilities that were declared are those that are there, so that no clause is left
/// out that applies.
///
/// # Errors
///
/// When one is missing, or one too many.
pub fn declares_the_capabilities_that_it_has(subject: &Subject, declared: &[&str]) -> Verdict {
    clause("declares_the_capabilities_that_it_has", || {
        let has = subject.build(&Value::Null).is_ok() || subject.build(&json!({})).is_ok();
        crate::clause::declared("defaults", has, declared)
    })
}

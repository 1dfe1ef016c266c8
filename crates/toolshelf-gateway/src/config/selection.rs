//! A plugin chosen by name, with its options.

use serde_json::{Map, Value};

/// A plugin that somebody chose, and its options.
///
/// A configuration says it as a name, or as an object with `name` whose other members are
/// the options:
///
/// ```
/// use toolshelf_gateway::config::{Config, ProcessEnvironment, Selection};
/// let text = r#"{
///     "mcpServers": {},
///     "index": "lexical/1",
///     "strategy": {"name": "dispatch", "splitCalls": true}
/// }"#;
/// let config = Config::parse(text, &ProcessEnvironment)?;
/// assert_eq!(config.index, Some("lexical/1".into()));
/// let split = Selection::new("dispatch", serde_json::json!({"splitCalls": true}));
/// assert_eq!(config.strategy, Some(split));
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The name under which the plugin is registered.
    pub name: String,
    /// Its options; `null` for its defaults.
    pub options: Value,
}

impl Selection {
    /// A plugin with options.
    pub fn new(name: impl Into<String>, options: Value) -> Self {
        Self {
            name: name.into(),
            options,
        }
    }

    /// Reads what stands under a key of the configuration. An error continues a sentence
    /// that names the file.
    pub(super) fn read(key: &str, root: &mut Map<String, Value>) -> Result<Option<Self>, String> {
        let named = |name: String, options| {
            if name.trim().is_empty() {
                return Err(format!("has a \"{key}\" without a name"));
            }
            Ok(Some(Self { name, options }))
        };
        match root.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(name)) => named(name, Value::Null),
            Some(Value::Object(mut members)) => match members.remove("name") {
                Some(Value::String(name)) if members.is_empty() => named(name, Value::Null),
                Some(Value::String(name)) => named(name, members.into()),
                Some(_) => Err(format!("has a \"{key}\" whose \"name\" is not a string")),
                None => Err(format!("has a \"{key}\" without \"name\"")),
            },
            Some(_) => Err(format!(
                "has a \"{key}\" that is neither a name nor an object with \"name\" and options"
            )),
        }
    }
}

impl From<&str> for Selection {
    fn from(name: &str) -> Self {
        Self::new(name, Value::Null)
    }
}

impl From<String> for Selection {
    fn from(name: String) -> Self {
        Self::new(name, Value::Null)
    }
}

//! Plugins by name: a value that a host fills, not a global.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::catalog::CatalogFormat;
use crate::checkpoint::Checkpointer;
use crate::codec::DiscoveryCodec;
use crate::error::{Error, ErrorKind};
use crate::group::ToolLoader;
use crate::nearest::nearest;
use crate::provider::Provider;
use crate::search::SearchIndex;
use crate::strategy::Strategy;
use crate::text::one_line;

/// What a plugin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum PluginKind {
    /// A strategy.
    Strategy,
    /// A catalog format.
    CatalogFormat,
    /// A discovery codec.
    DiscoveryCodec,
    /// A search index.
    SearchIndex,
    /// A loader, named after its transport.
    Loader,
    /// A checkpointer, named after its URL scheme.
    Checkpointer,
    /// A provider.
    Provider,
}

impl PluginKind {
    /// The kind in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Strategy => "strategy",
            Self::CatalogFormat => "catalog format",
            Self::DiscoveryCodec => "discovery codec",
            Self::SearchIndex => "search index",
            Self::Loader => "loader",
            Self::Checkpointer => "checkpointer",
            Self::Provider => "provider",
        }
    }
}

impl fmt::Display for PluginKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a plugin of one kind is built from its options.
pub type Build<T> = fn(&Value) -> Result<Arc<T>, Error>;

/// How a plugin is built.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Builder {
    /// A strategy.
    Strategy(Build<dyn Strategy>),
    /// A catalog format.
    CatalogFormat(Build<dyn CatalogFormat>),
    /// A discovery codec.
    DiscoveryCodec(Build<dyn DiscoveryCodec>),
    /// A search index.
    SearchIndex(Build<dyn SearchIndex>),
    /// A loader; the options are those of one server.
    Loader(Build<dyn ToolLoader>),
    /// A checkpointer.
    Checkpointer(Build<dyn Checkpointer>),
    /// A provider.
    Provider(Build<dyn Provider>),
}

impl Builder {
    fn kind(self) -> PluginKind {
        match self {
            Self::Strategy(_) => PluginKind::Strategy,
            Self::CatalogFormat(_) => PluginKind::CatalogFormat,
            Self::DiscoveryCodec(_) => PluginKind::DiscoveryCodec,
            Self::SearchIndex(_) => PluginKind::SearchIndex,
            Self::Loader(_) => PluginKind::Loader,
            Self::Checkpointer(_) => PluginKind::Checkpointer,
            Self::Provider(_) => PluginKind::Provider,
        }
    }
}

/// A plugin: what it is called, who provides it, and how it is built.
///
/// A plugin crate exports one as a `const PLUGIN` and submits it with
/// [`submit!`](crate::submit), so that [`Registry::linked`] finds it.
///
/// # Behavior
///
/// Each sentence is a clause of the kit for plugins in `toolshelf-testkit`.
///
/// * Name, provider and what it says of itself are a line each.
/// * What is built has the name of the plugin, where it has one.
/// * `null` and `{}` both mean all defaults, where there are no options that it needs.
/// * An option that it does not have, and one of another type, is
///   [`ErrorKind::InvalidConfig`] naming the plugin and the option, as [`read_options`] does.
/// * The schema is that of an object without other keys, and says what each option is for.
#[derive(Clone, Copy)]
pub struct Plugin {
    /// The name under which it is chosen.
    pub name: &'static str,
    /// The crate that provides it.
    pub provider: &'static str,
    /// One line on what it does.
    pub about: &'static str,
    /// How it is built.
    pub build: Builder,
    /// The JSON Schema of its options.
    pub options: fn() -> Value,
}

impl Plugin {
    /// Its kind.
    pub fn kind(&self) -> PluginKind {
        self.build.kind()
    }
}

impl fmt::Debug for Plugin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} '{}' of {}", self.kind(), self.name, self.provider)
    }
}

inventory::collect!(Plugin);

/// The options of a plugin that has none.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

/// Reads the options of a plugin: an object, or `null`, which means all defaults.
///
/// # Errors
///
/// [`ErrorKind::InvalidConfig`] naming the plugin, the place in its options, and what is
/// wrong there. Options may be secrets: no value of one is quoted, and the text for a model
/// names the plugin alone.
///
/// ```
/// use toolshelf_core::read_options;
/// # #[derive(Debug, serde::Deserialize)]
/// # struct Options { rows: Vec<u8> }
/// let error = read_options::<Options>("grid", &serde_json::json!({"rows": [1, "two"]}));
/// assert_eq!(
///     error.unwrap_err().to_string(),
///     "the options of 'grid' are not valid: rows[1]: invalid type: string, expected u8"
/// );
/// ```
pub fn read_options<T: DeserializeOwned>(plugin: &str, options: &Value) -> Result<T, Error> {
    let invalid = |fault: &dyn fmt::Display| {
        Error::new(
            ErrorKind::InvalidConfig,
            format!("the options of '{plugin}' are not valid: {fault}"),
        )
        .for_model_text(format!("the options of '{plugin}' are not valid"))
    };
    let options = match options {
        Value::Null => Value::Object(serde_json::Map::new()),
        Value::Object(_) => options.clone(),
        // An array would be taken for the values of the options in the order of their fields.
        Value::Array(_) => return Err(invalid(&"an array, where an object is expected")),
        _ => return Err(invalid(&"a single value, where an object is expected")),
    };
    serde_path_to_error::deserialize(options).map_err(|fault| {
        let place = fault.path().to_string();
        // Of the options as a whole the path says nothing.
        let place = if place == "." {
            String::new()
        } else {
            format!("{place}: ")
        };
        let fault = fault.into_inner().to_string();
        invalid(&format!("{place}{}", without_value(&fault)))
    })
}

/// A message of serde without the value that it quotes: `invalid type: string "…", expected u8`
/// and its kin begin with what was found, and end with what was expected.
fn without_value(fault: &str) -> String {
    const QUOTING: [&str; 3] = ["invalid type: ", "invalid value: ", "unknown variant "];
    let cut = || {
        let start = QUOTING.iter().find(|start| fault.starts_with(**start))?;
        let value = start.len() + fault[start.len()..].find(['"', '`'])?;
        // The last one: what stands before it may be part of the value.
        let expected = fault.rfind(", expected ")?;
        (value < expected).then(|| {
            let found = fault[..value].trim_end();
            format!("{found}{}", &fault[expected..])
        })
    };
    cut().unwrap_or_else(|| fault.to_owned())
}

/// The JSON Schema of a type of options.
pub fn options_schema<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}

/// Plugins that belong to Toolshelf but may be left out of a build, so that asking for
/// one says so: kind, name, crate. A host in `tests/hosts` asserts that none is missing.
const KNOWN: &[(PluginKind, &str, &str)] = &[
    (PluginKind::Strategy, "dispatch", "toolshelf-strategies"),
    (PluginKind::Strategy, "inject", "toolshelf-strategies"),
    (PluginKind::Strategy, "standard", "toolshelf-strategies"),
    (PluginKind::Strategy, "tst", "toolshelf-strategies"),
    (PluginKind::Strategy, "tst-auto", "toolshelf-strategies"),
    (PluginKind::CatalogFormat, "dispatch/1", "toolshelf-catalog"),
    (PluginKind::CatalogFormat, "inject/1", "toolshelf-catalog"),
    (PluginKind::CatalogFormat, "gateway/1", "toolshelf-catalog"),
    (PluginKind::DiscoveryCodec, "found/1", "toolshelf-discovery"),
    (
        PluginKind::DiscoveryCodec,
        "tool-reference/1",
        "toolshelf-discovery",
    ),
    (
        PluginKind::DiscoveryCodec,
        "functions/1",
        "toolshelf-discovery",
    ),
    (PluginKind::DiscoveryCodec, "load/1", "toolshelf-discovery"),
    (PluginKind::SearchIndex, "lexical/1", "toolshelf-search"),
    (PluginKind::Loader, "stdio", "toolshelf-mcp"),
];

/// The plugins of a host, by kind and name.
///
/// ```
/// use toolshelf_core::{PluginKind, Registry};
/// let registry = Registry::new();
/// let error = registry.strategy("dispatch", &serde_json::Value::Null).err().unwrap();
/// assert!(error.to_string().contains("toolshelf-strategies"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Registry {
    plugins: BTreeMap<(PluginKind, &'static str), Plugin>,
}

impl Registry {
    /// No plugins.
    pub fn new() -> Self {
        Self::default()
    }

    /// The plugins of all crates that are linked into this program and submitted one.
    ///
    /// A crate that the program never names is not linked, and a static library may
    /// lose its submissions; such hosts register by hand.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`] when two crates provide the same name, naming both.
    pub fn linked() -> Result<Self, Error> {
        let mut registry = Self::new();
        let mut plugins: Vec<&Plugin> = inventory::iter::<Plugin>.into_iter().collect();
        plugins.sort_by_key(|plugin| (plugin.kind(), plugin.name, plugin.provider));
        for plugin in plugins {
            registry.register(*plugin)?;
        }
        Ok(registry)
    }

    /// The plugins that belong to Toolshelf, whether they are part of this build or not: kind,
    /// name, and the crate that provides it.
    ///
    /// ```
    /// use toolshelf_core::{PluginKind, Registry};
    /// let loader = (PluginKind::Loader, "stdio", "toolshelf-mcp");
    /// assert!(Registry::known().any(|plugin| plugin == loader));
    /// ```
    pub fn known() -> impl Iterator<Item = (PluginKind, &'static str, &'static str)> {
        KNOWN.iter().copied()
    }

    /// Adds a plugin.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`] when the name is taken, naming both providers.
    pub fn register(&mut self, plugin: Plugin) -> Result<(), Error> {
        if let Some(other) = self.plugins.get(&(plugin.kind(), plugin.name)) {
            return Err(Error::new(
                ErrorKind::InvalidConfig,
                format!(
                    "the {} '{}' is provided by both {} and {}; use `replace` where that is meant",
                    plugin.kind(),
                    plugin.name,
                    other.provider,
                    plugin.provider
                ),
            ));
        }
        self.replace(plugin);
        Ok(())
    }

    /// Adds a plugin in place of one of the same name, and returns that one.
    pub fn replace(&mut self, plugin: Plugin) -> Option<Plugin> {
        self.plugins.insert((plugin.kind(), plugin.name), plugin)
    }

    /// All plugins, sorted by kind and name.
    pub fn plugins(&self) -> impl Iterator<Item = &Plugin> {
        self.plugins.values()
    }

    /// The names of one kind, sorted.
    pub fn names(&self, kind: PluginKind) -> Vec<&'static str> {
        self.plugins
            .keys()
            .filter(|(of, _)| *of == kind)
            .map(|(_, name)| *name)
            .collect()
    }

    /// Finds a plugin.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::NotFound`]: the message lists what there is, and says when the name
    /// belongs to a crate that is not part of this build.
    pub fn find(&self, kind: PluginKind, name: &str) -> Result<&Plugin, Error> {
        let found = self
            .plugins
            .values()
            .find(|plugin| plugin.kind() == kind && plugin.name == name);
        if let Some(plugin) = found {
            return Ok(plugin);
        }
        let names = self.names(kind);
        let known = KNOWN
            .iter()
            .find(|(of, known, _)| *of == kind && *known == name);
        let mut message = if let Some((_, _, provider)) = known {
            format!(
                "the {kind} '{name}' is not part of this build: it belongs to the crate \
                 {provider}, which is not linked, or whose feature is off"
            )
        } else {
            let near = nearest(name, names.iter().copied(), 1);
            let near = near
                .first()
                .map(|near| format!(" (did you mean '{near}'?)"));
            format!("there is no {kind} '{name}'{}", near.unwrap_or_default())
        };
        if names.is_empty() {
            message.push_str("; no plugin of this kind is part of this build");
        } else {
            message.push_str(&format!("; there are: {}", names.join(", ")));
        }
        let told = format!("this build has no {kind} of that name");
        Err(Error::new(ErrorKind::NotFound, message).for_model_text(told))
    }
}

/// Refuses what calls itself otherwise than its plugin: state, versions and texts would go by a
/// name that nobody can choose.
fn same_name(plugin: &Plugin, built: &str) -> Result<(), Error> {
    if plugin.name == built {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::Internal,
        format!(
            "the {} '{}' of {} builds one that calls itself '{}'; the two names have to be the same",
            plugin.kind(),
            plugin.name,
            plugin.provider,
            one_line(built, 64)
        ),
    ))
}

macro_rules! build {
    ($(#[$doc:meta])* $method:ident, $kind:ident, $trait:ident $(, $name:ident)?) => {
        impl Registry {
            $(#[$doc])*
            ///
            /// # Errors
            ///
            /// As [`Registry::find`], and [`ErrorKind::InvalidConfig`] when the options
            /// are not valid.
            $(#[doc = concat!(
                "[`ErrorKind::Internal`] when the `", stringify!($name),
                "` of what is built is not that of its plugin, naming both."
            )])?
            pub fn $method(&self, name: &str, options: &Value) -> Result<Arc<dyn $trait>, Error> {
                let plugin = self.find(PluginKind::$kind, name)?;
                let Builder::$kind(build) = plugin.build else {
                    return Err(Error::new(ErrorKind::Internal, "a plugin is filed under a wrong kind"));
                };
                let built = build(options)?;
                $(same_name(plugin, built.$name())?;)?
                Ok(built)
            }
        }
    };
}

build!(/// Builds a strategy.
    strategy, Strategy, Strategy, name);
build!(/// Builds a catalog format.
    catalog_format, CatalogFormat, CatalogFormat, name);
build!(/// Builds a discovery codec.
    discovery_codec, DiscoveryCodec, DiscoveryCodec, name);
build!(/// Builds a search index.
    search_index, SearchIndex, SearchIndex, name);
build!(/// Builds a loader from the options of one server.
    loader, Loader, ToolLoader);
build!(/// Builds a checkpointer.
    checkpointer, Checkpointer, Checkpointer);
build!(/// Builds a provider.
    provider, Provider, Provider, name);

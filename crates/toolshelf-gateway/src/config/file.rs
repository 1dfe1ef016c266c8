//! Finding and reading the file.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use jsonc_parser::ast::Value as Node;
use jsonc_parser::{CollectOptions, ParseOptions, ParseResult};
use serde_json::{Map, Value};
use toolshelf_core::{Error, ErrorKind, GroupId};

use super::entry::{self, EntryState, ServerEntry};
use super::expand::{Environment, ProcessEnvironment};
use super::selection::Selection;

/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 8 * 1024 * 1024;

/// A configuration that was read.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where it came from; `None` when it was made in memory.
    pub path: Option<PathBuf>,
    /// The servers, sorted by id. Entries that are disabled or faulty are among them.
    pub servers: Vec<ServerEntry>,
    /// `strategy`: how tools are shown.
    pub strategy: Option<Selection>,
    /// `index`: what tools are searched by.
    pub index: Option<Selection>,
    /// `catalog`: the format of catalogs.
    pub catalog: Option<Selection>,
    /// `codec`: how the answer of a search names what joins the list.
    pub codec: Option<Selection>,
    /// What is odd about the file, one line each.
    pub warnings: Vec<String>,
}

impl Config {
    /// Reads a file, with variables from the environment of this process.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidConfig`] when the file cannot be read, is not JSON, or has no
    /// `mcpServers`; the message names the file and the place in it.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let fault = |what: String| {
            Error::new(
                ErrorKind::InvalidConfig,
                format!("the configuration {} {what}", path.display()),
            )
        };
        let size = std::fs::metadata(path)
            .map_err(|cause| fault(format!("cannot be read: {cause}")))?
            .len();
        if size > MAX_FILE_BYTES {
            return Err(fault(format!(
                "has {size} bytes, more than the {MAX_FILE_BYTES} that are read"
            )));
        }
        let text = std::fs::read_to_string(path)
            .map_err(|cause| fault(format!("cannot be read: {cause}")))?;
        let mut config = Self::parse(&text, &ProcessEnvironment)
            .map_err(|error| fault(error.message().to_owned()))?;
        config.path = Some(path.to_owned());
        Ok(config)
    }

    /// Reads the text of a file: JSON, in which comments, trailing commas and a byte order
    /// mark are taken too.
    ///
    /// # Errors
    ///
    /// As [`Config::read`]; the message continues a sentence that names the file.
    pub fn parse(text: &str, environment: &dyn Environment) -> Result<Self, Error> {
        let fault = |what: String| Error::new(ErrorKind::InvalidConfig, what);
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root: Value = jsonc_parser::parse_to_serde_value(text, &dialect())
            .map_err(|cause| fault(format!("is not valid JSON: {cause}")))?;
        let Value::Object(mut root) = root else {
            return Err(fault(
                "must hold a JSON object with the key \"mcpServers\"".to_owned(),
            ));
        };
        let servers = match root.remove("mcpServers") {
            Some(Value::Object(servers)) => servers,
            Some(_) => {
                return Err(fault(
                    "has a \"mcpServers\" that is not an object".to_owned(),
                ));
            }
            None => return Err(fault(missing_servers(&root))),
        };
        let mut selection = |key| Selection::read(key, &mut root).map_err(fault);
        let mut config = Self {
            path: None,
            servers: Vec::with_capacity(servers.len()),
            strategy: selection("strategy")?,
            index: selection("index")?,
            catalog: selection("catalog")?,
            codec: selection("codec")?,
            warnings: repeated_keys(text),
        };
        for key in root.keys() {
            config.warnings.push(format!(
                "the key '{}' is not known and is ignored",
                toolshelf_core::text::one_line(key, 64)
            ));
        }
        for (name, value) in servers {
            match GroupId::new(&name) {
                Ok(id) => {
                    let entry = entry::read(id, value, environment, &mut config.warnings);
                    config.servers.push(entry);
                }
                Err(error) => config.warnings.push(format!(
                    "the server {:?} is left out: {}",
                    toolshelf_core::text::one_line(&name, 64),
                    error.message()
                )),
            }
        }
        config.servers.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(config)
    }

    /// The servers that are not disabled.
    pub fn enabled(&self) -> impl Iterator<Item = &ServerEntry> {
        self.servers
            .iter()
            .filter(|entry| !matches!(entry.state, EntryState::Disabled))
    }
}

/// JSON with comments and trailing commas, as editors and hosts write it; nothing looser,
/// so that a slip is found where it was made.
fn dialect() -> ParseOptions {
    ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    }
}

/// Keys that stand twice in one object, of which the last counts: mostly an entry that was
/// pasted below one of its name.
fn repeated_keys(text: &str) -> Vec<String> {
    let mut warnings = Vec::new();
    let parsed = jsonc_parser::parse_to_ast(text, &CollectOptions::default(), &dialect());
    if let Ok(ParseResult {
        value: Some(root), ..
    }) = parsed
    {
        note_repeated(&root, "", &mut warnings);
    }
    warnings
}

fn note_repeated(value: &Node<'_>, path: &str, warnings: &mut Vec<String>) {
    match value {
        Node::Object(object) => {
            let mut seen = BTreeSet::new();
            for property in &object.properties {
                let name = toolshelf_core::text::one_line(property.name.as_str(), 64);
                let path = if path.is_empty() {
                    name
                } else {
                    format!("{path}.{name}")
                };
                if !seen.insert(property.name.as_str()) {
                    warnings.push(format!("{path} stands twice; the last one counts"));
                }
                note_repeated(&property.value, &path, warnings);
            }
        }
        Node::Array(array) => {
            for element in &array.elements {
                note_repeated(element, path, warnings);
            }
        }
        _ => {}
    }
}

fn missing_servers(root: &Map<String, Value>) -> String {
    let others = ["servers", "context_servers", "mcp"];
    match others.iter().find(|key| root.contains_key(**key)) {
        Some(other) => format!(
            "has no \"mcpServers\"; it has \"{other}\", the form of another host. Put the \
             servers under \"mcpServers\""
        ),
        None => "has no \"mcpServers\"".to_owned(),
    }
}

/// Where the configuration is when nobody says so: `TOOLSHELF_CONFIG`, then
/// `toolshelf.json` or `.mcp.json` in the working directory, then `toolshelf.json` in
/// the user's configuration directory.
///
/// # Errors
///
/// [`ErrorKind::NotFound`] that lists where it was looked for and how to make one.
pub fn find_config() -> Result<PathBuf, Error> {
    if let Some(path) = std::env::var_os("TOOLSHELF_CONFIG").filter(|path| !path.is_empty()) {
        return Ok(PathBuf::from(path));
    }
    let mut places = vec![PathBuf::from("toolshelf.json"), PathBuf::from(".mcp.json")];
    places.extend(user_config_dir().map(|dir| dir.join("toolshelf.json")));
    match places.iter().find(|path| path.is_file()) {
        Some(found) => Ok(found.clone()),
        None => {
            let places: Vec<String> = places
                .iter()
                .map(|place| place.display().to_string())
                .collect();
            Err(Error::new(
                ErrorKind::NotFound,
                format!(
                    "there is no configuration: TOOLSHELF_CONFIG is not set, and none of these \
                     exists: {}. Write one such as \
                     {{\"mcpServers\": {{\"time\": {{\"command\": \"mcp-server-time\"}}}}}} or \
                     name a file with --config",
                    places.join(", ")
                ),
            ))
        }
    }
}

/// The user's configuration directory for Toolshelf: `XDG_CONFIG_HOME/toolshelf` where
/// that is set, else the place that the operating system has for it.
pub fn user_config_dir() -> Option<PathBuf> {
    let set = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let base = if let Some(dir) = set("XDG_CONFIG_HOME") {
        dir
    } else if cfg!(windows) {
        set("APPDATA")?
    } else if cfg!(target_os = "macos") {
        set("HOME")?.join("Library/Application Support")
    } else {
        set("HOME")?.join(".config")
    };
    Some(base.join("toolshelf"))
}

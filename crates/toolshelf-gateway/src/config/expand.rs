//! `${VAR}` and `${VAR:-default}` in texts of the configuration.

use std::collections::BTreeMap;

use serde_json::Value;
use toolshelf_core::text::one_line;

/// Where variables come from.
pub trait Environment {
    /// The value of a variable; `None` when it is not set.
    fn get(&self, name: &str) -> Option<String>;
}

/// The environment of this process.
#[derive(Debug, Clone, Copy, Default)]
pub struct ProcessEnvironment;

impl Environment for ProcessEnvironment {
    fn get(&self, name: &str) -> Option<String> {
        std::env::var(name).ok()
    }
}

impl Environment for BTreeMap<String, String> {
    fn get(&self, name: &str) -> Option<String> {
        BTreeMap::get(self, name).cloned()
    }
}

/// Replaces every `${VAR}` by the variable's value, and every `${VAR:-default}` by the
/// value or, where it is unset or empty, by the default. A `$` without a brace stays.
///
/// Values are put in as they are: what they hold is not expanded again.
///
/// # Errors
///
/// A sentence that names the variable that is not set, or the expression that does not
/// end. It never holds a value.
///
/// ```
/// use std::collections::BTreeMap;
/// use toolshelf_gateway::config::expand;
/// let env = BTreeMap::from([("TOKEN".to_owned(), "t0p".to_owned())]);
/// assert_eq!(expand("Bearer ${TOKEN}", &env).unwrap(), "Bearer t0p");
/// assert_eq!(expand("${PORT:-8080}", &env).unwrap(), "8080");
/// assert_eq!(expand("${PORT}", &env).unwrap_err(), "the variable PORT is not set");
/// ```
pub fn expand(text: &str, environment: &dyn Environment) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        out.push_str(&rest[..at]);
        let expression = &rest[at + 2..];
        let Some(end) = expression.find('}') else {
            return Err("a '${' is not closed by '}'".to_owned());
        };
        let (name, default) = match expression[..end].split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (&expression[..end], None),
        };
        if !is_name(name) {
            // What stands between the braces may be part of a secret.
            return Err("a '${…}' is not of the form ${NAME} or ${NAME:-default}".to_owned());
        }
        let value = environment.get(name);
        match (value, default) {
            (Some(value), None) => out.push_str(&value),
            (Some(value), Some(_)) if !value.is_empty() => out.push_str(&value),
            (_, Some(default)) => out.push_str(default),
            (None, None) => return Err(format!("the variable {name} is not set")),
        }
        rest = &expression[end + 1..];
    }
    out.push_str(rest);
    Ok(out)
}

/// As [`expand`]; the error names the place of the text.
pub(super) fn expand_at(
    at: &str,
    text: &str,
    environment: &dyn Environment,
) -> Result<String, String> {
    expand(text, environment).map_err(|fault| format!("in '{at}' {fault}"))
}

/// Expands the strings of a value at any depth; `at` is its own place.
pub(super) fn expand_strings(
    at: &str,
    value: Value,
    environment: &dyn Environment,
) -> Result<Value, String> {
    let within = |at: String, value| expand_strings(&at, value, environment);
    Ok(match value {
        Value::String(text) => Value::String(expand_at(at, &text, environment)?),
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            let items = items.map(|(n, item)| within(format!("{at}[{n}]"), item));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(members) => {
            let dot = if at.is_empty() { "" } else { "." };
            let members = members.into_iter().map(|(name, member)| {
                let place = format!("{at}{dot}{}", one_line(&name, 64));
                Ok((name, within(place, member)?))
            });
            Value::Object(members.collect::<Result<_, String>>()?)
        }
        other => other,
    })
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

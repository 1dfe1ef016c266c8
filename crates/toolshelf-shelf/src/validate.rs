//! Arguments against a tool's input schema.
//!
//! JSON Schema by the `jsonschema` crate: the dialect that `$schema` names, else
//! 2020-12 (the default of MCP 2026-07-28). References are followed inside the schema
//! only; nothing is ever fetched.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use jsonschema::{Draft, JsonType, ValidationError, Validator};
use serde_json::Value;
use toolshelf_core::text::{bounded_text, one_line};
use toolshelf_core::{Arguments, JsonText};

use crate::cost::Cost;

/// The most faults that are told.
const MAX_FAULTS: usize = 8;

/// The most faults that are brought into order; the others are only counted.
const MAX_SORTED: usize = 256;

/// The path of the whole.
const WHOLE: &str = "(arguments)";

/// The longest path, in bytes.
const MAX_PATH_BYTES: usize = 240;

/// The longest value, pattern or name that a fault quotes, in bytes.
const MAX_QUOTE_BYTES: usize = 120;

/// The longest list of an enumeration's values, in bytes.
const MAX_OPTIONS_BYTES: usize = 400;

/// How strictly arguments are validated before a call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Validation {
    /// Invalid arguments are not sent; the model gets the faults and the schema.
    #[default]
    Strict,
    /// Invalid arguments are sent, and the host is told. For servers that publish
    /// schemas stricter than themselves.
    Warn,
    /// Arguments are sent as they are.
    Off,
}

/// One fault of a call's arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where, such as `items[0].name`; `(arguments)` for the whole.
    pub path: String,
    /// What was expected there.
    pub expected: String,
    /// What was there.
    pub got: String,
}

/// A schema that is compiled when it is first needed, and once.
#[derive(Default)]
pub(crate) struct Compiled {
    ready: OnceLock<Result<Box<(Validator, Cost)>, String>>,
    told: AtomicBool,
}

impl Compiled {
    /// Checks arguments, which are the same afterwards. An error means that the schema
    /// cannot be used, at all or for these arguments.
    pub(crate) fn check(
        &self,
        schema: &JsonText,
        arguments: &mut Arguments,
    ) -> Result<Vec<Fault>, &str> {
        let compiled = self.ready.get_or_init(|| compile(schema).map(Box::new));
        let (validator, cost) = &**compiled.as_ref().map_err(String::as_str)?;
        // The validator takes a whole value, and arguments can be large: they are lent to
        // it, not copied.
        let value = Value::Object(std::mem::take(arguments));
        // A valid call is the common one: a look first, faults only when there are any.
        let faults = if !cost.allows(&value) {
            Err("to check these arguments by it takes too long")
        } else if validator.is_valid(&value) {
            Ok(Vec::new())
        } else {
            Ok(faults(validator, &value))
        };
        if let Value::Object(lent) = value {
            *arguments = lent;
        }
        faults
    }

    /// Whether that the schema cannot be used is still to be told: once is enough.
    pub(crate) fn to_be_told(&self) -> bool {
        !self.told.swap(true, Ordering::Relaxed)
    }
}

/// Whether arguments can be validated against a schema. Where they cannot, calls of its
/// tool pass unchecked, and hosts are told so
/// ([`ShelfEvent::SchemaUnusable`](crate::ShelfEvent::SchemaUnusable)).
///
/// # Errors
///
/// What is wrong with the schema.
///
/// ```
/// use toolshelf_core::JsonText;
/// use toolshelf_shelf::check_schema;
/// assert!(check_schema(&JsonText::parse(r#"{"type":"object"}"#)?).is_ok());
/// let remote = JsonText::parse(r#"{"$ref":"https://example.com/schema.json"}"#)?;
/// assert!(check_schema(&remote).is_err(), "nothing is ever fetched");
/// # Ok::<(), toolshelf_core::Error>(())
/// ```
pub fn check_schema(schema: &JsonText) -> Result<(), String> {
    compile(schema).map(drop)
}

fn compile(schema: &JsonText) -> Result<(Validator, Cost), String> {
    let value = schema.to_value();
    let cost = Cost::of(&value)?;
    let validator = jsonschema::options()
        .with_draft(dialect(&value))
        .offline()
        .build(&value)
        .map_err(|fault| one_line(&fault.to_string(), 4 * MAX_QUOTE_BYTES))?;
    Ok((validator, cost))
}

/// The dialect by the name in `$schema`. Names of custom meta-schemas, which could only
/// be fetched, count as the default.
fn dialect(schema: &Value) -> Draft {
    let name = schema
        .get("$schema")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if name.contains("draft-04") {
        Draft::Draft4
    } else if name.contains("draft-06") {
        Draft::Draft6
    } else if name.contains("draft-07") {
        Draft::Draft7
    } else if name.contains("2019-09") {
        Draft::Draft201909
    } else {
        Draft::Draft202012
    }
}

/// A place in the arguments, in an order in which items stand as in their array.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    Item(usize),
    Member(String),
}

/// The faults, by their places: the order in which a validator finds them depends on how
/// it holds a schema.
fn faults(validator: &Validator, value: &Value) -> Vec<Fault> {
    let mut found: BTreeSet<(Vec<Place>, String, String)> = BTreeSet::new();
    let mut left_out = 0usize;
    for error in validator.iter_errors(value) {
        let described = if found.len() < MAX_SORTED {
            describe(&error, value)
        } else {
            Vec::new()
        };
        if described.is_empty() {
            left_out += 1;
        }
        found.extend(described);
    }
    left_out += found.len().saturating_sub(MAX_FAULTS);
    let shown = found.into_iter().take(MAX_FAULTS);
    let mut faults: Vec<Fault> = shown
        .map(|(place, expected, got)| Fault {
            path: path_of(&place),
            expected,
            got,
        })
        .collect();
    if left_out > 0 {
        let s = if left_out == 1 { "" } else { "s" };
        faults.push(Fault {
            path: WHOLE.to_owned(),
            expected: "what the schema asks for".to_owned(),
            got: format!("{left_out} more fault{s}"),
        });
    }
    faults
}

/// Place, expectation and value of each fault that an error stands for.
fn describe(error: &ValidationError<'_>, root: &Value) -> Vec<(Vec<Place>, String, String)> {
    let place: Vec<Place> = error
        .instance_path()
        .into_iter()
        .map(|segment| match segment {
            LocationSegment::Property(name) => Place::Member(name.into_owned()),
            LocationSegment::Index(at) => Place::Item(at),
        })
        .collect();
    let member = |name: &str| {
        let mut place = place.clone();
        place.push(Place::Member(name.to_owned()));
        place
    };
    let unexpected = |name: &str, value: &Value| {
        let expected = "no such argument".to_owned();
        (member(name), expected, quote(value))
    };
    let expected = match error.kind() {
        ValidationErrorKind::Required { property } => {
            let place = member(property.as_str().unwrap_or_default());
            let expected = "a value (it is required)".to_owned();
            return vec![(place, expected, "nothing".to_owned())];
        }
        ValidationErrorKind::AdditionalProperties { unexpected: names }
        | ValidationErrorKind::UnevaluatedProperties { unexpected: names } => {
            let value = |name: &String| error.instance().get(name).unwrap_or(&Value::Null);
            return names
                .iter()
                .map(|name| unexpected(name, value(name)))
                .collect();
        }
        // A schema that forbids all members is told as one that forbids the first of them,
        // without saying which.
        ValidationErrorKind::FalseSchema
            if error
                .schema_path()
                .as_str()
                .ends_with("/additionalProperties") =>
        {
            let object = root
                .pointer(error.instance_path().as_str())
                .and_then(Value::as_object);
            let members = object.into_iter().flatten();
            return members
                .map(|(name, value)| unexpected(name, value))
                .collect();
        }
        ValidationErrorKind::FalseSchema => "nothing".to_owned(),
        ValidationErrorKind::Type { kind } => type_name(kind),
        ValidationErrorKind::Enum { options } => format!("one of {}", options_of(options)),
        ValidationErrorKind::Constant { expected_value } => quote(expected_value),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            "one of the forms that the schema lists".to_owned()
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            "just one of the forms that the schema lists".to_owned()
        }
        ValidationErrorKind::Minimum { limit } => format!("at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("more than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("less than {limit}"),
        ValidationErrorKind::MinLength { limit } => counted("at least", *limit, "character"),
        ValidationErrorKind::MaxLength { limit } => counted("at most", *limit, "character"),
        ValidationErrorKind::MinItems { limit } => counted("at least", *limit, "item"),
        ValidationErrorKind::MaxItems { limit } => counted("at most", *limit, "item"),
        ValidationErrorKind::MinProperties { limit } => counted("at least", *limit, "member"),
        ValidationErrorKind::MaxProperties { limit } => counted("at most", *limit, "member"),
        ValidationErrorKind::UniqueItems => "items that all differ".to_owned(),
        ValidationErrorKind::Pattern { pattern } => {
            format!("a text that matches {}", one_line(pattern, MAX_QUOTE_BYTES))
        }
        ValidationErrorKind::Format { format } => {
            format!(
                "a text in the format '{}'",
                one_line(format, MAX_QUOTE_BYTES)
            )
        }
        other => format!(
            "what the schema's '{}' asks for",
            one_line(other.keyword(), MAX_QUOTE_BYTES)
        ),
    };
    vec![(place, expected, quote(error.instance()))]
}

fn counted(bound: &str, limit: u64, what: &str) -> String {
    let s = if limit == 1 { "" } else { "s" };
    format!("{bound} {limit} {what}{s}")
}

fn type_name(kind: &TypeKind) -> String {
    let article = |kind: JsonType| match kind {
        JsonType::Array => "an array",
        JsonType::Boolean => "a boolean",
        JsonType::Integer => "an integer",
        JsonType::Null => "null",
        JsonType::Number => "a number",
        JsonType::Object => "an object",
        JsonType::String => "a string",
    };
    match kind {
        TypeKind::Single(kind) => article(*kind).to_owned(),
        TypeKind::Multiple(kinds) => {
            let kinds: Vec<&str> = kinds.iter().map(article).collect();
            kinds.join(" or ")
        }
    }
}

fn path_of(place: &[Place]) -> String {
    let mut path = String::new();
    for segment in place {
        match segment {
            Place::Item(at) => path.push_str(&format!("[{at}]")),
            Place::Member(name) => {
                if !path.is_empty() {
                    path.push('.');
                }
                path.push_str(&one_line(name, MAX_QUOTE_BYTES));
            }
        }
    }
    if path.is_empty() {
        WHOLE.to_owned()
    } else {
        bounded_text(&path, MAX_PATH_BYTES)
    }
}

/// A value as JSON, in one line and cut, the members of objects by their names. What
/// would be cut is not written first.
fn quote(value: &Value) -> String {
    let mut json = String::new();
    write_start(&mut json, value);
    one_line(&json, MAX_QUOTE_BYTES)
}

/// Writes at least as much of a value as is quoted, and not much more.
fn write_start(out: &mut String, value: &Value) {
    // Blanks in a row become one, so that more may be needed than is shown.
    const ENOUGH: usize = 4 * MAX_QUOTE_BYTES;
    match value {
        _ if out.len() > ENOUGH => {}
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate().take_while(|(at, _)| *at < ENOUGH) {
                if at > 0 {
                    out.push(',');
                }
                write_start(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let members: BTreeMap<&String, &Value> = members.iter().collect();
            out.push('{');
            for (at, (name, value)) in members.into_iter().enumerate().take(ENOUGH) {
                if at > 0 {
                    out.push(',');
                }
                write_text(out, name);
                out.push(':');
                write_start(out, value);
            }
            out.push('}');
        }
        Value::String(text) => write_text(out, text),
        number_or_word => out.push_str(&number_or_word.to_string()),
    }
}

fn write_text(out: &mut String, text: &str) {
    let start: String = text.chars().take(4 * MAX_QUOTE_BYTES).collect();
    out.push_str(&Value::String(start).to_string());
}

/// The values of an enumeration, as many as fit.
fn options_of(options: &Value) -> String {
    let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
    let mut listed = String::new();
    for (at, option) in options.iter().enumerate() {
        let option = quote(option);
        if at > 0 && listed.len() + option.len() > MAX_OPTIONS_BYTES {
            listed.push_str(&format!(", … +{} more", options.len() - at));
            break;
        }
        if at > 0 {
            listed.push_str(", ");
        }
        listed.push_str(&option);
    }
    listed
}

//! Arguments against a tool's input schema.
//!
//! JSON Schema by the `jsonschema` crate: the dialect that `$schema` names, else
//! 2020-12 (the default of MCP 2026-07-28). References are followed inside the schema
//! only; nothing is ever fetched.

use std::sync::OnceLock;

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::paths::LocationSegment;
use jsonschema::{Draft, JsonType, ValidationError, Validator};
use serde_json::Value;
use toolshelf_core::text::one_line;
use toolshelf_core::{Arguments, JsonText};

/// The most faults that are told.
const MAX_FAULTS: usize = 8;

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
pub(crate) struct Compiled(OnceLock<Result<Box<Validator>, String>>);

impl Compiled {
    /// Checks arguments, which are the same afterwards. An error means that the schema
    /// itself cannot be used.
    pub(crate) fn check(
        &self,
        schema: &JsonText,
        arguments: &mut Arguments,
    ) -> Result<Vec<Fault>, &str> {
        let compiled = self.0.get_or_init(|| compile(schema).map(Box::new));
        let validator = compiled.as_ref().map_err(String::as_str)?;
        // The validator takes a whole value, and arguments can be large: they are lent to
        // it, not copied.
        let value = Value::Object(std::mem::take(arguments));
        // A valid call is the common one: a look first, faults only when there are any.
        let faults = if validator.is_valid(&value) {
            Vec::new()
        } else {
            faults(validator, &value)
        };
        if let Value::Object(lent) = value {
            *arguments = lent;
        }
        Ok(faults)
    }
}

fn compile(schema: &JsonText) -> Result<Validator, String> {
    let value = schema.to_value();
    jsonschema::options()
        .with_draft(dialect(&value))
        .offline()
        .build(&value)
        .map_err(|fault| one_line(&fault.to_string(), 4 * MAX_QUOTE_BYTES))
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

fn faults(validator: &Validator, value: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut left_out = 0usize;
    for error in validator.iter_errors(value) {
        if faults.len() == MAX_FAULTS {
            left_out += 1;
            continue;
        }
        for fault in describe(&error) {
            if faults.contains(&fault) {
                continue;
            }
            if faults.len() < MAX_FAULTS {
                faults.push(fault);
            } else {
                left_out += 1;
            }
        }
    }
    if left_out > 0 {
        let s = if left_out == 1 { "" } else { "s" };
        faults.push(Fault {
            path: "(arguments)".to_owned(),
            expected: "what the schema asks for".to_owned(),
            got: format!("{left_out} more fault{s}"),
        });
    }
    faults
}

fn describe(error: &ValidationError<'_>) -> Vec<Fault> {
    let path = path_of(error);
    let one = |expected: String| {
        vec![Fault {
            path: path.clone(),
            expected,
            got: quote(error.instance()),
        }]
    };
    let missing = |property: &str| Fault {
        path: join(&path, property),
        expected: "a value (it is required)".to_owned(),
        got: "nothing".to_owned(),
    };
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            vec![missing(property.as_str().unwrap_or_default())]
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .take(MAX_FAULTS)
            .map(|name| Fault {
                path: join(&path, name),
                expected: "no such argument".to_owned(),
                got: quote(error.instance().get(name).unwrap_or(&Value::Null)),
            })
            .collect(),
        ValidationErrorKind::Type { kind } => one(type_name(kind)),
        ValidationErrorKind::Enum { options } => one(format!("one of {}", options_of(options))),
        ValidationErrorKind::Constant { expected_value } => one(quote(expected_value)),
        ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. } => {
            one("one of the forms that the schema lists".to_owned())
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            one("just one of the forms that the schema lists".to_owned())
        }
        ValidationErrorKind::Minimum { limit } => one(format!("at least {limit}")),
        ValidationErrorKind::Maximum { limit } => one(format!("at most {limit}")),
        ValidationErrorKind::ExclusiveMinimum { limit } => one(format!("more than {limit}")),
        ValidationErrorKind::ExclusiveMaximum { limit } => one(format!("less than {limit}")),
        ValidationErrorKind::MinLength { limit } => one(format!("at least {limit} characters")),
        ValidationErrorKind::MaxLength { limit } => one(format!("at most {limit} characters")),
        ValidationErrorKind::MinItems { limit } => one(format!("at least {limit} items")),
        ValidationErrorKind::MaxItems { limit } => one(format!("at most {limit} items")),
        ValidationErrorKind::MinProperties { limit } => one(format!("at least {limit} properties")),
        ValidationErrorKind::MaxProperties { limit } => one(format!("at most {limit} properties")),
        ValidationErrorKind::UniqueItems => one("items that all differ".to_owned()),
        ValidationErrorKind::Pattern { pattern } => one(format!(
            "a text that matches {}",
            one_line(pattern, MAX_QUOTE_BYTES)
        )),
        ValidationErrorKind::Format { format } => one(format!(
            "a text in the format '{}'",
            one_line(format, MAX_QUOTE_BYTES)
        )),
        ValidationErrorKind::FalseSchema => one("nothing".to_owned()),
        other => one(format!(
            "what the schema's '{}' asks for",
            one_line(other.keyword(), MAX_QUOTE_BYTES)
        )),
    }
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

fn path_of(error: &ValidationError<'_>) -> String {
    let mut path = String::new();
    for segment in error.instance_path() {
        match segment {
            LocationSegment::Property(name) => path = join(&path, &name),
            LocationSegment::Index(at) => path.push_str(&format!("[{at}]")),
        }
    }
    if path.is_empty() {
        "(arguments)".to_owned()
    } else {
        path
    }
}

fn join(path: &str, name: &str) -> String {
    let name = one_line(name, MAX_QUOTE_BYTES);
    if path.is_empty() || path == "(arguments)" {
        name
    } else {
        format!("{path}.{name}")
    }
}

/// A value as JSON, in one line and cut. What would be cut is not written first.
fn quote(value: &Value) -> String {
    let mut start = Start(Vec::new());
    // An error says that there was more than fits.
    let whole = serde_json::to_writer(&mut start, value).is_ok();
    let mut text = String::from_utf8_lossy(&start.0).into_owned();
    if !whole {
        // Longer than the bound, so that the cut is shown.
        text.push_str("……");
    }
    one_line(&text, MAX_QUOTE_BYTES)
}

/// Takes the first bytes of what is written to it.
struct Start(Vec<u8>);

impl std::io::Write for Start {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        // Blanks in a row become one, so a little more may be needed than is shown.
        let room = (4 * MAX_QUOTE_BYTES).saturating_sub(self.0.len());
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
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

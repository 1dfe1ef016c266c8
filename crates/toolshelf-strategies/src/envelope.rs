//! The forwarding call `deferred_tool_call`, and what models make of it.
//!
//! The form is `{"tool_name": "…", "arguments": {…}}`. Models write the arguments as a
//! string, put them beside `tool_name`, or put `tool_name` among them. Where just one
//! reading is possible it is taken, and said; anything else is an error. Nothing is
//! dropped, and nothing becomes `{}` that was not empty.

use std::collections::BTreeSet;

use serde_json::Value;
use toolshelf_catalog::texts::DEFERRED_TOOL_CALL;
use toolshelf_core::{Arguments, Error, ErrorKind, JsonText, Repair, bare_name, read_arguments};

/// The key of the name.
const TOOL_NAME: &str = "tool_name";

/// The key of the arguments.
const ARGUMENTS: &str = "arguments";

/// What a model is told when there is no name.
const TOOL_NAME_MISSING: &str = "`tool_name` is missing or is not a string. The form is \
    {\"tool_name\":\"group/tool\",\"arguments\":{…}}.";

/// How many stray keys an error names.
const MAX_STRAY_KEYS: usize = 8;

/// An envelope, opened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Envelope {
    /// The name, as the model wrote it.
    pub(crate) tool_name: String,
    /// The arguments, or why they cannot be read; the error is told with the schema of
    /// the tool.
    pub(crate) arguments: Result<Arguments, String>,
    /// What was done to read them.
    pub(crate) repairs: Vec<Repair>,
}

/// Opens an envelope, and envelopes within it.
///
/// # Errors
///
/// [`ErrorKind::InvalidArguments`] when no name can be found; the text for the model
/// says what is missing.
pub(crate) fn open(value: &Value) -> Result<Envelope, Error> {
    let mut envelope = open_one(value.clone())?;
    // Models forward the forwarder too; it means what it says.
    while bare_name(&envelope.tool_name) == DEFERRED_TOOL_CALL {
        let arguments = envelope.arguments.map_err(|text| invalid(&text))?;
        let mut repairs = envelope.repairs;
        envelope = open_one(Value::Object(arguments))?;
        repairs.push(Repair::NestedToolName);
        repairs.append(&mut envelope.repairs);
        envelope.repairs = repairs;
    }
    Ok(envelope)
}

fn open_one(value: Value) -> Result<Envelope, Error> {
    let (mut outer, whole_repair) = read_arguments(Some(value))?;
    let mut repairs: Vec<Repair> = whole_repair.into_iter().collect();
    let name = outer.remove(TOOL_NAME);
    let arguments = outer.remove(ARGUMENTS);
    let stray = outer;
    match name {
        Some(Value::String(tool_name)) => Ok(named(tool_name, arguments, stray, repairs)),
        Some(_) => Err(invalid(TOOL_NAME_MISSING)),
        None => {
            let (mut inner, repair) = read_arguments(arguments)?;
            match inner.remove(TOOL_NAME) {
                Some(Value::String(tool_name)) if stray.is_empty() => {
                    repairs.extend(repair);
                    repairs.push(Repair::NestedToolName);
                    Ok(nested(tool_name, inner, repairs))
                }
                _ => Err(invalid(TOOL_NAME_MISSING)),
            }
        }
    }
}

fn invalid(text: &str) -> Error {
    Error::new(ErrorKind::InvalidArguments, text).for_model_text(text)
}

fn named(
    tool_name: String,
    arguments: Option<Value>,
    stray: Arguments,
    mut repairs: Vec<Repair>,
) -> Envelope {
    let arguments = match read_arguments(arguments) {
        Err(error) => Err(error.for_model().to_owned()),
        Ok((arguments, repair)) if stray.is_empty() => {
            repairs.extend(repair);
            Ok(arguments)
        }
        Ok((arguments, _)) if arguments.is_empty() => {
            repairs.push(Repair::Flattened);
            Ok(stray)
        }
        Ok(_) => {
            // In an order that does not depend on how a map holds them.
            let keys: BTreeSet<&String> = stray.keys().collect();
            let keys: Vec<String> = keys
                .into_iter()
                .take(MAX_STRAY_KEYS)
                .map(|key| format!("'{}'", toolshelf_core::text::one_line(key, 64)))
                .collect();
            Err(format!(
                "Besides `tool_name` and `arguments` there stood {}. Put all arguments into \
                 `arguments`.",
                keys.join(", ")
            ))
        }
    };
    Envelope {
        tool_name,
        arguments,
        repairs,
    }
}

/// `tool_name` stood in the arguments: what is left there are the arguments, or an
/// object of that name if that is all there is.
fn nested(tool_name: String, mut inner: Arguments, repairs: Vec<Repair>) -> Envelope {
    let arguments = match inner.remove(ARGUMENTS) {
        Some(value) if inner.is_empty() => {
            return named(tool_name, Some(value), Arguments::new(), repairs);
        }
        Some(value) => {
            inner.insert(ARGUMENTS.to_owned(), value);
            Ok(inner)
        }
        None => Ok(inner),
    };
    Envelope {
        tool_name,
        arguments,
        repairs,
    }
}

/// Takes the tool's own name out of its arguments, where a model repeated it there and
/// the schema has no argument of that name.
pub(crate) fn strip_repeated_name(envelope: &mut Envelope, schema: &JsonText) {
    let Ok(arguments) = &mut envelope.arguments else {
        return;
    };
    let repeated = arguments
        .get(TOOL_NAME)
        .is_some_and(|name| *name == Value::String(envelope.tool_name.clone()));
    if !repeated || schema_names(schema, TOOL_NAME) {
        return;
    }
    arguments.remove(TOOL_NAME);
    envelope.repairs.push(Repair::NestedToolName);
    // What is left may be an envelope within the envelope.
    if arguments.len() == 1
        && !schema_names(schema, ARGUMENTS)
        && let Some(inner) = arguments.get(ARGUMENTS)
        && let Ok((inner, repair)) = read_arguments(Some(inner.clone()))
    {
        *arguments = inner;
        envelope.repairs.extend(repair);
    }
}

fn schema_names(schema: &JsonText, argument: &str) -> bool {
    schema
        .to_value()
        .get("properties")
        .and_then(|properties| properties.get(argument))
        .is_some()
}

//! What a schema says in words: arguments, their descriptions, their values.

use serde_json::Value;

/// What may be said with a schema, nested parts included.
pub(crate) trait SchemaTexts {
    /// The name of an argument.
    fn argument(&mut self, name: &str);
    /// What an argument is for.
    fn description(&mut self, text: &str);
    /// A value that an argument can have.
    fn value(&mut self, text: &str);
}

/// The deepest nesting that is looked into.
const MAX_DEPTH: usize = 12;

/// Tells the words of a schema. What is not a schema says nothing.
pub(crate) fn tell(schema: &str, texts: &mut impl SchemaTexts) {
    if let Ok(Value::Object(root)) = serde_json::from_str(schema) {
        children(&root, 0, texts);
    }
}

type Object = serde_json::Map<String, Value>;

fn children(schema: &Object, depth: usize, texts: &mut impl SchemaTexts) {
    if depth >= MAX_DEPTH {
        return;
    }
    for (key, value) in schema {
        match (key.as_str(), value) {
            ("properties" | "patternProperties", Value::Object(properties)) => {
                for (name, property) in properties {
                    texts.argument(name);
                    child(property, depth + 1, texts);
                }
            }
            ("$defs" | "definitions", Value::Object(definitions)) => {
                definitions
                    .values()
                    .for_each(|definition| child(definition, depth + 1, texts));
            }
            ("items" | "additionalProperties" | "contains" | "not" | "then" | "else", inner) => {
                child(inner, depth + 1, texts);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(inner)) => {
                inner
                    .iter()
                    .for_each(|inner| child(inner, depth + 1, texts));
            }
            ("enum", Value::Array(values)) => {
                values
                    .iter()
                    .filter_map(Value::as_str)
                    .for_each(|value| texts.value(value));
            }
            ("const", Value::String(value)) => texts.value(value),
            _ => {}
        }
    }
}

fn child(schema: &Value, depth: usize, texts: &mut impl SchemaTexts) {
    let Value::Object(schema) = schema else {
        return;
    };
    if let Some(Value::String(text)) = schema.get("description") {
        texts.description(text);
    }
    children(schema, depth, texts);
}

//! What hosts are told of a server's tool.

use serde::Deserialize;
use serde_json::value::RawValue;
use toolshelf_core::{Error, JsonText};

/// A field, and whether the text of a value is right for it.
type Field = (&'static str, fn(&str) -> bool);

/// The optional fields of a tool that hosts read.
const FIELDS: [Field; 6] = [
    ("title", is_string),
    ("description", is_string),
    ("outputSchema", is_object),
    ("annotations", is_object),
    ("icons", is_list_of_objects),
    ("_meta", is_object),
];

/// The hints among the annotations, and the title there.
const HINTS: [Field; 5] = [
    ("title", is_string),
    ("readOnlyHint", is_boolean),
    ("destructiveHint", is_boolean),
    ("idempotentHint", is_boolean),
    ("openWorldHint", is_boolean),
];

/// The descriptor of a tool as its server wrote it, byte for byte, but without optional
/// fields of a shape that the protocol does not allow. A strict host refuses the list of
/// all servers' tools for one of them.
pub(crate) fn without_odd_fields(descriptor: JsonText) -> Result<JsonText, Error> {
    let mut descriptor = without(descriptor, &FIELDS)?;
    let Some(annotations) = member(&descriptor, "annotations") else {
        return Ok(descriptor);
    };
    let cleaned = without(annotations.clone(), &HINTS)?;
    if cleaned != annotations {
        descriptor = descriptor.with_member("annotations", &cleaned)?;
    }
    Ok(descriptor)
}

fn without(mut object: JsonText, fields: &[Field]) -> Result<JsonText, Error> {
    for (field, is_right) in fields {
        let odd = member(&object, field).is_some_and(|value| !is_right(value.as_str()));
        if odd {
            object = object.without_member(field)?;
        }
    }
    Ok(object)
}

/// A member of an object. Looks at the text first: most tools have few of the fields.
fn member(object: &JsonText, name: &str) -> Option<JsonText> {
    if !object.as_str().contains(name) {
        return None;
    }
    let members: std::collections::BTreeMap<String, &RawValue> = object.read().ok()?;
    JsonText::from_raw(members.get(name)?).ok()
}

// The text of a JSON value begins with what it is.

fn is_string(value: &str) -> bool {
    value.starts_with('"')
}

fn is_object(value: &str) -> bool {
    value.starts_with('{')
}

fn is_boolean(value: &str) -> bool {
    matches!(value, "true" | "false")
}

fn is_list_of_objects(value: &str) -> bool {
    #[derive(Deserialize)]
    struct Item {}
    serde_json::from_str::<Vec<Item>>(value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(descriptor: &str) -> String {
        let descriptor = JsonText::parse(descriptor).unwrap();
        let cleaned = without_odd_fields(descriptor).unwrap();
        cleaned.as_str().to_owned()
    }

    #[test]
    fn what_is_right_stays_byte_for_byte() {
        let descriptor = r#"{"x-vendor":[1.50,{"title":4}],"name":"a","title":"A","description":"D","inputSchema":{"title":3,"b":1,"a":2},"outputSchema":{},"annotations":{"vendor":"x","readOnlyHint":false,"title":"T"},"icons":[{"src":"i"}],"_meta":{"z":1,"a":2},"execution":{"taskSupport":"forbidden"}}"#;
        assert_eq!(cleaned(descriptor), descriptor);
        assert_eq!(cleaned(r#"{"name":"a"}"#), r#"{"name":"a"}"#);
    }

    #[test]
    fn what_a_strict_host_would_refuse_goes_and_nothing_else() {
        assert_eq!(
            cleaned(
                r#"{"title":5,"name":"a","description":["D"],"outputSchema":"x","annotations":[],"icons":["i"],"_meta":null,"x":1}"#
            ),
            r#"{"name":"a","x":1}"#
        );
        assert_eq!(
            cleaned(
                r#"{"name":"a","annotations":{"vendor":1,"readOnlyHint":"yes","destructiveHint":true,"title":4},"icons":{}}"#
            ),
            r#"{"name":"a","annotations":{"vendor":1,"destructiveHint":true}}"#
        );
    }
}

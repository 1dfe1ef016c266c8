//! Reading arguments. A fault is a sentence for the model, since a sample may be called
//! without anybody validating arguments before.

use serde_json::{Map, Value};

/// The arguments of a call, or an object within them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Input<'a> {
    fn get(self, key: &str) -> Option<&'a Value> {
        self.0.get(key).filter(|value| !value.is_null())
    }

    /// Whether the key is there, be it with null.
    pub(crate) fn has(self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// A text that must be there.
    pub(crate) fn text(self, key: &str) -> Result<&'a str, String> {
        self.maybe_text(key)
            .ok_or_else(|| format!("`{key}` is missing or is not a string"))
    }

    /// A text, or nothing.
    pub(crate) fn maybe_text(self, key: &str) -> Option<&'a str> {
        self.get(key).and_then(Value::as_str)
    }

    /// A text, or its default.
    pub(crate) fn text_or(self, key: &str, default: &'a str) -> &'a str {
        self.maybe_text(key).unwrap_or(default)
    }

    /// A whole number that must be there.
    pub(crate) fn int(self, key: &str) -> Result<i64, String> {
        self.get(key)
            .and_then(Value::as_i64)
            .ok_or_else(|| format!("`{key}` is missing or is not a whole number"))
    }

    /// A whole number, or its default.
    pub(crate) fn int_or(self, key: &str, default: i64) -> i64 {
        self.get(key).and_then(Value::as_i64).unwrap_or(default)
    }

    /// A number of things, or its default; never negative.
    pub(crate) fn count_or(self, key: &str, default: usize) -> usize {
        self.get(key)
            .and_then(Value::as_u64)
            .and_then(|count| usize::try_from(count).ok())
            .unwrap_or(default)
    }

    /// A number, or its default.
    pub(crate) fn number_or(self, key: &str, default: f64) -> f64 {
        self.get(key).and_then(Value::as_f64).unwrap_or(default)
    }

    /// A flag, or its default.
    pub(crate) fn flag_or(self, key: &str, default: bool) -> bool {
        self.get(key).and_then(Value::as_bool).unwrap_or(default)
    }

    /// A list of texts; empty when it is not there.
    pub(crate) fn texts(self, key: &str) -> Vec<&'a str> {
        self.items(key).iter().filter_map(Value::as_str).collect()
    }

    /// A list of objects; empty when it is not there.
    pub(crate) fn objects(self, key: &str) -> Vec<Input<'a>> {
        self.items(key)
            .iter()
            .filter_map(Value::as_object)
            .map(Input)
            .collect()
    }

    fn items(self, key: &str) -> &'a [Value] {
        self.get(key)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// An object that must be there.
    pub(crate) fn object(self, key: &str) -> Result<Input<'a>, String> {
        self.maybe_object(key)
            .ok_or_else(|| format!("`{key}` is missing or is not an object"))
    }

    /// An object, or nothing.
    pub(crate) fn maybe_object(self, key: &str) -> Option<Input<'a>> {
        self.get(key).and_then(Value::as_object).map(Input)
    }
}

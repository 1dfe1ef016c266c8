//! A cheap look at a message, to see that it is still the one that was read.

use std::hash::{DefaultHasher, Hasher};

use serde_json::Value;

/// How many values of a message are looked at.
const VALUES: usize = 64;

/// How many bytes at each end of a text are looked at, besides its length.
const ENDS: usize = 32;

#[derive(Default)]
pub(super) struct Sample(DefaultHasher);

impl Sample {
    pub(super) fn number(&mut self, number: u64) {
        self.0.write_u64(number);
    }

    pub(super) fn text(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.number(bytes.len() as u64);
        self.0.write(&bytes[..bytes.len().min(ENDS)]);
        self.0.write(&bytes[bytes.len().saturating_sub(ENDS)..]);
    }

    pub(super) fn finish(&self) -> u64 {
        self.0.finish()
    }

    fn value(&mut self, value: &Value, left: &mut usize) {
        if *left == 0 {
            return;
        }
        *left -= 1;
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => {
                self.number(items.len() as u64);
                for item in items.iter().take(VALUES) {
                    self.value(item, left);
                }
            }
            Value::Object(fields) => {
                self.number(fields.len() as u64);
                for (key, field) in fields.iter().take(VALUES) {
                    self.text(key);
                    self.value(field, left);
                }
            }
            Value::Number(number) => self.number(number.as_u64().unwrap_or(1)),
            Value::Bool(is) => self.number(2 + u64::from(*is)),
            Value::Null => self.number(0),
        }
    }
}

/// The sample of a message that is JSON.
pub(super) fn of_json(message: &Value) -> u64 {
    let mut sample = Sample::default();
    sample.value(message, &mut { VALUES });
    sample.finish()
}

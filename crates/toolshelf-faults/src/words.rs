//! The words of a command line.

use std::collections::BTreeMap;

/// Every word that there is.
const KNOWN: [&str; 17] = [
    "banner", "changes", "chatter", "child", "connect", "crash-on", "exit", "flood", "gate",
    "list", "log", "modern", "pages", "probe", "start", "state", "stays",
];

/// Words and their values.
pub(crate) struct Words(BTreeMap<String, String>);

impl Words {
    /// Reads `WORD` and `WORD=VALUE`.
    pub(crate) fn read(words: impl IntoIterator<Item = String>) -> Result<Self, String> {
        let mut read = BTreeMap::new();
        for word in words {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) => (name.to_owned(), value.to_owned()),
                None => (word, String::new()),
            };
            if !KNOWN.contains(&name.as_str()) {
                return Err(format!(
                    "there is no fault '{name}'; there are: {}",
                    KNOWN.join(", ")
                ));
            }
            read.insert(name, value);
        }
        Ok(Self(read))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(|value| value.parse().ok())
    }
}

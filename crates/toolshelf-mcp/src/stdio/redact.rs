//! Values of a configuration in what a server writes: many programs quote the key that
//! they were given when they refuse it, and an error goes into logs and into reports of
//! bugs.

use super::config::StdioConfig;

/// Shorter values are words rather than secrets, and occur by chance.
const MIN_BYTES: usize = 6;

/// Parts of names of arguments whose values nobody else should read.
const SECRET_NAMES: &[&str] = &[
    "token",
    "secret",
    "password",
    "passwd",
    "key",
    "auth",
    "credential",
];

/// Replaces the values of a server's variables, and of arguments that are named as
/// secrets, by their names.
#[derive(Debug, Default)]
pub(crate) struct Redactor {
    /// Value and name, the longest value first, so that none hides in another.
    values: Vec<(String, String)>,
}

impl Redactor {
    /// For the server of this configuration.
    pub(crate) fn of(config: &StdioConfig) -> Self {
        let env = config.env.iter();
        let mut values: Vec<(String, String)> = env
            .map(|(name, value)| (value.clone(), format!("[env.{name}]")))
            .collect();
        let mut named = false;
        for (at, argument) in config.args.iter().enumerate() {
            let (name, value) = match argument.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (argument.as_str(), None),
            };
            let is_option = name.starts_with('-');
            let value = match value {
                Some(value) if is_secret(name) => Some(value),
                None if named && !is_option => Some(name),
                _ => None,
            };
            if let Some(value) = value {
                values.push((value.to_owned(), format!("[args.{at}]")));
            }
            named = is_option && !argument.contains('=') && is_secret(name);
        }
        values.retain(|(value, _)| value.len() >= MIN_BYTES);
        values.sort_by(|(one, _), (two, _)| two.len().cmp(&one.len()).then(one.cmp(two)));
        Self { values }
    }

    /// The text without the values.
    pub(crate) fn redact(&self, text: String) -> String {
        let held = self.values.iter().filter(|(value, _)| text.contains(value));
        held.fold(text.clone(), |text, (value, name)| {
            text.replace(value, name)
        })
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    SECRET_NAMES.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_named_and_not_told() {
        let config = StdioConfig::new("id", "program")
            .args([
                "--api-key=k-123456",
                "--token",
                "t-123456",
                "--verbose",
                "harmless",
            ])
            .env("KEY", "hunter2")
            .env("LONGER", "hunter2-and-more")
            .env("LEVEL", "debug");
        let redactor = Redactor::of(&config);
        let text = "debug: harmless hunter2-and-more, hunter2, k-123456 and t-123456";
        assert_eq!(
            redactor.redact(text.to_owned()),
            "debug: harmless [env.LONGER], [env.KEY], [args.0] and [args.2]"
        );
    }
}

//! What a server sees of our environment: as little as programs need to run. Keys of
//! one service are no business of another server.

use std::ffi::{OsStr, OsString};

/// Variables that every server gets.
#[cfg(not(windows))]
const INHERITED: &[&str] = &[
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "TMPDIR", "TZ",
];
/// Variables that every server gets.
#[cfg(windows)]
const INHERITED: &[&str] = &[
    "PATH",
    "PATHEXT",
    "COMSPEC",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "HOMEDRIVE",
    "HOMEPATH",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROCESSOR_ARCHITECTURE",
    "NUMBER_OF_PROCESSORS",
    "TZ",
];

/// Families of variables that every server gets.
const INHERITED_PREFIXES: &[&str] = &["LC_", "XDG_"];

/// Of some variables, those that a server inherits.
pub(crate) fn inherited(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
    further: &[String],
) -> Vec<(OsString, OsString)> {
    variables
        .into_iter()
        .filter(|(name, value)| is_inherited(name, further) && !is_function(value))
        .collect()
}

fn is_inherited(name: &OsStr, further: &[String]) -> bool {
    let Some(name) = name.to_str() else {
        return false;
    };
    let same = |other: &str| {
        if cfg!(windows) {
            other.eq_ignore_ascii_case(name)
        } else {
            other == name
        }
    };
    INHERITED.iter().any(|other| same(other))
        || INHERITED_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
        || further.iter().any(|other| same(other))
}

/// Shells export functions as values that begin so; other programs have been tricked
/// into running them.
fn is_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_listed_passes() {
        let ours = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("HOME", "() { evil; }"),
            ("SECRET_TOKEN", "x"),
            ("PATHS", "x"),
            ("HTTPS_PROXY", "p"),
        ]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let names: Vec<OsString> = inherited(ours, &["HTTPS_PROXY".to_owned()])
            .into_iter()
            .map(|(name, _)| name)
            .collect();
        assert_eq!(names, ["PATH", "LC_ALL", "HTTPS_PROXY"]);
    }
}

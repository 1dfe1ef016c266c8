//! Running other programs so that their output is seen as it comes and a failure names the command.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Prints the command as one could type it, runs it with our own output streams, and fails if it fails.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = display(command);
    println!("$ {line}");
    let status = command
        .status()
        .with_context(|| format!("`{line}` could not be started"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Runs the command quietly and gives back what it printed; its error output is part of the error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let line = display(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{line}` could not be started"))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        bail!("`{line}` failed ({}): {}", output.status, stderr.trim());
    }
    String::from_utf8(output.stdout)
        .with_context(|| format!("`{line}` printed something that is not UTF-8"))
}

/// Finds a program in `PATH`. With the extensions of Windows tried there, because `npm` is a script on it
/// and the operating system would look for `npm.exe` only.
pub(crate) fn find(program: &str) -> Option<PathBuf> {
    let extensions: &[&str] = if cfg!(windows) {
        &["exe", "cmd", "bat"]
    } else {
        &[""]
    };
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .flat_map(|folder| {
            extensions
                .iter()
                .map(move |extension| folder.join(program).with_extension(extension))
        })
        .find(|candidate| candidate.is_file())
}

/// The command line with the environment that was set for it, quoted where a shell needs it.
pub(crate) fn display(command: &Command) -> String {
    let mut words: Vec<String> = command
        .get_envs()
        .filter_map(|(key, value)| value.map(|value| format!("{}={}", key.display(), quote(value))))
        .collect();
    // Cargo gives us its own full path. Whoever repeats the line has cargo in PATH; of other programs the path
    // may matter.
    let program = Path::new(command.get_program());
    let is_cargo = program.file_stem().is_some_and(|stem| stem == "cargo");
    words.push(if is_cargo {
        "cargo".to_owned()
    } else {
        quote(program.as_os_str())
    });
    words.extend(command.get_args().map(quote));
    words.join(" ")
}

fn quote(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.into_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_displayed_command_can_be_typed_again() {
        let mut command = Command::new("/opt/bin/cargo");
        command
            .args(["doc", "--no-deps", "it's"])
            .env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(
            display(&command),
            r"RUSTDOCFLAGS='-D warnings' cargo doc --no-deps 'it'\''s'"
        );
    }

    #[test]
    fn a_missing_program_and_a_failing_one_are_told_apart() {
        let missing = output(&mut Command::new("toolshelf-no-such-program")).unwrap_err();
        assert!(
            format!("{missing:#}").contains("could not be started"),
            "{missing:#}"
        );
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let failing = output(Command::new(cargo).arg("no-such-subcommand-here")).unwrap_err();
        assert!(format!("{failing:#}").contains("failed ("), "{failing:#}");
    }
}

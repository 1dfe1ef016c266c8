//! Which file a command is.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// What became of the search for a command.
#[derive(Debug)]
pub(crate) enum Program {
    /// This file is it.
    Found(PathBuf),
    /// This file would be it, but is not to be executed.
    NotExecutable(PathBuf),
    /// There is none.
    Missing,
}

impl Program {
    /// The file, if it can be started.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Found(path) => Some(path),
            Self::NotExecutable(_) | Self::Missing => None,
        }
    }

    /// Looks for a command as the system does: a path where it holds a separator, else a
    /// name in the folders of `path`.
    pub(crate) fn find(command: &str, path: Option<&OsStr>, cwd: Option<&Path>) -> Self {
        let mut refused = None;
        for candidate in candidates(command, path, cwd) {
            if !candidate.is_file() {
                continue;
            }
            if is_executable(&candidate) {
                return Self::Found(candidate);
            }
            refused.get_or_insert(candidate);
        }
        refused.map_or(Self::Missing, Self::NotExecutable)
    }
}

fn candidates(command: &str, path: Option<&OsStr>, cwd: Option<&Path>) -> Vec<PathBuf> {
    let bases: Vec<PathBuf> = if command.contains(std::path::is_separator) {
        // A relative path begins in the folder in which the server runs.
        let base = cwd.unwrap_or(Path::new(""));
        vec![base.join(command)]
    } else {
        let folders = path.map(std::env::split_paths).into_iter().flatten();
        folders.map(|folder| folder.join(command)).collect()
    };
    if cfg!(windows) {
        let forms = |base: PathBuf| {
            ["", ".exe", ".cmd", ".bat"].map(|ending| {
                let mut name = base.clone().into_os_string();
                name.push(ending);
                PathBuf::from(name)
            })
        };
        bases.into_iter().flat_map(forms).collect()
    } else {
        bases
    }
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(_path: &Path) -> bool {
    true
}

/// How to come by a command that is not there.
pub(crate) fn how_to_get(command: &str) -> String {
    let name = Path::new(command).file_stem().and_then(OsStr::to_str);
    if command.starts_with("~/") {
        return "write the whole path, or ${HOME} for '~', which only shells expand".to_owned();
    }
    let how = match name.unwrap_or_default() {
        "npx" | "npm" | "node" => "install Node.js, which brings it (https://nodejs.org)",
        "uvx" | "uv" => "install uv (https://docs.astral.sh/uv)",
        "docker" => "install Docker (https://docs.docker.com/get-docker)",
        "podman" => "install Podman (https://podman.io)",
        "python" | "python3" | "pip" | "pipx" => "install Python (https://www.python.org)",
        "deno" => "install Deno (https://deno.com)",
        "bun" | "bunx" => "install Bun (https://bun.sh)",
        _ if command.contains(' ') => {
            return "'command' is the program alone: put the words behind it into 'args'"
                .to_owned();
        }
        _ if command.contains(std::path::is_separator) => {
            return "correct the path in 'command', or install the program there".to_owned();
        }
        _ => "install it",
    };
    format!(
        "{how}, or write the full path of the program as 'command': hosts with a window often \
         have a shorter PATH than a shell"
    )
}

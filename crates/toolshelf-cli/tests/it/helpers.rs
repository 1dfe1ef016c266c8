//! Running the binary.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The binary, with nothing of this process's environment that it would read, and a cache
/// that is not the user's.
pub(crate) fn toolshelf() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolshelf"));
    for name in [
        "CI",
        "ENABLE_SEARCH_EXTRA_TOOLS",
        "ENABLE_TOOL_SEARCH",
        "NO_COLOR",
        "TOOLSHELF_CONFIG",
        "TOOLSHELF_CACHE_DIR",
        "TOOLSHELF_LOG",
        "TOOLSHELF_CHAIN",
        "COLUMNS",
        "XDG_CONFIG_HOME",
    ] {
        command.env_remove(name);
    }
    command.env(
        "TOOLSHELF_CACHE_DIR",
        concat!(env!("CARGO_TARGET_TMPDIR"), "/cache"),
    );
    command
}

/// What came of a run.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let ran = Self {
            code: output.status.code().expect("ended by a signal"),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }
}

impl Ran {
    #[track_caller]
    pub(crate) fn ended(self, code: i32) -> Self {
        assert_eq!(
            self.code, code,
            "stdout: {}\nstderr: {}",
            self.out, self.err
        );
        self
    }

    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|fault| panic!("{fault}: {}", self.out))
    }
}

/// Runs the binary with arguments.
pub(crate) fn run(arguments: &[&str]) -> Ran {
    toolshelf()
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
        .into()
}

/// Runs the binary with a text on its standard input.
pub(crate) fn run_with_input(arguments: &[&str], input: &str) -> Ran {
    let mut command = toolshelf();
    command.args(arguments);
    fed(command, input)
}

/// Runs a command with a text on its standard input, which it need not read to the end.
pub(crate) fn fed(mut command: Command, input: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = child.stdin.take().unwrap().write_all(input.as_bytes());
    if let Err(cause) = written {
        assert_eq!(cause.kind(), std::io::ErrorKind::BrokenPipe);
    }
    child.wait_with_output().unwrap().into()
}

/// A configuration in a folder of its own.
pub(crate) struct TestConfig {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) path: PathBuf,
}

impl TestConfig {
    pub(crate) fn new(text: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mcp.json");
        std::fs::write(&path, text).unwrap();
        Self { folder, path }
    }

    /// Of servers.
    pub(crate) fn of(servers: &serde_json::Value) -> Self {
        Self::new(&serde_json::json!({ "mcpServers": servers }).to_string())
    }

    pub(crate) fn path(&self) -> &str {
        self.path.to_str().unwrap()
    }
}

/// An entry that starts a sample server.
pub(crate) fn sample_entry(name: &str) -> serde_json::Value {
    serde_json::json!({
        "command": env!("CARGO_BIN_EXE_toolshelf"),
        "args": ["sample-server", name],
    })
}

/// The program of the server with faults.
pub(crate) fn faulty_server() -> PathBuf {
    let path = Path::new(env!("CARGO_BIN_EXE_toolshelf")).with_file_name("examples");
    let path = path.join(format!("faulty-server{}", std::env::consts::EXE_SUFFIX));
    assert!(
        path.exists(),
        "`cargo build -p toolshelf-cli --examples` makes {}",
        path.display()
    );
    path
}

/// An entry that starts a server with faults.
pub(crate) fn faulty(words: &[&str]) -> serde_json::Value {
    serde_json::json!({"command": faulty_server(), "args": words})
}

//! Where the workspace is and how to call cargo in it.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::process;

/// The workspace that this program belongs to.
pub(crate) struct Workspace {
    root: PathBuf,
}

impl Workspace {
    /// Finds the root from where cargo says that this package is, so that commands work from any folder.
    pub(crate) fn locate() -> Result<Self> {
        // The variable is right even if the folder was moved since this program was compiled.
        let package = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = package.parent().with_context(|| {
            format!(
                "{} has no parent folder that could be the workspace; run `cargo xtask` in it",
                package.display()
            )
        })?;
        Ok(Self {
            root: root.to_path_buf(),
        })
    }

    /// The folder of the root manifest.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Where real MCP servers are installed. Not below `CARGO_TARGET_DIR`: tests find this place by a path
    /// relative to their manifest, and the installation does not depend on how Rust code is compiled.
    pub(crate) fn fixtures(&self) -> PathBuf {
        self.root.join("target").join("fixtures")
    }

    /// `cargo` as the one that runs us, in the root of the workspace.
    pub(crate) fn cargo<I: IntoIterator<Item = S>, S: AsRef<std::ffi::OsStr>>(
        &self,
        arguments: I,
    ) -> Command {
        let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        command.current_dir(&self.root).args(arguments);
        // `cargo run` describes this package to us in the environment. Handed on, it makes build scripts that
        // watch those variables run again whenever someone changes between `cargo xtask` and plain `cargo`.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// `cargo metadata` with the dependency graph.
    pub(crate) fn metadata(&self) -> Result<Value> {
        let json = process::output(&mut self.cargo(["metadata", "--format-version", "1"]))?;
        serde_json::from_str(&json).context("`cargo metadata` printed something that is not JSON")
    }
}

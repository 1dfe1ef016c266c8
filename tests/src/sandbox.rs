//! Servers that other people wrote run without network and without privileges, where the
//! machine allows it: in a network namespace of their own, as nobody.

use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use toolshelf_mcp::StdioConfig;

/// Whose files nobody can read, a server cannot be started from; then it stays who it is,
/// without any capability.
const WITHOUT_PRIVILEGES: &[&str] = &[
    "--no-new-privs",
    "--bounding-set=-all",
    "--inh-caps=-all",
    "--",
];

const AS_NOBODY: &[&str] = &["--reuid=65534", "--regid=65534", "--clear-groups"];

/// A command line that runs another one without network and privileges.
#[derive(Debug)]
pub struct Sandbox {
    prefix: Vec<&'static str>,
}

impl Sandbox {
    /// The strictest one that works here for a server, looked for once. `None` is said on
    /// standard error.
    pub fn get(server: &StdioConfig) -> Option<&'static Self> {
        static SANDBOX: OnceLock<Option<Sandbox>> = OnceLock::new();
        SANDBOX
            .get_or_init(|| {
                let found = candidates().into_iter().find(|it| it.works_for(server));
                if found.is_none() {
                    eprintln!(
                        "note: this machine does not let network namespaces be made; \
                         third-party servers run with network"
                    );
                }
                found
            })
            .as_ref()
    }

    /// The server as it is started inside.
    pub fn around(&self, mut server: StdioConfig) -> StdioConfig {
        let (first, rest) = self.prefix.split_first().unwrap_or((&"env", &[]));
        let command = std::mem::replace(&mut server.command, (*first).to_owned());
        let mut args: Vec<String> = rest.iter().map(|word| (*word).to_owned()).collect();
        args.push(command);
        args.append(&mut server.args);
        server.args = args;
        // Nobody has no home, and programs that find one that they may not read give up.
        server.env("HOME", "/nonexistent")
    }

    /// Whether the server's program can be run and its first file read inside.
    fn works_for(&self, server: &StdioConfig) -> bool {
        let mut words = self.prefix.iter();
        let file = server.args.first().map(String::as_str);
        let file = file.filter(|path| Path::new(path).is_file());
        Command::new(words.next().unwrap_or(&"false"))
            .args(words)
            .args(["sh", "-c", "test -x \"$0\" && test -r \"$1\""])
            .args([server.command.as_str(), file.unwrap_or("/")])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}

fn candidates() -> Vec<Sandbox> {
    let words = |parts: &[&[&'static str]]| Sandbox {
        prefix: parts.concat(),
    };
    let network = ["unshare", "--net", "--", "setpriv"].as_slice();
    let by_user = [
        "unshare",
        "--user",
        "--map-current-user",
        "--net",
        "--",
        "setpriv",
    ]
    .as_slice();
    vec![
        words(&[network, AS_NOBODY, WITHOUT_PRIVILEGES]),
        words(&[by_user, WITHOUT_PRIVILEGES]),
        words(&[network, WITHOUT_PRIVILEGES]),
    ]
}

/// A temporary folder in which a server in a [`Sandbox`] may read and write.
///
/// # Errors
///
/// When it cannot be made.
pub fn open_folder() -> io::Result<tempfile::TempDir> {
    let folder = tempfile::tempdir()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o777))?;
    }
    Ok(folder)
}

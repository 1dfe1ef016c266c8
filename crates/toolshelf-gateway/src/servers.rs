//! Servers of a configuration as groups of a shelf.

use std::time::Duration;

use toolshelf_core::{Error, ErrorKind, LoadContext, Loaded, ToolGroup};
use toolshelf_mcp::{StdioConfig, StdioServer};

use crate::chain::CHAIN_VARIABLE;
use crate::config::{Config, EntryState, ServerEntry};

/// The servers that a configuration starts. Closing them ends their processes.
#[derive(Debug, Default)]
pub struct Servers {
    servers: Vec<StdioServer>,
}

impl Servers {
    /// The servers of a configuration and their groups, in the order of their ids. No
    /// process is started yet. `chain` is what [`refuse_recursion`] returned.
    ///
    /// A faulty entry becomes a group whose load fails and says why.
    ///
    /// [`refuse_recursion`]: crate::refuse_recursion
    pub fn of(config: &Config, chain: &str) -> (Self, Vec<ToolGroup>) {
        let mut servers = Self::default();
        let groups = config
            .enabled()
            .map(|entry| servers.group(entry, chain))
            .collect();
        (servers, groups)
    }

    fn group(&mut self, entry: &ServerEntry, chain: &str) -> ToolGroup {
        let mut group = match &entry.state {
            EntryState::Stdio {
                command,
                args,
                env,
                cwd,
                timeout,
            } => {
                let mut config = StdioConfig::new(entry.id.as_str(), command).args(args);
                config.env.clone_from(env);
                config
                    .env
                    .insert(CHAIN_VARIABLE.to_owned(), chain.to_owned());
                config.cwd.clone_from(cwd);
                config.elicitation = true;
                if let Some(timeout) = timeout {
                    config.call_timeout = *timeout;
                    config.connect_timeout = *timeout;
                    config.max_call_time = config.max_call_time.max(*timeout);
                }
                let server = StdioServer::new(config);
                self.servers.push(server.clone());
                ToolGroup::new(entry.id.clone(), server)
            }
            EntryState::Faulty(fault) => {
                let (id, fault) = (entry.id.clone(), fault.clone());
                ToolGroup::new(entry.id.clone(), move |_: LoadContext| {
                    let text = format!("the server `{id}` is configured wrongly: {fault}.");
                    let error =
                        Error::new(ErrorKind::InvalidConfig, fault.clone()).for_model_text(text);
                    async move { Err::<Loaded, Error>(error) }
                })
            }
            // Disabled entries never come here; one that does offers nothing.
            EntryState::Disabled => ToolGroup::new(entry.id.clone(), async |_: LoadContext| {
                Ok(Loaded::default())
            }),
        };
        group.title.clone_from(&entry.title);
        group.description.clone_from(&entry.description);
        group
    }

    /// The longest time that starting one of them may take.
    pub fn longest_start(&self) -> Duration {
        self.servers
            .iter()
            .map(|server| server.config().connect_timeout)
            .max()
            .unwrap_or_default()
    }

    /// Ends all of them at the same time. Returns when all are gone.
    pub async fn close(&self) {
        futures::future::join_all(self.servers.iter().map(StdioServer::close)).await;
    }
}

//! Clients without handshake that want to be told of changes.
//!
//! Such a client makes a request that stays open, `subscriptions/listen`. It is told at
//! once what it will be told, and from then on of each change, under the id of its
//! request. The request is answered only when the server ends it.

use std::collections::BTreeMap;
use std::io;
use std::sync::Mutex;

use serde::Deserialize;
use serde_json::json;

use super::session::Outbox;
use crate::message::{self, Id, RpcError};
use crate::protocol::{INVALID_PARAMS, META_SUBSCRIPTION};
use crate::sync::lock;

/// What a client wants to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// That the list of tools has changed.
    tools: bool,
}

impl Wanted {
    /// Reads the parameter `notifications`. What nobody here can tell is left out.
    pub(crate) fn read(notifications: Option<&str>) -> Result<Self, RpcError> {
        #[derive(Deserialize)]
        struct Read {
            #[serde(default, rename = "toolsListChanged")]
            tools: Option<bool>,
        }
        let wrong = |what| RpcError::new(INVALID_PARAMS, what);
        let notifications = notifications.ok_or_else(|| wrong("`notifications` is missing"))?;
        let read: Read = serde_json::from_str(notifications)
            .ok()
            .filter(|_| notifications.starts_with('{'))
            .ok_or_else(|| wrong("`notifications` is not an object of flags"))?;
        Ok(Self {
            tools: read.tools == Some(true),
        })
    }
}

/// The open requests of a session.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<BTreeMap<Id, Wanted>>);

impl Subscriptions {
    /// Begins one. Its client is told so before anything else.
    pub(crate) fn begin(&self, id: &Id, wanted: Wanted, outbox: &Outbox) -> io::Result<()> {
        let accepted = if wanted.tools {
            json!({ "toolsListChanged": true })
        } else {
            json!({})
        };
        let params = format!(r#"{{{},"notifications":{accepted}}}"#, meta(id));
        // Held while queueing: no change must get in between.
        let mut all = lock(&self.0);
        outbox.push(message::notification(
            "notifications/subscriptions/acknowledged",
            Some(&params),
        ))?;
        all.insert(id.clone(), wanted);
        Ok(())
    }

    /// Ends one; its client is told nothing under it any more.
    pub(crate) fn end(&self, id: &Id) {
        lock(&self.0).remove(id);
    }

    /// Tells all who want to know that the list of tools has changed.
    pub(crate) fn tools_changed(&self, outbox: &Outbox) {
        let all = lock(&self.0);
        for (id, _) in all.iter().filter(|(_, wanted)| wanted.tools) {
            let params = format!("{{{}}}", meta(id));
            let text = message::notification("notifications/tools/list_changed", Some(&params));
            if let Err(cause) = outbox.push(text) {
                tracing::debug!(%cause, "a client was not told that the tools changed");
            }
        }
    }
}

/// The field that says under which request something is told.
fn meta(id: &Id) -> String {
    // The id is written as it came, which a `Value` need not do.
    format!(r#""_meta":{{"{META_SUBSCRIPTION}":{id}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_flags_are_read_and_only_true_ones_count() {
        for (text, tools) in [
            (
                r#"{"toolsListChanged":true,"promptsListChanged":true}"#,
                true,
            ),
            (r#"{"toolsListChanged":false}"#, false),
            (r#"{"toolsListChanged":null,"vendor":[1]}"#, false),
            ("{}", false),
        ] {
            assert_eq!(Wanted::read(Some(text)), Ok(Wanted { tools }), "{text}");
        }
        for wrong in [
            None,
            Some("[true]"),
            Some("null"),
            Some(r#"{"toolsListChanged":1}"#),
        ] {
            assert_eq!(Wanted::read(wrong).unwrap_err().code, INVALID_PARAMS);
        }
    }
}

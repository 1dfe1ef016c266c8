//! rmcp's transport over our own lines.
//!
//! rmcp decodes into types that forget unknown fields, the order of keys and number
//! literals, and one bad tool or content block loses the whole answer. Therefore
//! results pass rmcp as raw text in a `CustomResult`, in both directions, and the
//! requests of a server as raw text in a `CustomRequest`. Progress goes straight to
//! its call: rmcp hands notifications to tasks of their own, which lose their order.

use std::future::Future;
use std::io;
use std::sync::Arc;

use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, ClientResult, CustomRequest,
    CustomResult, ErrorCode, ErrorData, GetExtensions, GetMeta, JsonRpcMessage, RequestId,
    ServerNotification, ServerRequest, ServerResult,
};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::Value;

use super::link::{InFlight, Unreadable};
use super::wire::{Incoming, Wire};
use crate::message::{self, Id, Message};

/// A transport for rmcp.
pub(crate) struct LineTransport {
    wire: Wire,
    /// Whether only the client makes requests in the agreed revision.
    modern: bool,
}

impl LineTransport {
    /// Goes on where the negotiation ended.
    pub(crate) fn new(wire: Wire, modern: bool) -> Self {
        Self { wire, modern }
    }

    /// What rmcp is told of a message; `None` when that is nothing.
    fn translate(&self, message: Message) -> Option<RxJsonRpcMessage<RoleClient>> {
        match message {
            Message::Response { id, result } => {
                let id = number(&id)?;
                self.wire.link.finish(id)?;
                let result = ServerResult::CustomResult(CustomResult(Value::String(result)));
                Some(JsonRpcMessage::response(result, RequestId::Number(id)))
            }
            Message::Error { id, error } => {
                let id = match id {
                    Some(id) => number(&id)?,
                    // A server that could not read an id leaves it out.
                    None => self.wire.link.only()?,
                };
                self.wire.link.finish(id)?;
                let data = error.data.map(Value::String);
                let code = i32::try_from(error.code).unwrap_or(ErrorCode::INTERNAL_ERROR.0);
                let error = ErrorData::new(ErrorCode(code), error.message, data);
                Some(JsonRpcMessage::error(error, Some(RequestId::Number(id))))
            }
            Message::Malformed { id, fault } => {
                self.unreadable(number(&id?)?, &Unreadable::Malformed(fault));
                None
            }
            Message::Request { id, method, params } => {
                let params = params.map(Value::String);
                let request = ServerRequest::CustomRequest(CustomRequest::new(method, params));
                Some(JsonRpcMessage::request(request, to_rmcp(id)))
            }
            Message::Notification { method, params } => {
                let params = params.unwrap_or_else(|| "{}".to_owned());
                match method.as_str() {
                    "notifications/progress" => self.wire.link.progress(&params),
                    "notifications/tools/list_changed" => self.wire.link.list_changed(),
                    "notifications/cancelled" => return self.cancelled(&params),
                    _ => tracing::trace!("a notification that nobody here reads"),
                }
                None
            }
        }
    }

    /// A server withdraws a request of its own, or ends one of ours that stays open.
    fn cancelled(&self, params: &str) -> Option<RxJsonRpcMessage<RoleClient>> {
        #[derive(Deserialize)]
        struct Read {
            #[serde(rename = "requestId")]
            request_id: RequestId,
        }
        let read: Read = serde_json::from_str(params).ok()?;
        if self.modern {
            self.wire.link.cease(number(&from_rmcp(read.request_id))?);
            return None;
        }
        let params = CancelledNotificationParam::new(Some(read.request_id), None);
        let notification =
            ServerNotification::CancelledNotification(CancelledNotification::new(params));
        Some(JsonRpcMessage::notification(notification))
    }

    /// Ends a request whose answer cannot be read: its caller is woken and withdraws
    /// it. rmcp would carry only a part of the reason.
    fn unreadable(&self, id: i64, why: &Unreadable) {
        if let Some(call) = self.wire.link.get(id) {
            // Of two unreadable answers to one request the first counts.
            let _ = call.unreadable.set(why.clone());
            call.activity.notify_one();
        }
    }
}

impl Transport<RoleClient> for LineTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        // Queued here and not in the future: rmcp runs the futures as tasks, in any
        // order, and a cancellation must not overtake its request.
        let written = self.write(item).and_then(|text| self.wire.push(text));
        async move { written?.done().await }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.wire.next().await? {
                Incoming::Message(message) => {
                    if let Some(message) = self.translate(message) {
                        return Some(message);
                    }
                }
                Incoming::TooLong { bytes, id } => {
                    // Where the ends do not tell whose answer it was, it may be that of
                    // any request, and none may wait for ever.
                    let ids = match id.as_ref().and_then(number) {
                        Some(id) => vec![id],
                        None => self.wire.link.ids(),
                    };
                    for id in ids {
                        self.unreadable(id, &Unreadable::TooLong(bytes));
                    }
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.wire.link.end();
        Ok(())
    }
}

impl LineTransport {
    fn write(&self, item: TxJsonRpcMessage<RoleClient>) -> io::Result<String> {
        match item {
            JsonRpcMessage::Request(request) => {
                if let ClientRequest::CustomRequest(custom) = &request.request
                    && let RequestId::Number(id) = &request.id
                    && let Some(call) = custom.extensions().get::<Arc<InFlight>>()
                {
                    if let Some(token) = custom.get_meta().get_progress_token() {
                        // A request is sent once, so that the token is not set yet.
                        let _ = call.token.set(from_rmcp(token.0));
                    }
                    self.wire.link.begin(*id, call.clone());
                }
                Ok(serde_json::to_string(&request)?)
            }
            JsonRpcMessage::Response(response) => match response.result {
                ClientResult::CustomResult(CustomResult(Value::String(raw))) => {
                    Ok(message::response(&from_rmcp(response.id), &raw))
                }
                _ => Ok(serde_json::to_string(&response)?),
            },
            other => Ok(serde_json::to_string(&other)?),
        }
    }
}

/// The number of an id; those of our requests are numbers, and some servers make text
/// of them.
fn number(id: &Id) -> Option<i64> {
    match id {
        Id::Number(number) => Some(*number),
        Id::Text(text) => text.parse().ok(),
        // Servers exist that write `1.0` for 1.
        Id::Other(raw) => raw.strip_suffix(".0").and_then(|whole| whole.parse().ok()),
    }
}

fn to_rmcp(id: Id) -> RequestId {
    match id {
        Id::Number(number) => RequestId::Number(number),
        // rmcp has no other numbers; the answer is written as text then.
        Id::Text(text) | Id::Other(text) => RequestId::String(text.into()),
    }
}

fn from_rmcp(id: RequestId) -> Id {
    match id {
        RequestId::Number(number) => Id::Number(number),
        RequestId::String(text) => Id::Text(text.to_string()),
    }
}

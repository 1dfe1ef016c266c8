//! What a server may ask of us: to answer a ping, and to ask the user.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rmcp::model::{
    ClientConfig, ClientResult, CustomResult, ErrorCode, ErrorData, ServerNotification,
    ServerRequest,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient, Service};
use serde_json::Value;
use toolshelf_core::JsonText;

use super::link::{InFlight, Link};

/// The longest time that a question waits for the user.
const MAX_QUESTION_TIME: Duration = Duration::from_secs(3_600);

/// How many questions of one call may wait for the user at the same time.
const MAX_QUESTIONS: usize = 16;

const DECLINED: &str = r#"{"action":"decline"}"#;
const DISMISSED: &str = r#"{"action":"cancel"}"#;

/// Answers the server's requests.
#[derive(Clone)]
pub(crate) struct Handler {
    /// The connection.
    pub(crate) link: Arc<Link>,
    /// What the server was told of us.
    pub(crate) config: ClientConfig,
    /// Whether it was told that the user can be asked, in a revision where servers
    /// send requests.
    pub(crate) elicitation: bool,
}

impl Handler {
    async fn elicit(&self, params: &str) -> String {
        let Some(call) = self.link.asked() else {
            return DECLINED.to_owned();
        };
        let (Some(elicitor), Ok(request)) = (&call.elicitor, JsonText::parse(params)) else {
            return DECLINED.to_owned();
        };
        let asking = Asking::new(&call);
        if asking.others >= MAX_QUESTIONS {
            return DECLINED.to_owned();
        }
        let answer = tokio::select! {
            answer = tokio::time::timeout(MAX_QUESTION_TIME, elicitor.elicit(request)) => answer,
            () = call.over.cancelled() => return DISMISSED.to_owned(),
            () = self.link.ended().cancelled() => return DISMISSED.to_owned(),
        };
        match answer {
            Ok(Ok(answer)) if answer.is_object() => answer.as_str().to_owned(),
            _ => DISMISSED.to_owned(),
        }
    }
}

/// Keeps a call from timing out while its user is asked.
struct Asking<'a> {
    call: &'a InFlight,
    /// How many questions waited before this one.
    others: usize,
}

impl<'a> Asking<'a> {
    fn new(call: &'a InFlight) -> Self {
        let others = call.asking.fetch_add(1, Ordering::SeqCst);
        call.activity.notify_one();
        Self { call, others }
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        self.call.asking.fetch_sub(1, Ordering::SeqCst);
        self.call.activity.notify_one();
    }
}

impl Service<RoleClient> for Handler {
    async fn handle_request(
        &self,
        request: ServerRequest,
        context: RequestContext<RoleClient>,
    ) -> Result<ClientResult, ErrorData> {
        let unknown = || {
            Err(ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                "this client does not offer that",
                None,
            ))
        };
        let ServerRequest::CustomRequest(request) = request else {
            return unknown();
        };
        let result = match request.method.as_str() {
            "ping" => "{}".to_owned(),
            "elicitation/create" if self.elicitation => {
                let params = match &request.params {
                    Some(Value::String(raw)) => raw.as_str(),
                    _ => "{}",
                };
                tokio::select! {
                    answer = self.elicit(params) => answer,
                    // Nobody reads the answer to a request that was withdrawn.
                    () = context.ct.cancelled() => DISMISSED.to_owned(),
                }
            }
            _ => return unknown(),
        };
        Ok(ClientResult::CustomResult(CustomResult(Value::String(
            result,
        ))))
    }

    async fn handle_notification(
        &self,
        _notification: ServerNotification,
        _context: NotificationContext<RoleClient>,
    ) -> Result<(), ErrorData> {
        // The transport has read those that matter.
        Ok(())
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}

//! A tool of a sample server: a descriptor, the server's records, and a function.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value;
use toolshelf_core::{
    Arguments, CallContext, ContentBlock, Error, ErrorKind, JsonText, Tool, ToolDefinition,
    ToolOutcome, ToolResult,
};

use super::input::Input;

/// What a function answers: a result, or a sentence on why there is none.
pub(crate) type Reply = Result<ToolResult, String>;

/// What a function that takes time answers.
pub(crate) type SlowReply = Pin<Box<dyn Future<Output = Reply> + Send>>;

/// What a tool does.
pub(crate) enum Run<S> {
    /// At once.
    Now(fn(&mut S, Input<'_>) -> Reply),
    /// In a while, with reports of progress, until it is cancelled.
    Slow(fn(Records<S>, Arguments, CallContext) -> SlowReply),
}

/// The records of a server, shared by its tools.
pub(crate) struct Records<S>(Arc<Mutex<S>>);

impl<S> Clone for Records<S> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<S> Records<S> {
    /// Looks at the records, or changes them.
    pub(crate) fn lock(&self) -> MutexGuard<'_, S> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct SampleTool<S> {
    definition: Arc<ToolDefinition>,
    records: Records<S>,
    run: Run<S>,
}

#[async_trait]
impl<S: Send + 'static> Tool for SampleTool<S> {
    fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    async fn call(&self, arguments: Arguments, context: CallContext) -> Result<ToolOutcome, Error> {
        if let Some(missing) = self.missing(&arguments) {
            let text = format!("the argument `{missing}` is missing");
            return Ok(ToolOutcome::Complete(ToolResult::error(text)));
        }
        let reply = match self.run {
            Run::Now(run) => run(&mut self.records.lock(), Input(&arguments)),
            Run::Slow(run) => {
                let cancellation = context.cancellation.clone();
                tokio::select! {
                    biased;
                    () = cancellation.cancelled() => {
                        return Err(Error::new(ErrorKind::Cancelled, "the caller cancelled"));
                    }
                    reply = run(self.records.clone(), arguments, context) => reply,
                }
            }
        };
        Ok(ToolOutcome::Complete(
            reply.unwrap_or_else(ToolResult::error),
        ))
    }
}

impl<S> SampleTool<S> {
    /// A required argument that is not there. Clients need not validate.
    fn missing(&self, arguments: &Arguments) -> Option<String> {
        let schema = self.definition.input_schema().to_value();
        let required = schema.get("required")?.as_array()?;
        let names = required.iter().filter_map(Value::as_str);
        names
            .filter(|name| !arguments.contains_key(*name))
            .map(str::to_owned)
            .next()
    }
}

/// Puts the tools of a server together: one for each descriptor, in order.
///
/// # Errors
///
/// `InvalidDefinition` when a descriptor cannot be read or has no function.
pub(crate) fn tools<S: Send + 'static>(
    descriptors: &str,
    records: S,
    run: fn(&str) -> Option<Run<S>>,
) -> Result<Vec<Arc<dyn Tool>>, Error> {
    let descriptors: Vec<JsonText> = serde_json::from_str(descriptors).map_err(|cause| {
        Error::new(
            ErrorKind::InvalidDefinition,
            format!("the descriptors of a sample cannot be read: {cause}"),
        )
    })?;
    let records = Records(Arc::new(Mutex::new(records)));
    descriptors
        .into_iter()
        .map(|descriptor| {
            let definition = ToolDefinition::from_descriptor(descriptor)?.definition;
            let run = run(definition.name().as_str()).ok_or_else(|| {
                Error::new(
                    ErrorKind::InvalidDefinition,
                    format!("the sample tool '{}' has no function", definition.name()),
                )
            })?;
            Ok(Arc::new(SampleTool {
                definition: Arc::new(definition),
                records: records.clone(),
                run,
            }) as Arc<dyn Tool>)
        })
        .collect()
}

/// A result of a text for the model and a value for programs.
pub(crate) fn reply(text: impl Into<String>, value: &Value) -> Reply {
    let value = JsonText::from_serialize(value).map_err(|error| error.message().to_owned())?;
    Ok(ToolResult {
        structured_content: Some(value),
        ..ToolResult::text(text)
    })
}

/// The same with a PNG image, given as base64.
pub(crate) fn reply_with_image(text: impl Into<String>, png: String, value: &Value) -> Reply {
    let mut result = reply(text, value)?;
    result.content.push(ContentBlock::Image {
        data: png,
        mime_type: "image/png".to_owned(),
        rest: serde_json::Map::new(),
    });
    Ok(result)
}

/// Lines for the model, or a sentence when there are none.
pub(crate) fn lines(lines: &[String], none: &str) -> String {
    if lines.is_empty() {
        none.to_owned()
    } else {
        lines.join("\n")
    }
}

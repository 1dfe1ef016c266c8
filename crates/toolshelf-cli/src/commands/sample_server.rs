//! `sample-server`: a sample over standard input and output.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use toolshelf_core::nearest::nearest;
use toolshelf_core::{
    Cancellation, Error, ErrorKind, JsonText, Tool, ToolOutcome, ToolResult, read_arguments,
};
use toolshelf_mcp::{
    Era, IncomingCall, McpServer, ServeOptions, ServerIdentity, Session, serve_stdio,
};

use crate::arguments::SampleServerArguments;
use crate::failure::Failure;
use crate::samples::{self, SAMPLES, Sample};
use crate::signals::Signals;

pub(crate) async fn run(arguments: &SampleServerArguments) -> Result<(), Failure> {
    let sample = samples::find(&arguments.name).ok_or_else(|| unknown(&arguments.name))?;
    let server = SampleServer::new(sample).map_err(|error| Failure::server(error.to_string()))?;
    let mut signals = Signals::new()?;
    let shutdown = Cancellation::new();
    let mut serving = std::pin::pin!(serve_stdio(
        Arc::new(server),
        ServeOptions::default(),
        shutdown.clone()
    ));
    let served = tokio::select! {
        served = &mut serving => served,
        _ = signals.next() => {
            shutdown.cancel();
            serving.await
        }
    };
    served.map_err(|error| Failure::of(&error))
}

fn unknown(name: &str) -> Failure {
    let names: Vec<&str> = SAMPLES.iter().map(|sample| sample.name).collect();
    let meant = match nearest(name, names.iter().copied(), 1).first() {
        Some(near) => format!(" Did you mean '{near}'?"),
        None => String::new(),
    };
    Failure::usage(format!(
        "there is no sample server '{name}'; there are: {}.{meant}",
        names.join(", ")
    ))
}

/// A sample as an MCP server.
struct SampleServer {
    sample: &'static Sample,
    descriptors: Vec<JsonText>,
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl SampleServer {
    fn new(sample: &'static Sample) -> Result<Self, Error> {
        let tools = sample.tools()?;
        Ok(Self {
            sample,
            descriptors: tools
                .iter()
                .map(|tool| tool.definition().descriptor().clone())
                .collect(),
            tools: tools
                .into_iter()
                .map(|tool| (tool.definition().name().to_string(), tool))
                .collect(),
        })
    }
}

#[async_trait]
impl McpServer for SampleServer {
    fn identity(&self, _era: Era) -> ServerIdentity {
        let name = format!("toolshelf-sample-{}", self.sample.name);
        let mut identity = ServerIdentity::new(name, env!("CARGO_PKG_VERSION"));
        identity.title = Some(self.sample.title.to_owned());
        identity.instructions = Some(self.sample.instructions.to_owned());
        identity
    }

    async fn list_tools(&self, _session: &Session) -> Result<Vec<JsonText>, Error> {
        Ok(self.descriptors.clone())
    }

    async fn call_tool(&self, call: IncomingCall) -> Result<ToolOutcome, Error> {
        let Some(tool) = self.tools.get(&call.name) else {
            let text = format!("There is no tool '{}'.", call.name);
            return Err(Error::new(ErrorKind::NotFound, text.clone()).for_model_text(text));
        };
        match read_arguments(call.arguments.map(|arguments| arguments.to_value())) {
            Ok((arguments, _)) => tool.call(arguments, call.context).await,
            Err(error) => Ok(ToolOutcome::Complete(ToolResult::error(error.for_model()))),
        }
    }
}

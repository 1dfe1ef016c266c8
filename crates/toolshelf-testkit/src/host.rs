//! A host with a model whose every move is written down.
//!
//! What it talks to is a [`Session`]: a session of a shelf, behind a few lines of an adapter,
//! or a [`Live`] of this crate, which needs neither shelf nor runtime. The host asks for each
//! request, refuses to let the model call what it was not offered, gives each call an id of its
//! own, and keeps the history.

use std::sync::Arc;

use serde_json::Value;
use toolshelf_core::{
    Call, CallContext, ContentBlock, Message, Resolution, Role, Surface, ToolOutcome,
};

use crate::live::{Live, offered};

/// What a call was answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered {
    /// What the model reads.
    pub content: Vec<ContentBlock>,
    /// Whether it is told of an error.
    pub is_error: bool,
}

impl Answered {
    /// An answer of text.
    pub fn text_of(text: impl Into<String>, is_error: bool) -> Self {
        let content = vec![ContentBlock::text(text)];
        Self { content, is_error }
    }

    /// Its text.
    pub fn text(&self) -> String {
        let texts = self.content.iter().filter_map(|block| block.as_text());
        texts.collect()
    }
}

/// What a host talks to.
///
/// # Behavior
///
/// * `surface` is asked once for each request, before the model's message.
/// * `calls` gets the calls of one message and answers each, in their order.
pub trait Session {
    /// The next request.
    fn surface(&mut self) -> impl Future<Output = Result<Arc<Surface>, String>>;

    /// Makes the calls of one message.
    fn calls(&mut self, calls: Vec<Call>) -> impl Future<Output = Result<Vec<Answered>, String>>;
}

/// A call of a script: a name, and arguments.
pub type Scripted<'a> = (&'a str, Value);

/// The host.
///
/// ```
/// use serde_json::json;
/// use toolshelf_core::{Answer, Call, Cx, Resolution, State, Step, Strategy, Surface};
/// use toolshelf_testkit::host::Host;
/// use toolshelf_testkit::{Live, World};
/// # struct Visible;
/// # impl Strategy for Visible {
/// #     fn name(&self) -> &str { "visible" }
/// #     fn own_tools(&self) -> Vec<String> { Vec::new() }
/// #     fn surface(&self, cx: &Cx<'_>, _: &State) -> Step<Surface> {
/// #         match cx.eager_slots(&[]) {
/// #             Ok(tools) => Step::Done(Surface { tools, ..Surface::default() }),
/// #             Err(needs) => Step::Need(needs),
/// #         }
/// #     }
/// #     fn resolve(&self, cx: &Cx<'_>, _: &State, call: &Call) -> Step<Resolution> {
/// #         let Some(key) = cx.groups.by_wire_name(&call.name).cloned() else {
/// #             return Step::Done(Resolution::NotMine);
/// #         };
/// #         Step::Done(Resolution::Execute { key, arguments: Default::default(), repairs: Vec::new() })
/// #     }
/// # }
///
/// let world = World::default().core("host", &["read_file"]).loaded("host");
/// let mut host = Host::new(Live::new(std::sync::Arc::new(Visible), world));
/// let mut say = |name| toolshelf_testkit::block_on(host.say(name, json!({})));
/// assert_eq!(say("read_file")?, "done");
/// let error = say("write_file").unwrap_err();
/// assert_eq!(error, "the model calls `write_file`, and is offered [\"read_file\"]");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug)]
pub struct Host<S> {
    /// What it talks to. A session that was resumed takes its place.
    pub session: S,
    /// The conversation: a message with the calls of a turn, and one for each answer.
    pub history: Vec<Message>,
    calls: usize,
}

impl<S: Session> Host<S> {
    /// A conversation that begins.
    pub fn new(session: S) -> Self {
        Self {
            session,
            history: Vec::new(),
            calls: 0,
        }
    }

    /// The names that the next request offers.
    ///
    /// # Errors
    ///
    /// Those of [`Session::surface`].
    pub async fn offered(&mut self) -> Result<Vec<String>, String> {
        let surface = self.session.surface().await?;
        Ok(offered(&surface).into_iter().map(str::to_owned).collect())
    }

    /// One turn: a request, and a message of the model with calls.
    ///
    /// # Errors
    ///
    /// Those of the session, and when the model is not offered what it calls.
    pub async fn turn(&mut self, calls: &[Scripted<'_>]) -> Result<Vec<Answered>, String> {
        let offered = self.offered().await?;
        self.message(&offered, calls).await
    }

    /// A message of a model that knows what it is offered.
    async fn message(
        &mut self,
        offered: &[String],
        calls: &[Scripted<'_>],
    ) -> Result<Vec<Answered>, String> {
        let strange = |(name, _): &&Scripted<'_>| !offered.iter().any(|offered| offered == name);
        match calls.iter().find(strange) {
            Some((name, _)) => Err(format!(
                "the model calls `{name}`, and is offered {offered:?}"
            )),
            None => self.made_up(calls).await,
        }
    }

    /// One turn with one call: the text of its answer.
    ///
    /// # Errors
    ///
    /// As [`Self::turn`].
    pub async fn say(&mut self, name: &str, arguments: Value) -> Result<String, String> {
        let answers = self.turn(&[(name, arguments)]).await?;
        Ok(answers.iter().map(Answered::text).collect())
    }

    /// Calls of a model that does not care for what it is offered.
    ///
    /// # Errors
    ///
    /// Those of [`Session::calls`], and when not each call is answered.
    pub async fn made_up(&mut self, calls: &[Scripted<'_>]) -> Result<Vec<Answered>, String> {
        let calls: Vec<Call> = calls
            .iter()
            .map(|(name, arguments)| self.call(name, arguments))
            .collect();
        self.history.push(Message {
            role: Role::Assistant,
            content: Vec::new(),
            calls: calls.clone(),
            answers: None,
        });
        let answers = self.session.calls(calls.clone()).await?;
        if answers.len() != calls.len() {
            let (made, come) = (calls.len(), answers.len());
            return Err(format!("{made} calls were made, and {come} answers came"));
        }
        for (call, answer) in calls.into_iter().zip(&answers) {
            self.history.push(Message {
                role: Role::Tool,
                content: answer.content.clone(),
                calls: Vec::new(),
                answers: Some(call.id),
            });
        }
        Ok(answers)
    }

    /// A whole script, a turn each: for each turn a line with what was offered, then the text
    /// of each answer.
    ///
    /// # Errors
    ///
    /// As [`Self::turn`].
    pub async fn play(&mut self, script: &[Vec<Scripted<'_>>]) -> Result<Vec<String>, String> {
        let mut lines = Vec::new();
        for turn in script {
            let offered = self.offered().await?;
            lines.push(format!("offered: {}", offered.join(" ")));
            let answers = self.message(&offered, turn).await?;
            lines.extend(answers.iter().map(Answered::text));
        }
        Ok(lines)
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Call {
        self.calls += 1;
        Call {
            id: format!("call_{}", self.calls),
            name: name.to_owned(),
            arguments: arguments.clone(),
        }
    }
}

/// A session without a shelf: what is executed is called at once, without validation.
impl Session for Live {
    async fn surface(&mut self) -> Result<Arc<Surface>, String> {
        Live::surface(self).map(Arc::new)
    }

    async fn calls(&mut self, calls: Vec<Call>) -> Result<Vec<Answered>, String> {
        let mut answers = Vec::new();
        for call in calls {
            let answer = match self.call(&call)? {
                Resolution::Answer(answer) => Answered {
                    content: answer.content,
                    is_error: answer.is_error,
                },
                Resolution::Execute { key, arguments, .. } => {
                    let entry = self.world.groups.get(key.group.as_str());
                    let loaded = entry.and_then(|entry| entry.condition.ready());
                    let tool = loaded.and_then(|loaded| loaded.get(key.tool.as_str()));
                    let tool = tool.ok_or_else(|| format!("`{key}` runs, and is not loaded"))?;
                    match tool.tool.call(arguments, CallContext::new()).await {
                        Ok(ToolOutcome::Complete(result)) => Answered {
                            content: result.content,
                            is_error: result.is_error,
                        },
                        Ok(other) => return Err(format!("`{key}` ends with {other:?}")),
                        Err(error) => Answered::text_of(error.for_model(), true),
                    }
                }
                _ => Answered::text_of(format!("There is no tool `{}`.", call.name), true),
            };
            answers.push(answer);
        }
        Ok(answers)
    }
}

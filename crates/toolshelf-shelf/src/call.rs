//! The one way of a call.

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use toolshelf_core::nearest::nearest;
use toolshelf_core::{
    Arguments, Availability, Call, CallContext, Condition, Cx, Delta, Error, ErrorKind, Exposure,
    Need, Repair, Resolution, Settled, State, Step, ToolDefinition, ToolKey, ToolOutcome,
    ToolResult,
};

use crate::loads::{Loads, Shelved};
use crate::observer::{LoadCause, ShelfEvent};
use crate::policy::{BeforeCall, Permission, Policy};
use crate::session::{MAX_ROUNDS, Session};
use crate::shelf::{Shelf, contract_broken};
use crate::texts;
use crate::validate::Validation;

/// Who answered a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnsweredBy {
    /// The tool that was called.
    Tool,
    /// The strategy, with a tool of its own.
    Strategy,
    /// The driver: the call did not come to its tool, or its tool failed.
    Driver,
    /// Nobody: the name is known neither to the strategy nor to the shelf. A host with
    /// tools outside of the shelf looks there.
    Nobody,
}

/// What became of a call.
#[derive(Debug)]
#[non_exhaustive]
pub struct CallReport {
    /// The call as the model made it, with its id.
    pub envelope: Call,
    /// The tool that was meant, when one was found.
    pub key: Option<ToolKey>,
    /// The arguments that were sent, or would have been.
    pub arguments: Arguments,
    /// What was done to them.
    pub repairs: Vec<Repair>,
    /// Who answered.
    pub answered_by: AnsweredBy,
    /// The answer; for the model in any case.
    pub outcome: ToolOutcome,
    /// What went wrong, for the operator.
    pub error: Option<Arc<Error>>,
    /// How long the tool took; zero when it was not called.
    pub took: Duration,
    /// Whether the strategy said that it may answer otherwise in a moment.
    pub(crate) premature: bool,
}

impl CallReport {
    /// Whether the answer is an error.
    pub fn is_error(&self) -> bool {
        matches!(&self.outcome, ToolOutcome::Complete(result) if result.is_error)
    }

    /// The text of a complete answer.
    pub fn text(&self) -> String {
        match &self.outcome {
            ToolOutcome::Complete(result) => result.joined_text(),
            _ => String::new(),
        }
    }
}

/// The policy that judges a call or a batch: frozen before any of it begins.
pub(crate) fn policy_of(shelf: &Shelf) -> Arc<dyn Policy> {
    let policy = &shelf.inner.policy;
    policy.for_batch().unwrap_or_else(|| policy.clone())
}

struct Run<'a> {
    session: &'a Session,
    policy: &'a dyn Policy,
    context: CallContext,
    report: CallReport,
    /// The tools whose names were permitted.
    permitted: BTreeSet<ToolKey>,
    /// How the loads ended that resolving needed.
    settled: Settled,
    /// The definition that the planner saw when it decided.
    seen: Option<Arc<ToolDefinition>>,
    /// How many calls of the same name came directly before.
    repeats: usize,
}

/// Makes a call. `resolved` gets the changes of the state as soon as the call is
/// resolved, exactly once.
pub(crate) async fn run(
    session: &Session,
    policy: &Arc<dyn Policy>,
    state: &State,
    call: Call,
    context: CallContext,
    repeats: usize,
    resolved: impl FnOnce(Vec<Delta>),
) -> CallReport {
    let mut run = Run {
        session,
        policy: policy.as_ref(),
        context,
        report: CallReport {
            envelope: call,
            key: None,
            arguments: Arguments::new(),
            repairs: Vec::new(),
            answered_by: AnsweredBy::Driver,
            outcome: ToolOutcome::Complete(ToolResult::default()),
            error: None,
            took: Duration::ZERO,
            premature: false,
        },
        permitted: BTreeSet::new(),
        settled: Settled::new(),
        seen: None,
        repeats,
    };
    let mut resolved = Some(resolved);
    let mut resolved = |deltas| {
        if let Some(resolved) = resolved.take() {
            resolved(deltas);
        }
    };
    // A tool whose definition turns out to be out of date is looked up again, once: what a
    // call means, and who may make it, can depend on the definition.
    for last in [false, true] {
        match run.resolve(state).await {
            Err(Stop) => resolved(Vec::new()),
            Ok(Resolution::NotMine) => {
                resolved(Vec::new());
                run.not_mine();
            }
            // What nobody waits for any more changes nothing.
            Ok(Resolution::Answer(_)) if run.context.cancellation.is_cancelled() => {
                resolved(Vec::new());
                run.not_decided(Error::new(ErrorKind::Cancelled, "the caller cancelled"));
            }
            Ok(Resolution::Answer(answer)) => {
                resolved(answer.deltas);
                run.report.premature = answer.premature;
                run.report.answered_by = AnsweredBy::Strategy;
                run.report.outcome = ToolOutcome::Complete(ToolResult {
                    content: answer.content,
                    is_error: answer.is_error,
                    ..ToolResult::default()
                });
            }
            Ok(Resolution::Execute {
                key,
                arguments,
                repairs,
            }) => {
                resolved(Vec::new());
                run.report.key = Some(key.clone());
                run.report.arguments = arguments;
                run.report.repairs = repairs;
                // The report is complete whichever way this ends.
                let _ = run.execute(&key).await;
                if run.is_out_of_date() && !last {
                    run.begin_anew();
                    continue;
                }
            }
            // The enum may grow; an unknown decision is no decision.
            Ok(_) => {
                resolved(Vec::new());
                run.not_decided(contract_broken(
                    session.strategy().as_ref(),
                    "returned a resolution that this driver does not know",
                ));
            }
        }
        break;
    }
    run.report
}

/// The call ended; the report says how.
struct Stop;

fn denial(key: &ToolKey, reason: &str) -> Error {
    Error::new(ErrorKind::Denied, format!("'{key}' was denied: {reason}"))
}

/// The definition of a tool as a planner sees it.
fn definition_of(cx: &Cx<'_>, key: &ToolKey) -> Option<Arc<ToolDefinition>> {
    match cx.availability(&key.group) {
        Availability::Ready(loaded) => Some(loaded.get(key.tool.as_str())?.definition().clone()),
        _ => None,
    }
}

impl Run<'_> {
    fn refuse(&mut self, text: String, error: Option<Arc<Error>>) -> Stop {
        self.report.answered_by = AnsweredBy::Driver;
        self.report.outcome = ToolOutcome::Complete(ToolResult::error(text));
        self.report.error = error;
        Stop
    }

    fn not_decided(&mut self, error: Error) -> Stop {
        let text = texts::not_decided(&self.report.envelope.name, &error);
        self.refuse(text, Some(Arc::new(error)))
    }

    /// A wait on the way to a tool did not end well.
    fn ended_early(&mut self, key: &ToolKey, error: Error) -> Stop {
        self.report.key = Some(key.clone());
        self.refuse(texts::call_failed(key, &error), Some(Arc::new(error)))
    }

    async fn resolve(&mut self, state: &State) -> Result<Resolution, Stop> {
        let session = self.session;
        let strategy = session.strategy().clone();
        let mut met = BTreeSet::new();
        for _ in 0..MAX_ROUNDS {
            let (step, seen) = session.with_cx(&self.settled, |cx| {
                let mut cx = *cx;
                cx.repeats = self.repeats;
                let cx = &cx;
                let step = strategy.resolve(cx, state, &self.report.envelope);
                let seen = match &step {
                    Step::Done(Resolution::Execute { key, .. }) => definition_of(cx, key),
                    _ => None,
                };
                (step, seen)
            });
            self.seen = seen;
            let needs = match step {
                Step::Done(resolution) => return Ok(resolution),
                Step::Need(needs) => needs,
            };
            if let Err(error) = session.note_needs(&mut met, &needs) {
                return Err(self.not_decided(error));
            }
            self.meet(&needs).await?;
        }
        Err(self.not_decided(contract_broken(
            strategy.as_ref(),
            "never came to a resolution",
        )))
    }

    /// Meets needs: permissions before anything is loaded or started.
    async fn meet(&mut self, needs: &[Need]) -> Result<(), Stop> {
        let mut cause = LoadCause::Explicit;
        let mut settled = std::mem::take(&mut self.settled);
        for need in needs {
            match need {
                Need::Permit(key) => {
                    cause = LoadCause::Implicit;
                    self.permit_name(key).await?;
                }
                Need::Probe(key) => {
                    cause = LoadCause::Implicit;
                    if let Permission::Deny(reason) = self.ask_name(key).await? {
                        settled.insert(key.group.clone(), Err(Arc::new(denial(key, &reason))));
                    }
                }
                _ => {}
            }
        }
        let session = self.session;
        let cancellation = self.context.cancellation.clone();
        let met = session.meet(needs, &mut settled, cause, &cancellation);
        let met = self.wait(Some(self.call_timeout()), met).await;
        self.settled = settled;
        met.and_then(|met| met)
            .map_err(|error| self.not_decided(error))
    }

    async fn permit_name(&mut self, key: &ToolKey) -> Result<(), Stop> {
        match self.ask_name(key).await? {
            Permission::Allow => Ok(()),
            Permission::Deny(reason) => {
                self.report.key = Some(key.clone());
                Err(self.denied(key, &reason))
            }
        }
    }

    /// Asks the policy about a name, once for each tool.
    async fn ask_name(&mut self, key: &ToolKey) -> Result<Permission, Stop> {
        if self.permitted.contains(key) {
            return Ok(Permission::Allow);
        }
        let asked = self.policy.permit_name(key, &self.context);
        match self.wait(None, asked).await {
            Ok(Permission::Allow) => {
                self.permitted.insert(key.clone());
                Ok(Permission::Allow)
            }
            Ok(denied) => Ok(denied),
            Err(error) => Err(self.ended_early(key, error)),
        }
    }

    fn denied(&mut self, key: &ToolKey, reason: &str) -> Stop {
        let error = denial(key, reason);
        self.refuse(texts::denied(key, reason), Some(Arc::new(error)))
    }

    fn not_mine(&mut self) {
        let name = self.report.envelope.name.clone();
        let limit = self.session.shelf().inner.limits.suggestions;
        // A tool of the strategy may be misspelt. Nobody means one by a few letters of it.
        let mut own = self.session.strategy().own_tools();
        own.retain(|own| 2 * name.len() >= own.len());
        let nearest = self.session.with_cx(&self.settled, |cx| {
            let visible = cx.groups.iter().flat_map(|(id, entry)| {
                entry
                    .names()
                    .unwrap_or_default()
                    .into_iter()
                    .filter(|tool| entry.exposure_of(tool.as_str()) != Exposure::Hidden)
                    .map(|tool| ToolKey::new(id.clone(), tool.clone()))
                    .filter(|key| cx.visible(key))
            });
            let known: Vec<(String, String)> = visible
                .map(|key| (key.tool.as_str().to_owned(), key.to_string()))
                .chain(own.iter().map(|name| (name.clone(), name.clone())))
                .collect();
            let near = nearest(&name, known.iter().map(|(bare, _)| bare.as_str()), limit);
            let mut qualified: Vec<String> = Vec::new();
            for bare in near {
                for (_, full) in known.iter().filter(|(known, _)| known == bare) {
                    if !qualified.contains(full) && qualified.len() < limit {
                        qualified.push(full.clone());
                    }
                }
            }
            qualified
        });
        let starting = self.session.with_cx(&self.settled, |cx| {
            let starting = cx.groups.iter().filter(|(_, entry)| {
                !entry.names_known() && matches!(entry.condition, Condition::Pending)
            });
            starting.map(|(id, _)| id.clone()).collect::<Vec<_>>()
        });
        let _ = self.refuse(
            texts::unknown_name(&name, &nearest, &starting),
            Some(Arc::new(Error::new(
                ErrorKind::NotFound,
                format!("there is no tool {name:?}"),
            ))),
        );
        self.report.answered_by = AnsweredBy::Nobody;
    }

    /// Whether a definition turned out not to be the current one.
    fn is_out_of_date(&self) -> bool {
        let kind = self.report.error.as_ref().map(|error| error.kind());
        kind == Some(ErrorKind::Changed)
    }

    /// Forgets what this call has come to, but for the permissions that it got.
    fn begin_anew(&mut self) {
        self.report.key = None;
        self.report.error = None;
        self.settled.clear();
    }

    /// Policy on the name, load, validation, hooks, policy on the arguments, call.
    async fn execute(&mut self, key: &ToolKey) -> Result<(), Stop> {
        let visible = self.session.with_cx(&self.settled, |cx| cx.visible(key));
        if !visible {
            return Err(self.no_such_tool(key, None));
        }
        self.permit_name(key).await?;
        let shelved = self.shelved(key).await?;
        let Some(at) = shelved.loaded.position(key.tool.as_str()) else {
            return Err(self.no_such_tool(key, Some(&shelved)));
        };
        let shelved_tool = &shelved.loaded.tools[at];
        if shelved_tool.exposure == Exposure::Hidden {
            return Err(self.no_such_tool(key, Some(&shelved)));
        }
        let definition = shelved_tool.definition().clone();
        // What was decided of another definition, which permissions that take their time
        // allow to come, does not hold for this one.
        if self.seen.as_ref().is_some_and(|seen| {
            !Arc::ptr_eq(seen, &definition) && seen.digest() != definition.digest()
        }) {
            let error = Error::new(ErrorKind::Changed, "the definition changed under the call")
                .for_model_text("its definition keeps changing; load it again first.");
            return Err(self.ended_early(key, error));
        }
        let inner = self.session.shelf().inner.clone();

        for hook in &inner.hooks {
            let repaired = hook.repair(key, &definition, &self.report.arguments);
            let repaired = match self.wait(None, repaired).await {
                Ok(repaired) => repaired,
                Err(error) => return Err(self.ended_early(key, error)),
            };
            if let Some(arguments) = repaired {
                self.report.arguments = arguments;
                if !self.report.repairs.contains(&Repair::Host) {
                    self.report.repairs.push(Repair::Host);
                }
            }
        }
        self.validate(key, &shelved, at)?;
        let mut edited = false;
        for hook in &inner.hooks {
            let before = hook.before_tool_call(key, &definition, &self.report.arguments);
            match self.wait(None, before).await {
                Ok(BeforeCall::Continue) => {}
                Ok(BeforeCall::Edit(arguments)) => {
                    self.report.arguments = arguments;
                    edited = true;
                }
                Ok(BeforeCall::Block(reason)) => return Err(self.denied(key, &reason)),
                Err(error) => return Err(self.ended_early(key, error)),
            }
        }
        if edited {
            self.validate(key, &shelved, at)?;
        }
        let arguments = &self.report.arguments;
        let asked = self
            .policy
            .permit_call(key, &definition, arguments, &self.context);
        match self.wait(None, asked).await {
            Ok(Permission::Allow) => {}
            Ok(Permission::Deny(reason)) => return Err(self.denied(key, &reason)),
            Err(error) => return Err(self.ended_early(key, error)),
        }
        self.call_tool(key, &shelved, at).await
    }

    fn no_such_tool(&mut self, key: &ToolKey, shelved: Option<&Shelved>) -> Stop {
        let limit = self.session.shelf().inner.limits.suggestions;
        let names: Vec<&str> = shelved.map_or_else(Vec::new, |shelved| {
            self.session.with_cx(&self.settled, |cx| {
                shelved
                    .loaded
                    .tools
                    .iter()
                    .filter(|tool| tool.exposure != Exposure::Hidden && cx.visible(&tool.key))
                    .map(|tool| tool.key.tool.as_str())
                    .collect()
            })
        });
        let near = nearest(key.tool.as_str(), names.iter().copied(), limit);
        let text = texts::no_such_tool(key, &near);
        let error = Error::new(ErrorKind::NotFound, format!("there is no tool '{key}'"));
        self.refuse(text, Some(Arc::new(error)))
    }

    async fn shelved(&mut self, key: &ToolKey) -> Result<Arc<Shelved>, Stop> {
        let loads = self.session.shelf().inner.loads.clone();
        if let Some(shelved) = loads.shelved(&key.group) {
            return Ok(shelved);
        }
        // A load that failed while this call was resolved is not tried again for it.
        if let Some(Err(error)) = self.settled.get(&key.group) {
            let error = error.clone();
            return Err(self.refuse(texts::not_loaded(&key.group, &error), Some(error)));
        }
        let cancellation = self.context.cancellation.clone();
        let load = loads.load(&key.group, LoadCause::Implicit, &cancellation);
        let error = match self.wait(Some(self.call_timeout()), load).await {
            Ok(Ok(shelved)) => return Ok(shelved),
            Ok(Err(error)) => error,
            Err(error) => Arc::new(error),
        };
        Err(self.refuse(texts::not_loaded(&key.group, &error), Some(error)))
    }

    fn validate(&mut self, key: &ToolKey, shelved: &Shelved, at: usize) -> Result<(), Stop> {
        let inner = &self.session.shelf().inner;
        let mode = (inner.validation)(key);
        if mode == Validation::Off {
            return Ok(());
        }
        let definition = shelved.loaded.tools[at].definition();
        let schema = definition.input_schema();
        let checked = shelved.compiled[at].check(schema, &mut self.report.arguments);
        let faults = match checked {
            Ok(faults) if faults.is_empty() => return Ok(()),
            Ok(faults) => faults,
            Err(fault) => {
                if shelved.compiled[at].to_be_told() {
                    inner.loads.tell(&ShelfEvent::SchemaUnusable {
                        key: key.clone(),
                        fault: fault.to_owned(),
                    });
                }
                return Ok(());
            }
        };
        if mode == Validation::Warn {
            inner.loads.tell(&ShelfEvent::InvalidArgumentsSent {
                key: key.clone(),
                faults,
            });
            return Ok(());
        }
        let text =
            texts::invalid_arguments(key, definition, &faults, inner.limits.max_schema_bytes);
        let error = Error::new(
            ErrorKind::InvalidArguments,
            format!("{} faults in the arguments for '{key}'", faults.len()),
        );
        Err(self.refuse(text, Some(Arc::new(error))))
    }

    async fn call_tool(&mut self, key: &ToolKey, shelved: &Shelved, at: usize) -> Result<(), Stop> {
        let loads = &self.session.shelf().inner.loads;
        let call_id = self.report.envelope.id.clone();
        loads.tell(&ShelfEvent::CallStarted {
            call_id: call_id.clone(),
            key: key.clone(),
            repairs: self.report.repairs.clone(),
        });
        let mut running = Running {
            loads,
            call_id,
            key,
            begun: Instant::now(),
            is_error: true,
        };
        let tool = &shelved.loaded.tools[at].tool;
        let (arguments, context) = (self.report.arguments.clone(), self.context.clone());
        let call = async { tool.call(arguments, context).await };
        let call = AssertUnwindSafe(call).catch_unwind();
        let result = self.wait(Some(self.call_timeout()), call).await;
        self.report.took = running.begun.elapsed();
        let panicked = |_| {
            let fault = format!("the tool '{key}' panicked");
            Err(Error::new(ErrorKind::Internal, fault))
        };
        match result.and_then(|ended| ended.unwrap_or_else(panicked)) {
            Ok(outcome) => {
                self.report.answered_by = AnsweredBy::Tool;
                self.report.outcome = outcome;
                running.is_error = self.report.is_error();
                Ok(())
            }
            Err(error) => Err(self.ended_early(key, error)),
        }
    }

    fn call_timeout(&self) -> Duration {
        self.session.shelf().inner.limits.call_timeout
    }

    /// Waits until the caller cancels or its deadline passes, or until `bound` where it
    /// set none. Nothing is begun when there is nobody to wait for it.
    async fn wait<T>(
        &self,
        bound: Option<Duration>,
        future: impl Future<Output = T>,
    ) -> Result<T, Error> {
        let cancelled = || Error::new(ErrorKind::Cancelled, "the caller cancelled");
        if self.context.cancellation.is_cancelled() {
            return Err(cancelled());
        }
        let left = self.context.remaining().or(bound);
        if left == Some(Duration::ZERO) {
            return Err(
                Error::new(ErrorKind::TimedOut, "the deadline of the call had passed")
                    .for_model_text("its time was over before it began."),
            );
        }
        let timed = async {
            let Some(left) = left else {
                return Ok(future.await);
            };
            tokio::time::timeout(left, future).await.map_err(|_| {
                Error::new(
                    ErrorKind::TimedOut,
                    format!("the call did not end within {left:?}"),
                )
                .for_model_text(format!(
                    "it did not end within {} s.",
                    left.as_secs_f64().ceil() as u64
                ))
            })
        };
        tokio::select! {
            biased;
            ended = timed => ended,
            () = self.context.cancellation.cancelled() => Err(cancelled()),
        }
    }
}

/// A call that runs. Its end is told in any case, when its host drops it too.
struct Running<'a> {
    loads: &'a Loads,
    call_id: String,
    key: &'a ToolKey,
    begun: Instant,
    is_error: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.loads.tell(&ShelfEvent::CallEnded {
            call_id: std::mem::take(&mut self.call_id),
            key: self.key.clone(),
            is_error: self.is_error,
            took: self.begun.elapsed(),
        });
    }
}

//! Tools that change something.

use std::time::Duration;

use serde_json::{Value, json};
use toolshelf_core::{Arguments, CallContext, Progress};

use super::data::{Comment, Issue, Issues, Link, Milestone};
use super::read::passes;
use crate::samples::TODAY;
use crate::samples::input::Input;
use crate::samples::tool::{Records, Reply, SlowReply, lines, reply};

/// Who uses the samples.
const ME: &str = "mara";

/// The most issues that a bulk update changes.
const MAX_BULK: usize = 100;

/// The time that a bulk update takes for one issue.
const BULK_STEP: Duration = Duration::from_millis(30);

fn owned(text: Option<&str>) -> Option<String> {
    text.map(str::to_owned)
}

fn changed(issue: &Issue, what: &str) -> Reply {
    reply(format!("{}: {what}", issue.key), &issue.whole())
}

fn labels_exist(all: &Issues, project: &str, labels: &[&str]) -> Result<(), String> {
    let known = &all.project(project)?.labels;
    match labels
        .iter()
        .find(|label| !known.iter().any(|own| own == *label))
    {
        None => Ok(()),
        Some(missing) => Err(format!(
            "{project} has no label '{missing}'; it has {}.",
            known.join(", ")
        )),
    }
}

pub(super) fn create_issue(all: &mut Issues, input: Input<'_>) -> Reply {
    let project = input.text("project")?;
    let labels = input.texts("labels");
    labels_exist(all, project, &labels)?;
    let assignee = input.maybe_text("assignee");
    if let Some(assignee) = assignee {
        all.member(project, assignee)?;
    }
    if let Some(parent) = input.maybe_text("parent") {
        all.issue(parent)?;
    }
    let state = if assignee.is_some() {
        "todo"
    } else {
        "backlog"
    };
    let issue = Issue {
        key: all.next_key(project),
        title: input.text("title")?.to_owned(),
        body: input.text_or("body", "").to_owned(),
        kind: input.text_or("type", "task").to_owned(),
        state: state.to_owned(),
        priority: input.text_or("priority", "medium").to_owned(),
        assignee: owned(assignee),
        labels: labels.into_iter().map(str::to_owned).collect(),
        created: TODAY.to_owned(),
        updated: TODAY.to_owned(),
        due: owned(input.maybe_text("due")),
        points: None,
        milestone: None,
        parent: owned(input.maybe_text("parent")),
        resolution: None,
        environment: input
            .maybe_object("environment")
            .map_or_else(|| json!({}), |given| Value::Object(given.0.clone())),
        comments: Vec::new(),
    };
    let answer = reply(
        format!("Created {}: {}", issue.key, issue.title),
        &issue.whole(),
    );
    all.issues.push(issue);
    answer
}

pub(super) fn update_issue(all: &mut Issues, input: Input<'_>) -> Reply {
    let changes = input.object("changes")?;
    let issue = all.change(input.text("key")?)?;
    if let Some(title) = changes.maybe_text("title") {
        title.clone_into(&mut issue.title);
    }
    if let Some(body) = changes.maybe_text("body") {
        body.clone_into(&mut issue.body);
    }
    if let Some(kind) = changes.maybe_text("type") {
        kind.clone_into(&mut issue.kind);
    }
    if let Some(priority) = changes.maybe_text("priority") {
        priority.clone_into(&mut issue.priority);
    }
    if changes.has("due") {
        issue.due = owned(changes.maybe_text("due"));
    }
    if changes.has("estimate_points") {
        issue.points = changes.int("estimate_points").ok();
    }
    changed(issue, "updated")
}

pub(super) fn transition_issue(all: &mut Issues, input: Input<'_>) -> Reply {
    let to = input.text("to")?;
    let resolution = input.maybe_text("resolution");
    if matches!(to, "done" | "cancelled") && resolution.is_none() {
        return Err(format!("Moving an issue to {to} needs a `resolution`."));
    }
    let order = ["backlog", "todo", "in_progress", "in_review", "done"];
    let place = |state: &str| order.iter().position(|own| *own == state);
    let issue = all.change(input.text("key")?)?;
    let allowed = match (place(&issue.state), place(to)) {
        (Some(from), Some(next)) => next >= from || to == "todo",
        // Into cancelled from anywhere, and out of it to todo.
        (_, None) => true,
        (None, Some(_)) => to == "todo",
    };
    if !allowed {
        return Err(format!(
            "{} is {} and cannot go back to {to}; only to todo.",
            issue.key, issue.state
        ));
    }
    to.clone_into(&mut issue.state);
    issue.resolution = owned(resolution);
    if let Some(comment) = input.maybe_text("comment") {
        issue.comments.push(Comment {
            author: ME.to_owned(),
            body: comment.to_owned(),
            visibility: "public".to_owned(),
        });
    }
    changed(issue, &format!("now {to}"))
}

pub(super) fn assign_issue(all: &mut Issues, input: Input<'_>) -> Reply {
    let key = input.text("key")?;
    let assignee = input.maybe_text("assignee");
    let project = all.issue(key)?.project().to_owned();
    if let Some(assignee) = assignee {
        all.member(&project, assignee)?;
    }
    let issue = all.change(key)?;
    issue.assignee = owned(assignee);
    if assignee.is_some() && issue.state == "backlog" {
        "todo".clone_into(&mut issue.state);
    }
    changed(
        issue,
        &format!("assigned to {}", assignee.unwrap_or("nobody")),
    )
}

pub(super) fn add_comment(all: &mut Issues, input: Input<'_>) -> Reply {
    let body = input.text("body")?;
    let issue = all.change(input.text("key")?)?;
    issue.comments.push(Comment {
        author: ME.to_owned(),
        body: body.to_owned(),
        visibility: input.text_or("visibility", "public").to_owned(),
    });
    let id = format!("{}#{}", issue.key, issue.comments.len());
    reply(
        format!("Added comment {id}"),
        &json!({"id": id, "author": ME}),
    )
}

pub(super) fn add_labels(all: &mut Issues, input: Input<'_>) -> Reply {
    let key = input.text("key")?;
    let labels = input.texts("labels");
    let project = all.issue(key)?.project().to_owned();
    if input.flag_or("create_missing", false) {
        if let Some(project) = all.projects.iter_mut().find(|own| own.key == project) {
            for label in &labels {
                if !project.labels.iter().any(|own| own == label) {
                    project.labels.push((*label).to_owned());
                }
            }
        }
    } else {
        labels_exist(all, &project, &labels)?;
    }
    let issue = all.change(key)?;
    for label in labels {
        if !issue.labels.iter().any(|own| own == label) {
            issue.labels.push(label.to_owned());
        }
    }
    changed(issue, &format!("labels {}", issue.labels.join(", ")))
}

pub(super) fn remove_labels(all: &mut Issues, input: Input<'_>) -> Reply {
    let labels = input.texts("labels");
    let issue = all.change(input.text("key")?)?;
    issue
        .labels
        .retain(|label| !labels.contains(&label.as_str()));
    changed(issue, &format!("labels {}", lines(&issue.labels, "none")))
}

pub(super) fn link_issues(all: &mut Issues, input: Input<'_>) -> Reply {
    let (from, kind, to) = (input.text("from")?, input.text("kind")?, input.text("to")?);
    all.issue(from)?;
    all.issue(to)?;
    if from == to {
        return Err("An issue cannot be linked to itself.".to_owned());
    }
    if kind == "blocks" && blocks(all, to, from, all.links.len()) {
        return Err(format!(
            "{to} blocks {from} already; that would be a circle."
        ));
    }
    let same = |link: &Link| link.from == from && link.kind == kind && link.to == to;
    if !all.links.iter().any(same) {
        all.links.push(Link {
            from: from.to_owned(),
            kind: kind.to_owned(),
            to: to.to_owned(),
        });
    }
    reply(
        format!("{from} {kind} {to}"),
        &json!({"from": from, "kind": kind, "to": to}),
    )
}

/// Whether an issue blocks another, over at most so many links.
fn blocks(all: &Issues, from: &str, to: &str, links: usize) -> bool {
    links > 0
        && all
            .links
            .iter()
            .filter(|link| link.kind == "blocks" && link.from == from)
            .any(|link| link.to == to || blocks(all, &link.to, to, links - 1))
}

pub(super) fn unlink_issues(all: &mut Issues, input: Input<'_>) -> Reply {
    let (from, to) = (input.text("from")?, input.text("to")?);
    let kind = input.maybe_text("kind");
    let before = all.links.len();
    all.links.retain(|link| {
        let between = (link.from == from && link.to == to) || (link.from == to && link.to == from);
        !(between && kind.is_none_or(|kind| link.kind == kind))
    });
    let removed = before - all.links.len();
    reply(
        format!("Removed {removed} link(s)"),
        &json!({"removed": removed}),
    )
}

pub(super) fn create_milestone(all: &mut Issues, input: Input<'_>) -> Reply {
    let project = input.text("project")?;
    let name = input.text("name")?;
    all.project(project)?;
    if all
        .milestones
        .iter()
        .any(|own| own.project == project && own.name == name)
    {
        return Err(format!("{project} has a milestone '{name}' already."));
    }
    let goals = input.objects("goals");
    let milestone = Milestone {
        project: project.to_owned(),
        name: name.to_owned(),
        due: input.text("due")?.to_owned(),
        goals: goals
            .iter()
            .map(|goal| goal.text("text").map(str::to_owned))
            .collect::<Result<_, _>>()?,
    };
    let answer = reply(
        format!("Created milestone '{name}', due {}", milestone.due),
        &json!({"project": project, "name": name, "due": milestone.due, "goals": milestone.goals}),
    );
    all.milestones.push(milestone);
    answer
}

pub(super) fn set_milestone(all: &mut Issues, input: Input<'_>) -> Reply {
    let key = input.text("key")?;
    let milestone = input.maybe_text("milestone");
    let project = all.issue(key)?.project().to_owned();
    if let Some(name) = milestone {
        milestone_exists(all, &project, name)?;
    }
    let issue = all.change(key)?;
    issue.milestone = owned(milestone);
    changed(
        issue,
        &format!("in the milestone {}", milestone.unwrap_or("none")),
    )
}

fn milestone_exists(all: &Issues, project: &str, name: &str) -> Result<(), String> {
    if all
        .milestones
        .iter()
        .any(|own| own.project == project && own.name == name)
    {
        Ok(())
    } else {
        Err(format!(
            "{project} has no milestone '{name}'; see list_milestones."
        ))
    }
}

pub(super) fn bulk_update(
    records: Records<Issues>,
    arguments: Arguments,
    context: CallContext,
) -> SlowReply {
    Box::pin(async move {
        let input = Input(&arguments);
        let filter = input.object("filter")?;
        let changes = input.object("changes")?;
        let dry_run = input.flag_or("dry_run", true);
        let keys: Vec<String> = records
            .lock()
            .issues
            .iter()
            .filter(|issue| passes(issue, filter))
            .map(|issue| issue.key.clone())
            .collect();
        if keys.len() > MAX_BULK {
            return Err(format!(
                "The filter finds {} issues, more than {MAX_BULK}.",
                keys.len()
            ));
        }
        let mut refused = Vec::new();
        for (at, key) in keys.iter().enumerate() {
            tokio::time::sleep(BULK_STEP).await;
            if !dry_run && let Err(reason) = change_one(&mut records.lock(), key, changes) {
                refused.push(json!({"key": key, "reason": reason}));
            }
            if let Some(sink) = &context.progress {
                sink.report(Progress {
                    progress: (at + 1) as f64,
                    total: Some(keys.len() as f64),
                    message: Some(format!(
                        "{key} {}",
                        if dry_run { "looked at" } else { "done" }
                    )),
                });
            }
        }
        let would = if dry_run {
            "would be changed"
        } else {
            "changed"
        };
        reply(
            format!(
                "{} issue(s) {would}: {}",
                keys.len() - refused.len(),
                keys.join(", ")
            ),
            &json!({"dry_run": dry_run, "keys": keys, "refused": refused}),
        )
    })
}

fn change_one(all: &mut Issues, key: &str, changes: Input<'_>) -> Result<(), String> {
    let project = all.issue(key)?.project().to_owned();
    let labels = changes.texts("add_labels");
    let assignee = changes.maybe_text("assignee");
    let milestone = changes.maybe_text("milestone");
    labels_exist(all, &project, &labels)?;
    if let Some(assignee) = assignee {
        all.member(&project, assignee)?;
    }
    if let Some(name) = milestone {
        milestone_exists(all, &project, name)?;
    }
    let issue = all.change(key)?;
    if let Some(priority) = changes.maybe_text("priority") {
        priority.clone_into(&mut issue.priority);
    }
    if changes.has("assignee") {
        issue.assignee = owned(assignee);
    }
    if changes.has("milestone") {
        issue.milestone = owned(milestone);
    }
    for label in labels {
        if !issue.labels.iter().any(|own| own == label) {
            issue.labels.push(label.to_owned());
        }
    }
    Ok(())
}

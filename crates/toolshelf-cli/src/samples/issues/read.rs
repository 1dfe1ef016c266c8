//! Tools that look.

use serde_json::json;

use super::data::{Issue, Issues};
use crate::samples::chart;
use crate::samples::input::Input;
use crate::samples::tool::{Reply, lines, reply, reply_with_image};

/// Whether an issue passes a filter; a part that is left out lets everything pass.
pub(super) fn passes(issue: &Issue, filter: Input<'_>) -> bool {
    let states = filter.texts("states");
    let labels = filter.texts("labels");
    filter
        .maybe_text("project")
        .is_none_or(|project| issue.project() == project)
        && (states.is_empty() || states.contains(&issue.state.as_str()))
        && (labels.is_empty()
            || labels
                .iter()
                .any(|label| issue.labels.iter().any(|own| own == label)))
        && (!filter.has("assignee") || issue.assignee.as_deref() == filter.maybe_text("assignee"))
        && filter
            .maybe_text("updated_since")
            .is_none_or(|since| issue.updated.as_str() >= since)
}

pub(super) fn search(all: &mut Issues, input: Input<'_>) -> Reply {
    let query = input.text("query")?.to_lowercase();
    let mut found: Vec<&Issue> = all
        .issues
        .iter()
        .filter(|issue| {
            let text = format!("{} {} {}", issue.key, issue.title, issue.body).to_lowercase();
            query.split_whitespace().all(|word| text.contains(word))
        })
        .filter(|issue| {
            input
                .maybe_object("filter")
                .is_none_or(|filter| passes(issue, filter))
        })
        .collect();
    match input.text_or("sort", "updated") {
        "created" => found.sort_by(|a, b| b.created.cmp(&a.created)),
        "priority" => found.sort_by_key(|issue| issue.urgency()),
        "key" => found.sort_by(|a, b| a.key.cmp(&b.key)),
        _ => found.sort_by(|a, b| b.updated.cmp(&a.updated)),
    }
    let total = found.len();
    let offset = input.count_or("offset", 0);
    let limit = input.count_or("limit", 20);
    let next = offset.saturating_add(limit);
    let page: Vec<&Issue> = found.into_iter().skip(offset).take(limit).collect();
    let text: Vec<String> = page.iter().map(|issue| issue.line()).collect();
    reply(
        lines(&text, "No issue matches."),
        &json!({
            "total": total,
            "next_offset": (next < total).then_some(next),
            "issues": page.iter().map(|issue| issue.row()).collect::<Vec<_>>(),
        }),
    )
}

pub(super) fn get_issue(all: &mut Issues, input: Input<'_>) -> Reply {
    let issue = all.issue(input.text("key")?)?;
    let mut whole = issue.whole();
    for part in input.texts("include") {
        whole[part] = match part {
            "comments" => issue
                .comments
                .iter()
                .map(|comment| json!({"author": comment.author, "body": comment.body}))
                .collect(),
            "links" => all
                .links
                .iter()
                .filter(|link| link.from == issue.key || link.to == issue.key)
                .map(|link| json!({"from": link.from, "kind": link.kind, "to": link.to}))
                .collect(),
            _ => json!(issue.milestone),
        };
    }
    reply(format!("{}\n\n{}", issue.line(), issue.body), &whole)
}

pub(super) fn list_comments(all: &mut Issues, input: Input<'_>) -> Reply {
    let issue = all.issue(input.text("key")?)?;
    let mut comments: Vec<_> = issue.comments.iter().collect();
    if input.maybe_text("order") == Some("newest_first") {
        comments.reverse();
    }
    comments.truncate(input.count_or("limit", 50));
    let text: Vec<String> = comments
        .iter()
        .map(|comment| format!("{}: {}", comment.author, comment.body))
        .collect();
    reply(
        lines(&text, "There are no comments."),
        &json!({"comments": comments
            .iter()
            .map(|comment| json!({
                "author": comment.author,
                "body": comment.body,
                "visibility": comment.visibility,
            }))
            .collect::<Vec<_>>()}),
    )
}

pub(super) fn list_labels(all: &mut Issues, input: Input<'_>) -> Reply {
    let project = all.project(input.text("project")?)?;
    let unused = input.flag_or("unused", true);
    let counts: Vec<(&String, usize)> = project
        .labels
        .iter()
        .map(|label| {
            let carried = all.issues.iter().filter(|issue| {
                issue.project() == project.key && issue.is_open() && issue.labels.contains(label)
            });
            (label, carried.count())
        })
        .filter(|(_, count)| unused || *count > 0)
        .collect();
    let text: Vec<String> = counts
        .iter()
        .map(|(label, count)| format!("{label} ({count} open)"))
        .collect();
    reply(
        lines(&text, "There are no labels."),
        &json!({"labels": counts
            .iter()
            .map(|(label, count)| json!({"name": label, "open": count}))
            .collect::<Vec<_>>()}),
    )
}

pub(super) fn list_projects(all: &mut Issues, _input: Input<'_>) -> Reply {
    let rows: Vec<_> = all
        .projects
        .iter()
        .map(|project| {
            let (open, closed): (Vec<&Issue>, Vec<&Issue>) = all
                .issues
                .iter()
                .filter(|issue| issue.project() == project.key)
                .partition(|issue| issue.is_open());
            (project, open.len(), closed.len())
        })
        .collect();
    let text: Vec<String> = rows
        .iter()
        .map(|(project, open, _)| format!("{}  {} ({open} open)", project.key, project.name))
        .collect();
    reply(
        text.join("\n"),
        &json!({"projects": rows
            .iter()
            .map(|(project, open, closed)| json!({
                "key": project.key,
                "name": project.name,
                "lead": project.lead,
                "open": open,
                "closed": closed,
            }))
            .collect::<Vec<_>>()}),
    )
}

pub(super) fn list_people(all: &mut Issues, input: Input<'_>) -> Reply {
    let project = input.maybe_text("project");
    let role = input.maybe_text("role");
    let people: Vec<_> =
        all.people
            .iter()
            .filter(|person| project.is_none_or(|project| person.projects.contains(&project)))
            .filter(|person| role.is_none_or(|role| person.role == role))
            .map(|person| {
                let open = all.issues.iter().filter(|issue| {
                    issue.is_open() && issue.assignee.as_deref() == Some(person.name)
                });
                (person, open.count())
            })
            .collect();
    let text: Vec<String> = people
        .iter()
        .map(|(person, open)| {
            format!(
                "{} ({}), {}, {open} open",
                person.name, person.full_name, person.role
            )
        })
        .collect();
    reply(
        lines(&text, "Nobody."),
        &json!({"people": people
            .iter()
            .map(|(person, open)| json!({
                "name": person.name,
                "full_name": person.full_name,
                "role": person.role,
                "projects": person.projects,
                "open": open,
            }))
            .collect::<Vec<_>>()}),
    )
}

pub(super) fn list_milestones(all: &mut Issues, input: Input<'_>) -> Reply {
    let project = all.project(input.text("project")?)?;
    // A milestone of these records is never closed.
    let wanted = input.text_or("state", "open") != "closed";
    let mut found: Vec<_> = all
        .milestones
        .iter()
        .filter(|milestone| wanted && milestone.project == project.key)
        .collect();
    found.sort_by(|a, b| a.due.cmp(&b.due));
    let text: Vec<String> = found
        .iter()
        .map(|milestone| format!("{}, due {}", milestone.name, milestone.due))
        .collect();
    reply(
        lines(&text, "There are no milestones."),
        &json!({"milestones": found
            .iter()
            .map(|milestone| {
                let (open, closed): (Vec<&Issue>, Vec<&Issue>) = all
                    .issues
                    .iter()
                    .filter(|issue| issue.milestone.as_ref() == Some(&milestone.name))
                    .partition(|issue| issue.is_open());
                json!({
                    "name": milestone.name,
                    "due": milestone.due,
                    "goals": milestone.goals,
                    "open": open.len(),
                    "closed": closed.len(),
                })
            })
            .collect::<Vec<_>>()}),
    )
}

pub(super) fn burndown_chart(all: &mut Issues, input: Input<'_>) -> Reply {
    let project = all.project(input.text("project")?)?;
    let days = u32::try_from(input.count_or("days", 14).clamp(5, 60)).unwrap_or(14);
    let (width, height) = input.maybe_object("size").map_or((120, 60), |size| {
        (
            size.count_or("width", 120).clamp(60, 600),
            size.count_or("height", 60).clamp(40, 400),
        )
    });
    let open = all
        .issues
        .iter()
        .filter(|issue| issue.project() == project.key && issue.is_open())
        .count();
    let open = u32::try_from(open).unwrap_or(u32::MAX);
    // The past of these records is made up: about one issue every second day, with a
    // set-back now and then.
    let values: Vec<u32> = (0..days)
        .map(|day| open.saturating_add((days - 1 - day) / 2 + u32::from(day % 4 == 1)))
        .collect();
    reply_with_image(
        format!(
            "Burndown of {} over {days} days: from {} to {open} open issues.",
            project.key,
            values.first().copied().unwrap_or(open)
        ),
        chart::burndown(&values, width, height),
        &json!({"project": project.key, "open_per_day": values}),
    )
}

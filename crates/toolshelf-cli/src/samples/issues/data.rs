//! The records of the issue tracker.

use serde_json::{Value, json};

use crate::samples::TODAY;

pub(super) const PRIORITIES: [&str; 4] = ["urgent", "high", "medium", "low"];

pub(super) struct Issue {
    pub(super) key: String,
    pub(super) title: String,
    pub(super) body: String,
    pub(super) kind: String,
    pub(super) state: String,
    pub(super) priority: String,
    pub(super) assignee: Option<String>,
    pub(super) labels: Vec<String>,
    pub(super) created: String,
    pub(super) updated: String,
    pub(super) due: Option<String>,
    pub(super) points: Option<i64>,
    pub(super) milestone: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) resolution: Option<String>,
    pub(super) environment: Value,
    pub(super) comments: Vec<Comment>,
}

pub(super) struct Comment {
    pub(super) author: String,
    pub(super) body: String,
    pub(super) visibility: String,
}

pub(super) struct Project {
    pub(super) key: &'static str,
    pub(super) name: &'static str,
    pub(super) lead: &'static str,
    pub(super) labels: Vec<String>,
}

pub(super) struct Person {
    pub(super) name: &'static str,
    pub(super) full_name: &'static str,
    pub(super) role: &'static str,
    pub(super) projects: &'static [&'static str],
}

pub(super) struct Milestone {
    pub(super) project: String,
    pub(super) name: String,
    pub(super) due: String,
    pub(super) goals: Vec<String>,
}

pub(super) struct Link {
    pub(super) from: String,
    pub(super) kind: String,
    pub(super) to: String,
}

pub(super) struct Issues {
    pub(super) issues: Vec<Issue>,
    pub(super) projects: Vec<Project>,
    pub(super) people: Vec<Person>,
    pub(super) milestones: Vec<Milestone>,
    pub(super) links: Vec<Link>,
}

impl Issue {
    pub(super) fn project(&self) -> &str {
        self.key.split('-').next().unwrap_or_default()
    }

    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state.as_str(), "done" | "cancelled")
    }

    pub(super) fn urgency(&self) -> usize {
        PRIORITIES
            .iter()
            .position(|priority| *priority == self.priority)
            .unwrap_or(PRIORITIES.len())
    }

    /// One line for a list.
    pub(super) fn line(&self) -> String {
        format!(
            "{}  {} [{}, {}, {}]",
            self.key,
            self.title,
            self.state,
            self.priority,
            self.assignee.as_deref().unwrap_or("nobody")
        )
    }

    /// The row of a list.
    pub(super) fn row(&self) -> Value {
        json!({
            "key": self.key,
            "title": self.title,
            "state": self.state,
            "priority": self.priority,
            "assignee": self.assignee,
            "updated": self.updated,
        })
    }

    /// Everything.
    pub(super) fn whole(&self) -> Value {
        json!({
            "key": self.key,
            "title": self.title,
            "body": self.body,
            "type": self.kind,
            "state": self.state,
            "resolution": self.resolution,
            "priority": self.priority,
            "assignee": self.assignee,
            "labels": self.labels,
            "created": self.created,
            "updated": self.updated,
            "due": self.due,
            "estimate_points": self.points,
            "milestone": self.milestone,
            "parent": self.parent,
            "environment": self.environment,
        })
    }
}

impl Issues {
    pub(super) fn issue(&self, key: &str) -> Result<&Issue, String> {
        self.issues
            .iter()
            .find(|issue| issue.key == key)
            .ok_or_else(|| no_issue(key))
    }

    /// An issue that is about to change.
    pub(super) fn change(&mut self, key: &str) -> Result<&mut Issue, String> {
        let issue = self
            .issues
            .iter_mut()
            .find(|issue| issue.key == key)
            .ok_or_else(|| no_issue(key))?;
        TODAY.clone_into(&mut issue.updated);
        Ok(issue)
    }

    pub(super) fn project(&self, key: &str) -> Result<&Project, String> {
        self.projects
            .iter()
            .find(|project| project.key == key)
            .ok_or_else(|| format!("There is no project {key}; there are WEB, API and OPS."))
    }

    pub(super) fn member(&self, project: &str, name: &str) -> Result<(), String> {
        let known = self
            .people
            .iter()
            .any(|person| person.name == name && person.projects.contains(&project));
        if known {
            Ok(())
        } else {
            Err(format!(
                "{name} is not a member of {project}; see list_people."
            ))
        }
    }

    pub(super) fn next_key(&self, project: &str) -> String {
        let last = self
            .issues
            .iter()
            .filter(|issue| issue.project() == project)
            .filter_map(|issue| issue.key.rsplit('-').next()?.parse::<u32>().ok())
            .max()
            .unwrap_or(100);
        format!("{project}-{}", last + 1)
    }

    /// The records as they are at every start.
    pub(super) fn new() -> Self {
        Self {
            issues: SEED.iter().map(Seed::issue).collect(),
            projects: vec![
                project(
                    "WEB",
                    "Web shop",
                    "mara",
                    &["checkout", "search", "accessibility", "regression"],
                ),
                project(
                    "API",
                    "Public API",
                    "yuki",
                    &["breaking", "docs", "performance", "regression"],
                ),
                project(
                    "OPS",
                    "Operations",
                    "tomas",
                    &["incident", "cost", "security"],
                ),
            ],
            people: vec![
                person("mara", "Mara Lindqvist", "lead", &["WEB", "API"]),
                person("jonas", "Jonas Weber", "engineer", &["WEB", "OPS"]),
                person("yuki", "Yuki Tanaka", "lead", &["API"]),
                person("tomas", "Tomás Ferreira", "lead", &["OPS", "API"]),
                person("amina", "Amina Diallo", "designer", &["WEB"]),
                person("kofi", "Kofi Mensah", "support", &["WEB", "API", "OPS"]),
            ],
            milestones: vec![
                milestone(
                    "WEB",
                    "Spring release",
                    "2026-03-27",
                    &["Checkout in three steps", "No known data loss"],
                ),
                milestone("API", "v3", "2026-05-15", &["Cursor pagination everywhere"]),
            ],
            links: vec![
                link("WEB-103", "blocks", "WEB-101"),
                link("API-102", "relates_to", "WEB-104"),
            ],
        }
    }
}

fn no_issue(key: &str) -> String {
    format!("There is no issue {key}.")
}

fn project(key: &'static str, name: &'static str, lead: &'static str, labels: &[&str]) -> Project {
    Project {
        key,
        name,
        lead,
        labels: labels.iter().map(|label| (*label).to_owned()).collect(),
    }
}

fn person(
    name: &'static str,
    full_name: &'static str,
    role: &'static str,
    projects: &'static [&'static str],
) -> Person {
    Person {
        name,
        full_name,
        role,
        projects,
    }
}

fn milestone(project: &str, name: &str, due: &str, goals: &[&str]) -> Milestone {
    Milestone {
        project: project.to_owned(),
        name: name.to_owned(),
        due: due.to_owned(),
        goals: goals.iter().map(|goal| (*goal).to_owned()).collect(),
    }
}

fn link(from: &str, kind: &str, to: &str) -> Link {
    Link {
        from: from.to_owned(),
        kind: kind.to_owned(),
        to: to.to_owned(),
    }
}

/// Key, kind, state, priority, assignee, labels, created, updated, title, body.
struct Seed(
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    Option<&'static str>,
    &'static [&'static str],
    &'static str,
    &'static str,
    &'static str,
    &'static str,
);

impl Seed {
    fn issue(&self) -> Issue {
        let Self(key, kind, state, priority, assignee, labels, created, updated, title, body) =
            *self;
        Issue {
            key: key.to_owned(),
            title: title.to_owned(),
            body: body.to_owned(),
            kind: kind.to_owned(),
            state: state.to_owned(),
            priority: priority.to_owned(),
            assignee: assignee.map(str::to_owned),
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            created: created.to_owned(),
            updated: updated.to_owned(),
            due: None,
            points: None,
            milestone: None,
            parent: None,
            resolution: (state == "done").then(|| "fixed".to_owned()),
            environment: json!({}),
            comments: if key == "WEB-101" {
                vec![Comment {
                    author: "kofi".to_owned(),
                    body: "Three customers called about this today.".to_owned(),
                    visibility: "internal".to_owned(),
                }]
            } else {
                Vec::new()
            },
        }
    }
}

#[rustfmt::skip]
const SEED: &[Seed] = &[
    Seed("WEB-101", "bug", "in_progress", "high", Some("jonas"), &["checkout", "regression"], "2026-02-20", "2026-02-27",
        "Checkout loses the voucher when the address changes",
        "Enter a voucher, then change the delivery address: the discount is gone, without a word."),
    Seed("WEB-102", "feature", "todo", "medium", Some("amina"), &["accessibility"], "2026-02-11", "2026-02-24",
        "Contrast of disabled buttons", "Disabled buttons are below 3:1 in the dark theme."),
    Seed("WEB-103", "task", "in_review", "medium", Some("mara"), &["checkout"], "2026-02-13", "2026-03-01",
        "Move address validation to the server", "Needed by WEB-101, and by the mobile apps."),
    Seed("WEB-104", "bug", "backlog", "low", None, &["search"], "2026-01-29", "2026-02-02",
        "Search finds nothing for words with a hyphen", "'desk-lamp' finds nothing, 'desk lamp' does."),
    Seed("WEB-105", "bug", "done", "urgent", Some("jonas"), &["checkout"], "2026-02-25", "2026-02-26",
        "Orders are sent twice on a slow connection", "The button stays active while the request is under way."),
    Seed("API-101", "feature", "in_progress", "high", Some("yuki"), &["breaking", "docs"], "2026-01-15", "2026-02-28",
        "Cursor pagination for orders", "Pages by offset skip orders that arrive in between."),
    Seed("API-102", "bug", "todo", "medium", Some("tomas"), &["performance"], "2026-02-18", "2026-02-19",
        "Full-text search takes four seconds without an index", "Only for queries with fewer than three letters."),
    Seed("API-103", "question", "backlog", "low", None, &["docs"], "2026-02-03", "2026-02-03",
        "Are webhooks sent in order?", "The documentation says nothing about it."),
    Seed("OPS-101", "task", "todo", "high", Some("tomas"), &["security"], "2026-02-22", "2026-02-25",
        "Rotate the keys of the payment gateway", "They are due on 15 March."),
    Seed("OPS-102", "bug", "in_progress", "urgent", Some("jonas"), &["incident"], "2026-03-01", "2026-03-02",
        "Backups of the order database are not verified", "The job that restores a sample has failed since Friday."),
    Seed("OPS-103", "task", "done", "medium", Some("tomas"), &["cost"], "2026-01-20", "2026-02-10",
        "Shut down the old staging cluster", "Nobody has used it since January."),
];

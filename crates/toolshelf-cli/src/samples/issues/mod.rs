//! An issue tracker with three projects.

mod data;
mod read;
mod write;

use std::sync::Arc;

use toolshelf_core::{Error, Tool};

use self::data::Issues;
use super::tool::{self, Run};

/// Its tools.
pub(super) fn tools() -> Result<Vec<Arc<dyn Tool>>, Error> {
    tool::tools(include_str!("tools.json"), Issues::new(), run)
}

fn run(name: &str) -> Option<Run<Issues>> {
    Some(match name {
        "search" => Run::Now(read::search),
        "get_issue" => Run::Now(read::get_issue),
        "list_comments" => Run::Now(read::list_comments),
        "list_labels" => Run::Now(read::list_labels),
        "list_projects" => Run::Now(read::list_projects),
        "list_people" => Run::Now(read::list_people),
        "list_milestones" => Run::Now(read::list_milestones),
        "burndown_chart" => Run::Now(read::burndown_chart),
        "create_issue" => Run::Now(write::create_issue),
        "update_issue" => Run::Now(write::update_issue),
        "transition_issue" => Run::Now(write::transition_issue),
        "assign_issue" => Run::Now(write::assign_issue),
        "add_comment" => Run::Now(write::add_comment),
        "add_labels" => Run::Now(write::add_labels),
        "remove_labels" => Run::Now(write::remove_labels),
        "link_issues" => Run::Now(write::link_issues),
        "unlink_issues" => Run::Now(write::unlink_issues),
        "create_milestone" => Run::Now(write::create_milestone),
        "set_milestone" => Run::Now(write::set_milestone),
        "bulk_update" => Run::Slow(write::bulk_update),
        _ => return None,
    })
}

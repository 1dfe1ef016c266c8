//! The calendar of a team.

mod data;
mod moment;
mod read;
mod week;
mod write;

use std::sync::Arc;

use toolshelf_core::{Error, Tool};

use self::data::Calendar;
use super::tool::{self, Run};

/// Its tools.
pub(super) fn tools() -> Result<Vec<Arc<dyn Tool>>, Error> {
    tool::tools(include_str!("tools.json"), Calendar::new(), run)
}

fn run(name: &str) -> Option<Run<Calendar>> {
    Some(match name {
        "list_calendars" => Run::Now(read::list_calendars),
        "list_events" => Run::Now(read::list_events),
        "get_event" => Run::Now(read::get_event),
        "find_free_time" => Run::Now(read::find_free_time),
        "check_availability" => Run::Now(read::check_availability),
        "list_rooms" => Run::Now(read::list_rooms),
        "list_attendees" => Run::Now(read::list_attendees),
        "list_holidays" => Run::Now(read::list_holidays),
        "create_event" => Run::Now(write::create_event),
        "update_event" => Run::Now(write::update_event),
        "move_event" => Run::Now(write::move_event),
        "cancel_event" => Run::Now(write::cancel_event),
        "respond_to_event" => Run::Now(write::respond_to_event),
        "book_room" => Run::Now(write::book_room),
        "release_room" => Run::Now(write::release_room),
        "add_attendees" => Run::Now(write::add_attendees),
        "remove_attendees" => Run::Now(write::remove_attendees),
        "add_note" => Run::Now(write::add_note),
        "set_working_hours" => Run::Now(write::set_working_hours),
        "optimize_week" => Run::Slow(week::optimize_week),
        _ => return None,
    })
}

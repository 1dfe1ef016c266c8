//! Tools that look.

use serde_json::{Value, json};

use super::data::{Calendar, Event};
use super::moment::{Moment, WEEKDAYS};
use crate::samples::input::Input;
use crate::samples::tool::{Reply, lines, reply};

/// A window of time, or the week that begins on the day of the records.
fn window(given: Option<Input<'_>>) -> Result<(Moment, Moment), String> {
    match given {
        None => Ok((Moment::march(2, 0, 0), Moment::march(9, 0, 0))),
        Some(window) => {
            let from = Moment::read(window.text("from")?)?;
            let to = Moment::read(window.text("to")?)?;
            if from < to {
                Ok((from, to))
            } else {
                Err("The window ends before it begins.".to_owned())
            }
        }
    }
}

fn rows(events: &[&Event]) -> Vec<Value> {
    events.iter().map(|event| event.row()).collect()
}

pub(super) fn list_calendars(_all: &mut Calendar, input: Input<'_>) -> Reply {
    let calendars: Vec<Value> = [
        ("team", "mara", "write"),
        ("rooms", "kofi", "read"),
        ("mara", "mara", "own"),
    ]
    .into_iter()
    .filter(|(_, _, access)| match input.text_or("access", "any") {
        "own" => *access == "own",
        "write" => *access != "read",
        _ => true,
    })
    .map(|(id, owner, access)| {
        json!({"id": id, "owner": owner, "access": access, "time_zone": "Europe/Berlin"})
    })
    .collect();
    let text: Vec<String> = calendars
        .iter()
        .filter_map(|calendar| {
            Some(format!(
                "{} ({})",
                calendar["id"].as_str()?,
                calendar["access"].as_str()?
            ))
        })
        .collect();
    reply(text.join("\n"), &json!({"calendars": calendars}))
}

pub(super) fn list_events(all: &mut Calendar, input: Input<'_>) -> Reply {
    let (from, to) = window(input.maybe_object("window"))?;
    let calendar = input.text_or("calendar", "team");
    let text = input.text_or("text", "").to_lowercase();
    let mut events: Vec<&Event> = all
        .events
        .iter()
        .filter(|event| event.calendar == calendar && event.overlaps(from, to))
        .filter(|event| {
            input
                .maybe_text("attendee")
                .is_none_or(|person| event.invites(person))
        })
        .filter(|event| {
            event.title.to_lowercase().contains(&text)
                || event
                    .notes
                    .iter()
                    .any(|note| note.text.to_lowercase().contains(&text))
        })
        .collect();
    events.sort_by_key(|event| event.start);
    events.truncate(input.count_or("limit", 50));
    let text: Vec<String> = events.iter().map(|event| event.line()).collect();
    reply(
        lines(&text, "There are no events."),
        &json!({"events": rows(&events)}),
    )
}

pub(super) fn get_event(all: &mut Calendar, input: Input<'_>) -> Reply {
    let event = all.event(input.text("event_id")?)?;
    reply(event.line(), &event.whole())
}

pub(super) fn find_free_time(all: &mut Calendar, input: Input<'_>) -> Reply {
    let (from, to) = window(input.maybe_object("window"))?;
    let minutes = input.int("duration_minutes")?;
    let mut required = Vec::new();
    let mut optional = Vec::new();
    for person in input.objects("people") {
        let name = person.text("person")?;
        all.person(name)?;
        if person.flag_or("required", true) {
            required.push(name);
        } else {
            optional.push(name);
        }
    }
    let mut found = Vec::new();
    let mut start = from.quarter();
    let most = input.count_or("max_results", 3);
    while found.len() < most && start.plus(minutes) <= to {
        let end = start.plus(minutes);
        let room = all
            .rooms
            .iter()
            .find(|room| all.room_taken(room.id, start, end).is_none());
        let suits = required.iter().all(|person| free(all, person, start, end))
            && (!input.flag_or("needs_room", false) || room.is_some());
        if suits {
            let also = optional
                .iter()
                .filter(|person| free(all, person, start, end))
                .count();
            found.push((start, end, also, room.map(|room| room.id)));
            start = end;
        } else {
            start = start.plus(15);
        }
    }
    let text: Vec<String> = found
        .iter()
        .map(|(start, _, also, _)| match optional.len() {
            0 => start.short(),
            people => format!(
                "{} ({also} of {people} optional people free)",
                start.short()
            ),
        })
        .collect();
    reply(
        lines(&text, "There is no such time in the window."),
        &json!({"times": found
            .iter()
            .map(|(start, end, also, room)| json!({
                "start": start.text(),
                "end": end.text(),
                "optional_free": also,
                "room": room,
            }))
            .collect::<Vec<_>>()}),
    )
}

/// Whether somebody works then, and has nothing else to do.
fn free(all: &Calendar, person: &str, from: Moment, to: Moment) -> bool {
    let (day, minute) = from.local();
    let works = all
        .person(person)
        .ok()
        .and_then(|person| person.hours.get(WEEKDAYS[day]))
        .is_some_and(|(begin, end)| *begin <= minute && minute + to.since(from) <= *end);
    works && all.occupied(person, from, to).is_none()
}

pub(super) fn check_availability(all: &mut Calendar, input: Input<'_>) -> Reply {
    let (from, to) = window(Some(input.object("window")?))?;
    let mut people = serde_json::Map::new();
    let mut text = Vec::new();
    for name in input.texts("people") {
        if all.person(name)?.private {
            text.push(format!("{name}: unknown"));
            people.insert(name.to_owned(), json!("unknown"));
            continue;
        }
        let mut busy: Vec<&Event> = all
            .events
            .iter()
            .filter(|event| event.occupies(name) && event.overlaps(from, to))
            .collect();
        busy.sort_by_key(|event| event.start);
        let times: Vec<String> = busy.iter().map(|event| event.start.short()).collect();
        text.push(format!(
            "{name}: busy {}",
            lines(&times, "never").replace('\n', ", ")
        ));
        let times: Vec<Value> = busy
            .iter()
            .map(|event| json!({"from": event.start.text(), "to": event.end.text()}))
            .collect();
        people.insert(name.to_owned(), json!(times));
    }
    reply(text.join("\n"), &json!({"busy": people}))
}

pub(super) fn list_rooms(all: &mut Calendar, input: Input<'_>) -> Reply {
    let equipment = input.texts("equipment");
    let free = match input.maybe_object("free") {
        None => None,
        given => Some(window(given)?),
    };
    let rooms: Vec<_> = all
        .rooms
        .iter()
        .filter(|room| room.seats >= input.int_or("min_seats", 1))
        .filter(|room| equipment.iter().all(|one| room.equipment.contains(one)))
        .filter(|room| free.is_none_or(|(from, to)| all.room_taken(room.id, from, to).is_none()))
        .collect();
    let text: Vec<String> = rooms
        .iter()
        .map(|room| {
            format!(
                "{}  {}, {} seats, {}",
                room.id,
                room.name,
                room.seats,
                room.equipment.join(", ")
            )
        })
        .collect();
    reply(
        lines(&text, "There is no such room."),
        &json!({"rooms": rooms
            .iter()
            .map(|room| json!({
                "id": room.id,
                "name": room.name,
                "seats": room.seats,
                "equipment": room.equipment,
            }))
            .collect::<Vec<_>>()}),
    )
}

pub(super) fn list_attendees(all: &mut Calendar, input: Input<'_>) -> Reply {
    let event = all.event(input.text("event_id")?)?;
    let wanted = input.text_or("answer", "any");
    let attendees: Vec<_> = event
        .attendees
        .iter()
        .filter(|attendee| wanted == "any" || attendee.answer == wanted)
        .collect();
    let text: Vec<String> = attendees
        .iter()
        .map(|attendee| format!("{}: {}", attendee.person, attendee.answer))
        .collect();
    reply(
        lines(&text, "Nobody."),
        &json!({"attendees": attendees
            .iter()
            .map(|attendee| json!({
                "person": attendee.person,
                "optional": attendee.optional,
                "answer": attendee.answer,
            }))
            .collect::<Vec<_>>()}),
    )
}

pub(super) fn list_holidays(_all: &mut Calendar, input: Input<'_>) -> Reply {
    let wanted = input.text("country")?;
    let month = input.maybe_month()?;
    let holidays: Vec<_> = HOLIDAYS
        .iter()
        .filter(|(country, ..)| *country == wanted)
        .filter(|(_, date, ..)| month.as_deref().is_none_or(|month| date.starts_with(month)))
        .collect();
    let text: Vec<String> = holidays
        .iter()
        .map(|(_, date, name, region)| match region {
            Some(region) => format!("{date}  {name} ({region})"),
            None => format!("{date}  {name}"),
        })
        .collect();
    reply(
        lines(&text, "There are no public holidays."),
        &json!({"holidays": holidays
            .iter()
            .map(|(_, date, name, region)| json!({"date": date, "name": name, "region": region}))
            .collect::<Vec<_>>()}),
    )
}

impl Input<'_> {
    /// The month that was asked for, as dates begin.
    fn maybe_month(self) -> Result<Option<String>, String> {
        if !self.has("month") {
            return Ok(None);
        }
        let month = self.int("month")?;
        if (1..=12).contains(&month) {
            Ok(Some(format!("2026-{month:02}-")))
        } else {
            Err(format!("{month} is not a month."))
        }
    }
}

/// Country, date, name, region where it is not kept everywhere.
#[rustfmt::skip]
const HOLIDAYS: &[(&str, &str, &str, Option<&str>)] = &[
    ("DE", "2026-01-01", "New Year's Day", None),
    ("DE", "2026-03-08", "International Women's Day", Some("Berlin, Mecklenburg-Vorpommern")),
    ("DE", "2026-04-03", "Good Friday", None),
    ("DE", "2026-04-06", "Easter Monday", None),
    ("DE", "2026-05-01", "Labour Day", None),
    ("DE", "2026-10-03", "German Unity Day", None),
    ("DE", "2026-12-25", "Christmas Day", None),
    ("FR", "2026-01-01", "New Year's Day", None),
    ("FR", "2026-04-06", "Easter Monday", None),
    ("FR", "2026-05-08", "Victory Day", None),
    ("FR", "2026-07-14", "Bastille Day", None),
    ("JP", "2026-01-01", "New Year's Day", None),
    ("JP", "2026-03-20", "Vernal Equinox Day", None),
    ("JP", "2026-05-05", "Children's Day", None),
    ("US", "2026-01-01", "New Year's Day", None),
    ("US", "2026-05-25", "Memorial Day", None),
    ("US", "2026-07-03", "Independence Day (observed)", None),
    ("US", "2026-11-26", "Thanksgiving", None),
];

//! Tools that change something.

use serde_json::{Value, json};

use super::data::{Attendee, Calendar, Event, Note};
use super::moment::{Moment, WEEKDAYS, clock};
use crate::samples::input::Input;
use crate::samples::tool::{Reply, reply};

fn changed(event: &Event, what: &str) -> Reply {
    reply(format!("{} {what}", event.id), &event.whole())
}

fn invited(input: Input<'_>) -> Result<Attendee, String> {
    Ok(Attendee {
        person: input.text("person")?.to_owned(),
        optional: input.flag_or("optional", false),
        answer: "none".to_owned(),
    })
}

pub(super) fn create_event(all: &mut Calendar, input: Input<'_>) -> Reply {
    let start = Moment::read(input.object("start")?.text("date_time")?)?;
    let end = Moment::read(input.object("end")?.text("date_time")?)?;
    if end <= start {
        return Err("The event ends before it begins.".to_owned());
    }
    let mut attendees = Vec::new();
    for attendee in input.objects("attendees") {
        all.person(attendee.text("person")?)?;
        let organizes = attendee.maybe_text("role") == Some("organizer");
        let at = if organizes { 0 } else { attendees.len() };
        attendees.insert(at, invited(attendee)?);
    }
    all.made += 1;
    let event = Event {
        id: format!("ev-{}", 100 + all.made),
        calendar: input.text_or("calendar", "team").to_owned(),
        title: input.text("title")?.to_owned(),
        start,
        end,
        attendees,
        room: None,
        location: input.maybe_text("location").map(str::to_owned),
        conference: input.text_or("conference", "none").to_owned(),
        visibility: input.text_or("visibility", "default").to_owned(),
        every: input
            .maybe_object("recurrence")
            .and_then(|recurrence| recurrence.maybe_text("every"))
            .map(str::to_owned),
        notes: Vec::new(),
    };
    let answer = reply(format!("Created {}", event.line()), &event.whole());
    all.events.push(event);
    answer
}

pub(super) fn update_event(all: &mut Calendar, input: Input<'_>) -> Reply {
    let changes = input.object("changes")?;
    let event = all.event(input.text("event_id")?)?;
    if let Some(title) = changes.maybe_text("title") {
        title.clone_into(&mut event.title);
    }
    if changes.has("location") {
        event.location = changes.maybe_text("location").map(str::to_owned);
    }
    if let Some(conference) = changes.maybe_text("conference") {
        conference.clone_into(&mut event.conference);
    }
    if let Some(visibility) = changes.maybe_text("visibility") {
        visibility.clone_into(&mut event.visibility);
    }
    changed(event, "updated")
}

pub(super) fn move_event(all: &mut Calendar, input: Input<'_>) -> Reply {
    let id = input.text("event_id")?;
    let start = Moment::read(input.text("new_start")?)?;
    let event = all.event(id)?;
    let end = start.plus(event.end.since(event.start));
    let people: Vec<String> = event
        .attendees
        .iter()
        .map(|attendee| attendee.person.clone())
        .collect();
    let busy: Vec<&String> = people
        .iter()
        .filter(|person| {
            all.events
                .iter()
                .any(|other| other.id != id && other.occupies(person) && other.overlaps(start, end))
        })
        .collect();
    if !busy.is_empty() && !input.flag_or("even_if_busy", false) {
        let busy: Vec<&str> = busy.into_iter().map(String::as_str).collect();
        return Err(format!(
            "Nothing was moved: {} would be busy. Set `even_if_busy` to move it nevertheless.",
            busy.join(", ")
        ));
    }
    let event = all.event(id)?;
    event.start = start;
    event.end = end;
    changed(event, &format!("moved to {}", start.short()))
}

pub(super) fn cancel_event(all: &mut Calendar, input: Input<'_>) -> Reply {
    let id = input.text("event_id")?;
    let told = all.event(id)?.attendees.len();
    all.events.retain(|event| event.id != id);
    reply(
        format!("Cancelled {id}; {told} people were told."),
        &json!({"event_id": id, "told": told, "message": input.maybe_text("message")}),
    )
}

pub(super) fn respond_to_event(all: &mut Calendar, input: Input<'_>) -> Reply {
    let person = input.text("person")?;
    let answer = input.text("answer")?;
    let proposed = input.maybe_text("propose_start").map(Moment::read);
    let event = all.event(input.text("event_id")?)?;
    let attendee = event
        .attendees
        .iter_mut()
        .find(|attendee| attendee.person == person)
        .ok_or_else(|| format!("{person} is not invited."))?;
    answer.clone_into(&mut attendee.answer);
    if let Some(proposed) = proposed {
        event.notes.push(Note {
            kind: "other".to_owned(),
            text: format!("{person} proposes {}", proposed?.short()),
            owner: None,
        });
    }
    changed(event, &format!("{answer} by {person}"))
}

pub(super) fn book_room(all: &mut Calendar, input: Input<'_>) -> Reply {
    let id = input.text("event_id")?;
    let room = input.text("room")?;
    if !all.rooms.iter().any(|own| own.id == room) {
        return Err(format!("There is no room {room}; see list_rooms."));
    }
    let event = all.event(id)?;
    let (start, end) = (event.start, event.end);
    match all.room_taken(room, start, end) {
        Some(other) if other.id != id => {
            return Err(format!("{room} is taken by {}", other.line()));
        }
        _ => {}
    }
    let event = all.event(id)?;
    event.room = Some(room.to_owned());
    changed(event, &format!("is in {room}"))
}

pub(super) fn release_room(all: &mut Calendar, input: Input<'_>) -> Reply {
    let event = all.event(input.text("event_id")?)?;
    let freed = event.room.take();
    let what = match &freed {
        Some(room) => format!("has left {room}"),
        None => "had no room".to_owned(),
    };
    changed(event, &what)
}

pub(super) fn add_attendees(all: &mut Calendar, input: Input<'_>) -> Reply {
    let attendees = input.objects("attendees");
    for attendee in &attendees {
        all.person(attendee.text("person")?)?;
    }
    let event = all.event(input.text("event_id")?)?;
    for attendee in attendees {
        if !event.invites(attendee.text("person")?) {
            event.attendees.push(invited(attendee)?);
        }
    }
    let count = event.attendees.len();
    changed(event, &format!("has {count} attendees"))
}

pub(super) fn remove_attendees(all: &mut Calendar, input: Input<'_>) -> Reply {
    let people = input.texts("people");
    let event = all.event(input.text("event_id")?)?;
    if let Some(organizer) = event.attendees.first()
        && people.contains(&organizer.person.as_str())
    {
        return Err(format!(
            "{} organizes the event and cannot be removed.",
            organizer.person
        ));
    }
    event
        .attendees
        .retain(|attendee| !people.contains(&attendee.person.as_str()));
    let count = event.attendees.len();
    changed(event, &format!("has {count} attendees"))
}

pub(super) fn add_note(all: &mut Calendar, input: Input<'_>) -> Reply {
    let text = input.text("text")?;
    let event = all.event(input.text("event_id")?)?;
    event.notes.push(Note {
        kind: input.text_or("kind", "other").to_owned(),
        text: text.to_owned(),
        owner: input.maybe_text("owner").map(str::to_owned),
    });
    let count = event.notes.len();
    changed(event, &format!("has {count} note(s)"))
}

pub(super) fn set_working_hours(all: &mut Calendar, input: Input<'_>) -> Reply {
    let name = input.text("person")?;
    all.person(name)?;
    let hours = input.object("hours")?;
    let Some(person) = all.people.iter_mut().find(|person| person.name == name) else {
        return Err(format!("Nobody is called {name}."));
    };
    for day in WEEKDAYS {
        if let Some(given) = hours.maybe_object(day) {
            let (from, to) = (clock(given.text("from")?)?, clock(given.text("to")?)?);
            person.hours.insert(day, (from, to));
        } else if hours.has(day) {
            person.hours.remove(day);
        }
    }
    let written: serde_json::Map<String, Value> = WEEKDAYS
        .iter()
        .filter_map(|day| {
            let (from, to) = person.hours.get(day)?;
            let clock = |minute: &i64| format!("{:02}:{:02}", minute / 60, minute % 60);
            Some((
                (*day).to_owned(),
                json!({"from": clock(from), "to": clock(to)}),
            ))
        })
        .collect();
    reply(
        format!("{name} works on {} days.", written.len()),
        &json!({"person": name, "hours": written}),
    )
}

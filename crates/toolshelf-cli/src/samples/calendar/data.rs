//! The records of the calendar.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::moment::{Moment, WEEKDAYS};

pub(super) struct Attendee {
    pub(super) person: String,
    pub(super) optional: bool,
    pub(super) answer: String,
}

pub(super) struct Note {
    pub(super) kind: String,
    pub(super) text: String,
    pub(super) owner: Option<String>,
}

pub(super) struct Event {
    pub(super) id: String,
    pub(super) calendar: String,
    pub(super) title: String,
    pub(super) start: Moment,
    pub(super) end: Moment,
    /// The first one is the organizer.
    pub(super) attendees: Vec<Attendee>,
    pub(super) room: Option<String>,
    pub(super) location: Option<String>,
    pub(super) conference: String,
    pub(super) visibility: String,
    pub(super) every: Option<String>,
    pub(super) notes: Vec<Note>,
}

pub(super) struct Room {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    pub(super) seats: i64,
    pub(super) equipment: &'static [&'static str],
}

/// A person, and from when to when they work on each day, in minutes of the day.
pub(super) struct Person {
    pub(super) name: &'static str,
    pub(super) private: bool,
    pub(super) hours: BTreeMap<&'static str, (i64, i64)>,
}

pub(super) struct Calendar {
    pub(super) events: Vec<Event>,
    pub(super) rooms: Vec<Room>,
    pub(super) people: Vec<Person>,
    pub(super) made: usize,
}

impl Event {
    pub(super) fn overlaps(&self, from: Moment, to: Moment) -> bool {
        self.start < to && from < self.end
    }

    pub(super) fn invites(&self, person: &str) -> bool {
        self.attendees
            .iter()
            .any(|attendee| attendee.person == person)
    }

    /// Whether it keeps a person from other events.
    pub(super) fn occupies(&self, person: &str) -> bool {
        self.attendees
            .iter()
            .any(|attendee| attendee.person == person && attendee.answer != "declined")
    }

    /// One line for a list.
    pub(super) fn line(&self) -> String {
        format!(
            "{}  {}, {} min: {}",
            self.id,
            self.start.short(),
            self.end.since(self.start),
            self.title
        )
    }

    /// The row of a list.
    pub(super) fn row(&self) -> Value {
        json!({
            "id": self.id,
            "title": self.title,
            "start": self.start.text(),
            "end": self.end.text(),
            "room": self.room,
            "attendees": self.attendees.iter().map(|own| &own.person).collect::<Vec<_>>(),
        })
    }

    /// Everything.
    pub(super) fn whole(&self) -> Value {
        json!({
            "id": self.id,
            "calendar": self.calendar,
            "title": self.title,
            "start": self.start.text(),
            "end": self.end.text(),
            "room": self.room,
            "location": self.location,
            "conference": self.conference,
            "visibility": self.visibility,
            "every": self.every,
            "attendees": self.attendees.iter().map(|own| json!({
                "person": own.person,
                "optional": own.optional,
                "answer": own.answer,
            })).collect::<Vec<_>>(),
            "notes": self.notes.iter().map(|own| json!({
                "kind": own.kind,
                "text": own.text,
                "owner": own.owner,
            })).collect::<Vec<_>>(),
        })
    }
}

impl Calendar {
    pub(super) fn event(&mut self, id: &str) -> Result<&mut Event, String> {
        self.events
            .iter_mut()
            .find(|event| event.id == id)
            .ok_or_else(|| format!("There is no event {id}."))
    }

    pub(super) fn person(&self, name: &str) -> Result<&Person, String> {
        self.people
            .iter()
            .find(|person| person.name == name)
            .ok_or_else(|| {
                let names: Vec<&str> = self.people.iter().map(|person| person.name).collect();
                format!("Nobody is called {name}; there are {}.", names.join(", "))
            })
    }

    /// The event that occupies a person in a window.
    pub(super) fn occupied(&self, person: &str, from: Moment, to: Moment) -> Option<&Event> {
        self.events
            .iter()
            .find(|event| event.occupies(person) && event.overlaps(from, to))
    }

    /// The event that has a room in a window.
    pub(super) fn room_taken(&self, room: &str, from: Moment, to: Moment) -> Option<&Event> {
        self.events
            .iter()
            .find(|event| event.room.as_deref() == Some(room) && event.overlaps(from, to))
    }

    /// The records as they are at every start.
    pub(super) fn new() -> Self {
        let hours = || {
            WEEKDAYS[..5]
                .iter()
                .map(|day| (*day, (9 * 60, 17 * 60)))
                .collect()
        };
        let person = |name, private| Person {
            name,
            private,
            hours: hours(),
        };
        Self {
            events: seed(),
            rooms: vec![
                room("atrium", "Atrium", 12, &["screen", "camera", "whiteboard"]),
                room("harbour", "Harbour", 6, &["screen", "phone"]),
                room("loft", "Loft", 4, &["whiteboard"]),
            ],
            people: vec![
                person("mara", false),
                person("jonas", false),
                person("yuki", false),
                person("tomas", false),
                person("amina", false),
                person("kofi", true),
            ],
            made: 0,
        }
    }
}

fn room(
    id: &'static str,
    name: &'static str,
    seats: i64,
    equipment: &'static [&'static str],
) -> Room {
    Room {
        id,
        name,
        seats,
        equipment,
    }
}

fn seed() -> Vec<Event> {
    let event = |n: usize, title: &str, start: Moment, minutes, people: &[&str]| Event {
        id: format!("ev-{n}"),
        calendar: "team".to_owned(),
        title: title.to_owned(),
        start,
        end: start.plus(minutes),
        attendees: people
            .iter()
            .map(|person| Attendee {
                person: (*person).to_owned(),
                optional: false,
                answer: "accepted".to_owned(),
            })
            .collect(),
        room: None,
        location: None,
        conference: "none".to_owned(),
        visibility: "default".to_owned(),
        every: None,
        notes: Vec::new(),
    };
    let mut events = vec![
        event(
            1,
            "Stand-up",
            Moment::march(2, 9, 30),
            15,
            &["mara", "jonas", "amina", "kofi"],
        ),
        event(
            2,
            "Checkout review",
            Moment::march(3, 10, 0),
            60,
            &["mara", "jonas", "amina"],
        ),
        event(
            3,
            "API v3 planning",
            Moment::march(3, 14, 0),
            90,
            &["yuki", "mara", "tomas"],
        ),
        event(
            4,
            "Interview",
            Moment::march(4, 9, 0),
            60,
            &["mara", "yuki"],
        ),
        event(
            5,
            "Incident review",
            Moment::march(4, 13, 0),
            45,
            &["tomas", "jonas", "kofi"],
        ),
        event(
            6,
            "Design critique",
            Moment::march(5, 11, 0),
            60,
            &["amina", "mara"],
        ),
        event(
            7,
            "Release rehearsal",
            Moment::march(6, 15, 0),
            90,
            &["jonas", "tomas", "yuki"],
        ),
    ];
    events[0].every = Some("weekday".to_owned());
    events[1].room = Some("harbour".to_owned());
    events[2].room = Some("atrium".to_owned());
    events[2].attendees[2].answer = "tentative".to_owned();
    events[6].conference = "video".to_owned();
    events
}

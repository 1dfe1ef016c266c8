//! Which servers are waited for, and for how long, while they start: a line on a terminal
//! that changes, and nothing anywhere else.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolshelf_core::GroupId;
use toolshelf_shelf::{Observer, ShelfEvent};

use crate::stderr;

/// Whatever is over sooner needs no line.
const PATIENCE: Duration = Duration::from_millis(400);

/// How often the line changes.
const INTERVAL: Duration = Duration::from_millis(100);

/// How many characters the bar has.
const BAR: usize = 12;

/// Shows what is waited for until it is dropped.
pub(crate) struct Waiting {
    table: Option<Arc<Table>>,
    drawing: Option<tokio::task::JoinHandle<()>>,
}

#[derive(Default)]
struct Table(Mutex<Servers>);

#[derive(Default)]
struct Servers {
    begun: BTreeMap<GroupId, Instant>,
    ended: usize,
}

impl Waiting {
    /// Begins to show, where somebody looks on. Needs a runtime.
    pub(crate) fn new() -> Self {
        if !stderr::is_watched() {
            return Self {
                table: None,
                drawing: None,
            };
        }
        let table = Arc::new(Table::default());
        let drawn = table.clone();
        let drawing = tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            loop {
                drawn.draw();
                tokio::time::sleep(INTERVAL).await;
            }
        });
        Self {
            table: Some(table),
            drawing: Some(drawing),
        }
    }

    /// Who has to be told of loads.
    pub(crate) fn observer(&self) -> Option<Arc<dyn Observer>> {
        let table = self.table.clone()?;
        Some(table)
    }

    /// Something is waited for that no shelf tells of.
    pub(crate) fn begin(&self, server: &GroupId) {
        if let Some(table) = &self.table {
            table.begin(server);
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(drawing) = &self.drawing {
            drawing.abort();
            // It may be drawing at this very moment, and does nothing after that.
            if let Some(table) = &self.table {
                table.lock().begun.clear();
            }
            stderr::clear();
        }
    }
}

impl Table {
    fn lock(&self) -> std::sync::MutexGuard<'_, Servers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, server: &GroupId) {
        self.lock().begun.insert(server.clone(), Instant::now());
    }

    fn end(&self, server: &GroupId) {
        let mut servers = self.lock();
        if servers.begun.remove(server).is_some() {
            servers.ended += 1;
        }
    }

    /// Draws while the table is locked, so that nothing is drawn after the end.
    fn draw(&self) {
        let servers = self.lock();
        match servers.line(Instant::now()) {
            Some(line) => stderr::show(&line),
            None => stderr::clear(),
        }
    }
}

impl Servers {
    fn line(&self, now: Instant) -> Option<String> {
        if self.begun.is_empty() {
            return None;
        }
        let all = self.ended + self.begun.len();
        let done = self.ended * BAR / all;
        let mut awaited: Vec<(&GroupId, Duration)> = self
            .begun
            .iter()
            .map(|(server, begun)| (server, now.saturating_duration_since(*begun)))
            .collect();
        // Who takes longest stands where the line is not cut.
        awaited.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        let awaited: Vec<String> = awaited
            .into_iter()
            .map(|(server, time)| format!("{server} {} s", time.as_secs()))
            .collect();
        Some(format!(
            "[{}{}] {} of {all} servers; waiting for {}",
            "=".repeat(done),
            " ".repeat(BAR - done),
            self.ended,
            awaited.join(", ")
        ))
    }
}

impl Observer for Table {
    fn observe(&self, event: &ShelfEvent) {
        match event {
            ShelfEvent::LoadStarted { group, .. } => self.begin(group),
            ShelfEvent::Loaded { group, .. } | ShelfEvent::LoadFailed { group, .. } => {
                self.end(group);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_who_is_waited_for() {
        let table = Table::default();
        assert_eq!(table.lock().line(Instant::now()), None);
        let [slow, slower, done] = ["slow", "slower", "done"].map(|id| GroupId::new(id).unwrap());
        for id in [&slower, &slow, &done] {
            table.begin(id);
        }
        table.end(&done);
        let begun = table.lock().begun[&slower];
        table
            .lock()
            .begun
            .insert(slow, begun + Duration::from_secs(2));
        assert_eq!(
            table.lock().line(begun + Duration::from_secs(5)).unwrap(),
            "[====        ] 1 of 3 servers; waiting for slower 5 s, slow 3 s"
        );
    }
}

//! Figures and how they are shown: a table for people, or JSON for programs.

use std::time::Duration;

use serde_json::{Map, Value};

/// The quantile of a sample, by the nearest rank; zero of none.
pub(crate) fn quantile(times: &[Duration], at: f64) -> Duration {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let rank = (at * sorted.len() as f64).ceil() as usize;
    sorted
        .get(rank.max(1).min(sorted.len().max(1)) - 1)
        .copied()
        .unwrap_or_default()
}

/// A duration in milliseconds.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}

/// Rows of named figures.
#[derive(Debug, Default)]
pub(crate) struct Report {
    title: String,
    unit: String,
    columns: Vec<&'static str>,
    rows: Vec<(String, Vec<Option<f64>>)>,
    notes: Vec<String>,
}

impl Report {
    /// A table without rows. All its figures are of one unit.
    pub(crate) fn new(
        title: impl Into<String>,
        unit: impl Into<String>,
        columns: &[&'static str],
    ) -> Self {
        Self {
            title: title.into(),
            unit: unit.into(),
            columns: columns.to_vec(),
            ..Self::default()
        }
    }

    /// Adds a row; what is not there stays empty.
    pub(crate) fn row(
        &mut self,
        name: impl Into<String>,
        figures: impl IntoIterator<Item = impl Into<Option<f64>>>,
    ) {
        let figures = figures.into_iter().map(Into::into).collect();
        self.rows.push((name.into(), figures));
    }

    /// Adds a line below the table.
    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Writes it to standard output.
    pub(crate) fn print(&self, as_json: bool) {
        if as_json {
            println!("{}", self.json());
        } else {
            print!("{}", self.text());
        }
    }

    fn json(&self) -> Value {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|(name, figures)| {
                let mut row = Map::new();
                row.insert("what".to_owned(), Value::from(name.as_str()));
                for (column, figure) in self.columns.iter().zip(figures) {
                    row.insert((*column).to_owned(), Value::from(*figure));
                }
                Value::Object(row)
            })
            .collect();
        serde_json::json!({
            "title": self.title, "unit": self.unit, "rows": rows, "notes": self.notes,
        })
    }

    fn text(&self) -> String {
        use std::fmt::Write as _;
        let widest = self.rows.iter().map(|(name, _)| name.chars().count());
        let width = widest.max().unwrap_or(0);
        let mut text = format!("{} ({})\n\n{:width$}", self.title, self.unit, "");
        // Writing to a string cannot fail.
        for column in &self.columns {
            let _ = write!(text, "  {column:>12}");
        }
        text.push('\n');
        for (name, figures) in &self.rows {
            let _ = write!(text, "{name:width$}");
            for figure in figures {
                match figure {
                    Some(figure) => {
                        let _ = write!(text, "  {figure:>12.3}");
                    }
                    None => {
                        let _ = write!(text, "  {:>12}", "");
                    }
                }
            }
            text.push('\n');
        }
        text.push('\n');
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_one_of_the_sample() {
        let times: Vec<Duration> = (1..=100).rev().map(Duration::from_millis).collect();
        assert_eq!(quantile(&times, 0.0).as_millis(), 1);
        assert_eq!(quantile(&times, 0.5).as_millis(), 50);
        assert_eq!(quantile(&times, 0.99).as_millis(), 99);
        assert_eq!(quantile(&times, 1.0).as_millis(), 100);
        assert_eq!(quantile(&[], 0.5), Duration::ZERO);
    }
}

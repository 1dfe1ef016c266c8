//! Moments, to the minute. The records live in one time zone, an hour before UTC, and
//! in one year; a calendar for use needs a library.

const DAY: i64 = 24 * 60;

/// Minutes from UTC in the time zone of the records.
const OFFSET: i64 = 60;

/// The keys of days as they stand in schemas, from Monday.
pub(super) const WEEKDAYS: [&str; 7] = ["mo", "tu", "we", "th", "fr", "sa", "su"];

/// Minutes since 1970 in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Moment(i64);

impl Moment {
    /// Reads RFC 3339; seconds are dropped.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        parse(text)
            .ok_or_else(|| format!("'{text}' is not a time such as 2026-03-04T10:00:00+01:00"))
    }

    /// A moment of March 2026 in the time zone of the records.
    pub(super) fn march(day: i64, hour: i64, minute: i64) -> Self {
        Self(days(2026, 3, day) * DAY + hour * 60 + minute - OFFSET)
    }

    pub(super) fn plus(self, minutes: i64) -> Self {
        Self(self.0.saturating_add(minutes))
    }

    /// The minutes from another moment to this one.
    pub(super) fn since(self, other: Self) -> i64 {
        self.0.saturating_sub(other.0)
    }

    /// The day of the week (0 is Monday) and the minute of the day.
    pub(super) fn local(self) -> (usize, i64) {
        let local = self.0 + OFFSET;
        // 1 January 1970 was a Thursday.
        let weekday = (local.div_euclid(DAY) + 3).rem_euclid(7);
        (usize::try_from(weekday).unwrap_or(0), local.rem_euclid(DAY))
    }

    /// The next full quarter of an hour, this one included.
    pub(super) fn quarter(self) -> Self {
        Self((self.0 + 14).div_euclid(15) * 15)
    }

    /// RFC 3339.
    pub(super) fn text(self) -> String {
        let local = self.0 + OFFSET;
        let (year, month, day) = civil(local.div_euclid(DAY));
        let minute = local.rem_euclid(DAY);
        format!(
            "{year:04}-{month:02}-{day:02}T{:02}:{:02}:00+01:00",
            minute / 60,
            minute % 60
        )
    }

    /// For people: `Wed 4 Mar 10:00`.
    pub(super) fn short(self) -> String {
        const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
        const MONTHS: [&str; 12] = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ];
        let (_, month, day) = civil((self.0 + OFFSET).div_euclid(DAY));
        let (weekday, minute) = self.local();
        let month = usize::try_from(month - 1).unwrap_or(0);
        format!(
            "{} {day} {} {:02}:{:02}",
            DAYS[weekday % 7],
            MONTHS[month % 12],
            minute / 60,
            minute % 60
        )
    }
}

/// Reads `HH:MM` as minutes of a day.
pub(super) fn clock(text: &str) -> Result<i64, String> {
    let minutes = text.split_once(':').and_then(|(hour, minute)| {
        let (hour, minute) = (number(hour, 23)?, number(minute, 59)?);
        Some(hour * 60 + minute)
    });
    minutes.ok_or_else(|| format!("'{text}' is not a time of day such as 09:30"))
}

fn parse(text: &str) -> Option<Moment> {
    let (date, rest) = text.split_once(['T', 't', ' '])?;
    let mut parts = date.splitn(3, '-');
    let year = number(parts.next()?, 9999)?;
    let month = number(parts.next()?, 12).filter(|month| *month > 0)?;
    let day = number(parts.next()?, 31).filter(|day| *day > 0)?;
    let zone_at = rest.find(['Z', 'z', '+', '-'])?;
    let (time, zone) = rest.split_at(zone_at);
    let mut parts = time.split(':');
    let hour = number(parts.next()?, 23)?;
    let minute = number(parts.next()?, 59)?;
    let offset = match zone {
        "Z" | "z" => 0,
        _ => {
            let (hours, minutes) = zone.get(1..)?.split_once(':')?;
            let size = number(hours, 23)? * 60 + number(minutes, 59)?;
            if zone.starts_with('-') { -size } else { size }
        }
    };
    Some(Moment(
        days(year, month, day) * DAY + hour * 60 + minute - offset,
    ))
}

fn number(text: &str, max: i64) -> Option<i64> {
    text.parse().ok().filter(|n| (0..=max).contains(n))
}

/// Days from 1 January 1970 in the proleptic Gregorian calendar; years begin in March
/// so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes() {
        for (text, again) in [
            ("2026-03-04T10:00:00+01:00", "2026-03-04T10:00:00+01:00"),
            ("2026-03-04T09:00:00Z", "2026-03-04T10:00:00+01:00"),
            ("2024-02-29T23:30:59.5-05:00", "2024-03-01T05:30:00+01:00"),
            ("1969-12-31T23:00:00Z", "1970-01-01T00:00:00+01:00"),
        ] {
            assert_eq!(Moment::read(text).unwrap().text(), again);
        }
        assert_eq!(Moment::march(4, 10, 0).short(), "Wed 4 Mar 10:00");
        for text in [
            "",
            "tomorrow",
            "2026-13-01T00:00:00Z",
            "2026-03-04",
            "2026-03-04T10:00:00",
        ] {
            assert!(Moment::read(text).is_err(), "{text}");
        }
    }
}

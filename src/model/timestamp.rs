//! Times as people and databases write them, read into one form: seconds since 1970, in UTC.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Numbers above this are milliseconds. As seconds, they would be beyond the year 5000.
const MAX_SECONDS: i64 = 100_000_000_000;

/// Reads a time: RFC 3339 with a zone, `YYYY-MM-DD HH:MM[:SS]` or a date in UTC, or seconds or
/// milliseconds since 1970.
pub fn parse(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<i64>() {
        return from_number(number);
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_second());
    }
    let bare = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let at_midnight = |date: Date| date.at(0, 0, 0, 0);
    let time = bare
        .parse::<DateTime>()
        .or_else(|_| format!("{bare}:00").parse::<DateTime>())
        .or_else(|_| bare.parse::<Date>().map(at_midnight))
        .ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

/// Reads a time that is stored as a number.
pub fn from_number(number: i64) -> Option<i64> {
    let seconds = if number.abs() > MAX_SECONDS { number / 1_000 } else { number };
    Timestamp::from_second(seconds).ok().map(Timestamp::as_second)
}

/// Formats a time as `2026-01-25T11:58:02Z`. A time beyond the range is the last one.
pub fn format(seconds: i64) -> String {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_time_is_the_same_second() {
        for text in [
            "2026-01-25T11:58:02Z",
            "2026-01-25T12:58:02+01:00",
            "2026-01-25 11:58:02",
            "2026-01-25T11:58:02.345Z",
            "1769342282",
            "1769342282000",
        ] {
            assert_eq!(parse(text).map(format).as_deref(), Some("2026-01-25T11:58:02Z"), "{text}");
        }
        assert_eq!(parse("2026-01-25").map(format).as_deref(), Some("2026-01-25T00:00:00Z"));
        assert_eq!(parse("2026-01-25T11:58Z").map(format).as_deref(), Some("2026-01-25T11:58:00Z"));
        assert_eq!(parse("yesterday"), None);
    }
}

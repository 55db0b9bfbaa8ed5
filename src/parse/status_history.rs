//! Chooses the entry that counts in a list of statuses.

use crate::model::{Status, status_words};

/// One line or item that may state a status.
pub(super) struct StatusEntry {
    /// Its plain text.
    pub(super) text: String,
    /// Its line.
    pub(super) line: u32,
}

/// Returns the entry with the current status: the last that says "superseded", or else the one with
/// the latest date, or else the last of a list of bare words, or else the first known.
///
/// A list of four or more different statuses is a template's list of alternatives.
pub(super) fn latest(entries: &[StatusEntry]) -> Option<&StatusEntry> {
    let status = |entry: &StatusEntry| status_words::parse(&entry.text);
    let known: Vec<(&StatusEntry, Status)> =
        entries.iter().filter_map(|entry| Some((entry, status(entry)?))).collect();
    let [(first, _), .., (last, _)] = known.as_slice() else {
        return known.first().map(|(entry, _)| *entry).or_else(|| entries.first());
    };
    let dated = known.iter().filter_map(|(entry, _)| Some((date(&entry.text)?, *entry)));
    let dated: Vec<(&str, &StatusEntry)> = dated.collect();
    if dated.len() >= 2 {
        return dated.iter().max_by_key(|(date, _)| *date).map(|(_, entry)| *entry);
    }
    let is_bare = |text: &str| text.split_whitespace().count() <= 2;
    let all_bare = known.iter().all(|(entry, _)| is_bare(&entry.text));
    let mut distinct: Vec<Status> = known.iter().map(|(_, status)| *status).collect();
    distinct.sort_unstable();
    distinct.dedup();
    if all_bare && distinct.len() >= 4 {
        return None;
    }
    let superseded = known.iter().rev().find(|(_, status)| *status == Status::Superseded);
    Some(superseded.map_or(if all_bare { *last } else { *first }, |(entry, _)| *entry))
}

/// Returns the first date in a text: `2020-01-02`.
fn date(text: &str) -> Option<&str> {
    let is_date = |date: &str| {
        date.bytes().enumerate().all(|(at, b)| match at {
            4 | 7 => b == b'-',
            _ => b.is_ascii_digit(),
        })
    };
    let starts = text.bytes().enumerate().filter(|(_, b)| matches!(b, b'1' | b'2'));
    starts.filter_map(|(at, _)| text.get(at..at + 10)).find(|date| is_date(date))
}

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
/// A list of four or more different statuses is a template's list of alternatives. A list that
/// defines three or more of them describes a process.
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
    let n_distinct = |chosen: &dyn Fn(&StatusEntry) -> bool| {
        let mut statuses: Vec<Status> =
            known.iter().filter(|(entry, _)| chosen(entry)).map(|(_, status)| *status).collect();
        statuses.sort_unstable();
        statuses.dedup();
        statuses.len()
    };
    // A definition may continue on the next line, which does not begin with a status.
    let defines = |entry: &StatusEntry| is_definition(&entry.text);
    let states = |entry: &StatusEntry| {
        !is_definition(&entry.text) && status_words::begins_with_status(&entry.text)
    };
    let is_legend = n_distinct(&defines) >= 3;
    if all_bare && n_distinct(&|_| true) >= 4 || is_legend && n_distinct(&states) == 0 {
        return None;
    }
    // Above a legend of the possible statuses there is the one that counts.
    if is_legend {
        return known.iter().map(|(entry, _)| *entry).find(|entry| states(entry));
    }
    let superseded = known.iter().rev().find(|(_, status)| *status == Status::Superseded);
    Some(superseded.map_or(if all_bare { *last } else { *first }, |(entry, _)| *entry))
}

/// Returns true if a text explains a status: `` `replaced`: another document took its place ``.
fn is_definition(text: &str) -> bool {
    let split = text.split_once(": ").or_else(|| text.split_once(" - "));
    let split = split.or_else(|| text.split_once(" – ")).or_else(|| text.split_once(" — "));
    split.is_some_and(|(word, explanation)| {
        let n_words = |text: &str| text.split_whitespace().count();
        n_words(word) <= 3 && n_words(explanation) >= 4 && status_words::begins_with_status(word)
    })
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

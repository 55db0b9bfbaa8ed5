//! Cuts lines that are too long or nest too deeply, and counts YAML values, before a parser runs.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser};

use super::LineIndex;
use crate::model::byte_scan::prefix;
use crate::model::plan::Limits;
use crate::model::plural::counted;
use crate::model::{Code, Note};

/// At most this many lines per limit are reported one by one; the others are only counted.
const MAX_REPORTED: usize = 3;

/// Every 64 bytes of a scalar count as an additional value.
const SCALAR_BYTES: usize = 64;

/// A line that is over a limit.
struct CutLine {
    code: Code,
    line: u32,
    /// Offset in the line of the part that was removed.
    at: usize,
    n_bytes: usize,
}

/// Cuts every line that is too long, or that nests quotes and lists too deeply, at the limit. Line
/// numbers do not change. The Markdown parser takes quadratic time for deep quotes, so they must be
/// cut before it runs.
pub(super) fn cut_lines<'a>(
    text: Cow<'a, str>,
    limits: &Limits,
    notes: &mut Vec<Note>,
) -> (Cow<'a, str>, LineIndex) {
    let lines = LineIndex::new(&text);
    let max = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let (max_bytes, max_depth) = (max(limits.line_bytes), max(limits.nesting));
    let cut = |line: &str| -> Option<(usize, Code)> {
        // A level of nesting takes at least one byte, so most lines are short enough to skip.
        if line.len() <= max_depth.min(max_bytes) {
            return None;
        }
        let deep = deep_at(line, max_depth).map(|at| (at, Code::DeepMarkdown));
        let long = || (prefix(line, max_bytes).len(), Code::LongLine);
        deep.or_else(|| (line.len() > max_bytes).then(long))
    };
    if lines.lines(&text).all(|line| cut(line).is_none()) {
        return (text, lines);
    }
    let mut shortened = String::with_capacity(text.len());
    let mut cut_lines = Vec::new();
    for (line, whole) in (1..).zip(text.split_inclusive('\n')) {
        let bare = whole.trim_end_matches(['\n', '\r']);
        let end = cut(bare).map(|(at, code)| {
            cut_lines.push(CutLine { code, line, at, n_bytes: bare.len() });
            at
        });
        shortened.push_str(&bare[..end.unwrap_or(bare.len())]);
        shortened.push_str(&whole[bare.len()..]);
    }
    report(&cut_lines, limits, notes);
    let lines = LineIndex::new(&shortened);
    (Cow::Owned(shortened), lines)
}

fn report(cut_lines: &[CutLine], limits: &Limits, notes: &mut Vec<Note>) {
    for code in [Code::LongLine, Code::DeepMarkdown] {
        let lines = cut_lines.iter().filter(|cut| cut.code == code);
        for CutLine { line, at, n_bytes, .. } in lines.clone().take(MAX_REPORTED) {
            let (message, key) = match code {
                Code::LongLine => (
                    format!(
                        "the line has {n_bytes} bytes, over the limit of {}",
                        limits.line_bytes
                    ),
                    "line_bytes",
                ),
                _ => (
                    format!("quotes and lists nest deeper than the limit of {}", limits.nesting),
                    "nesting",
                ),
            };
            let message = format!("{message}; the rest of the line is not read");
            let hint = Some(format!("shorten it, or raise limits.{key} in .blue/config.yaml"));
            let column = u32::try_from(*at).map_or(1, |at| at.saturating_add(1));
            notes.push(Note { code, line: *line, column, message, hint });
        }
        let n_more = lines.count().saturating_sub(MAX_REPORTED);
        if n_more > 0 {
            let verb = if n_more == 1 { "is" } else { "are" };
            let message = format!("{} {verb} over the same limit", counted(n_more, "more line"));
            notes.push(Note { code, line: 0, column: 0, message, hint: None });
        }
    }
}

/// Returns the offset at which a line opens a quote or a list deeper than the limit. Two columns
/// of space before a marker can mean one more list around it, so they count as a level.
fn deep_at(line: &str, max: usize) -> Option<usize> {
    let bytes = line.as_bytes();
    let (mut at, mut depth) = (0, 0);
    loop {
        let marker = bytes[at..].iter().position(|b| !matches!(b, b' ' | b'\t'))? + at;
        let columns: usize =
            bytes[at..marker].iter().map(|b| if *b == b'\t' { 4 } else { 1 }).sum();
        depth += columns.saturating_sub(usize::from(at > 0)) / 2;
        let n_digits = bytes[marker..].iter().take(10).take_while(|b| b.is_ascii_digit()).count();
        let gap = |after: usize| matches!(bytes.get(after), None | Some(b' ' | b'\t'));
        at = match bytes[marker] {
            b'>' => marker + 1,
            b'-' | b'+' | b'*' if gap(marker + 1) => marker + 1,
            b'0'..=b'9'
                if n_digits < 10
                    && matches!(bytes.get(marker + n_digits), Some(b'.' | b')'))
                    && gap(marker + n_digits + 1) =>
            {
                marker + n_digits + 1
            }
            _ => return None,
        };
        depth += 1;
        if depth > max {
            return (!is_rule(bytes)).then_some(marker);
        }
    }
}

/// Returns true if a line is a thematic break: `- - - -`.
fn is_rule(bytes: &[u8]) -> bool {
    let sign = bytes.iter().find(|b| !b.is_ascii_whitespace());
    sign.is_some_and(|sign| {
        matches!(sign, b'-' | b'*') && bytes.iter().all(|b| b == sign || b.is_ascii_whitespace())
    })
}

/// Returns true if a YAML text has more values than the limit once its aliases are expanded.
/// Without aliases it cannot have more values than bytes.
pub(super) fn has_too_many_values(yaml: &str, limits: &Limits) -> bool {
    let bytes = yaml.as_bytes();
    if memchr::memchr(b'*', bytes).is_none() || memchr::memchr(b'&', bytes).is_none() {
        return false;
    }
    // The number of values of each anchor, so that nothing has to be expanded to be counted.
    let mut anchored: BTreeMap<usize, u64> = BTreeMap::new();
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut n_values = 0u64;
    for event in Parser::new_from_str(yaml) {
        let Ok((event, _)) = event else { return false };
        match event {
            Event::Alias(anchor) => {
                let n_expanded = anchored.get(&anchor).copied().unwrap_or(1);
                n_values = n_values.saturating_add(n_expanded);
            }
            Event::Scalar(value, _, anchor, _) => {
                let size = 1 + (value.len() / SCALAR_BYTES) as u64;
                n_values = n_values.saturating_add(size);
                anchored.insert(anchor, size);
            }
            Event::SequenceStart(anchor, _) | Event::MappingStart(anchor, _) => {
                open.push((anchor, n_values));
                n_values = n_values.saturating_add(1);
            }
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some((anchor, before)) = open.pop() {
                    anchored.insert(anchor, n_values - before);
                }
            }
            _ => {}
        }
        if n_values > limits.yaml_values {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_between_characters_and_later_lines_keep_their_numbers() {
        let limits = Limits { line_bytes: 4, ..Limits::default() };
        let mut notes = Vec::new();
        let (text, lines) = cut_lines("ab\r\nabcéf\r\nabcd\nz".into(), &limits, &mut notes);
        assert_eq!(text, "ab\r\nabc\r\nabcd\nz");
        assert_eq!(lines.text(&text, 4), "z");
        assert_eq!((notes.len(), notes[0].line, notes[0].column), (1, 2, 4));
    }

    #[test]
    fn deep_quotes_and_lists_are_cut_and_thematic_breaks_are_not() {
        let limits = Limits { nesting: 3, ..Limits::default() };
        for (deep, cut) in [
            ("> > > > a", "> > > "),
            (">>>>a", ">>>"),
            ("- 1. + * a", "- 1. + "),
            ("      - - a", "      "),
            ("> >     - a", "> >     "),
        ] {
            let mut notes = Vec::new();
            let (text, _) = cut_lines(deep.into(), &limits, &mut notes);
            assert_eq!((&*text, notes[0].code), (cut, Code::DeepMarkdown), "{deep}");
        }
        for fine in ["> > > a > > b", "- - - - - -", "    - a", "-a -b -c -d", "          a - b"] {
            let mut notes = Vec::new();
            assert_eq!(cut_lines(fine.into(), &limits, &mut notes).0, fine);
            assert!(notes.is_empty(), "{fine}");
        }
    }

    #[test]
    fn an_alias_counts_as_the_values_of_its_anchor() {
        let laughs: String = (1..9)
            .map(|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", ")))
            .collect();
        let laughs = format!("a0: &a0 lol\n{laughs}");
        assert!(has_too_many_values(&laughs, &Limits::default()));
        let copied = format!("a: &a {}\nb: [{}]\n", "x".repeat(30_000), ["*a"; 5_000].join(", "));
        assert!(
            has_too_many_values(&copied, &Limits::default()),
            "long scalars count as several values"
        );
        assert!(!has_too_many_values("a: &a [1, 2]\nb: *a\nc: 'x * y & z'\n", &Limits::default()));
        let cycle = "a: &a [*a]\n";
        assert!(
            !has_too_many_values(cycle, &Limits::default()),
            "the YAML parser rejects cycles itself"
        );
    }
}

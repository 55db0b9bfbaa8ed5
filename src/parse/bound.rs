//! What is too long or too wide to be read whole.

use std::borrow::Cow;
use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser};

use super::Lines;
use crate::model::plan::Limits;
use crate::model::plural::counted;
use crate::model::{Code, Note};

/// At most this many lines are placed one by one; the rest are counted.
const MAX_PLACED: usize = 3;

/// So many bytes of one scalar count as one value more.
const SCALAR_BYTES: usize = 64;

/// Takes off what stands beyond a limit in each line: too far on, or too deep in quotes and lists.
/// Lines keep their numbers. A parser of Markdown takes quadratic time under deep quotes, so they
/// are cut before it sees them.
pub(super) fn lines<'a>(
    text: Cow<'a, str>,
    limits: &Limits,
    notes: &mut Vec<Note>,
) -> (Cow<'a, str>, Lines) {
    let all = Lines::new(&text);
    let max = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let (max_bytes, max_depth) = (max(limits.line_bytes), max(limits.nesting));
    let cut = |line: &str| -> Option<(usize, Code)> {
        // A level has at least one byte, so that most lines are not looked at.
        if line.len() <= max_depth.min(max_bytes) {
            return None;
        }
        let deep = deep_at(line, max_depth).map(|at| (at, Code::DeepMarkdown));
        let long = || (start(line, max_bytes).len(), Code::LongLine);
        deep.or_else(|| (line.len() > max_bytes).then(long))
    };
    if all.all(&text).all(|line| cut(line).is_none()) {
        return (text, all);
    }
    let mut kept = String::with_capacity(text.len());
    let mut found = Vec::new();
    for (number, whole) in (1..).zip(text.split_inclusive('\n')) {
        let bare = whole.trim_end_matches(['\n', '\r']);
        let end = cut(bare).map(|(at, code)| {
            found.push((code, number, at, bare.len()));
            at
        });
        kept.push_str(&bare[..end.unwrap_or(bare.len())]);
        kept.push_str(&whole[bare.len()..]);
    }
    tell(&found, limits, notes);
    let lines = Lines::new(&kept);
    (Cow::Owned(kept), lines)
}

/// Says which lines were cut: code, line, offset in it, and its bytes.
fn tell(found: &[(Code, u32, usize, usize)], limits: &Limits, notes: &mut Vec<Note>) {
    for code in [Code::LongLine, Code::DeepMarkdown] {
        let lines = found.iter().filter(|(found, ..)| *found == code);
        for (_, line, at, n_bytes) in lines.clone().take(MAX_PLACED) {
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
        let n_more = lines.count().saturating_sub(MAX_PLACED);
        if n_more > 0 {
            let (lines, are) =
                (counted(n_more, "more line"), if n_more == 1 { "is" } else { "are" });
            let message = format!("{lines} {are} over the same limit");
            notes.push(Note { code, line: 0, column: 0, message, hint: None });
        }
    }
}

/// At most so many bytes of a text, cut between two characters.
pub(super) fn start(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Where a line opens a quote or a list deeper than the limit. Two columns of space before a
/// marker can stand for a list around it, but no more than that.
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

/// Whether a line is a rule across the page: `- - - -`.
fn is_rule(bytes: &[u8]) -> bool {
    let sign = bytes.iter().find(|b| !b.is_ascii_whitespace());
    sign.is_some_and(|sign| {
        matches!(sign, b'-' | b'*') && bytes.iter().all(|b| b == sign || b.is_ascii_whitespace())
    })
}

/// Whether a YAML text has more values than the limit once its aliases are followed. Without
/// aliases it has no more than its bytes.
pub(super) fn is_wide(yaml: &str, limits: &Limits) -> bool {
    let bytes = yaml.as_bytes();
    if memchr::memchr(b'*', bytes).is_none() || memchr::memchr(b'&', bytes).is_none() {
        return false;
    }
    // What each anchor stands for, counted once: nothing is expanded to be counted.
    let mut anchored: BTreeMap<usize, u64> = BTreeMap::new();
    let mut open: Vec<(usize, u64)> = Vec::new();
    let mut n_values = 0u64;
    for event in Parser::new_from_str(yaml) {
        let Ok((event, _)) = event else { return false };
        match event {
            Event::Alias(anchor) => {
                let grown = anchored.get(&anchor).copied().unwrap_or(1);
                n_values = n_values.saturating_add(grown);
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
    fn a_long_line_is_cut_at_a_character_and_the_rest_keeps_its_place() {
        let limits = Limits { line_bytes: 4, ..Limits::default() };
        let mut notes = Vec::new();
        let (text, kept) = lines("ab\r\nabcéf\r\nabcd\nz".into(), &limits, &mut notes);
        assert_eq!(text, "ab\r\nabc\r\nabcd\nz");
        assert_eq!(kept.text(&text, 4), "z");
        assert_eq!((notes.len(), notes[0].line, notes[0].column), (1, 2, 4));
    }

    #[test]
    fn deep_quotes_and_lists_are_cut_and_rules_are_not() {
        let limits = Limits { nesting: 3, ..Limits::default() };
        for (deep, cut) in [
            ("> > > > a", "> > > "),
            (">>>>a", ">>>"),
            ("- 1. + * a", "- 1. + "),
            ("      - - a", "      "),
            ("> >     - a", "> >     "),
        ] {
            let mut notes = Vec::new();
            let (text, _) = lines(deep.into(), &limits, &mut notes);
            assert_eq!((&*text, notes[0].code), (cut, Code::DeepMarkdown), "{deep}");
        }
        for fine in ["> > > a > > b", "- - - - - -", "    - a", "-a -b -c -d", "          a - b"] {
            let mut notes = Vec::new();
            assert_eq!(lines(fine.into(), &limits, &mut notes).0, fine);
            assert!(notes.is_empty(), "{fine}");
        }
    }

    #[test]
    fn aliases_are_counted_as_what_they_stand_for() {
        let laughs: String = (1..9)
            .map(|i| format!("a{i}: &a{i} [{}]\n", vec![format!("*a{}", i - 1); 9].join(", ")))
            .collect();
        let laughs = format!("a0: &a0 lol\n{laughs}");
        assert!(is_wide(&laughs, &Limits::default()));
        let copied = format!("a: &a {}\nb: [{}]\n", "x".repeat(30_000), ["*a"; 5_000].join(", "));
        assert!(is_wide(&copied, &Limits::default()), "bytes count, too");
        assert!(!is_wide("a: &a [1, 2]\nb: *a\nc: 'x * y & z'\n", &Limits::default()));
        assert!(!is_wide("a: &a [*a]\n", &Limits::default()), "the parser refuses a circle itself");
    }
}

//! Private keys in PEM and PuTTY format: complete or cut off, in quotations, code and strings.

use std::ops::Range;

use super::{Hit, slice};

pub(super) const ANCHORS: [&str; 2] = ["private key", "putty-user-key-file-"];

/// Limits of a key's lines, and of its length if it is in one line.
const MAX_LINES: usize = 2_000;
const MAX_BYTES: usize = 16_384;

/// A shortened key with more bytes still reveals too much.
const MAX_SHORTENED: usize = 160;

/// Finds the key that begins in the line of an anchor.
pub(super) fn find(text: &str, at: &Range<usize>) -> Option<Hit> {
    let putty = text.as_bytes()[at.start].eq_ignore_ascii_case(&b'p')
        && text.as_bytes()[at.start + 1].eq_ignore_ascii_case(&b'u');
    let start = if putty { at.start } else { opening(text, at)? };
    let after = match putty {
        true => at.end,
        false => at.end + slice(text, at.end..at.end + 16).find("----")? + 4,
    };
    let end = marked_end(text, after)
        .or_else(|| end_in_line(text, after))
        .or_else(|| end_in_lines(text, after))?;
    // In a manual, the middle of a key is left out.
    let key = &text[after..end];
    if key.len() < MAX_SHORTENED && (key.contains("...") || key.contains('…')) {
        return None;
    }
    let rule = if putty { "putty private key" } else { "private key" };
    Some(Hit { range: start..end, rule, confidence: 3 })
}

/// Returns the start of `-----BEGIN RSA ` before the anchor.
fn opening(text: &str, at: &Range<usize>) -> Option<usize> {
    let before = slice(text, at.start.saturating_sub(48)..at.start);
    let upper = before.to_ascii_uppercase();
    let begin = ["-----BEGIN", "---- BEGIN"].iter().find_map(|begin| upper.rfind(begin))?;
    (!before[begin..].contains('\n')).then(|| at.start - before.len() + begin)
}

/// Returns the end of a key with an `-----END` line, if there is a key before it. Its lines may
/// have any prefix and suffix.
fn marked_end(text: &str, after: usize) -> Option<usize> {
    let rest = slice(text, after..after + MAX_BYTES);
    let upper = rest.to_ascii_uppercase();
    let end = memchr::memmem::find_iter(upper.as_bytes(), "END ").find_map(|at| {
        let start = upper[..at].trim_end_matches(['-', ' ']).len();
        upper[start..at].find("---").map(|dashes| start + dashes)
    })?;
    let is_separator = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='));
    let is_key = rest[..end].split(is_separator).any(|word| word.len() >= 24);
    // The key ends with the dashes of that line, or with the line if there are none.
    let words = rest[end..].trim_start_matches('-');
    let n_rest = match words.split_once("----") {
        Some((_, rest)) => rest.trim_start_matches('-').len(),
        None => words.len() - words.lines().next().map_or(0, str::len),
    };
    is_key.then(|| after + rest.len() - n_rest)
}

/// Returns the end of a key in one line, as in JSON.
fn end_in_line(text: &str, after: usize) -> Option<usize> {
    let line = slice(text, after..after + MAX_BYTES).lines().next().unwrap_or_default();
    let end = line.find(['"', '\'', '`']).unwrap_or(line.len());
    let key = &line[..end];
    let n = key.bytes().filter(u8::is_ascii_alphanumeric).count();
    (n >= 32).then_some(after + end)
}

/// Returns the end of the last line that can be part of a key.
fn end_in_lines(text: &str, after: usize) -> Option<usize> {
    let mut end = None;
    let mut at = after + slice(text, after..after + MAX_BYTES).find('\n')? + 1;
    let mut n_others = 0;
    for line in text[at..].split_inclusive('\n').take(MAX_LINES) {
        let bare = line.trim_matches(|c: char| c.is_whitespace() || ">\"'`+,\\|*#/".contains(c));
        let bare = bare.trim_end_matches("\\n");
        let last = at + line.trim_end().len();
        if bare.contains("-----END") {
            return end.map(|_| last);
        }
        match is_key_line(bare) {
            true => (end, n_others) = (Some(last), 0),
            false if bare.is_empty() || is_header(bare) => {}
            false => n_others += 1,
        }
        if n_others > 2 {
            break;
        }
        at += line.len();
    }
    end
}

/// Returns true if a line is base64, and not a word.
fn is_key_line(line: &str) -> bool {
    let base64 = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    line.len() >= 8
        && line.bytes().all(base64)
        && line.bytes().any(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
        && line.bytes().any(|b| !b.is_ascii_digit())
}

fn is_header(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(key, _)| key.len() < 24 && !key.contains(' '))
        || line.contains(": ") && line.len() < 80 && line.starts_with("Private-")
}

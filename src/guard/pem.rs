//! Private keys in blocks: PEM and PuTTY, whole or cut off, in quotations, code and strings.

use std::ops::Range;

use super::anchor::part;
use super::secret::Hit;

/// The most lines of a key.
const MAX_LINES: usize = 2_000;

/// The most bytes of a key in one line.
const MAX_BYTES: usize = 16_384;

/// The key that begins in the line of an anchor.
pub(super) fn find(text: &str, at: &Range<usize>) -> Option<Hit> {
    let putty = text.as_bytes()[at.start].eq_ignore_ascii_case(&b'p')
        && text.as_bytes()[at.start + 1].eq_ignore_ascii_case(&b'u');
    let start = if putty { at.start } else { opening(text, at)? };
    let after = match putty {
        true => at.end,
        false => at.end + part(text, at.end..at.end + 16).find("----")? + 4,
    };
    let end = up_to_its_end(text, after)
        .or_else(|| in_line(text, after))
        .or_else(|| in_lines(text, after))?;
    let rule = if putty { "putty private key" } else { "private key" };
    Some(Hit { range: start..end, rule, sureness: 3 })
}

/// Where `-----BEGIN RSA ` before the words begins.
fn opening(text: &str, at: &Range<usize>) -> Option<usize> {
    let before = part(text, at.start.saturating_sub(48)..at.start);
    let upper = before.to_ascii_uppercase();
    let begin = ["-----BEGIN", "---- BEGIN"].iter().find_map(|begin| upper.rfind(begin))?;
    (!before[begin..].contains('\n')).then(|| at.start - before.len() + begin)
}

/// Where the key ends that says so, whatever stands before and behind each of its lines; if there is
/// a key between.
fn up_to_its_end(text: &str, after: usize) -> Option<usize> {
    let rest = part(text, after..after + MAX_BYTES);
    let upper = rest.to_ascii_uppercase();
    let end = memchr::memmem::find_iter(upper.as_bytes(), "END ").find_map(|at| {
        let start = upper[..at].trim_end_matches(['-', ' ']).len();
        upper[start..at].find("---").map(|dashes| start + dashes)
    })?;
    let signs = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '='));
    let is_key = rest[..end].split(signs).any(|word| word.len() >= 24);
    // Up to the dashes behind its words, or to the end of the line where there are none.
    let words = rest[end..].trim_start_matches('-');
    let left = match words.split_once("----") {
        Some((_, left)) => left.trim_start_matches('-').len(),
        None => words.len() - words.lines().next().map_or(0, str::len),
    };
    is_key.then(|| after + rest.len() - left)
}

/// The end of a key that is written in one line, as in JSON.
fn in_line(text: &str, after: usize) -> Option<usize> {
    let line = part(text, after..after + MAX_BYTES).lines().next().unwrap_or_default();
    let end = line.find(['"', '\'', '`']).unwrap_or(line.len());
    let key = &line[..end];
    let n = key.bytes().filter(u8::is_ascii_alphanumeric).count();
    (n >= 32).then_some(after + end)
}

/// The end of a key that follows in lines: that of its last line that can be part of one.
fn in_lines(text: &str, after: usize) -> Option<usize> {
    let mut end = None;
    let mut at = after + part(text, after..after + MAX_BYTES).find('\n')? + 1;
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

/// Whether a line is nothing but base64, and not a word.
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

//! Splits a text into the pieces that are encoded separately, by the rule of o200k.
//!
//! ```text
//!   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! | [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! | \p{N}{1,3}
//! |  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! | \s*[\r\n]+
//! | \s+(?!\S)
//! | \s+
//! ```

use super::layout::Class;
use super::vocabulary::class;

/// Returns the length of the first piece of a text.
pub(super) fn first_piece(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    let first_class = class(first);
    let after_first = &text[first.len_utf8()..];
    let may_lead = matches!(first_class, Class::Other | Class::Mark | Class::Space);
    for word in [lower_case_word, upper_case_word] {
        let led = may_lead.then(|| word(after_first)).flatten();
        if let Some(n_bytes) = led.map(|n| n + first.len_utf8()).or_else(|| word(text)) {
            return n_bytes + contraction(&text[n_bytes..]);
        }
    }
    if first_class == Class::Number {
        let digits = text.chars().take(3).take_while(|c| class(*c) == Class::Number);
        return digits.map(char::len_utf8).sum();
    }
    let led = (first == ' ').then(|| symbols(after_first)).flatten().map(|n| n + 1);
    led.or_else(|| symbols(text)).unwrap_or_else(|| blank(text))
}

/// Matches a word that may start with capitals and does not end in one.
fn lower_case_word(text: &str) -> Option<usize> {
    let n_upper = run(text, |class| matches!(class, Class::Upper | Class::Caseless | Class::Mark));
    let n_lower = run(&text[n_upper..], is_lower);
    if n_lower > 0 {
        return Some(n_upper + n_lower);
    }
    // The regular expression backtracks to the last character that is not a capital.
    let back = text[..n_upper].char_indices().rev().find(|(_, c)| is_lower(class(*c)));
    back.map(|(at, c)| at + c.len_utf8())
}

/// Matches a word that starts with capitals.
fn upper_case_word(text: &str) -> Option<usize> {
    let n_upper = run(text, |class| matches!(class, Class::Upper | Class::Caseless | Class::Mark));
    (n_upper > 0).then(|| n_upper + run(&text[n_upper..], is_lower))
}

fn is_lower(class: Class) -> bool {
    matches!(class, Class::Lower | Class::Caseless | Class::Mark)
}

/// Returns the length of a contraction such as `'s` at the start of a text.
fn contraction(text: &str) -> usize {
    let mut chars = text.chars();
    if chars.next() != Some('\'') {
        return 0;
    }
    // A rule that ignores case treats the long s as an s.
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    let second = chars.next().map(|c| c.to_ascii_lowercase());
    match (first, second) {
        (Some('s' | 't' | 'm' | 'd'), _) => 2,
        (Some('ſ'), _) => 1 + 'ſ'.len_utf8(),
        (Some('r' | 'v'), Some('e')) | (Some('l'), Some('l')) => 3,
        _ => 0,
    }
}

/// Matches a run of symbols and the line ends and slashes after it.
fn symbols(text: &str) -> Option<usize> {
    let n_symbols = run(text, |class| matches!(class, Class::Other | Class::Mark));
    let tail = text[n_symbols..].bytes().take_while(|byte| b"\r\n/".contains(byte));
    (n_symbols > 0).then(|| n_symbols + tail.count())
}

/// Matches white space up to its last line end, or else all of it except the last character if a
/// word follows.
fn blank(text: &str) -> usize {
    let n_bytes = run(text, |class| matches!(class, Class::Space | Class::Newline));
    let blank = &text[..n_bytes];
    match (blank.rfind(['\r', '\n']), blank.char_indices().next_back()) {
        (Some(at), _) => at + 1,
        (None, Some((at, _))) if at > 0 && n_bytes < text.len() => at,
        _ => n_bytes,
    }
}

/// Returns the length of the longest start of a text whose characters are all in some classes.
fn run(text: &str, within: impl Fn(Class) -> bool) -> usize {
    text.char_indices().find(|(_, c)| !within(class(*c))).map_or(text.len(), |(at, _)| at)
}

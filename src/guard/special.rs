//! Tokens that are more than a beginning and a number of signs.

use std::ops::Range;

use super::base64;
use super::form::Of;
use super::format::length;
use super::secret::Hit;

/// What each is called, a part that nothing else has, and how the signs around that part are checked.
pub(super) const SPECIAL: &[(&str, &str, Check)] = &[
    ("json web token", "eyJ", json_web_token),
    ("telegram token", ":AA", telegram_token),
    ("azure client secret", "8Q~", azure_secret),
    ("azure signature", "sig=", azure_signature),
    ("azure key", "JQQJ99", azure_key),
    ("mailchimp key", "-us", mailchimp_key),
    ("new relic key", "NRAL", new_relic_key),
    ("maxmind key", "_mmk", maxmind_key),
    ("airtable token", "pat", airtable_token),
    ("clickup token", "pk_", clickup_token),
    ("1password secret key", "A3-", secret_key),
    ("braintree token", "access_token$", braintree_token),
];

type Check = fn(&str, usize) -> Option<Range<usize>>;

/// No token is longer than this.
const MAX_TOKEN: usize = 8_192;

/// Nor the header of one than this.
const MAX_HEADER: usize = 2_048;

/// Three parts of base64, the first of which is JSON that names an algorithm.
pub(super) fn json_web_token(signs: &str, at: usize) -> Option<Range<usize>> {
    let bytes = signs.as_bytes();
    let end = at + memchr::memchr(b'.', &bytes[at..bytes.len().min(at + MAX_HEADER)])?;
    let header = base64::decoded(&bytes[at..end]);
    memchr::memmem::find(&header, b"\"alg\"")?;
    let n = length(&bytes[at..], MAX_TOKEN, |b| Of::Url.has(b) || b == b'.');
    let token = signs[at..at + n].trim_end_matches('.');
    let rest = token.get(end - at + 1..)?;
    (rest.len() >= 16 && rest.contains('.')).then(|| at..at + token.len())
}

/// `123456789:AA…`, the number of a bot and its key.
fn telegram_token(signs: &str, at: usize) -> Option<Range<usize>> {
    let n_digits = signs[..at].bytes().rev().take(11).take_while(u8::is_ascii_digit).count();
    let key = length(&signs.as_bytes()[at + 1..], 36, |b| Of::Url.has(b));
    let fits = (8..=10).contains(&n_digits) && (33..=36).contains(&key);
    fits.then(|| at - n_digits..at + 1 + key)
}

/// Three signs, `8Q~` or the like, and some thirty more.
fn azure_secret(signs: &str, at: usize) -> Option<Range<usize>> {
    let sign = |b: u8| Of::Url.has(b) || matches!(b, b'~' | b'.');
    let before = signs[..at].bytes().rev().take(4).take_while(|b| sign(*b)).count();
    let after = length(&signs.as_bytes()[at + 3..], 36, sign);
    let fits = before == 3 && (30..=36).contains(&after);
    fits.then(|| at - 3..at + 3 + after)
}

/// The signature among the parameters of an address.
fn azure_signature(signs: &str, at: usize) -> Option<Range<usize>> {
    let asked = signs[..at].ends_with(['&', '?', ';']);
    let sign = |b: u8| Of::Parts.has(b) || Of::Base64.has(b);
    let n = length(&signs.as_bytes()[at + 4..], 120, sign);
    (asked && (40..=120).contains(&n)).then(|| at + 4..at + 4 + n)
}

/// Eighty-four signs, six of which say whose they are.
fn azure_key(signs: &str, at: usize) -> Option<Range<usize>> {
    let (before, after) = around(signs, at..at + 6, 60, |b| Of::Plain.has(b));
    let fits = (80..=90).contains(&(before + 6 + after)) && before >= 40;
    fits.then(|| at - before..at + 6 + after)
}

/// Thirty-two hexadecimal digits and the data centre behind them.
fn mailchimp_key(signs: &str, at: usize) -> Option<Range<usize>> {
    let (before, _) = around(signs, at..at + 3, 40, |b| Of::Hex.has(b));
    let n_digits = length(&signs.as_bytes()[at + 3..], 2, |b| b.is_ascii_digit());
    let fits = before == 32 && (1..=2).contains(&n_digits);
    fits.then(|| at - before..at + 3 + n_digits)
}

/// Thirty-six hexadecimal digits, the first of which may be a region, with the end that all have.
fn new_relic_key(signs: &str, at: usize) -> Option<Range<usize>> {
    let (before, after) = around(signs, at..at + 4, 40, |b| Of::Plain.has(b));
    let hex = signs[at - before..at].bytes().skip(6).all(|b| Of::Hex.has(b));
    (before == 36 && after == 0 && hex).then(|| at - before..at + 4)
}

/// Six signs, twenty-nine more and the end that all have.
fn maxmind_key(signs: &str, at: usize) -> Option<Range<usize>> {
    let (before, after) = around(signs, at..at + 4, 40, |b| Of::Url.has(b));
    let parted = signs.as_bytes()[at - before..at].get(6) == Some(&b'_');
    (before == 36 && after == 0 && parted).then(|| at - before..at + 4)
}

/// Fourteen signs, a full stop and sixty-four hexadecimal digits.
fn airtable_token(signs: &str, at: usize) -> Option<Range<usize>> {
    let rest = &signs.as_bytes()[at + 3..];
    let hex = rest.get(15..)?;
    let fits = length(rest, 14, |b| Of::Plain.has(b)) == 14
        && rest[14] == b'.'
        && length(hex, 64, |b| Of::Hex.has(b)) == 64;
    fits.then(|| at..at + 3 + 15 + 64)
}

/// The number of a person and thirty-two capitals and digits.
fn clickup_token(signs: &str, at: usize) -> Option<Range<usize>> {
    let rest = &signs.as_bytes()[at + 3..];
    let n_digits = length(rest, 10, |b| b.is_ascii_digit());
    let key = rest.get(n_digits + 1..)?;
    let fits = (5..=10).contains(&n_digits)
        && rest[n_digits] == b'_'
        && length(key, 32, |b| Of::Capitals.has(b)) == 32;
    fits.then(|| at..at + 3 + n_digits + 1 + 32)
}

/// Groups of capitals and digits, six or seven of them.
fn secret_key(signs: &str, at: usize) -> Option<Range<usize>> {
    let n = length(&signs.as_bytes()[at + 3..], 40, |b| Of::Capitals.has(b) || b == b'-');
    let key = signs[at + 3..at + 3 + n].trim_end_matches('-');
    let groups: Vec<usize> = key.split('-').map(str::len).collect();
    let fits = matches!(groups[..], [6, 11, 5, 5, 5] | [6, 6, 5, 5, 5, 5]);
    (fits && key.bytes().any(|b| b.is_ascii_digit())).then(|| at..at + 3 + key.len())
}

/// `access_token$production$…$…`.
fn braintree_token(signs: &str, at: usize) -> Option<Range<usize>> {
    let n = length(&signs.as_bytes()[at..], 100, |b| Of::Url.has(b) || b == b'$');
    let mut parts = signs[at..at + n].split('$').skip(2);
    let (who, key) = (parts.next()?, parts.next()?);
    (who.len() >= 16 && key.len() == 32).then(|| at..at + n)
}

/// How many signs that fit stand before and behind a place, at most so many and one more.
fn around(
    signs: &str,
    at: Range<usize>,
    most: usize,
    fits: impl Fn(u8) -> bool + Copy,
) -> (usize, usize) {
    let before = signs.as_bytes()[..at.start].iter().rev().take(most + 1);
    let n_before = before.take_while(|b| fits(**b)).count();
    (n_before, length(&signs.as_bytes()[at.end..], most, fits))
}

/// The token of a Discord bot: its number in base64, a time and a signature.
pub(super) fn dotted(signs: &str, start: usize, hits: &mut Vec<Hit>) {
    if !(55..=4096).contains(&signs.len()) {
        return;
    }
    let mut at = start;
    for word in signs.split(|c: char| !c.is_ascii() || !(Of::Url.has(c as u8) || c == '.')) {
        if (58..=76).contains(&word.len()) && is_discord(word) {
            hits.push(Hit { range: at..at + word.len(), rule: "discord token", sureness: 3 });
        }
        // Runs are ASCII, so what ends a word is one byte.
        at += word.len() + 1;
    }
}

fn is_discord(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    matches!(lengths[..], [23..=28, 6, 27..=40])
        && base64::decoded(parts[0].as_bytes()).iter().all(u8::is_ascii_digit)
}

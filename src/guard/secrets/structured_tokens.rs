//! Tokens that need more than a prefix and an alphabet to be recognised.

use std::ops::Range;

use super::token_patterns::{Alphabet, count_up_to};
use super::{Hit, base64};

/// Name, distinctive part, and the function that checks the characters around that part.
pub(super) const STRUCTURED: &[(&str, &str, TokenCheck)] = &[
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
    ("1password secret key", "A3-", onepassword_secret_key),
    ("braintree token", "access_token$", braintree_token),
];

type TokenCheck = fn(&str, usize) -> Option<Range<usize>>;

/// The longest token, and the longest header of one, in bytes.
const MAX_TOKEN: usize = 8_192;
const MAX_HEADER: usize = 2_048;

/// Matches three parts of base64, the first of which is JSON that names an algorithm.
pub(super) fn json_web_token(run: &str, at: usize) -> Option<Range<usize>> {
    let bytes = run.as_bytes();
    let end = at + memchr::memchr(b'.', &bytes[at..bytes.len().min(at + MAX_HEADER)])?;
    let header = base64::decode(&bytes[at..end]);
    memchr::memmem::find(&header, b"\"alg\"")?;
    let n = count_up_to(MAX_TOKEN, &bytes[at..], |b| Alphabet::Url.contains(b) || b == b'.');
    let token = run[at..at + n].trim_end_matches('.');
    let rest = token.get(end - at + 1..)?;
    // Without a payload it is the signature of another text. Encrypted for the key of a recipient
    // it is a message, which only the recipient can read.
    let is_detached = rest.starts_with('.');
    let is_message =
        rest.matches('.').count() == 3 && memchr::memmem::find(&header, b"ECDH").is_some();
    if is_detached || is_message {
        return None;
    }
    (rest.len() >= 16 && rest.contains('.')).then(|| at..at + token.len())
}

/// Matches `123456789:AA…`, the number of a bot and its key.
fn telegram_token(run: &str, at: usize) -> Option<Range<usize>> {
    let n_digits = run[..at].bytes().rev().take(11).take_while(u8::is_ascii_digit).count();
    let key = count_up_to(36, &run.as_bytes()[at + 1..], |b| Alphabet::Url.contains(b));
    let fits = (8..=10).contains(&n_digits) && (33..=36).contains(&key);
    fits.then(|| at - n_digits..at + 1 + key)
}

/// Matches three characters, `8Q~` and about thirty more.
fn azure_secret(run: &str, at: usize) -> Option<Range<usize>> {
    let in_token = |b: u8| Alphabet::Url.contains(b) || matches!(b, b'~' | b'.');
    let before = run[..at].bytes().rev().take(4).take_while(|b| in_token(*b)).count();
    let after = count_up_to(36, &run.as_bytes()[at + 3..], in_token);
    let fits = before == 3 && (30..=36).contains(&after);
    fits.then(|| at - 3..at + 3 + after)
}

/// Matches the signature among the parameters of a URL.
fn azure_signature(run: &str, at: usize) -> Option<Range<usize>> {
    let is_parameter = run[..at].ends_with(['&', '?', ';']);
    let in_token = |b: u8| Alphabet::Parts.contains(b) || Alphabet::Base64.contains(b);
    let n = count_up_to(120, &run.as_bytes()[at + 4..], in_token);
    (is_parameter && (40..=120).contains(&n)).then(|| at + 4..at + 4 + n)
}

/// Matches about 84 characters, six of which identify the service.
fn azure_key(run: &str, at: usize) -> Option<Range<usize>> {
    let (before, after) = count_around(run, at..at + 6, 60, |b| Alphabet::Plain.contains(b));
    let fits = (80..=90).contains(&(before + 6 + after)) && before >= 40;
    fits.then(|| at - before..at + 6 + after)
}

/// Matches 32 hexadecimal digits with the data centre behind them.
fn mailchimp_key(run: &str, at: usize) -> Option<Range<usize>> {
    let (before, _) = count_around(run, at..at + 3, 40, |b| Alphabet::Hex.contains(b));
    let n_digits = count_up_to(2, &run.as_bytes()[at + 3..], |b| b.is_ascii_digit());
    let fits = before == 32 && (1..=2).contains(&n_digits);
    fits.then(|| at - before..at + 3 + n_digits)
}

/// Matches 36 hexadecimal digits, the first six of which may be a region, with a fixed end.
fn new_relic_key(run: &str, at: usize) -> Option<Range<usize>> {
    let (before, after) = count_around(run, at..at + 4, 40, |b| Alphabet::Plain.contains(b));
    let hex = run[at - before..at].bytes().skip(6).all(|b| Alphabet::Hex.contains(b));
    (before == 36 && after == 0 && hex).then(|| at - before..at + 4)
}

/// Matches six characters, 29 more and a fixed end.
fn maxmind_key(run: &str, at: usize) -> Option<Range<usize>> {
    let (before, after) = count_around(run, at..at + 4, 40, |b| Alphabet::Url.contains(b));
    let is_parted = run.as_bytes()[at - before..at].get(6) == Some(&b'_');
    (before == 36 && after == 0 && is_parted).then(|| at - before..at + 4)
}

/// Matches 14 characters, a full stop and 64 hexadecimal digits.
fn airtable_token(run: &str, at: usize) -> Option<Range<usize>> {
    let rest = &run.as_bytes()[at + 3..];
    let hex = rest.get(15..)?;
    let fits = count_up_to(14, rest, |b| Alphabet::Plain.contains(b)) == 14
        && rest[14] == b'.'
        && count_up_to(64, hex, |b| Alphabet::Hex.contains(b)) == 64;
    fits.then(|| at..at + 3 + 15 + 64)
}

/// Matches the number of a user, and 32 capitals and digits.
fn clickup_token(run: &str, at: usize) -> Option<Range<usize>> {
    let rest = &run.as_bytes()[at + 3..];
    let n_digits = count_up_to(10, rest, |b| b.is_ascii_digit());
    let key = rest.get(n_digits + 1..)?;
    let fits = (5..=10).contains(&n_digits)
        && rest[n_digits] == b'_'
        && count_up_to(32, key, |b| Alphabet::Capitals.contains(b)) == 32;
    fits.then(|| at..at + 3 + n_digits + 1 + 32)
}

/// Matches six or seven groups of capitals and digits, with the prefix.
fn onepassword_secret_key(run: &str, at: usize) -> Option<Range<usize>> {
    let n =
        count_up_to(40, &run.as_bytes()[at + 3..], |b| Alphabet::Capitals.contains(b) || b == b'-');
    let key = run[at + 3..at + 3 + n].trim_end_matches('-');
    let groups: Vec<usize> = key.split('-').map(str::len).collect();
    let fits = matches!(groups[..], [6, 11, 5, 5, 5] | [6, 6, 5, 5, 5, 5]);
    (fits && key.bytes().any(|b| b.is_ascii_digit())).then(|| at..at + 3 + key.len())
}

/// Matches `access_token$production$…$…`.
fn braintree_token(run: &str, at: usize) -> Option<Range<usize>> {
    let n = count_up_to(100, &run.as_bytes()[at..], |b| Alphabet::Url.contains(b) || b == b'$');
    let mut parts = run[at..at + n].split('$').skip(2);
    let (merchant, key) = (parts.next()?, parts.next()?);
    (merchant.len() >= 16 && key.len() == 32).then(|| at..at + n)
}

/// Counts the bytes that fit before and after a range, each up to one more than the maximum.
fn count_around(
    run: &str,
    at: Range<usize>,
    max: usize,
    fits: impl Fn(u8) -> bool + Copy,
) -> (usize, usize) {
    let before = run.as_bytes()[..at.start].iter().rev().take(max + 1);
    let n_before = before.take_while(|b| fits(**b)).count();
    (n_before, count_up_to(max, &run.as_bytes()[at.end..], fits))
}

/// Finds tokens of Discord bots: a number in base64, a time and a signature.
pub(super) fn find_discord_tokens(run: &str, start: usize, hits: &mut Vec<Hit>) {
    // Most long runs are paths and URLs, and those without two dots are no such token.
    let n_dots = || memchr::memchr_iter(b'.', run.as_bytes()).take(2).count();
    if !(55..=4096).contains(&run.len()) || n_dots() < 2 {
        return;
    }
    let mut at = start;
    for word in run.split(|c: char| !c.is_ascii() || !(Alphabet::Url.contains(c as u8) || c == '.'))
    {
        if (58..=76).contains(&word.len()) && is_discord(word) {
            hits.push(Hit { range: at..at + word.len(), rule: "discord token", confidence: 3 });
        }
        // Runs are ASCII, so a separator is one byte.
        at += word.len() + 1;
    }
}

fn is_discord(word: &str) -> bool {
    let parts: Vec<&str> = word.split('.').collect();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    matches!(lengths[..], [23..=28, 6, 27..=40])
        && base64::decode(parts[0].as_bytes()).iter().all(u8::is_ascii_digit)
}

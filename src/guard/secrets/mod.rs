//! Finds text that looks like a credential. `redaction` replaces it.

mod base64;
mod command_passwords;
mod keyed_values;
mod private_keys;
mod public_values;
mod randomness;
mod redaction;
mod structured_tokens;
mod table_passwords;
mod token_patterns;
mod url_passwords;
mod wrapped_tokens;

use std::borrow::Cow;
use std::ops::Range;

use super::anchors::{self, Anchor, AnchorKind, slice};
use super::rules::Phrase;
use redaction::Secret;

/// A range that a rule matches. If several rules match, the one with the highest confidence names
/// the secret.
struct Hit {
    range: Range<usize>,
    /// The name of the secret in messages.
    rule: &'static str,
    confidence: u8,
}

/// Returns the anchors at which the rules are checked.
pub(super) fn anchors() -> impl Iterator<Item = (AnchorKind, Cow<'static, str>)> {
    let fixed = [
        (AnchorKind::Url, &url_passwords::ANCHORS[..]),
        (AnchorKind::PrivateKey, &private_keys::ANCHORS),
        (AnchorKind::Authorization, &keyed_values::AUTHORIZATION_ANCHORS),
        (AnchorKind::EncodedLogin, &keyed_values::ENCODED_LOGIN_ANCHORS),
        (AnchorKind::SecretWord, &table_passwords::PASS_HEADINGS),
    ];
    let fixed = fixed.into_iter().flat_map(|(kind, strings)| {
        strings.iter().map(move |string| (kind, Cow::Borrowed(*string)))
    });
    let commands = command_passwords::anchors().map(|anchor| (AnchorKind::Command, anchor));
    let words = keyed_values::SEARCHED.iter().flat_map(|(kind, table)| {
        let anchors = table.phrases().iter().flat_map(Phrase::anchors);
        anchors.map(move |anchor| (*kind, anchor))
    });
    fixed.chain(words).chain(commands)
}

/// Finds everything that looks like a credential, in order and without overlaps.
pub(super) fn find(text: &str, anchors: &[Anchor]) -> Vec<Secret> {
    let of_kind = |kind| anchors::of_kind(anchors, kind);
    let mut hits = Vec::new();
    let mut done = 0;
    for at in of_kind(AnchorKind::PrivateKey).filter(|at| at.end < text.len()) {
        if at.start >= done
            && let Some(hit) = private_keys::find(text, at)
        {
            done = hit.range.end;
            hits.push(hit);
        }
    }
    hits.extend(of_kind(AnchorKind::Url).filter_map(|at| url_passwords::find(text, at)));
    let passwords = of_kind(AnchorKind::PasswordWord);
    hits.extend(passwords.filter_map(|at| keyed_values::find_password(text, at)));
    let headers = of_kind(AnchorKind::Authorization);
    hits.extend(headers.filter_map(|at| keyed_values::find_authorization(text, at)));
    let logins = of_kind(AnchorKind::EncodedLogin);
    hits.extend(logins.filter_map(|at| keyed_values::find_encoded_login(text, at)));
    of_kind(AnchorKind::Command).for_each(|at| command_passwords::find(text, at, &mut hits));
    table_passwords::find(text, anchors, &mut hits);
    // AWS keys are short: wrapped in two lines, they may not form a run of `MIN_RUN` bytes.
    for at in of_kind(AnchorKind::SecretWord).filter(|at| &text[Range::clone(at)] == "AKIA") {
        let n = text[at.end..].bytes().take(MIN_RUN).take_while(u8::is_ascii_alphanumeric).count();
        wrapped_tokens::find(text, &(at.start..at.end + n), &mut hits);
    }
    let words = keyed_values::word_offsets(anchors);
    for run in runs(text) {
        token_patterns::find(text, &run, &mut hits);
        wrapped_tokens::find(text, &run, &mut hits);
        if keyed_values::is_near(&words, &run) {
            keyed_values::find_random(text, &run, &mut hits);
        }
    }
    let is_example = |hit: &Hit| public_values::is_known_example(&text[hit.range.clone()]);
    let hits = merge(hits).into_iter().filter(|hit| !is_example(hit));
    hits.map(|hit| Secret::new(text, hit)).collect()
}

/// Sorts the hits and joins those that overlap.
fn merge(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.range.start, hit.range.end));
    let mut merged: Vec<Hit> = Vec::new();
    for hit in hits {
        match merged.last_mut().filter(|last| hit.range.start < last.range.end) {
            Some(last) => {
                last.range.end = last.range.end.max(hit.range.end);
                if hit.confidence > last.confidence {
                    (last.rule, last.confidence) = (hit.rule, hit.confidence);
                }
            }
            None => merged.push(hit),
        }
    }
    merged
}

/// Minimum length of a run that is scanned without an anchor.
const MIN_RUN: usize = 16;

/// True for the bytes of tokens, and of URLs with tokens in them.
const IN_RUN: [bool; 256] = {
    let mut table = [false; 256];
    let mut b = b'!';
    while b <= b'~' {
        table[b as usize] = !matches!(
            b,
            b'(' | b')' | b'[' | b']' | b'{' | b'}' | b'<' | b'>' | b'"' | b'\'' | b'|' | b','
        );
        b += 1;
    }
    table
};

/// Returns the runs of at least `MIN_RUN` such bytes.
///
/// Words are short, so most bytes are never tested. The next `MIN_RUN` bytes are tested from the
/// end, and no run can start before the last byte that is not part of one.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = 0;
    std::iter::from_fn(move || {
        loop {
            let window = bytes.get(start..start + MIN_RUN)?;
            match window.iter().rposition(|b| !IN_RUN[*b as usize]) {
                Some(at) => start += at + 1,
                None => break,
            }
        }
        let after = start + MIN_RUN;
        let n_more = bytes[after..].iter().position(|b| !IN_RUN[*b as usize]);
        let run = start..n_more.map_or(bytes.len(), |n| after + n);
        start = run.end + 1;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_runs_are_skipped() {
        let text = "short words (sixteen-signs-ok) and abcdefghijklmno then\nabcdefghijklmnopqrst";
        let found: Vec<&str> = runs(text).map(|run| &text[run]).collect();
        assert_eq!(found, ["sixteen-signs-ok", "abcdefghijklmnopqrst"]);
    }
}

//! Reports ids and addresses that mix letters of two scripts that look alike.

use super::TextFinding;
use super::scan_context::ScanContext;
use crate::model::{Code, TextFormat, byte_scan};

/// Returns true if a word mixes Latin letters with letters of another script that look like them.
pub(super) fn is_mixed(word: &str) -> bool {
    !word.is_ascii()
        && word.bytes().any(|b| b.is_ascii_alphabetic())
        && word.chars().any(looks_latin)
}

/// Returns true for letters of other scripts that can be mistaken for Latin ones.
fn looks_latin(c: char) -> bool {
    if c < '\u{0131}' {
        return false;
    }
    matches!(c, '\u{0400}'..='\u{052F}' | '\u{1C80}'..='\u{1C8F}' | '\u{0531}'..='\u{0587}'
        | '\u{13A0}'..='\u{13FD}' | '\u{FF21}'..='\u{FF5A}' | '\u{1D400}'..='\u{1D7FF}'
        | 'ɑ' | 'ɡ' | 'ı' | 'ⅰ' | 'ⅼ' | 'ⅿ' | 'ꓮ'..='ꓽ')
        || "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧανορυικτχ".contains(c)
}

/// Reports ids such as `ADR-5` and addresses that mix scripts.
pub(super) fn findings(context: &ScanContext<'_>) -> Vec<TextFinding> {
    let text = context.text.as_bytes();
    // Text in English has no other bytes than these besides ASCII: of dashes, quotes and accents.
    let is_suspect = |b: u8| (b >= 0xC4) & (b != 0xE2);
    let is_plain = || !text.iter().fold(false, |any, b| any | is_suspect(*b));
    // The Roman numerals U+2160 to U+217F begin with E2 85.
    if is_plain() && memchr::memchr(0x85, text).is_none()
        || !byte_scan::non_ascii_chars(&context.text).any(looks_latin)
    {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut at = 0;
    let ends = |c: char| c.is_whitespace() || "()[]<>\"'`|,;".contains(c);
    for token in context.text.split_inclusive(ends) {
        let range = at..at + token.trim_end_matches(ends).len();
        at += token.len();
        let token = &context.text[range.clone()];
        if token.is_ascii() || !(is_address(token) || is_id(token)) {
            continue;
        }
        let mut words = token.split(|c: char| !c.is_alphanumeric());
        if words.any(is_mixed) {
            findings.push(TextFinding {
                range: context.original_range(&range),
                code: Code::MixedScript,
                message: "an id or address that mixes letters of two scripts that look alike"
                    .to_string(),
                hint: "rewrite it with the letters of one script",
                replacement: None,
            });
        }
    }
    findings
}

fn is_address(token: &str) -> bool {
    token.contains("://") || TextFormat::of_path(token).is_some()
}

/// Returns true for capitals, a dash and a number.
fn is_id(token: &str) -> bool {
    let token = token.trim_end_matches(['.', ':', '!', '?']);
    let Some((word, number)) = token.rsplit_once(['-', '_']) else { return false };
    !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
        && word.chars().count() <= 8
        && word.chars().all(|c| c.is_alphabetic() && !c.is_lowercase())
}

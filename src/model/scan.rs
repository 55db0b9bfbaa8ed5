//! Passes over a text that look at many bytes at a time.

/// Bytes that are looked at together; counts of so many fit into a byte.
const TOGETHER: usize = 32;

/// How many bytes at the beginning fit.
#[inline]
pub fn length(bytes: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    let mut len = 0;
    // Many at a time without a branch, then the one where it ends.
    let (whole, rest) = bytes.as_chunks::<TOGETHER>();
    for part in whole {
        if !part.iter().fold(true, |all, byte| all & fits(*byte)) {
            break;
        }
        len += TOGETHER;
    }
    let rest = if len == whole.len() * TOGETHER { rest } else { &bytes[len..] };
    len + rest.iter().position(|byte| !fits(*byte)).unwrap_or(rest.len())
}

/// How many bytes fit, wherever they are.
#[inline]
pub fn count(bytes: &[u8], fits: impl Fn(u8) -> bool) -> usize {
    let (whole, rest) = bytes.as_chunks::<TOGETHER>();
    let mut n = rest.iter().filter(|byte| fits(**byte)).count();
    for part in whole {
        n += usize::from(part.iter().fold(0u8, |n, byte| n + u8::from(fits(*byte))));
    }
    n
}

/// The characters of a text that are not ASCII.
pub fn wide(text: &str) -> impl Iterator<Item = char> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = &rest[length(rest.as_bytes(), |byte| byte.is_ascii())..];
        let c = rest.chars().next()?;
        rest = &rest[c.len_utf8()..];
        Some(c)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_at_a_time_is_as_one_by_one() {
        let mut text = String::new();
        for i in 0..400usize {
            text.push(if i % 37 == 36 { 'é' } else { 'x' });
            for start in 0..text.len().min(40) {
                let bytes = &text.as_bytes()[start..];
                let plainly = bytes.iter().position(|b| !b.is_ascii()).unwrap_or(bytes.len());
                assert_eq!(length(bytes, |b| b.is_ascii()), plainly);
                assert_eq!(
                    count(bytes, |b| b == b'x'),
                    bytes.iter().filter(|b| **b == b'x').count()
                );
            }
            assert!(wide(&text).eq(text.chars().filter(|c| !c.is_ascii())));
        }
    }
}

//! A document's number within its series.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a document. Leading zeros do not matter: `0068` equals `68`.
///
/// Most numbers are decimal, but a few series use dotted (`12.3`) or hexadecimal (`7D`) ones or
/// part numbers (`46-01`), so it is stored as text. Invariant: not empty, upper case, no leading
/// zero before another digit.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Number(Box<str>);

impl Number {
    /// Normalises a number as written; returns `None` if the text is not a number.
    pub fn new(raw: &str) -> Option<Number> {
        if !raw.bytes().any(|b| b.is_ascii_digit()) && raw.len() != 2 {
            return None;
        }
        if raw.is_empty() || !raw.bytes().all(|b| b.is_ascii_hexdigit() || b == b'.' || b == b'-') {
            return None;
        }
        if raw.contains('-') && split_part(raw).is_none() {
            return None;
        }
        let trimmed = raw.trim_start_matches('0');
        let text = match trimmed.as_bytes().first() {
            None => "0".to_string(),
            Some(b'.' | b'-') => format!("0{trimmed}"),
            Some(_) => trimmed.to_ascii_uppercase(),
        };
        Some(Number(text.into()))
    }

    /// Returns the normalised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the value if it is a decimal integer that fits.
    pub fn value(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// Returns a key that sorts `9` before `10`, `46-01` after `46`, and decimal integers before
    /// other numbers.
    pub fn sort_key(&self) -> (bool, u64, &str) {
        let (whole, part) = split_part(&self.0).unwrap_or((&self.0, ""));
        match whole.parse() {
            Ok(value) => (false, value, part),
            Err(_) => (true, 0, &self.0),
        }
    }
}

/// Splits a number with a part number: `46-01` gives `46` and `01`.
fn split_part(text: &str) -> Option<(&str, &str)> {
    let (whole, part) = text.split_once('-')?;
    let is_decimal =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_decimal(whole) && is_decimal(part)).then_some((whole, part))
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_zeros_are_ignored() {
        assert_eq!(Number::new("0068"), Number::new("68"));
        assert_eq!(Number::new("0000").map(|n| n.to_string()), Some("0".to_string()));
        assert_eq!(Number::new("12.3").map(|n| n.to_string()), Some("12.3".to_string()));
        assert_eq!(Number::new("face"), None);
    }

    #[test]
    fn a_part_number_follows_its_whole() {
        let number = |text: &str| Number::new(text).expect("a number");
        assert_eq!(number("0046-01").as_str(), "46-01");
        assert_eq!(number("0000-01").as_str(), "0-01");
        assert!(number("46").sort_key() < number("46-01").sort_key());
        assert!(number("46-12").sort_key() < number("47").sort_key());
        assert!(number("47").sort_key() < number("12.3").sort_key());
        for text in ["46-", "-1", "4-5-6", "A-1", "1-"] {
            assert_eq!(Number::new(text), None, "{text}");
        }
    }
}

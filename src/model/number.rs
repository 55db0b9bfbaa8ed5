//! A document's number within its series.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The number of a document. Leading zeros do not matter: `0068` equals `68`.
///
/// Most numbers are decimal, but a few series use dotted (`12.3`) or hexadecimal (`7D`) ones, so it
/// is stored as text. Invariant: not empty, upper case, no leading zero before another digit.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Number(Box<str>);

impl Number {
    /// Normalises a number as written; returns `None` if the text is not a number.
    pub fn new(raw: &str) -> Option<Number> {
        if !raw.bytes().any(|b| b.is_ascii_digit()) && raw.len() != 2 {
            return None;
        }
        if raw.is_empty() || !raw.bytes().all(|b| b.is_ascii_hexdigit() || b == b'.') {
            return None;
        }
        let trimmed = raw.trim_start_matches('0');
        let text = match trimmed.as_bytes().first() {
            None => "0".to_string(),
            Some(b'.') => format!("0{trimmed}"),
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

    /// Returns a key that sorts `9` before `10` and decimal integers before other numbers.
    pub fn sort_key(&self) -> (bool, u64, &str) {
        match self.value() {
            Some(value) => (false, value, ""),
            None => (true, 0, &self.0),
        }
    }
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
}

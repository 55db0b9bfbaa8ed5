//! A document's number within its series.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A number as documents write it, compared without leading zeros: `0068` is `68`.
///
/// Most are decimal; a few series use dotted (`12.3`) or hexadecimal (`7D`) numbers, so it is
/// kept as text. Invariant: not empty, upper case, no leading zero before another digit.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Number(Box<str>);

impl Number {
    /// Normalises what a document wrote; `None` if there is no digit in it.
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

    /// The normalised text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its decimal value, if it is a plain number that fits.
    pub fn value(&self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// A key that sorts `9` before `10` and plain numbers before others.
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
    fn leading_zeros_do_not_count() {
        assert_eq!(Number::new("0068"), Number::new("68"));
        assert_eq!(Number::new("0000").map(|n| n.to_string()), Some("0".to_string()));
        assert_eq!(Number::new("12.3").map(|n| n.to_string()), Some("12.3".to_string()));
        assert_eq!(Number::new("face"), None);
    }
}

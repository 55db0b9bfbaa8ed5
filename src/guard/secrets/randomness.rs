//! Distinguishes random values, passwords that people choose, and placeholders for either.

use crate::guard::rules::{PhraseTable, SECRET_WORDS};

static PLACEHOLDERS: PhraseTable = PhraseTable::new(SECRET_WORDS, "placeholders");
static PLACEHOLDER_VALUES: PhraseTable = PhraseTable::new(SECRET_WORDS, "placeholder_values");
static TYPE_NAMES: PhraseTable = PhraseTable::new(SECRET_WORDS, "type_names");

/// Returns true if a value is a placeholder that documentation has in place of a secret.
pub(super) fn is_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let bare = lower.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let wrapped = value.starts_with(['<', '…'])
        || value.starts_with('{') && value.ends_with('}')
        || value.starts_with('[') && value.ends_with(']')
        || is_variable(value)
        || value.contains("${")
        || value.contains("{{");
    let first = value.as_bytes().first();
    let mut parts = lower.split(|c: char| !c.is_ascii_alphanumeric());
    wrapped
        || bare.is_empty()
        || PLACEHOLDER_VALUES.contains(bare)
        || parts.any(|part| PLACEHOLDERS.contains(part))
        || !bare.contains(char::is_numeric) && PLACEHOLDERS.begins(bare)
        || is_filled(&lower)
        || value.bytes().all(|b| Some(&b) == first)
}

/// Returns true if a run of one character fills the value. A long token may contain one by chance.
fn is_filled(lower: &str) -> bool {
    let run = ["xxxx", "....", "****", "0000000000"].iter().find(|run| lower.contains(**run));
    run.is_some_and(|run| {
        let n = lower.bytes().filter(|b| run.as_bytes().first() == Some(b)).count();
        lower.len() <= 48 || n * 4 >= lower.len()
    })
}

/// Returns true for `$DB_PASSWORD`, `%DB_PASSWORD%` and `%s`: names of values.
fn is_variable(value: &str) -> bool {
    let name = |name: &str| {
        let fits = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        name.len() > 1 && name.bytes().all(fits)
    };
    let windows = value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'));
    value.strip_prefix('$').is_some_and(|rest| name(rest) || rest.starts_with(['(', '{']))
        || windows.is_some_and(name)
        || value.starts_with("%(")
        || matches!(value, "%s" | "%v" | "%d")
}

/// The kinds of characters in a value.
#[derive(Default)]
pub(super) struct CharacterStats {
    pub(super) lower: bool,
    pub(super) upper: bool,
    pub(super) digit: bool,
    pub(super) other: bool,
    /// Changes of the kind from one character to the next, in percent of the length.
    pub(super) changes: usize,
    /// The effective number of different characters: the inverse of the sum of squared shares.
    pub(super) diversity: usize,
}

impl CharacterStats {
    pub(super) fn of(value: &str) -> CharacterStats {
        let mut stats = CharacterStats::default();
        let mut counts = [0usize; 256];
        let (mut before, mut n_changes) = (None, 0);
        for b in value.bytes() {
            counts[b as usize] += 1;
            let kind = match b {
                b'a'..=b'z' => 0,
                b'A'..=b'Z' => 1,
                b'0'..=b'9' => 2,
                _ => 3,
            };
            *[&mut stats.lower, &mut stats.upper, &mut stats.digit, &mut stats.other][kind] = true;
            // Punctuation between words does not make them random.
            if kind != 3 {
                // Neither does a capital before small letters, as in names.
                let changed = |before| before != kind && (before, kind) != (1, 0);
                n_changes += usize::from(before.is_some_and(changed));
                before = Some(kind);
            }
        }
        let squares: usize = counts.iter().map(|n| n * n).sum();
        stats.diversity = value.len() * value.len() / squares.max(1);
        stats.changes = n_changes * 100 / value.len().max(1);
        stats
    }

    pub(super) fn has_letter(&self) -> bool {
        self.lower || self.upper
    }
}

/// Returns true if the text behind the prefix of a service is a token and not a placeholder.
pub(super) fn is_token(body: &str) -> bool {
    CharacterStats::of(body).diversity >= 4 && !is_placeholder(body) && !is_invented(body)
}

/// Returns true if a long value contains `EXAMPLE`, or consists mostly of characters in their
/// order, as in `1234567890abcDEF`. Chance produces neither.
fn is_invented(value: &str) -> bool {
    let is_example = || value.contains("EXAMPLE") || value.ends_with("example");
    value.len() >= 16 && (n_in_order(value, 8) * 2 >= value.len() || is_example())
}

/// Returns true if a value without a prefix is invented, or consists of pieces of the alphabet.
fn is_spelled_out(value: &str) -> bool {
    is_invented(value) || value.len() >= 16 && n_in_order(value, 4) * 3 >= value.len() * 2
}

/// Counts the characters in runs of at least `min` that ascend or descend by one, in any case.
fn n_in_order(value: &str, min: usize) -> usize {
    let (mut n_all, mut n_run, mut direction) = (0, 1, 0);
    for pair in value.as_bytes().windows(2) {
        let [first, second] = [pair[0], pair[1]].map(|b| i16::from(b.to_ascii_lowercase()));
        let step = if pair == b"90" { 1 } else { second - first };
        n_run = if step == direction && matches!(step, 1 | -1) { n_run + 1 } else { 2 };
        direction = step;
        n_all += if n_run == min { min } else { usize::from(n_run > min) };
    }
    n_all
}

/// Returns true if a token has a digit or a capital, unlike words with dashes between them.
pub(super) fn is_mixed_token(body: &str) -> bool {
    body.bytes().any(|b| b.is_ascii_digit() || b.is_ascii_uppercase()) && is_token(body)
}

/// Returns true if a value behind `secret =` is random. In names, the kind of character seldom
/// changes.
pub(super) fn is_random(value: &str) -> bool {
    let stats = CharacterStats::of(value);
    let mixed = stats.digit && stats.has_letter() && stats.diversity >= 8 && stats.changes >= 22;
    let hex = value.len() >= 32 && value.bytes().all(|b| b.is_ascii_hexdigit());
    (mixed || hex && stats.diversity >= 8) && !is_placeholder(value) && !is_spelled_out(value)
}

/// Returns true if a value is so clearly random that a word near it suffices to report it.
pub(super) fn is_surely_random(value: &str) -> bool {
    let stats = CharacterStats::of(value);
    let full = stats.digit && stats.lower && stats.upper;
    full && stats.diversity >= 12 && stats.changes >= 30 && !is_placeholder(value)
}

/// Returns true for names of types and algorithms: `uint256`, `SHA-256`, `argon2id`.
fn is_type_name(value: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic();
    let stem = &value[..value.find(|c| !is_letter(c)).unwrap_or(value.len())];
    let rest = value[stem.len()..].strip_prefix('-').unwrap_or(&value[stem.len()..]);
    let is_number = rest.bytes().all(|b| b.is_ascii_digit());
    let mut variants = rest.split(|c: char| !is_letter(c));
    let is_variant = rest.starts_with(|c: char| c.is_ascii_digit())
        && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && variants.all(|variant| variant.len() <= 4);
    TYPE_NAMES.contains(&stem.to_ascii_lowercase()) && (is_number || stem.len() > 1 && is_variant)
}

/// Returns true if a value behind `password =` looks like a password that a person chose.
pub(super) fn is_password(value: &str) -> bool {
    let stats = CharacterStats::of(value);
    let code =
        value.contains(['(', '/', '\\', ' ']) || value.contains("::") || value.contains("->");
    let hard = value.contains(['!', '@', '#', '$', '%', '^', '&', '?', '+', '*']);
    let mixed = stats.has_letter() && (stats.digit || hard && value.len() >= 8);
    // `128-bit` and `2nd` are not passwords.
    let measure = value.starts_with(|c: char| c.is_ascii_digit()) && !stats.upper && !hard;
    (6..=128).contains(&value.len())
        && mixed
        && !code
        && !measure
        && !value.starts_with(['{', '['])
        && !is_type_name(value)
        && !is_placeholder(value)
        && !is_spelled_out(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_placeholders_are_not_random() {
        for name in
            ["onERC1155BatchReceivedFromToken", "my-secret-name-for-k8s-1", "AKIAIOSFODNN7EXAMPLE"]
        {
            assert!(!is_random(name), "{name}");
        }
        for name in [
            "<your-token>",
            "${TOKEN}",
            "xxxxxxxxxxxx",
            "changeme",
            "uint256",
            "bytes32",
            "128-bit",
        ] {
            assert!(!is_random(name) && !is_password(name), "{name}");
        }
        for text in [
            "1234567890abcdefghijklmnopqrstuvwxyzAB",
            "9876543210zyxwvutsrqpo",
            "AKIAI44QH8DHBEXAMPLE",
        ] {
            assert!(!is_token(text), "{text}");
        }
        for text in ["123456789Zk3mQ9xW2vB7nR4tY8pL5s", "abcdefgh9f8b2c4d1e7a6350b4c2"] {
            assert!(is_token(text), "{text}");
        }
        for name in ["SHA-256", "argon2id", "PBKDF2-HMAC-SHA512", "utf8mb4"] {
            assert!(!is_password(name), "{name}");
        }
        assert!(is_password("sha256isgreat") && is_password("x9-tiger"));
        assert!(is_random("9f8b2c4d1e7a6350b4c2d8e1f7a93b60"));
        assert!(is_surely_random("wJalrXUtnFEMI7K3MDENGbPxRfiCYzq8Lk2mNvBt"));
        assert!(is_password("hunter2") && is_password("Tr0ub4dor&3") && is_password("p@ssw-word"));
    }
}

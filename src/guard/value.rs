//! Whether a value was drawn at random, chosen by a person, or only stands for one.

/// Parts of values that documentation writes instead of a secret.
const STAND_INS: &[&str] = &[
    "example",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "your",
    "redacted",
    "dummy",
    "sample",
    "insert",
    "replace",
    "foobar",
    "censored",
];

/// Whole values that stand for a password.
const WORDS: &[&str] = &[
    "password",
    "passwd",
    "pass",
    "pwd",
    "passphrase",
    "secret",
    "token",
    "user",
    "username",
    "key",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "string",
    "required",
    "optional",
    "test",
    "value",
    "empty",
];

/// Whether documentation would write this instead of a secret.
pub(super) fn is_stand_in(value: &str) -> bool {
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
        || WORDS.contains(&bare)
        || parts.any(|part| STAND_INS.contains(&part))
        || STAND_INS.iter().any(|start| bare.starts_with(start) && !bare.contains(char::is_numeric))
        || is_filled(&lower)
        || value.bytes().all(|b| Some(&b) == first)
}

/// Whether a run of the same sign stands for the rest. In a long token one may come by chance.
fn is_filled(lower: &str) -> bool {
    let run = ["xxxx", "....", "****", "0000000000"].iter().find(|run| lower.contains(**run));
    run.is_some_and(|run| {
        let n = lower.bytes().filter(|b| run.as_bytes().first() == Some(b)).count();
        lower.len() <= 48 || n * 4 >= lower.len()
    })
}

/// `$DB_PASSWORD`, `%DB_PASSWORD%`, `%s`: the name of a value and not the value.
fn is_variable(value: &str) -> bool {
    let name = |name: &str| {
        let sign = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
        name.len() > 1 && name.bytes().all(sign)
    };
    let windows = value.strip_prefix('%').and_then(|rest| rest.strip_suffix('%'));
    value.strip_prefix('$').is_some_and(|rest| name(rest) || rest.starts_with(['(', '{']))
        || windows.is_some_and(name)
        || value.starts_with("%(")
        || matches!(value, "%s" | "%v" | "%d")
}

/// The kinds of signs in a value.
#[derive(Default)]
pub(super) struct Signs {
    pub(super) lower: bool,
    pub(super) upper: bool,
    pub(super) digit: bool,
    pub(super) other: bool,
    /// How often the kind changes from one sign to the next, in percent.
    pub(super) changes: usize,
    /// As how many different signs, were all equally frequent, the value is diverse.
    pub(super) diversity: usize,
}

impl Signs {
    pub(super) fn of(value: &str) -> Signs {
        let mut signs = Signs::default();
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
            *[&mut signs.lower, &mut signs.upper, &mut signs.digit, &mut signs.other][kind] = true;
            // Words with dashes between are no more random than words.
            if kind != 3 {
                // Nor is a capital before small letters: that is how names are written.
                let changed = |before| before != kind && (before, kind) != (1, 0);
                n_changes += usize::from(before.is_some_and(changed));
                before = Some(kind);
            }
        }
        let squares: usize = counts.iter().map(|n| n * n).sum();
        signs.diversity = value.len() * value.len() / squares.max(1);
        signs.changes = n_changes * 100 / value.len().max(1);
        signs
    }

    pub(super) fn letter(&self) -> bool {
        self.lower || self.upper
    }
}

/// Whether what follows a service's own prefix is a real token and not a word for one.
pub(super) fn is_token(body: &str, strict: bool) -> bool {
    let signs = Signs::of(body);
    signs.diversity >= 4 && (!strict || signs.digit || signs.upper) && !is_stand_in(body)
}

/// Whether a value behind `secret =` was drawn at random. Names change their kind of sign seldom.
pub(super) fn is_random(value: &str) -> bool {
    let signs = Signs::of(value);
    let mixed = signs.digit && signs.letter() && signs.diversity >= 8 && signs.changes >= 22;
    let hex = value.len() >= 32 && value.bytes().all(|b| b.is_ascii_hexdigit());
    (mixed || hex && signs.diversity >= 8) && !is_stand_in(value)
}

/// Whether a value is random beyond doubt, so that a word somewhere near is enough.
pub(super) fn is_surely_random(value: &str) -> bool {
    let signs = Signs::of(value);
    let full = signs.digit && signs.lower && signs.upper;
    full && signs.diversity >= 12 && signs.changes >= 30 && !is_stand_in(value)
}

/// Names of types and algorithms that end in a number, as passwords do.
const TYPES: &[&str] = &[
    "uint", "int", "bytes", "sha", "utf", "base", "md", "argon", "pbkdf", "oauth", "v", "rfc",
    "eip", "erc", "float", "i", "u", "f", "ed", "aes", "keccak", "blake", "rsa", "x", "http",
    "ipv",
];

/// Whether a value behind `password =` was chosen by a person.
pub(super) fn is_password(value: &str) -> bool {
    let signs = Signs::of(value);
    let code =
        value.contains(['(', '/', '\\', ' ']) || value.contains("::") || value.contains("->");
    let stem = value.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_lowercase();
    let hard = value.contains(['!', '@', '#', '$', '%', '^', '&', '?', '+', '*']);
    let mixed = signs.letter() && (signs.digit || hard && value.len() >= 8);
    // `128-bit` and `2nd` are measures, not passwords.
    let measure = value.starts_with(|c: char| c.is_ascii_digit()) && !signs.upper && !hard;
    (6..=128).contains(&value.len())
        && mixed
        && !code
        && !measure
        && !TYPES.contains(&stem.as_str())
        && !is_stand_in(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_stand_ins_are_not_random() {
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
        assert!(is_random("9f8b2c4d1e7a6350b4c2d8e1f7a93b60"));
        assert!(is_surely_random("wJalrXUtnFEMI7K3MDENGbPxRfiCYzq8Lk2mNvBt"));
        assert!(is_password("hunter2") && is_password("Tr0ub4dor&3") && is_password("p@ssw-word"));
    }
}

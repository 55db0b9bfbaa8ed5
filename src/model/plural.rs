//! Numbers with a noun in the singular or the plural.

use std::fmt::Display;

/// Formats a number with its noun in the singular or the plural: `1 entry`, `2 entries`.
pub fn counted<N: Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    match n == N::from(1) {
        true => format!("1 {noun}"),
        false => format!("{n} {}", plural(noun)),
    }
}

/// Formats a part of a number with the noun of the whole: `1 of 1 edge`, `1 of 3 edges`.
pub fn counted_of<N: Display + PartialEq + From<u8>>(part: N, n: N, noun: &str) -> String {
    format!("{part} of {}", counted(n, noun))
}

fn plural(noun: &str) -> String {
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        Some(stem) => format!("{stem}ies"),
        None => format!("{noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!(counted(0u64, "document"), "0 documents");
        assert_eq!(counted(1u64, "document"), "1 document");
        assert_eq!(counted(2u32, "entry"), "2 entries");
        assert_eq!(counted(3usize, "day"), "3 days");
        assert_eq!(counted_of(0u64, 1, "edge"), "0 of 1 edge");
    }
}

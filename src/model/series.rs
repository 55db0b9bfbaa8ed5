//! Prefixes of series of numbered documents, such as `rfc`.

/// Series that are recognised in any case. Other prefixes must be in capitals.
pub const KNOWN: &[&str] = &[
    "adr", "aip", "bip", "cep", "cip", "decision", "dialogue", "eip", "erc", "fip", "gep", "hip",
    "kep", "msc", "nip", "otep", "pep", "plan", "prd", "proposal", "rfc", "rip", "sip", "spike",
    "tep", "xep",
];

/// Returns the known series that a word names: `ADRs` gives `adr`.
pub fn known_series(word: &str) -> Option<String> {
    let series = singular(word);
    (KNOWN.contains(&series.as_str())).then_some(series)
}

/// Converts a prefix to lower case and to the singular: `RFCs` gives `rfc`.
pub fn singular(word: &str) -> String {
    let word = word.to_ascii_lowercase();
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 => stem.to_string(),
        _ => word,
    }
}

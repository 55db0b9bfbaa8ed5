//! Prefixes that name a series of numbered documents.

/// Series that are written in lower or mixed case too, and so need no capitals to be seen.
pub const KNOWN: &[&str] = &[
    "adr", "aip", "bip", "cep", "cip", "decision", "dialogue", "eip", "erc", "fip", "gep", "hip",
    "kep", "msc", "nip", "otep", "pep", "plan", "prd", "proposal", "rfc", "rip", "sip", "spike",
    "tep", "xep",
];

/// The series a field is named after: `ADRs` is `adr`. `None` if it is no series.
pub fn series_word(word: &str) -> Option<String> {
    let series = singular(word);
    (KNOWN.contains(&series.as_str())).then_some(series)
}

/// A prefix in lower case and without its plural: `RFCs` is `rfc`.
pub fn singular(word: &str) -> String {
    let word = word.to_ascii_lowercase();
    match word.strip_suffix('s') {
        Some(stem) if stem.len() >= 3 => stem.to_string(),
        _ => word,
    }
}

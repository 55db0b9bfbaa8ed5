//! Reads the rule files that are embedded from `rules/` folders.

/// Returns the entries of a rule file: its lines without blank ones and `#` comments.
pub fn entries(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the entries of a file of phrases, in which `_` stands for a space at either end.
pub fn phrases(text: &str) -> Vec<String> {
    entries(text).map(|phrase| phrase.replace('_', " ")).collect()
}

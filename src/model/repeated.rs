//! Merges findings with the same cause, so that one mistake in a thousand links is one finding.

use std::collections::BTreeMap;

use super::{Code, Diagnostic};

/// Findings with the same cause are merged if there are more than this.
const MAX_SEPARATE: usize = 5;

/// Path of a merged finding where accepted findings and reported warnings are stored: it is about
/// the whole project, and its first place changes when that one is fixed.
pub const WHOLE_PROJECT: &str = ".";

/// Returns the message of all findings with the same cause: every number is written as `N`.
/// `None` for findings that each need a look.
pub fn pattern(finding: &Diagnostic) -> Option<String> {
    (finding.code.area() == "REF").then(|| without_numbers(&finding.message, "N"))
}

/// Merges the findings of each cause that occurs often. The merged finding has the place of the
/// first one, the number of all, and a hint with a command for all of them.
pub fn merge(findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut n_of_cause: BTreeMap<(Code, String), usize> = BTreeMap::new();
    for finding in &findings {
        if let Some(pattern) = pattern(finding) {
            *n_of_cause.entry((finding.code, pattern)).or_default() += 1;
        }
    }
    n_of_cause.retain(|_, n| *n > MAX_SEPARATE);
    if n_of_cause.is_empty() {
        return findings;
    }
    let mut merged: BTreeMap<(Code, String), Diagnostic> = BTreeMap::new();
    let mut separate = Vec::new();
    for finding in findings {
        let cause = pattern(&finding).map(|pattern| (finding.code, pattern));
        match cause.filter(|cause| n_of_cause.contains_key(cause)) {
            None => separate.push(finding),
            Some(cause) => match merged.get_mut(&cause) {
                Some(first) => first.count += 1,
                None => {
                    let message = cause.1.clone();
                    let hint = Some(hint(&finding));
                    merged.insert(cause, Diagnostic { message, hint, ..finding });
                }
            },
        }
    }
    separate.extend(merged.into_values());
    separate.sort();
    separate
}

/// Returns a hint for all findings with the cause of this one: its message as a sample, and a command
/// that corrects them or lists them.
fn hint(first: &Diagnostic) -> String {
    let sample = match first.message == without_numbers(&first.message, "N") {
        true => String::new(),
        false => format!("the first is: {}; ", first.message),
    };
    match &first.fix {
        Some((old, new)) if has_same_numbers(old, new) => {
            let files = format!("git grep -lzE {}", quoted(&regex(old, "[0-9]+")));
            let new = with_marks(new).replace('\\', "\\\\").replace('&', "\\&");
            let new = references_to_groups(&new.replace('#', "\\#"));
            let edit = quoted(&format!("s#{}#{new}#g", regex(old, "([0-9]+)")));
            format!("{sample}correct all: {files} | xargs -0 sed -i -E {edit}")
        }
        _ => format!("{sample}`blue knowledge lint --each` lists all"),
    }
}

/// Replaces the n-th mark by a reference to the n-th group of a regular expression.
fn references_to_groups(text: &str) -> String {
    let mut n_groups = 0;
    let mut result = String::with_capacity(text.len());
    for c in text.chars() {
        if c == MARK {
            n_groups += 1;
            result.push_str(&format!("\\{n_groups}"));
        } else {
            result.push(c);
        }
    }
    result
}

/// Returns a regular expression for a text in which every number may differ.
fn regex(text: &str, number: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 8);
    for c in with_marks(text).chars() {
        match c {
            MARK => escaped.push_str(number),
            c if ".+*?()[]{}^$|\\#".contains(c) => escaped.extend(['\\', c]),
            c => escaped.push(c),
        }
    }
    escaped
}

/// Stands for a number in a text. It occurs in no path.
const MARK: char = '\u{1}';

fn with_marks(text: &str) -> String {
    without_numbers(&text.replace(MARK, ""), "\u{1}")
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn has_same_numbers(a: &str, b: &str) -> bool {
    let numbers = |text: &str| -> Vec<String> {
        let runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
        runs.map(str::to_string).collect()
    };
    let (a, b) = (numbers(a), numbers(b));
    a == b && a.len() <= 9
}

/// Replaces every run of digits.
fn without_numbers(text: &str, replacement: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut in_number = false;
    for c in text.chars() {
        let is_digit = c.is_ascii_digit();
        if is_digit && !in_number {
            result.push_str(replacement);
        } else if !is_digit {
            result.push(c);
        }
        in_number = is_digit;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(line: u32, number: u32) -> Diagnostic {
        let message = format!("\"./eip-{number}.md\" is now erc-{number}.md");
        let finding = Diagnostic::new(Code::Renamed, "a.md", message).at(line, 1);
        let fix = (format!("./eip-{number}.md"), format!("erc-{number}.md"));
        Diagnostic { fix: Some(fix), ..finding }
    }

    #[test]
    fn a_cause_that_repeats_is_one_finding_with_a_command() {
        let findings: Vec<Diagnostic> = (1..=7).map(|n| renamed(n, n + 10)).collect();
        let merged = merge(findings.clone());
        assert_eq!(merged.len(), 1);
        assert_eq!((merged[0].count, merged[0].line), (7, 1));
        assert_eq!(merged[0].message, "\"./eip-N.md\" is now erc-N.md");
        let hint = merged[0].hint.as_deref().expect("it has a hint");
        let command = r"git grep -lzE '\./eip-[0-9]+\.md' | xargs -0 sed -i -E 's#\./eip-([0-9]+)\.md#erc-\1.md#g'";
        assert!(hint.ends_with(command), "{hint}");
        assert_eq!(merge(findings[..5].to_vec()), findings[..5]);
    }

    #[test]
    fn a_finding_that_needs_a_look_is_not_merged() {
        let secret = |line| Diagnostic::new(Code::Secret, "a.md", "a secret").at(line, 1);
        let findings: Vec<Diagnostic> = (1..=9).map(secret).collect();
        assert_eq!(merge(findings.clone()), findings);
    }
}

//! Applies a project's settings to findings: configured severities and accepted findings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::escape::escape;
use super::layout::ACCEPTED;
use super::repeated;
use super::{Code, Diagnostic, Severity};

/// A finding that was reviewed and accepted. It is matched by its message and not by its line, so
/// that it still matches after edits elsewhere in the document.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Accepted {
    /// Path of the document.
    pub path: String,
    /// The code as text, so that an entry with a retired code can be read. It matches nothing.
    pub code: String,
    /// Message of the finding.
    pub message: String,
    /// Number of occurrences in the document that are accepted.
    pub count: u64,
    /// Reason for accepting it.
    pub reason: String,
    /// Line in the file of accepted findings; 0 for a new entry.
    pub line: u32,
}

/// A project's settings for findings.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Severities that differ from the default; `None` turns a code off.
    pub severities: BTreeMap<Code, Option<Severity>>,
    /// Accepted findings.
    pub accepted: Vec<Accepted>,
}

/// Findings after a policy was applied.
#[derive(Debug, Default)]
pub struct Reviewed {
    /// Findings to show and count, sorted by place.
    pub shown: Vec<Diagnostic>,
    /// Accepted findings with the reason, sorted by place.
    pub accepted: Vec<(Diagnostic, String)>,
}

/// Numbers of findings.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// Errors shown.
    pub errors: u64,
    /// Warnings shown.
    pub warnings: u64,
    /// Notes shown.
    pub infos: u64,
    /// Findings accepted.
    pub accepted: u64,
}

/// Identity of a finding: its code and its escaped path and message.
type FindingKey = (String, String, String);

impl Policy {
    /// Applies the configured severity to a finding; returns `None` if its code is off.
    pub fn apply_severity(&self, mut finding: Diagnostic) -> Option<Diagnostic> {
        if let Some(severity) = self.severities.get(&finding.code) {
            finding.severity = (*severity)?;
        }
        Some(finding)
    }

    /// Divides findings into those to show and those that are accepted, and merges those with the
    /// same cause. An accepted finding that no longer occurs is reported as a finding of its own.
    pub fn review(&self, findings: Vec<Diagnostic>) -> Reviewed {
        let Reviewed { shown, accepted } = self.review_each(findings);
        let mut by_reason: BTreeMap<String, Vec<Diagnostic>> = BTreeMap::new();
        for (finding, reason) in accepted {
            by_reason.entry(reason).or_default().push(finding);
        }
        let accepted = by_reason.into_iter().flat_map(|(reason, findings)| {
            repeated::merge(findings).into_iter().map(move |finding| (finding, reason.clone()))
        });
        let mut accepted: Vec<(Diagnostic, String)> = accepted.collect();
        accepted.sort();
        Reviewed { shown: repeated::merge(shown), accepted }
    }

    /// Does the same without merging.
    pub fn review_each(&self, mut findings: Vec<Diagnostic>) -> Reviewed {
        findings.sort();
        let mut remaining: BTreeMap<FindingKey, (u64, &Accepted)> = BTreeMap::new();
        for entry in &self.accepted {
            // Two merged branches may have accepted the same finding. The counts are not added.
            let (count, _) = remaining.entry(accepted_key(entry)).or_insert((0, entry));
            *count = (*count).max(entry.count);
        }
        let mut reviewed = Reviewed::default();
        for finding in findings {
            let mut take = |key: FindingKey| {
                let (count, entry) = remaining.get_mut(&key).filter(|(count, _)| *count > 0)?;
                *count -= 1;
                Some(entry.reason.clone())
            };
            // Most projects accept nothing, and then no keys have to be built.
            let reason = match self.accepted.is_empty() {
                true => None,
                false => take(finding_key(&finding))
                    .or_else(|| take(cause_key(&finding, repeated::pattern(&finding)?))),
            };
            match (self.apply_severity(finding), reason) {
                (Some(finding), Some(reason)) => reviewed.accepted.push((finding, reason)),
                (Some(finding), None) => reviewed.shown.push(finding),
                (None, _) => {}
            }
        }
        let gone = remaining.into_values().filter(|(count, _)| *count > 0);
        let gone =
            gone.filter_map(|(count, entry)| self.apply_severity(gone_finding(count, entry)));
        reviewed.shown.extend(gone);
        reviewed.shown.sort();
        reviewed
    }

    /// Accepts findings. If a finding is already accepted, its count increases and its reason is
    /// replaced.
    pub fn accept<'a>(&mut self, findings: impl Iterator<Item = &'a Diagnostic>, reason: &str) {
        let mut entries: BTreeMap<FindingKey, Accepted> =
            self.accepted.drain(..).map(|entry| (accepted_key(&entry), entry)).collect();
        for finding in findings {
            let entry = entries.entry(finding_key(finding)).or_insert_with(|| Accepted {
                path: finding.scope().to_string(),
                code: finding.code.to_string(),
                message: finding.message.clone(),
                count: 0,
                reason: String::new(),
                line: 0,
            });
            entry.count += u64::from(finding.count);
            entry.reason = reason.to_string();
        }
        self.accepted = entries.into_values().collect();
    }

    /// Removes accepted findings that no longer occur. Returns the number of changed entries.
    pub fn prune(&mut self, findings: &[Diagnostic]) -> usize {
        let mut found: BTreeMap<FindingKey, u64> = BTreeMap::new();
        for finding in findings {
            *found.entry(finding_key(finding)).or_default() += 1;
            if let Some(pattern) = repeated::pattern(finding) {
                *found.entry(cause_key(finding, pattern)).or_default() += 1;
            }
        }
        let mut n_changed = 0;
        for entry in &mut self.accepted {
            let count = entry.count.min(found.get(&accepted_key(entry)).copied().unwrap_or(0));
            n_changed += usize::from(count < entry.count);
            entry.count = count;
        }
        self.accepted.retain(|entry| entry.count > 0);
        n_changed
    }
}

fn accepted_key(entry: &Accepted) -> FindingKey {
    (entry.code.clone(), escape(&entry.path).into_owned(), escape(&entry.message).into_owned())
}

fn finding_key(finding: &Diagnostic) -> FindingKey {
    let (path, message) = (escape(finding.scope()), escape(&finding.message));
    (finding.code.to_string(), path.into_owned(), message.into_owned())
}

/// Returns the key of all findings with the cause of this one.
fn cause_key(finding: &Diagnostic, pattern: String) -> FindingKey {
    let path = repeated::WHOLE_PROJECT.to_string();
    (finding.code.to_string(), path, escape(&pattern).into_owned())
}

/// Reports that `n_gone` occurrences of an accepted finding no longer exist.
fn gone_finding(n_gone: u64, entry: &Accepted) -> Diagnostic {
    let times = match entry.count > 1 {
        true => format!(" ({n_gone} of {} times)", entry.count),
        false => String::new(),
    };
    let message = format!(
        "accepted, but no longer found{times}: {} in {}: {}",
        entry.code, entry.path, entry.message
    );
    Diagnostic::new(Code::AcceptedGone, ACCEPTED, message)
        .at(entry.line, 1)
        .hint("run `blue knowledge lint --prune`")
}

impl Reviewed {
    /// Counts the findings.
    pub fn counts(&self) -> Counts {
        Counts { accepted: self.accepted.len() as u64, ..Counts::of(&self.shown) }
    }
}

impl Counts {
    /// Counts findings by severity.
    pub fn of(findings: &[Diagnostic]) -> Counts {
        let count = |severity| findings.iter().filter(|f| f.severity == severity).count() as u64;
        Counts {
            errors: count(Severity::Error),
            warnings: count(Severity::Warning),
            infos: count(Severity::Info),
            accepted: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: u32, message: &str) -> Diagnostic {
        Diagnostic::new(Code::BrokenLink, "a.md", message).at(line, 1)
    }

    fn accepted(message: &str, count: u64) -> Accepted {
        Accepted {
            path: "a.md".to_string(),
            code: "BLUE-REF-001".to_string(),
            message: message.to_string(),
            count,
            reason: "known".to_string(),
            line: 1,
        }
    }

    #[test]
    fn an_accepted_finding_matches_by_message_and_count() {
        let policy = Policy { accepted: vec![accepted("x", 2)], ..Policy::default() };
        let reviewed = policy.review(vec![finding(30, "x"), finding(9, "x"), finding(4, "x")]);
        assert_eq!(reviewed.accepted.len(), 2);
        assert_eq!(reviewed.shown, [finding(30, "x")], "the third is new");
        let reviewed = policy.review(vec![finding(1, "x")]);
        let codes: Vec<Code> = reviewed.shown.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [Code::AcceptedGone]);
        assert!(reviewed.shown[0].message.contains("1 of 2 times"), "{:?}", reviewed.shown);
    }

    #[test]
    fn a_merged_finding_is_accepted_for_all_its_occurrences() {
        let findings: Vec<Diagnostic> =
            (1..=8).map(|n| finding(n, &format!("no document at \"{n}.md\""))).collect();
        let mut policy = Policy::default();
        let reviewed = policy.review(findings.clone());
        assert_eq!(reviewed.shown.len(), 1);
        policy.accept(reviewed.shown.iter(), "known");
        assert_eq!(policy.accepted[0].count, 8);
        assert_eq!(policy.accepted[0].path, ".");
        let reviewed = policy.review(findings[..3].to_vec());
        assert_eq!(reviewed.accepted.len(), 3, "they are too few to be merged");
        let more = (9..=20).map(|n| finding(n, &format!("no document at \"{n}.md\"")));
        let reviewed = policy.review(findings.into_iter().chain(more).collect());
        assert_eq!(reviewed.shown[0].count, 12, "twelve are new");
        assert_eq!(reviewed.accepted[0].0.count, 8);
    }

    #[test]
    fn a_code_can_be_turned_off_or_made_an_error() {
        let severities =
            BTreeMap::from([(Code::BrokenLink, Some(Severity::Error)), (Code::HiddenText, None)]);
        let policy = Policy { severities, ..Policy::default() };
        let hidden = Diagnostic::new(Code::HiddenText, "a.md", "y");
        let reviewed = policy.review(vec![hidden, finding(1, "x")]);
        assert_eq!(reviewed.counts(), Counts { errors: 1, ..Counts::default() });
    }
}

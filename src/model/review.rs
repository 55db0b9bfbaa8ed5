//! What becomes of findings in a project: how much each matters, and which were reviewed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::layout::ACCEPTED;
use super::neutral::neutral;
use super::{Code, Diagnostic, Severity};

/// A finding that somebody looked at and accepted. It is known by what it says, not by its line,
/// so that it survives edits elsewhere in the document.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Accepted {
    /// The document.
    pub path: String,
    /// The code, as text: a code that was retired matches nothing.
    pub code: String,
    /// What was found.
    pub message: String,
    /// How many times it stands in that document.
    pub count: u64,
    /// Why it is accepted.
    pub reason: String,
    /// Its line in the file of accepted findings; 0 when it is new.
    pub line: u32,
}

/// What a project says of findings.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// The severity of a code, where it is not the usual one; `None` is off.
    pub severities: BTreeMap<Code, Option<Severity>>,
    /// What was reviewed.
    pub accepted: Vec<Accepted>,
}

/// Findings after the project's word on them.
#[derive(Debug, Default)]
pub struct Reviewed {
    /// What is shown and counted, sorted by place.
    pub shown: Vec<Diagnostic>,
    /// What was accepted, with the reason, sorted by place.
    pub accepted: Vec<(Diagnostic, String)>,
}

/// How many findings there were of each sort.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Counts {
    /// Errors that are shown.
    pub errors: u64,
    /// Warnings that are shown.
    pub warnings: u64,
    /// Notes that are shown.
    pub infos: u64,
    /// Findings that are accepted.
    pub accepted: u64,
}

/// What a finding is known by: code, path and message, harmless as they are written down.
type Key = (String, String, String);

impl Policy {
    /// A finding as the project sees it; `None` if its code is off.
    pub fn judge(&self, mut finding: Diagnostic) -> Option<Diagnostic> {
        if let Some(severity) = self.severities.get(&finding.code) {
            finding.severity = (*severity)?;
        }
        Some(finding)
    }

    /// Parts findings into those that are shown and those that were accepted.
    pub fn review(&self, mut findings: Vec<Diagnostic>) -> Reviewed {
        findings.sort();
        let mut open: BTreeMap<Key, (u64, &Accepted)> = BTreeMap::new();
        for entry in &self.accepted {
            // Two branches may have accepted the same; that is not twice as many.
            let known = open.entry(known(entry)).or_insert((0, entry));
            known.0 = known.0.max(entry.count);
        }
        let mut reviewed = Reviewed::default();
        for finding in findings {
            let entry = match open.is_empty() {
                true => None,
                false => open.get_mut(&key(&finding)).filter(|(left, _)| *left > 0),
            };
            let reason = entry.map(|(left, entry)| {
                *left -= 1;
                entry.reason.clone()
            });
            match (self.judge(finding), reason) {
                (Some(finding), Some(reason)) => reviewed.accepted.push((finding, reason)),
                (Some(finding), None) => reviewed.shown.push(finding),
                (None, _) => {}
            }
        }
        let gone = open.into_values().filter(|(left, _)| *left > 0);
        reviewed.shown.extend(gone.filter_map(|(left, entry)| self.judge(gone_note(left, entry))));
        reviewed.shown.sort();
        reviewed
    }

    /// Accepts findings. One that is accepted already stands there once more.
    pub fn accept<'a>(&mut self, findings: impl Iterator<Item = &'a Diagnostic>, reason: &str) {
        let mut entries: BTreeMap<Key, Accepted> =
            self.accepted.drain(..).map(|entry| (known(&entry), entry)).collect();
        for finding in findings {
            let entry = entries.entry(key(finding)).or_insert_with(|| Accepted {
                path: finding.path.clone(),
                code: finding.code.to_string(),
                message: finding.message.clone(),
                count: 0,
                reason: String::new(),
                line: 0,
            });
            entry.count += 1;
            entry.reason = reason.to_string();
        }
        self.accepted = entries.into_values().collect();
    }

    /// Forgets what was accepted and is not found any more. Says how many entries that touched.
    pub fn prune(&mut self, findings: &[Diagnostic]) -> usize {
        let mut found: BTreeMap<Key, u64> = BTreeMap::new();
        for finding in findings {
            *found.entry(key(finding)).or_default() += 1;
        }
        let mut n_touched = 0;
        for entry in &mut self.accepted {
            let left = entry.count.min(found.get(&known(entry)).copied().unwrap_or(0));
            n_touched += usize::from(left < entry.count);
            entry.count = left;
        }
        self.accepted.retain(|entry| entry.count > 0);
        n_touched
    }
}

fn known(entry: &Accepted) -> Key {
    (entry.code.clone(), neutral(&entry.path).into_owned(), neutral(&entry.message).into_owned())
}

fn key(finding: &Diagnostic) -> Key {
    let (path, message) = (neutral(&finding.path), neutral(&finding.message));
    (finding.code.to_string(), path.into_owned(), message.into_owned())
}

/// Says that an accepted finding is not there any more.
fn gone_note(left: u64, entry: &Accepted) -> Diagnostic {
    let times =
        if entry.count > 1 { format!(" ({left} of {} times)", entry.count) } else { String::new() };
    let message = format!(
        "accepted, but no longer found{times}: {} in {}: {}",
        entry.code, entry.path, entry.message
    );
    Diagnostic::new(Code::AcceptedGone, ACCEPTED, message)
        .at(entry.line, 1)
        .hint("run `blue knowledge lint --prune`")
}

impl Reviewed {
    /// How many there are of each sort.
    pub fn counts(&self) -> Counts {
        Counts { accepted: self.accepted.len() as u64, ..Counts::of(&self.shown) }
    }
}

impl Counts {
    /// Counts findings by severity.
    pub fn of(findings: &[Diagnostic]) -> Counts {
        let count = |severity| findings.iter().filter(|f| f.severity() == severity).count() as u64;
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
    fn an_accepted_finding_is_known_by_what_it_says_and_how_often() {
        let policy = Policy { accepted: vec![accepted("x", 2)], ..Policy::default() };
        let reviewed = policy.review(vec![finding(30, "x"), finding(9, "x"), finding(4, "x")]);
        assert_eq!(reviewed.accepted.len(), 2);
        assert_eq!(reviewed.shown, [finding(30, "x")], "the one more is new");
        let reviewed = policy.review(vec![finding(1, "x")]);
        let codes: Vec<Code> = reviewed.shown.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, [Code::AcceptedGone]);
        assert!(reviewed.shown[0].message.contains("1 of 2 times"), "{:?}", reviewed.shown);
    }

    #[test]
    fn a_code_can_be_off_or_matter_more() {
        let severities =
            BTreeMap::from([(Code::BrokenLink, Some(Severity::Error)), (Code::HiddenText, None)]);
        let policy = Policy { severities, ..Policy::default() };
        let hidden = Diagnostic::new(Code::HiddenText, "a.md", "y");
        let reviewed = policy.review(vec![hidden, finding(1, "x")]);
        assert_eq!(reviewed.counts(), Counts { errors: 1, ..Counts::default() });
    }
}

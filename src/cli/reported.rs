//! Warnings that a build of this checkout has reported already.

use std::collections::BTreeMap;

use crate::build::Outcome;
use crate::emit;
use crate::model::{Diagnostic, Hasher, Severity};
use crate::root::{Content, Root};

/// The findings of the last build that reported any, a digest for each.
const REPORTED: &str = ".blue/local/reported";

/// Takes out the warnings that the last build reported, so that a new one is seen among many. What
/// is an error stays: it is why the build fails. Gives what is left and how many were taken out.
pub(super) fn unreported(root: &Root, outcome: &Outcome) -> (Vec<Diagnostic>, u64) {
    // A build that had nothing to look at found nothing new, and does not know the old.
    if outcome.known.is_some() {
        return (outcome.diagnostics.clone(), 0);
    }
    // A list that came with a clone would keep its warnings from being seen.
    let key = root.machine().key.as_ref();
    let before = match root.read(REPORTED, 1 << 28) {
        Ok(Some(Content::Bytes(bytes, _))) => bytes,
        _ => Vec::new(),
    };
    let text = key.and_then(|key| key.unseal("reported", &before)).unwrap_or_default();
    // The same finding twice is two findings.
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    text.lines().for_each(|digest| *known.entry(digest).or_default() += 1);
    let mut now: Vec<String> = Vec::new();
    let mut n_known = 0;
    let mut new = Vec::new();
    for diagnostic in &outcome.diagnostics {
        if diagnostic.severity() < Severity::Warning {
            continue;
        }
        let digest = digest_of(diagnostic);
        match known.get_mut(digest.as_str()).filter(|n| **n > 0) {
            Some(n) if diagnostic.severity() == Severity::Warning => {
                *n -= 1;
                n_known += 1;
            }
            _ => new.push(diagnostic.clone()),
        }
        now.push(digest);
    }
    now.sort();
    let now: String = now.iter().map(|digest| format!("{digest}\n")).collect();
    if let Some(key) = key.filter(|_| now != text) {
        // What cannot be kept is reported once more.
        emit::overwrite_local(root, REPORTED, key.seal("reported", &now).as_bytes()).ok();
    }
    (new, n_known)
}

/// Identifies a finding wherever its line moves, as `.blue/accepted.jsonl` does.
fn digest_of(finding: &Diagnostic) -> String {
    let mut hasher = Hasher::new();
    hasher.field(finding.code.as_str().as_bytes()).field(finding.path.as_bytes());
    hasher.field(finding.message.as_bytes()).digest().short()
}

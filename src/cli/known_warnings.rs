//! Warnings that a build of this checkout reported before.

use std::collections::BTreeMap;

use crate::build::Outcome;
use crate::emit;
use crate::model::layout::REPORTED;
use crate::model::{Diagnostic, Hasher, Severity};
use crate::root::Root;

/// Removes the warnings that the last build reported, so that new warnings are noticed. Errors stay,
/// because they make the build fail. Returns the other findings and the number of removed warnings.
pub(super) fn without_known(root: &Root, outcome: &Outcome) -> (Vec<Diagnostic>, u64) {
    // A build that read no document has no findings to compare.
    if outcome.known.is_some() {
        return (outcome.diagnostics.clone(), 0);
    }
    // The list is sealed: one that came with a clone could hide warnings.
    let key = root.machine().key.as_ref();
    let bytes = root.readable_bytes(REPORTED, 1 << 28).unwrap_or_default();
    let text = key.and_then(|key| key.unseal("reported", &bytes)).unwrap_or_default();
    // A finding that occurs twice counts as two.
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    text.lines().for_each(|digest| *known.entry(digest).or_default() += 1);
    let mut digests: Vec<String> = Vec::new();
    let mut n_known = 0;
    let mut new = Vec::new();
    for diagnostic in &outcome.diagnostics {
        if diagnostic.severity < Severity::Warning {
            continue;
        }
        let digest = digest_of(diagnostic);
        match known.get_mut(digest.as_str()).filter(|n| **n > 0) {
            Some(n) if diagnostic.severity == Severity::Warning => {
                *n -= 1;
                n_known += 1;
            }
            _ => new.push(diagnostic.clone()),
        }
        digests.push(digest);
    }
    digests.sort();
    let digests: String = digests.iter().map(|digest| format!("{digest}\n")).collect();
    if let Some(key) = key.filter(|_| digests != text) {
        // If the list cannot be written, the next build reports them again.
        emit::overwrite_local(root, REPORTED, key.seal("reported", &digests).as_bytes()).ok();
    }
    (new, n_known)
}

/// Digest of a finding without its line, which may change, as in `.blue/accepted.jsonl`.
fn digest_of(finding: &Diagnostic) -> String {
    let mut hasher = Hasher::new();
    hasher.field(finding.code.as_str().as_bytes()).field(finding.scope().as_bytes());
    hasher.field(finding.message.as_bytes()).digest().short()
}

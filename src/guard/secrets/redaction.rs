//! Redacts a secret and reports it by its fingerprint.

use std::ops::Range;

use super::Hit;
use crate::guard::{Allowed, TextFinding, fingerprint};
use crate::model::Code;

/// Something that looks like a credential.
pub(in crate::guard) struct Secret {
    pub(in crate::guard) range: Range<usize>,
    /// The name of the secret in messages.
    pub(in crate::guard) rule: &'static str,
    fingerprint: String,
}

impl Secret {
    pub(super) fn new(text: &str, hit: Hit) -> Secret {
        // Twelve digits distinguish secrets, but cannot confirm a guess at a short password.
        let fingerprint = fingerprint("blue secret", &text[hit.range.clone()], 12);
        Secret { range: hit.range, rule: hit.rule, fingerprint }
    }

    /// Returns the finding with the redacted text, unless the fingerprint is allowed.
    pub(in crate::guard) fn finding(
        self,
        text: &str,
        range: Range<usize>,
        allowed: &Allowed,
    ) -> Option<TextFinding> {
        let Secret { rule, fingerprint, .. } = self;
        if allowed.secrets.contains(&fingerprint) {
            return None;
        }
        let mut replacement = format!("[redacted: {rule}]");
        // Line numbers stay the same, and so do the characters that make a line a quotation.
        for line in text[range.clone()].split('\n').skip(1) {
            let is_prefix = |c: char| matches!(c, ' ' | '\t' | '>');
            replacement.push('\n');
            replacement.push_str(&line[..line.len() - line.trim_start_matches(is_prefix).len()]);
        }
        Some(TextFinding {
            range,
            code: Code::Secret,
            message: format!(
                "text that looks like a secret is redacted: {rule}, fingerprint {fingerprint}"
            ),
            hint: "revoke and remove it; if it is not a secret, allow its fingerprint with a reason: security.allow_secrets",
            replacement: Some(replacement),
        })
    }
}

//! Checks the names of files and folders, which become part of addresses and indexes.

use super::scan_context::ScanContext;
use super::{anchors, mixed_scripts, secrets};
use crate::model::hidden_chars::{hidden_in, mark};
use crate::model::{Code, Diagnostic};

/// The result of checking a name.
pub enum NameCheck {
    /// The name is accepted.
    Plain,
    /// The name is accepted with a warning.
    Noted(Diagnostic),
    /// The document is not read.
    Refused(Diagnostic),
}

/// Checks a path below the root for hidden characters, secrets and mixed scripts.
pub fn check_name(path: &str) -> NameCheck {
    if let Some((_, c)) = hidden_in(path).first() {
        let name = crate::model::unicode_names::name(*c);
        let message = format!(
            "its name has the hidden character U+{:04X} {name}; the document is not read",
            *c as u32
        );
        let finding = Diagnostic::new(Code::HiddenName, &redacted(path), message);
        return NameCheck::Refused(finding.hint("rename it"));
    }
    if let Some(secret) = secrets::find(path, &anchors::find(path)).first() {
        let message = format!(
            "its name contains text that looks like a secret: {}; the document is not read",
            secret.rule
        );
        let finding = Diagnostic::new(Code::SecretName, &redacted(path), message);
        return NameCheck::Refused(finding.hint("revoke it, then rename the file"));
    }
    if !path.is_ascii() && path.split(|c: char| !c.is_alphanumeric()).any(mixed_scripts::is_mixed) {
        let message = "its name mixes letters of two scripts that look alike";
        let finding = Diagnostic::new(Code::MixedScript, path, message);
        return NameCheck::Noted(finding.hint("rename it with the letters of one script"));
    }
    NameCheck::Plain
}

/// Returns true if a path contains what looks like a secret.
pub fn has_secret(path: &str) -> bool {
    !secrets::find(path, &anchors::find(path)).is_empty()
}

/// Redacts the secrets in a path or a short text and makes hidden characters visible.
pub fn redacted(text: &str) -> String {
    let hidden = hidden_in(text);
    let context = ScanContext::new(text, &hidden);
    let mut redacted = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secrets::find(&context.text, &anchors::find(&context.text)) {
        let range = context.original_range(&secret.range);
        redacted.push_str(&text[done..range.start]);
        redacted.push_str(&format!("[redacted: {}]", secret.rule));
        done = range.end;
    }
    redacted.push_str(&text[done..]);
    match hidden.is_empty() {
        true => redacted,
        false => {
            let hidden = hidden_in(&redacted);
            let is_hidden = |at: usize| hidden.binary_search_by_key(&at, |(at, _)| *at).is_ok();
            let visible = |(at, c)| if is_hidden(at) { mark(c) } else { String::from(c) };
            redacted.char_indices().map(visible).collect()
        }
    }
}

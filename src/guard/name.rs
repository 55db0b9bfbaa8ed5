//! Names of files and folders, which reach addresses and indexes as they are.

use super::{anchor, script, secret};
use crate::model::hidden_chars::{hidden_in, mark};
use crate::model::{Code, Diagnostic};

/// What a name is found to be.
pub enum Named {
    /// Nothing is wrong with it.
    Plain,
    /// It can be used, but something must be said of it.
    Noted(Diagnostic),
    /// A document of this name is not read.
    Refused(Diagnostic),
}

/// Judges a path below the root.
pub fn judge_name(path: &str) -> Named {
    if let Some((_, c)) = hidden_in(path).first() {
        let name = crate::model::unicode_names::name(*c);
        let message = format!(
            "its name has the hidden character U+{:04X} {name}; the document is not read",
            *c as u32
        );
        let finding = Diagnostic::new(Code::HiddenName, &shown(path), message);
        return Named::Refused(finding.hint("rename it"));
    }
    if let Some(secret) = secret::find(path, &anchor::anchors(path)).first() {
        let message = format!(
            "its name has what looks like a secret: {}; the document is not read",
            secret.rule
        );
        let finding = Diagnostic::new(Code::SecretName, &shown(path), message);
        return Named::Refused(finding.hint("revoke it, then rename the file"));
    }
    if !path.is_ascii() && path.split(|c: char| !c.is_alphanumeric()).any(script::is_mixed) {
        let message = "letters of two scripts that look alike in its name";
        let finding = Diagnostic::new(Code::MixedScript, path, message);
        return Named::Noted(finding.hint("rename it with the letters of one script"));
    }
    Named::Plain
}

/// Whether a path has what looks like a secret.
pub fn has_secret(path: &str) -> bool {
    !secret::find(path, &anchor::anchors(path)).is_empty()
}

/// A path or a short text with secrets redacted and hidden characters shown.
pub fn shown(text: &str) -> String {
    let hidden = hidden_in(text);
    let sight = super::Sight::new(text, &hidden);
    let mut shown = String::with_capacity(text.len());
    let mut done = 0;
    for secret in secret::find(&sight.text, &anchor::anchors(&sight.text)) {
        let range = sight.original(&secret.range);
        shown.push_str(&text[done..range.start]);
        shown.push_str(&format!("[redacted: {}]", secret.rule));
        done = range.end;
    }
    shown.push_str(&text[done..]);
    match hidden.is_empty() {
        true => shown,
        false => {
            let marked = hidden_in(&shown);
            let hides = |at: usize| marked.binary_search_by_key(&at, |(place, _)| *place).is_ok();
            let sign = |(at, c): (usize, char)| if hides(at) { mark(c) } else { c.to_string() };
            shown.char_indices().map(sign).collect()
        }
    }
}

//! Reports characters that a reader cannot see but an agent can.

use super::{Allowed, TextFinding};
use crate::model::Code;
use crate::model::hidden_chars::mark;
use crate::model::unicode_names::name;

/// Longer runs are replaced by their length and first character. A run can encode a text, which an
/// agent could still decode if each character were made visible.
const MAX_SHOWN: usize = 4;

/// Returns a finding for each run of hidden characters that are not allowed.
pub(super) fn findings(hidden: &[(usize, char)], allowed: &Allowed) -> Vec<TextFinding> {
    let denied: Vec<(usize, char)> =
        hidden.iter().copied().filter(|(_, c)| !allowed.characters.contains(*c)).collect();
    let adjacent = |a: &(usize, char), b: &(usize, char)| a.0 + a.1.len_utf8() == b.0;
    denied.chunk_by(adjacent).map(finding).collect()
}

fn finding(run: &[(usize, char)]) -> TextFinding {
    let (start, first) = run[0];
    let (last_at, last) = run[run.len() - 1];
    let code = first as u32;
    let (message, replacement) = match run.len() {
        1 => {
            let message = format!("hidden character U+{code:04X} {}", name(first));
            (format!("{message}; it is shown as {}", mark(first)), mark(first))
        }
        n => {
            let message = format!("{n} hidden characters from U+{code:04X} {} on", name(first));
            let replacement: String = match n <= MAX_SHOWN {
                true => run.iter().map(|(_, c)| mark(*c)).collect(),
                false => format!("[{n} hidden characters from U+{code:04X} on]"),
            };
            (message, replacement)
        }
    };
    TextFinding {
        range: start..last_at + last.len_utf8(),
        code: Code::HiddenText,
        message,
        hint: "delete it, write it as an escape, or allow it with a reason: security.allow_hidden",
        replacement: Some(replacement),
    }
}

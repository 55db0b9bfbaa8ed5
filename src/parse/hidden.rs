//! Characters that a reader cannot see but an agent can.

use super::Page;
use crate::model::hidden::is_hidden;
use crate::model::{Code, Note};

/// At most this many are placed one by one; the rest are counted.
const MAX_PLACED: usize = 3;

/// Notes hidden characters.
pub(super) fn note(page: &Page<'_>, notes: &mut Vec<Note>) {
    // Folded without an early end, this is one pass over whole vectors of bytes.
    let plain = |b: u8| b >= b' ' && b != 0x7F || matches!(b, b'\n' | b'\r' | b'\t');
    if page.text.is_ascii() && page.text.bytes().fold(true, |all, b| all & plain(b)) {
        return;
    }
    let mut n_found = 0;
    let mut before = ' ';
    for (offset, c) in page.text.char_indices() {
        if is_hidden(c, before) {
            n_found += 1;
            if n_found <= MAX_PLACED {
                let (line, column) = page.lines.place(page.text, offset);
                let message = format!(
                    "hidden character U+{:04X}; it is shown as [U+{:04X}]",
                    c as u32, c as u32
                );
                let hint = Some("delete it, or write it as an escape".to_string());
                notes.push(Note { code: Code::HiddenText, line, column, message, hint });
            }
        }
        before = c;
    }
    if n_found > MAX_PLACED {
        let message = format!("{} more hidden characters", n_found - MAX_PLACED);
        notes.push(Note { code: Code::HiddenText, line: 0, column: 0, message, hint: None });
    }
}

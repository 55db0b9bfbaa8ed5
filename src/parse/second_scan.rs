//! Scans extracted text a second time, after Markdown and YAML have been decoded.
//!
//! An escape, an entity or markup in the middle of a word can hide a secret or a hidden character
//! from the scan of the raw text. It becomes visible only once the markup is removed.

use std::cell::RefCell;

use crate::guard::{Allowed, Clean, clean};
use crate::model::{Note, Reference, Target};

/// Cleans extracted texts and collects the findings.
pub(super) struct SecondScan<'a> {
    allowed: &'a Allowed,
    found: RefCell<Vec<Note>>,
}

impl<'a> SecondScan<'a> {
    pub(super) fn new(allowed: &'a Allowed) -> SecondScan<'a> {
        SecondScan { allowed, found: RefCell::default() }
    }

    /// Returns the hidden characters that the document may contain.
    pub(super) fn allowed_characters(&self) -> &str {
        &self.allowed.characters
    }

    /// Returns the text with secrets redacted and hidden characters made visible.
    pub(super) fn cleaned(&self, text: String) -> String {
        let Clean { text: cleaned, notes } = clean(&text, self.allowed);
        if notes.is_empty() {
            return text;
        }
        // Positions in an extracted text are not positions in the document.
        let without_position = |note: Note| Note { line: 0, column: 0, ..note };
        self.found.borrow_mut().extend(notes.into_iter().map(without_position));
        cleaned.into_owned()
    }

    /// Cleans a text in place.
    pub(super) fn clean(&self, text: &mut String) {
        *text = self.cleaned(std::mem::take(text));
    }

    /// Cleans the targets of references.
    pub(super) fn clean_references(&self, references: &mut [Reference]) {
        for reference in references {
            match &mut reference.target {
                Target::Path(text) | Target::FieldPath(text) | Target::Url(text) => {
                    self.clean(text)
                }
                Target::Address(text) | Target::Name(_, text) => self.clean(text),
                Target::Label(_) | Target::Number(..) => {}
            }
        }
    }

    /// Cleans the messages of the other findings, because they quote the document, and adds the
    /// findings of this scan that the scan of the raw text did not report.
    pub(super) fn report_into(&self, notes: &mut Vec<Note>) {
        for note in notes.iter_mut().filter(|note| !note.code.is_from_guard()) {
            self.clean(&mut note.message);
            note.hint.iter_mut().for_each(|hint| self.clean(hint));
        }
        for note in self.found.take() {
            let is_reported = |other: &Note| {
                other.code == note.code
                    && (note.code.is_prompt_injection() || other.message == note.message)
            };
            if !notes.iter().any(is_reported) {
                notes.push(note);
            }
        }
    }
}

//! A second look at what Markdown and YAML put together.
//!
//! An escape, an entity or markup in the middle of a word shows only once it is taken out.

use std::cell::RefCell;

use crate::guard::{Allowed, Clean, clean};
use crate::model::{Note, Reference, Target};

/// Judges texts that were taken from a document, and keeps what was found in them.
pub(super) struct Again<'a> {
    allowed: &'a Allowed,
    found: RefCell<Vec<Note>>,
}

impl<'a> Again<'a> {
    pub(super) fn new(allowed: &'a Allowed) -> Again<'a> {
        Again { allowed, found: RefCell::default() }
    }

    /// Hidden characters that the document may have.
    pub(super) fn kept(&self) -> &str {
        &self.allowed.kept
    }

    /// A text as it may be told.
    pub(super) fn text(&self, text: String) -> String {
        let Clean { text: cleaned, notes } = clean(&text, self.allowed);
        if notes.is_empty() {
            return text;
        }
        let placeless = |note: Note| Note { line: 0, column: 0, ..note };
        self.found.borrow_mut().extend(notes.into_iter().map(placeless));
        cleaned.into_owned()
    }

    /// The same in place.
    pub(super) fn look(&self, text: &mut String) {
        *text = self.text(std::mem::take(text));
    }

    /// References with targets that may be told.
    pub(super) fn references(&self, mut references: Vec<Reference>) -> Vec<Reference> {
        for reference in &mut references {
            match &mut reference.target {
                Target::Path(text) | Target::Url(text) | Target::Address(text) => self.look(text),
                Target::Name(_, text) => self.look(text),
                Target::Label(_) | Target::Number(..) => {}
            }
        }
        references
    }

    /// Adds what was found here and not already in the text as written; what other findings quote
    /// may be told as well.
    pub(super) fn join(&self, notes: &mut Vec<Note>) {
        for note in notes.iter_mut().filter(|note| !note.code.is_from_guard()) {
            self.look(&mut note.message);
            note.hint.iter_mut().for_each(|hint| self.look(hint));
        }
        for note in self.found.take() {
            let known = |other: &Note| {
                other.code == note.code
                    && (note.code.is_prompt_injection() || other.message == note.message)
            };
            if !notes.iter().any(known) {
                notes.push(note);
            }
        }
    }
}

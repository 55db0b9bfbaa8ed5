//! Reports the status words that blue does not know, once per collection.

use indexmap::IndexMap;

use super::plain_text::clip;
use crate::model::plural::counted;
use crate::model::{Code, Diagnostic, Document, Status};

/// Maximum number of words that are listed, and of bytes of each.
const MAX_WORDS: usize = 6;
const MAX_BYTES: usize = 40;

/// Adds a finding for each collection with unknown words, at the first document with one.
/// `documents` are sorted by collection.
pub(super) fn report(documents: &[Document], notes: &mut Vec<Diagnostic>) {
    for documents in documents.chunk_by(|a, b| a.collection == b.collection) {
        let unknown = documents.iter().filter(|document| document.status == Status::Unknown);
        let Some(first) = unknown.clone().next() else { continue };
        let mut words: IndexMap<String, usize> = IndexMap::new();
        for document in unknown {
            *words.entry(clip(&document.status_text, MAX_BYTES)).or_default() += 1;
        }
        let (n_words, n_documents) = (words.len(), words.values().sum::<usize>());
        let mut listed: Vec<(String, usize)> = words.into_iter().collect();
        listed.sort_by(|(a, n_a), (b, n_b)| n_b.cmp(n_a).then_with(|| a.cmp(b)));
        let mut texts: Vec<String> = Vec::new();
        for (word, n) in listed.iter().take(MAX_WORDS) {
            texts.push(if *n == 1 { format!("{word:?}") } else { format!("{word:?} ({n} times)") });
        }
        if n_words > MAX_WORDS {
            texts.push(format!("{} more", n_words - MAX_WORDS));
        }
        let verb = if n_documents == 1 { "counts" } else { "count" };
        let message = format!(
            "unknown status {}; {} {verb} as live",
            texts.join(", "),
            counted(n_documents, "document")
        );
        let (path, line) = first.status_place();
        let hint = "use a word such as draft, accepted, implemented, superseded or rejected";
        let finding = Diagnostic::new(Code::StatusUnknown, path, message);
        notes.push(finding.at(line, 1).hint(hint));
    }
}

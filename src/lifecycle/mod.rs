//! Creates documents, changes their status and their names, and lets links follow.
//!
//! Everything is planned in memory and checked with the parser. `emit::edit_documents` then changes
//! all files or none.

mod branch_guard;
mod collection_style;
mod file_names;
mod header;
mod links;
mod new_document;
mod new_place;
mod rename;
mod set_status;
mod texts;
mod titles;

use std::collections::BTreeMap;

use crate::build::{self, Inputs, Progress, Survey};
use crate::emit::DocumentEdit;
use crate::model::{Code, DocId, Document, Status};
use crate::root::Root;

pub use branch_guard::{EditGuard, Verdict};
pub use new_document::{CreateOutcome, NewDocument, NewKind, PlannedDocument, create};
pub use rename::{NewName, rename};
pub use set_status::{StatusChange, set_status};
use texts::FileTexts;

/// All documents of a project as they are now.
pub struct DocumentSet {
    /// The documents, parsed and linked.
    pub survey: Survey,
    /// The configuration.
    pub inputs: Inputs,
}

impl DocumentSet {
    /// Reads all documents.
    pub fn read(root: &Root, progress: &dyn Progress) -> anyhow::Result<DocumentSet> {
        let inputs = build::load(root)?;
        Ok(DocumentSet { survey: build::survey(root, &inputs, progress)?, inputs })
    }

    /// Returns the document with a path or a permanent address.
    pub fn find(&self, name: &str) -> Option<DocId> {
        let documents = self.survey.graph.documents.iter();
        let is_named = |document: &Document| document.path == name || document.uri.as_str() == name;
        documents.clone().position(is_named).map(|row| DocId(row as u32))
    }

    fn document(&self, id: DocId) -> &Document {
        self.survey.graph.document(id)
    }

    /// Returns the id of a document as others write it, such as `RFC 0016`, or else its title.
    fn label(&self, document: &Document) -> String {
        let kind = self.survey.graph.collections[document.collection].kind.as_str().to_uppercase();
        match document.number_text.as_str() {
            "" => document.title.replace(['[', ']'], ""),
            number => format!("{kind} {number}"),
        }
    }
}

/// The files that a command would change.
#[derive(Debug, Default)]
pub struct PlannedEdits {
    /// All files.
    pub edits: Vec<DocumentEdit>,
    /// Old and new path of each renamed file.
    pub renames: Vec<(String, String)>,
    /// Number of links that follow.
    pub n_links: usize,
    /// Number of files with such links.
    pub n_linking: usize,
    /// Things that the user should know.
    pub notes: Vec<String>,
}

/// The reason why a change is refused.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ChangeRefusal {
    /// The step is not the next one: the present and the wanted status.
    Step(Status, Status),
    /// A superseded document needs the one that replaces it.
    NoSuccessor,
    /// The document would replace itself.
    OwnSuccessor,
    /// blue cannot change the header of this document: its path.
    Header(String),
    /// The name of the document is that of its folder: its path.
    Folder(String),
    /// A title or a number cannot be part of a name; with the reason.
    Name(String),
}

impl std::fmt::Display for ChangeRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let word = |status: &Status| header::word(*status);
        match self {
            ChangeRefusal::Step(from, to) => write!(
                f,
                "{} does not follow {}\nhint: --force does it nevertheless",
                word(to),
                word(from)
            ),
            ChangeRefusal::NoSuccessor => {
                f.write_str("a superseded document needs its successor\nhint: --by <address>")
            }
            ChangeRefusal::OwnSuccessor => {
                f.write_str("a document cannot replace itself\nhint: --by <another address>")
            }
            ChangeRefusal::Header(path) => write!(
                f,
                "{path}: blue cannot change this header safely\nhint: edit it by hand, then run `blue knowledge lint --fix BLUE-REF-003`"
            ),
            ChangeRefusal::Folder(path) => write!(
                f,
                "{path} is named by its folder, which blue does not rename\nhint: `git mv` the folder, then run `blue knowledge lint --fix BLUE-REF-003`"
            ),
            ChangeRefusal::Name(reason) => f.write_str(reason),
        }
    }
}

/// Plans the correction of all links to documents under their old names.
pub fn mend_links(root: &Root, set: &DocumentSet) -> anyhow::Result<PlannedEdits> {
    let findings = set.inputs.policy.review_each(set.survey.notes.clone()).shown.into_iter();
    let mut by_document: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for finding in findings.filter(|finding| finding.code == Code::Renamed) {
        // A path that leads back to the document itself was meant for another one.
        let renamed = finding.renamed.filter(|(_, path)| *path != finding.path);
        if let Some((written, path)) = renamed {
            by_document.entry(finding.path).or_default().insert(written, path);
        }
    }
    let mut texts = FileTexts::new(root);
    let (mut n_links, mut n_linking) = (0, 0);
    for (path, targets) in &by_document {
        let Some(text) = texts.readable(path) else { continue };
        let target = |written: &str, _: &str| targets.get(written).cloned();
        if let Some((changed, n_changed)) = links::rewritten(&text, path, &target) {
            texts.set(path, changed);
            n_links += n_changed;
            n_linking += 1;
        }
    }
    let notes = texts.take_notes();
    Ok(PlannedEdits {
        edits: texts.into_edits(&[]),
        n_links,
        n_linking,
        notes,
        ..Default::default()
    })
}

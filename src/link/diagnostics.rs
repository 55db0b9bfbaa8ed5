//! Reports references that are broken, ambiguous, to a renamed document or to the document itself.

use super::resolve::{Resolution, Resolver};
use super::resolve_path::relative;
use crate::model::{Code, Diagnostic, DocId, Reference, Relation, Target};

impl Resolver<'_, '_> {
    /// Adds a diagnostic if a reference did not resolve to exactly one other document.
    pub(super) fn report(
        &self,
        reference: &Reference,
        resolution: &Resolution,
        notes: &mut Vec<Diagnostic>,
    ) {
        let path = self.document.file(reference.in_sidecar);
        let path_of = |id: &DocId| self.documents[id.0 as usize].path.as_str();
        let diagnostic = match resolution {
            Resolution::One(id) if *id == self.from => {
                if !states_a_relation(reference.relation) {
                    return;
                }
                Diagnostic::new(Code::SelfReference, path, "the document refers to itself")
                    .hint("name another document, or drop the reference")
            }
            Resolution::Renamed(id) => {
                let new = relative(&self.document.path, path_of(id));
                let message = format!("{} is now {}", written(&reference.target), path_of(id));
                let diagnostic =
                    Diagnostic::new(Code::Renamed, path, message).hint(format!("write {new:?}"));
                let renamed = match &reference.target {
                    Target::Path(old) | Target::FieldPath(old) => {
                        Some((old.clone(), path_of(id).to_string()))
                    }
                    _ => None,
                };
                Diagnostic { fix: self.fix(&reference.target, new), renamed, ..diagnostic }
            }
            Resolution::Many(ids) => {
                let mut all: Vec<&str> = ids.iter().take(6).map(path_of).collect();
                if ids.len() > all.len() {
                    all.push("…");
                }
                let message = format!(
                    "{} matches {} documents: {}",
                    written(&reference.target),
                    ids.len(),
                    all.join(", ")
                );
                let uri = &self.documents[ids[0].0 as usize].uri;
                Diagnostic::new(Code::Ambiguous, path, message)
                    .hint(format!("write the address of one, such as {uri}"))
            }
            Resolution::Missing(code, message, hint) => {
                let diagnostic = Diagnostic::new(*code, path, message.as_str());
                Diagnostic { hint: hint.clone(), ..diagnostic }
            }
            Resolution::One(_) | Resolution::Foreign => return,
        };
        notes.push(diagnostic.at(reference.line, reference.column));
    }

    /// Returns the text to replace and the new text, unless a document has a name like the old one:
    /// a replacement of all such names would change correct links.
    fn fix(&self, target: &Target, new: String) -> Option<(String, String)> {
        let (Target::Path(old) | Target::FieldPath(old)) = target else { return None };
        (!self.index.has_name_like(old)).then(|| (old.clone(), new))
    }
}

/// Returns true if a document cannot have this relation to itself. Its own id in the text, or a link
/// to one of its sections, is no mistake.
fn states_a_relation(relation: Relation) -> bool {
    matches!(
        relation,
        Relation::Supersedes | Relation::SupersededBy | Relation::DependsOn | Relation::Source
    )
}

/// Formats a target as the document writes it.
fn written(target: &Target) -> String {
    match target {
        Target::Path(path) | Target::FieldPath(path) => format!("{path:?}"),
        Target::Url(url) => url.clone(),
        Target::Address(address) => address.clone(),
        Target::Label(label) => format!("{} {}", label.series.to_uppercase(), label.number),
        Target::Number(_, number) => number.to_string(),
        Target::Name(_, name) => format!("{name:?}"),
    }
}

//! Plans another title or number for a document.

use super::set_status::{follow, reader};
use super::texts::{FileTexts, with_file_name};
use super::{ChangeRefusal, DocumentSet, PlannedEdits, file_names, titles};
use crate::model::document::is_cover;
use crate::model::{DocId, Document};
use crate::root::Root;

/// The wanted name.
pub struct NewName<'a> {
    /// The document.
    pub id: DocId,
    /// Its new title.
    pub title: Option<&'a str>,
    /// Its new number.
    pub number: Option<u64>,
    /// Further files in which links follow.
    pub others: &'a [String],
}

/// Plans the change of one document's title and number, of its name and that of its plan, and of the
/// links to both.
pub fn rename(
    root: &Root,
    set: &DocumentSet,
    name: &NewName<'_>,
) -> anyhow::Result<Result<PlannedEdits, ChangeRefusal>> {
    let document = set.document(name.id);
    let file = document.path.rsplit('/').next().unwrap_or(&document.path);
    if is_cover(file) {
        return Ok(Err(ChangeRefusal::Folder(document.path.clone())));
    }
    let title = match name.title.map(titles::clean).transpose() {
        Ok(title) => title,
        Err(reason) => return Ok(Err(ChangeRefusal::Name(reason))),
    };
    if let Some(taken) = name.number.and_then(|number| user_of(set, document, number)) {
        let reason = format!("{} has this number\nhint: choose another one", taken.path);
        return Ok(Err(ChangeRefusal::Name(reason)));
    }
    let slug = match title.as_deref().map(titles::slug).transpose() {
        Ok(slug) => slug.filter(|_| !document.slug.is_empty()),
        Err(reason) => return Ok(Err(ChangeRefusal::Name(reason))),
    };
    let mut texts = FileTexts::new(root);
    let mut renames = Vec::new();
    for document in [document].into_iter().chain(plan_of(set, document)) {
        let text = texts.text(&document.path)?;
        let facts = |text: &str| reader(set, &document.path, None).facts(text);
        let Some(changed) = titles::changed(&text, document, title.as_deref(), name.number, &facts)
        else {
            return Ok(Err(ChangeRefusal::Header(document.path.clone())));
        };
        texts.set(&document.path, changed);
        let file = document.path.rsplit('/').next().unwrap_or(&document.path);
        let new = file_names::with_number_and_slug(file, name.number, slug.as_deref());
        if new != file {
            renames.push((document.path.clone(), with_file_name(&document.path, &new)));
        }
    }
    let mut planned = follow(set, texts, renames, name.others);
    if let Some(number) = name.number {
        let n_mentions = n_mentions(set, name.id);
        if n_mentions > 0 {
            planned.notes.push(format!(
                "{n_mentions} documents mention {} in prose; they do not change to {number}",
                set.label(document)
            ));
        }
    }
    Ok(Ok(planned))
}

/// Returns the document of the same collection with a number.
fn user_of<'a>(set: &'a DocumentSet, document: &Document, number: u64) -> Option<&'a Document> {
    let others = set.survey.graph.documents.iter();
    let mut others = others.filter(|other| {
        other.collection == document.collection && !other.is_plan && other.path != document.path
    });
    others.find(|other| other.number.as_ref().and_then(|number| number.value()) == Some(number))
}

/// Returns the plan of a document, which is named after it.
fn plan_of<'a>(set: &'a DocumentSet, document: &Document) -> Option<&'a Document> {
    let mut others = set.survey.graph.documents.iter();
    others.find(|other| {
        other.is_plan
            && !document.is_plan
            && other.collection == document.collection
            && other.number == document.number
            && other.slug == document.slug
    })
}

/// Counts the documents that mention a document by its number.
fn n_mentions(set: &DocumentSet, id: DocId) -> usize {
    let edges = set.survey.graph.edges.iter();
    let mentions =
        edges.filter(|edge| edge.to == id && edge.relation == crate::model::Relation::Mention);
    mentions.map(|edge| edge.from).collect::<std::collections::BTreeSet<_>>().len()
}

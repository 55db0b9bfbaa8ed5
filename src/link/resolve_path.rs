//! Resolves links by path: exact, renamed or broken.

use super::resolve::{Resolution, Resolver};
use crate::model::layout::folder_of;
use crate::model::text_format::EXTENSIONS;
use crate::model::{Code, DocId, FileName, Label, Relation, TextFormat};

impl Resolver<'_, '_> {
    /// Resolves a path by trying, in this order: the exact path, the same slug in the same folder,
    /// the same number with a similar slug. Otherwise the link is broken.
    pub(super) fn path(&self, path: &str, label: Option<&Label>) -> Resolution {
        let Some(full) = joined(&self.document.path, path) else { return Resolution::Foreign };
        if let Some(id) = self.index.by_path(&full).or_else(|| self.without_extension(&full)) {
            return Resolution::One(id);
        }
        if (self.exists)(&full) || full.is_empty() {
            return Resolution::Foreign;
        }
        let file = full.rsplit('/').next().unwrap_or(&full);
        let wanted = FileName::parse(
            if file.contains('.') { file.to_string() } else { format!("{file}.md") }.as_str(),
        );
        self.renamed(&wanted, folder_of(&full))
            .unwrap_or_else(|| self.broken(path, &full, &wanted, label))
    }

    /// Finds the document that a path names as a website does: without the extension, with that of
    /// the published page, or by its folder.
    fn without_extension(&self, full: &str) -> Option<DocId> {
        let page = full.strip_suffix(".html").unwrap_or(full);
        EXTENSIONS.iter().find_map(|(extension, _)| {
            let spellings = [
                format!("{page}.{extension}"),
                format!("{full}/README.{extension}"),
                format!("{full}/index.{extension}"),
            ];
            spellings.iter().find_map(|path| self.index.by_path(path))
        })
    }

    /// Finds the document that a path named before it was renamed.
    fn renamed(&self, wanted: &FileName, folder: &str) -> Option<Resolution> {
        let both_plans = |id: &DocId| self.documents[id.0 as usize].is_plan == wanted.is_plan;
        let same_slug: Vec<DocId> = match wanted.slug.is_empty() {
            true => Vec::new(),
            false => self.index.by_slug(&wanted.slug).into_iter().filter(both_plans).collect(),
        };
        let in_folder = |id: &DocId| folder_of(&self.documents[id.0 as usize].path) == folder;
        let in_same_folder: Vec<DocId> = same_slug.iter().copied().filter(in_folder).collect();
        match in_same_folder.as_slice() {
            [id] => return Some(Resolution::Renamed(*id)),
            [] => {}
            several => {
                let same_number =
                    |id: &&DocId| self.documents[id.0 as usize].number == wanted.number;
                let numbered: Vec<DocId> = several.iter().filter(same_number).copied().collect();
                return Some(match numbered.as_slice() {
                    [id] if wanted.number.is_some() => Resolution::Renamed(*id),
                    _ => Resolution::Many(several.to_vec()),
                });
            }
        }
        if let [id] = self.same_number_similar_slug(wanted, folder).as_slice() {
            return Some(Resolution::Renamed(*id));
        }
        // A slug of at least three words that only one document has identifies it in any folder.
        match same_slug.as_slice() {
            [id] if wanted.slug.matches('-').count() >= 2 => Some(Resolution::Renamed(*id)),
            _ => None,
        }
    }

    fn same_number_similar_slug(&self, wanted: &FileName, folder: &str) -> Vec<DocId> {
        let Some(number) = &wanted.number else { return Vec::new() };
        let Some(collection) = self.collection_of(folder) else { return Vec::new() };
        let first = self.documents.partition_point(|document| document.collection < collection);
        let rows = self.documents.iter().enumerate();
        rows.skip(first)
            .take_while(|(_, document)| document.collection == collection)
            .filter(|(_, document)| document.number.as_ref() == Some(number) && !document.is_plan)
            .filter(|(_, document)| is_similar(&document.slug, &wanted.slug))
            .map(|(i, _)| DocId(i as u32))
            .collect()
    }

    /// Returns the collection whose documents are in a folder.
    fn collection_of(&self, folder: &str) -> Option<usize> {
        if folder_of(&self.document.path) == folder {
            return Some(self.document.collection);
        }
        self.collections.iter().position(|collection| {
            collection.globs.iter().any(|glob| glob.split("/*").next() == Some(folder))
        })
    }

    fn broken(
        &self,
        path: &str,
        full: &str,
        wanted: &FileName,
        label: Option<&Label>,
    ) -> Resolution {
        let may_be_document = TextFormat::of_path(full).is_some() || wanted.number.is_some();
        // Routes of a website and generated folders exist only after a build of the site.
        if !may_be_document {
            return Resolution::Foreign;
        }
        if !self.is_in_collection_folder(full) {
            return Resolution::Missing(Code::MissingFile, format!("no file at {path:?}"), None);
        }
        let by_label = label.filter(|_| wanted.slug.is_empty());
        let hint = match by_label.map(|label| self.label(label, Relation::Link)) {
            Some(Resolution::One(id)) => Some(self.suggestion(id)),
            _ => self.closest_name(wanted).map(|id| self.suggestion(id)),
        };
        let hint = hint.or_else(|| Some("correct the path, or remove the link".to_string()));
        Resolution::Missing(Code::BrokenLink, format!("no document at {path:?}"), hint)
    }

    /// Returns true if a path is in a folder that contains documents of this project.
    fn is_in_collection_folder(&self, full: &str) -> bool {
        let own_folder = folder_of(&self.document.path);
        let is_below = |glob: &String| {
            let base = glob.split(['*', '?', '[', '{']).next().unwrap_or("");
            full.starts_with(base) && (base.contains('/') || own_folder == folder_of(full))
        };
        self.collections.iter().flat_map(|collection| &collection.globs).any(is_below)
    }

    /// Returns the document of the same collection with the most similar name, if it is similar
    /// enough to suggest.
    fn closest_name(&self, wanted: &FileName) -> Option<DocId> {
        let n_left = self.n_suggestions.get();
        if wanted.slug.len() < 4 || n_left == 0 {
            return None;
        }
        self.n_suggestions.set(n_left - 1);
        // Only names of similar length with the same start or number are compared in full.
        let start: String = wanted.slug.chars().take(3).collect();
        let rows = self.documents.iter().enumerate().filter(|(_, document)| {
            let numbered = document.number.is_some() && document.number == wanted.number;
            document.collection == self.document.collection
                && document.slug.len().abs_diff(wanted.slug.len()) <= wanted.slug.len() / 3
                && (document.slug.starts_with(&start) || numbered)
        });
        let scored = rows.take(50).map(|(i, document)| {
            (strsim::damerau_levenshtein(&clipped(&document.slug), &clipped(&wanted.slug)), i)
        });
        let (distance, i) = scored.min()?;
        (distance * 3 <= wanted.slug.len()).then_some(DocId(i as u32))
    }

    fn suggestion(&self, id: DocId) -> String {
        let target = &self.documents[id.0 as usize].path;
        format!("did you mean {:?}?", relative(&self.document.path, target))
    }
}

fn clipped(slug: &str) -> String {
    slug.chars().take(64).collect()
}

/// Returns true if two slugs share at least half of their words.
fn is_similar(a: &str, b: &str) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (a.split('-').collect(), b.split('-').collect());
    let shared = a.iter().filter(|word| b.contains(word)).count();
    shared * 2 >= a.len().max(b.len()).max(1) && shared > 0
}

/// Joins a link to the folder of the document that contains it. `None` if it leaves the project.
pub(super) fn joined(from: &str, link: &str) -> Option<String> {
    let mut parts: Vec<&str> = match link.starts_with('/') {
        true => Vec::new(),
        false => folder_of(from).split('/').filter(|part| !part.is_empty()).collect(),
    };
    for part in link.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Returns the relative path from one document to another.
pub(super) fn relative(from: &str, to: &str) -> String {
    let a: Vec<&str> = folder_of(from).split('/').filter(|part| !part.is_empty()).collect();
    let b: Vec<&str> = to.split('/').collect();
    let shared = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let up = vec![".."; a.len() - shared];
    [up, b[shared..].to_vec()].concat().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_and_made_relative() {
        assert_eq!(joined("a/b/x.md", "../c/y.md").as_deref(), Some("a/c/y.md"));
        assert_eq!(joined("a/x.md", "../../y.md"), None);
        assert_eq!(joined("a/x.md", "/y.md").as_deref(), Some("y.md"));
        assert_eq!(relative("a/b/x.md", "a/c/y.md"), "../c/y.md");
        assert_eq!(relative("a/x.md", "a/y.md"), "y.md");
    }
}

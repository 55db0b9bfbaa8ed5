//! Resolves links by path: exact, renamed or broken.

use super::numbering_folder;
use super::resolve::{Resolution, Resolver};
use crate::model::document::is_cover;
use crate::model::layout::folder_of;
use crate::model::text_format::EXTENSIONS;
use crate::model::{Code, DocId, FileName, Label, Relation, TextFormat};

impl Resolver<'_, '_> {
    /// Resolves a path by trying, in this order: the exact path, the page of a website, the same
    /// slug in the same folder, the same number with a similar slug. Otherwise the link is broken.
    pub(super) fn path(&self, path: &str, label: Option<&Label>) -> Resolution {
        let Some(full) = joined(&self.document.path, path) else { return Resolution::Foreign };
        if let Some(id) = self.at_path(&full) {
            return Resolution::One(id);
        }
        if (self.exists)(&full) || full.is_empty() {
            return Resolution::Foreign;
        }
        if let Some(resolution) = self.page_of_site(path, &full) {
            return resolution;
        }
        let folder = folder_of(&self.document.path);
        if let Some(id) = self.own_pages.page(folder, path, self.index) {
            return Resolution::One(id);
        }
        if let [id] = self.index.by_route(&full).as_slice() {
            return Resolution::Renamed(*id);
        }
        let (folder, name) = folder_and_name(&full);
        let wanted = FileName::parse(&name);
        self.renamed(&wanted, folder).unwrap_or_else(|| self.broken(path, &full, &wanted, label))
    }

    /// Resolves a path in a header field, from the document's folder and then from the root.
    pub(super) fn field_path(&self, path: &str) -> Resolution {
        let from_root = path.trim_start_matches('/');
        let both = || [joined(&self.document.path, from_root), joined("", from_root)];
        if let Some(id) = both().iter().flatten().find_map(|full| self.at_path(full)) {
            return Resolution::One(id);
        }
        if both().iter().flatten().any(|full| (self.exists)(full)) {
            return Resolution::Foreign;
        }
        match self.path(path, None) {
            // Fields also name files of the code, with any root.
            Resolution::Missing(..) if FileName::parse(path).number.is_none() => {
                Resolution::Missing(Code::MissingFile, format!("no file at {path:?}"), None)
            }
            resolution => resolution,
        }
    }

    /// Returns the document at a path below the root, or the cover page of the folder there.
    pub(super) fn at_path(&self, full: &str) -> Option<DocId> {
        self.index.by_path(full).or_else(|| self.without_extension(full))
    }

    /// Resolves the page of a website that is made from the documents. Its root can be any folder
    /// above the document, and its pages can be named by number or slug alone.
    fn page_of_site(&self, path: &str, full: &str) -> Option<Resolution> {
        let is_page = |path: &str| !path.contains('.') || path.ends_with(".html");
        let mut candidates = vec![full.to_string()];
        // In AsciiDoc, Antora reads a path from the folder of all pages.
        let format = TextFormat::of_path(&self.document.path);
        let from_pages = format == Some(TextFormat::AsciiDoc) && !path.starts_with('.');
        if let Some(path) = path.strip_prefix('/').or(from_pages.then_some(path)) {
            let mut folder = folder_of(numbering_folder(self.document));
            while !folder.is_empty() {
                candidates.push(format!("{folder}/{}", path.trim_end_matches('/')));
                folder = folder_of(folder);
            }
        }
        if let Some(id) = candidates.iter().find_map(|full| self.at_path(full)) {
            return Some(Resolution::One(id));
        }
        if candidates.iter().any(|full| (self.exists)(full)) {
            return Some(Resolution::Foreign);
        }
        let last = full.rsplit('/').next().unwrap_or(full);
        if !is_page(last) {
            return None;
        }
        let wanted = FileName::parse(&format!("{}.md", last.trim_end_matches(".html")));
        candidates.iter().find_map(|full| {
            let folder = folder_of(full);
            let found = match &wanted.number {
                Some(number) if wanted.slug.is_empty() => self.index.by_number_in(folder, number),
                None => {
                    let same_slug = self.index.by_slug(&wanted.slug).into_iter();
                    let path_of = |id: &DocId| &self.documents[id.0 as usize].path;
                    same_slug.filter(|id| folder_of(path_of(id)) == folder).collect()
                }
                Some(_) => Vec::new(),
            };
            (!found.is_empty()).then(|| self.choose(found, Relation::Link))
        })
    }

    /// Finds the document that a path names as a website does: without the extension, with that of
    /// the published page, or by its folder.
    fn without_extension(&self, full: &str) -> Option<DocId> {
        let page = full.strip_suffix(".html").unwrap_or(full);
        // Most paths name nothing here, and this is found out with one search.
        if !self.index.has_path_below(page) {
            return None;
        }
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
        // Number and slug, or a slug of at least three words that only one document has, identify
        // it in any folder.
        let numbered = |id: &&DocId| self.documents[id.0 as usize].number == wanted.number;
        let same_number: Vec<DocId> = same_slug.iter().filter(numbered).copied().collect();
        match (same_number.as_slice(), same_slug.as_slice()) {
            ([id], _) if wanted.number.is_some() => Some(Resolution::Renamed(*id)),
            (_, [id]) if wanted.slug.matches('-').count() >= 2 => Some(Resolution::Renamed(*id)),
            _ => None,
        }
    }

    fn same_number_similar_slug(&self, wanted: &FileName, folder: &str) -> Vec<DocId> {
        let Some(number) = &wanted.number else { return Vec::new() };
        let found = self.index.by_number_in(folder, number).into_iter();
        let slug_of = |id: &DocId| &self.documents[id.0 as usize].slug;
        found.filter(|id| is_similar(slug_of(id), &wanted.slug)).collect()
    }

    fn broken(
        &self,
        path: &str,
        full: &str,
        wanted: &FileName,
        label: Option<&Label>,
    ) -> Resolution {
        let is_readable = TextFormat::of_path(full).is_some();
        let in_collection = self.is_in_collection_folder(full);
        let is_number = wanted.number.is_some() && in_collection && !full.ends_with(".html");
        // Routes of a website, pages of a repository and generated folders are no files. The name
        // of a template stands for any document.
        if !(is_readable || is_number) || wanted.is_template {
            return Resolution::Foreign;
        }
        if !in_collection {
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

/// Splits a path into the folder where the name must be unique and the name, which for a cover page
/// is that of its folder.
fn folder_and_name(full: &str) -> (&str, String) {
    let (folder, file) = full.rsplit_once('/').unwrap_or(("", full));
    if is_cover(file) && !folder.is_empty() {
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        return (above, format!("{name}/{file}"));
    }
    let name = if file.contains('.') { file.to_string() } else { format!("{file}.md") };
    (folder, name)
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
pub fn joined(from: &str, link: &str) -> Option<String> {
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
pub fn relative(from: &str, to: &str) -> String {
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

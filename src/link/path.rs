//! Links by path: exact, renamed, or broken.

use super::resolve::{Answer, Resolver};
use crate::model::FileName;
use crate::model::layout::folder_of;
use crate::model::{Code, DocId, Label, Relation};

impl Resolver<'_, '_> {
    /// Exact path; same slug in the same folder; same number and a like slug; else broken.
    pub(super) fn path(&self, path: &str, label: Option<&Label>) -> Answer {
        let Some(full) = joined(&self.document.path, path) else { return Answer::Foreign };
        let spelled = [
            full.clone(),
            format!("{full}.md"),
            format!("{full}/README.md"),
            format!("{full}/index.md"),
            full.replace(".html", ".md"),
        ];
        if let Some(id) = spelled.iter().find_map(|path| self.index.by_path(path)) {
            return Answer::One(id);
        }
        if (self.exists)(&full) || full.is_empty() {
            return Answer::Foreign;
        }
        let file = full.rsplit('/').next().unwrap_or(&full);
        let wanted = FileName::parse(
            if file.contains('.') { file.to_string() } else { format!("{file}.md") }.as_str(),
        );
        let folder = full.rsplit_once('/').map_or("", |(folder, _)| folder);
        match self.renamed(&wanted, folder) {
            Some(answer) => answer,
            None => self.broken(path, &full, &wanted, label),
        }
    }

    fn renamed(&self, wanted: &FileName, folder: &str) -> Option<Answer> {
        let alike = |id: &DocId| self.documents[id.0 as usize].is_plan == wanted.is_plan;
        let same_slug: Vec<DocId> = match wanted.slug.is_empty() {
            true => Vec::new(),
            false => self.index.by_slug(&wanted.slug).into_iter().filter(alike).collect(),
        };
        let in_folder = |id: &DocId| folder_of(&self.documents[id.0 as usize].path) == folder;
        let here: Vec<DocId> = same_slug.iter().copied().filter(in_folder).collect();
        match here.as_slice() {
            [one] => return Some(Answer::Renamed(*one)),
            [] => {}
            several => {
                let same_number =
                    |id: &&DocId| self.documents[id.0 as usize].number == wanted.number;
                let numbered: Vec<DocId> = several.iter().filter(same_number).copied().collect();
                return Some(match numbered.as_slice() {
                    [one] if wanted.number.is_some() => Answer::Renamed(*one),
                    _ => Answer::Many(several.to_vec()),
                });
            }
        }
        let like: Vec<DocId> = self.same_number_like_slug(wanted, folder);
        if let [one] = like.as_slice() {
            return Some(Answer::Renamed(*one));
        }
        // A slug of several words that only one document has is that document, moved.
        match same_slug.as_slice() {
            [one] if wanted.slug.matches('-').count() >= 2 => Some(Answer::Renamed(*one)),
            _ => None,
        }
    }

    fn same_number_like_slug(&self, wanted: &FileName, folder: &str) -> Vec<DocId> {
        let Some(number) = &wanted.number else { return Vec::new() };
        let Some(collection) = self.collection_of(folder) else { return Vec::new() };
        let first = self.documents.partition_point(|document| document.collection < collection);
        let rows = self.documents.iter().enumerate();
        rows.skip(first)
            .take_while(|(_, document)| document.collection == collection)
            .filter(|(_, document)| document.number.as_ref() == Some(number) && !document.is_plan)
            .filter(|(_, document)| is_like(&document.slug, &wanted.slug))
            .map(|(i, _)| DocId(i as u32))
            .collect()
    }

    /// The collection whose documents lie in a folder.
    fn collection_of(&self, folder: &str) -> Option<usize> {
        let own = folder_of(&self.document.path) == folder;
        if own {
            return Some(self.document.collection);
        }
        self.collections.iter().position(|collection| {
            collection
                .places
                .iter()
                .any(|place| place.trim_end_matches("/*.md").trim_end_matches("/**/*.md") == folder)
        })
    }

    fn broken(&self, path: &str, full: &str, wanted: &FileName, label: Option<&Label>) -> Answer {
        let textual =
            full.ends_with(".md") || full.ends_with(".markdown") || wanted.number.is_some();
        // Site routes and folders that are built elsewhere are not ours to judge.
        if !textual {
            return Answer::Foreign;
        }
        if !self.is_place(full) {
            return Answer::Nothing(Code::MissingFile, format!("no file at {path:?}"), None);
        }
        let by_label = label.filter(|_| wanted.slug.is_empty());
        let hint = match by_label.map(|label| self.label(label, Relation::Link)) {
            Some(Answer::One(id)) => Some(self.hint_for(id)),
            _ => self.nearest(wanted).map(|id| self.hint_for(id)),
        };
        let hint = hint.or_else(|| Some("correct the path, or remove the link".to_string()));
        Answer::Nothing(Code::BrokenLink, format!("no document at {path:?}"), hint)
    }

    /// Whether a path lies where documents of this project lie.
    fn is_place(&self, full: &str) -> bool {
        let below = |place: &str, own: &str| {
            let base = place.split(['*', '?', '[', '{']).next().unwrap_or("");
            full.starts_with(base) && (base.contains('/') || own == folder_of(full))
        };
        let own = folder_of(&self.document.path);
        self.collections
            .iter()
            .flat_map(|collection| &collection.places)
            .any(|place| below(place, own))
    }

    /// The document of the same collection whose name is nearest, if it is near at all.
    fn nearest(&self, wanted: &FileName) -> Option<DocId> {
        let n_left = self.n_looks.get();
        if wanted.slug.len() < 4 || n_left == 0 {
            return None;
        }
        self.n_looks.set(n_left - 1);
        // Names that could be meant begin alike or carry the same number, and are about as long.
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

    fn hint_for(&self, id: DocId) -> String {
        let target = &self.documents[id.0 as usize].path;
        format!("did you mean {:?}?", relative(&self.document.path, target))
    }
}

fn clipped(slug: &str) -> String {
    slug.chars().take(64).collect()
}

/// Whether two slugs plainly name the same thing: most words are shared.
fn is_like(one: &str, other: &str) -> bool {
    let words = |slug: &str| -> Vec<String> { slug.split('-').map(str::to_string).collect() };
    let (a, b) = (words(one), words(other));
    let shared = a.iter().filter(|word| b.contains(word)).count();
    shared * 2 >= a.len().max(b.len()).max(1) && shared > 0
}

/// Joins a link to the folder it stands in; `None` if it leaves the project.
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

/// The path to write in one document to reach another.
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
    fn paths_are_joined_and_made_relative_again() {
        assert_eq!(joined("a/b/x.md", "../c/y.md").as_deref(), Some("a/c/y.md"));
        assert_eq!(joined("a/x.md", "../../y.md"), None);
        assert_eq!(joined("a/x.md", "/y.md").as_deref(), Some("y.md"));
        assert_eq!(relative("a/b/x.md", "a/c/y.md"), "../c/y.md");
        assert_eq!(relative("a/x.md", "a/y.md"), "y.md");
    }
}

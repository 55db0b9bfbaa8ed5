//! Binds documents to the files and folders of the repository that they name.

use rayon::prelude::*;

use super::resolve_path::joined;
use crate::model::binding::{Binding, Glob, NamedPath, Naming, PathKind, is_glob};
use crate::model::layout::folder_of;
use crate::model::{Code, Diagnostic, DocId, Document, Graph, Noted};

/// Lookups in the repository's files. They are functions because this module does no I/O.
pub struct Repository<'a> {
    /// Returns the kind of a path, or `None` if it does not exist.
    pub kind: &'a (dyn Fn(&str) -> Option<PathKind> + Sync),
    /// Returns true if a glob matches anything below a folder.
    pub has_match: &'a (dyn Fn(&Glob, &str) -> bool + Sync),
    /// Returns true for a folder that contains much of the repository.
    pub is_broad: &'a (dyn Fn(&str) -> bool + Sync),
}

/// Returns every path that a document names, sorted, with each document once per path. A path in a
/// code span or a link counts only if it exists, because code spans often contain other things. A
/// path in a header field always counts.
pub fn bind(graph: &Graph, repository: &Repository<'_>) -> Noted<Vec<Binding>> {
    let mut document_paths: Vec<&str> = graph.documents.iter().map(|d| d.path.as_str()).collect();
    document_paths.par_sort_unstable();
    let found: Vec<(Vec<Binding>, Vec<Diagnostic>)> = graph
        .documents
        .par_iter()
        .enumerate()
        .map(|(row, document)| {
            let id = DocId(row as u32);
            let document_paths = document_paths.as_slice();
            PathResolver { document, id, document_paths, repository }.bindings()
        })
        .collect();
    let mut bindings = Vec::new();
    let mut notes = Vec::new();
    for (document_bindings, found) in found {
        bindings.extend(document_bindings);
        notes.extend(found);
    }
    bindings.par_sort_unstable();
    Noted::new(bindings, notes)
}

/// Resolves the paths that one document names.
struct PathResolver<'a> {
    document: &'a Document,
    id: DocId,
    /// The paths of all documents, sorted. They are linked as documents, not bound as code.
    document_paths: &'a [&'a str],
    repository: &'a Repository<'a>,
}

impl PathResolver<'_> {
    fn bindings(&self) -> (Vec<Binding>, Vec<Diagnostic>) {
        let mut bindings: Vec<Binding> = Vec::new();
        let mut notes = Vec::new();
        for named in &self.document.facts.paths {
            let found = match named.naming {
                Naming::Field => self.field(named, &mut notes),
                Naming::Link => self.link(named),
                Naming::Code => self.code(&named.path),
            };
            let Some((path, kind)) = found else { continue };
            let NamedPath { naming, line, .. } = *named;
            // A text that mentions `src/` does not decide about every file in it. Only a header
            // field can say so.
            let folder_only = kind == PathKind::Folder
                && naming != Naming::Field
                && (self.repository.is_broad)(&path);
            bindings.push(Binding { path, kind, naming, document: self.id, line, folder_only });
        }
        // If a path is named in several ways, the most explicit way counts.
        bindings.sort_unstable();
        bindings.dedup_by(|a, b| a.path == b.path);
        (bindings, notes)
    }

    /// Returns a path with its kind if it exists and is not a document.
    fn existing(&self, path: &str) -> Option<(String, PathKind)> {
        if path.is_empty() || self.document_paths.binary_search(&path).is_ok() {
            return None;
        }
        (self.repository.kind)(path).map(|kind| (path.to_string(), kind))
    }

    /// Resolves a path in prose: relative to a folder above the document, the nearest first, or to
    /// the root. A name without a slash is only looked up at the root, because many folders have
    /// files of the same name.
    fn code(&self, written: &str) -> Option<(String, PathKind)> {
        let folder_only = written.ends_with('/');
        let bare = written.trim_matches('/');
        let fits = |(_, kind): &(String, PathKind)| !folder_only || *kind == PathKind::Folder;
        if written.starts_with("../") {
            return self.existing(&joined(&self.document.path, written)?).filter(fits);
        }
        if bare.split('/').any(|part| matches!(part, "" | "." | "..")) {
            return None;
        }
        if !bare.contains('/') {
            let found = self.existing(bare).filter(fits)?;
            let named = found.1 == PathKind::File || folder_only;
            return (named && !written.starts_with('/')).then_some(found);
        }
        if written.starts_with('/') {
            return self.existing(bare).filter(fits);
        }
        let mut base = folder_of(&self.document.path);
        while !base.is_empty() {
            if let Some(found) = self.existing(&format!("{base}/{bare}")).filter(fits) {
                return Some(found);
            }
            base = folder_of(base);
        }
        self.existing(bare).filter(fits)
    }

    /// Resolves a link. A link to a folder that contains the document is navigation, not a binding.
    fn link(&self, named: &NamedPath) -> Option<(String, PathKind)> {
        let (path, kind) = self.existing(&joined(&self.document.path, &named.path)?)?;
        let contains_document = kind == PathKind::Folder
            && self.document.path.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/'));
        (!contains_document).then_some((path, kind))
    }

    /// Resolves a path or a glob in a header field. It is bound even if nothing matches it yet.
    fn field(&self, named: &NamedPath, notes: &mut Vec<Diagnostic>) -> Option<(String, PathKind)> {
        let written = named.path.as_str();
        let bare = written.trim_matches('/');
        if let Some(found) = self.code(written).or_else(|| self.existing(bare)) {
            return Some(found);
        }
        if self.document_paths.binary_search(&bare).is_ok() {
            return None;
        }
        let outside = bare.split('/').any(|part| matches!(part, "" | "." | ".."));
        let looks_like_path = is_glob(bare) || written.contains('/') || bare.contains('.');
        if !looks_like_path {
            return None;
        }
        let mut note = |message: String| {
            let note = Diagnostic::new(Code::PathUnknown, &self.document.path, message);
            let hint = "correct it; paths are written from the project's root";
            notes.push(note.at(named.line, named.line.min(1)).hint(hint));
        };
        if outside {
            note(format!("{written:?} is outside the project; it is ignored"));
            return None;
        }
        if !is_glob(bare) {
            note(format!("no file or folder at {written:?}"));
            let folder = written.ends_with('/');
            return Some((bare.into(), if folder { PathKind::Folder } else { PathKind::File }));
        }
        let Some(glob) = Glob::new(bare) else {
            note(format!("{written:?} is not a valid glob; it is ignored"));
            return None;
        };
        let wildcard = bare.find(['*', '?', '[', '{']).unwrap_or(bare.len());
        if !(self.repository.has_match)(&glob, folder_of(&bare[..wildcard])) {
            note(format!("nothing matches {written:?}"));
        }
        Some((bare.to_string(), PathKind::Glob))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Facts;

    const FILES: &[&str] = &[
        "Cargo.toml",
        "src/walk.rs",
        "src/parse/mod.rs",
        "pkg/a/src/walk.rs",
        "text/html",
        "api/x",
    ];

    fn kind(path: &str) -> Option<PathKind> {
        if FILES.contains(&path) {
            return Some(PathKind::File);
        }
        let inside = |file: &&str| file.strip_prefix(path).is_some_and(|r| r.starts_with('/'));
        FILES.iter().any(inside).then_some(PathKind::Folder)
    }

    fn is_broad(folder: &str) -> bool {
        !folder.contains('/')
    }

    #[test]
    fn a_broad_folder_is_bound_with_its_content_only_by_a_field() {
        let folder_only = |path: &str, naming| {
            let facts = Facts {
                paths: vec![NamedPath { path: path.to_string(), naming, line: 3 }],
                ..Facts::default()
            };
            let document = Document { facts, ..Document::sample("docs/adr/1-a.md") };
            let graph = Graph { documents: vec![document], ..Graph::default() };
            let has_match = |_: &Glob, _: &str| true;
            let repository = Repository { kind: &kind, has_match: &has_match, is_broad: &is_broad };
            bind(&graph, &repository).value[0].folder_only
        };
        assert!(folder_only("src/", Naming::Code) && folder_only("../../src", Naming::Link));
        assert!(!folder_only("src/", Naming::Field) && !folder_only("src/parse/", Naming::Code));
    }

    fn bound(path: &str, paths: &[(&str, Naming)]) -> (Vec<(String, PathKind)>, usize) {
        let named = |(path, naming): &(&str, Naming)| NamedPath {
            path: path.to_string(),
            naming: *naming,
            line: 3,
        };
        let facts = Facts { paths: paths.iter().map(named).collect(), ..Facts::default() };
        let document = Document { facts, ..Document::sample(path) };
        let graph = Graph { documents: vec![document], ..Graph::default() };
        let has_match = |glob: &Glob, _: &str| FILES.iter().any(|file| glob.matches(file));
        let repository = Repository { kind: &kind, has_match: &has_match, is_broad: &is_broad };
        let noted = bind(&graph, &repository);
        let bound = noted.value.into_iter().map(|b| (b.path, b.kind)).collect();
        (bound, noted.notes.len())
    }

    #[test]
    fn a_code_span_binds_only_existing_paths() {
        let spans = ["and/or", "text/html", "origin/main", "src", "api", "walk.rs", "Cargo.toml"];
        let spans: Vec<(&str, Naming)> = spans.iter().map(|s| (*s, Naming::Code)).collect();
        let (bound, n_notes) = bound("docs/adr/1-a.md", &spans);
        let expected = [("Cargo.toml", PathKind::File), ("text/html", PathKind::File)];
        assert_eq!(bound, expected.map(|(path, kind)| (path.to_string(), kind)));
        assert_eq!(n_notes, 0);
    }

    #[test]
    fn the_nearest_folder_above_a_document_is_searched_first() {
        let span = [("src/walk.rs", Naming::Code), ("src/", Naming::Code)];
        let (near, _) = bound("pkg/a/docs/adr/1-a.md", &span);
        assert_eq!(near[0].0, "pkg/a/src/walk.rs");
        let (far, _) = bound("docs/adr/1-a.md", &span);
        assert_eq!(far[0], ("src".to_string(), PathKind::Folder));
        assert_eq!(far[1].0, "src/walk.rs");
        let (link, _) = bound("docs/adr/1-a.md", &[("../../src/walk.rs", Naming::Link)]);
        assert_eq!(link[0].0, "src/walk.rs");
        assert!(bound("src/docs/1.md", &[("..", Naming::Link), (".", Naming::Link)]).0.is_empty());
    }

    #[test]
    fn a_path_in_a_field_is_bound_and_reported_if_nothing_matches() {
        let fields =
            ["src/parse/**", "src/none.rs", "**/*.go", "api", "kube-apiserver", "../x", "{"];
        let fields: Vec<(&str, Naming)> = fields.iter().map(|s| (*s, Naming::Field)).collect();
        let (bound, n_notes) = bound("docs/adr/1-a.md", &fields);
        let paths: Vec<&str> = bound.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["**/*.go", "api", "src/none.rs", "src/parse/**"]);
        assert_eq!(n_notes, 4);
    }

    #[test]
    fn a_path_named_in_several_ways_is_bound_once() {
        let ways = [
            ("src/walk.rs", Naming::Code),
            ("../../src/walk.rs", Naming::Link),
            ("src/walk.rs", Naming::Field),
        ];
        assert_eq!(bound("docs/adr/1-a.md", &ways).0.len(), 1);
    }
}

//! One document's references to edges, in the order that invents no false ones.

use std::collections::BTreeMap;

use super::index::Index;
use crate::model::name::{self, Name};
use crate::model::uri::slugify;
use crate::model::{
    Code, Collection, Diagnostic, DocId, Document, Edge, Label, Number, Reference, Relation,
    Target, Uri,
};

/// RFCs from this number on are usually IETF's when the project has none of that number.
const FIRST_FOREIGN_RFC: u64 = 768;

/// What a reference turned out to be.
enum Answer {
    /// One document.
    One(DocId),
    /// One document, under another name than the reference uses.
    Renamed(DocId),
    /// Several documents that fit equally.
    Many(Vec<DocId>),
    /// Nothing here, and nothing to say about it.
    Foreign,
    /// Nothing here, and the reader should know.
    Nothing(Code, String, Option<String>),
}

struct Resolver<'a> {
    index: &'a Index<'a>,
    collections: &'a [Collection],
    documents: &'a [Document],
    from: DocId,
    document: &'a Document,
    exists: &'a (dyn Fn(&str) -> bool + Sync),
}

/// The edges of one document and what is wrong with its references.
pub(super) fn edges(
    index: &Index<'_>,
    collections: &[Collection],
    documents: &[Document],
    from: DocId,
    document: &Document,
    exists: &(dyn Fn(&str) -> bool + Sync),
) -> (Vec<Edge>, Vec<Diagnostic>) {
    let resolver = Resolver { index, collections, documents, from, document, exists };
    let mut edges: BTreeMap<(DocId, Relation), Edge> = BTreeMap::new();
    let mut notes = Vec::new();
    for reference in &document.facts.references {
        let answer = resolver.answer(reference);
        resolver.note(reference, &answer, &mut notes);
        let (targets, ambiguous) = match answer {
            Answer::One(id) | Answer::Renamed(id) => (vec![id], false),
            Answer::Many(ids) => (ids, true),
            Answer::Foreign | Answer::Nothing(..) => continue,
        };
        for to in targets.into_iter().filter(|to| *to != from) {
            let relation = resolver.relation(reference.relation, to);
            let edge = Edge { from, to, relation, line: reference.line, count: 0, ambiguous };
            let edge = edges.entry((to, relation)).or_insert(edge);
            edge.count += reference.count;
            edge.line = edge.line.min(reference.line);
            edge.ambiguous &= ambiguous;
        }
    }
    if let Some(to) = resolver.planned() {
        let edge =
            Edge { from, to, relation: Relation::PlanOf, line: 0, count: 1, ambiguous: false };
        edges.entry((to, Relation::PlanOf)).or_insert(edge);
    }
    (edges.into_values().collect(), notes)
}

impl<'a> Resolver<'a> {
    /// A plan that names its document is its plan, however it puts it.
    fn relation(&self, relation: Relation, to: DocId) -> Relation {
        let other = &self.documents[to.0 as usize];
        let same = other.slug == self.document.slug && other.number == self.document.number;
        if self.document.is_plan && !other.is_plan && same { Relation::PlanOf } else { relation }
    }

    /// The document whose plan this is, by number and slug.
    fn planned(&self) -> Option<DocId> {
        let own = self.document;
        let alike = |id: &DocId| {
            let other = &self.documents[id.0 as usize];
            !other.is_plan && other.number == own.number && other.collection == own.collection
        };
        let found: Vec<DocId> = match own.is_plan {
            true => self.index.by_slug(&own.slug).into_iter().filter(alike).collect(),
            false => Vec::new(),
        };
        (found.len() == 1).then(|| found[0])
    }

    fn answer(&self, reference: &Reference) -> Answer {
        match &reference.target {
            Target::Path(path) => match self.path(path, reference.label.as_ref()) {
                // A path that only resembles the document's own name leads elsewhere.
                Answer::Renamed(id) if id == self.from => Answer::Foreign,
                answer => answer,
            },
            Target::Url(url) => self.url(url, reference.label.as_ref()),
            Target::Address(address) => self.address(address),
            Target::Label(label) => self.label(label, reference.relation),
            Target::Number(kind, number) => {
                self.number(kind.as_deref(), number, reference.relation)
            }
            Target::Name(kind, name) => self.name(kind.as_deref(), name),
        }
    }

    /// Exact path; same slug in the same folder; same number and a like slug; else broken.
    fn path(&self, path: &str, label: Option<&Label>) -> Answer {
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
        let wanted = name::name(
            if file.contains('.') { file.to_string() } else { format!("{file}.md") }.as_str(),
        );
        let folder = full.rsplit_once('/').map_or("", |(folder, _)| folder);
        match self.renamed(&wanted, folder) {
            Some(answer) => answer,
            None => self.broken(path, &full, &wanted, label),
        }
    }

    fn renamed(&self, wanted: &Name, folder: &str) -> Option<Answer> {
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

    fn same_number_like_slug(&self, wanted: &Name, folder: &str) -> Vec<DocId> {
        let Some(number) = &wanted.number else { return Vec::new() };
        let rows = self.documents.iter().enumerate();
        let first = self
            .documents
            .partition_point(|d| d.collection < self.collection_of(folder).unwrap_or(0));
        let Some(collection) = self.collection_of(folder) else { return Vec::new() };
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

    fn broken(&self, path: &str, full: &str, wanted: &Name, label: Option<&Label>) -> Answer {
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
    fn nearest(&self, wanted: &Name) -> Option<DocId> {
        if wanted.slug.len() < 4 {
            return None;
        }
        let rows = self
            .documents
            .iter()
            .enumerate()
            .filter(|(_, d)| d.collection == self.document.collection);
        let scored = rows.take(2_000).map(|(i, d)| {
            (strsim::damerau_levenshtein(&clipped(&d.slug), &clipped(&wanted.slug)), i)
        });
        let (distance, i) = scored.min()?;
        (distance * 3 <= wanted.slug.len()).then_some(DocId(i as u32))
    }

    fn hint_for(&self, id: DocId) -> String {
        let target = &self.documents[id.0 as usize].path;
        format!("did you mean {:?}?", relative(&self.document.path, target))
    }

    /// Addresses on the web of this project's own documents.
    fn url(&self, url: &str, label: Option<&Label>) -> Answer {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let parts: Vec<&str> = rest.trim_end_matches('/').split('/').collect();
        let last = parts.last().copied().unwrap_or("");
        if let Some(at) = parts
            .iter()
            .position(|part| matches!(*part, "blob" | "tree" | "raw" | "master" | "main"))
        {
            for from in at + 1..parts.len() {
                if let Some(id) = self.index.by_path(&parts[from..].join("/")) {
                    return Answer::One(id);
                }
            }
        }
        let wanted = name::name(
            if last.ends_with(".md") { last.to_string() } else { format!("{last}.md") }.as_str(),
        );
        if let [one] =
            self.index.by_file(&format!("{}.md", last.trim_end_matches(".md"))).as_slice()
            && (wanted.number.is_some() || wanted.slug.contains('-'))
        {
            return Answer::One(*one);
        }
        let parent = parts.len().checked_sub(2).map_or("", |i| parts[i]);
        let pull = matches!(parent, "pull" | "id");
        let series = match pull {
            true => parts
                .get(parts.len().wrapping_sub(3))
                .map(|repo| crate::model::series::singular(repo)),
            false => wanted.prefix.clone().filter(|_| wanted.slug.is_empty()),
        };
        // Rust's RFCs are numbered by their pull request; other series are not.
        let series = series.filter(|series| parent != "pull" || series == "rfc");
        let own =
            series.filter(|series| self.index.owns(series)).zip(Number::new(&wanted.number_text));
        let found =
            own.map(|(series, number)| self.label(&Label { series, number }, Relation::Link));
        match found {
            Some(answer @ (Answer::One(_) | Answer::Many(_))) => answer,
            _ => match label.map(|label| self.label(label, Relation::Link)) {
                Some(answer @ (Answer::One(_) | Answer::Many(_))) => answer,
                _ => Answer::Foreign,
            },
        }
    }

    fn address(&self, address: &str) -> Answer {
        let unknown =
            |why: String, hint: Option<String>| Answer::Nothing(Code::BrokenUri, why, hint);
        // Patterns such as blue://docs/rfcs/{active} speak of many documents, or of none yet.
        if address.contains(['{', '*', '<', '…']) {
            return Answer::Foreign;
        }
        let uri = match Uri::parse(address) {
            Ok(uri) => uri,
            Err(refusal) => return unknown(format!("{address:?} is no address: {refusal}"), None),
        };
        if let Some(id) = self.index.by_uri(uri.as_str()) {
            return Answer::One(id);
        }
        let segments = uri.segments();
        let (group, id) = match segments.as_slice() {
            ["docs", group, id] if !id.is_empty() => (*group, *id),
            [kind, id] if self.collections.iter().any(|c| c.kind.as_str() == *kind) => (*kind, *id),
            _ => return Answer::Foreign,
        };
        match self.by_id(group, id).as_slice() {
            [one] => Answer::One(*one),
            [] => unknown(
                format!("no document at {address}"),
                Some("run `blue knowledge list` to see every address".to_string()),
            ),
            several => Answer::Many(several.to_vec()),
        }
    }

    /// A short or partial id: a number, a slug, or both.
    fn by_id(&self, group: &str, id: &str) -> Vec<DocId> {
        let wanted = name::name(&format!("{id}.md"));
        let fits = |document: &Document| {
            let collection = &self.collections[document.collection];
            let group_fits = collection.name == group || document.kind.as_str() == group;
            let number_fits = wanted.number.is_none() || wanted.number == document.number;
            let slug_fits = wanted.slug.is_empty() || wanted.slug == document.slug;
            group_fits && number_fits && slug_fits && document.is_plan == wanted.is_plan
        };
        let candidates = match (&wanted.number, wanted.slug.is_empty()) {
            (_, false) => self.index.by_slug(&wanted.slug),
            (Some(number), true) => {
                let series = self
                    .documents
                    .iter()
                    .enumerate()
                    .filter(|(_, d)| d.number.as_ref() == Some(number));
                series.map(|(i, _)| DocId(i as u32)).collect()
            }
            (None, true) => Vec::new(),
        };
        candidates.into_iter().filter(|id| fits(&self.documents[id.0 as usize])).collect()
    }

    fn label(&self, label: &Label, relation: Relation) -> Answer {
        let found = self.index.by_label(&label.series, label.number.as_str());
        if !found.is_empty() {
            return self.choose(found, relation);
        }
        let foreign =
            label.series == "rfc" && label.number.value().is_none_or(|n| n >= FIRST_FOREIGN_RFC);
        if foreign || !self.index.owns(&label.series) {
            return Answer::Foreign;
        }
        let id = format!("{} {}", label.series.to_uppercase(), label.number);
        Answer::Nothing(Code::Unresolved, format!("{id} is not in this project"), None)
    }

    fn number(&self, kind: Option<&str>, number: &Number, relation: Relation) -> Answer {
        let series = match kind.filter(|kind| self.index.owns(kind)) {
            Some(kind) => vec![kind],
            None => self.index.series_of(self.from, self.document),
        };
        let answers = series.iter().map(|series| {
            self.label(&Label { series: series.to_string(), number: number.clone() }, relation)
        });
        answers
            .into_iter()
            .find(|answer| matches!(answer, Answer::One(_) | Answer::Many(_)))
            .unwrap_or(Answer::Foreign)
    }

    /// Splits `Spike: X` into a kind of this project and the rest.
    fn told_kind<'t>(&self, text: &'t str) -> (Option<&'a str>, &'t str) {
        let Some((kind, rest)) = text.split_once(':') else { return (None, text) };
        let known = self
            .collections
            .iter()
            .map(|c| c.kind.as_str())
            .find(|known| known.eq_ignore_ascii_case(kind.trim()));
        match known {
            Some(known) => (Some(known), rest.trim()),
            None if kind.len() < 24 => (None, rest.trim()),
            None => (None, text),
        }
    }

    /// A slug or a title. Prose that names nothing is no reference, so nothing is said of it.
    fn name(&self, kind: Option<&str>, text: &str) -> Answer {
        let (told_kind, text) = self.told_kind(text);
        let kind = told_kind.or(kind);
        let stated = name::name(&format!("{text}.md"));
        let slug = if stated.slug.is_empty() { slugify(text) } else { stated.slug.clone() };
        let of_kind = |id: &DocId| {
            let document = &self.documents[id.0 as usize];
            *id != self.from
                && document.is_plan == stated.is_plan
                && kind.is_none_or(|kind| document.kind.as_str() == kind)
        };
        let by_slug: Vec<DocId> = self.index.by_slug(&slug).into_iter().filter(of_kind).collect();
        let found = match by_slug.is_empty() {
            true => self.index.by_title(&slugify(text)).into_iter().filter(of_kind).collect(),
            false => by_slug,
        };
        if found.is_empty() { Answer::Foreign } else { self.choose(found, Relation::Related) }
    }

    /// One of several: those of the own collection, then the shallowest, then the only one that
    /// can be meant. What is superseded is rarely live; what is spoken of otherwise usually is.
    fn choose(&self, found: Vec<DocId>, relation: Relation) -> Answer {
        let document = |id: &DocId| &self.documents[id.0 as usize];
        let own = found.iter().any(|id| document(id).collection == self.document.collection);
        let near = |id: &DocId| !own || document(id).collection == self.document.collection;
        let found: Vec<DocId> = found.into_iter().filter(near).collect();
        let shallowest = found.iter().map(|id| document(id).depth).min().unwrap_or(0);
        let found: Vec<DocId> =
            found.into_iter().filter(|id| document(id).depth == shallowest).collect();
        if found.contains(&self.from) {
            return Answer::One(self.from);
        }
        let wanted_live = relation != Relation::Supersedes;
        let likely: Vec<DocId> =
            found.iter().copied().filter(|id| document(id).status.live() == wanted_live).collect();
        match (found.as_slice(), likely.as_slice()) {
            ([one], _) | (_, [one]) => Answer::One(*one),
            _ => Answer::Many(found),
        }
    }

    fn note(&self, reference: &Reference, answer: &Answer, notes: &mut Vec<Diagnostic>) {
        let path = &self.document.path;
        let path_of = |id: &DocId| self.documents[id.0 as usize].path.as_str();
        let diagnostic = match answer {
            Answer::One(id) if *id == self.from => {
                if self.names_itself(reference) {
                    return;
                }
                Diagnostic::new(Code::SelfReference, path, "the document refers to itself")
                    .hint("name another document, or drop the reference")
            }
            Answer::Renamed(id) => {
                let new = relative(path, path_of(id));
                let message = format!("{} is now {}", written(&reference.target), path_of(id));
                Diagnostic::new(Code::Renamed, path, message).hint(format!("write {new:?}"))
            }
            Answer::Many(ids) => {
                let all: Vec<&str> = ids.iter().map(path_of).collect();
                let message = format!(
                    "{} fits {} documents: {}",
                    written(&reference.target),
                    ids.len(),
                    all.join(", ")
                );
                let uri = &self.documents[ids[0].0 as usize].uri;
                Diagnostic::new(Code::Ambiguous, path, message)
                    .hint(format!("write the address of one, such as {uri}"))
            }
            Answer::Nothing(code, message, hint) => {
                let diagnostic = Diagnostic::new(*code, path, message.as_str());
                Diagnostic { hint: hint.clone(), ..diagnostic }
            }
            Answer::One(_) | Answer::Foreign => return,
        };
        notes.push(diagnostic.at(reference.line, reference.column));
    }

    /// Whether a reference is the document's own id in its header or on the web.
    fn names_itself(&self, reference: &Reference) -> bool {
        let labelled = reference.label.is_some() && reference.label == self.document.facts.label;
        let in_header = reference.line < 12 && matches!(reference.target, Target::Label(_));
        labelled || in_header || matches!(reference.target, Target::Url(_) | Target::Number(..))
    }
}

fn written(target: &Target) -> String {
    match target {
        Target::Path(path) => format!("{path:?}"),
        Target::Url(url) => url.clone(),
        Target::Address(address) => address.clone(),
        Target::Label(label) => format!("{} {}", label.series.to_uppercase(), label.number),
        Target::Number(_, number) => number.to_string(),
        Target::Name(_, name) => format!("{name:?}"),
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

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Joins a link to the folder it stands in; `None` if it leaves the project.
fn joined(from: &str, link: &str) -> Option<String> {
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
fn relative(from: &str, to: &str) -> String {
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

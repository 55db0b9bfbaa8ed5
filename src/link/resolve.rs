//! One document's references to edges, in the order that invents no false ones.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::index::Index;
use crate::model::FileName;
use crate::model::uri::slugify;
use crate::model::{
    Code, Collection, Diagnostic, DocId, Document, Edge, Label, Number, Reference, Relation,
    ShortId, Target, Uri,
};

/// RFCs from this number on are usually IETF's when the project has none of that number.
const FIRST_FOREIGN_RFC: u64 = 768;

/// Broken links of one document for which a near name is looked for.
const MAX_LOOKS: u32 = 5;

/// A reference that fits more documents than this is no edge to any.
const MAX_CANDIDATES: usize = 8;

/// What a reference turned out to be.
pub(super) enum Answer {
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

pub(super) struct Resolver<'a, 'd> {
    pub(super) index: &'a Index<'d>,
    pub(super) collections: &'a [Collection],
    pub(super) documents: &'a [Document],
    pub(super) from: DocId,
    pub(super) document: &'a Document,
    pub(super) exists: &'a (dyn Fn(&str) -> bool + Sync),
    /// How many more times a near name is looked for; it costs a comparison with many others.
    pub(super) n_looks: Cell<u32>,
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
    let n_looks = Cell::new(MAX_LOOKS);
    let resolver = Resolver { index, collections, documents, from, document, exists, n_looks };
    let mut edges: BTreeMap<(DocId, Relation), Edge> = BTreeMap::new();
    let mut notes = Vec::new();
    for reference in &document.facts.references {
        let answer = resolver.answer(reference);
        resolver.note(reference, &answer, &mut notes);
        let (targets, ambiguous) = match answer {
            Answer::One(id) | Answer::Renamed(id) => (vec![id], false),
            Answer::Many(ids) if ids.len() <= MAX_CANDIDATES => (ids, true),
            // An edge to everybody tells nothing; the diagnostic does.
            Answer::Many(_) => continue,
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

impl<'a> Resolver<'a, '_> {
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
        let wanted = FileName::parse(
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
        let Some(wanted) = ShortId::new(id) else { return Vec::new() };
        let fits = |document: &Document| {
            let collection = &self.collections[document.collection];
            let group_fits = collection.name == group || document.kind.as_str() == group;
            group_fits && wanted.matches(document.number.as_ref(), &document.slug, document.is_plan)
        };
        let candidates = match wanted.slug().is_empty() {
            false => self.index.by_slug(wanted.slug()),
            true => {
                let numbered = self
                    .documents
                    .iter()
                    .enumerate()
                    .filter(|(_, d)| d.number.as_ref() == wanted.number());
                numbered.map(|(i, _)| DocId(i as u32)).collect()
            }
        };
        candidates.into_iter().filter(|id| fits(&self.documents[id.0 as usize])).collect()
    }

    pub(super) fn label(&self, label: &Label, relation: Relation) -> Answer {
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
        let stated = FileName::parse(&format!("{text}.md"));
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
        let likely: Vec<DocId> = found
            .iter()
            .copied()
            .filter(|id| document(id).status.is_live() == wanted_live)
            .collect();
        match (found.as_slice(), likely.as_slice()) {
            ([one], _) | (_, [one]) => Answer::One(*one),
            _ => Answer::Many(found),
        }
    }
}

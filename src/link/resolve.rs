//! Resolves the references of one document to edges.
//!
//! An ambiguous reference never becomes an edge to a single document.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::index::DocumentIndex;
use super::own_pages::OwnPages;
use super::resolve_path::joined;
use crate::model::FileName;
use crate::model::layout::folder_of;
use crate::model::uri::slugify;
use crate::model::{
    Code, Collection, Diagnostic, DocId, Document, Edge, Label, Naming, Number, Reference,
    Relation, ShortId, Target, TextFormat, Uri,
};

/// A reference to an RFC with at least this number that the project does not have is taken for one
/// to an RFC of the IETF.
const FIRST_FOREIGN_RFC: u64 = 768;

/// Maximum number of broken links per document for which a similar name is suggested.
const MAX_SUGGESTIONS: u32 = 5;

/// A reference that matches more documents than this becomes no edge at all.
const MAX_CANDIDATES: usize = 8;

/// The documents that a reference points to.
pub(super) enum Resolution {
    /// One document.
    One(DocId),
    /// One document, whose name has changed since the reference was written.
    Renamed(DocId),
    /// Several documents that match equally well.
    Many(Vec<DocId>),
    /// Something other than a document of this project, which is not an error.
    Foreign,
    /// No document, which is reported with this code, message and hint.
    Missing(Code, String, Option<String>),
}

pub(super) struct Resolver<'a, 'd> {
    pub(super) index: &'a DocumentIndex<'d>,
    pub(super) collections: &'a [Collection],
    pub(super) documents: &'a [Document],
    pub(super) from: DocId,
    pub(super) document: &'a Document,
    pub(super) exists: &'a (dyn Fn(&str) -> bool + Sync),
    pub(super) own_pages: &'a OwnPages,
    /// Number of remaining searches for a similar name. Each one compares many names.
    pub(super) n_suggestions: Cell<u32>,
}

/// Returns the edges of one document and the diagnostics of its references.
pub(super) fn edges(
    index: &DocumentIndex<'_>,
    collections: &[Collection],
    documents: &[Document],
    from: DocId,
    exists: &(dyn Fn(&str) -> bool + Sync),
    own_pages: &OwnPages,
) -> (Vec<Edge>, Vec<Diagnostic>) {
    let document = &documents[from.0 as usize];
    let n_suggestions = Cell::new(MAX_SUGGESTIONS);
    let resolver = Resolver {
        index,
        collections,
        documents,
        from,
        document,
        exists,
        own_pages,
        n_suggestions,
    };
    let mut edges: BTreeMap<(DocId, Relation), Edge> = BTreeMap::new();
    let mut notes = Vec::new();
    for reference in &document.facts.references {
        let resolution = resolver.resolve(reference);
        resolver.report(reference, &resolution, &mut notes);
        let (targets, ambiguous) = match resolution {
            Resolution::One(id) | Resolution::Renamed(id) => (vec![id], false),
            Resolution::Many(ids) if ids.len() <= MAX_CANDIDATES => (ids, true),
            Resolution::Many(_) | Resolution::Foreign | Resolution::Missing(..) => continue,
        };
        for to in targets.into_iter().filter(|to| *to != from) {
            let relation = resolver.relation(reference.relation, to);
            // The line of an edge is one of the document.
            let line = if reference.in_sidecar { 0 } else { reference.line };
            let edge = Edge { from, to, relation, line, count: 0, ambiguous };
            let edge = edges.entry((to, relation)).or_insert(edge);
            edge.count += reference.count;
            edge.line = edge.line.min(line);
            edge.ambiguous &= ambiguous;
        }
    }
    for (to, line) in resolver.documents_in_code_spans() {
        let edge = Edge { from, to, relation: Relation::Mention, line, count: 1, ambiguous: false };
        if edges.range((to, Relation::ALL[0])..).next().is_none_or(|((id, _), _)| *id != to) {
            edges.insert((to, Relation::Mention), edge);
        }
    }
    if let Some(to) = resolver.planned_document() {
        let edge =
            Edge { from, to, relation: Relation::PlanOf, line: 0, count: 1, ambiguous: false };
        edges.entry((to, Relation::PlanOf)).or_insert(edge);
    }
    (edges.into_values().collect(), notes)
}

impl<'a> Resolver<'a, '_> {
    /// Returns `PlanOf` for every reference from a plan to its document.
    fn relation(&self, relation: Relation, to: DocId) -> Relation {
        let other = &self.documents[to.0 as usize];
        let same_name = other.slug == self.document.slug && other.number == self.document.number;
        let is_plan_of = self.document.is_plan && !other.is_plan && same_name;
        if is_plan_of { Relation::PlanOf } else { relation }
    }

    /// Returns the document whose plan this is, by number and slug.
    fn planned_document(&self) -> Option<DocId> {
        let plan = self.document;
        let is_planned = |id: &DocId| {
            let other = &self.documents[id.0 as usize];
            !other.is_plan && other.number == plan.number && other.collection == plan.collection
        };
        let found: Vec<DocId> = match plan.is_plan {
            true => self.index.by_slug(&plan.slug).into_iter().filter(is_planned).collect(),
            false => Vec::new(),
        };
        (found.len() == 1).then(|| found[0])
    }

    /// Returns the documents whose paths stand in code spans, with the line. The path is relative to
    /// the document or to the root; a path of no document is that of other code.
    fn documents_in_code_spans(&self) -> Vec<(DocId, u32)> {
        let named = self.document.facts.paths.iter();
        let named = named.filter(|named| {
            named.naming == Naming::Code && TextFormat::of_path(&named.path).is_some()
        });
        let found = named.filter_map(|named| {
            let from_root = named.path.trim_start_matches('/');
            let paths = [joined(&self.document.path, from_root), joined("", from_root)];
            let found = paths.iter().flatten().find_map(|path| self.index.by_path(path));
            // The project may be a folder of the repository that the path starts from.
            let below = || {
                let (_, path) = from_root.split_once('/').filter(|(_, path)| path.contains('/'))?;
                self.index.by_path(path)
            };
            Some((found.or_else(below)?, named.line))
        });
        found.filter(|(id, _)| *id != self.from).collect()
    }

    fn resolve(&self, reference: &Reference) -> Resolution {
        match &reference.target {
            Target::Path(path) => match self.path(path, reference.label.as_ref()) {
                // A path that only resembles the document's own name means something else.
                Resolution::Renamed(id) if id == self.from => Resolution::Foreign,
                resolution => resolution,
            },
            Target::FieldPath(path) => self.field_path(path),
            Target::Url(url) => self.url(url, reference.label.as_ref()),
            Target::Address(address) => self.address(address),
            Target::Label(label) => self.label(label, reference.relation),
            Target::Number(kind, number) => {
                self.number(kind.as_deref(), number, reference.relation)
            }
            Target::Name(kind, name) => self.name(kind.as_deref(), name),
        }
    }

    fn address(&self, address: &str) -> Resolution {
        let unknown = |message: String, hint: Option<String>| {
            Resolution::Missing(Code::BrokenUri, message, hint)
        };
        // A pattern such as blue://docs/rfcs/{active} does not name one document.
        if address.contains(['{', '*', '<', '…']) {
            return Resolution::Foreign;
        }
        let uri = match Uri::parse(address) {
            Ok(uri) => uri,
            Err(error) => return unknown(format!("{address:?} is not an address: {error}"), None),
        };
        if let Some(id) = self.index.by_uri(uri.as_str()) {
            return Resolution::One(id);
        }
        let segments = uri.segments();
        let (group, id) = match segments.as_slice() {
            ["docs", group, id] if !id.is_empty() => (*group, *id),
            [kind, id] if self.collections.iter().any(|c| c.kind.as_str() == *kind) => (*kind, *id),
            _ => return Resolution::Foreign,
        };
        match self.by_id(group, id).as_slice() {
            [id] => Resolution::One(*id),
            [] => unknown(
                format!("no document at {address}"),
                Some("run `blue knowledge list --addresses` to see them".to_string()),
            ),
            several => Resolution::Many(several.to_vec()),
        }
    }

    /// Returns the documents with a short id: a number, a slug or both.
    fn by_id(&self, group: &str, id: &str) -> Vec<DocId> {
        let Some(wanted) = ShortId::new(id) else { return Vec::new() };
        let matches = |document: &Document| {
            let collection = &self.collections[document.collection];
            let in_group = collection.name == group || document.kind.as_str() == group;
            in_group && wanted.matches(document.number.as_ref(), &document.slug, document.is_plan)
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
        candidates.into_iter().filter(|id| matches(&self.documents[id.0 as usize])).collect()
    }

    pub(super) fn label(&self, label: &Label, relation: Relation) -> Resolution {
        let mut found = self.index.by_label(&label.series, label.number.as_str());
        // In prose an old name may be an example, so there it is no reference.
        if found.is_empty() && relation != Relation::Mention {
            found = self.index.by_alias(&label.series, &label.number);
        }
        // A document that states the id itself is meant before one that only has the number.
        let states_it =
            |id: &DocId| self.documents[id.0 as usize].facts.label.as_ref() == Some(label);
        let found = smallest_by(found, |id| !states_it(id));
        if !found.is_empty() {
            return self.choose(found, relation);
        }
        let foreign =
            label.series == "rfc" && label.number.value().is_none_or(|n| n >= FIRST_FOREIGN_RFC);
        // `decision-2` and "Dialogue 2027" in prose are often examples or other things.
        let is_word = label.series.len() > 4 && relation == Relation::Mention;
        // `NIP-EE` is an id only if the project has it.
        let foreign =
            foreign || is_word || label.number.as_str().starts_with(|c: char| c.is_alphabetic());
        if foreign || !self.index.has_series(&label.series) {
            return Resolution::Foreign;
        }
        let id = format!("{} {}", label.series.to_uppercase(), label.number);
        Resolution::Missing(Code::Unresolved, format!("{id} is not in this project"), None)
    }

    fn number(&self, kind: Option<&str>, number: &Number, relation: Relation) -> Resolution {
        let series = match kind.filter(|kind| self.index.has_series(kind)) {
            Some(kind) => vec![kind],
            None => self.index.series_of(self.from, self.document),
        };
        let mut resolutions = series.iter().map(|series| {
            self.label(&Label { series: series.to_string(), number: number.clone() }, relation)
        });
        resolutions
            .find(|resolution| matches!(resolution, Resolution::One(_) | Resolution::Many(_)))
            .unwrap_or(Resolution::Foreign)
    }

    /// Splits `Spike: X` into a kind of this project and the rest.
    fn split_kind<'t>(&self, text: &'t str) -> (Option<&'a str>, &'t str) {
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

    /// Resolves a slug or a title. Fields also contain prose, so a name that matches no document
    /// is not an error.
    fn name(&self, kind: Option<&str>, text: &str) -> Resolution {
        let (stated_kind, text) = self.split_kind(text);
        let kind = stated_kind.or(kind);
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
        if found.is_empty() { Resolution::Foreign } else { self.choose(found, Relation::Related) }
    }

    /// Chooses among several matches. Documents of the same collection are preferred, then those
    /// with the longest common folder, because a reference means the document's own edition, then
    /// those in the shallowest folder. If exactly one of them has the expected status, it is
    /// chosen: a superseded document is usually not live, while the targets of other references
    /// are.
    pub(super) fn choose(&self, found: Vec<DocId>, relation: Relation) -> Resolution {
        let document = |id: &DocId| &self.documents[id.0 as usize];
        let is_own = |id: &DocId| document(id).collection == self.document.collection;
        let any_own = found.iter().any(is_own);
        let found: Vec<DocId> = found.into_iter().filter(|id| !any_own || is_own(id)).collect();
        let found = smallest_by(found, |id| document(id).facts.moved);
        let found = smallest_by(found, |id| {
            std::cmp::Reverse(n_common_folders(&document(id).path, &self.document.path))
        });
        let found = smallest_by(found, |id| document(id).depth);
        if found.contains(&self.from) {
            return Resolution::One(self.from);
        }
        let wanted_live = relation != Relation::Supersedes;
        let likely: Vec<DocId> = found
            .iter()
            .copied()
            .filter(|id| document(id).status.is_live() == wanted_live)
            .collect();
        match (found.as_slice(), likely.as_slice()) {
            ([id], _) | (_, [id]) => Resolution::One(*id),
            _ => Resolution::Many(found),
        }
    }
}

/// Returns the documents with the smallest key.
fn smallest_by<K: Ord>(found: Vec<DocId>, key: impl Fn(&DocId) -> K) -> Vec<DocId> {
    let smallest = found.iter().map(&key).min();
    found.into_iter().filter(|id| Some(key(id)) == smallest).collect()
}

/// Returns the number of folders at the start that two paths share.
fn n_common_folders(a: &str, b: &str) -> usize {
    let (a, b) = (folder_of(a).split('/'), folder_of(b).split('/'));
    a.zip(b).take_while(|(a, b)| a == b).count()
}

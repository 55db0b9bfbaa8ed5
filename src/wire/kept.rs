//! Documents and edges as a snapshot keeps them.

use serde::{Deserialize, Serialize};

use super::lists::Bytes;
use crate::model::snapshot::Seen;
use crate::model::{
    Binding, Code, Collection, Diagnostic, Digest, DocId, Document, Edge, Facts, Graph, Kind,
    Naming, Number, PathKind, Relation, Size, Sizes, Snapshot, Status, Uri,
};

/// What is kept beside a document, by row.
pub(super) struct Beside {
    pub(super) live: bool,
    pub(super) replaced_by: Vec<DocId>,
    pub(super) block: u64,
}

#[derive(Deserialize, Serialize)]
pub(super) struct DocumentMirror<'a> {
    path: &'a str,
    #[serde(borrow)]
    sidecar: Option<&'a str>,
    uri: &'a str,
    collection: u32,
    kind: &'a str,
    #[serde(borrow)]
    number: Option<&'a str>,
    number_text: &'a str,
    slug: &'a str,
    depth: u32,
    title: &'a str,
    status: u8,
    status_text: &'a str,
    #[serde(borrow)]
    date: Option<&'a str>,
    is_plan: bool,
    line: &'a str,
    repeats: bool,
    #[serde(borrow)]
    marks: Vec<&'a str>,
    #[serde(borrow)]
    numbers: Bytes<'a>,
    live: bool,
    replaced_by: Vec<u32>,
    block: u64,
}

/// Bytes of a document's digest, the lengths and prints of its texts, and its sizes: there is no
/// number in it that would be shorter otherwise, and one piece is read sooner than many.
const NUMBERS: usize = 32 + 3 * (4 + 16) + 3 * 8;

fn numbers(document: &Document) -> Vec<u8> {
    let Facts { sizes, n_bytes, n_served, n_tokens, .. } = &document.facts;
    let mut bytes = Vec::with_capacity(NUMBERS);
    bytes.extend_from_slice(document.digest.as_bytes());
    for size in [sizes.brief, sizes.sections, sizes.full] {
        bytes.extend_from_slice(&size.len.to_le_bytes());
        bytes.extend_from_slice(&size.print);
    }
    for n in [n_bytes, n_served, n_tokens] {
        bytes.extend_from_slice(&n.to_le_bytes());
    }
    bytes
}

/// A document as it is kept.
pub(super) fn document<'a>(seen: &Seen<'a>, row: usize) -> DocumentMirror<'a> {
    let graph = seen.graph;
    let document = &graph.documents[row];
    let Facts { sizes, marks, line, .. } = &document.facts;
    DocumentMirror {
        path: &document.path,
        sidecar: document.sidecar.as_deref(),
        uri: document.uri.as_str(),
        collection: document.collection as u32,
        kind: document.kind.as_str(),
        number: document.number.as_ref().map(Number::as_str),
        number_text: &document.number_text,
        slug: &document.slug,
        depth: document.depth as u32,
        title: &document.title,
        status: document.status as u8,
        status_text: &document.status_text,
        date: document.date.as_deref(),
        is_plan: document.is_plan,
        line,
        repeats: sizes.repeats,
        marks: texts(marks),
        numbers: Bytes(numbers(document).into()),
        live: graph.live[row],
        replaced_by: graph.replaced_by[row].iter().map(|by| by.0).collect(),
        block: seen.blocks[row],
    }
}

impl DocumentMirror<'_> {
    /// The document again. `None` if it is not one of ours.
    pub(super) fn read(&self) -> Option<Document> {
        let (digest, sizes, [n_bytes, n_served, n_tokens]) = self.read_numbers()?;
        let facts = Facts {
            line: self.line.to_string(),
            sizes,
            marks: self.marks.iter().map(|mark| (*mark).to_string()).collect(),
            n_bytes,
            n_served,
            n_tokens,
            ..Facts::default()
        };
        let number = match self.number {
            Some(number) => Some(Number::new(number)?),
            None => None,
        };
        Some(Document {
            path: self.path.to_string(),
            sidecar: self.sidecar.map(str::to_string),
            uri: Uri::parse(self.uri).ok()?,
            collection: self.collection as usize,
            kind: Kind::new(self.kind),
            number,
            number_text: self.number_text.to_string(),
            slug: self.slug.to_string(),
            depth: self.depth as usize,
            title: self.title.to_string(),
            status: *Status::ALL.get(usize::from(self.status))?,
            status_text: self.status_text.to_string(),
            date: self.date.map(str::to_string),
            is_plan: self.is_plan,
            digest,
            facts,
        })
    }

    fn read_numbers(&self) -> Option<(Digest, Sizes, [u64; 3])> {
        let bytes: &[u8; NUMBERS] = self.numbers.0.as_ref().try_into().ok()?;
        let (digest, rest) = bytes.split_first_chunk::<32>()?;
        let (sizes, counted) = rest.split_at(3 * 20);
        let size = |size: &[u8; 20]| {
            let (len, print) = size.split_first_chunk::<4>()?;
            Some(Size { len: u32::from_le_bytes(*len), print: print.try_into().ok()? })
        };
        let [brief, sections, full] = sizes.as_chunks::<20>().0 else { return None };
        let sizes = Sizes {
            brief: size(brief)?,
            sections: size(sections)?,
            full: size(full)?,
            repeats: self.repeats,
        };
        let [n_bytes, n_served, n_tokens] = counted.as_chunks::<8>().0 else { return None };
        let counted = [n_bytes, n_served, n_tokens].map(|n| u64::from_le_bytes(*n));
        Some((Digest::from_bytes(*digest), sizes, counted))
    }

    /// What is kept beside it.
    pub(super) fn beside(&self) -> Beside {
        let replaced_by = self.replaced_by.iter().copied().map(DocId).collect();
        Beside { live: self.live, replaced_by, block: self.block }
    }
}

type CollectionMirror<'a> = (&'a str, &'a str, Vec<&'a str>, Vec<&'a str>);
type BindingMirror<'a> = (&'a str, u8, u8, u32, u32);
type NoteMirror<'a> = (&'a str, u32, u32, u16, &'a str, Option<&'a str>);

/// Everything but the documents themselves.
#[derive(Deserialize, Serialize)]
pub(super) struct GraphMirror<'a> {
    #[serde(borrow)]
    collections: Vec<CollectionMirror<'a>>,
    #[serde(borrow)]
    edges: Bytes<'a>,
    #[serde(borrow)]
    bindings: Vec<BindingMirror<'a>>,
    #[serde(borrow)]
    notes: Vec<NoteMirror<'a>>,
}

impl<'a> GraphMirror<'a> {
    pub(super) fn of(seen: &Seen<'a>) -> GraphMirror<'a> {
        let edges: Vec<u32> = seen.graph.edges.iter().flat_map(edge_mirror).collect();
        GraphMirror {
            collections: seen.graph.collections.iter().map(collection_mirror).collect(),
            edges: Bytes::of(&edges),
            bindings: seen.bindings.iter().map(binding_mirror).collect(),
            notes: seen.notes.iter().map(note_mirror).collect(),
        }
    }

    /// A snapshot without its documents. `None` if it is not one of ours.
    pub(super) fn read(&self) -> Option<Snapshot> {
        let edges = self.edges.numbers();
        let (edges, _) = edges.as_chunks::<5>();
        let graph = Graph {
            collections: self.collections.iter().map(collection).collect(),
            edges: edges.iter().map(edge).collect::<Option<_>>()?,
            ..Graph::default()
        };
        Some(Snapshot {
            graph,
            bindings: self.bindings.iter().map(binding).collect::<Option<_>>()?,
            notes: self.notes.iter().map(note).collect::<Option<_>>()?,
            ..Snapshot::default()
        })
    }
}

fn edge_mirror(edge: &Edge) -> [u32; 5] {
    let how = (edge.relation as u32) << 1 | u32::from(edge.ambiguous);
    [edge.from.0, edge.to.0, how, edge.line, edge.count]
}

fn edge([from, to, how, line, count]: &[u32; 5]) -> Option<Edge> {
    Some(Edge {
        from: DocId(*from),
        to: DocId(*to),
        relation: *Relation::ALL.get((how >> 1) as usize)?,
        line: *line,
        count: *count,
        ambiguous: how & 1 == 1,
    })
}

fn collection_mirror(collection: &Collection) -> CollectionMirror<'_> {
    let Collection { name, kind, series, places } = collection;
    (name, kind.as_str(), texts(series), texts(places))
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

fn collection((name, kind, series, places): &CollectionMirror<'_>) -> Collection {
    let all = |list: &[&str]| list.iter().map(|one| (*one).to_string()).collect();
    Collection {
        name: (*name).to_string(),
        kind: Kind::new(kind),
        series: all(series),
        places: all(places),
    }
}

fn binding_mirror(binding: &Binding) -> BindingMirror<'_> {
    let Binding { path, kind, naming, document, line } = binding;
    (path, *kind as u8, *naming as u8, document.0, *line)
}

fn binding((path, kind, naming, document, line): &BindingMirror<'_>) -> Option<Binding> {
    Some(Binding {
        path: (*path).to_string(),
        kind: *PathKind::ALL.get(usize::from(*kind))?,
        naming: *Naming::ALL.get(usize::from(*naming))?,
        document: DocId(*document),
        line: *line,
    })
}

fn note_mirror(note: &Diagnostic) -> NoteMirror<'_> {
    let Diagnostic { path, line, column, code, message, hint, .. } = note;
    (path, *line, *column, *code as u16, message, hint.as_deref())
}

fn note((path, line, column, code, message, hint): &NoteMirror<'_>) -> Option<Diagnostic> {
    let code = *Code::ALL.get(usize::from(*code))?;
    let note = Diagnostic::new(code, path, *message).at(*line, *column);
    Some(Diagnostic { hint: hint.map(str::to_string), ..note })
}

//! What a build knew of all documents, kept in `.blue/local/snapshot`.
//!
//! It is read after every edit, so most of it lies there as it lies in memory, and documents are in
//! groups that are read side by side.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::cache::magic;
use super::kept::{self, DocumentMirror, GraphMirror};
use super::lists::{Bytes, RowsMirror, pairs};
use crate::model::snapshot::Seen;
use crate::model::{Calls, Digest, Document, Hasher, Lexicon, Snapshot};

/// Documents of a group.
const GROUP: usize = 512;

#[derive(Deserialize, Serialize)]
struct WordsMirror<'a> {
    #[serde(borrow)]
    hashes: RowsMirror<'a>,
    #[serde(borrow)]
    counts: RowsMirror<'a>,
    #[serde(borrow)]
    names: RowsMirror<'a>,
    #[serde(borrow)]
    lines: RowsMirror<'a>,
    #[serde(borrow)]
    around: RowsMirror<'a>,
    #[serde(borrow)]
    titles: RowsMirror<'a>,
    #[serde(borrow)]
    called: Bytes<'a>,
    #[serde(borrow)]
    said: Bytes<'a>,
}

/// A snapshot file: its parts, and what is checked when it is read.
pub struct Written {
    /// The bytes, in order.
    pub parts: Vec<Vec<u8>>,
    /// The checksum.
    pub check: Digest,
}

/// The bytes of a snapshot.
pub fn write(seen: &Seen<'_>, engine: &Digest) -> Written {
    let rows: Vec<usize> = (0..seen.graph.documents.len()).collect();
    let group = |rows: &[usize]| {
        let mirrors: Vec<DocumentMirror<'_>> =
            rows.iter().map(|row| kept::document(seen, *row)).collect();
        postcard::to_stdvec(&mirrors).expect("documents can be written")
    };
    let (documents, (graph, words)) = rayon::join(
        || rows.par_chunks(GROUP).map(group).collect::<Vec<Vec<u8>>>(),
        || {
            let graph = postcard::to_stdvec(&GraphMirror::of(seen));
            let words = postcard::to_stdvec(&words_mirror(seen.lexicon, seen.calls));
            (graph.expect("a graph can be written"), words.expect("words can be written"))
        },
    );
    let mut parts: Vec<Vec<u8>> = [graph, words].into_iter().chain(documents).collect();
    let lens: Vec<u64> = parts.iter().map(|part| part.len() as u64).collect();
    let table = (rows.len() as u64, lens);
    parts.insert(0, postcard::to_stdvec(&table).expect("lengths can be written"));
    let head = (parts[0].len() as u64).to_le_bytes().to_vec();
    parts.insert(0, head);
    let check = checked(engine, &Digest::of_parts(&parts));
    parts.insert(0, [magic("snapshot"), check.as_bytes().to_vec()].concat());
    Written { parts, check }
}

/// Reads a snapshot back, if it is the one with this checksum and of this engine.
pub fn read(bytes: &[u8], engine: &Digest, check: &Digest) -> Option<Snapshot> {
    let rest = bytes.strip_prefix(magic("snapshot").as_slice())?;
    let (known, rest) = rest.split_at_checked(32)?;
    if known != check.as_bytes() || checked(engine, &Digest::of(rest)) != *check {
        return None;
    }
    let mut rest = rest;
    let mut part = |len: u64| {
        let (part, behind) = rest.split_at_checked(usize::try_from(len).ok()?)?;
        rest = behind;
        Some(part)
    };
    let head = u64::from_le_bytes(part(8)?.try_into().ok()?);
    let (n_documents, lens): (u64, Vec<u64>) = postcard::from_bytes(part(head)?).ok()?;
    let n_documents = usize::try_from(n_documents).ok()?;
    let parts: Vec<&[u8]> = lens.into_iter().map(part).collect::<Option<_>>()?;
    let [graph, words, documents @ ..] = parts.as_slice() else { return None };
    if documents.len() != n_documents.div_ceil(GROUP) {
        return None;
    }
    let (documents, (graph, words)) = rayon::join(
        || documents_of(documents, n_documents),
        || {
            let graph = postcard::from_bytes::<GraphMirror<'_>>(graph).ok();
            (graph.and_then(|graph| graph.read()), words_of(words))
        },
    );
    let ((lexicon, calls), mut snapshot) = (words?, graph?);
    (snapshot.lexicon, snapshot.calls) = (lexicon, calls);
    let (documents, beside) = documents?;
    for beside in beside {
        snapshot.graph.live.push(beside.live);
        snapshot.graph.replaced_by.push(beside.replaced_by);
        snapshot.blocks.push(beside.block);
    }
    snapshot.graph.documents = documents;
    is_whole(&snapshot).then_some(snapshot)
}

fn checked(engine: &Digest, content: &Digest) -> Digest {
    Hasher::new().field(b"snapshot").field(engine.as_bytes()).field(content.as_bytes()).digest()
}

/// Whether there is a row for every document, and none is named that is not there.
fn is_whole(snapshot: &Snapshot) -> bool {
    let Snapshot { graph, bindings, lexicon, calls, .. } = snapshot;
    let n = graph.documents.len();
    let rows = [lexicon.hashes.len(), lexicon.counts.len(), lexicon.names.len()];
    let more = [lexicon.lines.len(), lexicon.around.len(), lexicon.titles.len()];
    let is_row = |row: u32| (row as usize) < n;
    let in_range = graph.edges.iter().all(|edge| is_row(edge.from.0) && is_row(edge.to.0))
        && graph.replaced_by.iter().flatten().all(|by| is_row(by.0))
        && bindings.iter().all(|binding| is_row(binding.document.0))
        && graph.documents.iter().all(|one| one.collection < graph.collections.len())
        && calls.called.iter().all(|(_, call)| is_row(call / 2));
    rows.into_iter().chain(more).all(|len| len == n)
        && calls.called.len() == calls.counts.len()
        && in_range
}

/// The documents of some groups; every group has as many as it may, but for the last one. They are put
/// where they belong, because all of them together are too large to be moved about.
fn documents_of(groups: &[&[u8]], n: usize) -> Option<(Vec<Document>, Vec<kept::Beside>)> {
    let mut documents: Vec<Option<Document>> = Vec::new();
    documents.resize_with(n, || None);
    let fill = |(room, group): (&mut [Option<Document>], &&[u8])| {
        let mirrors: Vec<DocumentMirror<'_>> = postcard::from_bytes(group).ok()?;
        if mirrors.len() != room.len() {
            return None;
        }
        room.iter_mut().zip(&mirrors).for_each(|(room, mirror)| *room = mirror.read());
        Some(mirrors.iter().map(DocumentMirror::beside).collect::<Vec<kept::Beside>>())
    };
    let filled = documents.par_chunks_mut(GROUP).zip_eq(groups.par_iter()).map(fill);
    let beside: Vec<Vec<kept::Beside>> = filled.collect::<Option<_>>()?;
    let documents: Option<Vec<Document>> = documents.into_iter().collect();
    Some((documents?, beside.into_iter().flatten().collect()))
}

fn words_mirror(lexicon: &Lexicon, calls: &Calls) -> WordsMirror<'static> {
    let called: Vec<u32> = calls.called.iter().flat_map(|(pair, call)| [*pair, *call]).collect();
    WordsMirror {
        hashes: RowsMirror::of(&lexicon.hashes),
        counts: RowsMirror::of_small(&lexicon.counts),
        names: RowsMirror::of(&lexicon.names),
        lines: RowsMirror::of_pairs(&lexicon.lines),
        around: RowsMirror::of(&lexicon.around),
        titles: RowsMirror::of(&lexicon.titles),
        called: Bytes::of(&called),
        said: Bytes::of(&calls.counts),
    }
}

fn words_of(bytes: &[u8]) -> Option<(Lexicon, Calls)> {
    let mirror: WordsMirror<'_> = postcard::from_bytes(bytes).ok()?;
    let lexicon = Lexicon {
        hashes: mirror.hashes.rows()?,
        counts: mirror.counts.small_rows()?,
        names: mirror.names.rows()?,
        lines: mirror.lines.pair_rows()?,
        around: mirror.around.rows()?,
        titles: mirror.titles.rows()?,
    };
    Some((
        lexicon,
        Calls { called: pairs(&mirror.called.numbers()), counts: mirror.said.numbers() },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Binding, Code, Collection, Diagnostic, DocId, Edge, Facts, Graph, Kind, Naming, Number,
        PathKind, Relation, Rows, Size, Sizes, Status, Uri,
    };

    fn document(i: u32) -> Document {
        let print = Size { len: i, print: [i as u8; 16] };
        Document {
            path: format!("docs/adrs/{i}.md"),
            sidecar: (i == 1).then(|| "docs/adrs/1.yaml".to_string()),
            uri: Uri::of_document("adrs", &format!("{i}-é")),
            collection: 0,
            kind: Kind::new("adr"),
            number: Number::new(&i.to_string()),
            number_text: format!("{i:04}"),
            slug: "é".to_string(),
            depth: 1,
            title: "T".to_string(),
            status: Status::ALL[i as usize % Status::ALL.len()],
            status_text: "Accepted".to_string(),
            date: (i == 2).then(|| "2026-01-25".to_string()),
            is_plan: i == 2,
            digest: Digest::of(&i.to_le_bytes()),
            facts: Facts {
                line: "A line.".to_string(),
                sizes: Sizes { brief: print, sections: print, full: print, repeats: i == 1 },
                marks: vec!["tag x".to_string()],
                n_bytes: 7,
                n_served: 8,
                n_tokens: u64::from(i),
                ..Facts::default()
            },
        }
    }

    fn snapshot(n: u32) -> Snapshot {
        let rows = |one: u32| Rows::of_pairs(n as usize, (0..n as usize).map(|row| (row, one)));
        let edge = |from: u32| Edge {
            from: DocId(from),
            to: DocId(0),
            relation: Relation::DependsOn,
            line: 3,
            count: 2,
            ambiguous: from == 1,
        };
        let collection = Collection {
            name: "adrs".to_string(),
            kind: Kind::new("adr"),
            series: vec!["adr".to_string()],
            places: vec!["docs/adrs/*.md".to_string()],
        };
        let (path, kind, naming) = ("src/x.rs".to_string(), PathKind::Glob, Naming::Code);
        Snapshot {
            graph: Graph {
                collections: vec![collection],
                documents: (0..n).map(document).collect(),
                edges: (1..n).map(edge).collect(),
                live: (0..n).map(|i| i % 2 == 0).collect(),
                replaced_by: (0..n).map(|i| vec![DocId(i / 2)]).collect(),
            },
            bindings: vec![Binding { path, kind, naming, document: DocId(0), line: 9 }],
            notes: vec![Diagnostic::new(Code::Stale, "docs/adrs/1.md", "m").at(2, 3).hint("h")],
            lexicon: Lexicon {
                hashes: rows(1 << 31),
                counts: Rows::of_pairs(n as usize, (0..n as usize).map(|row| (row, 7))),
                names: rows(5),
                lines: Rows::of_pairs(n as usize, (0..n as usize).map(|row| (row, (3, 1)))),
                around: rows(6),
                titles: rows(8),
            },
            calls: Calls { called: vec![(1, 0), (1, 3)], counts: vec![3, 0] },
            blocks: (0..u64::from(n)).collect(),
        }
    }

    fn written(snapshot: &Snapshot, engine: &Digest) -> (Vec<u8>, Digest) {
        let Snapshot { graph, bindings, notes, lexicon, calls, blocks } = snapshot;
        let written = write(&Seen { graph, bindings, notes, lexicon, calls, blocks }, engine);
        (written.parts.concat(), written.check)
    }

    #[test]
    fn what_was_kept_comes_back_and_damage_is_absence() {
        let engine = Digest::of(b"engine");
        for n in [2, GROUP as u32, GROUP as u32 + 3] {
            let snapshot = snapshot(n);
            let (file, check) = written(&snapshot, &engine);
            let again = read(&file, &engine, &check).expect("it is whole");
            assert_eq!(format!("{again:?}"), format!("{snapshot:?}"));
            assert!(read(&file, &Digest::of(b"other"), &check).is_none());
            assert!(read(&file, &engine, &Digest::of(b"other")).is_none());
            for at in (0..file.len()).step_by(file.len() / 400 + 1) {
                let mut damaged = file.clone();
                damaged[at] ^= 0x40;
                assert!(read(&damaged, &engine, &check).is_none(), "byte {at} was not checked");
            }
            assert!(read(&file[..file.len() - 1], &engine, &check).is_none());
        }
        // One document less than is named.
        let mut short = snapshot(2);
        short.graph.replaced_by[0] = vec![DocId(2)];
        let (file, check) = written(&short, &engine);
        assert!(read(&file, &engine, &check).is_none());
    }
}

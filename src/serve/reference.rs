//! Tier 3: the documents related to a document, from the relevance index.

use std::cmp::Reverse;
use std::io::Read;

use anyhow::Context;
use memchr::memmem::Finder;

use super::read::{self, ReadError, Text};
use super::related::Related;
use super::{Catalogue, Library, Overlay};
use crate::model::layout::RELEVANCE;
use crate::model::{Digest, Level};
use crate::reader::{self, Levels};
use crate::root::Root;
use crate::wire::jsonl::{DocumentLine, NeighbourLine, RelevanceLine};

/// Returns the live neighbours of a document, nearest first. Scores of the index are adjusted by the
/// usage of documents on this machine. `None` if the index does not have the document.
pub fn neighbours(
    root: &Root,
    catalogue: &Catalogue,
    overlay: &Overlay,
    uri: &str,
) -> anyhow::Result<Option<Vec<Related>>> {
    let line = index_line(root, uri).with_context(|| format!("read {RELEVANCE}"))?;
    let Some(line) = line else { return Ok(None) };
    let line: RelevanceLine = serde_json::from_slice(&line)
        .with_context(|| format!("read {RELEVANCE}\nhint: run `blue knowledge build`"))?;
    let live_document = |uri: &str| {
        let document = catalogue.row(uri).and_then(|row| catalogue.line(row));
        document.filter(|document| document.live)
    };
    let mut neighbours = Vec::new();
    for NeighbourLine { uri, score, reasons } in line.neighbours {
        let document = live_document(&uri);
        neighbours.extend(document.map(|document| Related::new(document, score, reasons)));
    }
    adjust(&mut neighbours, overlay, uri, live_document);
    Ok(Some(neighbours))
}

/// Reads the neighbours of a document, nearest first, each at the level of detail that the budget
/// allows.
pub fn texts(library: &Library<'_>, row: usize, budget: u64) -> Result<Vec<Text>, ReadError> {
    let Library { root, built, reader, .. } = *library;
    let line = read::line(built, row)?;
    let related = neighbours(root, &built.catalogue, &library.overlay(), &line.uri).ok().flatten();
    let related = related
        .ok_or_else(|| ReadError::Unreadable(line.uri.clone(), "is not in the relevance index"))?;
    // A document that cannot be read any more is skipped; the rest is still useful.
    let readable = related.into_iter().filter_map(|related| {
        let levels = reader.levels(root, &related.document, Level::Full).ok()?;
        Some((related, levels))
    });
    let (related, levels): (Vec<Related>, Vec<Levels>) = readable.unzip();
    if levels.is_empty() {
        return Err(ReadError::Nothing(format!("no live document is related to {}", line.uri)));
    }
    let chosen = reader::fit(levels.iter(), budget, 0);
    let texts = related.into_iter().zip(&levels).zip(chosen).filter_map(
        |((Related { document, reasons, .. }, levels), index)| {
            let chosen = levels.at(index?);
            Some(Text {
                uri: document.uri.clone(),
                path: document.path.clone(),
                text: chosen.text.clone(),
                hash: Digest::of(chosen.text.as_bytes()).to_string(),
                tokens: chosen.tokens,
                line: Some(document),
                stale: levels.stale,
                level: chosen.level,
                reason: Some(reasons.join("; ")),
            })
        },
    );
    Ok(texts.collect())
}

/// Adds documents that are often read together with a document, and raises documents that are read
/// often and lately.
fn adjust(
    neighbours: &mut Vec<Related>,
    overlay: &Overlay,
    uri: &str,
    live_document: impl Fn(&str) -> Option<DocumentLine>,
) {
    let top_score = neighbours.first().map_or(100, |neighbour| neighbour.score);
    let percentage = |score: u32, percent: u32| {
        let points = u64::from(score) * u64::from(percent) / 100;
        u32::try_from(points).unwrap_or(u32::MAX)
    };
    for (other, n, percent) in overlay.read_together(uri) {
        let score = percentage(top_score, percent);
        let reason = format!("read together {n} times");
        match neighbours.iter_mut().find(|neighbour| neighbour.document.uri == other) {
            Some(neighbour) => {
                neighbour.score = neighbour.score.saturating_add(score);
                neighbour.reasons.push(reason);
            }
            None => neighbours.extend(
                live_document(other).map(|document| Related::new(document, score, vec![reason])),
            ),
        }
    }
    for Related { document, score, reasons, .. } in neighbours.iter_mut() {
        let percent = overlay.boost(&document.uri);
        if percent > 0 {
            *score = score.saturating_add(percentage(*score, percent));
            reasons.push(match overlay.n_reads(&document.uri) {
                1 => "read here once".to_string(),
                n => format!("read here {n} times"),
            });
        }
    }
    // The sort is stable: documents with equal scores stay in the order of the index.
    neighbours.sort_by_key(|neighbour| Reverse(neighbour.score));
}

/// Size limit of a line.
const MAX_LINE: usize = 1 << 24;

/// Number of bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// Finds the line of a document in the relevance index. The index can be large, so it is read in
/// chunks. `None` if it does not have the document.
fn index_line(root: &Root, uri: &str) -> std::io::Result<Option<Vec<u8>>> {
    let Some(mut file) = root.open_file(RELEVANCE)? else { return Ok(None) };
    let start = format!("\n{{\"uri\":\"{uri}\",");
    let finder = Finder::new(&start);
    let mut buffer = Vec::with_capacity(2 * CHUNK);
    loop {
        let n_read = Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut buffer)?;
        if let Some(at) = finder.find(&buffer) {
            buffer.drain(..=at);
            while memchr::memchr(b'\n', &buffer).is_none() && buffer.len() < MAX_LINE {
                if Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut buffer)? == 0 {
                    break;
                }
            }
            let end = memchr::memchr(b'\n', &buffer).unwrap_or(buffer.len());
            buffer.truncate(end);
            return Ok(Some(buffer));
        }
        if n_read == 0 {
            return Ok(None);
        }
        // The end of the chunk may be the beginning of the line.
        buffer.drain(..buffer.len().saturating_sub(start.len()));
    }
}

//! Tier 3: the documents near a document, from the relevance index.

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
use crate::wire::jsonl::{DocumentLine, RelevanceLine};

/// The live documents near one, nearest first: in the order of the index, adjusted by how documents
/// are used on this machine. `None` if the index does not have the document.
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
    let live = |uri: &str| {
        let document = catalogue.row(uri).and_then(|row| catalogue.line(row));
        document.filter(|document| document.live)
    };
    let mut near = Vec::new();
    for neighbour in line.neighbours {
        let Some(document) = live(&neighbour.uri) else { continue };
        near.push(Related { document, score: neighbour.score, reasons: neighbour.reasons });
    }
    adjust(&mut near, overlay, uri, live);
    Ok(Some(near))
}

/// Reads the documents near one, nearest first, each at the level of detail that the budget allows.
pub fn texts(library: &Library<'_>, row: usize, budget: u64) -> Result<Vec<Text>, ReadError> {
    let Library { root, built, reader, .. } = *library;
    let line = read::line(built, row)?;
    let near = neighbours(root, &built.catalogue, &library.overlay(), &line.uri).ok().flatten();
    let near = near
        .ok_or_else(|| ReadError::Unreadable(line.uri.clone(), "is not in the relevance index"))?;
    // A document that cannot be read any more is skipped; the rest is still useful.
    let levels = near.iter().filter_map(|near| {
        let levels = reader.levels(root, &near.document, Level::Full).ok()?;
        Some((near, levels))
    });
    let levels: Vec<(&Related, Levels)> = levels.collect();
    if levels.is_empty() {
        return Err(ReadError::Nothing(format!("no live document is near {}", line.uri)));
    }
    let only: Vec<&Levels> = levels.iter().map(|(_, levels)| levels).collect();
    let steps = reader::fit(&only, budget, 0);
    let chosen = levels.iter().zip(steps).filter_map(|((near, levels), step)| {
        let (level, text, tokens) = levels.at(step?);
        Some(Text {
            uri: near.document.uri.clone(),
            path: near.document.path.clone(),
            text: text.to_string(),
            hash: Digest::of(text.as_bytes()).to_string(),
            tokens,
            line: Some(near.document.clone()),
            stale: levels.stale,
            level,
            reason: Some(near.reasons.join("; ")),
        })
    });
    Ok(chosen.collect())
}

/// Adds documents that are read together with one, and raises those that are read often and lately.
fn adjust(
    near: &mut Vec<Related>,
    overlay: &Overlay,
    uri: &str,
    live: impl Fn(&str) -> Option<DocumentLine>,
) {
    let top = near.first().map_or(100, |near| near.score);
    let part = |score: u32, percent: u32| {
        let part = u64::from(score) * u64::from(percent) / 100;
        u32::try_from(part).unwrap_or(u32::MAX)
    };
    for (other, n, percent) in overlay.learned(uri) {
        let (points, reason) = (part(top, percent), format!("read together {n} times"));
        match near.iter_mut().find(|near| near.document.uri == other) {
            Some(known) => {
                known.score = known.score.saturating_add(points);
                known.reasons.push(reason);
            }
            None => near.extend(live(other).map(|document| Related {
                document,
                score: points,
                reasons: vec![reason],
            })),
        }
    }
    for near in near.iter_mut() {
        let percent = overlay.boost(&near.document.uri);
        if percent > 0 {
            near.score = near.score.saturating_add(part(near.score, percent));
            near.reasons.push(match overlay.n_reads(&near.document.uri) {
                1 => "read here once".to_string(),
                n => format!("read here {n} times"),
            });
        }
    }
    // The sort is stable: documents with equal scores stay in the order of the index.
    near.sort_by_key(|near| Reverse(near.score));
}

/// Size limit of a line.
const MAX_LINE: usize = 1 << 24;

/// Bytes that are read at once.
const CHUNK: usize = 1 << 18;

/// Finds the line of a document in the relevance index, which can be far larger than the line: it
/// is read in chunks. `None` if there is none.
fn index_line(root: &Root, uri: &str) -> std::io::Result<Option<Vec<u8>>> {
    let Some(mut file) = root.open_file(RELEVANCE)? else { return Ok(None) };
    let start = format!("\n{{\"uri\":\"{uri}\",");
    let finder = Finder::new(&start);
    let mut buffer = Vec::with_capacity(2 * CHUNK);
    loop {
        let more = Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut buffer)?;
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
        if more == 0 {
            return Ok(None);
        }
        // The end of the chunk may be the beginning of the line.
        buffer.drain(..buffer.len().saturating_sub(start.len()));
    }
}

//! Tier 3: what lies near a document, as the relevance index has it.

use std::cmp::Reverse;
use std::fs::File;
use std::io::{ErrorKind, Read};

use anyhow::Context;
use memchr::memmem::Finder;
use rustix::fs::{FileType, OFlags};

use super::{Catalogue, Overlay};
use crate::model::layout::RELEVANCE;
use crate::root::Root;
use crate::wire::jsonl::{DocumentLine, RelevanceLine};

/// A document near another.
#[derive(Debug)]
pub struct Near {
    /// Its line in the index.
    pub document: DocumentLine,
    /// How near; larger is nearer.
    pub score: u32,
    /// Why it is near.
    pub reasons: Vec<String>,
    /// Whether it fits into the budget whole, by its estimated tokens.
    pub fits: bool,
}

/// The live documents near one, nearest first: as they were ranked, re-ordered by how they are used
/// here. `None` if the index has no such document.
pub fn near(
    root: &Root,
    catalogue: &Catalogue,
    overlay: &Overlay,
    uri: &str,
    max_tokens: u64,
) -> anyhow::Result<Option<Vec<Near>>> {
    let line = line(root, uri).with_context(|| format!("read {RELEVANCE}"))?;
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
        let (score, reasons) = (neighbour.score, neighbour.reasons);
        near.push(Near { document, score, reasons, fits: false });
    }
    used(&mut near, overlay, uri, live);
    let mut n_tokens = 0;
    for near in &mut near {
        near.fits = n_tokens + near.document.tokens <= max_tokens;
        n_tokens += if near.fits { near.document.tokens } else { 0 };
    }
    Ok(Some(near))
}

/// Adds what is read together, and brings nearer what is read often and lately.
fn used(
    near: &mut Vec<Near>,
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
            None => near.extend(live(other).map(|document| Near {
                document,
                score: points,
                reasons: vec![reason],
                fits: false,
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
    // The sort is stable: what usage does not tell apart stays as it was ranked.
    near.sort_by_key(|near| Reverse(near.score));
}

/// A longer line is nobody's.
const MAX_LINE: usize = 1 << 24;

/// How much of the index is held at once.
const CHUNK: usize = 1 << 18;

/// The line of a document in the relevance index, which can be far larger than what is wanted of
/// it: it is looked through, not kept. `None` if there is none.
fn line(root: &Root, uri: &str) -> std::io::Result<Option<Vec<u8>>> {
    let fd = match root.open_at(RELEVANCE, OFlags::RDONLY) {
        Ok(fd) => fd,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::RegularFile {
        return Ok(None);
    }
    let start = format!("\n{{\"uri\":\"{uri}\",");
    let finder = Finder::new(&start);
    let mut file = File::from(fd);
    let mut held = Vec::with_capacity(2 * CHUNK);
    loop {
        let more = Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut held)?;
        if let Some(at) = finder.find(&held) {
            held.drain(..=at);
            while memchr::memchr(b'\n', &held).is_none() && held.len() < MAX_LINE {
                if Read::by_ref(&mut file).take(CHUNK as u64).read_to_end(&mut held)? == 0 {
                    break;
                }
            }
            let end = memchr::memchr(b'\n', &held).unwrap_or(held.len());
            held.truncate(end);
            return Ok(Some(held));
        }
        if more == 0 {
            return Ok(None);
        }
        // What may be the beginning of the line stays.
        held.drain(..held.len().saturating_sub(start.len()));
    }
}

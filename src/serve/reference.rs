//! Tier 3: what lies near a document, as the relevance index has it.

use std::fs::File;
use std::io::{ErrorKind, Read};

use anyhow::Context;
use memchr::memmem::Finder;
use rustix::fs::{FileType, OFlags};

use super::Catalogue;
use crate::beneath::Root;
use crate::model::place::RELEVANCE;
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

/// The live documents near one, nearest first. `None` if the index has no such document.
pub fn near(
    root: &Root,
    catalogue: &Catalogue,
    uri: &str,
    max_tokens: u64,
) -> anyhow::Result<Option<Vec<Near>>> {
    let line = line(root, uri).with_context(|| format!("read {RELEVANCE}"))?;
    let Some(line) = line else { return Ok(None) };
    let line: RelevanceLine = serde_json::from_slice(&line)
        .with_context(|| format!("read {RELEVANCE}\nhint: run `blue knowledge build`"))?;
    let mut n_tokens = 0;
    let mut near = Vec::new();
    for neighbour in line.neighbours {
        let document = catalogue.row(&neighbour.uri).and_then(|row| catalogue.line(row));
        let Some(document) = document.filter(|document| document.live) else { continue };
        let fits = n_tokens + document.tokens <= max_tokens;
        n_tokens += if fits { document.tokens } else { 0 };
        near.push(Near { document, score: neighbour.score, reasons: neighbour.reasons, fits });
    }
    Ok(Some(near))
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

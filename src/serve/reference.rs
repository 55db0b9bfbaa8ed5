//! Tier 3: what lies near a document, as the relevance index has it.

use anyhow::Context;

use super::Catalogue;
use crate::beneath::{Content, Root};
use crate::model::place::RELEVANCE;
use crate::wire::jsonl::{DocumentLine, RelevanceLine};

/// A document near another.
#[derive(Debug)]
pub struct Near<'a> {
    /// Its line in the index.
    pub document: &'a DocumentLine,
    /// How near; larger is nearer.
    pub score: u32,
    /// Why it is near.
    pub reasons: Vec<String>,
    /// Whether it fits into the budget whole, by its estimated tokens.
    pub fits: bool,
}

/// The live documents near one, nearest first. `None` if the index has no such document.
pub fn near<'a>(
    root: &Root,
    catalogue: &'a Catalogue,
    uri: &str,
    max_tokens: u64,
) -> anyhow::Result<Option<Vec<Near<'a>>>> {
    let content = root.read(RELEVANCE, 1 << 32).with_context(|| format!("read {RELEVANCE}"))?;
    let Some(Content::Bytes(bytes, _)) = content else { return Ok(None) };
    let start = format!("{{\"uri\":{},", serde_json::to_string(uri)?);
    let line = bytes.split(|b| *b == b'\n').find(|line| line.starts_with(start.as_bytes()));
    let Some(line) = line else { return Ok(None) };
    let line: RelevanceLine = serde_json::from_slice(line)
        .with_context(|| format!("read {RELEVANCE}\nhint: run `blue knowledge build`"))?;
    let mut n_tokens = 0;
    let mut near = Vec::new();
    for neighbour in line.neighbours {
        let document = catalogue.documents.iter().find(|document| document.uri == neighbour.uri);
        let Some(document) = document.filter(|document| document.live) else { continue };
        let fits = n_tokens + document.tokens <= max_tokens;
        n_tokens += if fits { document.tokens } else { 0 };
        near.push(Near { document, score: neighbour.score, reasons: neighbour.reasons, fits });
    }
    Ok(Some(near))
}

//! Documents related to a document, a path of the repository or some words, for commands and tools.

use super::{Catalogue, Overlay, bindings, reference, words};
use crate::model::binding::clean_path;
use crate::root::Root;
use crate::wire::jsonl::DocumentLine;

/// A document that is related to what was asked for.
pub struct Related {
    /// Its line in the index.
    pub document: DocumentLine,
    /// How closely; larger is closer.
    pub score: u32,
    /// Why, in words.
    pub reasons: Vec<String>,
}

/// Score of a document that binds a path: above any score by words.
const BOUND: u32 = 1_000_000;

/// The documents near a document, nearest first. `None` if the relevance index does not have it.
pub fn to_document(
    root: &Root,
    catalogue: &Catalogue,
    overlay: &Overlay,
    uri: &str,
) -> anyhow::Result<Option<Vec<Related>>> {
    let near = reference::near(root, catalogue, overlay, uri, u64::MAX)?;
    let related = |near: reference::Near| Related {
        document: near.document,
        score: near.score,
        reasons: near.reasons,
    };
    Ok(near.map(|near| near.into_iter().map(related).collect()))
}

/// The documents that bind a path or fit some words, best first, at most `limit` by their words; and
/// how many there are.
pub fn to_text(
    root: &Root,
    catalogue: &Catalogue,
    about: &str,
    limit: usize,
) -> (Vec<Related>, usize) {
    let mut related = bound(root, catalogue, about);
    let n_bound = related.len();
    let (fitting, n_fitting) = words::fitting(catalogue, about, limit);
    for fit in fitting {
        if related[..n_bound].iter().all(|known| known.document.uri != fit.document.uri) {
            let reasons = vec![fit.reason];
            related.push(Related { document: fit.document, score: fit.score, reasons });
        }
    }
    // Beside what binds a path, words only fill up.
    let n = if n_bound > 0 { related.len() } else { n_fitting };
    (related, n)
}

/// The documents that bind a file or folder of the repository, the most specific first. Empty
/// for a text that is not a path.
fn bound(root: &Root, catalogue: &Catalogue, about: &str) -> Vec<Related> {
    let path = clean_path(about).unwrap_or_default();
    let path = path.trim_matches('/');
    if path.is_empty() || path.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return Vec::new();
    }
    let answer = bindings::bound(root, catalogue, path, false);
    let bound = answer.ok().flatten().unwrap_or_default().bound.into_iter();
    let n = bound.len() as u32;
    let related = bound.zip(0..).map(|(bound, i)| {
        let reasons = bound.because.iter().map(bindings::Because::text).collect();
        Related { document: bound.document, score: BOUND + n - i, reasons }
    });
    related.collect()
}

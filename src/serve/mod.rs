//! Looks up and copies what was built; computes nothing.

pub mod bundles;
pub mod catalogue;
pub mod bindings;
pub mod delivery;
pub mod reference;
pub mod related;
pub mod sessions;
pub mod shelf;
pub mod usage;
pub mod words;
pub mod work;

use anyhow::Context;
use serde::de::DeserializeOwned;

pub use bundles::Bundles;
pub use catalogue::{Catalogue, Lookup};
pub use delivery::{Log, Staleness};
pub use shelf::{Item, Shelf};
pub use usage::Overlay;

use crate::root::{Content, Root};

/// The lines of an emitted index below its provenance. `None` if nothing was built yet.
fn lines<T: DeserializeOwned>(
    root: &Root,
    path: &str,
    limit: u64,
    what: &str,
) -> anyhow::Result<Option<Vec<T>>> {
    let Some(text) = text(root, path, limit)? else { return Ok(None) };
    parsed(&text, path, what).map(Some)
}

/// The lines of an emitted index below its provenance.
fn parsed<T: DeserializeOwned>(text: &str, path: &str, what: &str) -> anyhow::Result<Vec<T>> {
    let lines = text.lines().enumerate().skip(1).map(|(i, line)| {
        serde_json::from_str(line).with_context(|| {
            format!("{path}:{}: not a {what}\nhint: run `blue knowledge build`", i + 1)
        })
    });
    lines.collect()
}

/// The text of an emitted file. `None` if there is none.
fn text(root: &Root, path: &str, limit: u64) -> anyhow::Result<Option<String>> {
    let content = root.read(path, limit).with_context(|| format!("read {path}"))?;
    let Some(Content::Bytes(bytes, _)) = content else { return Ok(None) };
    Ok(Some(text_of(bytes)))
}

/// Bytes as text; they are copied only if they are not UTF-8.
pub fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

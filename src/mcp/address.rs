//! What an address means, and why it means nothing.

use std::sync::Arc;

use rmcp::ErrorData;
use serde_json::json;

use super::library::{self, Library, Open};
use crate::model::Uri;
use crate::model::escape::escape;
use crate::serve::Lookup;
use crate::serve::shelf::{Item, Shelf};
use crate::wire::jsonl::BundleLine;

/// Why an address gives nothing.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing was built, or it cannot be used.
    Unbuilt(Arc<str>),
    /// It is no address, or leads to what may not be read.
    Refused(String),
    /// It means nothing here: why, and the nearest addresses.
    Nothing(String, Vec<String>),
    /// It is known, but cannot be given.
    Unreadable(String),
}

impl Failure {
    /// In words, for a model.
    pub(super) fn text(&self) -> String {
        match self {
            Failure::Unbuilt(why) => why.to_string(),
            Failure::Refused(why) => format!("refused: {why}"),
            Failure::Nothing(why, near) if near.is_empty() => why.clone(),
            Failure::Nothing(why, near) => format!("{why}; did you mean {}?", near.join(" or ")),
            Failure::Unreadable(why) => why.clone(),
        }
    }

    /// As the protocol's error, which an SDK words by the era.
    pub(super) fn error(&self, uri: &str) -> ErrorData {
        // It is given back as it came, for whoever compares; only not at any length.
        let mut data = json!({"uri": if uri.len() > 2_048 { shown(uri) } else { uri.to_string() }});
        match self {
            Failure::Refused(_) => {}
            Failure::Nothing(_, near) if near.is_empty() => {}
            Failure::Nothing(_, near) => data["nearest"] = json!(near),
            Failure::Unbuilt(_) | Failure::Unreadable(_) => {
                data["hint"] = json!(library::BUILD);
            }
        }
        ErrorData::resource_not_found(self.text(), Some(data))
    }
}

/// A text from a client, shortened, made visible and redacted.
pub(super) fn shown(text: &str) -> String {
    let mut end = text.len().min(512);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    escape(&crate::guard::shown(&text[..end])).into_owned()
}

/// What an address means.
pub(super) enum Meaning {
    /// One thing that is listed.
    Item(Item),
    /// The bundle of the current work.
    Work(BundleLine),
    /// What of it is still to be done.
    Tasks(BundleLine),
    /// What lies near a document, by its row.
    Near(usize),
}

/// Finds out what an address means; if nothing, what may have been meant.
pub(super) fn meaning(library: &Library, open: &Open, address: &str) -> Result<Meaning, Failure> {
    bare_meaning(library, open, address).map_err(|failure| match (failure, &open.shelf) {
        (Failure::Nothing(why, near), Ok(shelf)) if near.is_empty() && why.contains(NOTHING_AT) => {
            Failure::Nothing(why, shelf.catalogue.near(address))
        }
        (failure, _) => failure,
    })
}

/// How the failure begins that has near addresses.
const NOTHING_AT: &str = "nothing at ";

/// Finds out what an address means, without looking around: many are asked for at once.
pub(super) fn bare_meaning(
    library: &Library,
    open: &Open,
    address: &str,
) -> Result<Meaning, Failure> {
    let uri = decoded(address)?;
    let shelf = open.shelf.as_ref().map_err(|why| Failure::Unbuilt(why.clone()))?;
    let work = || library.current(shelf).cloned().ok_or_else(|| no_work(library));
    let parts: Vec<&str> = uri.strip_prefix("blue://").unwrap_or_default().split('/').collect();
    match parts.as_slice() {
        ["state", "current-rfc"] | ["context", "workflow"] => Ok(Meaning::Work(work()?)),
        ["state", "active-tasks"] => Ok(Meaning::Tasks(work()?)),
        ["docs", collection, "{active}"] => {
            let row = row_of_work(shelf, &work()?)?;
            let uri = shelf.catalogue.uri(row);
            if !uri.starts_with(&format!("blue://docs/{collection}/")) {
                let why = format!("the current work, {uri}, is not in {collection}");
                return Err(Failure::Nothing(why, vec![uri.to_string()]));
            }
            Ok(Meaning::Item(Item::Document(row)))
        }
        ["context", "relevance"] => row_of_work(shelf, &work()?).map(Meaning::Near),
        ["context", "relevance", id] => by_id(shelf, id).map(Meaning::Near),
        ["context", "relevance", rest @ ..] => {
            match known(shelf, &format!("blue://{}", rest.join("/")))? {
                Item::Document(row) => Ok(Meaning::Near(row)),
                other => {
                    let why = format!("{} is no document", shelf.uri(other));
                    Err(Failure::Nothing(why, Vec::new()))
                }
            }
        }
        _ => known(shelf, &uri).map(Meaning::Item),
    }
}

/// Takes an address apart as far as clients encode it: letters beyond ASCII, and the braces of
/// `{active}`. Whatever else is encoded stays so, and is refused.
fn decoded(address: &str) -> Result<String, Failure> {
    let refused = |refusal: crate::model::uri::UriError| Failure::Refused(refusal.to_string());
    let mut text = address.to_string();
    if address.len() <= 1024 && address.contains('%') {
        let encoded = |at: usize| {
            let digits = address.as_bytes().get(at + 1..at + 3)?;
            u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let mut bytes = Vec::with_capacity(address.len());
        let mut at = 0;
        while at < address.len() {
            match (address.as_bytes()[at], encoded(at)) {
                (b'%', Some(byte)) if byte >= 0x80 || matches!(byte, b'{' | b'}') => {
                    bytes.push(byte);
                    at += 3;
                }
                (byte, _) => {
                    bytes.push(byte);
                    at += 1;
                }
            }
        }
        text = String::from_utf8(bytes)
            .map_err(|_| Failure::Refused("an address is UTF-8".to_string()))?;
    }
    match text.strip_suffix("/{active}").filter(|start| start.starts_with("blue://docs/")) {
        Some(start) => Uri::parse(start).map_err(refused)?,
        None => Uri::parse(&text).map_err(refused)?,
    };
    Ok(text)
}

fn no_work(library: &Library) -> Failure {
    let why = match library.work() {
        Some(name) => format!("no live RFC is called {}", shown(&name)),
        None => "there is no current work".to_string(),
    };
    let how = "name it by a branch (rfc/<slug>) or in .blue/worktree.json ({\"rfc\": \"<slug>\"})";
    Failure::Nothing(format!("not found: {why}: {how}"), Vec::new())
}

/// The document that a bundle of work is about.
fn row_of_work(shelf: &Shelf, bundle: &BundleLine) -> Result<usize, Failure> {
    let row = bundle.names.iter().find_map(|name| shelf.catalogue.row(name));
    row.ok_or_else(|| Failure::Unreadable(format!("{} is not indexed", bundle.source)))
}

fn known(shelf: &Shelf, uri: &str) -> Result<Item, Failure> {
    shelf.look_up(uri).map_err(|lookup| failure(lookup, uri))
}

fn failure(lookup: Lookup, asked: &str) -> Failure {
    let nothing = || Failure::Nothing(format!("not found: {NOTHING_AT}{asked}"), Vec::new());
    match lookup {
        Lookup::Several(uris) => Failure::Nothing(
            format!("not found: {asked} fits several"),
            uris.into_iter().take(8).collect(),
        ),
        Lookup::Refused(refusal) => Failure::Refused(refusal.to_string()),
        Lookup::Nothing | Lookup::Document(_) | Lookup::File(_) => nothing(),
    }
}

/// A document by a number, a slug or both, whatever its collection.
fn by_id(shelf: &Shelf, id: &str) -> Result<usize, Failure> {
    match shelf.catalogue.short(None, id) {
        Lookup::Document(row) => Ok(row),
        other => Err(failure(other, id)),
    }
}

//! Resolves an address to a document, a file or a part of the current work.

use std::fmt;

use super::built::{Built, Handwritten, Listed};
use crate::model::Uri;
use crate::model::layout::{KNOWLEDGE, WORKFLOW, WORKTREE};
use crate::model::uri::UriError;
use crate::root::Root;
use crate::wire::jsonl::BundleLine;

/// The thing behind an address.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// One that is listed.
    Item(Listed),
    /// A hand-written file that no index has, by its path.
    File(String),
    /// The open tasks of the work that a bundle is about.
    Tasks(Box<BundleLine>),
    /// The documents near a document, by its row in the catalogue.
    Neighbours(usize),
}

/// The reason why an address means nothing here.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AddressError {
    /// It breaks the grammar of addresses.
    Malformed(UriError),
    /// Its encoded bytes are not UTF-8.
    NotUtf8,
    /// No document or file has it.
    NotFound(String),
    /// Several documents fit it: the address, and theirs.
    Ambiguous(String, Vec<String>),
    /// It asks for the current work, and no live RFC is: the name of the work, if it has one.
    NoCurrentWork(Option<String>),
    /// It asks for the current work in a collection that does not have it: the work, the collection.
    OtherCollection(String, String),
    /// It asks for the neighbours of something that is no document.
    NotADocument(String),
    /// A bundle is about a document that the index does not have: the bundle's address.
    NotIndexed(String),
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressError::Malformed(refusal) => refusal.fmt(f),
            AddressError::NotUtf8 => f.write_str("an address is UTF-8"),
            AddressError::NotFound(address) => write!(f, "nothing at {address}"),
            AddressError::Ambiguous(address, _) => write!(f, "{address} fits several documents"),
            AddressError::NoCurrentWork(Some(name)) => {
                // The name comes from a file that anybody can write.
                let name: String = name.chars().take(200).flat_map(char::escape_debug).collect();
                write!(f, "no live RFC is called {name}")
            }
            AddressError::NoCurrentWork(None) => f.write_str("there is no current work"),
            AddressError::OtherCollection(uri, collection) => {
                write!(f, "the current work, {uri}, is not in {collection}")
            }
            AddressError::NotADocument(uri) => write!(f, "{uri} is no document"),
            AddressError::NotIndexed(bundle) => write!(f, "{bundle} is not indexed"),
        }
    }
}

impl AddressError {
    /// Addresses that may have been meant. They are computed only on demand: a subscription can ask
    /// for a thousand addresses at once.
    pub fn candidates(&self, built: &Built) -> Vec<String> {
        match self {
            AddressError::NotFound(address) => built.catalogue.near(address),
            AddressError::Ambiguous(_, uris) => uris.iter().take(8).cloned().collect(),
            AddressError::OtherCollection(uri, _) => vec![uri.clone()],
            _ => Vec::new(),
        }
    }

    /// A way out that is not another address.
    pub fn hint(&self) -> Option<String> {
        let hint =
            format!("name it by a branch (rfc/<slug>) or in {WORKTREE} ({{\"rfc\": \"<slug>\"}})");
        matches!(self, AddressError::NoCurrentWork(_)).then_some(hint)
    }
}

/// Checks the grammar of an address.
pub fn check(address: &str) -> Result<(), AddressError> {
    decode(address).map(|_| ())
}

/// Resolves an address. `work` is the name of the current work.
pub fn resolve(
    root: &Root,
    built: &Built,
    work: Option<&str>,
    address: &str,
) -> Result<Resolved, AddressError> {
    let uri = decode(address)?;
    let bundle = || {
        let bundle = work.and_then(|name| built.bundles.of_work(name));
        bundle.ok_or_else(|| AddressError::NoCurrentWork(work.map(str::to_string)))
    };
    let parts: Vec<&str> = uri.strip_prefix("blue://").unwrap_or_default().split('/').collect();
    match parts.as_slice() {
        ["state", "current-rfc"] | ["context", "workflow"] => {
            let bundle = bundle()?;
            let row = built.artifact(&bundle.artifact);
            let row = row.ok_or_else(|| AddressError::NotIndexed(bundle.source.clone()))?;
            Ok(Resolved::Item(Listed::Artifact(row)))
        }
        ["state", "active-tasks"] => Ok(Resolved::Tasks(Box::new(bundle()?.clone()))),
        ["docs", collection, "{active}"] => {
            let row = document_of_bundle(built, bundle()?)?;
            let uri = built.catalogue.uri(row);
            match uri.starts_with(&format!("blue://docs/{collection}/")) {
                true => Ok(Resolved::Item(Listed::Document(row))),
                false => {
                    Err(AddressError::OtherCollection(uri.to_string(), collection.to_string()))
                }
            }
        }
        ["context", "relevance"] => document_of_bundle(built, bundle()?).map(Resolved::Neighbours),
        ["context", "relevance", id] => short(built, &uri, None, id).map(Resolved::Neighbours),
        ["context", "relevance", rest @ ..] => {
            let uri = format!("blue://{}", rest.join("/"));
            match fixed(root, built, &uri, rest)? {
                Resolved::Item(Listed::Document(row)) => Ok(Resolved::Neighbours(row)),
                _ => Err(AddressError::NotADocument(uri)),
            }
        }
        parts => fixed(root, built, &uri, parts),
    }
}

/// The row of the document that an address is about: the document itself, or the one whose work,
/// tasks or neighbours it gives.
pub fn document_of(built: &Built, resolved: &Resolved) -> Option<usize> {
    match resolved {
        Resolved::Item(Listed::Document(row)) | Resolved::Neighbours(row) => Some(*row),
        Resolved::Item(Listed::Artifact(row)) => {
            let path = &built.manifest.artifacts[*row].path;
            let bundle = built.bundles.all().iter().find(|bundle| bundle.artifact == *path)?;
            document_of_bundle(built, bundle).ok()
        }
        Resolved::Tasks(bundle) => document_of_bundle(built, bundle).ok(),
        Resolved::Item(Listed::Handwritten(_)) | Resolved::File(_) => None,
    }
}

fn document_of_bundle(built: &Built, bundle: &BundleLine) -> Result<usize, AddressError> {
    let row = bundle.names.iter().find_map(|name| built.catalogue.row(name));
    row.ok_or_else(|| AddressError::NotIndexed(bundle.source.clone()))
}

/// Resolves an address that does not depend on the current work.
fn fixed(root: &Root, built: &Built, uri: &str, parts: &[&str]) -> Result<Resolved, AddressError> {
    if let Some(row) = built.catalogue.row(uri) {
        return Ok(Resolved::Item(Listed::Document(row)));
    }
    if let Some(row) = built.manifest.artifacts.iter().position(|entry| entry.uri == uri) {
        return Ok(Resolved::Item(Listed::Artifact(row)));
    }
    let file = |path: String| {
        // A document in `knowledge/` has the address of a file there as well as its own.
        let artifact = built.artifact(&path).map(Listed::Artifact);
        let item = artifact.or_else(|| built.catalogue.row_of_path(&path).map(Listed::Document));
        match item {
            Some(item) => Ok(Resolved::Item(item)),
            None if root.exists(&path) => Ok(Resolved::File(path)),
            None => Err(AddressError::NotFound(uri.to_string())),
        }
    };
    let document = |group: &str, id: &str| {
        short(built, uri, Some(group), id).map(|row| Resolved::Item(Listed::Document(row)))
    };
    match parts {
        ["docs", name, ""] | ["knowledge", name] => file(format!("{KNOWLEDGE}{name}.md")),
        ["context", "workflow", name] => file(format!("{WORKFLOW}/{name}.md")),
        ["context", "guide"] => Ok(Resolved::Item(Listed::Handwritten(Handwritten::Guide))),
        ["context", "voice"] => Ok(Resolved::Item(Listed::Handwritten(Handwritten::Voice))),
        ["docs", group, id] | [group, id] => document(group, id),
        [group, id, "plan"] => document(group, &format!("{id}.plan")),
        _ => Err(AddressError::NotFound(uri.to_string())),
    }
}

/// The row of a document by a number, a slug or both, in a collection or type, or in any.
fn short(
    built: &Built,
    address: &str,
    group: Option<&str>,
    id: &str,
) -> Result<usize, AddressError> {
    let catalogue = &built.catalogue;
    match catalogue.short(group, id).as_slice() {
        [row] => Ok(*row),
        [] => Err(AddressError::NotFound(address.to_string())),
        several => Err(AddressError::Ambiguous(
            address.to_string(),
            several.iter().map(|row| catalogue.uri(*row).to_string()).collect(),
        )),
    }
}

/// Decodes what clients encode: letters beyond ASCII, and the braces of `{active}`. Any other
/// encoded byte stays as it is, and is refused.
fn decode(address: &str) -> Result<String, AddressError> {
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
        text = String::from_utf8(bytes).map_err(|_| AddressError::NotUtf8)?;
    }
    let active = text.strip_suffix("/{active}").filter(|start| start.starts_with("blue://docs/"));
    Uri::parse(active.unwrap_or(&text)).map_err(AddressError::Malformed)?;
    Ok(text)
}

//! Resolves an address to a document, a file or a part of the current work.

use std::fmt;

use super::built::{Built, Handwritten, Listed};
use crate::model::Uri;
use crate::model::layout::{WORKFLOW, WORKTREE, digest_path};
use crate::model::uri::UriError;
use crate::root::Root;
use crate::wire::jsonl::BundleLine;

/// The thing behind an address.
#[derive(Clone, Debug)]
pub enum Resolved {
    /// An emitted file, a hand-written file or a document.
    Item(Listed),
    /// A hand-written file that is in no index, by its path.
    File(String),
    /// The text that blue ships about setting up the guide.
    GuideCreation,
    /// The open tasks of a bundle's RFC.
    Tasks(Box<BundleLine>),
    /// The documents related to a document, by its row in the catalogue.
    Neighbours(usize),
}

/// The address of the text about setting up the guide.
pub const GUIDE_CREATION: &str = "blue://knowledge/workflow-creation";

/// The reason why an address cannot be resolved.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum AddressError {
    /// It is not a valid address.
    Malformed(UriError),
    /// Its encoded bytes are not UTF-8.
    NotUtf8,
    /// No document or file has this address.
    NotFound(String),
    /// Several documents match: the address, and the addresses of the documents.
    Ambiguous(String, Vec<String>),
    /// There is no current work. If a branch or a file names one, no unfinished RFC has that name.
    NoCurrentWork(Option<String>),
    /// The current work is in another collection: the address of the work, and the collection.
    OtherCollection(String, String),
    /// A document is required, but the address is that of another file.
    NotADocument(String),
    /// The index does not have the document of a bundle: the address of the bundle.
    NotIndexed(String),
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AddressError::Malformed(error) => error.fmt(f),
            AddressError::NotUtf8 => f.write_str("the address is not UTF-8"),
            AddressError::NotFound(address) => write!(f, "nothing at {address}"),
            AddressError::Ambiguous(address, _) => write!(f, "{address} matches several documents"),
            AddressError::NoCurrentWork(Some(name)) => {
                // The name may come from a file of the repository, which is not trusted.
                let name: String = name.chars().take(200).flat_map(char::escape_debug).collect();
                write!(f, "no unfinished RFC is called {name}")
            }
            AddressError::NoCurrentWork(None) => f.write_str("there is no current work"),
            AddressError::OtherCollection(uri, collection) => {
                write!(f, "the current work, {uri}, is not in {collection}")
            }
            AddressError::NotADocument(uri) => write!(f, "{uri} is not a document"),
            AddressError::NotIndexed(bundle) => write!(f, "{bundle} is not indexed"),
        }
    }
}

impl AddressError {
    /// Returns similar addresses to suggest. They are computed only on demand, because a client can
    /// subscribe to a thousand addresses at once.
    pub fn candidates(&self, built: &Built) -> Vec<String> {
        match self {
            AddressError::NotFound(address) => built.catalogue.similar(address),
            AddressError::Ambiguous(_, uris) => uris.iter().take(8).cloned().collect(),
            AddressError::OtherCollection(uri, _) => vec![uri.clone()],
            _ => Vec::new(),
        }
    }

    /// Returns a hint that is not another address.
    pub fn hint(&self) -> Option<String> {
        let hint = format!(
            "name it by a branch (feature/<slug>) or in {WORKTREE} ({{\"rfc\": \"<slug>\"}})"
        );
        matches!(self, AddressError::NoCurrentWork(_)).then_some(hint)
    }
}

/// Checks that an address is valid, without resolving it.
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
        ["context", "relevance", id] => {
            by_short_id(built, &uri, None, id).map(Resolved::Neighbours)
        }
        ["context", "relevance", rest @ ..] => {
            let uri = format!("blue://{}", rest.join("/"));
            match resolve_fixed(root, built, &uri, rest)? {
                Resolved::Item(Listed::Document(row)) => Ok(Resolved::Neighbours(row)),
                _ => Err(AddressError::NotADocument(uri)),
            }
        }
        parts => resolve_fixed(root, built, &uri, parts),
    }
}

/// Returns the row of the document behind an address: the document itself, or the document whose
/// bundle, tasks or neighbours the address names.
pub fn document_of(built: &Built, resolved: &Resolved) -> Option<usize> {
    match resolved {
        Resolved::Item(Listed::Document(row)) | Resolved::Neighbours(row) => Some(*row),
        Resolved::Item(Listed::Artifact(row)) => {
            let path = &built.manifest.artifacts[*row].path;
            let bundle = built.bundles.all().iter().find(|bundle| bundle.artifact == *path)?;
            document_of_bundle(built, bundle).ok()
        }
        Resolved::Tasks(bundle) => document_of_bundle(built, bundle).ok(),
        Resolved::Item(Listed::Handwritten(_)) | Resolved::File(_) | Resolved::GuideCreation => {
            None
        }
    }
}

fn document_of_bundle(built: &Built, bundle: &BundleLine) -> Result<usize, AddressError> {
    let row = bundle.names.iter().find_map(|name| built.catalogue.row(name));
    row.ok_or_else(|| AddressError::NotIndexed(bundle.source.clone()))
}

/// Resolves an address that does not depend on the current work.
fn resolve_fixed(
    root: &Root,
    built: &Built,
    uri: &str,
    parts: &[&str],
) -> Result<Resolved, AddressError> {
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
            None if uri == GUIDE_CREATION => Ok(Resolved::GuideCreation),
            None => Err(AddressError::NotFound(uri.to_string())),
        }
    };
    let document = |group: &str, id: &str| {
        by_short_id(built, uri, Some(group), id).map(|row| Resolved::Item(Listed::Document(row)))
    };
    match parts {
        ["docs", name, ""] | ["knowledge", name] => file(digest_path(name)),
        ["context", "workflow", name] => file(format!("{WORKFLOW}/{name}.md")),
        ["context", "guide"] => Ok(Resolved::Item(Listed::Handwritten(Handwritten::Guide))),
        ["context", "voice"] => Ok(Resolved::Item(Listed::Handwritten(Handwritten::Voice))),
        ["docs", group, id] | [group, id] => document(group, id),
        [group, id, "plan"] => document(group, &format!("{id}.plan")),
        _ => Err(AddressError::NotFound(uri.to_string())),
    }
}

/// Returns the row of a document by its number, its slug or both. `group` is a collection or a type.
fn by_short_id(
    built: &Built,
    address: &str,
    group: Option<&str>,
    id: &str,
) -> Result<usize, AddressError> {
    let catalogue = &built.catalogue;
    match catalogue.by_short_id(group, id).as_slice() {
        [row] => Ok(*row),
        [] => Err(AddressError::NotFound(address.to_string())),
        several => Err(AddressError::Ambiguous(
            address.to_string(),
            several.iter().map(|row| catalogue.uri(*row).to_string()).collect(),
        )),
    }
}

/// Percent-decodes the characters that clients encode: those beyond ASCII, and the braces of
/// `{active}`. Any other encoded byte stays encoded and makes the address invalid.
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

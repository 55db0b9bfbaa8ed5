//! From an address to text: an emitted file as it was built, or a document as it is now.

use std::time::{Duration, Instant};

use super::address::{Failure, Meaning, meaning, shown};
use super::library::{Delivered, Library, Open};
use super::{near, tell};
use crate::build::reader::{ReadDocument, Reader, Unread};
use crate::emit;
use crate::model::layout::BUNDLES;
use crate::model::{Digest, Format, Level};
use crate::root::Content;
use crate::serve::shelf::{Item, Own, Shelf};
use crate::serve::{bundles, text_of, work};
use crate::verify::{self, OnDisk};
use crate::wire::jsonl::{BundleLine, DocumentLine};

/// A text, with what its reader may want to know of it.
pub(super) struct Given {
    /// The lasting address.
    pub(super) uri: String,
    /// Path below the root.
    pub(super) path: String,
    pub(super) text: String,
    /// The digest of the text.
    pub(super) hash: String,
    pub(super) tokens: u64,
    /// What the index says of the document it is.
    pub(super) line: Option<DocumentLine>,
    /// Whether the document changed since the build.
    pub(super) stale: bool,
    /// How much of it, if not all.
    pub(super) part: Option<Level>,
    /// Why it is there, where nobody named it.
    pub(super) why: Option<String>,
}

/// Reads what an address means. More than one text only where several documents were asked for.
///
/// Files are renamed one after the other at the end of a build, the manifest last; whoever reads in
/// between waits for it.
pub(super) fn read(library: &Library, open: &Open, address: &str) -> Result<Vec<Given>, Failure> {
    let started = Instant::now();
    let mut given = read_once(library, open, address);
    while matches!(given, Err(Failure::Unreadable(_)))
        && library.is_moving(open)
        && started.elapsed() < patience(library)
    {
        std::thread::sleep(WAIT);
        given = read_once(library, &library.open(), address);
    }
    given
}

/// How long a read waits between two looks, for a build that goes on, and for one that nobody seems
/// to finish.
const WAIT: Duration = Duration::from_millis(2);
const FOR_BUILD: Duration = Duration::from_secs(2);
const FOR_NOBODY: Duration = Duration::from_millis(150);

fn patience(library: &Library) -> Duration {
    if emit::is_locked(&library.root) { FOR_BUILD } else { FOR_NOBODY }
}

fn read_once(library: &Library, open: &Open, address: &str) -> Result<Vec<Given>, Failure> {
    match meaning(library, open, address)? {
        Meaning::Item(item) => item_text(library, open, item).map(|given| vec![given]),
        Meaning::Work(bundle) => bundle_text(library, &bundle).map(|given| vec![given]),
        Meaning::Tasks(bundle) => {
            let work = work::of(&bundle).ok_or_else(|| unreadable(BUNDLES, "is too old"))?;
            let text: String = work::lines(&work).iter().map(|line| format!("{line}\n")).collect();
            let tokens = crate::condense::tokens::count(&text);
            Ok(vec![given("blue://state/active-tasks", &bundle.artifact, text, tokens)])
        }
        Meaning::Near(row) => near::texts(library, open, row),
    }
}

/// Reads one listed thing.
pub(super) fn item_text(library: &Library, open: &Open, item: Item) -> Result<Given, Failure> {
    let shelf = open.shelf.as_ref().map_err(|why| Failure::Unbuilt(why.clone()))?;
    match item {
        Item::Artifact(row) => artifact(library, shelf, row),
        Item::Own(own) => own_text(library, library.reader(open), own),
        Item::Document(row) => document(library, shelf, library.reader(open), row),
    }
}

fn given(uri: &str, path: &str, text: String, tokens: u64) -> Given {
    let hash = Digest::of(text.as_bytes()).to_string();
    hashed(uri, path, text, tokens, hash)
}

fn hashed(uri: &str, path: &str, text: String, tokens: u64, hash: String) -> Given {
    let (uri, path) = (uri.to_string(), path.to_string());
    Given { uri, path, text, hash, tokens, line: None, stale: false, part: None, why: None }
}

fn unreadable(path: &str, why: &str) -> Failure {
    Failure::Unreadable(format!("{path} {why}: {}", super::library::BUILD))
}

fn artifact(library: &Library, shelf: &Shelf, row: usize) -> Result<Given, Failure> {
    let entry = &shelf.manifest.artifacts[row];
    match verify::on_disk(&library.root, &entry.path, Some(entry)) {
        Ok(OnDisk::Ours(_, digest, bytes) | OnDisk::Crlf(digest, bytes)) => {
            let text = text_of(bytes);
            // The digest of a bundle is that of its bytes.
            Ok(match verify::format_of(&entry.path) {
                Format::Bundle => {
                    hashed(&entry.uri, &entry.path, text, entry.tokens, digest.to_string())
                }
                _ => given(&entry.uri, &entry.path, text, entry.tokens),
            })
        }
        Ok(OnDisk::Absent) => Err(unreadable(&entry.path, "is missing")),
        Ok(OnDisk::Edited(_) | OnDisk::Mixed(_)) => {
            Err(unreadable(&entry.path, "is not what was built"))
        }
        Ok(OnDisk::Foreign) => Err(unreadable(&entry.path, "is not blue's")),
        Err(_) => Err(unreadable(&entry.path, "cannot be read")),
    }
}

fn bundle_text(library: &Library, bundle: &BundleLine) -> Result<Given, Failure> {
    let bytes = bundles::bytes(&library.root, bundle)
        .ok_or_else(|| unreadable(&bundle.artifact, "is not what was built"))?;
    let hash = bundle.content_hash.clone();
    Ok(hashed(&bundle.source, &bundle.artifact, text_of(bytes), bundle.tokens, hash))
}

pub(super) fn own_text(library: &Library, reader: &Reader, own: Own) -> Result<Given, Failure> {
    let path = own.path();
    match library.root.read(path, 1 << 20) {
        Ok(Some(Content::Bytes(bytes, _))) => {
            let text = crate::parse::whole(&bytes, &reader.allowed(path));
            let tokens = crate::condense::tokens::count(&text);
            Ok(given(own.uri(), path, text, tokens))
        }
        Ok(None) => Err(Failure::Nothing(format!("there is no {path}"), Vec::new())),
        _ => Err(unreadable(path, "cannot be read")),
    }
}

/// What the index says of a document.
pub(super) fn line_of(shelf: &Shelf, row: usize) -> Result<DocumentLine, Failure> {
    let spoilt = || unreadable(crate::model::layout::DOCUMENTS, "is not what was built");
    shelf.catalogue.line(row).ok_or_else(spoilt)
}

/// A document as it is now.
fn document(
    library: &Library,
    shelf: &Shelf,
    reader: &Reader,
    row: usize,
) -> Result<Given, Failure> {
    let line = line_of(shelf, row)?;
    let read = read_document(library, reader, &line)?;
    let mut given = given(&line.uri, &line.path, read.text, line.tokens);
    (given.line, given.stale) = (Some(line), read.stale);
    Ok(given)
}

/// Reads a document through the one reader; a failure in the protocol's words.
pub(super) fn read_document(
    library: &Library,
    reader: &Reader,
    line: &DocumentLine,
) -> Result<ReadDocument, Failure> {
    reader.document(&library.root, line).map_err(|unread| match unread {
        Unread::Denied => Failure::Refused(format!("{} is on the deny-list", line.uri)),
        Unread::NoDocument => Failure::Refused(format!("{} is no document", line.uri)),
        Unread::Unreadable(path, why) => unreadable(&path, why),
    })
}

/// Notes that a text was given.
pub(super) fn note(library: &Library, event: &str, given: &Given) {
    let event = match given.part {
        Some(level) => format!("{event} {}", tell::name_of(level)),
        None => event.to_string(),
    };
    library.note(
        &event,
        &Delivered {
            source: &given.uri,
            path: &given.path,
            hash: &given.hash,
            tokens: given.tokens,
            bytes: given.text.len() as u64,
        },
    );
}

/// Hands a failure on; that an address was refused is noted like a delivery.
pub(super) fn noted(library: &Library, address: &str, failure: Failure) -> Failure {
    if matches!(failure, Failure::Refused(_)) {
        library.note("refused", &Delivered { source: &shown(address), ..Delivered::default() });
    }
    failure
}

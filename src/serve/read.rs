//! Reads the text behind an address: an emitted file as it was built, or a document as it is now.

use std::fmt;

use super::address::{AddressError, Resolved, resolve};
use super::built::{Built, Handwritten, Listed};
use super::{Library, reference, work};
use crate::model::layout::{BUNDLES, DOCUMENTS};
use crate::model::{Digest, Level};
use crate::reader::{Levels, Unread};
use crate::wire::jsonl::DocumentLine;

/// A text, and the facts that a reader may need with it.
#[derive(Clone, Debug)]
pub struct Text {
    /// The lasting address.
    pub uri: String,
    /// Path below the root.
    pub path: String,
    /// The text itself.
    pub text: String,
    /// Digest of the text.
    pub hash: String,
    /// Its tokens.
    pub tokens: u64,
    /// The line of the document in the index; `None` for any other file.
    pub line: Option<DocumentLine>,
    /// True if the file changed since the build.
    pub stale: bool,
    /// The level of detail.
    pub level: Level,
    /// The reason why blue chose it; `None` if the reader named it.
    pub reason: Option<String>,
}

/// The reason why an address gives no text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReadError {
    /// It means nothing here.
    Address(AddressError),
    /// Its file must not be read: the reason.
    Refused(String),
    /// Its file is missing or damaged, which a build repairs: the path and the problem.
    Unreadable(String, &'static str),
    /// There is nothing to read: the reason.
    Nothing(String),
}

impl From<AddressError> for ReadError {
    fn from(error: AddressError) -> ReadError {
        ReadError::Address(error)
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Address(error) => error.fmt(f),
            ReadError::Refused(reason) | ReadError::Nothing(reason) => f.write_str(reason),
            ReadError::Unreadable(path, problem) => write!(f, "{path} {problem}"),
        }
    }
}

impl ReadError {
    /// Returns true if the address was refused, not merely unknown.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            ReadError::Refused(_)
                | ReadError::Address(AddressError::Malformed(_) | AddressError::NotUtf8)
        )
    }

    /// Words the error of a file that is not read.
    fn unread(uri: &str, unread: Unread) -> ReadError {
        match unread {
            Unread::Denied => ReadError::Refused(format!("{uri} is on the deny-list")),
            Unread::NoDocument => ReadError::Refused(format!("{uri} is no document")),
            Unread::Unreadable(path, problem) => ReadError::Unreadable(path, problem),
        }
    }
}

/// Reads an address. It gives several texts only if it names the neighbours of a document.
pub fn read(library: &Library<'_>, address: &str) -> Result<Vec<Text>, ReadError> {
    match resolve(library.root, library.built, library.work, address)? {
        Resolved::Item(item) => listed(library, item).map(|text| vec![text]),
        Resolved::File(path) => file(library, address, &path).map(|text| vec![text]),
        Resolved::Tasks(bundle) => {
            let work = work::state(&bundle)
                .ok_or_else(|| ReadError::Unreadable(BUNDLES.to_string(), "is too old"))?;
            let lines: String = work::lines(&work).iter().map(|line| format!("{line}\n")).collect();
            let tokens = library.reader.count_tokens(&lines);
            Ok(vec![text("blue://state/active-tasks", &bundle.artifact, lines, tokens)])
        }
        Resolved::Neighbours(row) => {
            let budget = library.reader.plan.reference.budget.tokens;
            reference::texts(library, row, budget)
        }
    }
}

/// Reads one item of the list.
pub fn listed(library: &Library<'_>, item: Listed) -> Result<Text, ReadError> {
    match item {
        Listed::Artifact(row) => artifact(library, row),
        Listed::Handwritten(own) => handwritten(library, own),
        Listed::Document(row) => document(library, row),
    }
}

/// Reads the guide or the voice.
pub fn handwritten(library: &Library<'_>, own: Handwritten) -> Result<Text, ReadError> {
    file(library, own.uri(), own.path())
}

fn text(uri: &str, path: &str, text: String, tokens: u64) -> Text {
    Text {
        uri: uri.to_string(),
        path: path.to_string(),
        hash: Digest::of(text.as_bytes()).to_string(),
        text,
        tokens,
        line: None,
        stale: false,
        level: Level::Full,
        reason: None,
    }
}

fn artifact(library: &Library<'_>, row: usize) -> Result<Text, ReadError> {
    let entry = &library.built.manifest.artifacts[row];
    let read = library.reader.artifact(library.root, entry);
    let read = read.map_err(|unread| ReadError::unread(&entry.uri, unread))?;
    let text = text(&entry.uri, &entry.path, read.text, entry.tokens);
    Ok(Text { hash: read.hash, stale: read.stale, ..text })
}

/// Reads a hand-written file.
fn file(library: &Library<'_>, uri: &str, path: &str) -> Result<Text, ReadError> {
    let read = library.reader.file(library.root, path);
    let read = read.map_err(|unread| ReadError::unread(uri, unread))?;
    let content = read.ok_or_else(|| ReadError::Nothing(format!("there is no {path}")))?;
    let tokens = library.reader.count_tokens(&content);
    Ok(text(uri, path, content, tokens))
}

/// Reads a document as it is now.
fn document(library: &Library<'_>, row: usize) -> Result<Text, ReadError> {
    let line = line(library.built, row)?;
    let read = library.reader.document(library.root, &line);
    let read = read.map_err(|unread| ReadError::unread(&line.uri, unread))?;
    let text = text(&line.uri, &line.path, read.text, line.tokens);
    Ok(Text { line: Some(line), stale: read.stale, ..text })
}

/// Reads a document at every level of detail up to `most`.
pub fn levels(
    library: &Library<'_>,
    line: &DocumentLine,
    most: Level,
) -> Result<Levels, ReadError> {
    let levels = library.reader.levels(library.root, line, most);
    levels.map_err(|unread| ReadError::unread(&line.uri, unread))
}

/// The line of a document in the index.
pub fn line(built: &Built, row: usize) -> Result<DocumentLine, ReadError> {
    let damaged = || ReadError::Unreadable(DOCUMENTS.to_string(), "is not what was built");
    built.catalogue.line(row).ok_or_else(damaged)
}

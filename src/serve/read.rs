//! Reads the text of an address: an emitted file, a hand-written file or a document.

use std::fmt;

use super::address::{AddressError, GUIDE_CREATION, Resolved, resolve};
use super::built::{Built, Handwritten, Listed};
use super::{Library, reference, work};
use crate::model::layout::{BUNDLES, DOCUMENTS};
use crate::model::{Digest, Level};
use crate::reader::{Levels, Unread};
use crate::wire::jsonl::DocumentLine;

/// The text of an address, with its metadata.
#[derive(Clone, Debug)]
pub struct Text {
    /// The permanent address.
    pub uri: String,
    /// Path below the root.
    pub path: String,
    /// The text itself.
    pub text: String,
    /// Digest of the text.
    pub hash: String,
    /// Number of tokens.
    pub tokens: u64,
    /// The line of a document in the index; `None` for other files.
    pub line: Option<DocumentLine>,
    /// True if the file changed since the build.
    pub stale: bool,
    /// The level of detail.
    pub level: Level,
    /// The reason why blue chose this document; `None` if the caller asked for it.
    pub reason: Option<String>,
}

/// The reason why an address cannot be read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ReadError {
    /// The address cannot be resolved.
    Address(AddressError),
    /// The file must not be read; with the reason.
    Refused(String),
    /// The file is missing or damaged, which a build repairs: the path and the problem.
    Unreadable(String, &'static str),
    /// There is nothing to read; with the reason.
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

    /// Converts the error of the reader.
    fn unread(uri: &str, unread: Unread) -> ReadError {
        match unread {
            Unread::Denied => ReadError::Refused(format!("{uri} is on the deny-list")),
            Unread::NoDocument => ReadError::Refused(format!("{uri} is not a document")),
            Unread::Unreadable(path, problem) => ReadError::Unreadable(path, problem),
        }
    }
}

/// Reads an address. Only the address of a document's neighbours has several texts.
pub fn read(library: &Library<'_>, address: &str) -> Result<Vec<Text>, ReadError> {
    let resolved = resolve(library.root, library.built, library.work, address)?;
    read_resolved(library, address, resolved)
}

/// Reads the thing behind an address or a name.
pub fn read_resolved(
    library: &Library<'_>,
    address: &str,
    resolved: Resolved,
) -> Result<Vec<Text>, ReadError> {
    match resolved {
        Resolved::Item(item) => listed(library, item).map(|text| vec![text]),
        Resolved::File(path) => file(library, address, &path).map(|text| vec![text]),
        Resolved::GuideCreation => {
            let shipped = include_str!("../../templates/workflow-creation.md");
            let tokens = library.reader.count_tokens(shipped);
            Ok(vec![text(GUIDE_CREATION, "", shipped.to_string(), tokens)])
        }
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

/// Reads an item of the list.
fn listed(library: &Library<'_>, item: Listed) -> Result<Text, ReadError> {
    match item {
        Listed::Artifact(row) => artifact(library, row),
        Listed::Handwritten(file) => handwritten(library, file),
        Listed::Document(row) => document(library, row),
    }
}

/// Reads the guide or the voice.
pub fn handwritten(library: &Library<'_>, file: Handwritten) -> Result<Text, ReadError> {
    self::file(library, file.uri(), file.path())
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

/// Reads a document at every level of detail up to `max`.
pub fn levels(library: &Library<'_>, line: &DocumentLine, max: Level) -> Result<Levels, ReadError> {
    let levels = library.reader.levels(library.root, line, max);
    levels.map_err(|unread| ReadError::unread(&line.uri, unread))
}

/// Returns the line of a document in the index.
pub fn line(built: &Built, row: usize) -> Result<DocumentLine, ReadError> {
    let damaged = || ReadError::Unreadable(DOCUMENTS.to_string(), "differs from the last build");
    built.catalogue.line(row).ok_or_else(damaged)
}

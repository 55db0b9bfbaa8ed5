//! Reads files of a project for a reader: what may be read, compared with the build, redacted.

use crate::discover;
use crate::discover::deny::DenyList;
use crate::guard::{Allowed, Guard};
use crate::model::source::document_digest;
use crate::model::{Digest, Plan};
use crate::parse;
use crate::root::{Content, Root};
use crate::verify::{self, OnDisk};
use crate::wire::jsonl::DocumentLine;

/// The configuration's rules for reading. Commands and the server read through it alone, so that no
/// text of a document is returned without passing `guard`.
pub struct Reader {
    /// The whole configuration.
    pub plan: Plan,
    deny: DenyList,
    guard: Guard,
}

/// A document as it is now.
pub struct ReadDocument {
    /// Its bytes, for `parse` only.
    pub bytes: Vec<u8>,
    /// Its text as a reader is given it.
    pub text: String,
    /// Whether it or its sidecar changed since the build.
    pub stale: bool,
}

/// An emitted file, or one that a person wrote.
pub enum ReadFile {
    /// The bytes that the manifest has; the build redacted them.
    Emitted(Vec<u8>),
    /// An emitted file that changed since.
    Edited(String),
    /// Any other file.
    Written(String),
}

/// The reason why a file is not read.
#[derive(Debug)]
pub enum Unread {
    /// The deny-list has it.
    Denied,
    /// The index names a file that blue does not take for a document.
    NoDocument,
    /// Its path, and what is wrong with it.
    Unreadable(String, &'static str),
}

/// Size limit of a file that is no document.
const MAX_FILE: u64 = 1 << 40;

impl Reader {
    /// Reads the configuration.
    pub fn new(root: &Root) -> Reader {
        let plan = super::plan(root);
        let deny = DenyList::new(&plan.deny).or_else(|_| {
            let all = ["*".to_string()];
            DenyList::new(&all)
        });
        // A pattern that means nothing lets nothing through.
        let guard = Guard::new(&plan.allowance).unwrap_or_default();
        Reader { deny: deny.expect("a star is a pattern"), plan, guard }
    }

    /// The findings that the configuration lets through in a file.
    pub fn allowed(&self, path: &str) -> Allowed {
        self.guard.of(path)
    }

    fn is_denied(&self, path: &str) -> bool {
        self.deny.denied_part(path).is_some()
    }

    /// Reads a document that the index lists.
    pub fn document(&self, root: &Root, line: &DocumentLine) -> Result<ReadDocument, Unread> {
        if self.is_denied(&line.path) || line.sidecar.as_deref().is_some_and(|p| self.is_denied(p))
        {
            return Err(Unread::Denied);
        }
        let read = |path: &str| match discover::read_document(root, &self.plan, path) {
            Ok(Some(Content::Bytes(bytes, _))) => Ok(bytes),
            Ok(None) => Err(Unread::Unreadable(path.to_string(), "is gone")),
            Ok(Some(Content::TooLarge(_))) => {
                Err(Unread::Unreadable(path.to_string(), "is over the size limit"))
            }
            Ok(Some(Content::NotRegular)) => {
                Err(Unread::Unreadable(path.to_string(), "is not a regular file"))
            }
            Err(_) => Err(Unread::Unreadable(path.to_string(), "cannot be read")),
        };
        let bytes = read(&line.path)?;
        let sidecar = line.sidecar.as_deref().and_then(|path| read(path).ok());
        let sidecar = sidecar.map(|bytes| Digest::of(&bytes));
        let stale = document_digest(Digest::of(&bytes), sidecar).to_string() != line.hash;
        // The index can come with a hostile clone. A file whose digest it has was known to its author;
        // any other must at least be a document.
        if stale && !discover::may_be_document(&line.path) {
            return Err(Unread::NoDocument);
        }
        let text = parse::whole(&bytes, &self.allowed(&line.path));
        Ok(ReadDocument { bytes, text, stale })
    }

    /// Reads a file that is no document of the index. `None` if there is none.
    pub fn file(&self, root: &Root, path: &str) -> Result<Option<ReadFile>, Unread> {
        if self.is_denied(path) {
            return Err(Unread::Denied);
        }
        let unreadable = || Unread::Unreadable(path.to_string(), "cannot be read");
        // Without a manifest there is nothing to compare with, and nothing is known to be redacted.
        let manifest = match verify::manifest(root) {
            Ok(Some(Ok((manifest, _)))) => Some(manifest),
            _ => None,
        };
        let entries = manifest.as_ref().map(|manifest| manifest.artifacts.as_slice());
        let entry = entries.unwrap_or_default().iter().find(|entry| entry.path == path);
        if entry.is_some() {
            match verify::on_disk(root, path, entry).map_err(|_| unreadable())? {
                OnDisk::Ours(_, _, bytes) | OnDisk::Crlf(_, bytes) => {
                    return Ok(Some(ReadFile::Emitted(bytes)));
                }
                OnDisk::Edited(bytes) => {
                    let text = parse::whole(&bytes, &self.allowed(path));
                    return Ok(Some(ReadFile::Edited(text)));
                }
                OnDisk::Absent | OnDisk::Foreign | OnDisk::Mixed(_) => {}
            }
        }
        match root.read(path, MAX_FILE) {
            Ok(Some(Content::Bytes(bytes, _))) => {
                Ok(Some(ReadFile::Written(parse::whole(&bytes, &self.allowed(path)))))
            }
            Ok(None) => Ok(None),
            _ => Err(unreadable()),
        }
    }
}

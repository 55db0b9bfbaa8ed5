//! Reads files of a project for people and agents.
//!
//! Every read checks the deny-list, compares the file with the last build and redacts secrets.

mod levels;

pub use crate::parse::SectionHeading;
pub use levels::{LevelText, Levels, fit, heading};

use crate::condense::tokens;
use crate::discover;
use crate::discover::deny::{Access, DenyList};
use crate::guard::{Allowed, Guard};
use crate::model::source::document_digest;
use crate::model::{Digest, Format, Plan, Source, TextBlocks, TextFormat};
use crate::parse;
use crate::root::{Content, Root};
use crate::verify::{self, OnDisk};
use crate::wire::jsonl::DocumentLine;
use crate::wire::manifest::ManifestEntry;

/// The configuration's rules for reading. Commands and the server read files only through this type,
/// so that no text of a document is returned without passing `guard`.
pub struct ProjectReader {
    /// The whole configuration.
    pub plan: Plan,
    deny: DenyList,
    guard: Guard,
}

/// The current text of a document.
pub struct DocumentText {
    /// The bytes on disk, for `parse` only.
    bytes: Vec<u8>,
    /// The text with secrets redacted.
    pub text: String,
    /// True if the document or its sidecar changed since the build.
    pub stale: bool,
}

/// The current text of an emitted file.
pub struct ArtifactText {
    /// The text with secrets redacted.
    pub text: String,
    /// Digest of the text.
    pub hash: String,
    /// True if the text is not what the build wrote.
    pub stale: bool,
}

/// The reason why a file is not read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Unread {
    /// It is on the deny-list.
    Denied,
    /// The index names a file that cannot be a document.
    NoDocument,
    /// The path and the problem.
    Unreadable(String, &'static str),
}

/// Size limit of a file that is not a document.
const MAX_FILE: u64 = 1 << 30;

/// Size limit of a file of code.
const MAX_CODE: u64 = 1 << 18;

impl ProjectReader {
    /// Compiles the rules of a configuration.
    pub fn new(plan: Plan) -> ProjectReader {
        // If a pattern is invalid, nothing may be read and nothing is exempt from redaction.
        let deny = DenyList::of_plan(&plan).or_else(|_| DenyList::new(&["*".to_string()]));
        let guard = Guard::new(&plan.allowance).unwrap_or_default();
        ProjectReader { deny: deny.expect("a star is a pattern"), plan, guard }
    }

    /// Returns the findings that the configuration allows in a file.
    fn allowed(&self, path: &str) -> Allowed {
        self.guard.allowed_for(path)
    }

    fn check_denied(&self, path: &str) -> Result<(), Unread> {
        self.deny.denied_part(path).map_or(Ok(()), |_| Err(Unread::Denied))
    }

    /// Returns true if a document may be read only if it has no secret in it.
    fn is_scanned(&self, path: &str) -> Result<bool, Unread> {
        match self.deny.access(path) {
            Access::Allowed => Ok(false),
            Access::Scanned(_) => Ok(true),
            Access::Denied(_) => Err(Unread::Denied),
        }
    }

    /// Counts the tokens of a text.
    pub fn count_tokens(&self, text: &str) -> u64 {
        tokens::count(text)
    }

    /// Returns the headings of a text that was read here. A text in a format without headings has
    /// none.
    pub fn headings(&self, path: &str, text: &str) -> Vec<SectionHeading> {
        if TextFormat::of_path(path).is_none() {
            return Vec::new();
        }
        let source = Source::new(path, text.as_bytes().to_vec(), None);
        parse::section_headings(&source, &self.plan.limits, &self.allowed(path))
    }

    /// Reads a document that the index lists.
    pub fn document(&self, root: &Root, line: &DocumentLine) -> Result<DocumentText, Unread> {
        let mut is_scanned = false;
        for path in [Some(&line.path), line.sidecar.as_ref()].into_iter().flatten() {
            is_scanned |= self.is_scanned(path)?;
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
        // The index can come with a hostile clone. If it has the digest of a file, its author knew the
        // content. Any other file must at least look like a document.
        if stale && !discover::may_be_document(&line.path) {
            return Err(Unread::NoDocument);
        }
        let allowed = self.allowed(&line.path);
        let is_document = || discover::may_be_document(&line.path);
        if is_scanned && (!is_document() || parse::has_secret(&bytes, &allowed)) {
            return Err(Unread::Denied);
        }
        let text = parse::whole(&bytes, &allowed);
        Ok(DocumentText { bytes, text, stale })
    }

    /// Reads a document in small parts. Also returns true if it changed since the build.
    pub fn blocks(&self, root: &Root, line: &DocumentLine) -> Result<(TextBlocks, bool), Unread> {
        let document = self.document(root, line)?;
        let source = Source::new(&line.path, document.bytes, None);
        let blocks = parse::blocks(&source, &self.plan.limits, &self.allowed(&line.path));
        Ok((blocks, document.stale))
    }

    /// Reads an emitted file. The build redacted what it wrote; any other text is redacted here.
    pub fn artifact(&self, root: &Root, entry: &ManifestEntry) -> Result<ArtifactText, Unread> {
        let path = entry.path.as_str();
        // A bundle is named after its document. The build has scanned both.
        self.is_scanned(path)?;
        let unreadable = |why| Unread::Unreadable(path.to_string(), why);
        match verify::on_disk(root, path, Some(entry)) {
            Ok(OnDisk::Ours(_, digest, bytes) | OnDisk::Crlf(digest, bytes)) => {
                let text = lossy_text(bytes);
                // The digest of a bundle is that of its bytes.
                let hash = match verify::format_of(path) {
                    Format::Bundle => digest,
                    _ => Digest::of(text.as_bytes()),
                };
                Ok(ArtifactText { text, hash: hash.to_string(), stale: false })
            }
            Ok(OnDisk::Absent) => Err(unreadable("is missing")),
            Ok(OnDisk::Edited(_) | OnDisk::Mixed(_) | OnDisk::Foreign) => {
                let text = self.unchecked(root, path)?.ok_or_else(|| unreadable("is missing"))?;
                let hash = Digest::of(text.as_bytes()).to_string();
                Ok(ArtifactText { text, hash, stale: true })
            }
            Err(_) => Err(unreadable("cannot be read")),
        }
    }

    /// Reads a hand-written file that is not a document. `None` if it does not exist.
    pub fn file(&self, root: &Root, path: &str) -> Result<Option<String>, Unread> {
        self.check_denied(path)?;
        self.unchecked(root, path)
    }

    /// Reads a small text file of the repository, such as one of code. `None` if it is large, binary,
    /// denied or not there.
    pub fn code(&self, root: &Root, path: &str) -> Option<String> {
        self.check_denied(path).ok()?;
        let bytes = root.readable_bytes(path, MAX_CODE)?;
        let is_text = memchr::memchr(0, &bytes).is_none();
        is_text.then(|| parse::whole(&bytes, &self.allowed(path)))
    }

    /// Reads a file without comparing its name with the deny-list.
    fn unchecked(&self, root: &Root, path: &str) -> Result<Option<String>, Unread> {
        match root.read(path, MAX_FILE) {
            Ok(Some(Content::Bytes(bytes, _))) => {
                Ok(Some(parse::whole(&bytes, &self.allowed(path))))
            }
            Ok(None) => Ok(None),
            _ => Err(Unread::Unreadable(path.to_string(), "cannot be read")),
        }
    }
}

/// Converts bytes to text. They are copied only if they are not UTF-8.
pub(crate) fn lossy_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

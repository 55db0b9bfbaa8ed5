//! Documents as discovery finds them: path, collection and bytes.

use std::fmt;

use super::{Digest, FileName, TextFormat};

/// The kind of documents in a collection, such as `adr`.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Kind(Box<str>);

impl Kind {
    /// Creates a kind from a name in a convention or the configuration, converted to lower case.
    pub fn new(name: &str) -> Kind {
        match name.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
            true => Kind(name.into()),
            false => Kind(name.to_lowercase().into()),
        }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true for documents about work that is done once, instead of a decision.
    pub fn is_work(&self) -> bool {
        matches!(
            self.as_str(),
            "bug"
                | "epic"
                | "experiment"
                | "incident"
                | "investigation"
                | "issue"
                | "plan"
                | "postmortem"
                | "retrospective"
                | "spike"
                | "story"
                | "task"
                | "ticket"
        )
    }

    /// Returns the noun for one such document in a sentence.
    pub fn noun(&self) -> &str {
        match self.as_str() {
            "adr" => "decision",
            "eip" | "erc" | "proposal" => "proposal",
            other => other,
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Documents that share a generated overview, a URI prefix and usually a series of numbers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Collection {
    /// Name in `blue://docs/<name>/` and `knowledge/<name>.md`, a slug.
    pub name: String,
    /// Kind of its documents.
    pub kind: Kind,
    /// Prefixes of mentions of its documents, in lower case: `rfc`, `eip`.
    pub series: Vec<String>,
    /// Globs of the folders with its documents, for display, sorted.
    pub globs: Vec<String>,
}

/// A document that discovery decided to read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundFile {
    /// Path below the project root, with `/` as separator.
    pub path: String,
    /// Length in bytes of the collection's folder in `path`; the rest names the document.
    pub base: usize,
    /// Index of the collection.
    pub collection: usize,
    /// Path of a YAML file next to the document that has its metadata.
    pub sidecar: Option<String>,
    /// The parsed file name.
    pub name: FileName,
}

impl FoundFile {
    /// Returns the path below the collection's folder.
    pub fn path_in_collection(&self) -> &str {
        &self.path[self.base..]
    }

    /// Returns a file of a collection in the root folder, for unit tests.
    #[cfg(test)]
    pub(crate) fn sample(path: &str) -> FoundFile {
        let name = FileName::parse(path);
        FoundFile { path: path.to_string(), base: 0, collection: 0, sidecar: None, name }
    }
}

/// The bytes of one document, read once.
#[derive(Clone, Debug)]
pub struct Source {
    /// The document's own bytes.
    pub bytes: Vec<u8>,
    /// The bytes of its sidecar, if it has one.
    pub sidecar: Option<Vec<u8>>,
    /// The format of its own bytes.
    pub format: TextFormat,
}

impl Source {
    /// Returns a document in the format that its path states.
    pub fn new(path: &str, bytes: Vec<u8>, sidecar: Option<Vec<u8>>) -> Source {
        let format = TextFormat::of_path(path).unwrap_or_default();
        Source { bytes, sidecar, format }
    }

    /// Returns a Markdown document without a sidecar.
    pub fn markdown(text: &str) -> Source {
        let (bytes, format) = (text.as_bytes().to_vec(), TextFormat::Markdown);
        Source { bytes, sidecar: None, format }
    }
}

/// Returns the digest of a document's content, from the digests of its own bytes and its sidecar.
pub fn document_digest(document: Digest, sidecar: Option<Digest>) -> Digest {
    match sidecar {
        None => document,
        Some(sidecar) => {
            super::Hasher::new().field(document.as_bytes()).field(sidecar.as_bytes()).digest()
        }
    }
}

/// Converts the line ends of a text to LF if every line ends in CRLF.
///
/// Git may have converted such a text at checkout. Every clone must build the same artifacts.
/// Returns `None` if there is nothing to convert or any line ends in LF alone.
pub fn with_lf(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memchr(b'\r', text)?;
    let n_ends = memchr::memchr_iter(b'\n', text).count();
    let n_crlf = memchr::memmem::find_iter(text, b"\r\n").count();
    if n_ends == 0 || n_ends != n_crlf {
        return None;
    }
    let mut converted = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\r\n") {
            Some(line) => converted.extend_from_slice(&[line, b"\n"].concat()),
            None => converted.extend_from_slice(line),
        }
    }
    Some(converted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_converted_only_if_all_are_crlf() {
        assert_eq!(with_lf(b"a\r\nb\r\n"), Some(b"a\nb\n".to_vec()));
        assert_eq!(with_lf(b"a\r\nb\n"), None);
        assert_eq!(with_lf(b"a\n"), None);
        assert_eq!(with_lf(b"a"), None);
    }
}

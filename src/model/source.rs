//! Documents as they are found: a path, the collection it belongs to, and bytes.

use std::fmt;

use super::Digest;
use super::name::Name;

/// What sort of document a collection holds.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Kind(Box<str>);

impl Kind {
    /// Lower-cases a type name from a convention or the configuration.
    pub fn new(name: &str) -> Kind {
        match name.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase()) {
            true => Kind(name.into()),
            false => Kind(name.to_lowercase().into()),
        }
    }

    /// The name, `adr`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What one such document is called in a sentence.
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

/// A set of documents that share a digest, a URI prefix and usually a series of numbers.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Collection {
    /// The name in `blue://docs/<name>/` and `knowledge/<name>.md`; a slug.
    pub name: String,
    /// What its documents are.
    pub kind: Kind,
    /// Prefixes of mentions that mean this collection, lower case: `rfc`, `eip`.
    pub series: Vec<String>,
    /// Where its documents lie, as globs a reader can follow, sorted.
    pub places: Vec<String>,
}

/// A document that discovery decided to read.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct FoundFile {
    /// Path below the project root, `/` between the parts.
    pub path: String,
    /// How much of the path is the collection's folder, in bytes; the rest names the document.
    pub base: usize,
    /// Which collection, as an index.
    pub collection: usize,
    /// A YAML file beside the document that holds its metadata.
    pub sidecar: Option<String>,
    /// What the document's name says.
    pub name: Name,
}

impl FoundFile {
    /// The path below the collection's folder.
    pub fn below(&self) -> &str {
        &self.path[self.base..]
    }
}

/// The bytes of one document, read once.
#[derive(Clone, Debug)]
pub struct Source {
    /// The document's own bytes.
    pub bytes: Vec<u8>,
    /// The bytes of its sidecar, if it has one.
    pub sidecar: Option<Vec<u8>>,
}

/// Identifies a document's content, wherever it lies: its own bytes and those of its sidecar.
pub fn content_digest(own: Digest, sidecar: Option<Digest>) -> Digest {
    match sidecar {
        None => own,
        Some(sidecar) => {
            super::Hasher::new().field(own.as_bytes()).field(sidecar.as_bytes()).digest()
        }
    }
}

/// A text with LF, if every line of it ends in CRLF: then git may have converted it at checkout, and
/// it means the same as in any other clone. `None` if any line ends in LF alone.
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

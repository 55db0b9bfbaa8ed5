//! An output file as a value, before it is written.

use super::Digest;

/// The file format of an artifact, which decides the form of its provenance header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// Markdown, with the header in an HTML comment.
    Markdown,
    /// A bundle that a hook prints, wrapped in a tag or in JSON. It contains no dates.
    Bundle,
    /// JSON lines, with the header as the first record.
    Jsonl,
    /// YAML, with the header in comment lines.
    Yaml,
    /// Markdown that must begin with front matter, with the header in comment lines of it.
    FrontMatter,
    /// Markdown of a responsibility, with the header in the keys of its front matter.
    RoleFile,
}

/// An output path and its bytes. Only `emit` turns it into a file.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Path below the root.
    pub path: String,
    /// The `blue://` address under which it is served.
    pub uri: String,
    /// The file format.
    pub format: Format,
    /// Description of its sources, for the provenance header.
    pub source: String,
    /// Everything below the provenance header. It is in parts so that a large index never has to be
    /// copied into one buffer.
    pub body: Vec<Vec<u8>>,
    /// Tokens of header and body; 0 for formats whose tokens are not counted.
    pub tokens: u64,
    /// Digest of the facts that decide it.
    pub action: Digest,
    /// Digest of everything but the dates, which the manifest stores.
    pub hash: Digest,
}

impl Artifact {
    /// Creates an artifact and computes its hash from format, source and body.
    pub fn new(
        path: &str,
        uri: &str,
        format: Format,
        source: String,
        body: Vec<Vec<u8>>,
        action: Digest,
    ) -> Artifact {
        let hash = content_digest(format, &source, &body);
        let (path, uri) = (path.to_string(), uri.to_string());
        Artifact { path, uri, format, source, body, tokens: 0, action, hash }
    }
}

/// Returns the digest of an artifact without its dates: its source line and its body.
pub fn content_digest<P: AsRef<[u8]>>(format: Format, source: &str, body: &[P]) -> Digest {
    let tag: &[u8] = match format {
        Format::Markdown => b"markdown",
        // A bundle contains no dates, so all its bytes are hashed.
        Format::Bundle => return Digest::of_parts(body),
        Format::Jsonl => b"jsonl",
        Format::Yaml => b"yaml",
        Format::FrontMatter => b"front matter",
        Format::RoleFile => b"role file",
    };
    super::Hasher::new().field(tag).field(source.as_bytes()).parts(body).digest()
}

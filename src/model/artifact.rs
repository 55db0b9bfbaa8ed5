//! A file that blue would write, as a value.

use super::Digest;

/// How a file carries its provenance.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Format {
    /// Markdown: an HTML comment on top.
    Markdown,
    /// A bundle a hook prints, wrapped in a tag or in JSON: no dates at all.
    Bundle,
    /// JSON lines: a first record.
    Jsonl,
    /// YAML: comment lines on top.
    Yaml,
}

/// An output path and its bytes. `emit` is the only room that turns it into a file.
#[derive(Clone, Debug)]
pub struct Artifact {
    /// Path below the root.
    pub path: String,
    /// The address under which it is served.
    pub uri: String,
    /// How it carries its provenance.
    pub format: Format,
    /// What it was made from, for the provenance header.
    pub source: String,
    /// Everything below the provenance header, in parts: an index is never put together.
    pub body: Vec<Vec<u8>>,
    /// Tokens of header and body; 0 where nobody counts them.
    pub tokens: u64,
    /// The digest of everything that decided it.
    pub action: Digest,
    /// The digest that stands in the manifest: of everything but the dates.
    pub hash: Digest,
}

impl Artifact {
    /// An artifact whose hash is that of its format, source and body.
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

/// The digest of an artifact's lasting content: its source line and its body.
pub fn content_digest<P: AsRef<[u8]>>(format: Format, source: &str, body: &[P]) -> Digest {
    let tag: &[u8] = match format {
        Format::Markdown => b"markdown",
        // What a hook prints is compared by its bytes alone.
        Format::Bundle => return Digest::of_parts(body),
        Format::Jsonl => b"jsonl",
        Format::Yaml => b"yaml",
    };
    super::Hasher::new().field(tag).field(source.as_bytes()).parts(body).digest()
}

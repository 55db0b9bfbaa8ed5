//! The text formats in which documents are written, by the extension of the file name.

use super::{Digest, Hasher};

/// A format that blue reads.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum TextFormat {
    /// Markdown.
    #[default]
    Markdown,
    /// MediaWiki markup, as in `bip-0032.mediawiki`.
    MediaWiki,
    /// AsciiDoc. The extension `asc` is not read, because most such files are signatures.
    AsciiDoc,
    /// reStructuredText.
    RestructuredText,
}

/// Extensions of documents, in lower case. Links without an extension are tried in this order.
pub const EXTENSIONS: [(&str, TextFormat); 7] = [
    ("md", TextFormat::Markdown),
    ("markdown", TextFormat::Markdown),
    ("mediawiki", TextFormat::MediaWiki),
    ("wiki", TextFormat::MediaWiki),
    ("adoc", TextFormat::AsciiDoc),
    ("asciidoc", TextFormat::AsciiDoc),
    ("rst", TextFormat::RestructuredText),
];

impl TextFormat {
    /// Every format.
    pub const ALL: [TextFormat; 4] = [
        TextFormat::Markdown,
        TextFormat::MediaWiki,
        TextFormat::AsciiDoc,
        TextFormat::RestructuredText,
    ];

    /// Returns the format of a file, or `None` if blue does not read files of this name.
    pub fn of_path(path: &str) -> Option<TextFormat> {
        let dot = path.len() - memchr::memrchr(b'.', path.as_bytes())?;
        let extension = &path[path.len() - dot + 1..];
        let is_known = |(known, _): &&(&str, TextFormat)| extension.eq_ignore_ascii_case(known);
        EXTENSIONS.iter().find(is_known).map(|(_, format)| *format)
    }

    /// Returns a path without the extension of a document, or the whole path if it has none.
    pub fn without_extension(path: &str) -> &str {
        match (TextFormat::of_path(path), path.rsplit_once('.')) {
            (Some(_), Some((stem, _))) => stem,
            _ => path,
        }
    }

    /// Returns the key of facts that were parsed from a content in this format. The same bytes have
    /// other facts in another format.
    pub fn cache_key(self, content: Digest) -> Digest {
        let name = match self {
            TextFormat::Markdown => return content,
            TextFormat::MediaWiki => "mediawiki",
            TextFormat::AsciiDoc => "asciidoc",
            TextFormat::RestructuredText => "rst",
        };
        Hasher::new().field(content.as_bytes()).field(name.as_bytes()).digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_the_format_in_any_case() {
        for (path, format) in [
            ("docs/a.md", Some(TextFormat::Markdown)),
            ("A.MARKDOWN", Some(TextFormat::Markdown)),
            ("bip-0032.mediawiki", Some(TextFormat::MediaWiki)),
            ("x.wiki", Some(TextFormat::MediaWiki)),
            ("jep/1/README.adoc", Some(TextFormat::AsciiDoc)),
            ("x.AsciiDoc", Some(TextFormat::AsciiDoc)),
            ("release.asc", None),
            ("x.rst", Some(TextFormat::RestructuredText)),
            ("x.org", None),
            ("md", None),
            ("x.mdé", None),
            ("", None),
        ] {
            assert_eq!(TextFormat::of_path(path), format, "{path}");
        }
    }

    #[test]
    fn only_the_extension_of_a_document_is_removed() {
        assert_eq!(TextFormat::without_extension("a/0001-x.accepted.adoc"), "a/0001-x.accepted");
        assert_eq!(TextFormat::without_extension("a/v1.2"), "a/v1.2");
    }

    #[test]
    fn the_same_bytes_have_another_key_in_another_format() {
        let content = Digest::of(b"= X");
        let key = |format: TextFormat| format.cache_key(content);
        assert_eq!(key(TextFormat::Markdown), content);
        assert_ne!(key(TextFormat::MediaWiki), content);
        assert_ne!(key(TextFormat::MediaWiki), key(TextFormat::AsciiDoc));
    }
}

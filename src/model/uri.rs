//! `blue://` addresses of documents, collections and bundles.

use std::fmt;

/// An address such as `blue://docs/rfcs/0016-context-injection`.
///
/// Invariant: the scheme is `blue`, every segment consists of letters, digits and `-._~`, and no
/// segment is `.`, `..` or empty, except that the last one may be empty (a collection). The
/// constructors guarantee this, so no other module has to check it.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Uri(Box<str>);

/// Reasons why a text is not an address. The messages never contain a path of this machine.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum UriError {
    /// The text does not begin with `blue://`.
    Scheme,
    /// A segment is empty, `.` or `..`.
    Segment,
    /// A character is not allowed, such as `%` of an encoded one.
    Character,
    /// The text is longer than any address of blue.
    Length,
}

impl fmt::Display for UriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UriError::Scheme => "an address begins with blue://",
            UriError::Segment => "an address has no empty, `.` or `..` part",
            UriError::Character => "an address has only letters, digits and -._~ in its parts",
            UriError::Length => "an address has at most 512 bytes",
        })
    }
}

/// The scheme of every address.
pub const SCHEME: &str = "blue://";

/// The start of every address of the user's own knowledge.
pub const GLOBAL: &str = "blue://global/";
const MAX_BYTES: usize = 512;

impl Uri {
    /// Parses and checks an address.
    pub fn parse(text: &str) -> Result<Uri, UriError> {
        let rest = text.strip_prefix(SCHEME).ok_or(UriError::Scheme)?;
        if text.len() > MAX_BYTES {
            return Err(UriError::Length);
        }
        let last = rest.bytes().filter(|b| *b == b'/').count();
        let is_allowed = |c: char| match c.is_ascii() {
            true => c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~'),
            false => c.is_alphanumeric(),
        };
        for (i, segment) in rest.split('/').enumerate() {
            let is_collection = segment.is_empty() && i == last && i > 0;
            if (segment.is_empty() && !is_collection) || matches!(segment, "." | "..") {
                return Err(UriError::Segment);
            }
            if !segment.chars().all(is_allowed) {
                return Err(UriError::Character);
            }
        }
        Ok(Uri(text.into()))
    }

    /// Returns the canonical address of a document. Both parts must be slugs.
    pub fn of_document(collection: &str, id: &str) -> Uri {
        Uri(format!("{SCHEME}docs/{collection}/{id}").into())
    }

    /// Returns the address of a collection.
    pub fn of_collection(collection: &str) -> Uri {
        Uri(format!("{SCHEME}docs/{collection}/").into())
    }

    /// Returns the whole address.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the segments after `blue://`.
    pub fn segments(&self) -> Vec<&str> {
        self.0[SCHEME.len()..].split('/').collect()
    }
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Converts a text to a slug: letters and digits of any script in lower case, separated by `-`.
pub fn slugify(text: &str) -> String {
    let mut slug = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_alphanumeric() {
            slug.extend(c.to_lowercase().filter(|c| c.is_alphanumeric()));
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() >= 160 {
            break;
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_addresses_are_rejected() {
        for bad in [
            "blue://docs/../x",
            "blue://docs/%2e%2e/x",
            "blue://docs//x",
            "blue://docs/a b",
            "blue://docs/a\\b",
            "blue://docs/a\0",
            "blue:///etc",
            "file:///etc/passwd",
            "blue://",
            "docs/x",
        ] {
            assert!(Uri::parse(bad).is_err(), "{bad}");
        }
        for good in ["blue://docs/adrs/", "blue://docs/adrs/0001-a", "blue://context/voice"] {
            assert_eq!(Uri::parse(good).map(|uri| uri.to_string()).as_deref(), Ok(good));
        }
    }

    #[test]
    fn a_slug_is_always_a_valid_segment() {
        assert_eq!(slugify("Let's Encrypt TLS!"), "let-s-encrypt-tls");
        assert_eq!(slugify("Überblick der Straße"), "überblick-der-straße");
        assert_eq!(slugify("--"), "");
    }
}

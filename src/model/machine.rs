//! State that belongs to this machine and its user, not to the repository.

use std::fmt;
use std::path::{Path, PathBuf};

use super::Digest;

/// State of this machine's user outside the repository: the key that seals local state, the files
/// that links may point to, and whether the project is the user's own.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The key. Without one nothing in `.blue/local` is trusted, and no cache is written.
    pub key: Option<Key>,
    /// Files outside the project that its links may point to, because the user allowed them.
    pub external: Vec<PathBuf>,
    /// True if the project is the user's own folder, whose knowledge is delivered in every project.
    pub is_global: bool,
}

impl Machine {
    /// Returns true if the user allowed links of this project to point to a path. The path must be
    /// resolved: none of its components may be a link.
    pub fn allows(&self, resolved: &Path) -> bool {
        self.external.iter().any(|file| file == resolved)
    }
}

/// A random secret that only this user on this machine can read.
#[derive(Clone)]
pub struct Key([u8; Key::BYTES]);

impl Key {
    /// Length of a key.
    pub const BYTES: usize = 32;

    /// Creates a key from its bytes.
    pub fn new(bytes: [u8; Key::BYTES]) -> Key {
        Key(bytes)
    }

    /// Returns a digest that only the holder of the key can compute. `purpose` prevents the digest
    /// of one kind of file from being valid for another.
    pub fn digest(&self, purpose: &str, bytes: &[u8]) -> Digest {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(&(purpose.len() as u64).to_le_bytes()).update(purpose.as_bytes());
        Digest::from_bytes(*hasher.update(bytes).finalize().as_bytes())
    }

    /// Prepends a line with the keyed digest to a text.
    pub fn seal(&self, purpose: &str, body: &str) -> String {
        format!("{}\n{body}", self.digest(purpose, body.as_bytes()))
    }

    /// Returns the text below the keyed digest, or `None` if the digest is not valid for this key.
    pub fn unseal<'a>(&self, purpose: &str, sealed: &'a [u8]) -> Option<&'a str> {
        let (seal, body) = std::str::from_utf8(sealed).ok()?.split_once('\n')?;
        (self.digest(purpose, body.as_bytes()).to_string() == seal).then_some(body)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_key_that_sealed_a_text_opens_it() {
        let (key, other) = (Key::new([1; 32]), Key::new([2; 32]));
        let sealed = key.seal("usage", "{}\n");
        assert_eq!(key.unseal("usage", sealed.as_bytes()), Some("{}\n"));
        assert_eq!(key.unseal("installed", sealed.as_bytes()), None);
        assert_eq!(other.unseal("usage", sealed.as_bytes()), None);
        assert_eq!(key.unseal("usage", sealed.replace('{', "[").as_bytes()), None);
        assert_eq!(key.unseal("usage", b""), None);
        assert!(!format!("{key:?}").contains('1'));
    }

    #[test]
    fn consent_is_for_whole_paths() {
        let machine = Machine {
            key: None,
            external: vec![PathBuf::from("/home/ada/notes")],
            ..Machine::default()
        };
        assert!(machine.allows(Path::new("/home/ada/notes")));
        assert!(!machine.allows(Path::new("/home/ada/notes/a.md")));
        assert!(!machine.allows(Path::new("/home/ada/notes-of-others")));
    }
}

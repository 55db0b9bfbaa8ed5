//! The cache of parsed documents, `.blue/local/facts`: entries by content hash.

use std::ops::Range;

use super::cache::Seal;
use crate::model::plan::Limits;
use crate::model::{Digest, Key, Parsed};

/// Raised by hand whenever [`Parsed`] changes, or parsing gives other facts for the same bytes.
const FORMAT: u32 = 25;

/// Bytes before each entry's value: its key and the length of the value.
const ENTRY_HEADER: usize = 32 + 4;

/// Parsed documents by content hash. Entries are decoded when they are asked for.
#[derive(Default)]
pub struct FactsCache {
    bytes: Vec<u8>,
    /// Each key with its whole entry, sorted.
    entries: Vec<(Digest, Range<usize>)>,
}

impl FactsCache {
    /// Opens the bytes of a cache file. A file that does not verify has no entries.
    pub fn open(bytes: Vec<u8>, seal: &Seal) -> FactsCache {
        let Some(payload) = seal.payload(&bytes) else { return FactsCache::default() };
        let mut at = bytes.len() - payload.len();
        let mut entries = Vec::new();
        while let Some(header) = bytes.get(at..at + ENTRY_HEADER) {
            let (key, len) = header.split_at(32);
            let key = Digest::from_bytes(key.try_into().expect("32 bytes"));
            let len = u32::from_le_bytes(len.try_into().expect("4 bytes"));
            let end = at + ENTRY_HEADER + len as usize;
            if end > bytes.len() {
                break;
            }
            entries.push((key, at..end));
            at = end;
        }
        entries.sort_unstable_by_key(|(key, _)| *key);
        FactsCache { bytes, entries }
    }

    /// Returns true if there are no entries.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns all keys with their encoded entries.
    pub fn entries(&self) -> impl Iterator<Item = (&Digest, &[u8])> {
        self.entries.iter().map(|(key, range)| (key, &self.bytes[range.clone()]))
    }

    /// Decodes the entry of a key.
    pub fn get(&self, key: &Digest) -> Option<Parsed> {
        let at = self.entries.binary_search_by_key(key, |(key, _)| *key).ok()?;
        postcard::from_bytes(&self.bytes[self.entries[at].1.clone()][ENTRY_HEADER..]).ok()
    }
}

/// Returns the seal of the cache. Limits decide how much of a document is parsed, so facts that were
/// parsed with other limits do not verify. Facts of another version of blue do not verify either.
pub fn seal(key: &Key, limits: &Limits) -> Seal {
    let limits = limits.parse_limits().map(|limit| limit.to_string()).join(" ");
    let context = format!("{} {limits}", env!("CARGO_PKG_VERSION"));
    Seal::new("facts", FORMAT, key, context.as_bytes())
}

/// Encodes an entry.
pub fn encode(key: &Digest, parsed: &Parsed) -> Vec<u8> {
    let mut entry = vec![0; ENTRY_HEADER];
    entry[..32].copy_from_slice(key.as_bytes());
    let mut entry = postcard::to_extend(parsed, entry).expect("parsed facts can be serialized");
    let len = (entry.len() - ENTRY_HEADER) as u32;
    entry[32..ENTRY_HEADER].copy_from_slice(&len.to_le_bytes());
    entry
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Facts, Label, NamedPath, Naming, Number, Reference, Relation, Target, Terms,
        TitleCandidates,
    };

    fn parsed() -> Parsed {
        let label = Label { series: "rfc".into(), number: Number::new("16").expect("a number") };
        let facts = Facts {
            titles: TitleCandidates { stated: Some("T".into()), ..TitleCandidates::default() },
            label: Some(label),
            references: vec![Reference {
                target: Target::Name(None, "x".into()),
                relation: Relation::Mention,
                label: None,
                line: 3,
                column: 4,
                in_sidecar: false,
                count: 2,
            }],
            paths: vec![NamedPath { path: "src/x".into(), naming: Naming::Link, line: 5 }],
            ..Facts::default()
        };
        let mut terms = Terms { bigrams: vec![1, u32::MAX], ..Terms::default() };
        terms.push("cache", 7, 3);
        terms.citing_lines.push(3, &[7, 8]);
        Parsed { facts, terms, ..Parsed::default() }
    }

    #[test]
    fn entries_are_found_by_key_and_damage_is_absence() {
        let seal = seal(&Key::new([7; 32]), &Limits::default());
        let keys = [Digest::of(b"one"), Digest::of(b"two")];
        let entries = [encode(&keys[0], &parsed()), encode(&keys[1], &Parsed::default())];
        let file = [seal.header(&entries), entries.concat()].concat();
        let cache = FactsCache::open(file.clone(), &seal);
        assert_eq!(cache.get(&keys[0]), Some(parsed()));
        assert_eq!(cache.get(&keys[1]), Some(Parsed::default()));
        let stored: Vec<&[u8]> = cache.entries().map(|(_, entry)| entry).collect();
        assert!(stored.len() == 2 && stored.contains(&entries[1].as_slice()));
        assert_eq!(cache.get(&Digest::of(b"three")), None);
        for i in 0..file.len() {
            let mut damaged = file.clone();
            damaged[i] ^= 0x40;
            assert!(FactsCache::open(damaged, &seal).is_empty(), "byte {i} is not checked");
        }
    }
}

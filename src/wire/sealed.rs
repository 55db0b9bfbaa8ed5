//! Cache files of one piece: a format line, a checksum, what they hold.

use super::cache::magic;
use crate::model::{Digest, Hasher};

/// The bytes of a cache file of some kind, as this engine writes it, in parts.
pub(super) fn seal(kind: &str, engine: &Digest, payload: Vec<u8>) -> [Vec<u8>; 2] {
    let head = [&magic(kind), check(kind, engine, &payload).as_bytes().as_slice()].concat();
    [head, payload]
}

/// What a cache file holds; what does not verify, or was written by another engine, is absent.
pub(super) fn unseal<'a>(kind: &str, engine: &Digest, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let rest = bytes.strip_prefix(magic(kind).as_slice())?;
    let (known, payload) = rest.split_at_checked(32)?;
    (check(kind, engine, payload).as_bytes() == known).then_some(payload)
}

fn check(kind: &str, engine: &Digest, payload: &[u8]) -> Digest {
    Hasher::new().field(kind.as_bytes()).field(engine.as_bytes()).field(payload).digest()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_another_engine_and_another_kind_are_absence() {
        let engine = Digest::of(b"engine");
        let file = seal("record", &engine, b"payload".to_vec()).concat();
        assert_eq!(unseal("record", &engine, &file), Some(b"payload".as_slice()));
        assert_eq!(unseal("ranking", &engine, &file), None);
        assert_eq!(unseal("record", &Digest::of(b"other"), &file), None);
        for i in 0..file.len() {
            let mut damaged = file.clone();
            damaged[i] ^= 0x40;
            assert_eq!(unseal("record", &engine, &damaged), None, "byte {i}");
        }
    }
}

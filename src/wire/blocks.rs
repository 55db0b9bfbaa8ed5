//! Entries of the facts file, in blocks.
//!
//! Every block carries a checksum, so that one of them can be read and trusted without the others.

use std::ops::Range;

use crate::model::{Digest, Key};

/// Bytes before each entry's payload: the digest it is kept under, the payload's length.
const ENTRY_HEAD: usize = 32 + 4;

/// Bytes before the entries of a block: the first half of a checksum over them, their length.
pub const BLOCK_HEAD: usize = 16 + 8;

/// Entries share a block until it is this large: one checksum for many is quick to verify, and a few
/// documents' are found without reading those of all.
const BLOCK_BYTES: usize = 1 << 16;

/// Where an entry lies.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Place {
    /// What it is kept under.
    pub(super) key: Digest,
    /// The whole entry.
    pub(super) entry: Range<usize>,
    /// Where its block begins.
    pub(super) block: usize,
}

/// An entry with this payload, which is written behind what is there already.
pub(super) fn entry(key: &Digest, write: impl FnOnce(Vec<u8>) -> Vec<u8>) -> Vec<u8> {
    let mut bytes = vec![0; ENTRY_HEAD];
    bytes[..32].copy_from_slice(key.as_bytes());
    let mut bytes = write(bytes);
    let length = (bytes.len() - ENTRY_HEAD) as u32;
    bytes[32..ENTRY_HEAD].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// What an entry holds.
pub(super) fn payload(entry: &[u8]) -> &[u8] {
    &entry[ENTRY_HEAD..]
}

/// The blocks from some place in a file on, by their starts, and where the last whole one ends.
pub(super) fn blocks(bytes: &[u8], start: usize) -> (Vec<usize>, usize) {
    let (mut blocks, mut at) = (Vec::new(), start);
    while let Some(body) = body(bytes, at) {
        blocks.push(at);
        at = body.end;
    }
    (blocks, at)
}

/// Where the entries of a block lie that begins here.
fn body(bytes: &[u8], block: usize) -> Option<Range<usize>> {
    let length = body_len(bytes.get(block..block.checked_add(BLOCK_HEAD)?)?)?;
    let start = block + BLOCK_HEAD;
    let end = start.checked_add(length).filter(|end| *end <= bytes.len())?;
    Some(start..end)
}

/// How long the entries of a block are, by its head.
pub fn body_len(head: &[u8]) -> Option<usize> {
    let length = u64::from_le_bytes(head.get(16..BLOCK_HEAD)?.try_into().ok()?);
    usize::try_from(length).ok()
}

/// The entries of a block, if it is as this machine wrote it.
pub(super) fn entries(bytes: &[u8], block: usize, key: &Key) -> Option<Vec<Place>> {
    let body = body(bytes, block)?;
    let whole = check(&bytes[body.clone()], key)[..] == bytes[block..][..BLOCK_HEAD - 8];
    if !whole {
        return None;
    }
    let (mut entries, mut at) = (Vec::new(), body.start);
    while let Some(head) = bytes[..body.end].get(at..at + ENTRY_HEAD) {
        let key = Digest::from_bytes(head[..32].try_into().expect("thirty-two bytes"));
        let length = u32::from_le_bytes(head[32..].try_into().expect("four bytes")) as usize;
        let end = at + ENTRY_HEAD + length;
        if end > body.end {
            break;
        }
        entries.push(Place { key, entry: at..end, block });
        at = end;
    }
    Some(entries)
}

/// The first half of a keyed digest: facts that came with a clone do not verify.
fn check(body: &[u8], key: &Key) -> [u8; 16] {
    key.digest("facts", body).as_bytes()[..16].try_into().expect("sixteen bytes")
}

/// Entries in blocks, ready to be written.
pub fn packed<'a>(
    entries: impl Iterator<Item = &'a [u8]>,
    key: &Key,
) -> impl Iterator<Item = Vec<u8>> {
    let mut entries = entries.peekable();
    std::iter::from_fn(move || {
        entries.peek()?;
        let mut block = Vec::with_capacity(BLOCK_BYTES * 2);
        block.resize(BLOCK_HEAD, 0);
        while block.len() < BLOCK_BYTES
            && let Some(entry) = entries.next()
        {
            block.extend_from_slice(entry);
        }
        let (head, body) = block.split_at_mut(BLOCK_HEAD);
        head[..16].copy_from_slice(&check(body, key));
        head[16..].copy_from_slice(&(body.len() as u64).to_le_bytes());
        Some(block)
    })
}

/// Where each entry's block begins once [`packed`] is written from some place in a file on, and where
/// the last of them ends.
pub fn places<'a>(
    start: u64,
    entries: impl Iterator<Item = &'a [u8]>,
) -> (Vec<(Digest, u64)>, u64) {
    let (mut block, mut len) = (start, 0);
    let mut place = |entry: &[u8]| {
        if len >= BLOCK_BYTES {
            (block, len) = (block + len as u64, 0);
        }
        len = len.max(BLOCK_HEAD) + entry.len();
        (Digest::from_bytes(entry[..32].try_into().expect("thirty-two bytes")), block)
    };
    let places = entries.map(&mut place).collect();
    (places, block + len as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_is_in_the_block_that_is_said_and_damage_is_absence() {
        let entries: Vec<Vec<u8>> = (0..40u8)
            .map(|n| {
                let key = Digest::of(&[n]);
                entry(&key, |mut bytes| {
                    bytes.extend(std::iter::repeat_n(n, usize::from(n) * 900));
                    bytes
                })
            })
            .collect();
        let slices = || entries.iter().map(Vec::as_slice);
        let mut file = b"head".to_vec();
        let seal = Key::new([7; 32]);
        packed(slices(), &seal).for_each(|block| file.extend(block));
        let (blocks, end) = blocks(&file, 4);
        assert!(blocks.len() > 5 && end == file.len(), "{} blocks", blocks.len());
        let mut found = Vec::new();
        let (places, told) = places(4, slices());
        assert_eq!(told, file.len() as u64);
        for (key, block) in places {
            let all = super::entries(&file, block as usize, &seal).expect("a whole block");
            let place = all.iter().find(|place| place.key == key).expect("the entry");
            found.push(file[place.entry.clone()].to_vec());
        }
        assert_eq!(found, entries);
        file[blocks[2] + BLOCK_HEAD + 50] ^= 1;
        assert_eq!(super::entries(&file, blocks[2], &seal), None);
        assert!(super::entries(&file, blocks[3], &seal).is_some());
        assert_eq!(super::entries(&file, blocks[3], &Key::new([8; 32])), None);
    }
}

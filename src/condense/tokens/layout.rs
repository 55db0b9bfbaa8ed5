//! The layout of the embedded vocabulary, shared by the build script and the counter.

/// Slots of the table: a power of two, a quarter of them free.
pub(super) const N_SLOTS: usize = 1 << 18;

/// Bits of a slot that are a token's id; the rest is a fingerprint of its hash.
pub(super) const ID_BITS: u32 = 18;

/// An empty slot.
pub(super) const EMPTY: u32 = u32::MAX;

/// Hashes the bytes of a token.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = (hash.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
        hash ^= hash >> 32;
    }
    hash
}

/// Returns the slot at which the search for a hash starts.
pub(super) fn first_slot(hash: u64) -> usize {
    hash as usize & (N_SLOTS - 1)
}

/// Returns the fingerprint that a slot stores above the token's id.
pub(super) fn fingerprint(hash: u64) -> u32 {
    (hash >> ID_BITS) as u32 >> ID_BITS
}

/// The class of a character in the rule that splits a text into pieces.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Class {
    /// Punctuation, symbols, controls.
    Other = 0,
    /// An upper-case or title-case letter.
    Upper = 1,
    /// A lower-case letter.
    Lower = 2,
    /// A letter without case.
    Caseless = 3,
    /// A mark on the letter before it.
    Mark = 4,
    /// A number.
    Number = 5,
    /// White space other than line ends.
    Space = 6,
    /// A line feed or a carriage return.
    Newline = 7,
}

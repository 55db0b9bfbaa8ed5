//! How the vocabulary lies in the binary. The build script writes it so; the counter reads it so.

/// Slots of the table: a power of two, a quarter of them free.
pub(super) const N_SLOTS: usize = 1 << 18;

/// Bits of a slot that name a token; the rest is a fingerprint of its hash.
pub(super) const ID_BITS: u32 = 18;

/// A slot that holds nothing.
pub(super) const EMPTY: u32 = u32::MAX;

/// The hash of a token's bytes.
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

/// Where the search for a hash begins.
pub(super) fn first_slot(hash: u64) -> usize {
    hash as usize & (N_SLOTS - 1)
}

/// The part of a slot above the token's name.
pub(super) fn fingerprint(hash: u64) -> u32 {
    (hash >> ID_BITS) as u32 >> ID_BITS
}

/// What a character is to the rule that cuts a text into pieces.
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
    /// White space, but for line ends.
    Space = 6,
    /// A line feed or a carriage return.
    Newline = 7,
}

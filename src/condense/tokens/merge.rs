//! Merges the byte pairs of a piece that is not a token itself.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocabulary;

/// A part of the piece: its end, and the start of the part before it.
#[derive(Clone, Copy)]
struct PiecePart {
    end: usize,
    before: usize,
    /// True if it was merged into the part before it.
    gone: bool,
}

/// Returns the number of tokens of a piece. Merges the pair of lowest rank until no pair is a
/// token. The heap makes this close to linear for words of any length.
pub(super) fn count(piece: &[u8]) -> u64 {
    let mut parts: Vec<PiecePart> = (0..piece.len())
        .map(|at| PiecePart { end: at + 1, before: at.wrapping_sub(1), gone: false })
        .collect();
    let mut heap = BinaryHeap::new();
    let pair = |parts: &[PiecePart], at: usize| {
        let next = parts[at].end;
        let end = parts.get(next)?.end;
        Some(Reverse((vocabulary::rank(&piece[at..end])?, at, end)))
    };
    heap.extend((0..piece.len()).filter_map(|at| pair(&parts, at)));
    let mut n_parts = piece.len() as u64;
    while let Some(Reverse((_, at, end))) = heap.pop() {
        let next = parts[at].end;
        // Skips a pair if one of its parts has been merged since it was pushed.
        if parts[at].gone || parts.get(next).is_none_or(|part| part.end != end) {
            continue;
        }
        parts[at].end = end;
        parts[next].gone = true;
        n_parts -= 1;
        if let Some(after) = parts.get_mut(end) {
            after.before = at;
        }
        heap.extend(pair(&parts, at));
        if let Some(before) = Some(parts[at].before).filter(|before| *before < at) {
            heap.extend(pair(&parts, before));
        }
    }
    n_parts
}

//! Lists of numbers as they lie in memory, which is quicker to read than numbers of varying length.

use serde::{Deserialize, Serialize, Serializer};
use std::borrow::Cow;

use crate::model::Rows;

/// Numbers as bytes.
pub(super) fn packed(numbers: &[u32]) -> Vec<u8> {
    let mut bytes = vec![0; numbers.len() * 4];
    let (parts, _) = bytes.as_chunks_mut::<4>();
    parts.iter_mut().zip(numbers).for_each(|(part, number)| *part = number.to_le_bytes());
    bytes
}

/// The numbers again.
pub(super) fn unpacked(bytes: &[u8]) -> Vec<u32> {
    let (numbers, _) = bytes.as_chunks::<4>();
    numbers.iter().map(|number| u32::from_le_bytes(*number)).collect()
}

/// Smaller numbers as bytes.
pub(super) fn packed_small(numbers: &[u16]) -> Vec<u8> {
    let mut bytes = vec![0; numbers.len() * 2];
    let (parts, _) = bytes.as_chunks_mut::<2>();
    parts.iter_mut().zip(numbers).for_each(|(part, number)| *part = number.to_le_bytes());
    bytes
}

/// The smaller numbers again.
pub(super) fn unpacked_small(bytes: &[u8]) -> Vec<u16> {
    let (numbers, _) = bytes.as_chunks::<2>();
    numbers.iter().map(|number| u16::from_le_bytes(*number)).collect()
}

/// Bytes all at once; of themselves they would be written one by one.
pub(super) fn whole<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

/// Bytes that are read without copying.
#[derive(Deserialize, Serialize)]
pub(super) struct Bytes<'a>(#[serde(borrow, serialize_with = "whole")] pub(super) Cow<'a, [u8]>);

impl Bytes<'_> {
    pub(super) fn of(numbers: &[u32]) -> Bytes<'static> {
        Bytes(packed(numbers).into())
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        unpacked(&self.0)
    }
}

/// Rows of numbers: how long each is, and all of them.
#[derive(Deserialize, Serialize)]
pub(super) struct RowsMirror<'a>(#[serde(borrow)] Bytes<'a>, #[serde(borrow)] Bytes<'a>);

impl RowsMirror<'_> {
    pub(super) fn of(rows: &Rows<u32>) -> RowsMirror<'static> {
        RowsMirror(lens(rows), Bytes::of(rows.all()))
    }

    pub(super) fn of_small(rows: &Rows<u16>) -> RowsMirror<'static> {
        RowsMirror(lens(rows), Bytes(packed_small(rows.all()).into()))
    }

    pub(super) fn of_pairs(rows: &Rows<(u32, u32)>) -> RowsMirror<'static> {
        let flat: Vec<u32> = rows.all().iter().flat_map(|(one, other)| [*one, *other]).collect();
        RowsMirror(lens(rows), Bytes::of(&flat))
    }

    pub(super) fn rows(&self) -> Option<Rows<u32>> {
        Rows::from_parts(&self.0.numbers(), self.1.numbers())
    }

    pub(super) fn small_rows(&self) -> Option<Rows<u16>> {
        Rows::from_parts(&self.0.numbers(), unpacked_small(&self.1.0))
    }

    pub(super) fn pair_rows(&self) -> Option<Rows<(u32, u32)>> {
        Rows::from_parts(&self.0.numbers(), pairs(&self.1.numbers()))
    }
}

fn lens<T: Clone>(rows: &Rows<T>) -> Bytes<'static> {
    Bytes::of(&rows.lens().collect::<Vec<u32>>())
}

/// Numbers two by two.
pub(super) fn pairs(numbers: &[u32]) -> Vec<(u32, u32)> {
    let (pairs, _) = numbers.as_chunks::<2>();
    pairs.iter().map(|[one, other]| (*one, *other)).collect()
}

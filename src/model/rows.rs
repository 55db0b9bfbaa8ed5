//! A list of items per document, stored in one allocation.
//!
//! Allocating and freeing many small lists takes longer than one large one.

/// A list of items for each row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rows<T> {
    /// Start of each row in `all`, and the end of the last one.
    starts: Vec<u32>,
    all: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { starts: vec![0], all: Vec::new() }
    }
}

impl<T: Clone> Rows<T> {
    /// Returns an empty list with capacity for `n` items in `n_rows` rows.
    pub fn with_capacity(n_rows: usize, n: usize) -> Rows<T> {
        let mut starts = Vec::with_capacity(n_rows + 1);
        starts.push(0);
        Rows { starts, all: Vec::with_capacity(n) }
    }

    /// Groups items by row. Items of one row stay in order.
    pub fn grouped(n_rows: usize, items: &[T], row: impl Fn(&T) -> usize) -> Rows<T> {
        let mut starts = vec![0u32; n_rows + 1];
        items.iter().for_each(|item| starts[row(item) + 1] += 1);
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        let (mut next, mut all) = (starts.clone(), items.to_vec());
        for item in items {
            let at = &mut next[row(item)];
            all[*at as usize] = item.clone();
            *at += 1;
        }
        Rows { starts, all }
    }

    /// Returns all items, row by row.
    pub fn into_all(self) -> Vec<T> {
        self.all
    }

    /// Builds rows from pairs that are sorted by row.
    pub fn of_pairs(n_rows: usize, pairs: impl Iterator<Item = (usize, T)>) -> Rows<T> {
        let (mut starts, mut all) = (vec![0u32; n_rows + 1], Vec::new());
        for (row, item) in pairs {
            starts[row + 1] += 1;
            all.push(item);
        }
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        Rows { starts, all }
    }

    /// Appends a row.
    pub fn push(&mut self, row: &[T]) {
        self.all.extend_from_slice(row);
        self.starts.push(self.all.len() as u32);
    }

    /// Returns one row.
    #[inline]
    pub fn of(&self, row: usize) -> &[T] {
        &self.all[self.start(row)..self.start(row + 1)]
    }

    /// Returns the start of a row among all items.
    #[inline]
    pub fn start(&self, row: usize) -> usize {
        self.starts[row] as usize
    }

    /// Returns all items, row by row.
    pub fn all(&self) -> &[T] {
        &self.all
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_pushed_grouped_and_read() {
        let mut rows = Rows::default();
        rows.push(&[1, 2]);
        rows.push(&[]);
        rows.push(&[3]);
        let all: Vec<&[i32]> = (0..rows.len()).map(|row| rows.of(row)).collect();
        assert_eq!(all, [&[1, 2][..], &[], &[3]]);
        assert_eq!(Rows::of_pairs(3, [(0, 'a'), (2, 'b')].into_iter()).of(2), ['b']);
        let grouped = Rows::grouped(3, &[21, 1, 22, 2], |item| item / 10);
        assert_eq!([grouped.of(0), grouped.of(1), grouped.of(2)], [&[1, 2][..], &[], &[21, 22]]);
    }
}

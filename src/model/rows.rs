//! Lists of something, one for each document, in one piece.
//!
//! Many small lists take longer to read and to let go of than a long one.

/// A list for each row.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Rows<T> {
    /// Where each row begins, and where the last one ends.
    starts: Vec<u32>,
    all: Vec<T>,
}

impl<T> Default for Rows<T> {
    fn default() -> Rows<T> {
        Rows { starts: vec![0], all: Vec::new() }
    }
}

impl<T: Clone> Rows<T> {
    /// No rows yet, and room for some.
    pub fn with_capacity(n_rows: usize, n: usize) -> Rows<T> {
        let mut starts = Vec::with_capacity(n_rows + 1);
        starts.push(0);
        Rows { starts, all: Vec::with_capacity(n) }
    }

    /// Rows of so many items each; `None` if that is not how many there are.
    pub fn from_parts(lens: &[u32], all: Vec<T>) -> Option<Rows<T>> {
        let mut starts = Vec::with_capacity(lens.len() + 1);
        let mut end = 0u32;
        starts.push(0);
        for len in lens {
            end = end.checked_add(*len)?;
            starts.push(end);
        }
        (end as usize == all.len()).then_some(Rows { starts, all })
    }

    /// Of items with their rows, in any order; those of one row stay in the order they came.
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

    /// Every item, row after row, and nothing of the rows.
    pub fn into_all(self) -> Vec<T> {
        self.all
    }

    /// Of pairs sorted by their row.
    pub fn of_pairs(n_rows: usize, pairs: impl Iterator<Item = (usize, T)>) -> Rows<T> {
        let (mut starts, mut all) = (vec![0u32; n_rows + 1], Vec::new());
        for (row, item) in pairs {
            starts[row + 1] += 1;
            all.push(item);
        }
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        Rows { starts, all }
    }

    /// Adds a row.
    pub fn push(&mut self, row: &[T]) {
        self.all.extend_from_slice(row);
        self.starts.push(self.all.len() as u32);
    }

    /// Adds the rows of another list.
    pub fn extend(&mut self, other: &Rows<T>) {
        let end = self.all.len() as u32;
        self.all.extend_from_slice(&other.all);
        self.starts.extend(other.starts[1..].iter().map(|start| end + start));
    }

    /// One row.
    #[inline]
    pub fn of(&self, row: usize) -> &[T] {
        &self.all[self.start(row)..self.start(row + 1)]
    }

    /// Where a row begins among all items.
    #[inline]
    pub fn start(&self, row: usize) -> usize {
        self.starts[row] as usize
    }

    /// Every item, row after row.
    pub fn all(&self) -> &[T] {
        &self.all
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many items each row has.
    pub fn lens(&self) -> impl Iterator<Item = u32> {
        self.starts.windows(2).map(|ends| ends[1] - ends[0])
    }

    /// Puts another row in the place of one.
    pub fn replace(&mut self, row: usize, items: &[T]) {
        let (start, end) = (self.start(row), self.start(row + 1));
        self.all.splice(start..end, items.iter().cloned());
        let moved = (start + items.len()) as i64 - end as i64;
        self.starts[row + 1..]
            .iter_mut()
            .for_each(|start| *start = (i64::from(*start) + moved) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_replaced_and_the_others_stay() {
        let mut rows = Rows::default();
        rows.push(&[1, 2]);
        rows.push(&[]);
        rows.push(&[3]);
        rows.replace(0, &[7]);
        rows.replace(1, &[8, 9]);
        rows.replace(2, &[]);
        let all: Vec<&[i32]> = (0..rows.len()).map(|row| rows.of(row)).collect();
        assert_eq!(all, [&[7][..], &[8, 9], &[]]);
        let lens: Vec<u32> = rows.lens().collect();
        assert_eq!(Rows::from_parts(&lens, rows.all().to_vec()), Some(rows));
        assert_eq!(Rows::from_parts(&[1], vec![1, 2]), None);
        assert_eq!(Rows::of_pairs(3, [(0, 'a'), (2, 'b')].into_iter()).of(2), ['b']);
        let grouped = Rows::grouped(3, &[21, 1, 22, 2], |item| item / 10);
        assert_eq!([grouped.of(0), grouped.of(1), grouped.of(2)], [&[1, 2][..], &[], &[21, 22]]);
    }
}

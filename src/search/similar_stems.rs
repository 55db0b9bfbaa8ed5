//! Finds the stems of an index that are most similar to one that it does not contain.

use std::cmp::Reverse;

use super::SearchIndex;

/// Fewest letters of a stem that is compared, and of a shared beginning.
const MIN_LETTERS: usize = 4;

/// Maximum number of wrong letters, and letters of a stem per wrong letter. A stem with one wrong
/// letter is found without a suggestion.
const MAX_WRONG: usize = 2;
const LETTERS_PER_WRONG: usize = 3;

impl SearchIndex {
    /// Returns the numbers of at most `n` stems that differ from a stem in two letters or share its
    /// beginning, the most similar first. Of equally similar ones, the most frequent is first.
    pub fn similar(&self, stem: &str, n: usize) -> Vec<usize> {
        let n_letters = stem.chars().count();
        if n_letters < MIN_LETTERS {
            return Vec::new();
        }
        let similar = (0..self.n_stems()).filter_map(|number| {
            let other = self.stem(number);
            let n_shared = stem.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
            let is_start = n_shared >= MIN_LETTERS && n_shared * 5 >= n_letters * 3;
            let may_be_misspelled = n_letters >= LETTERS_PER_WRONG * MAX_WRONG
                && stem.len().abs_diff(other.len()) <= MAX_WRONG;
            if !is_start && !may_be_misspelled {
                return None;
            }
            let n_wrong = strsim::osa_distance(stem, other);
            let is_similar = is_start || n_wrong <= MAX_WRONG;
            is_similar.then(|| (n_wrong, Reverse(self.n_entries(number)), number))
        });
        let mut similar: Vec<_> = similar.collect();
        similar.sort_unstable();
        similar.into_iter().take(n).map(|(_, _, number)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::index::tests::index;

    #[test]
    fn two_wrong_letters_and_a_shared_beginning_are_similar() {
        let index = index(&["Lantern policy", "Configuration", "Quorum", "Lantern"], &[]);
        let similar = |word: &str| -> Vec<&str> {
            index.similar(word, 3).into_iter().map(|number| index.stem(number)).collect()
        };
        assert_eq!(similar("lnatrn"), ["lantern"]);
        assert_eq!(similar("configurable").len(), 1);
        assert_eq!(similar("quota"), [] as [&str; 0]);
        assert_eq!(similar("lan"), [] as [&str; 0]);
        assert_eq!(index.similar("lantexx", 0), [] as [usize; 0]);
    }
}

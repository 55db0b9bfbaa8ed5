//! Counts tokens with a real byte-pair encoding (o200k).
//!
//! The vocabulary is embedded as a hash table that is searched in place, so the first count costs
//! no more than the next one. The tests below compare the counter with the library that the table
//! was made from.

use std::collections::BTreeMap;

mod layout;
mod merge;
mod split;
mod vocabulary;

/// Counts the tokens of a text.
pub fn count(text: &str) -> u64 {
    let mut rest = text;
    let mut n_tokens = 0;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(split::first_piece(rest));
        n_tokens += match vocabulary::rank(piece.as_bytes()) {
            Some(_) => 1,
            None => merge::count(piece.as_bytes()),
        };
        rest = after;
    }
    n_tokens
}

/// Counts texts that have most lines in common. Each distinct line is counted once.
#[derive(Default)]
pub(super) struct Counter {
    counts: BTreeMap<String, u64>,
}

impl Counter {
    /// Counts the tokens of a text.
    pub(super) fn count(&mut self, text: &str) -> u64 {
        let mut n_tokens = 0;
        let mut start = 0;
        for at in memchr::memchr_iter(b'\n', text.as_bytes()) {
            // A token can cross a line end only if white space or a slash follows it.
            let next = text.as_bytes().get(at + 1);
            if next.is_some_and(|b| b.is_ascii_graphic() && *b != b'/') {
                n_tokens += self.line(&text[start..=at]);
                start = at + 1;
            }
        }
        n_tokens + self.line(&text[start..])
    }

    fn line(&mut self, line: &str) -> u64 {
        if let Some(n_tokens) = self.counts.get(line) {
            return *n_tokens;
        }
        let n_tokens = count(line);
        self.counts.insert(line.to_string(), n_tokens);
        n_tokens
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rayon::prelude::*;

    use super::{Counter, count};

    fn expected(text: &str) -> u64 {
        tiktoken::get_encoding("o200k_base").unwrap().count(text) as u64
    }

    #[test]
    fn every_character_is_counted_as_the_library_counts_it() {
        // The planes without assigned characters are only sampled.
        let assigned = (0u32..0x3_4000).into_par_iter();
        let beyond = (0x3_4000..0x11_0000).into_par_iter().step_by(61);
        assigned.chain(beyond).filter_map(char::from_u32).for_each(|c| {
            let text = format!("{c} a{c}B {c}{c}C'{c} 1{c}\n{c}");
            assert_eq!(count(&text), expected(&text), "{text:?}");
        });
    }

    #[test]
    fn a_very_long_word_is_counted() {
        let text = "ab".repeat(50_000) + &"é".repeat(10_000);
        assert_eq!(count(&text), expected(&text));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn any_text_is_counted_as_the_library_counts_it(text in "\\PC{0,60}") {
            prop_assert_eq!(count(&text), expected(&text));
            prop_assert_eq!(Counter::default().count(&text), count(&text));
        }

        #[test]
        fn text_with_special_cases_is_counted_as_the_library_counts_it(
            text in "([ \t\r\n/'.a-eA-E0-9stremvlSTREMVLſǅʰªé\u{301}\u{a0}漢Ⅷ²_-]|'s|'LL|  |\r\n){0,40}",
        ) {
            prop_assert_eq!(count(&text), expected(&text));
            prop_assert_eq!(Counter::default().count(&text), count(&text));
        }
    }
}

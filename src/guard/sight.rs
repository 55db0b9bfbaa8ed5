//! A text as a reader sees it, with the way back to the text as it is.

use std::borrow::Cow;
use std::ops::Range;

/// A text without its hidden characters, so that nothing can be split by them.
pub(super) struct Sight<'a> {
    pub(super) text: Cow<'a, str>,
    /// Where something was left out, and how many bytes up to there.
    gaps: Vec<(usize, usize)>,
}

impl<'a> Sight<'a> {
    pub(super) fn new(text: &'a str, hidden: &[(usize, char)]) -> Sight<'a> {
        if hidden.is_empty() {
            return Sight { text: Cow::Borrowed(text), gaps: Vec::new() };
        }
        let mut seen = String::with_capacity(text.len());
        let mut gaps = Vec::with_capacity(hidden.len());
        let (mut from, mut n_out) = (0, 0);
        for (at, c) in hidden {
            seen.push_str(&text[from..*at]);
            from = at + c.len_utf8();
            n_out += c.len_utf8();
            gaps.push((seen.len(), n_out));
        }
        seen.push_str(&text[from..]);
        Sight { text: Cow::Owned(seen), gaps }
    }

    /// The place in the text as it is; what hides at its edges is not part of it.
    pub(super) fn original(&self, seen: &Range<usize>) -> Range<usize> {
        let start = self.gaps.partition_point(|(at, _)| *at <= seen.start);
        let end = self.gaps.partition_point(|(at, _)| *at < seen.end);
        let out = |n: usize| n.checked_sub(1).map_or(0, |i| self.gaps[i].1);
        seen.start + out(start)..seen.end + out(end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_found_again() {
        let text = "a\u{200B}bc\u{200B}\u{200B}d\u{200B}";
        let sight = Sight::new(text, &crate::model::hidden::hidden_in(text));
        assert_eq!(sight.text, "abcd");
        assert_eq!(&text[sight.original(&(1..4))], "bc\u{200B}\u{200B}d");
        assert_eq!(&text[sight.original(&(0..1))], "a");
    }
}

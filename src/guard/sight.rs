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
        let out = left_out(text, hidden);
        if out.is_empty() {
            return Sight { text: Cow::Borrowed(text), gaps: Vec::new() };
        }
        let mut seen = String::with_capacity(text.len());
        let mut gaps = Vec::with_capacity(out.len());
        let (mut from, mut n_out) = (0, 0);
        for Range { start, end } in out {
            seen.push_str(&text[from..start]);
            from = end;
            n_out += end - start;
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

/// What splits a word and is not seen in it: hidden characters, escape sequences whole, and what
/// stands for a byte that was none of a text.
fn left_out(text: &str, hidden: &[(usize, char)]) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = hidden
        .iter()
        .map(|(at, c)| {
            let end = at + c.len_utf8();
            let rest = if *c == '\u{1B}' { text[end..].strip_prefix('[') } else { None };
            let sequence = rest.and_then(|rest| rest.find(|c: char| c.is_ascii_alphabetic()));
            *at..sequence.filter(|n| *n < 16).map_or(end, |n| end + 1 + n + 1)
        })
        .collect();
    if memchr::memchr(0xBD, text.as_bytes()).is_some() {
        out.extend(text.match_indices('\u{FFFD}').map(|(at, c)| at..at + c.len()));
        out.sort_by_key(|range| range.start);
    }
    out.dedup_by(|next, before| next.start < before.end);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_found_again() {
        let text = "a\u{200B}bc\u{200B}\u{200B}d\u{200B}";
        let sight = Sight::new(text, &crate::model::hidden_chars::hidden_in(text));
        assert_eq!(sight.text, "abcd");
        assert_eq!(&text[sight.original(&(1..4))], "bc\u{200B}\u{200B}d");
        assert_eq!(&text[sight.original(&(0..1))], "a");
    }
}

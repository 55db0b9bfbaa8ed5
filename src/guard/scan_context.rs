//! The text that is scanned: the original without its hidden characters, with a map back to it.

use std::borrow::Cow;
use std::ops::Range;

/// A text without hidden characters, so that none of them can split a word.
pub(super) struct ScanContext<'a> {
    pub(super) text: Cow<'a, str>,
    /// Offsets in `text` where something was removed, each with the number of bytes removed so far.
    gaps: Vec<(usize, usize)>,
}

impl<'a> ScanContext<'a> {
    pub(super) fn new(text: &'a str, hidden: &[(usize, char)]) -> ScanContext<'a> {
        let removed = removed_ranges(text, hidden);
        if removed.is_empty() {
            return ScanContext { text: Cow::Borrowed(text), gaps: Vec::new() };
        }
        let mut visible = String::with_capacity(text.len());
        let mut gaps = Vec::with_capacity(removed.len());
        let (mut from, mut n_removed) = (0, 0);
        for Range { start, end } in removed {
            visible.push_str(&text[from..start]);
            from = end;
            n_removed += end - start;
            gaps.push((visible.len(), n_removed));
        }
        visible.push_str(&text[from..]);
        ScanContext { text: Cow::Owned(visible), gaps }
    }

    /// Maps a range of `text` to the original, without hidden characters at its edges.
    pub(super) fn original_range(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.gaps.partition_point(|(at, _)| *at <= range.start);
        let end = self.gaps.partition_point(|(at, _)| *at < range.end);
        let n_removed = |n: usize| n.checked_sub(1).map_or(0, |i| self.gaps[i].1);
        range.start + n_removed(start)..range.end + n_removed(end)
    }
}

/// Returns the ranges of hidden characters, of whole escape sequences, and of replacement
/// characters, which replace bytes that are not UTF-8.
fn removed_ranges(text: &str, hidden: &[(usize, char)]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = hidden
        .iter()
        .map(|(at, c)| {
            let end = at + c.len_utf8();
            let rest = if *c == '\u{1B}' { text[end..].strip_prefix('[') } else { None };
            let sequence = rest.and_then(|rest| rest.find(|c: char| c.is_ascii_alphabetic()));
            *at..sequence.filter(|n| *n < 16).map_or(end, |n| end + 1 + n + 1)
        })
        .collect();
    if memchr::memchr(0xBD, text.as_bytes()).is_some() {
        ranges.extend(text.match_indices('\u{FFFD}').map(|(at, c)| at..at + c.len()));
        ranges.sort_by_key(|range| range.start);
    }
    ranges.dedup_by(|next, previous| next.start < previous.end);
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_ranges_back_to_the_original_text() {
        let text = "a\u{200B}bc\u{200B}\u{200B}d\u{200B}";
        let context = ScanContext::new(text, &crate::model::hidden_chars::hidden_in(text));
        assert_eq!(context.text, "abcd");
        assert_eq!(&text[context.original_range(&(1..4))], "bc\u{200B}\u{200B}d");
        assert_eq!(&text[context.original_range(&(0..1))], "a");
    }
}

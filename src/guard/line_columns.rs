//! Line and column numbers of ascending offsets, counted in one pass over the text.

/// Columns up to this one are counted in characters, later ones in bytes.
const MAX_COUNTED: usize = 4_096;

/// Counts the lines of a text up to the last offset that was asked for.
pub(super) struct LineColumns<'a> {
    text: &'a str,
    line: u32,
    line_start: usize,
}

impl<'a> LineColumns<'a> {
    pub(super) fn new(text: &'a str) -> LineColumns<'a> {
        LineColumns { text, line: 1, line_start: 0 }
    }

    /// Returns the line and column of an offset, both from 1. Offsets must be in ascending order.
    pub(super) fn at(&mut self, offset: usize) -> (u32, u32) {
        let from = self.line_start;
        for newline in memchr::memchr_iter(b'\n', &self.text.as_bytes()[from..offset]) {
            self.line += 1;
            self.line_start = from + newline + 1;
        }
        let before = &self.text[self.line_start..offset];
        let column = if before.len() > MAX_COUNTED { before.len() } else { before.chars().count() };
        (self.line, column as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_in_characters() {
        let text = "aé\nb\n\nçd";
        let mut line_columns = LineColumns::new(text);
        assert_eq!(line_columns.at(0), (1, 1));
        assert_eq!(line_columns.at(3), (1, 3));
        assert_eq!(line_columns.at(4), (2, 1));
        assert_eq!(line_columns.at(text.len()), (4, 3));
    }
}

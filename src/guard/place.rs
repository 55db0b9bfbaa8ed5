//! Lines and columns of places that are asked for in order.

/// Columns up to here are counted in characters, beyond in bytes.
const MAX_COUNTED: usize = 4_096;

/// Remembers how far the lines of a text were counted.
pub(super) struct Places<'a> {
    text: &'a str,
    line: u32,
    /// Where the line begins.
    start: usize,
}

impl<'a> Places<'a> {
    pub(super) fn new(text: &'a str) -> Places<'a> {
        Places { text, line: 1, start: 0 }
    }

    /// Line and column of an offset, both from 1, not before the last one that was asked for.
    pub(super) fn place(&mut self, offset: usize) -> (u32, u32) {
        let between = &self.text.as_bytes()[self.start..offset];
        for end in memchr::memchr_iter(b'\n', between) {
            self.line += 1;
            // The offset is that of the text before the line began.
            self.start = offset - between.len() + end + 1;
        }
        let before = &self.text[self.start..offset];
        let column = if before.len() > MAX_COUNTED { before.len() } else { before.chars().count() };
        (self.line, column as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_characters_and_never_twice() {
        let text = "aé\nb\n\nçd";
        let mut places = Places::new(text);
        assert_eq!(places.place(0), (1, 1));
        assert_eq!(places.place(3), (1, 3));
        assert_eq!(places.place(4), (2, 1));
        assert_eq!(places.place(text.len()), (4, 3));
    }
}

//! Maps byte offsets to lines and columns.

/// Columns up to this offset are counted in characters, later ones in bytes. Counting characters
/// for every reference in a very long line would take quadratic time.
const MAX_COUNTED: usize = 4_096;

/// Offsets at which the lines of a text start.
pub(crate) struct LineIndex {
    starts: Vec<u32>,
}

impl LineIndex {
    /// Finds the start of every line.
    pub(crate) fn new(text: &str) -> LineIndex {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i as u32 + 1));
        LineIndex { starts }
    }

    /// Iterates over the lines of the text, without their line endings.
    pub(crate) fn lines<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> {
        (1..=self.starts.len() as u32).map(|line| self.text(text, line))
    }

    /// Returns the line of an offset, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        self.starts.partition_point(|start| *start as usize <= offset) as u32
    }

    /// Returns the line and column of an offset, both counted from 1. Columns count characters.
    pub(crate) fn line_and_column(&self, text: &str, offset: usize) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.start(line);
        if offset - start > MAX_COUNTED {
            return (line, (offset - start) as u32 + 1);
        }
        let column =
            text.get(start..offset).map_or(offset - start, |before| before.chars().count());
        (line, column as u32 + 1)
    }

    /// Returns the offset at which a line starts.
    pub(crate) fn start(&self, line: u32) -> usize {
        self.starts[line as usize - 1] as usize
    }

    /// Returns the text of a line without its line ending.
    pub(crate) fn text<'a>(&self, text: &'a str, line: u32) -> &'a str {
        let index = line as usize - 1;
        let start = self.starts.get(index).map_or(text.len(), |start| *start as usize);
        let end = self.starts.get(index + 1).map_or(text.len(), |next| *next as usize);
        text[start..end].trim_end_matches(['\n', '\r'])
    }
}

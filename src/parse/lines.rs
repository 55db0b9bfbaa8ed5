//! Offsets to lines and columns.

/// Columns up to here are counted in characters, beyond in bytes.
const MAX_COUNTED: usize = 4_096;

/// Where each line of a text begins.
pub(crate) struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    /// Finds every line of a text.
    pub(crate) fn new(text: &str) -> Lines {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', text.as_bytes()).map(|i| i as u32 + 1));
        Lines { starts }
    }

    /// Every line without its end.
    pub(crate) fn all<'a>(&self, text: &'a str) -> impl Iterator<Item = &'a str> {
        (1..=self.starts.len() as u32).map(|line| self.text(text, line))
    }

    /// The line of an offset, from 1.
    pub(crate) fn line(&self, offset: usize) -> u32 {
        self.starts.partition_point(|start| *start as usize <= offset) as u32
    }

    /// Line and column of an offset, both from 1; columns count characters.
    pub(crate) fn place(&self, text: &str, offset: usize) -> (u32, u32) {
        let line = self.line(offset);
        let start = self.start(line);
        // Far into a long line nobody counts characters; bytes are quicker.
        if offset - start > MAX_COUNTED {
            return (line, (offset - start) as u32 + 1);
        }
        let column =
            text.get(start..offset).map_or(offset - start, |before| before.chars().count());
        (line, column as u32 + 1)
    }

    /// Where a line begins.
    pub(crate) fn start(&self, line: u32) -> usize {
        self.starts[line as usize - 1] as usize
    }

    /// The text of a line without its end.
    pub(crate) fn text<'a>(&self, text: &'a str, line: u32) -> &'a str {
        let index = line as usize - 1;
        let start = self.starts.get(index).map_or(text.len(), |start| *start as usize);
        let end = self.starts.get(index + 1).map_or(text.len(), |next| *next as usize);
        text[start..end].trim_end_matches(['\n', '\r'])
    }
}

//! The text of a document in small parts, from which a passage is chosen.

/// A document in parts.
#[derive(Clone, Debug, Default)]
pub struct TextBlocks {
    /// All headings, in order.
    pub sections: Vec<BlockSection>,
    /// Paragraphs, list items, table rows and code blocks, in order.
    pub blocks: Vec<TextBlock>,
}

/// A heading.
#[derive(Clone, Debug)]
pub struct BlockSection {
    /// Number of `#`: 1 for the top level.
    pub level: u8,
    /// Its text.
    pub title: String,
    /// Its text in lower case and, if it is a usual name of a section, in English.
    pub name: String,
}

/// A paragraph, list item, table row or code block.
#[derive(Clone, Debug)]
pub struct TextBlock {
    /// Its first line, counted from 1.
    pub line: u32,
    /// The row of its section in [`TextBlocks::sections`].
    pub section: Option<usize>,
    /// Its text on one line, without markup.
    pub text: String,
    /// True if it is a list item.
    pub is_item: bool,
    /// True if it is a code block.
    pub is_code: bool,
}

//! A block of blue's between two marked lines, in a text file that belongs to people.
//!
//! All other bytes of the file stay as they are, and removing the block restores the original text.

use std::ops::Range;

use crate::model::Digest;

/// Start and end of a comment on one line.
#[derive(Clone, Copy, Debug)]
pub struct CommentMarks {
    open: &'static str,
    close: &'static str,
}

/// Comments of `.gitattributes` and TOML.
pub const HASH: CommentMarks = CommentMarks { open: "# ", close: "" };
/// Comments of Markdown.
pub const HTML: CommentMarks = CommentMarks { open: "<!-- ", close: " -->" };

/// Note in the first line where the text above had no line end, so that removal is exact.
const UNENDED: &str = " (the line above had no line end)";
/// Note in the first line where the file existed without a byte, so that it is not removed.
const EMPTY: &str = " (the file was empty)";

/// A block that was found in a text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct MarkedBlock {
    /// Its bytes, with the line end after it.
    range: Range<usize>,
    /// Words of the first line, between `begin` and the end of the comment.
    label: String,
    /// The lines between the marked ones, with LF.
    pub content: String,
}

impl MarkedBlock {
    /// Returns true if the content does not have the digest in the first line.
    pub fn is_edited(&self) -> bool {
        let stated = self.label.split([' ', ';']).find(|word| !word.is_empty());
        stated != Some(Digest::of(self.content.as_bytes()).short().as_str())
    }

    /// Returns true if the first line of the block has a note.
    pub fn has_note(&self, note: &str) -> bool {
        self.label.contains(note)
    }

    fn note(&self) -> &'static str {
        let notes = [UNENDED, EMPTY];
        notes.into_iter().find(|note| self.label.contains(*note)).unwrap_or_default()
    }
}

/// Returns the label of a block whose content can be checked: its digest and a word to people.
pub fn digest_label(content: &str) -> String {
    let digest = Digest::of(content.as_bytes()).short();
    format!(" {digest}; `blue knowledge build` writes this block")
}

/// Returns the short digest of a content, which the label of its block begins with.
pub fn digest_of(content: &str) -> String {
    Digest::of(content.as_bytes()).short()
}

/// Finds the first block. git may have checked the file out with CR LF. A block without a last line
/// does not count, because its end is unknown.
pub fn find(text: &str, marks: CommentMarks) -> Option<MarkedBlock> {
    let begin = format!("{}blue: begin", marks.open);
    let end = format!("{}blue: end{}", marks.open, marks.close);
    let mut at = 0;
    let mut open: Option<(usize, usize, String)> = None;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        let bare = line.trim_end();
        let label = bare.strip_prefix(&begin).and_then(|rest| rest.strip_suffix(marks.close));
        match (label, &open) {
            (Some(label), _) if label.is_empty() || label.starts_with(' ') => {
                open = Some((at, next, label.to_string()));
            }
            (_, Some((start, inside, label))) if bare == end => {
                let content = text[*inside..at].replace("\r\n", "\n");
                return Some(MarkedBlock { range: *start..next, label: label.clone(), content });
            }
            _ => {}
        }
        at = next;
    }
    None
}

/// Returns the text with the block: updated in place, or appended. `before` is `None` if there is no
/// file. The content consists of whole lines with LF. Further blocks are removed.
pub fn set(before: Option<&str>, marks: CommentMarks, label: &str, content: &str) -> String {
    let text = before.unwrap_or_default();
    let found = find(text, marks);
    // The line end above a block may be a lone CR of the original and the LF that blue added.
    let sample = found.as_ref().map_or(text, |found| &text[found.range.clone()]);
    let newline = if sample.contains("\r\n") { "\r\n" } else { "\n" };
    let written = |note: &str| {
        let CommentMarks { open, close } = marks;
        let block =
            format!("{open}blue: begin{label}{note}{close}\n{content}{open}blue: end{close}\n");
        block.replace('\n', newline)
    };
    let Some(found) = found else {
        return match before {
            None => written(""),
            Some("") => written(EMPTY),
            Some(text) if text.ends_with('\n') => format!("{text}{}", written("")),
            Some(text) => format!("{text}{newline}{}", written(UNENDED)),
        };
    };
    let (above, below) = (&text[..found.range.start], &text[found.range.end..]);
    let new = written(found.note());
    let is_same = text[found.range.clone()].lines().eq(new.lines());
    let new = if is_same { text[found.range].to_string() } else { new };
    format!("{above}{new}{}", without_blocks(below, marks))
}

/// Returns the text with the block below its first line, or updated where it is. Scripts can end before
/// their last line, so an appended block might never run.
pub fn set_below_first_line(text: &str, marks: CommentMarks, label: &str, content: &str) -> String {
    let is_script = text.starts_with("#!");
    let head = if is_script { text.find('\n').map_or(text.len(), |at| at + 1) } else { 0 };
    if find(text, marks).is_some() || head == text.len() {
        return set(Some(text), marks, label, content);
    }
    let newline = if text[..head].ends_with("\r\n") { "\r\n" } else { "\n" };
    let block = set(None, marks, label, content).replace('\n', newline);
    format!("{}{block}{}", &text[..head], &text[head..])
}

/// Returns the text without its block: the inverse of [`set`]. `None` if the file held nothing else
/// and did not exist before.
pub fn remove(text: &str, marks: CommentMarks) -> Option<String> {
    let Some(found) = find(text, marks) else { return Some(text.to_string()) };
    let (above, below) = (&text[..found.range.start], &text[found.range.end..]);
    let below = without_blocks(below, marks);
    let is_crlf = text[found.range.clone()].contains("\r\n");
    let above = match found.note() == UNENDED && below.is_empty() {
        true => {
            let above = above.strip_suffix('\n').unwrap_or(above);
            if is_crlf { above.strip_suffix('\r').unwrap_or(above) } else { above }
        }
        false => above,
    };
    let rest = format!("{above}{below}");
    (!rest.is_empty() || found.note() == EMPTY).then_some(rest)
}

/// Returns the text around the first block, without line ends where the block was.
pub fn outside(text: &str, marks: CommentMarks) -> String {
    let Some(found) = find(text, marks) else { return text.trim_end().to_string() };
    let (above, below) = (&text[..found.range.start], &text[found.range.end..]);
    format!("{above}{below}").trim_end().to_string()
}

/// Returns the text without any block.
fn without_blocks(text: &str, marks: CommentMarks) -> String {
    let mut rest = text.to_string();
    while let Some(found) = find(&rest, marks) {
        rest.replace_range(found.range, "");
    }
    rest
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CONTENT: &str = "<blue-session inputs=\"1\">\nA <!-- b -->\n</blue-session>\n";

    fn with(before: Option<&str>) -> String {
        set(before, HTML, &digest_label(CONTENT), CONTENT)
    }

    /// Texts of people, in any layout.
    fn texts() -> impl Strategy<Value = String> {
        let pieces = prop_oneof![
            4 => Just("word"),
            4 => Just("\n"),
            2 => Just("\r\n"),
            1 => Just("\r"),
            1 => Just("\u{feff}"),
            1 => Just("# Title\n"),
            1 => Just("<!-- blue: begins -->\n"),
            1 => Just("<!-- blue: end -->\n"),
            1 => Just(" <!-- blue: begin 0123 -->\n"),
        ];
        prop::collection::vec(pieces, 0..8).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn setting_and_removing_is_the_identity(text in texts()) {
            for marks in [HTML, HASH] {
                let label = digest_label(CONTENT);
                let added = set(Some(&text), marks, &label, CONTENT);
                prop_assert!(added.starts_with(&text));
                let found = find(&added, marks).unwrap();
                prop_assert!(!found.is_edited());
                prop_assert_eq!(&found.content, CONTENT);
                prop_assert_eq!(&set(Some(&added), marks, &label, CONTENT), &added);
                prop_assert_eq!(remove(&added, marks), Some(text.clone()));
                // Another content changes nothing outside the block.
                let other = set(Some(&added), marks, &digest_label("x\n"), "x\n");
                prop_assert_eq!(remove(&other, marks), Some(text.clone()));
            }
        }

        #[test]
        fn text_that_is_added_around_a_block_stays(above in texts(), below in texts()) {
            let edited = format!("{}{below}", with(Some(&format!("{above}\n"))));
            let again = set(Some(&edited), HTML, &digest_label("x\n"), "x\n");
            prop_assert_eq!(remove(&again, HTML).unwrap(), format!("{above}\n{below}"));
        }
    }

    #[test]
    fn a_file_that_did_not_exist_is_removed_and_an_empty_one_stays() {
        assert_eq!(remove(&with(None), HTML), None);
        assert_eq!(remove(&with(Some("")), HTML).as_deref(), Some(""));
        let crlf = with(None).replace('\n', "\r\n");
        assert_eq!(with(Some(&crlf)), crlf, "git may convert the whole file");
        assert_eq!(remove(&crlf, HTML), None);
    }

    #[test]
    fn an_edit_is_noticed_and_a_second_block_is_removed() {
        let text = with(Some("a\n"));
        let edited = text.replace("A <", "B <");
        assert!(
            find(&edited, HTML).unwrap().is_edited() && !find(&text, HTML).unwrap().is_edited()
        );
        assert_eq!(with(Some(&edited)), text);
        assert_eq!(with(Some(&format!("{text}{}b\n", with(None)))), format!("{text}b\n"));
        let unended = "<!-- blue: begin 0123 -->\ntext\n";
        assert_eq!(remove(unended, HTML).as_deref(), Some(unended));
    }
}

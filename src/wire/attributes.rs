//! blue's lines in `.gitattributes`, so that scripts and artifacts are checked out with LF.

use super::marked_block::{self, HASH};

/// Path below the root.
pub const ATTRIBUTES: &str = ".gitattributes";

const LINES: [&str; 4] = [
    "/.blue/hooks/* text eol=lf",
    "/.blue/context/** text eol=lf",
    "/.blue/context.manifest.yaml text eol=lf",
    "/knowledge/*.md text eol=lf",
];

/// Returns true if a text has blue's block.
pub fn is_in(text: &str) -> bool {
    marked_block::find(text, HASH).is_some()
}

/// Returns the text with blue's block, updated in place or appended. Other lines do not change.
pub fn add(text: &str) -> String {
    // `blue install` records whether the file existed.
    let before = Some(text).filter(|text| !text.is_empty());
    marked_block::set(before, HASH, "", &format!("{}\n", LINES.join("\n")))
}

/// Returns the text without blue's block: the inverse of [`add`].
pub fn remove(text: &str) -> String {
    marked_block::remove(text, HASH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removal_restores_every_byte() {
        let originals =
            ["", "*.png binary\n", "*.png binary", "\n\n", "a text\r\nb text\r\n", "a\r\nb"];
        for text in originals {
            let with = add(text);
            assert!(with.starts_with(text) && is_in(&with), "{text:?}");
            assert_eq!(add(&with), with, "{text:?}");
            assert_eq!(remove(&with), text);
            // git may change every line end; nothing else is lost.
            let crlf = with.replace("\r\n", "\n").replace('\n', "\r\n");
            assert_eq!(add(&crlf), crlf);
            let bare = remove(&crlf).replace("\r\n", "\n");
            assert_eq!(bare, text.replace("\r\n", "\n"), "{text:?}");
        }
    }

    #[test]
    fn other_lines_are_not_changed() {
        let text = format!("{}*.png binary\n", add("a text"));
        assert_eq!(remove(&text), "a text\n*.png binary\n");
        let older = "x\n# blue: begin\n/old text\n# blue: end\ny\n";
        assert_eq!(remove(&add(older)), "x\ny\n");
        assert!(!add(older).contains("/old"));
        let unended = "# blue: begin\nx text\n";
        assert_eq!(remove(unended), unended);
        assert_eq!(remove(&add(unended)), unended);
    }
}

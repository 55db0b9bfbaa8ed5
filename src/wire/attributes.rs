//! blue's lines in `.gitattributes`, so that scripts and artifacts are checked out with LF.

/// Path below the root.
pub const ATTRIBUTES: &str = ".gitattributes";

/// First line of the block.
const BEGIN: &str = "# blue: begin";
/// First line of the block where the text before it had no line end, so that removal is exact.
const UNENDED: &str = "# blue: begin (the line above had no line end)";
/// Last line of the block.
const END: &str = "# blue: end";

const LINES: [&str; 4] = [
    "/.blue/hooks/* text eol=lf",
    "/.blue/context/** text eol=lf",
    "/.blue/context.manifest.yaml text eol=lf",
    "/knowledge/*.md text eol=lf",
];

/// Finds the block, with the line end after it. git may have checked the file out with CR LF. A block
/// without a last line does not count, because its end is unknown.
fn block(text: &str) -> Option<std::ops::Range<usize>> {
    let (mut at, mut start) = (0, None);
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        match line.trim_end() {
            BEGIN | UNENDED => start = Some(at),
            END => {
                if let Some(start) = start {
                    return Some(start..end);
                }
            }
            _ => {}
        }
        at = end;
    }
    None
}

/// Returns true if a text has blue's block.
pub fn is_in(text: &str) -> bool {
    block(text).is_some()
}

/// Returns the text with blue's block, updated in place or appended. Other lines do not change.
pub fn add(text: &str) -> String {
    let written = |begin: &str| format!("{begin}\n{}\n{END}\n", LINES.join("\n"));
    match block(text) {
        Some(range) => {
            let old = &text[range.clone()];
            let begin = old.lines().next().unwrap_or(BEGIN);
            let new = written(begin);
            match old.lines().eq(new.lines()) {
                true => text.to_string(),
                false => format!("{}{new}{}", &text[..range.start], &text[range.end..]),
            }
        }
        None if text.is_empty() || text.ends_with('\n') => format!("{text}{}", written(BEGIN)),
        None => format!("{text}\n{}", written(UNENDED)),
    }
}

/// Returns the text without blue's block: the inverse of [`add`].
pub fn remove(text: &str) -> String {
    let Some(range) = block(text) else { return text.to_string() };
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let unended = text[range].starts_with(UNENDED) && after.is_empty();
    let before = match unended {
        true => before.strip_suffix('\n').map_or(before, |b| b.strip_suffix('\r').unwrap_or(b)),
        false => before,
    };
    format!("{before}{after}")
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

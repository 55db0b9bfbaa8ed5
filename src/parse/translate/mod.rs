//! Translates MediaWiki, AsciiDoc and reStructuredText to Markdown, so that one parser reads every format.
//!
//! A line becomes exactly one line, so the line of a finding is a line of the document. What has no
//! equal in Markdown becomes a blank line. The translation is only for recognition: readers get the
//! document itself.

mod asciidoc;
mod asciidoc_header;
mod asciidoc_inline;
mod asciidoc_table;
mod cells;
mod mediawiki;
mod mediawiki_inline;
mod restructured_text;
mod restructured_text_inline;

use super::header_fields::Field;
use crate::model::TextFormat;

/// Lists that nest deeper are translated as if they nested this deep.
const MAX_DEPTH: usize = 8;

/// A body as Markdown.
pub(super) struct Translation {
    /// The text, with as many lines as the original.
    pub(super) text: String,
    /// Header fields. Their lines are blank in the text.
    pub(super) fields: Vec<Field>,
}

/// Translates the body of a document, which starts at a line. `None` if it is Markdown already.
pub(super) fn to_markdown(body: &str, first_line: u32, format: TextFormat) -> Option<Translation> {
    match format {
        TextFormat::Markdown => None,
        TextFormat::MediaWiki => Some(mediawiki::translate(body, first_line)),
        TextFormat::AsciiDoc => Some(asciidoc::translate(body, first_line)),
        TextFormat::RestructuredText => Some(restructured_text::translate(body)),
    }
}

/// Splits a text into lines and their line ends.
fn lines(text: &str) -> Vec<(&str, &str)> {
    let split = |line| str::split_at(line, line.trim_end_matches(['\n', '\r']).len());
    text.split_inclusive('\n').map(split).collect()
}

/// Returns a field with one value. Values of these formats are not parsed again as Markdown.
fn field(key: &str, value: &str, line: u32) -> Field {
    let key = super::header_fields::normal_key(key);
    let items = if value.is_empty() { Vec::new() } else { vec![value.to_string()] };
    Field { key, items, line, outside_markdown: true }
}

/// Writes a line of a code block. A line that would end the block is indented.
fn push_code(line: &str, out: &mut String) {
    if line.trim_start().starts_with("```") {
        out.push_str("    ");
    }
    out.push_str(line);
}

/// The depth of the list item before the current line, or 0.
#[derive(Default)]
struct ListDepth(usize);

impl ListDepth {
    /// Writes the marker of a list item. An item is at most one level below the one before it,
    /// because Markdown would read a deeper one as code.
    fn push_marker(&mut self, depth: usize, numbered: bool, out: &mut String) {
        self.0 = depth.min(self.0 + 1).clamp(1, MAX_DEPTH);
        out.extend(std::iter::repeat_n("   ", self.0 - 1));
        out.push_str(if numbered { "1. " } else { "- " });
    }
}

/// Writes a link, or only its text if Markdown cannot express the target.
fn push_link(text: &str, target: &str, out: &mut String) {
    let is_expressible = !target.is_empty()
        && !target.contains(['<', '>', '\\'])
        && !target.chars().any(char::is_control);
    if !is_expressible {
        out.push_str(text);
        return;
    }
    out.push('[');
    for c in text.chars() {
        if matches!(c, '[' | ']') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push_str("](");
    let is_quoted = target.contains([' ', '(', ')']);
    out.push_str(if is_quoted { "<" } else { "" });
    out.push_str(target);
    out.push_str(if is_quoted { ">)" } else { ")" });
}

/// Returns true if a target is the address of a website or a mailbox.
fn is_url(target: &str) -> bool {
    ["https://", "http://", "ftp://", "mailto:", "//"]
        .iter()
        .any(|scheme| target.get(..scheme.len()).is_some_and(|s| s.eq_ignore_ascii_case(scheme)))
}

/// Finds something at or after an offset that only grows. Each byte is searched once, so that many
/// openings without an end do not take quadratic time.
struct Finder<'a> {
    find: fn(&[u8]) -> Option<usize>,
    text: &'a str,
    /// The last result; `Some(None)` if there is none up to the end.
    found: Option<Option<usize>>,
}

impl<'a> Finder<'a> {
    fn new(text: &'a str, find: fn(&[u8]) -> Option<usize>) -> Finder<'a> {
        Finder { find, text, found: None }
    }

    fn at_or_after(&mut self, offset: usize) -> Option<usize> {
        match self.found {
            Some(None) => None,
            Some(Some(at)) if at >= offset => Some(at),
            _ => {
                let rest = self.text.as_bytes().get(offset..).unwrap_or_default();
                self.found = Some((self.find)(rest).map(|at| at + offset));
                self.found.flatten()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn translated(text: &str, format: TextFormat) -> String {
        to_markdown(text, 1, format).expect("not Markdown").text
    }

    const OTHERS: [TextFormat; 3] =
        [TextFormat::MediaWiki, TextFormat::AsciiDoc, TextFormat::RestructuredText];

    #[test]
    fn markdown_is_not_translated() {
        assert!(to_markdown("= x\n", 1, TextFormat::Markdown).is_none());
    }

    #[test]
    fn every_line_stays_one_line_whatever_is_open() {
        let openings = [
            "<pre>",
            "<pre",
            "<source lang=\"x\">",
            "<!--",
            "{|",
            "[[",
            "[http://x",
            "'''",
            "----",
            "....",
            "////",
            "|===",
            "```",
            "====",
            "<<",
            "xref:",
            "link:x[",
            "image::",
            ":a:",
            ":a: b \\",
            "= T",
            "Term::",
            "* x",
            "*****",
            "[cols=\"2\"]",
            "|",
            "| a",
            "|-",
            "!",
            "\u{feff}",
            "é",
            ".. note:: x",
            ".. code::",
            ".. list-table::",
            "* - x",
            ".. _a: b",
            "__ c",
            "`d <e",
            "f>`_",
            "==== ====",
            "+---+",
            "g::",
        ];
        for first in openings {
            for second in openings {
                for end in ["\n", "\r\n", "\n\n", ""] {
                    let text =
                        format!("{first}{end}{second} x\r\n{first}{second}\n\r{end}{second}");
                    for format in OTHERS {
                        let result = translated(&text, format);
                        let n_lines = |text: &str| text.matches('\n').count();
                        assert_eq!(n_lines(&result), n_lines(&text), "{format:?} {text:?}");
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_markup_keeps_its_lines(pieces in proptest::collection::vec(piece(), 0..40)) {
            let text = pieces.concat();
            for format in OTHERS {
                let translation = to_markdown(&text, 1, format).expect("not Markdown");
                let ends = |text: &str| {
                    let whole = lines(text).into_iter().filter(|(_, end)| end.ends_with('\n'));
                    whole.map(|(_, end)| end.to_string()).collect::<Vec<_>>()
                };
                let (from, to) = (ends(&text), ends(&translation.text));
                prop_assert_eq!(from.len(), to.len(), "{:?} {:?}", format, translation.text);
                for (end, translated) in from.iter().zip(&to) {
                    prop_assert!(translated.ends_with(end), "{:?} {:?}", end, translated);
                }
                let n_lines = from.len() as u32 + 1;
                prop_assert!(translation.fields.iter().all(|f| (1..=n_lines).contains(&f.line)));
            }
        }
    }

    /// Markup of all formats.
    const MARKUP: &[&str] = &[
        "\n",
        "\r\n",
        "\r",
        " ",
        "<pre>",
        "</pre>",
        "<source x>",
        "<!--",
        "-->",
        "{{",
        "}}",
        "{|",
        "|}",
        "|-",
        "!!",
        "||",
        "[[",
        "]]",
        "|",
        "[https://a",
        "]",
        "'''",
        "''",
        "<code>",
        "</code>",
        "==",
        "= ",
        "* ",
        "# ",
        ":a: b",
        ": ",
        "Key: value",
        "----",
        "....",
        "////",
        "|===",
        "```",
        "====",
        "[cols=\"2\"]",
        "[source]",
        "xref:",
        "link:a[",
        "<<",
        ">>",
        "image::a[]",
        "{a}",
        "Term::",
        " +",
        "\\",
        "é",
        "Ada Moss",
        ".. ",
        "note:: ",
        "code::",
        "list-table::",
        "* - ",
        "   ",
        "_a: b",
        "__ ",
        "`_",
        "` <",
        ">`_",
        ":doc:`",
        "a_",
        "[1]_",
        "::",
        "=== ===",
        "+--+",
    ];

    /// Markup, line ends and any characters.
    fn piece() -> impl Strategy<Value = String> {
        prop_oneof![proptest::sample::select(MARKUP).prop_map(str::to_string), "\\PC{0,6}",]
    }

    #[test]
    fn translated_text_is_at_most_a_few_times_longer() {
        let shapes = [
            "[[",
            "[[a",
            "[[a]]",
            "link:",
            "link:a[",
            "xref:a[]",
            "<<",
            "<<a>>",
            "''",
            "*",
            "**** ",
            "#*",
            "{a}",
            "`",
            "http://a[",
            "[http://a ",
            "<code>",
            "</pre>",
            "|",
            "| ",
            "||",
            "!!",
            "a:: ",
            "(",
            "]]",
            ">>",
            "`a`_",
            "`a <b>`_",
            ":doc:`a`",
            "a_ ",
            "a__ ",
            "[1]_",
            ".. _a: b\n",
            "a\n=\n\n",
            "a::\n\n b\n",
        ];
        for shape in shapes {
            let line = shape.repeat(20_000);
            for text in [
                line.clone(),
                format!(":a: bbbbbbbbbbbb\n\n{line}\n"),
                format!("|===\n{line}"),
                format!("{{|\n{line}"),
            ] {
                for format in OTHERS {
                    assert!(
                        translated(&text, format).len() <= 8 * text.len(),
                        "{format:?} {shape:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_block_in_a_block_does_not_end_it() {
        let text = "----\n```\n[[a]]\n----\n\n== B\n";
        let expected = "```\n    ```\n[[a]]\n```\n\n## B\n";
        assert_eq!(translated(text, TextFormat::AsciiDoc), expected);
    }
}

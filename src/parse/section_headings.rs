//! Lists the headings of a text with their lines, for callers that print a part of it.

use super::with_page;
use crate::guard::Allowed;
use crate::model::Source;
use crate::model::escape::escape_except;
use crate::model::plan::Limits;

/// A heading and its line.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct SectionHeading {
    /// 1 for the top level.
    pub level: u8,
    /// Its text, with the backticks of code spans.
    pub title: String,
    /// The English name of the section that a title in another language names.
    pub english: Option<&'static str>,
    /// Its line, counted from 1.
    pub line: usize,
}

/// Returns the headings of a document. Lines are those of [`super::whole`], because neither cleaning
/// nor translation changes line numbers.
pub fn section_headings(
    source: &Source,
    limits: &Limits,
    allowed: &Allowed,
) -> Vec<SectionHeading> {
    with_page(source, limits, allowed, |page, _| {
        let headings = page.body.headings.iter().map(|heading| SectionHeading {
            level: heading.level,
            title: escape_except(&heading.title, &allowed.characters).into_owned(),
            english: heading.english,
            line: page.lines.line(heading.start) as usize,
        });
        headings.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<(u8, String, usize)> {
        let source = Source::new(path, text.as_bytes().to_vec(), None);
        let headings = section_headings(&source, &Limits::default(), &Allowed::default());
        headings.into_iter().map(|found| (found.level, found.title, found.line)).collect()
    }

    #[test]
    fn a_number_sign_in_a_code_block_is_no_heading() {
        let text = "---\nstatus: accepted\n---\n# One\n\n```sh\n# no heading\n```\n\n    # nor this\n\nTwo\n---\n\n### `x` y\n";
        let expected = [(1, "One".to_string(), 4), (2, "Two".to_string(), 12)];
        assert_eq!(found("a.md", text)[..2], expected);
        assert_eq!(found("a.md", text)[2], (3, "`x` y".to_string(), 15));
        assert_eq!(found("a.md", text).len(), 3);
    }

    #[test]
    fn lines_are_those_of_the_written_text_in_every_format() {
        let asciidoc = "= One\n:status: accepted\n\n== Two\n\nText.\n";
        assert_eq!(
            found("a.adoc", asciidoc),
            [(1, "One".to_string(), 1), (2, "Two".to_string(), 4)]
        );
        assert_eq!(found("a.md", "\u{feff}# A\r\n\r\n## B\r\n")[1], (2, "B".to_string(), 3));
    }
}

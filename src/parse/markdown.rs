//! Reads the structure of a Markdown body in one pass: headings, paragraphs, links and prose.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use super::header_fields::{is_known, key_and_value};
use super::section_names::{is_cover_name, is_section_name, normal_name};
use super::translated_names::english;
use crate::model::binding::looks_like_path;
use crate::model::{Status, status_words};

/// A heading and its position.
pub(crate) struct Heading {
    /// Number of `#`: 1 for the top level.
    pub(crate) level: u8,
    /// Its text, with the backticks of code spans.
    pub(crate) title: String,
    /// The English name of the section that a title in another language names.
    pub(crate) english: Option<&'static str>,
    /// Offset of the heading.
    pub(crate) start: usize,
    /// Offset of the text after the heading.
    pub(crate) after: usize,
}

/// A link to anything.
pub(crate) struct Link<'a> {
    /// Its destination, as written.
    pub(crate) destination: pulldown_cmark::CowStr<'a>,
    /// Its position in the text.
    pub(crate) range: Range<usize>,
}

/// A run of prose, and the index of the link that it is the text of.
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) link: Option<u32>,
}

/// A code span that may be the path of a file.
pub(crate) struct CodeSpan<'a> {
    pub(crate) text: pulldown_cmark::CowStr<'a>,
    pub(crate) start: usize,
}

/// A paragraph or a list item.
pub(crate) struct Paragraph {
    pub(crate) range: Range<usize>,
    pub(crate) in_list: bool,
    pub(crate) in_quote: bool,
}

/// The structure of a Markdown body. Each list is in order of appearance.
pub(crate) struct Body<'a> {
    pub(crate) headings: Vec<Heading>,
    pub(crate) links: Vec<Link<'a>>,
    pub(crate) code_spans: Vec<CodeSpan<'a>>,
    pub(crate) spans: Vec<Span>,
    pub(crate) paragraphs: Vec<Paragraph>,
    /// Positions of fenced and indented code blocks.
    pub(crate) code_blocks: Vec<Range<usize>>,
    range: Range<usize>,
}

impl<'a> Body<'a> {
    /// Parses the Markdown from an offset to the end.
    pub(crate) fn parse(text: &'a str, start: usize) -> Body<'a> {
        let mut builder = BodyBuilder {
            body: Body {
                headings: Vec::new(),
                links: Vec::new(),
                code_spans: Vec::new(),
                spans: Vec::new(),
                paragraphs: Vec::new(),
                code_blocks: Vec::new(),
                range: start..text.len(),
            },
            heading: None,
            link: None,
            n_code: 0,
            n_images: 0,
            n_lists: 0,
            n_quotes: 0,
            text,
        };
        let options = Options::ENABLE_FOOTNOTES | Options::ENABLE_HEADING_ATTRIBUTES;
        for (event, range) in Parser::new_ext(&text[start..], options).into_offset_iter() {
            builder.handle(event, range.start + start..range.end + start);
        }
        builder.body
    }

    /// Returns the part that may contain header fields: up to the first heading after the title, or
    /// up to the first that names a section. A heading such as `Preamble` or an id is skipped.
    pub(crate) fn head(&self) -> Range<usize> {
        let mut has_title = false;
        let end = self.headings.iter().find(|heading| {
            let title = heading.title.as_str();
            if is_cover_name(title) || super::title::is_id(title) || states_successor(title) {
                return false;
            }
            std::mem::replace(&mut has_title, true) || is_section_name(title)
        });
        self.range.start..end.map_or(self.range.end, |heading| heading.start)
    }

    /// Returns the text of a section, up to the next heading of its level or above.
    pub(crate) fn section(&self, index: usize) -> Range<usize> {
        let heading = &self.headings[index];
        let next = self.headings[index + 1..].iter().find(|next| next.level <= heading.level);
        heading.after..next.map_or(self.range.end, |next| next.start)
    }

    /// Returns the index of the last heading at or before an offset.
    pub(crate) fn heading_of(&self, offset: usize) -> Option<usize> {
        self.headings.partition_point(|heading| heading.start <= offset).checked_sub(1)
    }

    /// Returns the paragraphs that start in a range.
    pub(crate) fn paragraphs_in(&self, range: &Range<usize>) -> &[Paragraph] {
        let first = self.paragraphs.partition_point(|p| p.range.start < range.start);
        let last = self.paragraphs.partition_point(|p| p.range.start < range.end);
        &self.paragraphs[first..last.max(first)]
    }
}

/// Returns true for a heading that says what replaces the document: `# Superseded by [X](x.md)`.
pub(super) fn states_successor(heading: &str) -> bool {
    heading.starts_with(['S', 's', 'R', 'r', 'O', 'o'])
        && heading.split_whitespace().nth(1).is_some_and(|word| word.eq_ignore_ascii_case("by"))
        && status_words::parse(heading) == Some(Status::Superseded)
}

/// The state of one pass: the body so far, and the elements that are open.
struct BodyBuilder<'a> {
    body: Body<'a>,
    heading: Option<(HeadingLevel, String, usize)>,
    link: Option<u32>,
    n_code: u32,
    n_images: u32,
    n_lists: u32,
    n_quotes: u32,
    text: &'a str,
}

impl<'a> BodyBuilder<'a> {
    fn handle(&mut self, event: Event<'a>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.open(tag, range),
            Event::End(tag) => self.close(tag, range),
            Event::Text(text) => {
                if let Some((_, title, _)) = &mut self.heading
                    && self.n_images == 0
                {
                    title.push_str(&text);
                }
                if self.n_code == 0 && self.n_images == 0 {
                    self.add_prose(range);
                }
            }
            Event::Code(code) => {
                if let Some((_, title, _)) = &mut self.heading {
                    title.push('`');
                    title.push_str(&code);
                    title.push('`');
                }
                if looks_like_path(&code) {
                    self.body.code_spans.push(CodeSpan { text: code, start: range.start });
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, title, _)) = &mut self.heading {
                    title.push(' ');
                }
                if self.body.spans.last().is_some_and(|span| span.range.end == range.start) {
                    self.add_prose(range);
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => self.add_html_links(&html, range.start),
            _ => {}
        }
    }

    fn open(&mut self, tag: Tag<'a>, range: Range<usize>) {
        match tag {
            Tag::Heading { level, .. } => self.heading = Some((level, String::new(), range.start)),
            Tag::CodeBlock(_) => {
                self.n_code += 1;
                self.body.code_blocks.push(range);
            }
            Tag::BlockQuote(_) => self.n_quotes += 1,
            Tag::Image { .. } => self.n_images += 1,
            Tag::List(_) => self.n_lists += 1,
            Tag::Paragraph => {
                let (in_list, in_quote) = (self.n_lists > 0, self.n_quotes > 0);
                self.body.paragraphs.push(Paragraph { range, in_list, in_quote });
            }
            Tag::Item => {
                let in_quote = self.n_quotes > 0;
                self.body.paragraphs.push(Paragraph { range, in_list: true, in_quote });
            }
            Tag::Link { dest_url, .. } => {
                self.link = Some(self.body.links.len() as u32);
                self.body.links.push(Link { destination: dest_url, range });
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: TagEnd, range: Range<usize>) {
        match tag {
            TagEnd::Heading(_) => {
                if let Some((level, title, start)) = self.heading.take()
                    && !is_underlined_metadata(&self.text[range.clone()])
                {
                    let title = title.trim().to_string();
                    let english = english(&normal_name(&title));
                    let (level, after) = (level as u8, range.end);
                    self.body.headings.push(Heading { level, title, english, start, after });
                }
            }
            TagEnd::CodeBlock => self.n_code = self.n_code.saturating_sub(1),
            TagEnd::Image => self.n_images = self.n_images.saturating_sub(1),
            TagEnd::BlockQuote(_) => self.n_quotes = self.n_quotes.saturating_sub(1),
            TagEnd::List(_) => self.n_lists = self.n_lists.saturating_sub(1),
            TagEnd::Link => self.link = None,
            _ => {}
        }
    }

    /// Adds a run of prose. Adjacent runs of the same link are joined.
    fn add_prose(&mut self, range: Range<usize>) {
        let link = self.link;
        match self.body.spans.last_mut() {
            Some(last) if last.range.end == range.start && last.link == link => {
                last.range.end = range.end;
            }
            _ => self.body.spans.push(Span { range, link }),
        }
    }

    /// Adds the links in a piece of HTML. A comment is skipped: templates use comments for
    /// instructions to authors.
    fn add_html_links(&mut self, html: &str, offset: usize) {
        if html.trim_start().starts_with("<!--") {
            return;
        }
        for (at, _) in html.match_indices("href=\"") {
            let start = at + "href=\"".len();
            let Some(length) = html[start..].find('"') else { return };
            let destination = html[start..start + length].to_string().into();
            let range = offset + at..offset + start + length;
            self.body.links.push(Link { destination, range });
        }
    }
}

/// Returns true if a heading is metadata above a line of dashes: the end of a `---` block that is
/// not at the top of the file, or a header field above a thematic break.
fn is_underlined_metadata(heading: &str) -> bool {
    let mut lines = heading.trim().lines();
    if heading.starts_with('#') || !lines.next_back().is_some_and(|line| line.starts_with("--")) {
        return false;
    }
    let is_code = |line: &str| line.starts_with(['{', '}', '"', '|']) || line.ends_with(['{', ';']);
    let n_lines = lines.clone().count();
    lines.any(|line| {
        let field = key_and_value(line);
        is_code(line.trim()) || field.is_some_and(|(key, _)| n_lines > 1 || is_known(&key))
    })
}

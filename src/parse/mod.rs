//! Parses documents into facts. Parsing never fails: problems become notes.

mod addresses;
mod authors_and_tags;
mod badges;
mod blocks;
mod decisive;
mod decode;
mod destinations;
mod documents;
mod excerpts;
mod front_matter;
mod header_block;
mod header_fields;
mod id_mentions;
mod limits;
mod line_index;
mod link_targets;
mod markdown;
mod name_title;
mod named_paths;
mod notices;
mod options;
mod percent;
mod plain_text;
mod prose;
mod references;
mod relation_keys;
mod second_scan;
mod section_headings;
mod section_names;
mod shared_headings;
mod stated_status;
mod statements;
mod status_history;
mod status_lines;
mod stubs;
mod summary;
mod summary_sections;
mod summary_text;
mod supersession;
mod tasks;
mod terms;
mod title;
mod title_candidates;
mod translate;
mod translated_names;
mod unknown_statuses;

use std::borrow::Cow;
use std::ops::Range;

use crate::guard::{Allowed, Clean, clean};
use crate::model::escape::escape_except;
use crate::model::plan::Limits;
use crate::model::{
    Code, Facts, Label, Note, Parsed, Reference, Size, Source, TextBlocks, Texts, TitleCandidates,
    Work,
};

pub use destinations::destinations;
pub use documents::documents;
use header_fields::Field;
pub use header_fields::key_and_value;
use line_index::LineIndex;
use markdown::Body;
pub use percent::percent_decoded;
use second_scan::SecondScan;
pub use section_headings::{SectionHeading, section_headings};

/// One decoded and cleaned source with its Markdown structure and header fields.
pub(crate) struct Page<'a> {
    /// The text as Markdown.
    text: &'a str,
    /// The text as written, with the same lines.
    written: &'a str,
    lines: LineIndex,
    /// Offset of the body, after any front matter.
    start: usize,
    /// The part that may contain header fields.
    head: Range<usize>,
    body: Body<'a>,
    fields: Vec<Field>,
    /// The metadata file beside the document. Its fields are among `fields`, with line 0.
    sidecar: front_matter::Sidecar,
    second_scan: SecondScan<'a>,
}

impl Page<'_> {
    /// Returns true if the document is not written in Markdown.
    fn is_translated(&self) -> bool {
        !std::ptr::eq(self.text, self.written)
    }
}

/// Texts of a document that artifacts may show and that are not among its facts. Extracting them
/// while the document is parsed costs little.
#[derive(Clone, Debug, Default)]
pub struct Extracts {
    /// The longer excerpts; the facts contain only their sizes.
    pub texts: Texts,
    /// Phase, tasks and success criteria.
    pub work: Work,
}

/// Parses one document.
pub fn parse(source: &Source, limits: &Limits, allowed: &Allowed) -> Parsed {
    with_page(source, limits, allowed, |page, notes| parsed(page, source, limits, notes).0)
}

/// Parses one document and extracts its texts in the same pass.
pub fn parse_all(source: &Source, limits: &Limits, allowed: &Allowed) -> (Parsed, Extracts) {
    with_page(source, limits, allowed, |page, notes| {
        let (parsed, texts) = parsed(page, source, limits, notes);
        let work = cleaned_work(page, texts.brief.clone());
        (parsed, Extracts { texts, work })
    })
}

/// Extracts the longer excerpts of a document.
pub fn texts(source: &Source, limits: &Limits, allowed: &Allowed) -> Texts {
    with_page(source, limits, allowed, |page, _| excerpts::excerpts(page).1)
}

/// Splits a document into paragraphs and other small parts.
pub fn blocks(source: &Source, limits: &Limits, allowed: &Allowed) -> TextBlocks {
    with_page(source, limits, allowed, |page, _| blocks::blocks(page))
}

/// Extracts the phase, tasks and success criteria of a document.
pub fn work(source: &Source, limits: &Limits, allowed: &Allowed) -> Work {
    with_page(source, limits, allowed, |page, _| {
        cleaned_work(page, excerpts::excerpts(page).1.brief)
    })
}

fn cleaned_work(page: &Page<'_>, brief: String) -> Work {
    let mut work = tasks::work(page, brief);
    let texts = work.phase.iter_mut().chain(&mut work.open).chain(&mut work.criteria);
    texts.for_each(|text| page.second_scan.clean(text));
    work
}

/// Returns the whole text of a document as an agent may read it: decoded, with secrets redacted
/// and with tags escaped that the agent's host would interpret.
pub fn whole(bytes: &[u8], allowed: &Allowed) -> String {
    let text = decode::decode(bytes, &mut Vec::new());
    escape_except(&clean(&text, allowed).text, &allowed.characters).into_owned()
}

/// Splits a text into the YAML of its front matter, which is empty if there is none, and its body.
pub fn split_front_matter(text: &str) -> (&str, &str) {
    let front_matter = front_matter::find(text);
    (front_matter.yaml(text), &text[front_matter.end..])
}

/// Returns true if a document has text that looks like a secret.
pub fn has_secret(bytes: &[u8], allowed: &Allowed) -> bool {
    let text = decode::decode(bytes, &mut Vec::new());
    clean(&text, allowed).notes.iter().any(|note| note.code == Code::Secret)
}

/// Decodes, cleans and parses a source, and calls `read` with the resulting page.
fn with_page<T>(
    source: &Source,
    limits: &Limits,
    allowed: &Allowed,
    read: impl FnOnce(&Page<'_>, Vec<Note>) -> T,
) -> T {
    let mut notes = Vec::new();
    let text = decode::decode(&source.bytes, &mut notes);
    let Clean { text, notes: found } = clean(&text, allowed);
    notes.extend(found);
    let (text, lines) = limits::cut_lines(text, limits, &mut notes);
    let front_matter = front_matter::find(&text);
    let mut fields = front_matter::fields(&text, &front_matter, &lines, limits, &mut notes);
    let mut beside = front_matter::Sidecar::default();
    if let Some(sidecar) = &source.sidecar {
        let (of_sidecar, read) = front_matter::sidecar(sidecar, limits, allowed);
        fields.extend(of_sidecar);
        beside = read;
    }
    let second_scan = SecondScan::new(allowed);
    let first_line = lines.line(front_matter.end);
    let written = &text[..];
    let body = &written[front_matter.end..];
    let (text, lines) = match translate::to_markdown(body, first_line, source.format) {
        Some(translation) => {
            fields.extend(translation.fields);
            // A secret can be hidden in markup that the translation removes.
            let body = second_scan.cleaned(translation.text);
            let text = [&written[..front_matter.end], &body].concat();
            cut_again(text, limits, &mut notes)
        }
        None => (Cow::Borrowed(written), lines),
    };
    let mut body = Body::parse(&text, front_matter.end);
    fields.extend(header_fields::in_body(&text, &lines, &body));
    for field in &mut fields {
        second_scan.clean(&mut field.key);
        field.items.iter_mut().for_each(|item| second_scan.clean(item));
    }
    body.headings.iter_mut().for_each(|heading| second_scan.clean(&mut heading.title));
    let (start, head, sidecar) = (front_matter.end, body.head(), beside);
    let text = &text[..];
    let page = Page { text, written, lines, start, head, body, fields, sidecar, second_scan };
    read(&page, notes)
}

/// Cuts the lines of a translation: it can uncover deep quotes, and a link becomes longer. A limit
/// that was already reported is not reported again.
fn cut_again<'a>(
    text: String,
    limits: &Limits,
    notes: &mut Vec<Note>,
) -> (Cow<'a, str>, LineIndex) {
    let mut found = Vec::new();
    let (text, lines) = limits::cut_lines(Cow::Owned(text), limits, &mut found);
    found.retain(|note| !notes.iter().any(|known| known.code == note.code));
    notes.extend(found);
    (text, lines)
}

/// Parses a page. Also returns the longer excerpts, whose sizes are among the facts.
fn parsed(
    page: &Page<'_>,
    source: &Source,
    limits: &Limits,
    mut notes: Vec<Note>,
) -> (Parsed, Texts) {
    let status = stated_status::stated_status(page);
    let mut references = references::references(page, status.as_ref(), limits, &mut notes);
    page.second_scan.clean_references(&mut references);
    correct_columns(page, &mut references);
    let (line, texts) = excerpts::excerpts(page);
    if page.text[page.start..].trim().is_empty() && page.fields.is_empty() {
        let message = "the document has no text".to_string();
        notes.push(Note { code: Code::EmptyDocument, line: 0, column: 0, message, hint: None });
    }
    let titles = titles(page);
    let mut paths = named_paths::named_paths(page);
    paths.iter_mut().for_each(|named| page.second_scan.clean(&mut named.path));
    page.second_scan.report_into(&mut notes);
    let mut terms = terms::terms(page, title_candidates::choose(&titles, "", |_| false));
    terms.citing_lines = terms::citing_lines(page, &references);
    let status_line = match &status {
        Some((_, 0)) => sidecar_status_line(page),
        _ => 0,
    };
    let facts = Facts {
        titles,
        tags: authors_and_tags::authors_and_tags(page),
        label: own_label(page).or_else(|| title::label(page)),
        keyed_numbers: keyed_numbers(page),
        status_in_sidecar: status.is_some() && status_line > 0,
        status: status.map(|(text, line)| (text, line.max(status_line))),
        date: date(page),
        line,
        brief: Size::of(&texts.brief),
        references,
        paths,
        moved: stubs::is_stub(page),
        n_bytes: source.bytes.len() as u64,
        n_served: escape_except(page.written, page.second_scan.allowed_characters()).len() as u64,
        n_tokens: decode::estimated_tokens(page.written),
    };
    (Parsed { facts, terms, notes, sidecar_notes: page.sidecar.notes.clone() }, texts)
}

/// Returns the line of the status in the metadata file; 0 if it is not there.
fn sidecar_status_line(page: &Page<'_>) -> u32 {
    let keys = ["status", "state", "stage"].iter();
    keys.filter_map(|key| page.sidecar.lines.get(*key)).copied().next().unwrap_or(0)
}

/// Sets the column of a reference to 1 if the translation changed its line.
fn correct_columns(page: &Page<'_>, references: &mut [Reference]) {
    if !page.is_translated() {
        return;
    }
    let written = LineIndex::new(page.written);
    for reference in
        references.iter_mut().filter(|reference| reference.line > 0 && !reference.in_sidecar)
    {
        let line = reference.line;
        if written.text(page.written, line) != page.lines.text(page.text, line) {
            reference.column = 1;
        }
    }
}

/// Collects the texts that may be the title, with secrets redacted.
fn titles(page: &Page<'_>) -> TitleCandidates {
    let mut titles = title_candidates::candidates(page);
    let texts = titles.stated.iter_mut().chain(&mut titles.name);
    texts
        .chain(titles.headings.iter_mut().map(|heading| &mut heading.text))
        .for_each(|text| page.second_scan.clean(text));
    titles
}

/// Returns the id that a header field gives the document: `eip: 1559`, `Proposal: [SE-0001](…)`.
fn own_label(page: &Page<'_>) -> Option<Label> {
    page.fields.iter().find_map(|field| {
        let value = field.items.first()?;
        if matches!(field.key.as_str(), "proposal" | "id" | "number" | "identifier") {
            return id_mentions::labels(value).into_iter().next();
        }
        // `RFC #` and `RFC number` say that the value is the document's own number.
        let key = field.key.trim_end_matches([' ', '#']);
        let key = key.strip_suffix(" number").or_else(|| key.strip_suffix(" id")).unwrap_or(key);
        let series = crate::model::series::known_series(key)?;
        let is_own = field.outside_markdown || key.len() < field.key.len();
        let value = plain_text::plain(value);
        let is_number = is_own && !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
        let number = crate::model::Number::new(&value).filter(|_| is_number)?;
        Some(Label { series, number })
    })
}

/// Returns the numbers in metadata whose key is a single word that may name a series.
fn keyed_numbers(page: &Page<'_>) -> Vec<Label> {
    let labels = page.fields.iter().filter_map(|field| {
        let is_series = (2..=9).contains(&field.key.len())
            && field.key.bytes().all(|b| b.is_ascii_lowercase())
            && !NO_SERIES.contains(&field.key.as_str());
        let value = field.items.first().filter(|_| is_series && field.outside_markdown)?;
        let is_number = value.len() <= 6 && value.bytes().all(|b| b.is_ascii_digit());
        let number = crate::model::Number::new(value).filter(|_| is_number)?;
        Some(Label { series: crate::model::series::singular(&field.key), number })
    });
    labels.take(4).collect()
}

/// Keys whose number says nothing about the name of a series.
const NO_SERIES: [&str; 8] =
    ["id", "no", "number", "order", "weight", "index", "position", "version"];

fn date(page: &Page<'_>) -> Option<String> {
    let keys = ["date", "created", "start date", "creation date", "decided", "date created"];
    let field = page.fields.iter().find(|field| keys.contains(&field.key.as_str()))?;
    let value = plain_text::plain(field.items.first()?);
    let starts_with_year =
        value.len() >= 10 && value.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    starts_with_year.then(|| value.chars().take(10).collect())
}

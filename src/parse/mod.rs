//! One source to its facts; cannot fail, only note.

mod again;
mod assemble;
mod body;
mod bound;
mod decode;
mod field;
mod front;
mod lines;
mod marks;
mod mention;
mod names;
mod path;
mod reference;
mod status;
mod terms;
mod text;
mod title;
mod work;

use crate::guard::{Allowed, Clean, clean};
use crate::model::escape::escape_except;
use crate::model::plan::Limits;
use crate::model::{Code, Facts, Label, Note, Parsed, Source, Texts, Work};

use again::Again;
pub use assemble::documents;
use body::Body;
use field::Field;
use lines::Lines;

/// Everything one document's reading needs: the text, where its lines begin, and its parts.
pub(crate) struct Page<'a> {
    text: &'a str,
    lines: Lines,
    /// Where the body begins, after front matter.
    start: usize,
    body: Body<'a>,
    fields: Vec<Field>,
    again: Again<'a>,
}

/// What can be told of a document besides its facts; it costs little while the document is at hand.
#[derive(Clone, Debug, Default)]
pub struct Extracts {
    /// The longer texts, which its facts only measure.
    pub texts: Texts,
    /// What it says of the work it asks for.
    pub work: Work,
}

/// Parses one document. It cannot fail: problems are reported as notes.
pub fn parse(source: &Source, limits: &Limits, allowed: &Allowed) -> Parsed {
    with_page(source, limits, allowed, |page, notes| parsed(page, source, limits, notes).0)
}

/// Parses one document, and also extracts its longer texts.
pub fn parse_all(source: &Source, limits: &Limits, allowed: &Allowed) -> (Parsed, Extracts) {
    with_page(source, limits, allowed, |page, notes| {
        let (parsed, texts) = parsed(page, source, limits, notes);
        let work = work_of(page, texts.brief.clone());
        (parsed, Extracts { texts, work })
    })
}

/// The longer texts of a document, which its facts only measure.
pub fn texts(source: &Source, limits: &Limits, allowed: &Allowed) -> Texts {
    with_page(source, limits, allowed, |page, _| text::texts(page).1)
}

/// What a document says of the work it asks for.
pub fn work(source: &Source, limits: &Limits, allowed: &Allowed) -> Work {
    with_page(source, limits, allowed, |page, _| work_of(page, text::texts(page).1.brief))
}

fn work_of(page: &Page<'_>, brief: String) -> Work {
    let mut work = work::work(page, brief);
    let texts = work.phase.iter_mut().chain(&mut work.open).chain(&mut work.criteria);
    texts.for_each(|text| page.again.look(text));
    work
}

/// The whole of a document as an agent is given it: decoded, without secrets, and harmless in a
/// wrapper.
pub fn whole(bytes: &[u8], allowed: &Allowed) -> String {
    let text = decode::decode(bytes, &mut Vec::new());
    escape_except(&clean(&text, allowed).text, &allowed.kept).into_owned()
}

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
    let (text, lines) = bound::lines(text, limits, &mut notes);
    let front = front::split(&text);
    let mut fields = front::fields(&text, &front, &lines, limits, &mut notes);
    if let Some(sidecar) = &source.sidecar {
        fields.extend(front::sidecar(sidecar, limits, allowed, &mut notes));
    }
    let mut body = Body::read(&text, front.end);
    fields.extend(field::of_head(&text, &lines, &body));
    let again = Again::new(allowed);
    for field in &mut fields {
        again.look(&mut field.key);
        field.items.iter_mut().for_each(|item| again.look(item));
    }
    body.headings.iter_mut().for_each(|heading| again.look(&mut heading.title));
    let page = Page { text: &text, lines, start: front.end, body, fields, again };
    read(&page, notes)
}

/// Parses a page. Also returns the longer texts, whose sizes are among the facts.
fn parsed(
    page: &Page<'_>,
    source: &Source,
    limits: &Limits,
    mut notes: Vec<Note>,
) -> (Parsed, Texts) {
    let references = page.again.references(reference::all(page, limits, &mut notes));
    let (line, texts) = text::texts(page);
    if page.text[page.start..].trim().is_empty() && page.fields.is_empty() {
        let message = "the document has no text".to_string();
        notes.push(Note { code: Code::EmptyDocument, line: 0, column: 0, message, hint: None });
    }
    let title = title::title(page).map(|title| page.again.text(title));
    let mut paths = path::named(page);
    paths.iter_mut().for_each(|named| page.again.look(&mut named.path));
    page.again.join(&mut notes);
    let mut terms = terms::terms(page, title.as_deref());
    terms.names = names::names(&page.text[page.start..]);
    terms.citing_lines = terms::citing_lines(page, &references);
    let facts = Facts {
        title,
        tags: marks::marks(page),
        label: own_label(page).or_else(|| title::label(page)),
        status: status::stated(page),
        date: date(page),
        line,
        sizes: texts.sizes(),
        references,
        paths,
        n_bytes: source.bytes.len() as u64,
        n_served: escape_except(page.text, page.again.kept()).len() as u64,
        n_tokens: decode::estimated_tokens(page.text),
    };
    (Parsed { facts, terms, notes }, texts)
}

/// The id a header gives the document: `eip: 1559`, `Proposal: [SE-0001](…)`.
fn own_label(page: &Page<'_>) -> Option<Label> {
    page.fields.iter().find_map(|field| {
        let value = field.items.first()?;
        if matches!(field.key.as_str(), "proposal" | "id" | "number" | "identifier") {
            return mention::labels(value).into_iter().next();
        }
        let series = crate::model::series::known_series(&field.key)?;
        let plain = field.front && value.bytes().all(|b| b.is_ascii_digit());
        let number = crate::model::Number::new(value).filter(|_| plain)?;
        Some(Label { series, number })
    })
}

fn date(page: &Page<'_>) -> Option<String> {
    let keys = ["date", "created", "start date", "creation date", "decided", "date created"];
    let field = page.fields.iter().find(|field| keys.contains(&field.key.as_str()))?;
    let value = text::plain(field.items.first()?);
    let starts_with_year =
        value.len() >= 10 && value.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    starts_with_year.then(|| value.chars().take(10).collect())
}

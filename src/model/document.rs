//! A document and the facts parsed from its bytes.

use serde::{Deserialize, Serialize};

use super::{Code, Digest, Kind, NamedPath, Number, Status, Terms, Uri};

/// Everything parsed from the bytes of one document. It depends on nothing else, so it is cached by
/// content hash. The facts become part of the document, ranking reads the terms, and the
/// notes become diagnostics.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Parsed {
    /// Metadata, references and sizes.
    pub facts: Facts,
    /// Terms for ranking.
    pub terms: Terms,
    /// Findings without a path.
    pub notes: Vec<Note>,
    /// Findings in the metadata file beside the document.
    pub sidecar_notes: Vec<Note>,
}

/// Metadata, references and sizes of one document.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Facts {
    /// Texts that may be the title.
    pub titles: TitleCandidates,
    /// The id that the document states for itself: `SE-0001`, `RFC 0016`.
    pub label: Option<Label>,
    /// Numbers in metadata, with their keys as series: `simd: '0033'`. A key is a series if the
    /// number is that of the document in most documents of a collection.
    pub keyed_numbers: Vec<Label>,
    /// The status as written, with its line.
    pub status: Option<(String, u32)>,
    /// True if the line of the status is one of the metadata file beside the document.
    pub status_in_sidecar: bool,
    /// The date as written.
    pub date: Option<String>,
    /// One sentence that summarises the document.
    pub line: String,
    /// Size of the summary or decision paragraph. The text itself is read from the document when an
    /// artifact needs it, which few do.
    pub brief: Size,
    /// References to other documents in order of appearance, equal ones counted.
    pub references: Vec<Reference>,
    /// Files and folders of the repository that the document may name, in order of appearance.
    pub paths: Vec<NamedPath>,
    /// Authors and tags: `author Ada Lovelace`, `tag storage`.
    pub tags: Vec<String>,
    /// True if its only text says that it moved to another place.
    pub moved: bool,
    /// Size in bytes.
    pub n_bytes: u64,
    /// Size in bytes of the text that an agent is shown: without byte order mark, with hidden
    /// characters made visible.
    pub n_served: u64,
    /// Tokens of the whole document, estimated from its size and script, not counted.
    pub n_tokens: u64,
}

/// Texts of a document that may be its title. The choice needs the headings of the other documents
/// of its collection, so it is made when all are parsed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct TitleCandidates {
    /// The title that metadata states, as written.
    pub stated: Option<String>,
    /// A short name that metadata states, as written: `Feature Name: my_feature`.
    pub name: Option<String>,
    /// The first headings, in order.
    pub headings: Vec<HeadingCandidate>,
}

impl TitleCandidates {
    /// Returns true if nothing in the document can be its title.
    pub fn is_empty(&self) -> bool {
        let is_title = |heading: &HeadingCandidate| heading.is_at_top;
        self.stated.is_none() && self.name.is_none() && !self.headings.iter().any(is_title)
    }
}

/// One of the first headings of a document.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct HeadingCandidate {
    /// Its text.
    pub text: String,
    /// Its level, 1 for the top.
    pub level: u8,
    /// True if no text is between it and the next heading.
    pub is_empty: bool,
    /// True if it can be a title because of its place.
    pub is_at_top: bool,
}

/// Length of a text, and enough of its digest to detect a change.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Size {
    /// Length in bytes.
    pub len: u32,
    /// First half of the text's digest; zeros if there is no text.
    pub fingerprint: [u8; 16],
}

impl Size {
    /// Measures a text.
    pub fn of(text: &str) -> Size {
        let mut size = Size { len: text.len() as u32, fingerprint: [0; 16] };
        if !text.is_empty() {
            size.fingerprint.copy_from_slice(&Digest::of(text.as_bytes()).as_bytes()[..16]);
        }
        size
    }
}

/// Text extracted from a document, from the shortest to the longest.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Texts {
    /// The summary or decision paragraph.
    pub brief: String,
    /// The sections with the rules that the document sets, as Markdown.
    pub sections: String,
}

impl Texts {
    /// Returns true if the sections contain the start of the brief. Only letters and digits are
    /// compared, because the sections are Markdown and the brief is plain text.
    pub fn repeats(&self) -> bool {
        let letters =
            |text: &str| -> String { text.chars().filter(|c| c.is_alphanumeric()).collect() };
        let start: String = self.brief.chars().filter(|c| c.is_alphanumeric()).take(32).collect();
        memchr::memmem::find(letters(&self.sections).as_bytes(), start.as_bytes()).is_some()
    }
}

/// A series prefix and a number: `rfc` and `16`.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub struct Label {
    /// The prefix in lower case.
    pub series: String,
    /// The number.
    pub number: Number,
}

/// A finding without a path, which is added when the document is built.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Note {
    /// The kind of finding.
    pub code: Code,
    /// Line, from 1; 0 for the whole file.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// Description of the problem.
    pub message: String,
    /// Suggested fix.
    pub hint: Option<String>,
}

/// Kind of a reference from one document to another.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Relation {
    /// It replaces the other.
    Supersedes,
    /// The other replaces it.
    SupersededBy,
    /// It needs the other.
    DependsOn,
    /// It was derived from the other.
    Source,
    /// It is the plan of the other.
    PlanOf,
    /// A header or a list of references names the other.
    Related,
    /// A Markdown link or a URL points to the other.
    Link,
    /// A `blue://` address of the other.
    Address,
    /// The text names the other's id.
    Mention,
}

impl Relation {
    /// All relations, strongest first.
    pub const ALL: [Relation; 9] = [
        Relation::Supersedes,
        Relation::SupersededBy,
        Relation::DependsOn,
        Relation::Source,
        Relation::PlanOf,
        Relation::Related,
        Relation::Link,
        Relation::Address,
        Relation::Mention,
    ];

    /// Returns the name used in emitted files.
    pub fn as_str(self) -> &'static str {
        match self {
            Relation::Supersedes => "supersedes",
            Relation::SupersededBy => "superseded_by",
            Relation::DependsOn => "depends_on",
            Relation::Source => "source",
            Relation::PlanOf => "plan_of",
            Relation::Related => "related",
            Relation::Link => "link",
            Relation::Address => "address",
            Relation::Mention => "mention",
        }
    }
}

/// Target of a reference, as written.
#[derive(Clone, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Target {
    /// A path relative to the document, or to the root with a leading `/`.
    Path(String),
    /// A path in a header field, relative to the document or to the root.
    FieldPath(String),
    /// An `http` or `https` address.
    Url(String),
    /// A `blue://` address.
    Address(String),
    /// A series and a number in words: `RFC 16`.
    Label(Label),
    /// A number in a header field, of the document's own series unless the field names one.
    Number(Option<String>, Number),
    /// A slug or a title in a header field, with the kind that the field's key names.
    Name(Option<String>, String),
}

/// One reference, with the number of times it occurs in the document.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Reference {
    /// The target as written.
    pub target: Target,
    /// The kind of reference.
    pub relation: Relation,
    /// The id in the link's own text, if any: `[RFC 16](old-name.md)`.
    pub label: Option<Label>,
    /// Line of the first occurrence, from 1.
    pub line: u32,
    /// Column of the first occurrence, from 1.
    pub column: u32,
    /// Number of occurrences.
    pub count: u32,
    /// True if the line is one of the metadata file beside the document.
    pub in_sidecar: bool,
}

/// A document of the project.
#[derive(Clone, Debug)]
pub struct Document {
    /// Path below the root.
    pub path: String,
    /// The YAML file beside it with its metadata.
    pub sidecar: Option<String>,
    /// Its address, which does not change with its status.
    pub uri: Uri,
    /// Index of its collection.
    pub collection: usize,
    /// Its type.
    pub kind: Kind,
    /// Its number, from the name or else from its own label.
    pub number: Option<Number>,
    /// The number as its name writes it, zeros included.
    pub number_text: String,
    /// Its name without number, date, status and extension.
    pub slug: String,
    /// Number of folders between it and its collection's folder.
    pub depth: usize,
    /// Its title; never empty.
    pub title: String,
    /// Its status.
    pub status: Status,
    /// The status as written; empty if none is stated.
    pub status_text: String,
    /// Its date, if it states one.
    pub date: Option<String>,
    /// True if it is the plan of another document.
    pub is_plan: bool,
    /// The digest of its content.
    pub digest: Digest,
    /// Facts parsed from its bytes.
    pub facts: Facts,
}

impl Document {
    /// Returns the file that a line belongs to: the document, or the metadata file beside it.
    pub fn file(&self, in_sidecar: bool) -> &str {
        self.sidecar.as_deref().filter(|_| in_sidecar).unwrap_or(&self.path)
    }

    /// Returns the file and the line of the stated status; line 0 if there is none.
    pub fn status_place(&self) -> (&str, u32) {
        let line = self.facts.status.as_ref().map_or(0, |(_, line)| *line);
        (self.file(self.facts.status_in_sidecar), line)
    }
}

#[cfg(test)]
impl Document {
    /// Returns an accepted ADR without a number, for unit tests.
    pub(crate) fn sample(path: &str) -> Document {
        Document {
            path: path.to_string(),
            sidecar: None,
            uri: Uri::of_document("adrs", "x"),
            collection: 0,
            kind: Kind::new("adr"),
            number: None,
            number_text: String::new(),
            slug: "x".to_string(),
            depth: 0,
            title: "X".to_string(),
            status: Status::Accepted,
            status_text: String::new(),
            date: None,
            is_plan: false,
            digest: Digest::of(path.as_bytes()),
            facts: Facts::default(),
        }
    }
}

/// Returns true for the names of a folder's cover page: `README.md`, `index.md`.
pub fn is_cover(file: &str) -> bool {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    stem.eq_ignore_ascii_case("readme") || stem.eq_ignore_ascii_case("index")
}

//! One document: what its bytes say, what its name says, and what follows from both.

use super::{CitingLines, Code, Digest, Kind, NamedPath, Number, Status, Terms, Uri};

/// What the bytes alone say. Depends on nothing else, so it is cached by content hash.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Facts {
    /// The title from metadata or the first telling heading, as written.
    pub title: Option<String>,
    /// The id the document gives itself: `SE-0001`, `RFC 0016`.
    pub label: Option<Label>,
    /// The status as written, with its line.
    pub status: Option<(String, u32)>,
    /// The date as written.
    pub date: Option<String>,
    /// One sentence of it.
    pub line: String,
    /// How long the further texts are.
    pub sizes: Sizes,
    /// References to other documents, in order of appearance, equal ones counted.
    pub references: Vec<Reference>,
    /// Files and folders of the repository that it may name, in order of appearance.
    pub paths: Vec<NamedPath>,
    /// What it is about, in words.
    pub terms: Terms,
    /// The words of the lines that refer to something.
    pub citing_lines: CitingLines,
    /// Who and what it is filed under: `author Ada Lovelace`, `tag storage`.
    pub marks: Vec<String>,
    /// What was noticed while reading.
    pub notes: Vec<Note>,
    /// Size in bytes.
    pub n_bytes: u64,
    /// Size in bytes of what an agent is given of it: without byte order mark, with hidden
    /// characters shown.
    pub n_served: u64,
    /// Tokens of the whole document, estimated from its size and script, not counted.
    pub n_tokens: u64,
}

/// What is kept of each longer telling. The texts themselves are taken from the document when
/// something is made of them, which it is of few.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sizes {
    /// Of the summary or decision paragraph.
    pub brief: Size,
    /// Of the parts that bind.
    pub sections: Size,
    /// Of the whole body; empty if it is too long to be told.
    pub full: Size,
    /// Whether the parts that bind hold what the brief says.
    pub repeats: bool,
}

/// How long a text is, and enough of a digest to notice that it is another.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Size {
    /// In bytes.
    pub len: u32,
    /// The first half of its digest; zeros if there is no text.
    pub print: [u8; 16],
}

impl Size {
    fn of(text: &str) -> Size {
        let mut size = Size { len: text.len() as u32, print: [0; 16] };
        if !text.is_empty() {
            size.print.copy_from_slice(&Digest::of(text.as_bytes()).as_bytes()[..16]);
        }
        size
    }
}

/// Extracted text, from the shorter telling to the longer. Never invented.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Texts {
    /// The summary or decision paragraph.
    pub brief: String,
    /// The parts that bind, as Markdown.
    pub sections: String,
    /// The whole body, kept only of short documents.
    pub full: String,
}

impl Texts {
    /// What is kept of each text.
    pub fn sizes(&self) -> Sizes {
        Sizes {
            brief: Size::of(&self.brief),
            sections: Size::of(&self.sections),
            full: Size::of(&self.full),
            repeats: self.repeats(),
        }
    }

    /// Whether the parts that bind hold what the brief says.
    pub fn repeats(&self) -> bool {
        let end = self.brief.char_indices().nth(32).map_or(self.brief.len(), |(at, _)| at);
        memchr::memmem::find(self.sections.as_bytes(), &self.brief.as_bytes()[..end]).is_some()
    }
}

/// A series prefix and a number: `rfc` and `16`.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Label {
    /// Lower case.
    pub series: String,
    /// The number.
    pub number: Number,
}

/// A finding that does not know its file yet.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Note {
    /// Which kind.
    pub code: Code,
    /// Line, from 1; 0 for the whole file.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// How a document speaks of another.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Relation {
    /// It takes the other's place.
    Supersedes,
    /// The other takes its place.
    SupersededBy,
    /// It cannot stand without the other.
    DependsOn,
    /// The other is where it came from.
    Source,
    /// It is the plan of the other.
    PlanOf,
    /// A header or a list of references names the other.
    Related,
    /// A Markdown link or a URL leads to the other.
    Link,
    /// A `blue://` address of the other.
    Address,
    /// The other's id stands in the text.
    Mention,
}

impl Relation {
    /// Every relation, strongest first.
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

    /// The word in emitted files.
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

/// An own id in the first lines belongs to the header; from this line on it is a reference to itself.
pub const HEADER_END: u32 = 12;

/// What a reference points at, as written.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Target {
    /// A path relative to the document, or to the root with a leading `/`.
    Path(String),
    /// An `http` or `https` address.
    Url(String),
    /// A `blue://` address.
    Address(String),
    /// A series and a number in words: `RFC 16`.
    Label(Label),
    /// A number in a header field, of the document's own series unless the field says otherwise.
    Number(Option<String>, Number),
    /// A slug or a title in a header field, with the kind the field asks for.
    Name(Option<String>, String),
}

/// One reference, with how often it stands in the document.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Reference {
    /// What it points at.
    pub target: Target,
    /// How the document speaks of it.
    pub relation: Relation,
    /// The id in the link's own text, if any: `[RFC 16](old-name.md)`.
    pub label: Option<Label>,
    /// Line of the first one, from 1.
    pub line: u32,
    /// Column of the first one, from 1.
    pub column: u32,
    /// How many there are.
    pub count: u32,
}

/// A document with its place in the project.
#[derive(Clone, Debug)]
pub struct Document {
    /// Path below the root.
    pub path: String,
    /// The file beside it that holds its metadata.
    pub sidecar: Option<String>,
    /// The lasting address.
    pub uri: Uri,
    /// Which collection, as an index.
    pub collection: usize,
    /// What it is.
    pub kind: Kind,
    /// Its number, from the name or else from its own label.
    pub number: Option<Number>,
    /// The number as its name writes it, zeros included.
    pub number_text: String,
    /// Its name without number, date, status and extension.
    pub slug: String,
    /// How many folders lie between it and its collection's folder.
    pub depth: usize,
    /// Its title; never empty.
    pub title: String,
    /// Where it stands.
    pub status: Status,
    /// The words it was read from, if any.
    pub status_text: String,
    /// Its date, if it states one.
    pub date: Option<String>,
    /// Whether it is the plan of another document.
    pub is_plan: bool,
    /// The hash of its content.
    pub digest: Digest,
    /// What its bytes say.
    pub facts: Facts,
}

/// Whether a file name stands for the folder it lies in: `README.md`, `index.md`.
pub fn is_cover(file: &str) -> bool {
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    stem.eq_ignore_ascii_case("readme") || stem.eq_ignore_ascii_case("index")
}

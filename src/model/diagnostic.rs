//! What blue has to say about a document, with a place and a hint.

use std::fmt;

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Something is wrong in a document; the build goes on.
    Warning,
    /// Something that must not stay.
    Error,
}

impl Severity {
    /// The word in messages and in emitted JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

macro_rules! codes {
    ($($name:ident = $code:literal, $severity:ident, $title:literal;)*) => {
        /// What kind of finding it is. Codes are stable: they may be retired, never reused.
        #[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
        pub enum Code { $(#[doc = $title] $name,)* }

        impl Code {
            /// Every code, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// The stable name, `BLUE-REF-001`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            /// How much findings of this kind matter.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }

            /// One line that says what the kind is.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

codes! {
    OutsideRoot = "BLUE-SRC-001", Warning, "a source that lies outside the project";
    Denied = "BLUE-SRC-002", Warning, "a source on the deny-list";
    NotRegular = "BLUE-SRC-003", Warning, "a source that is not a regular file";
    TooLarge = "BLUE-SRC-004", Warning, "a source over the size limit";
    NameNotUtf8 = "BLUE-SRC-005", Warning, "a source whose name is not UTF-8";
    CaseCollision = "BLUE-SRC-006", Warning, "two names that differ only in case";
    TooDeep = "BLUE-SRC-007", Warning, "a folder nested too deeply";
    Vanished = "BLUE-SRC-008", Warning, "a source that vanished while it was read";
    InvalidUtf8 = "BLUE-DOC-001", Warning, "bytes that are not UTF-8";
    NulByte = "BLUE-DOC-002", Warning, "a NUL byte in a document";
    EmptyDocument = "BLUE-DOC-003", Warning, "a document without text";
    FrontMatterOpen = "BLUE-DOC-004", Warning, "front matter that never ends";
    FrontMatterYaml = "BLUE-DOC-005", Warning, "front matter that is not YAML";
    FrontMatterLarge = "BLUE-DOC-006", Warning, "front matter over the size limit";
    StatusUnknown = "BLUE-DOC-007", Info, "a status word that blue does not know";
    StatusDisagrees = "BLUE-DOC-008", Warning, "a name and a header that state different statuses";
    TooManyReferences = "BLUE-DOC-009", Warning, "more references than the limit";
    HiddenText = "BLUE-DOC-010", Warning, "characters a reader cannot see";
    BrokenLink = "BLUE-REF-001", Warning, "a link to nothing";
    Ambiguous = "BLUE-REF-002", Warning, "a reference that fits several documents";
    Renamed = "BLUE-REF-003", Warning, "a link to a document under its old name";
    SelfReference = "BLUE-REF-004", Info, "a document that refers to itself";
    Unresolved = "BLUE-REF-005", Info, "a mention of a document that is not here";
    BrokenUri = "BLUE-REF-006", Warning, "a blue:// address of nothing";
    MissingFile = "BLUE-REF-007", Info, "a link to a file that is not here";
    PathUnknown = "BLUE-REF-008", Info, "a path in a field that nothing matches";
    DuplicateNumber = "BLUE-ID-001", Warning, "a number used more than once";
    DuplicateId = "BLUE-ID-002", Warning, "two documents that want the same address";
    SupersessionCycle = "BLUE-SUP-001", Warning, "documents that supersede each other in a circle";
    LiveButSuperseded = "BLUE-SUP-002", Warning, "a document told as live that another supersedes";
    HandEdited = "BLUE-OUT-001", Warning, "an emitted file that was edited by hand";
    Stale = "BLUE-OUT-002", Error, "an emitted file that is out of date";
    Edited = "BLUE-OUT-003", Error, "an emitted file that is not what blue wrote";
    Missing = "BLUE-OUT-004", Error, "an emitted file that is missing";
    Foreign = "BLUE-OUT-005", Error, "a file in the place of an emitted one";
    Orphan = "BLUE-OUT-006", Error, "an emitted file whose cause is gone";
    KeptOrphan = "BLUE-OUT-007", Warning, "an edited file whose cause is gone";
    CacheNotKept = "BLUE-OUT-008", Warning, "a cache that could not be written";
    SourceUnknown = "BLUE-CFG-001", Warning, "a configured source that does not exist";
    TooManyBundles = "BLUE-CFG-002", Info, "more live RFCs than workflow bundles";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding. Sorted by place, so that output never depends on the order of work.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Diagnostic {
    /// The file, relative to the project, `/` between the parts.
    pub path: String,
    /// Line, from 1; 0 when the finding is about the whole file.
    pub line: u32,
    /// Column in characters, from 1; 0 when there is no line.
    pub column: u32,
    /// Which kind of finding.
    pub code: Code,
    /// What is wrong: lower case, no full stop.
    pub message: String,
    /// Something to type or to do.
    pub hint: Option<String>,
}

impl Diagnostic {
    /// A finding about a whole file.
    pub fn new(code: Code, path: &str, message: impl Into<String>) -> Diagnostic {
        let (path, message) = (path.to_string(), message.into());
        Diagnostic { path, line: 0, column: 0, code, message, hint: None }
    }

    /// The same finding at a line and column.
    pub fn at(mut self, line: u32, column: u32) -> Diagnostic {
        (self.line, self.column) = (line, column);
        self
    }

    /// The same finding with a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// How much it matters.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// A value and what was noticed while making it.
#[derive(Debug)]
pub struct Noted<T> {
    /// The value; there always is one.
    pub value: T,
    /// What was noticed, in no particular order.
    pub notes: Vec<Diagnostic>,
}

impl<T> Noted<T> {
    /// A value with its findings.
    pub fn new(value: T, notes: Vec<Diagnostic>) -> Noted<T> {
        Noted { value, notes }
    }

    /// Hands over the value and adds its findings to a list.
    pub fn into_value(self, notes: &mut Vec<Diagnostic>) -> T {
        notes.extend(self.notes);
        self.value
    }
}

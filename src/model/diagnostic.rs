//! What blue has to say about a document, with a place and a hint.

use std::fmt;

use serde::{Deserialize, Serialize};

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
        #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
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

impl Severity {
    /// The severity of a word, `off` being none at all.
    pub fn parse(word: &str) -> Option<Option<Severity>> {
        Some(match word {
            "off" => None,
            "info" => Some(Severity::Info),
            "warning" => Some(Severity::Warning),
            "error" => Some(Severity::Error),
            _ => return None,
        })
    }
}

impl Code {
    /// The code that somebody wrote: in any case, with or without `BLUE-`.
    pub fn parse(text: &str) -> Option<Code> {
        let text = text.trim().to_ascii_uppercase();
        let bare = text.strip_prefix("BLUE-").unwrap_or(&text);
        Code::ALL.iter().copied().find(|code| code.as_str().strip_prefix("BLUE-") == Some(bare))
    }

    /// What the finding is about: `REF`, `DOC`, `OUT` …
    pub fn area(self) -> &'static str {
        self.as_str().split('-').nth(1).unwrap_or_default()
    }

    /// Whether it says that an emitted file is not what a build would give. Such a finding is an
    /// error and stays one.
    pub fn is_of_output(self) -> bool {
        self.area() == "OUT" && self.severity() == Severity::Error
    }

    /// Whether a project cannot choose its severity: emitted files that are not current, and what
    /// stops a build.
    pub fn is_fixed(self) -> bool {
        self.is_of_output() || matches!(self, Code::TooManyDocuments | Code::TooManyBytes)
    }

    /// Whether it says that a text speaks to an agent.
    pub fn is_order(self) -> bool {
        self.area() == "INJ"
    }

    /// Whether it says what hides in a text, must not leave it, or gives orders.
    pub fn is_of_guard(self) -> bool {
        matches!(self.area(), "HID" | "SEC" | "INJ") || self == Code::HiddenText
    }

    /// The least severity that a project may give it, if it may not give any.
    pub fn least(self) -> Option<Severity> {
        match self {
            _ if self.is_fixed() => Some(Severity::Error),
            // A secret that is redacted in silence is still a secret that leaked.
            _ if self.area() == "SEC" => Some(Severity::Warning),
            _ => None,
        }
    }

    /// Whether findings can be accepted as reviewed. What is on disk is not an opinion, and a
    /// secret is allowed by its own fingerprint, not by the place it stands in.
    pub fn may_be_accepted(self) -> bool {
        let about_disk = self.area() == "OUT" || self.is_fixed();
        !about_disk && self.area() != "SEC" && self != Code::AcceptedGone
    }
}

codes! {
    OutsideRoot = "BLUE-SRC-001", Warning, "a source outside the project";
    Denied = "BLUE-SRC-002", Warning, "a source on the deny-list";
    NotRegular = "BLUE-SRC-003", Warning, "a source that is not a regular file";
    TooLarge = "BLUE-SRC-004", Warning, "a source over the size limit";
    NameNotUtf8 = "BLUE-SRC-005", Warning, "a source whose name is not UTF-8";
    CaseCollision = "BLUE-SRC-006", Warning, "two names that differ only in case";
    TooDeep = "BLUE-SRC-007", Warning, "a folder nested too deeply";
    Vanished = "BLUE-SRC-008", Warning, "a source that vanished while it was read";
    NotCheckedOut = "BLUE-GIT-001", Error, "a document that is not checked out";
    InvalidUtf8 = "BLUE-DOC-001", Warning, "bytes that are not UTF-8";
    NulByte = "BLUE-DOC-002", Warning, "a NUL byte in a document";
    EmptyDocument = "BLUE-DOC-003", Warning, "a document without text";
    FrontMatterOpen = "BLUE-DOC-004", Warning, "front matter that never ends";
    FrontMatterYaml = "BLUE-DOC-005", Warning, "front matter that is not YAML";
    FrontMatterLarge = "BLUE-DOC-006", Warning, "front matter over the size limit";
    StatusUnknown = "BLUE-DOC-007", Info, "a status word that blue does not know";
    StatusDisagrees = "BLUE-DOC-008", Warning, "a file name and a header with different statuses";
    TooManyReferences = "BLUE-DOC-009", Warning, "more references than the limit";
    HiddenText = "BLUE-DOC-010", Warning, "hidden characters";
    HiddenName = "BLUE-HID-001", Warning, "a file name with hidden characters";
    MixedScript = "BLUE-HID-002", Warning, "an id or address with mixed scripts";
    Secret = "BLUE-SEC-001", Warning, "text that looks like a secret";
    SecretName = "BLUE-SEC-002", Warning, "a file name that looks like a secret";
    TrackedState = "BLUE-SEC-003", Error, "local state that git tracks";
    Order = "BLUE-INJ-001", Warning, "text that looks like a prompt injection";
    FakeTag = "BLUE-INJ-002", Warning, "a tag that an agent may interpret";
    FakeTurn = "BLUE-INJ-003", Warning, "a line that imitates a chat turn";
    CommentToAgent = "BLUE-INJ-004", Warning, "a comment that addresses an agent";
    BrokenLink = "BLUE-REF-001", Warning, "a broken link";
    Ambiguous = "BLUE-REF-002", Warning, "a reference that matches several documents";
    Renamed = "BLUE-REF-003", Warning, "a link to a document under its old name";
    SelfReference = "BLUE-REF-004", Info, "a document that refers to itself";
    Unresolved = "BLUE-REF-005", Info, "a mention of a document that is not here";
    BrokenUri = "BLUE-REF-006", Warning, "a blue:// address that does not exist";
    MissingFile = "BLUE-REF-007", Info, "a link to a file that is not here";
    PathUnknown = "BLUE-REF-008", Info, "a path field that matches nothing";
    DuplicateNumber = "BLUE-ID-001", Warning, "a number used more than once";
    DuplicateId = "BLUE-ID-002", Warning, "two documents with the same name";
    SupersessionCycle = "BLUE-SUP-001", Warning, "documents that supersede each other";
    LiveButSuperseded = "BLUE-SUP-002", Warning, "a superseded document with a live status";
    HandEdited = "BLUE-OUT-001", Warning, "an emitted file that was edited by hand";
    Stale = "BLUE-OUT-002", Error, "an emitted file that is out of date";
    Edited = "BLUE-OUT-003", Error, "an emitted file that is not what blue wrote";
    Missing = "BLUE-OUT-004", Error, "an emitted file that is missing";
    Foreign = "BLUE-OUT-005", Error, "a foreign file at the path of an emitted file";
    Orphan = "BLUE-OUT-006", Error, "an emitted file that is no longer needed";
    KeptOrphan = "BLUE-OUT-007", Warning, "an edited file that is no longer needed";
    CacheNotKept = "BLUE-OUT-008", Warning, "a cache that could not be written";
    SourceUnknown = "BLUE-CFG-001", Warning, "a configured source that does not exist";
    TooManyBundles = "BLUE-CFG-002", Info, "more live RFCs than workflow bundles";
    AcceptedGone = "BLUE-CFG-003", Info, "an accepted finding that no longer occurs";
    PluginNotRun = "BLUE-PLG-001", Warning, "a plugin that is registered and not run";
    LongLine = "BLUE-LIM-001", Warning, "a line over the length limit";
    DeepMarkdown = "BLUE-LIM-002", Warning, "Markdown nested too deeply";
    DeepYaml = "BLUE-LIM-003", Warning, "metadata nested too deeply";
    WideYaml = "BLUE-LIM-004", Warning, "metadata whose aliases expand too far";
    TooManyDocuments = "BLUE-LIM-005", Error, "more documents than the limit";
    TooManyBytes = "BLUE-LIM-006", Error, "more bytes of documents than the limit";
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
    /// How much it matters here: that of its code, unless the project says otherwise.
    pub severity: Severity,
}

impl Diagnostic {
    /// A finding about a whole file.
    pub fn new(code: Code, path: &str, message: impl Into<String>) -> Diagnostic {
        let (path, message) = (path.to_string(), message.into());
        let severity = code.severity();
        Diagnostic { path, line: 0, column: 0, code, message, hint: None, severity }
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
        self.severity
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

//! Findings about documents and files: their codes, severities, places and hints.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::repeated::WHOLE_PROJECT;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Severity {
    /// Worth knowing; nothing is wrong.
    Info,
    /// Something is wrong in a document; the build continues.
    Warning,
    /// Something that has to be fixed; the command fails.
    Error,
}

impl Severity {
    /// Returns the word used in messages and in emitted JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }

    /// Parses a severity as the configuration writes it; `off` is `Some(None)`.
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

macro_rules! codes {
    ($($name:ident = $code:literal, $severity:ident, $title:literal;)*) => {
        /// The kind of a finding. Codes are stable: one may be retired, but is never reused.
        #[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
        pub enum Code { $(#[doc = $title] $name,)* }

        impl Code {
            /// All codes, in order.
            pub const ALL: &'static [Code] = &[$(Code::$name,)*];

            /// Returns the stable name, such as `BLUE-REF-001`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$name => $code,)* }
            }

            /// Returns the default severity of findings of this kind.
            pub fn severity(self) -> Severity {
                match self { $(Code::$name => Severity::$severity,)* }
            }

            /// Returns a description in one line.
            pub fn title(self) -> &'static str {
                match self { $(Code::$name => $title,)* }
            }
        }
    };
}

impl Code {
    /// Parses a code that a user typed, in any case, with or without `BLUE-`.
    pub fn parse(text: &str) -> Option<Code> {
        let text = text.trim().to_ascii_uppercase();
        let bare = text.strip_prefix("BLUE-").unwrap_or(&text);
        Code::ALL.iter().copied().find(|code| code.as_str().strip_prefix("BLUE-") == Some(bare))
    }

    /// Returns the subject of the code: `REF`, `DOC`, `OUT` …
    pub fn area(self) -> &'static str {
        self.as_str().split('-').nth(1).unwrap_or_default()
    }

    /// Returns true if findings report that an emitted file differs from what a build would write.
    /// Such a finding is always an error.
    pub fn is_about_output(self) -> bool {
        self.area() == "OUT" && self.severity() == Severity::Error
    }

    /// Returns true if a project cannot change the severity: for emitted files that are not
    /// current, and for limits that stop a build.
    pub fn has_fixed_severity(self) -> bool {
        self.is_about_output() || matches!(self, Code::TooManyDocuments | Code::TooManyBytes)
    }

    /// Returns true if findings report a prompt injection.
    pub fn is_prompt_injection(self) -> bool {
        self.area() == "INJ"
    }

    /// Returns true if `guard` reports the findings: hidden characters, secrets, prompt injections.
    pub fn is_from_guard(self) -> bool {
        matches!(self.area(), "HID" | "SEC" | "INJ") || self == Code::HiddenText
    }

    /// Returns the lowest severity that a project may configure, or `None` if it may choose any.
    pub fn min_severity(self) -> Option<Severity> {
        match self {
            _ if self.has_fixed_severity() => Some(Severity::Error),
            // A secret that is redacted without a message would still be a leaked secret.
            _ if self.area() == "SEC" => Some(Severity::Warning),
            _ => None,
        }
    }

    /// Returns true if findings can be accepted as reviewed.
    ///
    /// The state of emitted files is not a matter of opinion, so those findings cannot. A secret is
    /// allowed by its fingerprint in the configuration, not by its place.
    pub fn may_be_accepted(self) -> bool {
        let about_disk = self.area() == "OUT" || self.has_fixed_severity();
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
    UnreadFormat = "BLUE-SRC-009", Info, "documents in a format that blue does not read";
    NotCheckedOut = "BLUE-GIT-001", Error, "a document that is not checked out";
    TrackedWorktree = "BLUE-GIT-002", Error, "a worktree file that git tracks";
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
    PromptInjection = "BLUE-INJ-001", Warning, "text that looks like a prompt injection";
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
    SharedBranchName = "BLUE-ID-003", Info, "a branch name that fits two documents";
    SupersessionCycle = "BLUE-SUP-001", Warning, "documents that supersede each other";
    LiveButSuperseded = "BLUE-SUP-002", Warning, "a superseded document with a live status";
    HandEdited = "BLUE-OUT-001", Warning, "an emitted file that was edited by hand";
    Stale = "BLUE-OUT-002", Error, "an emitted file that is out of date";
    Edited = "BLUE-OUT-003", Error, "an emitted file that is not what blue wrote";
    Missing = "BLUE-OUT-004", Error, "an emitted file that is missing";
    Foreign = "BLUE-OUT-005", Error, "a foreign file at the path of an emitted file";
    Orphan = "BLUE-OUT-006", Error, "an emitted file that is no longer needed";
    EditedOrphan = "BLUE-OUT-007", Warning, "an edited file that is no longer needed";
    CacheNotWritten = "BLUE-OUT-008", Warning, "a cache that could not be written";
    TargetSkipped = "BLUE-OUT-009", Warning, "a file of a target that is left alone";
    SourceUnknown = "BLUE-CFG-001", Warning, "a configured source that does not exist";
    TooManyBundles = "BLUE-CFG-002", Info, "more unfinished RFCs than workflow bundles";
    AcceptedGone = "BLUE-CFG-003", Info, "an accepted finding that no longer occurs";
    RoleHeader = "BLUE-RSP-001", Info, "a file of a responsibility without its front matter";
    StateBroken = "BLUE-RSP-002", Error, "a state of a responsibility that was edited by hand";
    RoleStatus = "BLUE-RSP-003", Warning, "a responsibility whose status is not clear";
    RoleSkipped = "BLUE-RSP-004", Warning, "a container of a responsibility that is not built";
    RoleHygiene = "BLUE-RSP-005", Warning, "context of a responsibility near its limits";
    RoleHeld = "BLUE-RSP-006", Error, "a responsibility whose publication is held";
    EventLine = "BLUE-RSP-007", Warning, "an event that cannot be read or is out of order";
    RoleHandWritten = "BLUE-RSP-008", Warning, "a hand-written file where blue would write";
    AppendOnlyChanged = "BLUE-RSP-009", Error, "a file that may only grow and was rewritten";
    RoleManifest = "BLUE-RSP-010", Warning, "a manifest that names something that does not exist";
    PluginNotRun = "BLUE-PLG-001", Warning, "a plugin that is registered and not run";
    LongLine = "BLUE-LIM-001", Warning, "a line over the length limit";
    DeepMarkdown = "BLUE-LIM-002", Warning, "Markdown nested too deeply";
    DeepYaml = "BLUE-LIM-003", Warning, "metadata nested too deeply";
    WideYaml = "BLUE-LIM-004", Warning, "metadata whose aliases expand too far";
    TooManyDocuments = "BLUE-LIM-005", Error, "more documents than the limit";
    TooManyBytes = "BLUE-LIM-006", Error, "more bytes of documents than the limit";
    TextCut = "BLUE-LIM-007", Warning, "a text for the session that was cut to its budget";
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One finding. Findings sort by place, so output does not depend on the order of the work.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Diagnostic {
    /// Path of the file below the project root, with `/` as separator.
    pub path: String,
    /// Line, from 1; 0 if the finding is about the whole file.
    pub line: u32,
    /// Column in characters, from 1; 0 if there is no line.
    pub column: u32,
    /// The kind of finding.
    pub code: Code,
    /// Description of the problem, in lower case and without a full stop.
    pub message: String,
    /// A command to type or an action to take.
    pub hint: Option<String>,
    /// Severity in this project: the default of the code unless the configuration overrides it.
    pub severity: Severity,
    /// Number of findings with the same cause that this one stands for; 1 unless it was merged.
    pub count: u32,
    /// A text in the document and the text to write instead.
    pub fix: Option<(String, String)>,
    /// Of a link to a renamed document: the path as written, and the document's path now.
    pub renamed: Option<(String, String)>,
}

impl Diagnostic {
    /// Creates a finding about a whole file.
    pub fn new(code: Code, path: &str, message: impl Into<String>) -> Diagnostic {
        let (path, message) = (path.to_string(), message.into());
        let severity = code.severity();
        Diagnostic {
            path,
            line: 0,
            column: 0,
            code,
            message,
            hint: None,
            severity,
            count: 1,
            fix: None,
            renamed: None,
        }
    }

    /// Returns the path under which the finding is accepted. A merged one is about the project.
    pub fn scope(&self) -> &str {
        if self.count > 1 { WHOLE_PROJECT } else { &self.path }
    }

    /// Sets the line and column.
    pub fn at(mut self, line: u32, column: u32) -> Diagnostic {
        (self.line, self.column) = (line, column);
        self
    }

    /// Sets the hint.
    pub fn hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }
}

/// A value with the findings that were reported while it was computed.
#[derive(Debug)]
pub struct Noted<T> {
    /// The value. Findings never prevent one.
    pub value: T,
    /// The findings, in no particular order.
    pub notes: Vec<Diagnostic>,
}

impl<T> Noted<T> {
    /// Creates a value with its findings.
    pub fn new(value: T, notes: Vec<Diagnostic>) -> Noted<T> {
        Noted { value, notes }
    }

    /// Returns the value and appends its findings to `notes`.
    pub fn into_value(self, notes: &mut Vec<Diagnostic>) -> T {
        notes.extend(self.notes);
        self.value
    }
}

//! Paths of the repository that documents name, and the patterns that match them.

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::DocId;

/// The way in which a document names a path, the most deliberate one first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Naming {
    /// A header field lists it as affected.
    Field,
    /// A link points to it.
    Link,
    /// A code span contains it.
    Code,
}

impl Naming {
    /// All variants, in order.
    pub const ALL: [Naming; 3] = [Naming::Field, Naming::Link, Naming::Code];

    /// Returns the phrase used in emitted files.
    pub fn as_str(self) -> &'static str {
        match self {
            Naming::Field => "affects it",
            Naming::Link => "links to it",
            Naming::Code => "named in code",
        }
    }
}

/// A path as a document writes it, after [`clean_path`] but not looked up yet.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct NamedPath {
    /// The path. A leading `/` means the root, a trailing one a folder.
    pub path: String,
    /// The way in which it is named.
    pub naming: Naming,
    /// Line of the first occurrence, from 1; 0 if that is in another file.
    pub line: u32,
}

/// The kind of a path that a document names.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum PathKind {
    /// A file, or anything else that is not a folder.
    File,
    /// A folder with everything below it.
    Folder,
    /// A glob pattern.
    Glob,
}

impl PathKind {
    /// All variants, in order.
    pub const ALL: [PathKind; 3] = [PathKind::File, PathKind::Folder, PathKind::Glob];

    /// Returns the word used in emitted files.
    pub fn as_str(self) -> &'static str {
        match self {
            PathKind::File => "file",
            PathKind::Folder => "folder",
            PathKind::Glob => "glob",
        }
    }
}

/// A document that names a path of the repository.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub struct Binding {
    /// The path below the root, or the glob pattern.
    pub path: String,
    /// The kind of path.
    pub kind: PathKind,
    /// The way in which the document names it.
    pub naming: Naming,
    /// The document that names it.
    pub document: DocId,
    /// Line in that document, from 1; 0 if the name is in another file.
    pub line: u32,
    /// True if the document names a folder, but not what is in it.
    pub folder_only: bool,
}

/// Maximum length of a path in bytes. Longer texts are not looked up.
pub const MAX_PATH: usize = 256;

/// Well-known files without an extension.
const PLAIN_FILES: &[&str] = &[
    "BUILD",
    "CODEOWNERS",
    "Containerfile",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "LICENSE",
    "Makefile",
    "NOTICE",
    "Procfile",
    "Rakefile",
    "Vagrantfile",
];

/// Returns true if a text has the form of a path. Most such texts are not paths, so the caller
/// still has to look them up.
pub fn looks_like_path(text: &str) -> bool {
    let may_be_path = text.len() <= MAX_PATH
        && !text.starts_with(['-', '~', '$'])
        && !text.contains("://")
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>\"'|;`".contains(c));
    if !may_be_path {
        return false;
    }
    let bare = text.trim_end_matches('/');
    if text.contains(['/', '\\']) {
        return bare.chars().any(char::is_alphanumeric);
    }
    match text.rsplit_once('.') {
        Some((_, extension)) => {
            (1..=12).contains(&extension.len())
                && extension.starts_with(|c: char| c.is_ascii_alphabetic())
                && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        }
        None => PLAIN_FILES.contains(&text),
    }
}

/// Normalises a path as written: removes a leading `./`, a line number and an anchor, replaces `\`
/// with `/`, and shortens a pattern for a whole folder (`src/**`) to the folder (`src/`).
///
/// Returns `None` if the rest is not a path.
pub fn clean_path(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.split('#').next()?;
    let mut path = match text.contains('\\') && !text.contains('/') {
        true => text.replace('\\', "/"),
        false => text.to_string(),
    };
    // `walk.rs:42`, `walk.rs:42:7` and `walk.rs::visit` name a place in a file.
    if let Some((at, _)) = path.match_indices(':').find(|(at, _)| {
        path[at + 1..].starts_with(|c: char| c.is_ascii_digit() || c == ':') && *at > 1
    }) {
        path.truncate(at);
    }
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.to_string();
    }
    for all in ["/**/*", "/**", "/*", "/..."] {
        if let Some(folder) = path.strip_suffix(all) {
            path = format!("{folder}/");
            break;
        }
    }
    let is_path = path.len() <= MAX_PATH
        && !path.contains(':')
        && path.chars().any(char::is_alphanumeric)
        && !path.chars().any(char::is_control);
    is_path.then_some(path)
}

/// Returns true if a path is a glob pattern.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// A glob pattern for paths below the root. `*` does not match `/`, `**` does, and a pattern
/// without a `/` matches in every folder.
#[derive(Debug)]
pub struct Glob {
    matcher: GlobMatcher,
    n_literal_folders: usize,
    whole_folder: bool,
}

impl Glob {
    /// Parses a pattern; `None` if it is too long or not valid.
    pub fn new(pattern: &str) -> Option<Glob> {
        let full = match pattern.contains('/') {
            true => pattern.trim_start_matches('/').to_string(),
            false => format!("**/{pattern}"),
        };
        if full.len() > MAX_PATH {
            return None;
        }
        let glob = GlobBuilder::new(&full).literal_separator(true).build().ok()?;
        let wild = full.find(['*', '?', '[', '{']).unwrap_or(full.len());
        let n_literal_folders = full[..wild].matches('/').count();
        Some(Glob {
            matcher: glob.compile_matcher(),
            n_literal_folders,
            whole_folder: full.ends_with("/**"),
        })
    }

    /// Returns true if the pattern matches a path.
    pub fn matches(&self, path: &str) -> bool {
        self.matcher.is_match(path)
            || (self.whole_folder && self.matcher.is_match(format!("{path}/x")))
    }

    /// Returns the number of folders before the first wildcard.
    pub fn n_literal_folders(&self) -> usize {
        self.n_literal_folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_numbers_anchors_and_prefixes_are_removed_from_paths() {
        for (written, path) in [
            ("src/foo.rs", "src/foo.rs"),
            ("./src/foo.rs", "src/foo.rs"),
            ("src/foo.rs:42", "src/foo.rs"),
            ("src/foo.rs:42:7", "src/foo.rs"),
            ("src/foo.rs#L10-L20", "src/foo.rs"),
            ("tests/test_a.py::test_x", "tests/test_a.py"),
            ("src\\parse\\mod.rs", "src/parse/mod.rs"),
            ("src/parse/", "src/parse/"),
            ("src/parse/**", "src/parse/"),
            ("./pkg/...", "pkg/"),
            ("/src/x", "/src/x"),
        ] {
            assert_eq!(clean_path(written).as_deref(), Some(path), "{written}");
        }
        for bad in ["", ".", "./", "C:\\x", "#L1", "a:b/c", "..", "a/\u{7}"] {
            assert_eq!(clean_path(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn commands_urls_and_identifiers_are_not_paths() {
        for like in ["src/x", "Cargo.toml", "a\\b", ".gitignore", "Makefile", "and/or"] {
            assert!(looks_like_path(like), "{like}");
        }
        for other in
            ["cargo test", "--path/x", "https://a/b", "Vec", "1.2.3", "f(x)", "a.b()", "~/x", "/"]
        {
            assert!(!looks_like_path(other), "{other}");
        }
    }

    #[test]
    fn a_star_does_not_match_a_slash_and_a_bare_pattern_matches_everywhere() {
        let fits = |glob: &str, path: &str| Glob::new(glob).is_some_and(|glob| glob.matches(path));
        assert!(fits("src/parse/**", "src/parse/a/b.rs") && fits("src/parse/**", "src/parse"));
        assert!(!fits("src/parse/**", "src/parser.rs"));
        assert!(fits("src/*.rs", "src/a.rs") && !fits("src/*.rs", "src/a/b.rs"));
        assert!(fits("*.rs", "src/a/b.rs") && fits("*.rs", "b.rs"));
        assert!(fits("src/{a,b}.rs", "src/b.rs") && Glob::new("src/{a").is_none());
        assert_eq!(Glob::new("src/parse/*.rs").map(|glob| glob.n_literal_folders()), Some(2));
        assert_eq!(Glob::new("*.rs").map(|glob| glob.n_literal_folders()), Some(0));
    }
}

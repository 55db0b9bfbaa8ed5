//! Files and folders of the repository, as documents name them.

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::DocId;

/// How a document names a path, the most deliberate way first.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub enum Naming {
    /// A header field says that it is affected.
    Field,
    /// A link leads to it.
    Link,
    /// It stands in a code span.
    Code,
}

impl Naming {
    /// Every way, in order.
    pub const ALL: [Naming; 3] = [Naming::Field, Naming::Link, Naming::Code];

    /// The words in emitted files.
    pub fn as_str(self) -> &'static str {
        match self {
            Naming::Field => "affects it",
            Naming::Link => "links to it",
            Naming::Code => "named in code",
        }
    }
}

/// A path as a document writes it, cleaned by [`cleaned`] but not looked up yet.
#[derive(Clone, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
pub struct NamedPath {
    /// The path; a leading `/` means the root, a trailing one a folder.
    pub path: String,
    /// How it is named.
    pub naming: Naming,
    /// Line of the first time, from 1; 0 when it stands in another file.
    pub line: u32,
}

/// What a path is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum PathKind {
    /// A file, or anything that is no folder.
    File,
    /// A folder, which stands for all that is in it.
    Folder,
    /// A pattern.
    Glob,
}

impl PathKind {
    /// Every kind, in order.
    pub const ALL: [PathKind; 3] = [PathKind::File, PathKind::Folder, PathKind::Glob];

    /// The word in emitted files.
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
    /// The path below the root, or the pattern.
    pub path: String,
    /// What it is.
    pub kind: PathKind,
    /// How it is named.
    pub naming: Naming,
    /// Who names it.
    pub document: DocId,
    /// Where, from 1; 0 when it stands in another file.
    pub line: u32,
}

/// A longer path is nobody's.
pub const MAX_PATH: usize = 256;

/// Files without an ending that are known by their name.
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

/// Whether a text can be the path of a file or folder at all. Most that can are not: whoever asks
/// looks it up.
pub fn is_like_path(text: &str) -> bool {
    let sane = text.len() <= MAX_PATH
        && !text.starts_with(['-', '~', '$'])
        && !text.contains("://")
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || "<>\"'|;`".contains(c));
    if !sane {
        return false;
    }
    let bare = text.trim_end_matches('/');
    if text.contains(['/', '\\']) {
        return bare.chars().any(char::is_alphanumeric);
    }
    match text.rsplit_once('.') {
        Some((_, ending)) => {
            (1..=12).contains(&ending.len())
                && ending.starts_with(|c: char| c.is_ascii_alphabetic())
                && ending.bytes().all(|b| b.is_ascii_alphanumeric())
        }
        None => PLAIN_FILES.contains(&text),
    }
}

/// A path without what is no part of it: `./`, a line, an anchor, a pattern for all that is in a
/// folder; `/` between its parts. A path that leads nowhere is `None`.
pub fn cleaned(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.split('#').next()?;
    let mut path = match text.contains('\\') && !text.contains('/') {
        true => text.replace('\\', "/"),
        false => text.to_string(),
    };
    // `walk.rs:42`, `walk.rs:42:7` and `walk.rs::visit` are places in a file.
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

/// Whether a path is a pattern.
pub fn is_glob(path: &str) -> bool {
    path.contains(['*', '?', '[', '{'])
}

/// A pattern over paths below the root: `*` stays within a folder, `**` does not, and a pattern
/// without a `/` fits in every folder.
#[derive(Debug)]
pub struct Glob {
    matcher: GlobMatcher,
    n_literal: usize,
    whole_folder: bool,
}

impl Glob {
    /// Reads a pattern; `None` if it is none.
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
        let n_literal = full[..wild].matches('/').count();
        Some(Glob {
            matcher: glob.compile_matcher(),
            n_literal,
            whole_folder: full.ends_with("/**"),
        })
    }

    /// Whether a path fits.
    pub fn fits(&self, path: &str) -> bool {
        self.matcher.is_match(path)
            || (self.whole_folder && self.matcher.is_match(format!("{path}/x")))
    }

    /// How many folders it names before its first wildcard.
    pub fn n_literal(&self) -> usize {
        self.n_literal
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_cleaned_of_what_is_no_part_of_it() {
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
            assert_eq!(cleaned(written).as_deref(), Some(path), "{written}");
        }
        for bad in ["", ".", "./", "C:\\x", "#L1", "a:b/c", "..", "a/\u{7}"] {
            assert_eq!(cleaned(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn words_of_code_are_not_like_paths() {
        for like in ["src/x", "Cargo.toml", "a\\b", ".gitignore", "Makefile", "and/or"] {
            assert!(is_like_path(like), "{like}");
        }
        for other in
            ["cargo test", "--path/x", "https://a/b", "Vec", "1.2.3", "f(x)", "a.b()", "~/x", "/"]
        {
            assert!(!is_like_path(other), "{other}");
        }
    }

    #[test]
    fn a_star_stays_in_its_folder_and_a_bare_pattern_fits_everywhere() {
        let fits = |glob: &str, path: &str| Glob::new(glob).is_some_and(|glob| glob.fits(path));
        assert!(fits("src/parse/**", "src/parse/a/b.rs") && fits("src/parse/**", "src/parse"));
        assert!(!fits("src/parse/**", "src/parser.rs"));
        assert!(fits("src/*.rs", "src/a.rs") && !fits("src/*.rs", "src/a/b.rs"));
        assert!(fits("*.rs", "src/a/b.rs") && fits("*.rs", "b.rs"));
        assert!(fits("src/{a,b}.rs", "src/b.rs") && Glob::new("src/{a").is_none());
        assert_eq!(Glob::new("src/parse/*.rs").map(|glob| glob.n_literal()), Some(2));
        assert_eq!(Glob::new("*.rs").map(|glob| glob.n_literal()), Some(0));
    }
}

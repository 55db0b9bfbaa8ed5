//! The deny-list: names of files and folders that are never read.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::model::layout::folder_of;
use crate::model::{Code, Diagnostic, FileName, FoundFile, Plan};

/// Patterns that match one path component each, in any case.
pub struct DenyList {
    all: GlobSet,
    /// The patterns that also apply to decisions.
    for_decisions: GlobSet,
}

/// The result of comparing a path with the deny-list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access<'a> {
    /// No component is on the list.
    Allowed,
    /// The component is on the list because of a word, but has the form of a decision's title. The
    /// document may be used if its content has a title and no secret.
    Scanned(&'a str),
    /// The component is on the list.
    Denied(&'a str),
}

/// Words that decisions are about. A pattern of such a word, `*secret*`, excludes files that have
/// secrets in them and matches the titles of decisions about secrets, too.
const TOPICS: &[&str] = &[
    "secret",
    "secrets",
    "credential",
    "credentials",
    "token",
    "tokens",
    "password",
    "passwords",
    "passwd",
    "key",
    "keys",
    "apikey",
];

impl DenyList {
    /// Compiles patterns that apply to everything.
    pub fn new(patterns: &[String]) -> anyhow::Result<DenyList> {
        DenyList::compile(patterns, |_| true)
    }

    /// Compiles the patterns of a configuration.
    pub fn of_plan(plan: &Plan) -> anyhow::Result<DenyList> {
        DenyList::compile(&plan.deny, |pattern| plan.deny_decisions || !is_topic(pattern))
    }

    fn compile(
        patterns: &[String],
        is_for_decisions: impl Fn(&str) -> bool,
    ) -> anyhow::Result<DenyList> {
        let (mut all, mut for_decisions) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let glob = GlobBuilder::new(pattern).case_insensitive(true).build()?;
            if is_for_decisions(pattern) {
                for_decisions.add(glob.clone());
            }
            all.add(glob);
        }
        Ok(DenyList { all: all.build()?, for_decisions: for_decisions.build()? })
    }

    /// Returns the first component of a path that is on the list.
    pub fn denied_part<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.split('/').find(|part| self.all.is_match(part))
    }

    /// Compares the path of a document with the list. It depends on nothing but the path, so that
    /// the build and every later read agree.
    pub fn access<'a>(&self, path: &'a str) -> Access<'a> {
        let mut access = Access::Allowed;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            if !self.all.is_match(part) {
                continue;
            }
            if self.for_decisions.is_match(part) || !self.is_decision(part, parts.peek().is_some())
            {
                return Access::Denied(part);
            }
            access = Access::Scanned(part);
        }
        access
    }

    /// Returns true if a denied name is the title of a decision: a number and a title with the
    /// denied word in it, or several words. `secrets.md`, `credentials/` and `secret-1.md` are not.
    /// The name of a folder needs one word more, because a folder may have any content.
    fn is_decision(&self, name: &str, is_folder: bool) -> bool {
        let parsed = FileName::parse(name);
        let stem = match is_folder {
            true => name,
            false => name.rsplit_once('.').map_or(name, |(stem, _)| stem),
        };
        let words = stem.split(|c: char| !c.is_alphanumeric());
        let n_words = words.filter(|word| word.contains(char::is_alphabetic)).count();
        parsed.number.is_some() && self.all.is_match(&parsed.slug)
            || n_words >= if is_folder { 3 } else { 2 }
    }

    /// Removes denied documents and sidecar files, and reports each. Documents of one folder are
    /// adjacent, so that each folder is matched only once.
    pub(super) fn filter(&self, found: &mut Vec<FoundFile>, notes: &mut Vec<Diagnostic>) {
        let mut last_folder = None;
        found.retain_mut(|found| {
            let is_denied = |path: &mut String| matches!(self.access(path), Access::Denied(_));
            if let Some(path) = found.sidecar.take_if(is_denied) {
                self.allows(&path, notes);
            }
            let folder = folder_of(&found.path);
            if last_folder.as_ref().is_none_or(|(last, _)| last != folder) {
                last_folder = Some((folder.to_string(), self.denied_part(folder).is_none()));
            }
            let file = &found.path[folder.len()..];
            let allowed = last_folder.as_ref().is_some_and(|(_, allowed)| *allowed)
                && !self.all.is_match(file.trim_start_matches('/'));
            allowed || self.allows(&found.path, notes)
        });
    }

    /// Returns true if a path may be read. A refusal is reported with the name that caused it, so
    /// that the user can allow it.
    fn allows(&self, path: &str, notes: &mut Vec<Diagnostic>) -> bool {
        let Access::Denied(part) = self.access(path) else { return true };
        let message = format!("{part:?} is on the deny-list; the document is not read");
        let hint = "rename it, or take the pattern out of security.deny in .blue/config.yaml";
        notes.push(Diagnostic::new(Code::Denied, path, message).hint(hint));
        false
    }
}

/// Returns true for a pattern that matches every name with one of the words in it.
fn is_topic(pattern: &str) -> bool {
    let word = pattern.strip_prefix('*').and_then(|rest| rest.strip_suffix('*'));
    word.is_some_and(|word| TOPICS.contains(&word.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deny_list(deny_decisions: bool) -> DenyList {
        let patterns = ["*secret*", "*credentials*", "*.key", ".env", "*private*"];
        DenyList::compile(&patterns.map(str::to_string), |pattern| {
            deny_decisions || !is_topic(pattern)
        })
        .expect("the patterns are valid")
    }

    #[test]
    fn decisions_about_secrets_are_scanned() {
        let deny = deny_list(false);
        for path in [
            "docs/adr/0007-store-secrets-in-vault.md",
            "docs/adr/0001-secrets.md",
            "text/1234-credentials-process.md",
            "docs/adr/ADR-12-Secret-Store.md",
            "docs/adr/manage-secrets.md",
            "docs/adr/2024-05-01-secret-rotation.md",
            "features/0104-chained-credentials/README.md",
            "features/0051-keys/shamir_secret.md",
            "proposals/rotate-the-secrets/README.md",
        ] {
            assert!(matches!(deny.access(path), Access::Scanned(_)), "{path}");
            assert!(matches!(deny_list(true).access(path), Access::Denied(_)), "{path}");
        }
    }

    #[test]
    fn everything_else_on_the_list_is_denied() {
        for path in [
            "secrets.md",
            "docs/adr/secrets.md",
            "docs/adr/Credentials.md",
            "docs/adr/secret-1.md",
            "docs/adr/0001.secrets",
            "credentials/0001-use-rust.md",
            "docs/adr/my-secrets/0001-use-rust.md",
            "docs/adr/0001-server.key",
            "docs/adr/0001-private-secrets.md",
            "docs/secrets/0001-store-secrets.md",
            ".env/0001-store-secrets.md",
        ] {
            assert!(matches!(deny_list(false).access(path), Access::Denied(_)), "{path}");
        }
        assert_eq!(deny_list(false).access("docs/adr/0001-use-rust.md"), Access::Allowed);
    }
}

//! The deny-list: names that are never read.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::model::{Code, Diagnostic};

/// Patterns that match one path component each, in any case.
pub struct DenyList(GlobSet);

impl DenyList {
    /// Compiles the patterns of a configuration.
    pub fn new(patterns: &[String]) -> anyhow::Result<DenyList> {
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            set.add(GlobBuilder::new(pattern).case_insensitive(true).build()?);
        }
        Ok(DenyList(set.build()?))
    }

    /// The component of a path that the list names.
    pub fn denied_part<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.split('/').find(|part| self.0.is_match(part))
    }

    /// Whether a path may be read; a refusal is noted by name, so that it can be allowed on
    /// purpose.
    pub(super) fn allows(&self, path: &str, notes: &mut Vec<Diagnostic>) -> bool {
        let Some(part) = self.denied_part(path) else { return true };
        let message = format!("{part:?} is on the deny-list; the document is not read");
        let hint = "rename it, or take the pattern out of security.deny in .blue/config.yaml";
        notes.push(Diagnostic::new(Code::Denied, path, message).hint(hint));
        false
    }
}

//! The deny-list: names that are never read.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::model::layout::folder_of;
use crate::model::{Code, Diagnostic, FoundFile};

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

    /// Takes out what may not be read. Files of one folder follow each other, so that a folder is
    /// asked for once.
    pub(super) fn filter(&self, found: &mut Vec<FoundFile>, notes: &mut Vec<Diagnostic>) {
        let mut known = None;
        found.retain_mut(|found| {
            // What the list names is not read beside a document either.
            let named = found.sidecar.take_if(|path| self.denied_part(path).is_some());
            if let Some(path) = named {
                self.allows(&path, notes);
            }
            let folder = folder_of(&found.path);
            if known.as_ref().is_none_or(|(last, _)| last != folder) {
                known = Some((folder.to_string(), self.denied_part(folder).is_none()));
            }
            let file = &found.path[folder.len()..];
            let allowed = known.as_ref().is_some_and(|(_, allowed)| *allowed)
                && !self.0.is_match(file.trim_start_matches('/'));
            allowed || self.allows(&found.path, notes)
        });
    }

    /// Whether a path may be read; a refusal is noted by name, so that it can be allowed on
    /// purpose.
    fn allows(&self, path: &str, notes: &mut Vec<Diagnostic>) -> bool {
        let Some(part) = self.denied_part(path) else { return true };
        let message = format!("{part:?} is on the deny-list; the document is not read");
        let hint = "rename it, or take the pattern out of security.deny in .blue/config.yaml";
        notes.push(Diagnostic::new(Code::Denied, path, message).hint(hint));
        false
    }
}

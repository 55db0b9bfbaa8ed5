//! The deny-list: names of files and folders that are never read.

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

    /// Returns the first component of a path that is on the list.
    pub fn denied_part<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.split('/').find(|part| self.0.is_match(part))
    }

    /// Removes denied documents and sidecar files, and reports each. Documents of one folder are
    /// adjacent, so that each folder is matched only once.
    pub(super) fn filter(&self, found: &mut Vec<FoundFile>, notes: &mut Vec<Diagnostic>) {
        let mut last_folder = None;
        found.retain_mut(|found| {
            let denied = found.sidecar.take_if(|path| self.denied_part(path).is_some());
            if let Some(path) = denied {
                self.allows(&path, notes);
            }
            let folder = folder_of(&found.path);
            if last_folder.as_ref().is_none_or(|(last, _)| last != folder) {
                last_folder = Some((folder.to_string(), self.denied_part(folder).is_none()));
            }
            let file = &found.path[folder.len()..];
            let allowed = last_folder.as_ref().is_some_and(|(_, allowed)| *allowed)
                && !self.0.is_match(file.trim_start_matches('/'));
            allowed || self.allows(&found.path, notes)
        });
    }

    /// Returns true if a path may be read. A refusal is reported with the name that caused it, so
    /// that the user can allow it.
    fn allows(&self, path: &str, notes: &mut Vec<Diagnostic>) -> bool {
        let Some(part) = self.denied_part(path) else { return true };
        let message = format!("{part:?} is on the deny-list; the document is not read");
        let hint = "rename it, or take the pattern out of security.deny in .blue/config.yaml";
        notes.push(Diagnostic::new(Code::Denied, path, message).hint(hint));
        false
    }
}

//! Reasons why each artifact was or was not rebuilt.

use super::{Fate, Outcome};
use crate::model::layout::{GUIDE, TEMPLATES, VOICE};
use crate::model::{Action, State, TextFormat, TrackedFile};

/// Documents that are named before the rest is only counted.
const MAX_NAMES: usize = 3;

/// Returns the outcome of a build that found no changed file.
pub(super) fn nothing_changed(previous: &State) -> Outcome {
    let fate = |path: &str| {
        let reason = "current: nothing changed since the last build".to_string();
        Fate { path: path.to_string(), written: false, reason }
    };
    Outcome {
        fates: previous.outputs.iter().map(|file| fate(&file.path)).collect(),
        known: Some(previous.counts),
        ..Outcome::default()
    }
}

/// Compares a build with the previous one.
pub(super) struct Explainer<'a> {
    pub(super) previous: &'a State,
    /// The files of documents that this build read, sorted by path.
    pub(super) files: &'a [TrackedFile],
}

impl Explainer<'_> {
    /// Returns why an artifact is rebuilt: the facts that differ from those of the previous build.
    pub(super) fn reason(&self, path: &str, action: &Action, is_known: bool) -> String {
        if !is_known {
            return "it is new".to_string();
        }
        let previous = self.previous.actions.iter().find(|(known, _)| known == path);
        let Some((_, previous)) = previous else {
            return "there is no record of how it was built".to_string();
        };
        let changed = action.facts().iter().filter(|fact| !previous.contains(fact));
        let names: Vec<String> = changed
            .map(|(name, _)| match name.as_str() {
                "documents" => self.changed_documents(),
                name => format!("{name} changed"),
            })
            .collect();
        if names.is_empty() { "it is not what was written".to_string() } else { names.join("; ") }
    }

    /// Names the documents that were changed, added or removed since the previous build.
    fn changed_documents(&self) -> String {
        let mut changes = Vec::new();
        for file in self.files {
            match self.previous.input(&file.path) {
                None => changes.push(format!("{} added", file.path)),
                Some(previous) if previous.digest != file.digest => {
                    changes.push(format!("{} changed", file.path))
                }
                Some(_) => {}
            }
        }
        for previous in &self.previous.inputs {
            let is_here = self.files.binary_search_by(|file| file.path.cmp(&previous.path)).is_ok();
            if !is_here && !previous.is_absent() && is_document(&previous.path) {
                changes.push(format!("{} removed", previous.path));
            }
        }
        let n_more = changes.len().saturating_sub(MAX_NAMES);
        changes.truncate(MAX_NAMES);
        match (changes.is_empty(), n_more) {
            (true, _) => "the status or the links of its documents changed".to_string(),
            (false, 0) => changes.join(", "),
            (false, n) => format!("{} and {n} more", changes.join(", ")),
        }
    }
}

/// Returns true if an input that is no longer read was a document.
fn is_document(path: &str) -> bool {
    TextFormat::of_path(path).is_some()
        && ![VOICE, GUIDE].contains(&path)
        && !path.starts_with(TEMPLATES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Digest, Listener, Stat};

    fn file(path: &str, content: &str) -> TrackedFile {
        let (path, digest) = (path.to_string(), Digest::of(content.as_bytes()));
        TrackedFile { path, stat: Stat::default(), digest }
    }

    #[test]
    fn a_reason_names_the_facts_and_documents_that_changed() {
        let mut previous = Action::new();
        previous.add_fact("template", b"1");
        previous.add_fact("documents", b"1");
        let state = State {
            inputs: vec![
                file(GUIDE, "guide"),
                file("docs/a.md", "a"),
                file("docs/b.md", "b"),
                file("docs/c.md", "c"),
            ],
            actions: vec![("knowledge/adrs.md".to_string(), previous.facts().to_vec())],
            ..State::default()
        };
        let files = [file("docs/a.md", "a"), file("docs/b.md", "edited"), file("docs/d.md", "d")];
        let explainer = Explainer { previous: &state, files: &files };
        let mut now = Action::new();
        now.add_fact("template", b"2");
        now.add_fact("documents", b"2");
        assert_eq!(
            explainer.reason("knowledge/adrs.md", &now, true),
            "template changed; docs/b.md changed, docs/d.md added, docs/c.md removed"
        );
        assert_eq!(
            explainer.reason("knowledge/adrs.md", &previous, true),
            "it is not what was written"
        );
        assert_eq!(explainer.reason("knowledge/adrs.md", &now, false), "it is new");
        assert_eq!(
            explainer.reason("knowledge/rfcs.md", &now, true),
            "there is no record of how it was built"
        );
    }
}

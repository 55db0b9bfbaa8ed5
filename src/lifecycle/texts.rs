//! The texts of the files that a command changes, until all of them are written at once.

use std::collections::BTreeMap;

use super::links;
use crate::emit::DocumentEdit;
use crate::model::layout::folder_of;
use crate::model::{Digest, TextFormat};
use crate::root::{Content, Root};

/// A larger file has no links that follow.
const MAX_BYTES: u64 = 64 << 20;

/// One file with its text as on disk, and as it is going to be.
struct TextFile {
    before: Digest,
    text: String,
    is_changed: bool,
}

/// FileTexts by path, read once.
pub(super) struct FileTexts<'a> {
    root: &'a Root,
    files: BTreeMap<String, TextFile>,
    notes: Vec<String>,
}

impl<'a> FileTexts<'a> {
    pub(super) fn new(root: &'a Root) -> FileTexts<'a> {
        FileTexts { root, files: BTreeMap::new(), notes: Vec::new() }
    }

    /// Returns the text of a file that must be readable.
    pub(super) fn text(&mut self, path: &str) -> anyhow::Result<String> {
        self.readable(path).ok_or_else(|| {
            anyhow::anyhow!("{path} is not a file with UTF-8 text\nhint: save it as UTF-8")
        })
    }

    /// Returns the text of a file. A file that cannot be changed is noted.
    pub(super) fn readable(&mut self, path: &str) -> Option<String> {
        if let Some(file) = self.files.get(path) {
            return Some(file.text.clone());
        }
        let (before, text) = self.read(path)?;
        let file = TextFile { before, text: text.clone(), is_changed: false };
        self.files.insert(path.to_string(), file);
        Some(text)
    }

    fn read(&mut self, path: &str) -> Option<(Digest, String)> {
        let Ok(Some(Content::Bytes(bytes, _))) = self.root.read(path, MAX_BYTES) else {
            self.notes.push(format!("{path} cannot be read; links in it stay as they are"));
            return None;
        };
        let digest = Digest::of(&bytes);
        match String::from_utf8(bytes) {
            Ok(text) => Some((digest, text)),
            Err(_) => {
                self.notes.push(format!("{path} is not UTF-8; links in it stay as they are"));
                None
            }
        }
    }

    pub(super) fn set(&mut self, path: &str, text: String) {
        if let Some(file) = self.files.get_mut(path) {
            file.is_changed |= file.text != text;
            file.text = text;
        }
    }

    /// Rewrites the links in some files to renamed ones. Returns the number of links and of files.
    pub(super) fn follow(
        &mut self,
        paths: &[&str],
        renames: &[(String, String)],
    ) -> (usize, usize) {
        let stem = |path: &str| {
            let file = path.rsplit('/').next().unwrap_or(path);
            TextFormat::without_extension(file).to_string()
        };
        let stems: Vec<String> = renames.iter().map(|(old, _)| stem(old)).collect();
        let (mut n_links, mut n_files) = (0, 0);
        for path in paths {
            let read = match self.files.get(*path) {
                Some(file) => Some((file.before, file.text.clone())),
                None => self.read(path),
            };
            let Some((before, text)) = read else { continue };
            // Most files name none of them, and parsing takes a hundred times as long as this.
            let may_name = |stem: &String| text.contains(stem) || text.contains('%');
            if !stems.iter().any(may_name) {
                continue;
            }
            let target = |_: &str, full: &str| {
                let renamed = renames.iter().find(|(old, _)| links::names(full, old));
                renamed.map(|(_, new)| new.clone())
            };
            if let Some((changed, n_changed)) = links::rewritten(&text, path, &target) {
                let file = TextFile { before, text: changed, is_changed: true };
                self.files.insert(path.to_string(), file);
                n_links += n_changed;
                n_files += 1;
            }
        }
        (n_links, n_files)
    }

    pub(super) fn take_notes(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notes)
    }

    /// Returns the changes of all files. A renamed file is created under its new name before the old
    /// one is removed.
    pub(super) fn into_edits(mut self, renames: &[(String, String)]) -> Vec<DocumentEdit> {
        let mut edits = Vec::new();
        let mut removals = Vec::new();
        for (old, new) in renames {
            let Some(file) = self.files.remove(old) else { continue };
            edits.push(DocumentEdit {
                path: new.clone(),
                before: None,
                after: Some(file.text.into_bytes()),
                like: Some(old.clone()),
            });
            let (path, before) = (old.clone(), Some(file.before));
            removals.push(DocumentEdit { path, before, after: None, like: None });
        }
        let changed = self.files.into_iter().filter(|(_, file)| file.is_changed);
        edits.extend(changed.map(|(path, file)| DocumentEdit {
            path,
            before: Some(file.before),
            after: Some(file.text.into_bytes()),
            like: None,
        }));
        edits.extend(removals);
        edits
    }
}

/// Returns a path with another file name.
pub(super) fn with_file_name(path: &str, file: &str) -> String {
    match folder_of(path) {
        "" => file.to_string(),
        folder => format!("{folder}/{file}"),
    }
}

//! Blocks of blue's in files that belong to people, such as `AGENTS.md`.
//!
//! A block has the digest of its own text. It is therefore not part of the manifest: whether it is
//! current, stale or edited can be seen from the file alone, and a merge cannot separate the two.

use std::collections::BTreeSet;

use anyhow::Context;
use rustix::fs::FileType;

use crate::emit;
use crate::model::layout::{SESSION, folder_of};
use crate::model::{BuildTarget, Code, Diagnostic};
use crate::root::{Content, Root};
use crate::wire::conflict;
use crate::wire::installed::FileRecord;
use crate::wire::marked_block::{self, HTML, MarkedBlock};

use super::super::changes::PlannedChanges;
use super::opencode;

/// Maximum size of a shared file. Agents read less.
const MAX_BYTES: u64 = 4 << 20;

/// Maximum size of the instructions that Codex reads. It cuts the rest without a message.
const MAX_AGENTS_MD: usize = 32_768;

const REBUILD: &str = "run `blue knowledge build` and commit the result";

/// Planned change of one shared file.
#[derive(Debug)]
pub(in super::super) struct SharedFile {
    /// Path below the root.
    pub(in super::super) path: &'static str,
    /// The text on disk; `None` if there is no file.
    pub(in super::super) before: Option<String>,
    /// The text that a build writes; `None` to remove the file.
    pub(in super::super) after: Option<String>,
    /// Reason for the change, for `--explain`.
    pub(in super::super) reason: &'static str,
    /// Code and words of the finding of `--check`.
    finding: (Code, &'static str),
    /// Text of people that the change replaces: their edit of the block, or the whole file.
    replaced: Option<String>,
    /// New record for `blue uninstall`, if the file has one: the inner `None` removes it.
    record: Option<Option<FileRecord>>,
}

/// All shared files with blue's text, or with text that blue has to remove.
#[derive(Debug, Default)]
pub(in super::super) struct SharedFiles {
    /// The files that change.
    pub(in super::super) changes: Vec<SharedFile>,
    /// The files that targets ask for, changed or not, and files that they could not be written to.
    pub(in super::super) tracked: Vec<&'static str>,
    /// Findings about files that are left alone.
    pub(in super::super) notes: Vec<Diagnostic>,
}

impl SharedFile {
    /// Returns true if the text on disk is not what a build writes.
    fn is_change(&self) -> bool {
        self.before != self.after
    }
}

impl SharedFiles {
    /// Compares the shared files with the targets. Writes nothing. `session` returns the session
    /// text; it is called only if a target needs it.
    pub(in super::super) fn plan(
        root: &Root,
        targets: &[BuildTarget],
        session: impl FnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<SharedFiles> {
        let mut files = SharedFiles::default();
        let has_text = |target: &BuildTarget| {
            matches!(target, BuildTarget::AgentsMd | BuildTarget::CopilotInstructions)
        };
        let session = if targets.iter().any(has_text) { session()? } else { String::new() };
        let import = format!("@./{SESSION}\n");
        let mut inodes = BTreeSet::new();
        for target in BuildTarget::ALL {
            let Some(path) = target.shared_file() else { continue };
            let is_wanted = targets.contains(&target);
            let content = match target {
                BuildTarget::ClaudeMd | BuildTarget::GeminiMd => &import,
                _ => &session,
            };
            let Some((text, inode)) = files.read(root, path, is_wanted)? else { continue };
            if is_wanted {
                files.tracked.push(path);
                if inode.is_some() && !inodes.insert(inode) {
                    let message =
                        "it is the same file as that of another target; nothing is written";
                    files.skip(path, message, "remove one of the two names, or one target");
                    continue;
                }
            }
            let change = match target {
                BuildTarget::Opencode => opencode::plan(root, text, targets)?,
                _ => files.block(path, text, content, is_wanted),
            };
            files.changes.extend(change.filter(SharedFile::is_change));
        }
        Ok(files)
    }

    /// Reads a shared file, with its device and inode. `None` if it must be left alone.
    #[expect(clippy::type_complexity, reason = "a text that may be missing, and its identity")]
    fn read(
        &mut self,
        root: &Root,
        path: &'static str,
        is_wanted: bool,
    ) -> anyhow::Result<Option<(Option<String>, Option<(u64, u64)>)>> {
        let Some((stat, kind)) = root.stat(path).with_context(|| format!("read {path}"))? else {
            return Ok(Some((None, None)));
        };
        if kind == FileType::RegularFile {
            let content = root.read(path, MAX_BYTES).with_context(|| format!("read {path}"))?;
            if let Some(Content::Bytes(bytes, _)) = content
                && let Ok(text) = String::from_utf8(bytes)
            {
                return Ok(Some((Some(text), Some((stat.device, stat.inode)))));
            }
        }
        if is_wanted {
            self.tracked.push(path);
            let (message, hint) = match kind {
                FileType::Symlink => (
                    "it is a symbolic link; blue writes nothing through a link",
                    "replace it by a real file, or remove its target from .blue/config.yaml",
                ),
                _ => ("it is not a text file of at most 4 MiB in UTF-8", "move it away"),
            };
            self.skip(path, message, hint);
        }
        Ok(None)
    }

    fn skip(&mut self, path: &str, message: &str, hint: &str) {
        self.notes.push(Diagnostic::new(Code::TargetSkipped, path, message).hint(hint));
    }

    /// Plans a block of Markdown.
    fn block(
        &mut self,
        path: &'static str,
        before: Option<String>,
        content: &str,
        is_wanted: bool,
    ) -> Option<SharedFile> {
        let Some(text) = self.resolved(path, before.as_deref())? else {
            let after = is_wanted.then(|| with_block(None, content));
            let finding = (Code::Missing, "missing");
            return Some(SharedFile::new(path, before, after, "it is new", finding));
        };
        let found = marked_block::find(&text, HTML);
        let edited = found.as_ref().filter(|found| found.is_edited());
        if !is_wanted {
            if edited.is_some() {
                let message = "no target asks for blue's block any more, but it was edited by hand; it is left alone";
                let note = Diagnostic::new(Code::EditedOrphan, path, message);
                self.notes.push(note.hint("remove the block"));
                return None;
            }
            let after = marked_block::remove(&text, HTML);
            let finding = (Code::Orphan, "no target asks for blue's block any more");
            let reason = "removed: no target asks for its block any more";
            let replaced = lost_text(before.as_deref(), after.as_deref());
            let file = SharedFile::new(path, before, after, reason, finding);
            return found.map(|_| SharedFile { replaced, ..file });
        }
        let after = with_block(Some(&text), content);
        self.report_size(path, &after);
        let after = Some(after);
        let (reason, finding) = match (&found, edited) {
            (None, _) => ("it had no block", (Code::Missing, "blue's block is missing")),
            (_, Some(_)) => {
                ("its block was edited by hand", (Code::Edited, "blue's block was edited by hand"))
            }
            _ => ("its block changed", (Code::Stale, "blue's block is stale")),
        };
        let edited = edited.filter(|found| found.content != content);
        let edited = edited.map(|found: &MarkedBlock| found.content.clone());
        let replaced = lost_text(before.as_deref(), after.as_deref()).or(edited);
        Some(SharedFile { replaced, ..SharedFile::new(path, before, after, reason, finding) })
    }

    /// Reports a block that Codex does not read whole, because the file is too long above it.
    fn report_size(&mut self, path: &str, text: &str) {
        let end = text.find("<!-- blue: end").unwrap_or_default();
        if Some(path) == BuildTarget::AgentsMd.shared_file() && end > MAX_AGENTS_MD {
            let message =
                format!("blue's block ends after {end} bytes; Codex reads {MAX_AGENTS_MD}");
            self.skip(
                path,
                &message,
                "move the block to the start of the file, or shorten the file",
            );
        }
    }

    /// Returns the text of a file, with a conflict resolved if it is only about blue's block. The
    /// outer `None` stands for a conflict in people's text, which is left alone.
    fn resolved(&mut self, path: &str, before: Option<&str>) -> Option<Option<String>> {
        let Some(text) = before else { return Some(None) };
        if !conflict::has_markers(text.as_bytes()) {
            return Some(Some(text.to_string()));
        }
        let sides = conflict::sides(text.as_bytes()).map(String::from_utf8);
        // An example of a conflict has equal sides, and is a text of people.
        if let [Ok(ours), Ok(theirs)] = &sides
            && ours == theirs
        {
            return Some(Some(text.to_string()));
        }
        if let [Ok(ours), Ok(theirs)] = &sides
            && marked_block::remove(ours, HTML) == marked_block::remove(theirs, HTML)
        {
            return Some(Some(ours.clone()));
        }
        self.skip(path, "a merge left it in conflict", "resolve the conflict, then build again");
        None
    }

    /// Writes the new texts beside the files, so that a full disk stops a build before it changes
    /// anything. Saves a copy of blocks that a person edited.
    pub(in super::super) fn stage(
        self,
        root: &Root,
        planned: &mut PlannedChanges,
    ) -> anyhow::Result<StagedFiles> {
        planned.notes.extend(self.notes);
        // A build that was killed may have left some.
        for path in self.tracked.iter().filter(|path| root.exists(folder_of(path))) {
            emit::remove_staged(root, path)?;
        }
        let mut staged = StagedFiles(Vec::new());
        for file in self.changes {
            if let Some(replaced) = &file.replaced {
                let copy = emit::save_copy(root, file.path, replaced.as_bytes())?;
                let message = format!(
                    "blue's block was edited by hand or is there twice; the text is kept in {copy}"
                );
                let hint = "edit the documents instead, or write outside the block";
                let note = Diagnostic::new(Code::HandEdited, file.path, message);
                planned.notes.push(note.hint(hint));
            }
            let after = file.after.as_ref();
            let replacement =
                after.map(|text| emit::stage_replacement(root, file.path, text.as_bytes()));
            match replacement.transpose() {
                Ok(replacement) => {
                    planned.shared_file(&file);
                    staged.0.push((file, replacement));
                }
                Err(error) => {
                    staged.discard(root);
                    return Err(error);
                }
            }
        }
        Ok(staged)
    }

    /// Returns the findings of `--check`.
    pub(in super::super) fn findings(self) -> Vec<Diagnostic> {
        let finding = |file: SharedFile| {
            let (code, message) = file.finding;
            Diagnostic::new(code, file.path, message).hint(REBUILD)
        };
        self.changes.into_iter().map(finding).chain(self.notes).collect()
    }
}

impl SharedFile {
    pub(super) fn new(
        path: &'static str,
        before: Option<String>,
        after: Option<String>,
        reason: &'static str,
        finding: (Code, &'static str),
    ) -> SharedFile {
        SharedFile { path, before, after, reason, finding, replaced: None, record: None }
    }

    pub(super) fn with_record(self, record: Option<FileRecord>) -> SharedFile {
        SharedFile { record: Some(record), ..self }
    }
}

/// Returns the text before a change if the change does more than replace the first block: a merge left
/// conflict markers, or there are further blocks.
fn lost_text(before: Option<&str>, after: Option<&str>) -> Option<String> {
    let outside = |text: Option<&str>| marked_block::outside(text.unwrap_or_default(), HTML);
    let before = before?;
    let is_new = marked_block::find(before, HTML).is_none();
    (!is_new && outside(Some(before)) != outside(after)).then(|| before.to_string())
}

/// Returns a text with the block. Marks of a block in the content would end it.
fn with_block(before: Option<&str>, content: &str) -> String {
    let content = content.replace("<!-- blue: ", "&lt;!-- blue: ");
    marked_block::set(before, HTML, &marked_block::digest_label(&content), &content)
}

/// The new texts of shared files, on disk beside them.
pub(in super::super) struct StagedFiles(Vec<(SharedFile, Option<emit::Replacement>)>);

impl StagedFiles {
    /// Removes the new texts of a build that failed.
    fn discard(&self, root: &Root) {
        self.0.iter().filter_map(|(_, file)| file.as_ref()).for_each(|file| file.discard(root));
    }

    /// Puts the new texts in place after the artifacts were committed, or removes them if that
    /// failed. A file that a person saved meanwhile is left alone; the next build looks at it again.
    pub(in super::super) fn finish<T>(
        self,
        root: &Root,
        committed: anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        if committed.is_err() {
            self.discard(root);
        }
        let committed = committed?;
        for (file, replacement) in self.0 {
            // A record of a file that was not written does no harm, but without its record a file
            // cannot be restored exactly.
            if let Some(record) = &file.record {
                opencode::save_record(root, record.as_ref())?;
            }
            let Some(replacement) = replacement else { continue };
            let now =
                root.read(file.path, MAX_BYTES).with_context(|| format!("read {}", file.path))?;
            let is_same = match (&now, &file.before) {
                (Some(Content::Bytes(bytes, _)), Some(before)) => bytes == before.as_bytes(),
                (None, None) => true,
                _ => false,
            };
            match is_same {
                true => replacement.finish(root)?,
                false => replacement.discard(root),
            }
        }
        Ok(committed)
    }
}

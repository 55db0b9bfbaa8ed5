//! Parts that the commands share which change documents.

use std::path::Path;

use clap::Args;
use serde::Serialize;

use super::branch_guard;
use super::build::BuildArgs;
use super::open::open_built;
use super::output::OutputFormat;
use super::progress::Bar;
use super::{Exit, for_path, output, project};
use crate::discover::git;
use crate::emit;
use crate::lifecycle::{DocumentSet, PlannedEdits};
use crate::model::layout::MANIFEST;
use crate::model::plural::counted;
use crate::model::{DocId, TextFormat};
use crate::root::Root;
use crate::serve::{Listed, Resolved, names};
use crate::verify;

/// Flags of every command that changes documents.
#[derive(Args, Debug, Default)]
pub(super) struct ChangeFlags {
    /// Print what would change; write nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Let links follow in all Markdown files that git tracks, not only in documents
    #[arg(long)]
    pub(super) everywhere: bool,
    /// Output format
    #[arg(long, value_enum, default_value_t)]
    pub(super) format: OutputFormat,
}

/// The outcome as JSON.
#[derive(Serialize)]
struct ChangeReport<'a> {
    dry_run: bool,
    renamed: Vec<RenamedFile<'a>>,
    changed: Vec<&'a str>,
    links: usize,
    linking_files: usize,
    notes: &'a [String],
}

/// Old and new path of a file.
#[derive(Serialize)]
struct RenamedFile<'a> {
    from: &'a str,
    to: &'a str,
}

/// An open project whose documents a command changes. It holds the lock unless nothing is written.
pub(super) struct Changer<'a> {
    pub(super) root: Root,
    pub(super) set: DocumentSet,
    directory: &'a Path,
    flags: &'a ChangeFlags,
    lock: Option<emit::Lock>,
}

impl<'a> Changer<'a> {
    pub(super) fn open(directory: &'a Path, flags: &'a ChangeFlags) -> anyhow::Result<Changer<'a>> {
        let folder = project::find(directory)?;
        let root = match flags.dry_run {
            true => project::open(&folder)?,
            false => project::open_to_write(&folder)?,
        };
        let lock = match flags.dry_run {
            true => None,
            false => {
                let lock = emit::Lock::take(&root, "change of documents", &output::wait_for)?;
                emit::recover(&root)?;
                Some(lock)
            }
        };
        let set = DocumentSet::read(&root, &Bar::new())?;
        Ok(Changer { root, set, directory, flags, lock })
    }

    /// Finds the document that a user names: by path or permanent address, and otherwise by any name
    /// that the last build knows.
    pub(super) fn find(&self, typed: &str) -> anyhow::Result<DocId> {
        let path = for_path::path_below_root(&self.root, self.directory, Path::new(typed)).ok();
        let exact = path.as_deref().and_then(|path| self.set.find(path));
        if let Some(id) = exact.or_else(|| self.set.find(typed)) {
            return Ok(id);
        }
        let built = open_built(&self.root)?;
        let resolved = match typed.contains("://") {
            true => crate::serve::address::resolve(&self.root, &built, None, typed)
                .map_err(|error| anyhow::anyhow!("{error}"))?,
            false => names::resolve(&built, typed, path.as_deref())
                .map_err(|error| anyhow::anyhow!("{error}\nhint: {}", error.hint()))?,
        };
        let uri = match resolved {
            Resolved::Item(item @ Listed::Document(_)) => built.uri(item).to_string(),
            _ => anyhow::bail!("{typed} is not a document\nhint: run `blue knowledge list`"),
        };
        self.set.find(&uri).ok_or_else(|| {
            anyhow::anyhow!(
                "{uri} was removed since the last build\nhint: run `blue knowledge build`"
            )
        })
    }

    /// Returns the Markdown files beside documents in which links follow, if they were asked for. Files
    /// that a build writes are rebuilt anyway.
    pub(super) fn others(&self) -> anyhow::Result<Vec<String>> {
        if !self.flags.everywhere {
            return Ok(Vec::new());
        }
        let emitted = match verify::manifest(&self.root)? {
            Some(Ok((manifest, _))) => manifest.artifacts,
            _ => Vec::new(),
        };
        let is_emitted = |path: &String| emitted.iter().any(|entry| entry.path == *path);
        let tracked = git::tracked(self.root.path(), &["."]).into_iter();
        let markdown =
            tracked.filter(|path| TextFormat::of_path(path) == Some(TextFormat::Markdown));
        Ok(markdown.filter(|path| !is_emitted(path)).collect())
    }

    /// Releases the lock, so that a build can take it.
    pub(super) fn release(self) -> Root {
        let Changer { root, lock, .. } = self;
        drop(lock);
        root
    }

    /// Writes the changes, reports them, and builds if there was a build before. Refuses to change a
    /// document that another branch is for; `document` is the one that the user named.
    pub(super) fn apply(
        self,
        head: &str,
        document: Option<&str>,
        planned: PlannedEdits,
    ) -> anyhow::Result<Exit> {
        let refused = document.and_then(|path| branch_guard::refusal(&self.root, path));
        if let Some(reason) = refused {
            output::error(&reason);
            return Ok(Exit::FoundSomething);
        }
        if !self.flags.dry_run && !planned.edits.is_empty() {
            emit::edit_documents(&self.root, &planned.edits)?;
        }
        let Changer { root, flags, lock, .. } = self;
        drop(lock);
        report(head, &planned, flags)?;
        if !flags.dry_run && !planned.edits.is_empty() && root.exists(MANIFEST) {
            BuildArgs::default().build(&root)?;
        }
        Ok(Exit::Done)
    }
}

/// Prints what changed, or would change.
fn report(head: &str, planned: &PlannedEdits, flags: &ChangeFlags) -> anyhow::Result<()> {
    let removed = |path: &str| planned.renames.iter().any(|(old, _)| old == path);
    let paths = planned.edits.iter().map(|edit| edit.path.as_str());
    let changed: Vec<&str> = paths.filter(|path| !removed(path)).collect();
    if flags.format == OutputFormat::Json {
        let renames = planned.renames.iter();
        let report = ChangeReport {
            dry_run: flags.dry_run,
            renamed: renames.map(|(from, to)| RenamedFile { from, to }).collect(),
            changed,
            links: planned.n_links,
            linking_files: planned.n_linking,
            notes: &planned.notes,
        };
        return output::out(&format!("{}\n", serde_json::to_string(&report)?));
    }
    let mut text = format!("{}\n", output::shown(head));
    for (_, new) in &planned.renames {
        text += &format!("renamed to {}\n", output::shown(new));
    }
    if planned.n_links > 0 {
        text += &format!(
            "{} in {} {}\n",
            counted(planned.n_links, "link"),
            counted(planned.n_linking, "file"),
            if planned.n_links == 1 { "follows" } else { "follow" }
        );
    }
    if planned.edits.is_empty() {
        text += "nothing to do\n";
    }
    for note in &planned.notes {
        text += &format!("note: {}\n", output::shown(note));
    }
    if flags.dry_run {
        text += "nothing was written (--dry-run)\n";
    }
    output::out(&text)
}

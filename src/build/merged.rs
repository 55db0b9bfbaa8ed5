//! Emitted files whose text comes from other commits: what a merge, a rebase or a stash mixes.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::beneath::Root;
use crate::discover::git;
use crate::model::place::MANIFEST;
use crate::model::{Digest, artifact::content_digest};
use crate::verify::{self, Cause, OnDisk};
use crate::wire::manifest::{Entry, Manifest};
use crate::wire::{conflict, header};

/// The commits whose files git puts together: in a merge, a rebase, a cherry-pick, a revert (which
/// merges the parent of what it reverts) or a stash that is being applied, and after a merge was
/// committed.
const COMMITS: [&str; 9] = [
    "HEAD",
    "HEAD^1",
    "HEAD^2",
    "MERGE_HEAD",
    "ORIG_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD^",
    "REBASE_HEAD",
    "refs/stash",
];

/// Tells text that blue wrote, in this checkout or in a commit, from text that a user wrote.
pub(super) struct Authorship<'a> {
    root: &'a Root,
    /// Whether the manifest on disk is whole.
    has_manifest: bool,
    /// The files that an interrupted build was about to rename, with their digests.
    interrupted: BTreeMap<String, String>,
    /// Asked of git once, when a file is not what the manifest says.
    commits: OnceCell<Vec<Commit>>,
}

/// A commit in which blue's manifest is whole.
struct Commit {
    name: &'static str,
    manifest: Manifest,
    text: Vec<u8>,
}

impl<'a> Authorship<'a> {
    /// Knows the files of an interrupted build; asks git nothing yet.
    pub(super) fn new(
        root: &'a Root,
        has_manifest: bool,
        interrupted: BTreeMap<String, String>,
    ) -> Authorship<'a> {
        Authorship { root, has_manifest, interrupted, commits: OnceCell::new() }
    }

    /// Looks at the place of an artifact. `new` is what a build would write there.
    pub(super) fn on_disk(
        &self,
        path: &str,
        entry: Option<&Entry>,
        new: &[Vec<u8>],
    ) -> anyhow::Result<OnDisk> {
        let on_disk = match verify::on_disk(self.root, path, entry)? {
            // The merge may have damaged the manifest that would list it.
            OnDisk::Foreign if !self.has_manifest => match self.entry_in_commits(path) {
                Some(entry) => verify::on_disk(self.root, path, Some(entry))?,
                None => OnDisk::Foreign,
            },
            on_disk => on_disk,
        };
        Ok(match on_disk {
            OnDisk::Edited(bytes) => match self.cause(path, &bytes, new) {
                Some(cause) => OnDisk::Mixed(cause),
                None => OnDisk::Edited(bytes),
            },
            on_disk => on_disk,
        })
    }

    /// The reason why a file that is not what the manifest says holds no text of a user's.
    pub(super) fn cause(&self, path: &str, bytes: &[u8], new: &[Vec<u8>]) -> Option<Cause> {
        if self.interrupted.get(path).is_some_and(|digest| *digest == Digest::of(bytes).to_string())
        {
            return Some(Cause::Interrupted);
        }
        let mut known: BTreeSet<&[u8]> = BTreeSet::new();
        let versions = self.versions(path);
        for text in versions.iter().map(Vec::as_slice).chain(new.iter().map(Vec::as_slice)) {
            known.extend(conflict::lines(text));
        }
        let explained =
            !versions.is_empty() && conflict::lines(bytes).all(|line| known.contains(line));
        explained.then(|| match conflict::has_markers(bytes) {
            true => Cause::Conflict,
            false => Cause::Merge,
        })
    }

    /// Entries of all artifacts that the manifests of these commits list.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.commits().iter().flat_map(|commit| &commit.manifest.artifacts)
    }

    fn entry_in_commits(&self, path: &str) -> Option<&Entry> {
        self.entries().find(|entry| entry.path == path)
    }

    fn commits(&self) -> &[Commit] {
        self.commits.get_or_init(|| {
            let names: Vec<String> = COMMITS.map(|name| format!("{name}:./{MANIFEST}")).to_vec();
            let texts = git::files(self.root.path(), &names);
            let whole = COMMITS.into_iter().zip(texts).filter_map(|(name, text)| {
                let text = text?;
                let manifest = Manifest::read(std::str::from_utf8(&text).ok()?).ok()?;
                Some(Commit { name, manifest, text })
            });
            whole.collect()
        })
    }

    /// A file as blue wrote it in these commits. What does not fit the manifest beside it was edited,
    /// and is not blue's text.
    fn versions(&self, path: &str) -> Vec<Vec<u8>> {
        if path == MANIFEST {
            return self.commits().iter().map(|commit| commit.text.clone()).collect();
        }
        let listed = self.commits().iter().filter_map(|commit| {
            let entry = commit.manifest.artifacts.iter().find(|entry| entry.path == path)?;
            Some((format!("{}:./{path}", commit.name), Digest::parse(&entry.hash)?))
        });
        let (names, digests): (Vec<String>, Vec<Digest>) = listed.unzip();
        if names.is_empty() {
            return Vec::new();
        }
        let format = verify::format_of(path);
        let written = |(text, digest): (Option<Vec<u8>>, Digest)| {
            let text = text?;
            let parts = header::undress(format, &text)?;
            (content_digest(format, &parts.source, &[parts.body]) == digest).then_some(text)
        };
        git::files(self.root.path(), &names).into_iter().zip(digests).filter_map(written).collect()
    }
}

//! Distinguishes text that blue wrote, in this checkout or in a commit, from text that a user wrote.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::discover::git;
use crate::model::layout::MANIFEST;
use crate::model::{Digest, artifact::content_digest};
use crate::root::Root;
use crate::verify::{self, Cause, OnDisk};
use crate::wire::manifest::{Manifest, ManifestEntry};
use crate::wire::{conflict, header};

/// Commits whose files may be mixed in the working tree: by a merge, a rebase, a cherry-pick, a revert
/// (which merges the parent of the reverted commit) or an applied stash, and after a merge was committed.
/// `:2` and `:3` are the two sides of a conflict in the index.
const COMMITS: [&str; 11] = [
    "HEAD",
    ":2",
    ":3",
    "HEAD^1",
    "HEAD^2",
    "MERGE_HEAD",
    "ORIG_HEAD",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD^",
    "REBASE_HEAD",
    "refs/stash",
];

/// Those that exist only while git is merging.
const MERGED: [&str; 6] =
    [":2", ":3", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD^", "REBASE_HEAD"];

/// Compares emitted files with the manifest on disk and with the manifests of commits.
pub(super) struct Authorship<'a> {
    root: &'a Root,
    /// True if the manifest on disk is intact.
    has_manifest: bool,
    /// The files that an interrupted build was about to rename, with their digests.
    interrupted: BTreeMap<String, String>,
    /// Read from git once, when a file is not what the manifest lists.
    commits: OnceCell<Vec<Commit>>,
}

/// A commit with an intact manifest.
struct Commit {
    name: &'static str,
    manifest: Manifest,
    text: Vec<u8>,
}

impl<'a> Authorship<'a> {
    /// Takes the files of an interrupted build, by path. Does not ask git yet.
    pub(super) fn new(
        root: &'a Root,
        has_manifest: bool,
        interrupted: BTreeMap<String, String>,
    ) -> Authorship<'a> {
        Authorship { root, has_manifest, interrupted, commits: OnceCell::new() }
    }

    /// Compares an artifact with the file on disk. `new` is what a build would write.
    pub(super) fn on_disk(
        &self,
        path: &str,
        entry: Option<&ManifestEntry>,
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

    /// Returns the reason why a file that is not what the manifest lists contains no text of a user's.
    pub(super) fn cause(&self, path: &str, bytes: &[u8], new: &[Vec<u8>]) -> Option<Cause> {
        if self.interrupted.get(path).is_some_and(|digest| *digest == Digest::of(bytes).to_string())
        {
            return Some(Cause::Interrupted);
        }
        if self.is_listed(path, bytes) {
            return Some(Cause::Merge);
        }
        let versions = self.versions(path);
        let texts = versions.iter().map(|(_, text)| text.as_slice());
        let lines: Vec<BTreeSet<&[u8]>> =
            texts.map(|text| conflict::lines(text).collect()).collect();
        let new: BTreeSet<&[u8]> = new.iter().flat_map(|part| conflict::lines(part)).collect();
        let is_known =
            |line: &[u8]| new.contains(line) || lines.iter().any(|known| known.contains(line));
        if versions.is_empty() || !conflict::lines(bytes).all(is_known) {
            return None;
        }
        if conflict::has_markers(bytes) {
            return Some(Cause::Conflict);
        }
        // If one version contains all lines and there is no merge, lines were removed or moved by hand.
        let of_one = |known: &BTreeSet<&[u8]>| conflict::lines(bytes).all(|l| known.contains(l));
        let is_mixed = self.is_merging(&versions) || !lines.iter().any(of_one);
        is_mixed.then_some(Cause::Merge)
    }

    /// Returns true if one of the manifests lists a file with exactly this content.
    fn is_listed(&self, path: &str, bytes: &[u8]) -> bool {
        let format = verify::format_of(path);
        let Some(parts) = header::parse(format, bytes) else { return false };
        let digest = content_digest(format, &parts.source, &[parts.body]).to_string();
        let seal = header::seal(format, bytes);
        let is_same = |entry: &ManifestEntry| entry.hash == digest && entry.seal == seal;
        self.entries().any(|entry| entry.path == path && is_same(entry))
    }

    /// Returns true if git is merging, or if HEAD is a merge in which this file was not rebuilt.
    fn is_merging(&self, versions: &[(&str, Vec<u8>)]) -> bool {
        let is_there = |name: &&str| self.commits().iter().any(|commit| commit.name == *name);
        let was_built = versions.iter().any(|(name, _)| *name == "HEAD");
        MERGED.iter().any(is_there) || is_there(&"HEAD^2") && !was_built
    }

    /// Returns all artifacts that the manifests of the commits list.
    pub(super) fn entries(&self) -> impl Iterator<Item = &ManifestEntry> {
        self.commits().iter().flat_map(|commit| &commit.manifest.artifacts)
    }

    /// Returns the entry of a path in the manifest of HEAD or of a commit that is being merged.
    fn entry_in_commits(&self, path: &str) -> Option<&ManifestEntry> {
        let is_side = |name: &str| matches!(name, "HEAD" | "HEAD^2") || MERGED.contains(&name);
        let sides = self.commits().iter().filter(|commit| is_side(commit.name));
        sides.flat_map(|commit| &commit.manifest.artifacts).find(|entry| entry.path == path)
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

    /// Returns the versions of a file in the commits. A version that does not match its manifest was edited,
    /// so it is not blue's text.
    fn versions(&self, path: &str) -> Vec<(&'static str, Vec<u8>)> {
        if path == MANIFEST {
            let text = |commit: &Commit| (commit.name, commit.text.clone());
            return self.commits().iter().map(text).collect();
        }
        let listed = self.commits().iter().filter_map(|commit| {
            let entry = commit.manifest.entry(path)?;
            Some((commit.name, Digest::parse(&entry.hash)?))
        });
        let listed: Vec<(&'static str, Digest)> = listed.collect();
        if listed.is_empty() {
            return Vec::new();
        }
        let names: Vec<String> =
            listed.iter().map(|(name, _)| format!("{name}:./{path}")).collect();
        let format = verify::format_of(path);
        let written = |((name, digest), text): ((&'static str, Digest), Option<Vec<u8>>)| {
            let text = text?;
            let parts = header::parse(format, &text)?;
            let is_whole = content_digest(format, &parts.source, &[parts.body]) == digest;
            is_whole.then_some((name, text))
        };
        let texts = git::files(self.root.path(), &names);
        listed.into_iter().zip(texts).filter_map(written).collect()
    }
}

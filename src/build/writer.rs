//! Decides for each artifact whether it is written, left alone or refused.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use anyhow::Context;

use super::artifacts::Made;
use super::decide::entry_of;
use super::merged::Authorship;
use super::{Analysis, Fate, Options, Outcome, explain};
use crate::emit::{self, Change, Removal};
use crate::model::layout::{MANIFEST, WORKFLOW, WORKFLOW_BEFORE};
use crate::model::{Artifact, Code, Diagnostic, Digest, Format, Record};
use crate::root::{Content, Root};
use crate::verify::{self, OnDisk};
use crate::wire::header::{self, Provenance};
use crate::wire::manifest::{Entry, Manifest};

/// Collects the changes of one build.
pub(super) struct Writer<'a> {
    pub(super) root: &'a Root,
    /// HEAD and its date, waited for only when something is written.
    pub(super) head: &'a dyn Deref<Target = Provenance>,
    pub(super) options: &'a Options<'a>,
    /// Artifacts on disk that are exactly what the manifest says.
    pub(super) intact: &'a BTreeMap<String, Entry>,
    /// Distinguishes blue's own text from a user's where a file is not what the manifest says.
    pub(super) authorship: Authorship<'a>,
    pub(super) changes: Vec<Change>,
    pub(super) outcome: &'a mut Outcome,
}

impl Writer<'_> {
    /// Decides what becomes of one artifact.
    pub(super) fn artifact(
        &mut self,
        made: &mut Made,
        manifest: Option<&Manifest>,
        record: &Record,
        analysis: &Analysis,
    ) -> anyhow::Result<()> {
        let known = entry_of(manifest, &made.path);
        let Some(mut artifact) = made.artifact.take() else {
            let reason = "current: nothing that decides it changed".to_string();
            self.outcome.fates.push(Fate { path: made.path.clone(), written: false, reason });
            return Ok(());
        };
        let unmoved = known.filter(|known| self.intact.contains_key(&known.path));
        let on_disk = match unmoved.and_then(|entry| Digest::parse(&entry.hash)) {
            Some(digest) => OnDisk::Ours(Provenance::default(), digest, Vec::new()),
            None => self.authorship.on_disk(&artifact.path, known, &artifact.body)?,
        };
        let mut reason = match self.options.explain {
            true => explain::reason(made, known.is_some(), record, analysis),
            false => String::new(),
        };
        match on_disk {
            OnDisk::Ours(_, digest, _) if digest == artifact.hash => {
                let reason = format!("current: made again ({reason}), with the same bytes");
                self.outcome.fates.push(Fate { path: made.path.clone(), written: false, reason });
                return Ok(());
            }
            OnDisk::Absent if known.is_some() => reason = "it was missing".to_string(),
            OnDisk::Crlf(digest, bytes) if digest == artifact.hash => {
                self.with_lf(&artifact, &bytes);
                return Ok(());
            }
            OnDisk::Mixed(cause) => reason = cause.words().to_string(),
            // With no manifest to compare with, it may have been edited.
            OnDisk::Ours(_, _, bytes) | OnDisk::Crlf(_, bytes) if known.is_none() => {
                reason = match self.authorship.cause(&artifact.path, &bytes, &artifact.body) {
                    Some(cause) => cause.words().to_string(),
                    None => self.rescued(&artifact.path, &bytes)?,
                };
            }
            OnDisk::Absent | OnDisk::Ours(..) | OnDisk::Crlf(..) => {}
            OnDisk::Edited(bytes) => reason = self.rescued(&artifact.path, &bytes)?,
            OnDisk::Foreign => anyhow::bail!(
                "{} was not made by blue; it is not overwritten\nhint: move it away, or give the collection another name in .blue/config.yaml",
                artifact.path
            ),
        }
        self.keep_before(&artifact.path);
        let header = header::header(artifact.format, self.head, &artifact.source);
        // An index may be large; its body is moved, not copied.
        let mut parts = std::mem::take(&mut artifact.body);
        if !header.is_empty() {
            parts.insert(0, header.into_bytes());
        }
        self.changes.push(Change { path: artifact.path.clone(), parts });
        self.outcome.fates.push(Fate { path: made.path.clone(), written: true, reason });
        Ok(())
    }

    /// Gives an artifact its LF line ends back. The header stays as it is, so that git sees no change.
    fn with_lf(&mut self, artifact: &Artifact, bytes: &[u8]) {
        let n_body = header::undress(artifact.format, bytes).map_or(0, |own| own.body.len());
        let (header, body) = bytes.split_at(bytes.len() - n_body);
        let parts = [header, body].map(<[u8]>::to_vec).to_vec();
        self.changes.push(Change { path: artifact.path.clone(), parts });
        let reason = "its lines ended in CRLF".to_string();
        self.outcome.fates.push(Fate { path: artifact.path.clone(), written: true, reason });
    }

    /// Keeps a bundle of tier 2 as it was, so that a session that received it can be shown the
    /// changed lines. Without it the session only learns that something changed.
    fn keep_before(&self, path: &str) {
        let name = path.strip_prefix(WORKFLOW);
        if let Some(name) = name
            && let Ok(Some(Content::Bytes(bytes, _))) = self.root.read(path, 1 << 20)
        {
            let copy = format!("{WORKFLOW_BEFORE}{name}");
            emit::keep_below(self.root, WORKFLOW_BEFORE, &copy, &bytes).ok();
        }
    }

    fn rescued(&mut self, path: &str, bytes: &[u8]) -> anyhow::Result<String> {
        let copy = emit::rescue(self.root, path, bytes)?;
        let message = format!("not what blue wrote, so edited by hand; the edit is kept in {copy}");
        let hint = "edit the documents instead: this file is made from them";
        self.outcome.diagnostics.push(Diagnostic::new(Code::HandEdited, path, message).hint(hint));
        Ok("it was edited by hand".to_string())
    }

    /// Artifacts whose cause is gone: removed if they are as blue wrote them, else left and noted.
    pub(super) fn orphans(
        &mut self,
        manifest: Option<&Manifest>,
        wanted: &Manifest,
    ) -> anyhow::Result<Vec<Removal>> {
        let mut removals = Vec::new();
        let listed = manifest.iter().flat_map(|manifest| &manifest.artifacts);
        // A merge may have damaged the manifest, or taken that of one side.
        let suspect = manifest.is_none_or(|manifest| manifest.artifacts.len() > self.intact.len());
        let others = suspect.then(|| self.authorship.entries()).into_iter().flatten();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for old in listed.chain(others) {
            if !seen.insert(&old.path) {
                continue;
            }
            if wanted.artifacts.iter().any(|entry| entry.path == old.path) {
                continue;
            }
            match self.authorship.on_disk(&old.path, Some(old), &[])? {
                OnDisk::Ours(..) | OnDisk::Crlf(..) | OnDisk::Mixed(_) => {
                    let Some(Content::Bytes(bytes, _)) = self.read(&old.path)? else { continue };
                    removals.push(Removal { path: old.path.clone(), digest: Digest::of(&bytes) });
                    let reason = "removed: no document asks for it any more".to_string();
                    self.outcome.fates.push(Fate { path: old.path.clone(), written: true, reason });
                }
                OnDisk::Edited(_) | OnDisk::Foreign => {
                    let message = "no document asks for it any more, but it was edited by hand; it is left alone";
                    self.outcome.diagnostics.push(
                        Diagnostic::new(Code::KeptOrphan, &old.path, message).hint("remove it"),
                    );
                }
                OnDisk::Absent => {}
            }
        }
        Ok(removals)
    }

    /// The manifest comes last, and only if something in it changed besides its dates.
    pub(super) fn manifest(
        &mut self,
        known: Option<&Manifest>,
        converted: Option<&str>,
        wanted: &Manifest,
    ) -> anyhow::Result<()> {
        let path = MANIFEST.to_string();
        let artifacts = self.sealed(&wanted.artifacts)?;
        // To compute a checksum is to write the whole; other inputs or artifacts are seen at once.
        let same = known.is_some_and(|known| {
            known.inputs == wanted.inputs
                && known.artifacts == artifacts
                && known.checksum == wanted.computed_checksum()
        });
        if same {
            let reason = match converted {
                Some(_) => "its lines ended in CRLF",
                None => "current: nothing in it changed",
            };
            let parts = converted.map(|text| vec![text.as_bytes().to_vec()]);
            self.changes.extend(parts.map(|parts| Change { path: path.clone(), parts }));
            let (written, reason) = (converted.is_some(), reason.to_string());
            self.outcome.fates.push(Fate { path, written, reason });
            return Ok(());
        }
        let head: &Provenance = self.head;
        let dated = Manifest {
            generated_at: head.generated.clone(),
            source_commit: head.commit.clone(),
            artifacts,
            ..wanted.clone()
        };
        let text = dated.file(&header::header(Format::Yaml, head, &wanted.source_line()));
        let new = [text.into_bytes()];
        if known.is_none()
            && let Some(Content::Bytes(bytes, _)) = self.read(&path)?
            && self.authorship.cause(&path, &bytes, &new).is_none()
        {
            self.rescued(&path, &bytes)?;
        }
        self.changes.push(Change { path: path.clone(), parts: new.to_vec() });
        let reason =
            if known.is_some() { "what it lists changed" } else { "there was none to trust" };
        self.outcome.fates.push(Fate { path, written: true, reason: reason.to_string() });
        Ok(())
    }

    fn read(&self, path: &str) -> anyhow::Result<Option<Content>> {
        self.root.read(path, 1 << 40).with_context(|| format!("read {path}"))
    }

    /// The artifacts with the digests of their headers: of what is about to be written, else as the
    /// manifest had them, else of what is on disk.
    fn sealed(&self, wanted: &[Entry]) -> anyhow::Result<Vec<Entry>> {
        let mut entries = wanted.to_vec();
        for entry in &mut entries {
            let format = verify::format_of(&entry.path);
            let change = self.changes.iter().find(|change| change.path == entry.path);
            let known = self.intact.get(&entry.path).and_then(|known| known.seal.clone());
            entry.seal = match (change, known) {
                _ if format == Format::Bundle => None,
                (Some(change), _) => {
                    change.parts.first().and_then(|header| header::seal_of(header))
                }
                (None, Some(known)) => Some(known),
                (None, None) => match self.read(&entry.path)? {
                    Some(Content::Bytes(bytes, _)) => header::seal(format, &bytes),
                    _ => None,
                },
            };
        }
        Ok(entries)
    }
}

//! Plans which artifacts to write, which to remove and which to leave alone.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;

use super::artifacts::{BuiltArtifact, CurrentArtifacts};
use super::authorship::Authorship;
use super::emitted::Emitted;
use super::explain::Explainer;
use super::manifest::{entry, inputs_digest, new_manifest};
use super::targets::shared_files::SharedFile;
use super::{Corpus, Fate, Options, responsibilities};
use crate::discover::git::{Head, PendingHead};
use crate::emit::{self, Change, Removal};
use crate::model::layout::{MANIFEST, WORKFLOW, WORKFLOW_BEFORE};
use crate::model::{Action, Artifact, Code, Diagnostic, Digest, Format};
use crate::root::{Content, Root};
use crate::verify::{self, OnDisk};
use crate::wire::header::{self, Provenance};
use crate::wire::manifest::{Manifest, ManifestEntry};

/// The planned changes of one build.
#[derive(Default)]
pub(super) struct PlannedChanges {
    pub(super) changes: Vec<Change>,
    pub(super) removals: Vec<Removal>,
    pub(super) fates: Vec<Fate>,
    pub(super) notes: Vec<Diagnostic>,
    /// The facts that decide each artifact, by path.
    pub(super) actions: Vec<(String, Action)>,
    /// Digest of the build's inputs.
    pub(super) inputs: String,
}

impl PlannedChanges {
    fn fate(&mut self, path: &str, written: bool, reason: &str) {
        let (path, reason) = (path.to_string(), reason.to_string());
        self.fates.push(Fate { path, written, reason });
    }

    /// Adds the change of a file that people share with blue. A file without other text is removed in
    /// the transaction.
    pub(super) fn shared_file(&mut self, file: &SharedFile) {
        self.fate(file.path, true, file.reason);
        if let (Some(before), None) = (&file.before, &file.after) {
            let digest = Digest::of(before.as_bytes());
            self.removals.push(Removal { path: file.path.to_string(), digest });
        }
    }
}

/// Compares artifacts with the files on disk, and plans which to write, to remove and to leave alone.
pub(super) fn plan(
    corpus: &Corpus<'_>,
    emitted: &Emitted,
    artifacts: Vec<BuiltArtifact>,
    head: PendingHead,
    explainer: &Explainer<'_>,
    options: &Options<'_>,
) -> anyhow::Result<PlannedChanges> {
    let Corpus { root, inputs, graph, bindings, knowledge, roles, .. } = corpus;
    let Emitted { manifest, converted, intact } = emitted;
    let roles = responsibilities::digest(inputs, roles.iter().map(|drafted| &drafted.role));
    let digest = inputs_digest(inputs, graph, bindings, knowledge, roles);
    let entries = artifacts.iter().map(|built| entry(built, intact.get(&built.path)));
    let wanted = new_manifest(corpus, digest, entries.collect());
    let planned = PlannedChanges { inputs: digest.to_string(), ..PlannedChanges::default() };
    let mut planner = Planner {
        root,
        head: LazyCell::new(Box::new(|| provenance(head.wait()))),
        explainer: options.explain.then_some(explainer),
        intact,
        authorship: Authorship::new(root, manifest.is_some(), BTreeMap::new()),
        planned,
    };
    for built in artifacts {
        planner.artifact(built, manifest.as_ref())?;
    }
    planner.orphans(manifest.as_ref(), &wanted)?;
    planner.manifest(manifest.as_ref(), converted.as_deref(), &wanted)?;
    Ok(planner.planned)
}

/// Converts HEAD to the facts of a header.
fn provenance(head: Head) -> Provenance {
    Provenance { generated: head.generated, commit: head.commit, created: None }
}

struct Planner<'a> {
    root: &'a Root,
    /// HEAD and its date. git is waited for only if something is written.
    head: LazyCell<Provenance, Box<dyn FnOnce() -> Provenance>>,
    explainer: Option<&'a Explainer<'a>>,
    /// Artifacts on disk that are exactly what the manifest lists.
    intact: &'a CurrentArtifacts,
    /// Distinguishes blue's own text from a user's where a file is not what the manifest lists.
    authorship: Authorship<'a>,
    planned: PlannedChanges,
}

impl Planner<'_> {
    /// Plans one artifact.
    fn artifact(
        &mut self,
        built: BuiltArtifact,
        manifest: Option<&Manifest>,
    ) -> anyhow::Result<()> {
        let BuiltArtifact { path, action, artifact } = built;
        let known = manifest.and_then(|manifest| manifest.entry(&path));
        let reason = self.explainer.map(|e| e.reason(&path, &action, known.is_some()));
        let mut reason = reason.unwrap_or_default();
        self.planned.actions.push((path.clone(), action));
        let Some(artifact) = artifact else {
            self.planned.fate(&path, false, "current: nothing that decides it changed");
            return Ok(());
        };
        let intact = known.filter(|known| self.intact.contains_key(&known.path));
        let on_disk = match intact.and_then(|entry| Digest::parse(&entry.hash)) {
            Some(digest) => OnDisk::Ours(Provenance::default(), digest, Vec::new()),
            None => self.authorship.on_disk(&path, known, &artifact.body)?,
        };
        match on_disk {
            OnDisk::Ours(_, digest, _) if digest == artifact.hash => {
                self.planned.fate(&path, false, &format!("current: rebuilt ({reason}), unchanged"));
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
                "{} was not written by blue; it is not overwritten\nhint: move it away, or change the target or the name of the collection in .blue/config.yaml",
                artifact.path
            ),
        }
        self.save_previous_bundle(&path);
        let header = self.header(&artifact)?;
        let mut parts = artifact.body;
        if !header.is_empty() {
            parts.insert(0, header.into_bytes());
        }
        self.planned.fate(&path, true, &reason);
        self.planned.changes.push(Change { path, parts });
        Ok(())
    }

    /// Renders the header of an artifact. A file of a responsibility keeps the date at which it was
    /// first written.
    fn header(&self, artifact: &Artifact) -> anyhow::Result<String> {
        if artifact.format != Format::RoleFile {
            return Ok(header::header(artifact.format, &self.head, &artifact.source));
        }
        let on_disk = self.read(&artifact.path)?;
        let created = match &on_disk {
            Some(Content::Bytes(bytes, _)) => {
                header::parse(Format::RoleFile, bytes).and_then(|file| file.provenance.created)
            }
            _ => None,
        };
        let provenance = Provenance { created, ..self.head.clone() };
        Ok(header::header(Format::RoleFile, &provenance, &artifact.source))
    }

    /// Restores LF line ends. The header is not changed, so that git sees no difference.
    fn with_lf(&mut self, artifact: &Artifact, bytes: &[u8]) {
        let n_body = header::parse(artifact.format, bytes).map_or(0, |own| own.body.len());
        let (header, body) = bytes.split_at(bytes.len() - n_body);
        let parts = [header, body].map(<[u8]>::to_vec).to_vec();
        self.planned.changes.push(Change { path: artifact.path.clone(), parts });
        self.planned.fate(&artifact.path, true, "its lines ended in CRLF");
    }

    /// Saves a copy of a workflow bundle before it changes, so that a session that received it can be shown
    /// the changed lines. Without the copy, the session is shown the whole bundle.
    fn save_previous_bundle(&self, path: &str) {
        let name = path.strip_prefix(WORKFLOW);
        if let Some(name) = name
            && let Ok(Some(Content::Bytes(bytes, _))) = self.root.read(path, 1 << 20)
        {
            let copy = format!("{WORKFLOW_BEFORE}{name}");
            emit::write_local(self.root, &copy, &bytes).ok();
        }
    }

    fn rescued(&mut self, path: &str, bytes: &[u8]) -> anyhow::Result<String> {
        let copy = emit::save_copy(self.root, path, bytes)?;
        let message = format!("not what blue wrote, so edited by hand; the edit is kept in {copy}");
        let hint = "edit the documents instead: this file is made from them";
        self.planned.notes.push(Diagnostic::new(Code::HandEdited, path, message).hint(hint));
        Ok("it was edited by hand".to_string())
    }

    /// Plans artifacts that no document asks for any more: they are removed if they are what blue wrote,
    /// and reported otherwise.
    fn orphans(&mut self, manifest: Option<&Manifest>, wanted: &Manifest) -> anyhow::Result<()> {
        let listed = manifest.iter().flat_map(|manifest| &manifest.artifacts);
        // A merge may have damaged the manifest, or taken that of one side.
        let suspect = manifest.is_none_or(|manifest| manifest.artifacts.len() > self.intact.len());
        let others = suspect.then(|| self.authorship.entries()).into_iter().flatten();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        for old in listed.chain(others) {
            if !seen.insert(&old.path) {
                continue;
            }
            if wanted.entry(&old.path).is_some() {
                continue;
            }
            match self.authorship.on_disk(&old.path, Some(old), &[])? {
                OnDisk::Ours(..) | OnDisk::Crlf(..) | OnDisk::Mixed(_) => {
                    let Some(Content::Bytes(bytes, _)) = self.read(&old.path)? else { continue };
                    let digest = Digest::of(&bytes);
                    self.planned.removals.push(Removal { path: old.path.clone(), digest });
                    self.planned.fate(&old.path, true, "removed: no document asks for it any more");
                }
                OnDisk::Edited(_) | OnDisk::Foreign => {
                    let message = "no document asks for it any more, but it was edited by hand; it is left alone";
                    self.planned.notes.push(
                        Diagnostic::new(Code::EditedOrphan, &old.path, message).hint("remove it"),
                    );
                }
                OnDisk::Absent => {}
            }
        }
        Ok(())
    }

    /// Plans the manifest, which is written last, and only if it changed except for its dates.
    fn manifest(
        &mut self,
        known: Option<&Manifest>,
        converted: Option<&str>,
        wanted: &Manifest,
    ) -> anyhow::Result<()> {
        let path = MANIFEST.to_string();
        let artifacts = self.sealed(&wanted.artifacts)?;
        // Computing the checksum renders the whole manifest, so cheaper comparisons come first.
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
            self.planned.changes.extend(parts.map(|parts| Change { path: path.clone(), parts }));
            self.planned.fate(&path, converted.is_some(), reason);
            return Ok(());
        }
        let head: &Provenance = &self.head;
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
        self.planned.changes.push(Change { path: path.clone(), parts: new.to_vec() });
        let reason =
            if known.is_some() { "what it lists changed" } else { "there was none to trust" };
        self.planned.fate(&path, true, reason);
        Ok(())
    }

    fn read(&self, path: &str) -> anyhow::Result<Option<Content>> {
        self.root.read(path, 1 << 40).with_context(|| format!("read {path}"))
    }

    /// Adds the digests of headers to manifest entries: of the file that will be written, else from the
    /// previous manifest, else of the file on disk.
    fn sealed(&self, wanted: &[ManifestEntry]) -> anyhow::Result<Vec<ManifestEntry>> {
        let mut entries = wanted.to_vec();
        for entry in &mut entries {
            let format = verify::format_of(&entry.path);
            let change = self.planned.changes.iter().find(|change| change.path == entry.path);
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

//! What to write, what to leave alone, and what is in the way.

use std::cell::{LazyCell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::thread::{JoinHandle, ScopedJoinHandle};

use anyhow::Context;

use super::artifacts::{self, Current, Made};
use super::emitted::{self, Emitted};
use super::manifest::{entry, inputs_digest, new_manifest};
use super::ranked::Left;
use super::remember::{self, folders, outputs, remember, to_create};
use super::{Analysis, Fate, Going, Inputs, Options, Outcome, explain};
use crate::beneath::{Content, Root};
use crate::discover::git;
use crate::emit::{self, Change, Removal};
use crate::model::place::{MANIFEST, WORKFLOW, WORKFLOW_BEFORE};
use crate::model::snapshot::Basis;
use crate::model::{Code, Diagnostic, Digest, Format, Record, Watched};
use crate::verify::{self, OnDisk};
use crate::wire::header::{self, Provenance};
use crate::wire::manifest::{Entry, Manifest};

/// What is known of the last build.
pub(super) struct Last {
    pub(super) record: Record,
    pub(super) engine: Digest,
    /// The file system's time before this build looks at anything.
    pub(super) looked: i64,
    pub(super) emitted: Emitted,
}

fn entry_of<'a>(manifest: Option<&'a Manifest>, path: &str) -> Option<&'a Entry> {
    manifest?.artifacts.iter().find(|entry| entry.path == path)
}

/// Compares a project with what a build would give. Writes nothing.
pub(super) fn check(
    root: &Root,
    inputs: &Inputs,
    mut analysis: Analysis,
) -> anyhow::Result<Outcome> {
    let manifest = emitted::manifest(root)?;
    let (ready, mut notes) = (artifacts::Ready::take(&mut analysis), Vec::new());
    let from = artifacts::From { root, inputs, analysis: &analysis };
    let made = artifacts::all(from, ready, &Current::new(), &mut notes)?;
    let entries: Vec<Entry> = made.iter().map(|made| entry(made, None)).collect();
    let mut outcome = outcome(&analysis, notes);
    for artifact in made.into_iter().filter_map(|made| made.artifact) {
        let on_disk =
            verify::on_disk(root, &artifact.path, entry_of(manifest.as_ref(), &artifact.path))?;
        outcome.diagnostics.extend(verify::finding(&artifact.path, &on_disk, &artifact.hash));
    }
    let digest = inputs_digest(inputs, &analysis.graph, &analysis.bindings);
    let wanted = new_manifest(inputs, &analysis, digest, entries);
    let hint = "run `blue knowledge build` and commit the result";
    let found = match &manifest {
        None if root.exists(MANIFEST) => {
            Some(Diagnostic::new(Code::Edited, MANIFEST, "edited by hand, or broken").hint(hint))
        }
        None => Some(Diagnostic::new(Code::Missing, MANIFEST, "missing").hint(hint)),
        Some(manifest) if manifest.checksum != wanted.computed_checksum() => {
            Some(Diagnostic::new(Code::Stale, MANIFEST, "stale").hint(hint))
        }
        Some(_) => None,
    };
    outcome.diagnostics.extend(found);
    for orphan in manifest.iter().flat_map(|manifest| &manifest.artifacts) {
        let gone = !wanted.artifacts.iter().any(|entry| entry.path == orphan.path);
        if gone && root.exists(&orphan.path) {
            outcome.diagnostics.push(
                Diagnostic::new(Code::Orphan, &orphan.path, "no document asks for it any more")
                    .hint(hint),
            );
        }
    }
    outcome.review(&inputs.policy);
    Ok(outcome)
}

/// Brings the disk up to date: artifacts, and beside them the facts, which depend on nothing that
/// is decided here.
pub(super) fn write(
    root: &Root,
    inputs: &Inputs,
    analysis: &mut Analysis,
    last: &Last,
    options: &Options<'_>,
    asked: JoinHandle<git::Head>,
) -> anyhow::Result<Outcome> {
    let ready = artifacts::Ready::take(analysis);
    // An explanation compares it with what was.
    let watched = match options.explain {
        true => analysis.reading.watched.clone(),
        false => std::mem::take(&mut analysis.reading.watched),
    };
    let left = (watched, std::mem::take(&mut analysis.left));
    let going = std::mem::replace(&mut analysis.basis, Going::Nowhere);
    let (analysis, keeping) = (&*analysis, &analysis.reading.keeping);
    let kept = OnceCell::new();
    let outcome = std::thread::scope(|scope| {
        let keep = || keeping.keep(root, &inputs.plan.limits);
        let beside = match going {
            // What an edit adds is kept sooner than a thread begins.
            Going::As(basis) => Beside::Done((keep(), Some(basis))),
            Going::Nowhere => Beside::Done((keep(), None)),
            Going::On(words) => Beside::Doing(scope.spawn(move || {
                (keep(), remember::basis(root, inputs, analysis, *words, &last.engine))
            })),
        };
        let head = LazyCell::new(|| provenance(asked.join().expect("asking git does not panic")));
        let basis = || {
            let (result, basis) = beside.wait();
            kept.set(result).ok();
            basis
        };
        let from = artifacts::From { root, inputs, analysis };
        let outcome = write_artifacts(from, ready, left, last, options, (&head, basis));
        // No process is left behind, also where nobody wanted its answer.
        LazyCell::force(&head);
        outcome
    });
    let mut outcome = outcome?;
    let kept = kept.into_inner().and_then(Result::err).map(not_kept);
    outcome.diagnostics.extend(kept.and_then(|note| inputs.policy.judge(note)));
    Ok(outcome)
}

/// Whether facts could be kept, and what the next build goes on from.
type Kept = (anyhow::Result<()>, Option<Basis>);

/// What is kept while artifacts are made.
enum Beside<'scope> {
    Done(Kept),
    Doing(ScopedJoinHandle<'scope, Kept>),
}

impl Beside<'_> {
    fn wait(self) -> Kept {
        match self {
            Beside::Done(kept) => kept,
            Beside::Doing(thread) => thread.join().expect("keeping does not panic"),
        }
    }
}

/// What is said of a cache that could not be written.
pub(super) fn not_kept(error: anyhow::Error) -> Diagnostic {
    let message = format!("the cache could not be kept: {error:#}");
    Diagnostic::new(Code::CacheNotKept, emit::LOCAL, message)
}

/// HEAD and its date, as headers tell it.
fn provenance(head: git::Head) -> Provenance {
    Provenance { generated: head.generated, commit: head.commit }
}

fn write_artifacts(
    from: artifacts::From<'_>,
    ready: artifacts::Ready,
    left: (Vec<Watched>, Left),
    last: &Last,
    options: &Options<'_>,
    (head, basis): (&dyn Deref<Target = Provenance>, impl FnOnce() -> Option<Basis>),
) -> anyhow::Result<Outcome> {
    let artifacts::From { root, inputs, analysis } = from;
    let Last { emitted: Emitted { manifest, intact }, .. } = last;
    let current: Current<'_> = intact.iter().map(|(path, entry)| (path.as_str(), entry)).collect();
    let mut notes = Vec::new();
    let (made, digest) = rayon::join(
        || artifacts::all(from, ready, &current, &mut notes),
        || inputs_digest(inputs, &analysis.graph, &analysis.bindings),
    );
    let mut made = made?;
    let entries: Vec<Entry> = made.iter().map(|made| entry(made, intact.get(&made.path))).collect();
    let wanted = new_manifest(inputs, analysis, digest, entries);
    let mut outcome = outcome(analysis, notes);
    let mut writer =
        Writer { root, head, options, intact, changes: Vec::new(), outcome: &mut outcome };
    for made in &mut made {
        writer.artifact(made, manifest.as_ref(), &last.record, analysis)?;
    }
    let removals = writer.orphans(manifest.as_ref(), &wanted)?;
    writer.manifest(manifest.as_ref(), &wanted)?;
    let changes = std::mem::take(&mut writer.changes);
    let created = to_create(root, &changes);
    let written = emit::commit(root, &changes, &removals)?;
    outcome.review(&inputs.policy);
    let folders = folders(root, analysis, &created, &removals);
    // What was said of references was said before these files came and went.
    let is_reference = |note: &Diagnostic| note.code.as_str().starts_with("BLUE-REF");
    let outdated =
        !removals.is_empty() || !created.is_empty() && analysis.notes.iter().any(is_reference);
    let basis = || basis().filter(|_| !outdated);
    let kept = remember(
        root,
        inputs,
        left,
        analysis,
        last,
        &made,
        folders,
        outputs(root, last, &made, written)?,
        &outcome,
        basis(),
    );
    let kept = kept.err().map(not_kept);
    outcome.diagnostics.extend(kept.and_then(|note| inputs.policy.judge(note)));
    Ok(outcome)
}

fn outcome(analysis: &Analysis, more: Vec<Diagnostic>) -> Outcome {
    Outcome {
        fates: Vec::new(),
        diagnostics: analysis.notes.iter().cloned().chain(more).collect(),
        n_documents: analysis.graph.documents.len(),
        n_live: analysis.graph.live.iter().filter(|live| **live).count(),
        ..Outcome::default()
    }
}

struct Writer<'a> {
    root: &'a Root,
    /// HEAD and its date, waited for only when something is written.
    head: &'a dyn Deref<Target = Provenance>,
    options: &'a Options<'a>,
    /// Artifacts on disk that are exactly what the manifest says.
    intact: &'a BTreeMap<String, Entry>,
    changes: Vec<Change>,
    outcome: &'a mut Outcome,
}

impl Writer<'_> {
    fn artifact(
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
            None => verify::on_disk(self.root, &artifact.path, known)?,
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
            OnDisk::Absent => {
                reason = if known.is_some() { "it was missing".to_string() } else { reason }
            }
            // With no manifest to compare with, it may have been edited.
            OnDisk::Ours(_, _, bytes) if known.is_none() => {
                reason = self.rescued(&artifact.path, &bytes)?
            }
            OnDisk::Ours(..) => {}
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

    /// Keeps a bundle of tier 2 as it was, so that a session that had it can be told what changed.
    /// Without it the session is only told that something did.
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
    fn orphans(
        &mut self,
        manifest: Option<&Manifest>,
        wanted: &Manifest,
    ) -> anyhow::Result<Vec<Removal>> {
        let mut removals = Vec::new();
        for old in manifest.iter().flat_map(|manifest| &manifest.artifacts) {
            if wanted.artifacts.iter().any(|entry| entry.path == old.path) {
                continue;
            }
            match verify::on_disk(self.root, &old.path, Some(old))? {
                OnDisk::Ours(_, _, bytes) => {
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
    fn manifest(&mut self, known: Option<&Manifest>, wanted: &Manifest) -> anyhow::Result<()> {
        let path = MANIFEST.to_string();
        let artifacts = self.sealed(&wanted.artifacts)?;
        // To compute a checksum is to write the whole; other inputs or artifacts are seen at once.
        let same = known.is_some_and(|known| {
            known.inputs == wanted.inputs
                && known.artifacts == artifacts
                && known.checksum == wanted.computed_checksum()
        });
        if same {
            let reason = "current: nothing in it changed".to_string();
            self.outcome.fates.push(Fate { path, written: false, reason });
            return Ok(());
        }
        if known.is_none()
            && let Some(Content::Bytes(bytes, _)) = self.read(&path)?
        {
            self.rescued(&path, &bytes)?;
        }
        let head: &Provenance = self.head;
        let dated = Manifest {
            generated_at: head.generated.clone(),
            source_commit: head.commit.clone(),
            artifacts,
            ..wanted.clone()
        };
        let text = dated.file(&header::header(Format::Yaml, head, &wanted.source_line()));
        self.changes.push(Change { path: path.clone(), parts: vec![text.into_bytes()] });
        let reason =
            if known.is_some() { "what it lists changed" } else { "there was none to trust" };
        self.outcome.fates.push(Fate { path, written: true, reason: reason.to_string() });
        Ok(())
    }

    fn read(&self, path: &str) -> anyhow::Result<Option<Content>> {
        self.root.read(path, 1 << 40).with_context(|| format!("read {path}"))
    }

    /// The artifacts with the digests of their headers: of what is about to be written, else as the
    /// manifest had them, else of what lies there.
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

//! What to write, what to leave alone, and what is in the way.

use std::cell::{LazyCell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Deref;
use std::thread::{JoinHandle, ScopedJoinHandle};

use anyhow::Context;

use super::artifacts::{self, Current};
use super::emitted::{self, Emitted};
use super::manifest::{entry, inputs_digest, new_manifest};
use super::merged::Authorship;
use super::ranked::Left;
use super::remember::{self, folders, outputs, remember, to_create};
use super::writer::Writer;
use super::{Analysis, Going, Inputs, Options, Outcome, Survey};
use crate::discover::git;
use crate::emit;
use crate::model::layout::MANIFEST;
use crate::model::snapshot::Basis;
use crate::model::{Code, Diagnostic, Digest, Record, TrackedFile};
use crate::root::{Content, Root};
use crate::verify;
use crate::wire::header::Provenance;
use crate::wire::manifest::{Entry, Manifest};

/// What is known of the last build.
pub(super) struct Last {
    pub(super) record: Record,
    /// `None` without a key for this machine: then nothing is cached.
    pub(super) engine: Option<Digest>,
    /// The file system's time before this build looks at anything.
    pub(super) looked: i64,
    pub(super) emitted: Emitted,
}

/// The manifest's entry of an artifact.
pub(super) fn entry_of<'a>(manifest: Option<&'a Manifest>, path: &str) -> Option<&'a Entry> {
    manifest?.artifacts.iter().find(|entry| entry.path == path)
}

/// Stops a check that would compare with a smaller truth: the project asks for documents outside
/// itself, and this machine's user did not allow them.
pub(super) fn refuse_links_without_consent(inputs: &Inputs, survey: &Survey) -> anyhow::Result<()> {
    let outside = survey.notes.iter().find(|note| note.code == Code::OutsideRoot);
    if let Some(note) = outside.filter(|_| inputs.plan.allow_external) {
        anyhow::bail!(
            "{}: {}\nhint: run `blue trust` to allow it on this machine",
            note.path,
            note.message
        );
    }
    Ok(())
}

/// Compares a project with what a build would give. Writes nothing.
pub(super) fn check(
    root: &Root,
    inputs: &Inputs,
    mut analysis: Analysis,
) -> anyhow::Result<Outcome> {
    let (manifest, converted) = emitted::manifest(root, false)?.unzip();
    let authorship = Authorship::new(root, manifest.is_some(), emit::pending(root));
    let (ready, mut notes) = (artifacts::Ready::take(&mut analysis), Vec::new());
    let from = artifacts::From { root, inputs, analysis: &analysis };
    let made = artifacts::all(from, ready, &Current::new(), &mut notes)?;
    let entries: Vec<Entry> = made.iter().map(|made| entry(made, None)).collect();
    let mut outcome = outcome(&analysis, notes);
    for artifact in made.into_iter().filter_map(|made| made.artifact) {
        let known = entry_of(manifest.as_ref(), &artifact.path);
        let on_disk = authorship.on_disk(&artifact.path, known, &artifact.body)?;
        outcome.diagnostics.extend(verify::finding(&artifact.path, &on_disk, &artifact.hash));
    }
    let digest = inputs_digest(inputs, &analysis.graph, &analysis.bindings);
    let wanted = new_manifest(inputs, &analysis, digest, entries);
    let hint = "run `blue knowledge build` and commit the result";
    let found = match &manifest {
        None => not_a_whole_manifest(root, &authorship, &wanted)?,
        Some(_) if converted.flatten().is_some() => {
            Some((Code::Stale, "stale: its lines end in CRLF".to_string()))
        }
        Some(manifest) if manifest.checksum != wanted.computed_checksum() => {
            Some((Code::Stale, "stale".to_string()))
        }
        Some(_) => None,
    };
    let found = found.map(|(code, message)| Diagnostic::new(code, MANIFEST, message).hint(hint));
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

/// Says what is in the place of a manifest that is not whole.
fn not_a_whole_manifest(
    root: &Root,
    authorship: &Authorship<'_>,
    wanted: &Manifest,
) -> anyhow::Result<Option<(Code, String)>> {
    let content = root.read(MANIFEST, 1 << 28).with_context(|| format!("read {MANIFEST}"))?;
    let Some(Content::Bytes(bytes, _)) = content else {
        return Ok(Some((Code::Missing, "missing".to_string())));
    };
    let new = [wanted.file("").into_bytes()];
    Ok(Some(match authorship.cause(MANIFEST, &bytes, &new) {
        Some(cause) => (Code::Stale, format!("stale: {}", cause.words())),
        None => (Code::Edited, "edited by hand, or broken".to_string()),
    }))
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
            Going::On(words) => Beside::Doing(super::threads::start_in(scope, move || {
                (keep(), remember::basis(root, inputs, analysis, *words, last.engine.as_ref()))
            })?),
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
    left: (Vec<TrackedFile>, Left),
    last: &Last,
    options: &Options<'_>,
    (head, basis): (&dyn Deref<Target = Provenance>, impl FnOnce() -> Option<Basis>),
) -> anyhow::Result<Outcome> {
    let artifacts::From { root, inputs, analysis } = from;
    let Last { emitted: Emitted { manifest, converted, intact }, .. } = last;
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
    let mut writer = Writer {
        root,
        head,
        options,
        intact,
        authorship: Authorship::new(root, manifest.is_some(), BTreeMap::new()),
        changes: Vec::new(),
        outcome: &mut outcome,
    };
    for made in &mut made {
        writer.artifact(made, manifest.as_ref(), &last.record, analysis)?;
    }
    let removals = writer.orphans(manifest.as_ref(), &wanted)?;
    writer.manifest(manifest.as_ref(), converted.as_deref(), &wanted)?;
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

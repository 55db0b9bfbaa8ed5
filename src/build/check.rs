//! `--check`: compares a project with what a build would write. Writes nothing and reads no cache.

use anyhow::Context;

use super::authorship::Authorship;
use super::manifest::{entry, inputs_digest, new_manifest};
use super::targets::shared_files::SharedFiles;
use super::{
    Corpus, Inputs, Options, Outcome, Survey, Surveyed, artifacts, emitted, responsibilities,
    targets, threads,
};
use crate::emit;
use crate::model::layout::MANIFEST;
use crate::model::{Code, Diagnostic, Lexicon};
use crate::rank;
use crate::root::{Content, Root};
use crate::verify;
use crate::wire::manifest::{Manifest, ManifestEntry};

/// Reports every emitted file that is not what a build would write.
pub(super) fn check(root: &Root, options: &Options<'_>) -> anyhow::Result<Outcome> {
    threads::start_pool(options.threads)?;
    let inputs = super::load(root)?;
    let survey = super::survey(root, &inputs, options.progress)?;
    refuse_links_without_consent(&inputs, &survey)?;
    let Survey { graph, bindings, knowledge, roles, mut notes, terms, extracts, .. } = survey;
    let ranking = rank::rank(&graph, &Lexicon::new(&graph.documents, terms));
    let surveyed = Surveyed { graph, bindings, knowledge, extracts, roles };
    let corpus = Corpus::new(root, &inputs, surveyed, ranking, &mut notes)?;
    let (manifest, with_lf) = emitted::manifest(root, false)?.unzip();
    let authorship = Authorship::new(root, manifest.is_some(), emit::pending(root));
    let held = responsibilities::held_files(root, &inputs, &corpus.roles, manifest.as_ref())?;
    let built = artifacts::render(&corpus, &held, &mut notes)?;
    let session = || targets::session_text(root, &built);
    notes.extend(SharedFiles::plan(root, &inputs.plan.targets, session)?.findings());
    let entries: Vec<ManifestEntry> =
        built.iter().map(|built| entry(built, held.get(&built.path))).collect();
    for artifact in built.into_iter().filter_map(|built| built.artifact) {
        let known = manifest.as_ref().and_then(|manifest| manifest.entry(&artifact.path));
        let on_disk = authorship.on_disk(&artifact.path, known, &artifact.body)?;
        notes.extend(verify::finding(&artifact.path, &on_disk, &artifact.hash));
    }
    let roles = responsibilities::digest(&inputs, corpus.roles.iter().map(|drafted| &drafted.role));
    let digest = inputs_digest(&inputs, &corpus.graph, &corpus.bindings, &corpus.knowledge, roles);
    let wanted = new_manifest(&corpus, digest, entries);
    notes.extend(check_manifest(root, &authorship, manifest.as_ref(), with_lf, &wanted)?);
    notes.extend(orphans(root, manifest.as_ref(), &wanted));
    Ok(Outcome::new(&corpus, Vec::new(), notes))
}

const HINT: &str = "run `blue knowledge build` and commit the result";

/// Stops a check that would compare with fewer documents: the project asks for documents outside of
/// itself, and the user of this machine did not allow that.
fn refuse_links_without_consent(inputs: &Inputs, survey: &Survey) -> anyhow::Result<()> {
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

/// Compares the manifest on disk. `with_lf` is its text if it has other line ends on disk.
fn check_manifest(
    root: &Root,
    authorship: &Authorship<'_>,
    manifest: Option<&Manifest>,
    with_lf: Option<Option<String>>,
    wanted: &Manifest,
) -> anyhow::Result<Option<Diagnostic>> {
    let finding = match manifest {
        None => Some(unusable_manifest(root, authorship, wanted)?),
        Some(_) if with_lf.flatten().is_some() => {
            Some((Code::Stale, "stale: its lines end in CRLF".to_string()))
        }
        Some(manifest) if manifest.checksum != wanted.computed_checksum() => {
            Some((Code::Stale, "stale".to_string()))
        }
        Some(_) => None,
    };
    Ok(finding.map(|(code, message)| Diagnostic::new(code, MANIFEST, message).hint(HINT)))
}

/// Describes a manifest that is missing or not intact.
fn unusable_manifest(
    root: &Root,
    authorship: &Authorship<'_>,
    wanted: &Manifest,
) -> anyhow::Result<(Code, String)> {
    let content = root.read(MANIFEST, 1 << 28).with_context(|| format!("read {MANIFEST}"))?;
    let Some(Content::Bytes(bytes, _)) = content else {
        return Ok((Code::Missing, "missing".to_string()));
    };
    let new = [wanted.file("").into_bytes()];
    Ok(match authorship.cause(MANIFEST, &bytes, &new) {
        Some(cause) => (Code::Stale, format!("stale: {}", cause.words())),
        None => (Code::Edited, "edited by hand, or broken".to_string()),
    })
}

/// Reports emitted files that no document asks for any more.
fn orphans(root: &Root, manifest: Option<&Manifest>, wanted: &Manifest) -> Vec<Diagnostic> {
    let listed = manifest.into_iter().flat_map(|manifest| &manifest.artifacts);
    let orphans = listed.filter(|old| wanted.entry(&old.path).is_none() && root.exists(&old.path));
    orphans
        .map(|orphan| {
            let message = "no document asks for it any more";
            Diagnostic::new(Code::Orphan, &orphan.path, message).hint(HINT)
        })
        .collect()
}

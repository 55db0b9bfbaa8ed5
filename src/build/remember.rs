//! What the next build can skip: the record of what this one saw and wrote.

use rustix::fs::FileType;

use super::artifacts::Made;
use super::decide::Last;
use super::ranked::Left;
use super::{Analysis, Inputs, Outcome};
use crate::discover::{fresh, walk};
use crate::emit::{self, Change, LOCAL, Removal};
use crate::guard::has_secret;
use crate::model::layout::MANIFEST;
use crate::model::snapshot::{Basis, Seen};
use crate::model::{Calls, Digest, Folder, Lexicon, Record, Stat, TrackedFile};
use crate::root::Root;
use crate::wire::{record, snapshot};

/// The emitted files as they are now: written just now, known from before, or hashed again.
pub(super) fn outputs(
    root: &Root,
    last: &Last,
    made: &[Made],
    written: Vec<TrackedFile>,
) -> anyhow::Result<Vec<TrackedFile>> {
    let mut outputs = written;
    for path in made.iter().map(|made| made.path.as_str()).chain([MANIFEST]) {
        if outputs.iter().any(|watched| watched.path == path) {
            continue;
        }
        let known = last.record.outputs.iter().find(|watched| watched.path == path);
        match known.filter(|known| fresh::file_same(root, last.record.settled, known).is_some()) {
            Some(known) => outputs.push(known.clone()),
            None => outputs.extend(watched(root, path)?),
        }
    }
    outputs.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(outputs)
}

fn watched(root: &Root, path: &str) -> anyhow::Result<Option<TrackedFile>> {
    let Some((stat, _)) = root.stat(path)? else { return Ok(None) };
    Ok(fresh::digest_of(root, path).map(|digest| TrackedFile {
        path: path.to_string(),
        stat,
        digest,
    }))
}

/// Keeps what the next build can skip.
#[expect(clippy::too_many_arguments, reason = "the record is made of everything the build knows")]
pub(super) fn remember(
    root: &Root,
    inputs: &Inputs,
    (mut read, left): (Vec<TrackedFile>, Left),
    analysis: &Analysis,
    last: &Last,
    made: &[Made],
    mut folders: Vec<Folder>,
    outputs: Vec<TrackedFile>,
    outcome: &Outcome,
    basis: Option<Basis>,
) -> anyhow::Result<()> {
    read.extend(inputs.watched.iter().cloned());
    for path in analysis.tree.ignores.iter().filter(|path| !has_secret(path)) {
        read.extend(watched(root, path)?);
    }
    let n_seen = folders.len();
    folders.retain(|folder| !has_secret(&folder.path));
    let is_whole = folders.len() == n_seen && !analysis.tree.depends_on_index;
    read.sort_by(|a, b| a.path.cmp(&b.path));
    read.dedup_by(|a, b| a.path == b.path);
    // A name that is a secret is stored nowhere, and git's index is not watched. Without outputs, the
    // next build takes nothing for unchanged, and so looks at both again.
    let recorded = if is_whole { outputs.clone() } else { Vec::new() };
    let seen = Record {
        folders,
        inputs: read,
        outputs: recorded,
        looked: last.looked,
        settled: emit::time(root)?,
        counts: outcome.counts(),
        actions: made
            .iter()
            .map(|made| (made.path.clone(), made.action.facts().to_vec()))
            .collect(),
        basis,
    };
    let Some(engine) = &last.engine else { return Ok(()) };
    let (ranking, seen) =
        rayon::join(|| left.keep(root, &outputs, engine), || record::write(&seen, engine));
    ranking?;
    emit::keep_parts(root, &format!("{LOCAL}/record"), seen.iter())
}

/// Keeps what is known of all documents, so that the next build can go on from it. `None` if it could
/// not be kept, which only makes that build slower.
pub(super) fn basis(
    root: &Root,
    inputs: &Inputs,
    analysis: &Analysis,
    (lexicon, calls): (Lexicon, Calls),
    engine: Option<&Digest>,
) -> Option<Basis> {
    // What decides more than the record notices is looked at again after every edit.
    if analysis.tree.unwatched {
        return None;
    }
    let keeping = &analysis.reading.keeping;
    let keys = analysis.graph.documents.iter();
    let keys = keys.map(|document| inputs.guard.of(&document.path).key(document.digest));
    let seen = Seen {
        graph: &analysis.graph,
        bindings: &analysis.bindings,
        notes: &analysis.notes[..analysis.n_seen],
        lexicon: &lexicon,
        calls: &calls,
        blocks: &keeping.blocks(keys),
    };
    let written = snapshot::write(&seen, engine?);
    let kept = emit::keep_parts(root, &format!("{LOCAL}/snapshot"), written.parts.iter());
    kept.is_ok().then(|| keeping.basis(written.check))
}

/// The folders as the walk saw them, with the names that this build added or took away, and the
/// folders that this build created. A folder in which anything else happened meanwhile will not
/// match, and is walked again next time.
pub(super) fn folders(
    root: &Root,
    analysis: &Analysis,
    created: &[(String, FileType)],
    removals: &[Removal],
) -> Vec<Folder> {
    let hash_in = |folder: &str, path: &str, kind: FileType| -> u128 {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if parent != folder {
            return 0;
        }
        walk::entry_hash(name.as_bytes(), kind)
    };
    let mut folders = analysis.tree.folders.clone();
    for folder in &mut folders {
        let added = created
            .iter()
            .fold(0u128, |sum, (path, kind)| sum.wrapping_add(hash_in(&folder.path, path, *kind)));
        let gone = removals.iter().filter(|removal| !root.exists(&removal.path));
        let gone = gone.fold(0u128, |sum, removal| {
            sum.wrapping_add(hash_in(&folder.path, &removal.path, FileType::RegularFile))
        });
        if added != 0 || gone != 0 {
            folder.listing = folder.listing.wrapping_add(added).wrapping_sub(gone);
            folder.stat = Stat::default();
        }
    }
    let new_folders = created.iter().filter(|(path, kind)| {
        // Only where a document can be: files in blue's own folders decide nothing.
        *kind == FileType::Directory && walk::may_be_document(&format!("{path}/document.md"))
    });
    folders.extend(new_folders.map(|(folder, _)| {
        let entries = created.iter().map(|(path, kind)| hash_in(folder, path, *kind));
        let listing = entries.fold(0u128, u128::wrapping_add);
        Folder { path: folder.clone(), stat: Stat::default(), listing }
    }));
    folders.sort_by(|a, b| a.path.cmp(&b.path));
    folders
}

/// The files and folders that a commit will create.
pub(super) fn to_create(root: &Root, changes: &[Change]) -> Vec<(String, FileType)> {
    let mut created = Vec::new();
    for change in changes {
        let folders =
            change.path.match_indices('/').map(|(at, _)| (&change.path[..at], FileType::Directory));
        let file = (change.path.as_str(), FileType::RegularFile);
        let missing = folders.chain([file]).filter(|(path, _)| !root.exists(path));
        created.extend(missing.map(|(path, kind)| (path.to_string(), kind)));
    }
    created.sort_by(|a, b| a.0.cmp(&b.0));
    created.dedup();
    created
}

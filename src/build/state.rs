//! Loads and saves the state of a build, `.blue/local/state`: the files that it read and wrote.

use rustix::fs::FileType;

use super::Inputs;
use super::targets::shared_files::SharedFiles;
use crate::discover::{Tree, unchanged, walk};
use crate::emit::{self, Change, Removal};
use crate::guard::has_secret;
use crate::model::layout::{MANIFEST, STATE};
use crate::model::{
    Action, Code, Counts, Diagnostic, FORMAT, Folder, Hasher, Stat, State, TrackedFile,
};
use crate::root::{Content, Root};
use crate::wire::cache::Seal;

/// Returns the seal of the state. Its context is everything besides the project's files that decides
/// emitted bytes: blue's version and templates, and the user's consents. `None` without a key for this
/// machine: then nothing is cached.
fn seal(root: &Root) -> Option<Seal> {
    let mut hasher = Hasher::new();
    hasher.number(u64::from(FORMAT)).field(env!("CARGO_PKG_VERSION").as_bytes());
    for file in &root.machine().external {
        hasher.field(file.as_os_str().as_encoded_bytes());
    }
    let context = hasher.field(crate::render::embedded_digest().as_bytes()).digest();
    Some(Seal::new("state", 1, root.machine().key.as_ref()?, context.as_bytes()))
}

/// Loads the state of the last build. It is empty if there is none, or `force` says to ignore it.
pub(super) fn load(root: &Root, force: bool) -> State {
    let Some(seal) = seal(root).filter(|_| !force) else { return State::default() };
    match root.read(STATE, 1 << 32) {
        Ok(Some(Content::Bytes(bytes, _))) => seal.decode(&bytes).unwrap_or_default(),
        _ => State::default(),
    }
}

/// Everything that a build read.
pub(super) struct ReadState<'a> {
    /// Time of the file system before the first read.
    pub(super) looked_at: i64,
    /// Files of documents.
    pub(super) files: Vec<TrackedFile>,
    pub(super) tree: &'a Tree,
    pub(super) inputs: &'a Inputs,
}

/// Saves the state for the next build.
pub(super) fn save(
    root: &Root,
    seen: ReadState<'_>,
    mut folders: Vec<Folder>,
    outputs: Vec<TrackedFile>,
    actions: Vec<(String, Action)>,
    counts: Counts,
) -> anyhow::Result<()> {
    let Some(seal) = seal(root) else { return Ok(()) };
    let ReadState { looked_at, files: mut inputs, tree, .. } = seen;
    inputs.extend(seen.inputs.files.iter().cloned());
    for path in tree.ignores.iter().filter(|path| !has_secret(path)) {
        inputs.extend(tracked(root, path)?);
    }
    let n_folders = folders.len();
    folders.retain(|folder| !has_secret(&folder.path));
    inputs.sort_by(|a, b| a.path.cmp(&b.path));
    inputs.dedup_by(|a, b| a.path == b.path);
    // A folder or file whose name is a secret is not stored, and git's index is not tracked. Without outputs, the
    // next build takes nothing for unchanged and looks at both again.
    let mut probed = tree.probed.clone();
    probed.retain(|file| !has_secret(&file.path));
    let is_complete =
        folders.len() == n_folders && probed.len() == tree.probed.len() && !tree.depends_on_index;
    let state = State {
        folders,
        inputs,
        probed,
        outputs: if is_complete { outputs } else { Vec::new() },
        looked_at,
        written_at: emit::file_system_time(root)?,
        counts,
        actions: actions
            .into_iter()
            .map(|(path, action)| (path, action.facts().to_vec()))
            .collect(),
    };
    emit::write_local(root, STATE, &seal.encode(&state))
}

/// Returns the finding about a cache that could not be written.
pub(super) fn not_written(error: anyhow::Error) -> Diagnostic {
    let message = format!("cannot write the cache: {error:#}");
    Diagnostic::new(Code::CacheNotWritten, emit::LOCAL, message)
}

/// Returns all emitted files: those just written, those that did not change, and others hashed again.
pub(super) fn outputs(
    root: &Root,
    previous: &State,
    actions: &[(String, Action)],
    shared: &[&str],
    written: Vec<TrackedFile>,
) -> anyhow::Result<Vec<TrackedFile>> {
    let mut outputs = written;
    for path in shared {
        // A link that blue does not write through is tracked without its content.
        let unread =
            || Ok::<_, anyhow::Error>(root.stat(path)?.map(|(stat, _)| unread(path, stat)));
        outputs.extend(match tracked(root, path)? {
            Some(file) => Some(file),
            None => unread()?,
        });
    }
    for path in actions.iter().map(|(path, _)| path.as_str()).chain([MANIFEST]) {
        if outputs.iter().any(|file| file.path == path) {
            continue;
        }
        let known = previous.output(path);
        match known.filter(|known| unchanged::is_file_unchanged(root, previous.written_at, known)) {
            Some(known) => outputs.push(known.clone()),
            None => outputs.extend(tracked(root, path)?),
        }
    }
    outputs.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(outputs)
}

fn unread(path: &str, stat: Stat) -> TrackedFile {
    TrackedFile { stat, ..TrackedFile::absent(path) }
}

fn tracked(root: &Root, path: &str) -> anyhow::Result<Option<TrackedFile>> {
    let Some((stat, _)) = root.stat(path)? else { return Ok(None) };
    let digest = unchanged::file_digest(root, path);
    Ok(digest.map(|digest| TrackedFile { path: path.to_string(), stat, digest }))
}

/// Returns the folders as they were listed, updated by the names that this build added and removed, and
/// the folders that it created. A folder that was changed otherwise meanwhile does not match its
/// listing, and is listed again by the next build.
pub(super) fn folders(
    root: &Root,
    tree: &Tree,
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
    let mut folders = tree.folders.clone();
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
        // Only folders that can have documents: files in blue's own folders decide nothing.
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

/// Returns the files and folders that a build will create.
pub(super) fn to_create(
    root: &Root,
    changes: &[Change],
    shared: &SharedFiles,
) -> Vec<(String, FileType)> {
    let mut created = Vec::new();
    let shared = shared.changes.iter().filter(|file| file.after.is_some()).map(|file| file.path);
    for path in changes.iter().map(|change| change.path.as_str()).chain(shared) {
        let folders = path.match_indices('/').map(|(at, _)| (&path[..at], FileType::Directory));
        let file = (path, FileType::RegularFile);
        let missing = folders.chain([file]).filter(|(path, _)| !root.exists(path));
        created.extend(missing.map(|(path, kind)| (path.to_string(), kind)));
    }
    created.sort_by(|a, b| a.0.cmp(&b.0));
    created.dedup();
    created
}

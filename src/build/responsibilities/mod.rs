//! Responsibilities in a build: reads their containers and renders their files.

mod conflicts;
mod drafts;
mod paths;
mod read;
mod render;

pub use drafts::{Draft, draft, folder_of_files};
pub(super) use drafts::{DraftedRole, draft_all};
pub(super) use read::read;
pub use read::{Role, read_all, read_one};
pub(super) use render::artifacts;
use render::{is_held, paths};

use super::artifacts::CurrentArtifacts;
use super::{Inputs, emitted};
use crate::root::Root;
use crate::wire::manifest::Manifest;

use crate::model::{Digest, Hasher, State};

/// Returns the files on disk of responsibilities that are held, for a check, which renders all
/// others.
pub(super) fn held_files(
    root: &Root,
    inputs: &Inputs,
    roles: &[DraftedRole],
    manifest: Option<&Manifest>,
) -> anyhow::Result<CurrentArtifacts> {
    let held = roles.iter().filter(|drafted| is_held(&drafted.role, drafted.draft.as_ref()));
    let held: Vec<String> =
        held.flat_map(|drafted| paths(inputs, &drafted.role.container)).collect();
    if held.is_empty() {
        return Ok(CurrentArtifacts::new());
    }
    let mut intact = emitted::intact(root, &State::default(), manifest)?;
    intact.retain(|path, _| held.contains(path));
    Ok(intact)
}

/// Hashes everything that the files of responsibilities are made from.
///
/// `None` if there are none, so that the digest of other projects does not depend on it.
pub(super) fn digest<'a>(roles: impl ExactSizeIterator<Item = &'a Role>) -> Option<Digest> {
    if roles.len() == 0 {
        return None;
    }
    let mut hasher = Hasher::new();
    for role in roles {
        let container = &role.container;
        hasher.field(container.folder.as_bytes()).field(container.id.as_bytes());
        hasher.field(container.lifecycle.as_str().as_bytes());
        for (path, file) in &container.files {
            hasher.field(path.as_bytes()).field(file.text.as_bytes());
        }
        hasher.field(format!("{:?}", (&container.policy, &container.tasks)).as_bytes());
        let state = container.state.as_ref().map(|state| state.render());
        hasher.field(state.unwrap_or_default().as_bytes());
        for line in &role.overrides {
            hasher.field(&serde_json::to_vec(line).expect("an override is JSON"));
        }
    }
    Some(hasher.digest())
}

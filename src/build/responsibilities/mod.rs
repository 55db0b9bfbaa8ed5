//! Responsibilities in a build: reads their containers and renders their files.

mod conflicts;
mod drafts;
mod findings;
mod local;
mod paths;
mod read;
mod render;

pub use drafts::{Draft, draft, folder_of_files, new_sections, state_path};
pub(super) use drafts::{DraftedRole, draft_all};
pub use local::local_pack;
pub(super) use local::write_local;
pub(super) use read::read;
pub use read::{Role, read_all, read_one};
pub(super) use render::artifacts;
use render::{is_held, paths};

use super::artifacts::CurrentArtifacts;
use super::{Inputs, emitted};
use crate::model::Diagnostic;
use crate::responsibility::registry::Lifecycle;
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

/// Returns the findings of the hygiene gates about active responsibilities.
pub(super) fn gate_notes(inputs: &Inputs, roles: &[Role]) -> anyhow::Result<Vec<Diagnostic>> {
    let is_drafted =
        |role: &&Role| role.container.lifecycle == Lifecycle::Active && !role.is_state_broken;
    let mut notes = Vec::new();
    for role in roles.iter().filter(is_drafted) {
        notes.extend(draft(role, inputs)?.notes(&role.container));
    }
    Ok(notes)
}

/// Hashes everything that the files of responsibilities are made from.
///
/// `None` if there are none, so that the digest of other projects does not depend on it.
pub(super) fn digest<'a>(
    inputs: &Inputs,
    roles: impl ExactSizeIterator<Item = &'a Role>,
) -> Option<Digest> {
    if roles.len() == 0 {
        return None;
    }
    let mut hasher = Hasher::new();
    for role in roles {
        let container = &role.container;
        hasher.field(container.folder.as_bytes()).field(container.id.as_bytes());
        hasher.field(container.lifecycle.as_str().as_bytes());
        let files = container.files.iter().map(|(path, file)| (path.as_str(), file));
        for (path, file) in files.chain(container.shared_inbox()) {
            hasher.field(path.as_bytes()).field(file.text.as_bytes());
        }
        let policy = serde_json::to_vec(&container.policy).expect("a policy is JSON");
        hasher.field(&policy).field(container.tasks.as_deref().unwrap_or_default().as_bytes());
        let capabilities = serde_json::to_vec(&container.capabilities);
        hasher.field(&capabilities.expect("capabilities are JSON"));
        let is_committed = !inputs.plan.responsibilities.is_state_local;
        let state = container.state.as_ref().filter(|_| is_committed).map(|state| state.render());
        hasher.field(state.unwrap_or_default().as_bytes());
        for line in &role.overrides {
            hasher.field(&serde_json::to_vec(line).expect("an override is JSON"));
        }
    }
    Some(hasher.digest())
}

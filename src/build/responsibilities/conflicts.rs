//! Containers that share an id or depend on each other in a cycle.

use std::collections::BTreeMap;

use super::Role;
use crate::model::{Code, Diagnostic};
use crate::responsibility::registry;

/// Drops containers whose id another one has too. Which one is meant cannot be known.
pub(super) fn drop_duplicates(roles: &mut Vec<Role>, notes: &mut Vec<Diagnostic>) {
    let mut folders: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for role in roles.iter() {
        let folder = role.container.folder.clone();
        folders.entry(role.container.id.clone()).or_default().push(folder);
    }
    for (id, folders) in folders.iter().filter(|(_, folders)| folders.len() > 1) {
        let message = format!("{} all have the id {id}; none is built", folders.join(", "));
        let hint = "change responsibility_id in the manifest.json of one";
        notes.push(Diagnostic::new(Code::RoleSkipped, &folders[0], message).hint(hint));
    }
    roles.retain(|role| folders[&role.container.id].len() == 1);
}

/// Reports roles that depend on themselves.
pub(super) fn report_cycles(roles: &[Role], notes: &mut Vec<Diagnostic>) {
    let dependencies = roles
        .iter()
        .map(|role| (role.container.id.clone(), role.container.capabilities.dependencies.clone()))
        .collect();
    for id in registry::cycles(&dependencies) {
        let role = roles.iter().find(|role| role.container.id == id).expect("the id is a role's");
        let path = role.container.path("manifest.json");
        let message = format!("{id} depends on itself through its dependencies");
        notes.push(Diagnostic::new(Code::RoleSkipped, &path, message).hint("remove one of them"));
    }
}

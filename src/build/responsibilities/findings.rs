//! Findings about the files of a container.

use std::collections::BTreeMap;

use super::Role;
use super::read::{Reader, hand_written};
use crate::model::layout::AI_CONTEXT;
use crate::model::{Code, Diagnostic};
use crate::responsibility::bundle::CoreFile;
use crate::responsibility::container::ROLES;
use crate::responsibility::{Container, ContainerFile, addons, append_only};

impl Reader<'_> {
    /// Reports mandates, clauses and files that a manifest names and that do not exist.
    pub(super) fn report_manifest(&mut self, container: &Container) {
        let stated = &container.capabilities;
        let undefined = stated.mandates.iter().filter(|mandate| !container.defines(mandate));
        let undefined = undefined.map(|mandate| {
            let hint = "add it to mandates/definitions/, or correct the manifest";
            (format!("the mandate {mandate:?} has no definition"), hint)
        });
        let clauses = stated.tools.iter().filter_map(|tool| {
            let clause = tool.guardrail_clause.as_ref()?;
            let message = format!("the tool {:?} names the clause {clause:?}", tool.name);
            (!container.has_clause(clause))
                .then(|| (format!("{message}, which is not in guardrails.md"), "add the clause"))
        });
        let made = format!("{AI_CONTEXT}/{}", CoreFile::Models.name());
        let other = stated.model_preferences_file.as_ref().filter(|file| **file != made);
        let other = other.map(|file| {
            let message = format!("model_preferences_file is {file:?}; blue makes {made}");
            (message, "write the policy into model_policy.yaml")
        });
        let path = container.path("manifest.json");
        let found: Vec<(String, &str)> = undefined.chain(clauses).chain(other).collect();
        for (message, hint) in found {
            self.note(Code::RoleManifest, &path, &message, hint);
        }
    }

    pub(super) fn report_hand_written(
        &mut self,
        at: &dyn Fn(&str) -> String,
        files: &BTreeMap<String, ContainerFile>,
        id: &str,
    ) {
        let inputs = self.inputs;
        for path in inputs.plan.responsibilities.addons.iter().map(addons::path) {
            if files.get(&path).is_some_and(|file| !file.is_append_only()) {
                self.notes.push(hand_written(&at(&path), id));
            }
        }
    }

    /// Reports files without the front matter that says who wrote them and what for.
    pub(super) fn report_headers(
        &mut self,
        at: &dyn Fn(&str) -> String,
        files: &BTreeMap<String, ContainerFile>,
    ) {
        for (below, file) in files {
            let message = match file.role() {
                Some(role) if ROLES.contains(&role.as_str()) => continue,
                Some(role) => format!("context_role {role:?} is not one of RFS v0.1"),
                None => "no front matter with authored_by and context_role".to_string(),
            };
            let hint = "add it, so that agents and auditors know the author and the role";
            self.note(Code::RoleHeader, &at(below), &message, hint);
        }
    }

    pub(super) fn report_events(&mut self, container: &Container) {
        let events = container.events();
        let path = container.path("memory/events.md");
        let findings = [
            (events.torn, "an event without a kind, or with open parentheses; it is not used"),
            (events.unordered, "an event that is older than the one above it"),
        ];
        for (lines, message) in findings {
            for line in lines.into_iter().take(10) {
                let note = Diagnostic::new(Code::EventLine, &path, message).at(line, 1);
                self.notes.push(note.hint("append events in order: - <time> <kind> (…) – text"));
            }
        }
    }

    /// Reports ids of the registry that have no container.
    pub(super) fn report_unknown(
        &mut self,
        statuses: &BTreeMap<String, Option<String>>,
        roles: &[Role],
    ) {
        let registry = self.inputs.plan.responsibilities.registry.clone();
        let path = format!("{registry}/responsibility_registry.json");
        for (id, status) in statuses {
            let is_known = roles.iter().any(|role| role.container.id == *id);
            if !is_known && status.as_deref() != Some("retired") {
                let message = format!("{id} has no container");
                let hint = format!("run `blue responsibility new {id}`, or remove it");
                self.note(Code::RoleStatus, &path, &message, &hint);
            }
        }
    }

    /// Reports files that may only grow and were rewritten.
    pub(super) fn report_rewritten(&mut self, container: &Container) {
        for (path, message) in append_only::compare(container).1 {
            let hint = "restore it, and add a section `## <time>` at its end instead";
            self.note(Code::AppendOnlyChanged, &container.path(&path), &message, hint);
        }
    }
}

//! Reads the containers of responsibilities.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context;

use super::conflicts::{drop_duplicates, report_cycles};
use super::drafts::state_path;
use super::paths::{container_paths, is_core, workspace_inbox_paths};
use crate::build::Inputs;
use crate::build::inputs::clean_text;
use crate::discover::deny::DenyList;
use crate::discover::{self, Tree, containers};
use crate::guard;
use crate::model::layout::{AI_CONTEXT, folder_of, is_below};
use crate::model::source::with_lf;
use crate::model::{Code, Diagnostic, Digest, TrackedFile};
use crate::responsibility::container::is_id;
use crate::responsibility::model_policy::{self, ModelPolicy};
use crate::responsibility::registry::{self, Capabilities, Lifecycle};
use crate::responsibility::{Container, ContainerFile};
use crate::root::{Content, Root};
use crate::verify::{self, OnDisk};
use crate::wire::responsibility_state::{ContainerState, OverrideLine};

/// A responsibility and everything that its files are made from.
pub struct Role {
    /// Its container.
    pub container: Container,
    /// Lines of `ai_context/overrides.jsonl`.
    pub overrides: Vec<OverrideLine>,
    /// True if its state does not verify, so that nothing may be made from it.
    pub is_state_broken: bool,
}

/// Reads the containers of a project without building it, for commands.
pub fn read_all(root: &Root, inputs: &Inputs) -> anyhow::Result<(Vec<Role>, Vec<Diagnostic>)> {
    crate::build::threads::start_pool(None)?;
    let mut notes = Vec::new();
    let found = discover::discover(root, &inputs.plan)?.value;
    let roles = read(root, inputs, &found.tree, &found.containers, &mut Vec::new(), &mut notes)?;
    Ok((roles, notes))
}

/// Reads the container with an id. It is usually the folder of this name; only if that has another
/// id, all containers are read.
pub fn read_one(root: &Root, inputs: &Inputs, id: &str) -> anyhow::Result<Vec<Role>> {
    crate::build::threads::start_pool(None)?;
    let mut found = discover::discover(root, &inputs.plan)?.value;
    let is_named = |folder: &str| folder.rsplit('/').next() == Some(id);
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    let all = (found.containers.clone(), found.tree.manifests.clone());
    found.containers.retain(|folder| is_named(folder));
    found.tree.manifests.retain(|path| is_named(folder_of(path)));
    let roles = read(root, inputs, &found.tree, &found.containers, &mut files, &mut notes)?;
    if roles.iter().any(|role| role.container.id == id) {
        return Ok(roles);
    }
    (found.containers, found.tree.manifests) = all;
    read(root, inputs, &found.tree, &found.containers, &mut files, &mut notes)
}

/// Reads the containers that a walk found. Files that were read are added to `files`.
pub(in crate::build) fn read(
    root: &Root,
    inputs: &Inputs,
    tree: &Tree,
    candidates: &[String],
    files: &mut Vec<TrackedFile>,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Vec<Role>> {
    if candidates.is_empty() && tree.manifests.is_empty() {
        return Ok(Vec::new());
    }
    let deny = DenyList::of_plan(&inputs.plan)?;
    let (files_read, noted) = (Vec::new(), Vec::new());
    let inbox = Arc::default();
    let mut reader = Reader { root, inputs, tree, deny, inbox, files: files_read, notes: noted };
    let mut folders: BTreeMap<String, Capabilities> =
        candidates.iter().map(|folder| (folder.clone(), Capabilities::default())).collect();
    for path in &tree.manifests {
        let text = reader.text(path)?;
        if let Some(stated) = text.as_deref().and_then(registry::capabilities) {
            folders.insert(folder_of(path).to_string(), stated);
        }
    }
    let mut roles = Vec::new();
    if !folders.is_empty() {
        let plan = &inputs.plan.responsibilities;
        let statuses = reader.registry(&plan.registry)?;
        reader.inbox = Arc::new(reader.workspace_inbox()?);
        for link in containers::links(tree, &plan.registry) {
            let message = "a symbolic link is not a container; it is not read";
            reader.note(Code::RoleSkipped, link, message, "replace it by a real folder");
        }
        for (folder, capabilities) in folders {
            roles.extend(reader.role(&folder, capabilities, &statuses)?);
        }
        drop_duplicates(&mut roles, &mut reader.notes);
        report_cycles(&roles, &mut reader.notes);
        reader.report_unknown(&statuses, &roles);
    }
    files.extend(reader.files);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files.dedup_by(|a, b| a.path == b.path);
    notes.extend(reader.notes);
    Ok(roles)
}

/// Reports a file of a responsibility that people wrote where blue would write its own.
pub(super) fn hand_written(path: &str, id: &str) -> Diagnostic {
    let message = "written by hand; blue leaves it alone";
    let hint = format!("run `blue responsibility adopt {id}`, which keeps a copy");
    Diagnostic::new(Code::RoleHandWritten, path, message).hint(hint)
}

/// Reads files and collects findings.
pub(super) struct Reader<'a> {
    root: &'a Root,
    pub(super) inputs: &'a Inputs,
    tree: &'a Tree,
    deny: DenyList,
    /// Files in the inboxes of the workspace.
    inbox: Arc<BTreeMap<String, ContainerFile>>,
    files: Vec<TrackedFile>,
    pub(super) notes: Vec<Diagnostic>,
}

impl Reader<'_> {
    pub(super) fn note(&mut self, code: Code, path: &str, message: &str, hint: &str) {
        self.notes.push(Diagnostic::new(code, path, message).hint(hint));
    }

    /// Reads a file and scans it. `None` if it does not exist or is refused, which is reported.
    fn text(&mut self, path: &str) -> anyhow::Result<Option<String>> {
        let allowed = self.inputs.guard.allowed_for(path);
        let text = self.raw(path)?;
        Ok(text.map(|text| clean_text(path, &text, &allowed, &mut self.notes)))
    }

    /// Reads a file without scanning it.
    fn raw(&mut self, path: &str) -> anyhow::Result<Option<String>> {
        if let Some(part) = self.deny.denied_part(path) {
            let message = format!("{part:?} is on the deny-list; the file is not read");
            self.note(Code::Denied, path, &message, "rename it, or change security.deny");
            return Ok(None);
        }
        let limit = self.inputs.plan.limits.document_bytes;
        let content = match self.root.read(path, limit) {
            Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
                Some(Content::NotRegular)
            }
            content => content.with_context(|| format!("read {path}"))?,
        };
        match content {
            None => {
                self.files.push(TrackedFile::absent(path));
                Ok(None)
            }
            Some(Content::Bytes(bytes, stat)) => {
                let bytes = with_lf(&bytes).unwrap_or(bytes);
                let digest = Digest::of(&bytes);
                self.files.push(TrackedFile { path: path.to_string(), stat, digest });
                Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
            }
            Some(Content::TooLarge(size)) => {
                let message = format!("{size} bytes; the limit is {limit}");
                self.note(Code::TooLarge, path, &message, "split it");
                Ok(None)
            }
            Some(Content::NotRegular) => {
                self.note(Code::NotRegular, path, "not a regular file; it is not read", "copy it");
                Ok(None)
            }
        }
    }

    /// Reads the registry's index, with the stated status of each id.
    fn registry(&mut self, folder: &str) -> anyhow::Result<BTreeMap<String, Option<String>>> {
        let path = format!("{folder}/responsibility_registry.json");
        let Some(text) = self.text(&path)? else { return Ok(BTreeMap::new()) };
        Ok(registry::read(&text).unwrap_or_else(|error| {
            let message = format!("not JSON: {error}; statuses come from the containers");
            self.note(Code::RoleStatus, &path, &message, "write a list of {id, status}");
            BTreeMap::new()
        }))
    }

    /// Reads the Markdown files of a container, by their path below its folder.
    fn container_files(
        &mut self,
        folder: &str,
        at: &dyn Fn(&str) -> String,
    ) -> anyhow::Result<BTreeMap<String, ContainerFile>> {
        let mut files = BTreeMap::new();
        for below in container_paths(self.tree, &self.inputs.plan.responsibilities, folder) {
            if self.is_made(&below, &at(&below))? {
                continue;
            }
            let file = self.text(&at(&below))?.map(|text| ContainerFile::new(&text));
            // A hand-written file of this name is no input. It is reported where blue would write.
            let is_input = |file: &ContainerFile| !is_core(&below) || file.is_append_only();
            if let Some(file) = file.filter(is_input) {
                files.insert(below, file);
            }
        }
        Ok(files)
    }

    /// Reads one container. `None` if it has no usable id.
    fn role(
        &mut self,
        folder: &str,
        capabilities: Capabilities,
        statuses: &BTreeMap<String, Option<String>>,
    ) -> anyhow::Result<Option<Role>> {
        let at = |below: &str| match folder {
            "" => below.to_string(),
            folder => format!("{folder}/{below}"),
        };
        let files = self.container_files(folder, &at)?;
        let mirror = files.get("responsibility.md").cloned().unwrap_or_default();
        let name = folder.rsplit('/').next().unwrap_or_default().to_string();
        let id =
            capabilities.responsibility_id.clone().or_else(|| mirror.field("responsibility_id"));
        let id = id.unwrap_or(name);
        if !is_id(&id) {
            let message = format!("{id:?} is not an id; the container is not built");
            self.note(
                Code::RoleSkipped,
                &at(""),
                &message,
                "use letters, digits, `_`, `-` and `.`",
            );
            return Ok(None);
        }
        self.report_headers(&at, &files);
        self.report_hand_written(&at, &files, &id);
        let policy = self.policy(&at("model_policy.yaml"), &mirror)?;
        let tasks = self.text(&at("tasks/index.json"))?;
        let path = state_path(&self.inputs.plan.responsibilities, folder, &id);
        let (state, is_state_broken) = self.state(&path, &id)?;
        let overrides = self.text(&at("ai_context/overrides.jsonl"))?.unwrap_or_default();
        let overrides = overrides.lines().filter_map(|line| serde_json::from_str(line).ok());
        let container = Container {
            lifecycle: self.lifecycle(&at("responsibility.md"), &id, &mirror, &state, statuses),
            folder: folder.to_string(),
            id,
            files,
            tasks,
            policy,
            state,
            capabilities,
            workspace_inbox: Arc::clone(&self.inbox),
        };
        self.report_events(&container);
        self.report_manifest(&container);
        self.report_rewritten(&container);
        Ok(Some(Role { container, overrides: overrides.collect(), is_state_broken }))
    }

    /// Reads the inboxes of the workspace. With a queue, their files are views that only links need.
    fn workspace_inbox(&mut self) -> anyhow::Result<BTreeMap<String, ContainerFile>> {
        let mut files = BTreeMap::new();
        for path in workspace_inbox_paths(self.tree) {
            let file = match self.inputs.plan.responsibilities.queue {
                Some(_) => Some(ContainerFile::default()),
                None => self.text(&path)?.map(|text| ContainerFile::new(&text)),
            };
            files.extend(file.map(|file| (path, file)));
        }
        Ok(files)
    }

    /// Returns true for a file in `ai_context/` that blue wrote, which is no input. This is known
    /// from its header, because its add-on may have been removed from the configuration.
    fn is_made(&self, below: &str, path: &str) -> anyhow::Result<bool> {
        let is_looked_at = is_below(below, AI_CONTEXT) && self.deny.denied_part(path).is_none();
        Ok(is_looked_at && !matches!(verify::on_disk(self.root, path, None)?, OnDisk::Foreign))
    }

    fn policy(
        &mut self,
        path: &str,
        mirror: &ContainerFile,
    ) -> anyhow::Result<Option<ModelPolicy>> {
        let Some(text) = self.text(path)? else {
            return Ok(model_policy::from_responsibility(mirror));
        };
        let policy = model_policy::read(&text);
        if policy.is_none() {
            let message = "not YAML with a preferred_model; it is ignored";
            self.note(Code::RoleHeader, path, message, "write `preferred_model: <name>`");
        }
        Ok(policy)
    }

    fn state(&mut self, path: &str, id: &str) -> anyhow::Result<(Option<ContainerState>, bool)> {
        // Redacting the text would break its checksum, so its strings are scanned one by one.
        let Some(text) = self.raw(path)? else { return Ok((None, false)) };
        match ContainerState::parse(&text, id) {
            Ok(mut state) => {
                let allowed = self.inputs.guard.allowed_for(path);
                let texts: Vec<&mut String> = state.texts_mut().collect();
                if !guard::are_clean(texts.iter().map(|text| text.as_str()), &allowed) {
                    for text in texts {
                        *text = clean_text(path, text, &allowed, &mut self.notes);
                    }
                }
                Ok((Some(state), false))
            }
            Err(_) => {
                let message = "its checksum does not match; nothing is made from it";
                let hint = format!("run `blue mandate refresh_ai_context {id}`");
                self.note(Code::StateBroken, path, message, &hint);
                Ok((None, true))
            }
        }
    }

    /// Returns the status of a container: of the queue, else of the registry, else of its own file.
    /// Statuses that differ are reported.
    fn lifecycle(
        &mut self,
        path: &str,
        id: &str,
        mirror: &ContainerFile,
        state: &Option<ContainerState>,
        statuses: &BTreeMap<String, Option<String>>,
    ) -> Lifecycle {
        let stated = [
            ("the queue", state.as_ref().and_then(|state| state.head.status.clone())),
            ("the registry", statuses.get(id).cloned().flatten()),
            ("its own file", mirror.field("status")),
        ];
        let mut known: Vec<(&str, Lifecycle)> = Vec::new();
        for (place, status) in stated {
            let Some(status) = status else { continue };
            match Lifecycle::parse(&status) {
                Some(status) => known.push((place, status)),
                None => {
                    let message = format!("{place} states the status {status:?}, which is unknown");
                    let hint = "write draft, active, suspended or retired";
                    self.note(Code::RoleStatus, path, &message, hint);
                }
            }
        }
        let Some((place, status)) = known.first().copied() else { return Lifecycle::Active };
        if let Some((other, differs)) = known.iter().find(|(_, other)| *other != status) {
            let message = format!(
                "{id} is {} in {place} and {} in {other}",
                status.as_str(),
                differs.as_str()
            );
            self.note(Code::RoleStatus, path, &message, &format!("correct {other}"));
        }
        status
    }
}

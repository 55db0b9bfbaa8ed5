//! Renders the files of responsibilities: those in `ai_context/`, and the pack that hooks print.

use super::drafts::{DraftedRole, committed, folder_of_files, pack};
use super::read::hand_written;
use super::{Draft, Role};
use crate::build::artifacts::{BuiltArtifact, CurrentArtifacts, check_wrapper};
use crate::build::{Corpus, Inputs};
use crate::condense::Fitted;
use crate::model::escape::{escape_attribute, escape_line};
use crate::model::{Action, Artifact, Budget, Diagnostic, Digest, Format, Hasher, Listener};
use crate::responsibility::Container;
use crate::responsibility::addons::RoleFile;
use crate::responsibility::bundle::CoreFile;
use crate::responsibility::compose::{LineSection, LinkForm, compose};
use crate::responsibility::model_policy::{self, ModelPolicy};
use crate::root::Root;
use crate::verify::{self, OnDisk};
use crate::wire::header::{self, Provenance, ROLE_BODY};

/// Renders the files of all responsibilities. Those of a held one stay as they are on disk.
pub(in crate::build) fn artifacts(
    corpus: &Corpus<'_>,
    current: &CurrentArtifacts,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Vec<BuiltArtifact>> {
    let Corpus { root, inputs, roles, .. } = corpus;
    let mut built = Vec::new();
    for DraftedRole { role, draft } in roles {
        match draft {
            Some(draft) if !draft.is_held() => {
                let container = &*committed(&role.container, &inputs.plan.responsibilities);
                built.extend(files(root, inputs, container, draft, current, notes)?);
                built.push(pack_artifact(inputs, container, current)?);
            }
            _ if is_held(role, draft.as_ref()) => built.extend(held(inputs, role, current)),
            _ => {}
        }
    }
    Ok(built)
}

/// Returns true if the files of an active responsibility must stay as they are.
pub(in crate::build) fn is_held(role: &Role, draft: Option<&Draft>) -> bool {
    role.is_state_broken || draft.is_some_and(Draft::is_held)
}

/// Returns the paths of all files of a responsibility.
pub(in crate::build) fn paths(inputs: &Inputs, container: &Container) -> Vec<String> {
    let folder = folder_of_files(container, inputs);
    let files = RoleFile::all(&inputs.plan.responsibilities.addons).into_iter();
    let files = files.map(|file| format!("{folder}/{}", file.name()));
    files.chain([container.pack_path()]).collect()
}

fn held(inputs: &Inputs, role: &Role, current: &CurrentArtifacts) -> Vec<BuiltArtifact> {
    let mut action = Action::new();
    action.add_fact("held", b"");
    let paths = paths(inputs, &role.container).into_iter();
    let on_disk = paths.filter(|path| current.contains_key(path));
    on_disk.map(|path| BuiltArtifact { path, action: action.clone(), artifact: None }).collect()
}

/// Renders the five files and the add-ons. A file that people wrote is left alone and reported.
fn files(
    root: &Root,
    inputs: &Inputs,
    container: &Container,
    draft: &Draft,
    current: &CurrentArtifacts,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Vec<BuiltArtifact>> {
    let folder = folder_of_files(container, inputs);
    let mut built = Vec::new();
    for (file, fitted) in &draft.texts {
        let path = format!("{folder}/{}", file.name());
        if matches!(verify::on_disk(root, &path, None)?, OnDisk::Foreign) {
            notes.push(hand_written(&path, &container.id));
            continue;
        }
        let keys = keys(inputs, container, file);
        let mut action = Action::new();
        action.add_fact("text", fitted.text.as_bytes());
        action.add_fact("keys", keys.as_bytes());
        let inputs_digest = action.digest();
        let source = source(inputs, container, &inputs_digest);
        action.add_fact("source", source.as_bytes());
        built.push(BuiltArtifact::unless_current(&path, action, current, |action| {
            let uri = format!("blue://responsibility/{}/{}", container.id, file.name());
            let body = body(&keys, &inputs_digest, &fitted.text);
            let (body, digest) = (vec![body.into_bytes()], action.digest());
            let uri = uri.trim_end_matches(".md");
            let artifact = Artifact::new(&path, uri, Format::RoleFile, source, body, digest);
            Ok(Artifact { tokens: fitted.tokens, ..artifact })
        })?);
    }
    Ok(built)
}

/// Renders the bytes of a file that is local, as those that are committed are rendered.
pub(super) fn local_file(
    inputs: &Inputs,
    container: &Container,
    file: CoreFile,
    fitted: &Fitted,
) -> String {
    let keys = keys(inputs, container, &RoleFile::Core(file));
    let mut action = Action::new();
    action.add_fact("text", fitted.text.as_bytes());
    action.add_fact("keys", keys.as_bytes());
    let source = source(inputs, container, &action.digest());
    let header = header::header(Format::RoleFile, &Provenance::default(), &source);
    header + &body(&keys, &action.digest(), &fitted.text)
}

fn body(keys: &str, inputs: &Digest, text: &str) -> String {
    format!("{keys}inputs: {inputs}\n---\n{text}")
}

/// Returns the `source` of a file: the run of the mandate that wrote the state, or the build.
fn source(inputs: &Inputs, container: &Container, digest: &Digest) -> String {
    match (&container.state, &inputs.plan.responsibilities.context_worker) {
        (Some(state), worker) => format!(
            "mandate_run:{}.refresh_ai_context@{}",
            worker.as_deref().unwrap_or("blue"),
            state.head.as_of
        ),
        (None, _) => format!("knowledge_build:{}", digest.short()),
    }
}

/// Returns the keys of the front matter below the header.
fn keys(inputs: &Inputs, container: &Container, file: &RoleFile) -> String {
    let worker = inputs.plan.responsibilities.context_worker.as_deref();
    let command = match worker {
        Some(_) => format!("mandate refresh_ai_context {}", container.id),
        None => "knowledge build".to_string(),
    };
    let mut keys = format!(
        "{ROLE_BODY}{command}\nauthored_by: hybrid\nauthor_id: {}\ncontext_role: {}\nrefresh: wholesale\n",
        text(worker.unwrap_or("blue")),
        file.role()
    );
    if *file == RoleFile::Core(CoreFile::Models) {
        keys += &model_keys(container);
    }
    keys
}

fn model_keys(container: &Container) -> String {
    let none = ModelPolicy::default();
    let policy = container.policy.as_ref().unwrap_or(&none);
    let record = container.state.as_ref().and_then(|state| state.model.as_ref());
    let optional = |value: Option<&str>| match value.filter(|value| !value.is_empty()) {
        None => "null".to_string(),
        Some(value) => text(value),
    };
    let list = |items: Vec<String>| match items.is_empty() {
        true => " []\n".to_string(),
        false => items.into_iter().fold("\n".to_string(), |all, item| all + "  - " + &item + "\n"),
    };
    let fallbacks = policy.fallbacks.iter().map(|model| text(model)).collect();
    let overrides = policy.overrides.iter().map(|required| {
        let (mandate, model) = (text(&required.mandate), text(&required.model));
        format!("mandate: {mandate}\n    required_model: {model}")
    });
    let mode = if policy.is_enforced { "enforce" } else { "monitor" };
    let detected = record.and_then(|record| record.last_detected_model.as_deref());
    [
        format!("preferred_model: {}\n", optional(Some(&policy.preferred))),
        format!("fallback_models:{}", list(fallbacks)),
        format!("capability_overrides:{}", list(overrides.collect())),
        format!("last_detected_model: {}\n", optional(detected)),
        format!("enforcement_mode: {mode}\n"),
        format!("action_required: {}\n", text(&policy.action_of(&container.id))),
        format!("last_checked_at: {}\n", optional(record.map(|r| r.last_checked_at.as_str()))),
        format!("guardrail_clause: {}\n", optional(policy.clause.as_deref())),
    ]
    .concat()
}

/// Returns a YAML scalar: plain if it has only letters, digits and `_-.:/@` and is no other type.
fn text(value: &str) -> String {
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':' | '/' | '@');
    let is_text = matches!(serde_yaml::from_str(value), Ok(serde_yaml::Value::String(_)));
    match value.chars().all(is_plain) && is_text && !value.ends_with(':') {
        true => value.to_string(),
        false => serde_json::to_string(&escape_line(value)).expect("a text is JSON"),
    }
}

/// Renders the pack: the core files in one tag, and a line about the model if it is not as wanted.
fn pack_artifact(
    inputs: &Inputs,
    container: &Container,
    current: &CurrentArtifacts,
) -> anyhow::Result<BuiltArtifact> {
    let pack = Pack::new(inputs, container);
    let path = container.pack_path();
    BuiltArtifact::unless_current(&path, pack.action.clone(), current, |action| {
        let fitted = pack.render(container, &path)?;
        let uri = pack_uri(container);
        let (body, digest) = (vec![fitted.text.into_bytes()], action.digest());
        let artifact = Artifact::new(&path, &uri, Format::Bundle, String::new(), body, digest);
        Ok(Artifact { tokens: fitted.tokens, ..artifact })
    })
}

/// Returns the address of a pack.
pub(super) fn pack_uri(container: &Container) -> String {
    format!("blue://responsibility/{}", container.id)
}

/// Everything that a pack is rendered from.
pub(super) struct Pack {
    sections: Vec<LineSection>,
    budget: Budget,
    drift: Option<String>,
    /// The facts that decide it.
    pub(super) action: Action,
}

impl Pack {
    pub(super) fn new(inputs: &Inputs, container: &Container) -> Pack {
        let (sections, budget) = pack(container, inputs);
        let record = container.state.as_ref().and_then(|state| state.model.as_ref());
        let drift = record.and_then(model_policy::drift_line);
        let mut hasher = Hasher::new();
        for section in &sections {
            hasher.field(section.heading.as_bytes());
            for line in &section.lines {
                hasher.field(line.text.as_bytes()).field(format!("{:?}", line.link).as_bytes());
            }
        }
        let mut action = Action::new();
        action.add_fact("budget", format!("{budget:?}").as_bytes());
        action.add_fact("container", container.path(&container.id).as_bytes());
        action.add_fact("sections", hasher.digest().as_bytes());
        action.add_fact("drift", drift.clone().unwrap_or_default().as_bytes());
        Pack { sections, budget, drift, action }
    }

    /// Renders the text. `path` is named in errors.
    pub(super) fn render(&self, container: &Container, path: &str) -> anyhow::Result<Fitted> {
        let inputs_id = self.action.digest().short();
        let folder = container.path("");
        let drift = self.drift.as_ref();
        let drift = drift.map_or(String::new(), |line| format!("{}\n", escape_line(line)));
        let wrap = |text: &str| {
            format!(
                "<blue-responsibility id=\"{}\" inputs=\"{inputs_id}\">\nYou act for the responsibility {}. Paths are below {folder}.\n{drift}{text}</blue-responsibility>\n",
                escape_attribute(&container.id),
                container.id
            )
        };
        let composed = compose(&self.sections, &LinkForm::Path, &self.budget, &wrap);
        let fitted = composed
            .map_err(|fitted| {
                anyhow::anyhow!(
                    "{path}: guardrails and frame take {} tokens; the budget is {}\nhint: shorten the clauses in {}",
                    fitted.tokens,
                    self.budget.tokens,
                    container.path("guardrails.md")
                )
            })?
            .fitted;
        check_wrapper("responsibility.md", &fitted.text, &inputs_id)?;
        Ok(fitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::responsibility::container;

    #[test]
    fn a_scalar_stays_text_in_yaml() {
        for value in ["gpt-4o", "a: b", "true", "12", "", "x\ny", "- a", "#no", "ends:"] {
            let yaml = format!("key: {}\n", text(value));
            let read: serde_yaml::Value = serde_yaml::from_str(&yaml).expect("it is YAML");
            let read = read.get("key").and_then(container::scalar).expect("a scalar");
            assert_eq!(read, value.replace('\n', " "), "{yaml}");
            assert!(matches!(
                serde_yaml::from_str::<serde_yaml::Value>(&yaml).expect("it is YAML").get("key"),
                Some(serde_yaml::Value::String(_))
            ));
        }
    }
}

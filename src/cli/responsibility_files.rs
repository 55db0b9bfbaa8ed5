//! `blue responsibility new`, `adopt` and `override`, which write in containers.

use serde_json::json;

use super::responsibility::{GateFlag, OverrideArgs, find, read, time};
use super::{Exit, output};
use crate::build::responsibilities;
use crate::emit;
use crate::model::layout::AI_CONTEXT;
use crate::model::timestamp;
use crate::responsibility::addons::RoleFile;
use crate::responsibility::container::is_id;
use crate::root::{Content, Root};
use crate::verify::{self, OnDisk};
use crate::wire::responsibility_state::{GateName, OverrideLine};

/// Creates a container with the files that people fill in. Nothing that exists is overwritten.
pub(super) fn new(root: &Root, id: &str) -> anyhow::Result<Exit> {
    anyhow::ensure!(
        is_id(id),
        "{id:?} is not an id\nhint: use letters, digits, `_`, `-` and `.`, first a letter or a digit"
    );
    let (inputs, roles) = read(root)?;
    let folder = format!("{}/{id}", inputs.plan.responsibilities.registry);
    anyhow::ensure!(
        roles.iter().all(|role| role.container.id != id) && !root.exists(&folder),
        "{folder} exists\nhint: edit the files in it"
    );
    let header = |role: &str| {
        format!("---\nauthored_by: human\nauthor_id: {id}\ncontext_role: {role}\n---\n")
    };
    let manifest = json!({
        "version": 1, "responsibility_id": id, "intent_tags": [], "mandates": [], "tools": [],
        "dependencies": [], "model_preferences_file": "ai_context/model_preferences.md"
    });
    let status = format!(
        "---\nauthored_by: human\nauthor_id: {id}\ncontext_role: report\nresponsibility_id: {id}\nstatus: draft\n---\n# {id}\n"
    );
    let files = [
        ("manifest.json", format!("{}\n", serde_json::to_string_pretty(&manifest)?)),
        ("responsibility.md", status),
        ("kernel.md", format!("{}# Kernel of {id}\n", header("kernel"))),
        ("guardrails.md", format!("{}# Guardrails of {id}\n", header("guardrail"))),
        ("persona.md", format!("{}# Persona of {id}\n", header("persona"))),
    ];
    let _lock = emit::Lock::take(root, "responsibility new", &output::wait_for)?;
    for (name, text) in files {
        emit::replace(root, &format!("{folder}/{name}"), text.as_bytes())?;
    }
    output::say(&format!(
        "blue: created {folder} as a draft; set `status: active` in responsibility.md"
    ));
    Ok(Exit::Done)
}

/// Moves hand-written files aside and builds.
pub(super) fn adopt(root: &Root, id: &str) -> anyhow::Result<Exit> {
    let (inputs, roles) = read(root)?;
    let role = find(roles, id)?;
    anyhow::ensure!(
        inputs.plan.responsibilities.context_worker.is_some(),
        "no role may write in the containers\nhint: write `responsibilities: {{context_worker: context_curator}}` into .blue/config.yaml"
    );
    let lock = emit::Lock::take(root, "responsibility adopt", &output::wait_for)?;
    let mut n_moved = 0;
    for file in RoleFile::all(&inputs.plan.responsibilities.addons) {
        let path = format!("{}/{}", role.container.path(AI_CONTEXT), file.name());
        if !matches!(verify::on_disk(root, &path, None)?, OnDisk::Foreign) {
            continue;
        }
        let Some(Content::Bytes(bytes, _)) = root.read(&path, 1 << 24)? else {
            anyhow::bail!("{path} is not a regular file\nhint: move it away");
        };
        let copy = format!("{}/adopted/{}", role.container.path(AI_CONTEXT), file.name());
        anyhow::ensure!(!root.exists(&copy), "{copy} exists\nhint: move it away");
        emit::replace(root, &copy, &bytes)?;
        emit::remove_copied(root, &path, &copy)?;
        output::say(&format!("blue: moved {path} to {copy}"));
        n_moved += 1;
    }
    drop(lock);
    super::build::BuildArgs::default().build(root)?;
    if n_moved == 0 {
        output::say("blue: nothing to adopt");
    }
    Ok(Exit::Done)
}

/// Appends the steward's consent to publish the current volume.
pub(super) fn override_gate(root: &Root, arguments: &OverrideArgs) -> anyhow::Result<Exit> {
    let (inputs, roles) = read(root)?;
    let role = find(roles, &arguments.id)?;
    let steward = &inputs.plan.responsibilities.steward;
    anyhow::ensure!(
        arguments.steward == *steward,
        "only the steward {steward} may override a gate\nhint: ask them, or change responsibilities.steward"
    );
    anyhow::ensure!(
        !arguments.reason.trim().is_empty(),
        "an override needs a reason\nhint: --reason \"why it may be published\""
    );
    let gate = match arguments.gate {
        GateFlag::Red => GateName::Red,
        GateFlag::Growth => GateName::Growth,
    };
    let draft = responsibilities::draft(&role, &inputs)?;
    anyhow::ensure!(
        draft.findings.iter().any(|finding| finding.holds == Some(gate)),
        "the gate {} does not hold {}\nhint: run `blue responsibility check {1}`",
        gate.as_str(),
        arguments.id
    );
    let line = OverrideLine {
        gate,
        volume: draft.volume.n_lines,
        reason: crate::guard::redacted(arguments.reason.trim()),
        steward: steward.clone(),
        at: timestamp::format(time(arguments.now.as_deref())?),
    };
    let path = role.container.path("ai_context/overrides.jsonl");
    let lock = emit::Lock::take(root, "responsibility override", &output::wait_for)?;
    emit::append(root, &path, "", &format!("{}\n", serde_json::to_string(&line)?))?;
    drop(lock);
    output::say(&format!(
        "blue: {} may have {} lines; refresh it to publish",
        arguments.id, line.volume
    ));
    Ok(Exit::Done)
}

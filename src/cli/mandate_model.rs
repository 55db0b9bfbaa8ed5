//! The check of the model in use: detection, an allowed switch, and the request to act.

use anyhow::Context;
use serde_json::Value;

use super::mandate_run::{MAX_BYTES, MandateRun};
use super::{output, project};
use crate::emit;
use crate::guard::{self, Allowed};
use crate::model::timestamp;
use crate::responsibility::Container;
use crate::responsibility::model_policy::drift_line;
use crate::responsibility::refresh;
use crate::root::Content;
use crate::serve::sessions;
use crate::wire::model_setting::{LOCAL_SETTINGS, with_model};
use crate::wire::responsibility_state::{ModelOutcome, ModelRecord};
use crate::wire::user::ModelSwitch;

impl MandateRun<'_> {
    /// Checks the model: the flag, else the newest `model_detected` in the logs, else the model that
    /// the newest start of a session reported.
    pub(super) fn model(&self, container: &Container) -> anyhow::Result<Option<ModelRecord>> {
        let arguments = self.arguments;
        let detected = match &arguments.detected {
            Some(model) => Some(model.clone()),
            None => match self.logged_model(container)? {
                Some(model) => Some(model),
                None => self.session_model(container),
            },
        };
        let detected = detected.map(|model| {
            let model = guard::clean(&model, &Allowed::default()).text.into_owned();
            model.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(100).collect()
        });
        let mandate = arguments.mandate.as_deref();
        let record = refresh::check_model(container, detected, mandate, self.now, arguments.sticky);
        let Some(mut record) = record else { return Ok(None) };
        let is_enforced = container.policy.as_ref().is_some_and(|policy| policy.is_enforced);
        if is_enforced && record.verdict.is_mismatch() && self.switch(&record)? {
            record.outcome = Some(ModelOutcome::Switched);
        }
        Ok(Some(record))
    }

    /// Switches to the wanted model in the way that the user allowed. Returns false if there is none.
    /// Nothing that a repository names is run.
    fn switch(&self, record: &ModelRecord) -> anyhow::Result<bool> {
        let (Some(ModelSwitch::ClaudeSettings), Some(wanted)) =
            (project::user_config()?.model_switch, &record.wanted)
        else {
            return Ok(false);
        };
        let bytes = self.root.read(LOCAL_SETTINGS, 1 << 20);
        let text = match bytes.with_context(|| format!("read {LOCAL_SETTINGS}"))? {
            None => String::new(),
            Some(Content::Bytes(bytes, _)) => String::from_utf8_lossy(&bytes).into_owned(),
            Some(_) => anyhow::bail!("{LOCAL_SETTINGS} is not a regular file\nhint: move it away"),
        };
        let changed = with_model(&text, wanted)
            .map_err(|error| anyhow::anyhow!("{LOCAL_SETTINGS}: {}", error.message))?;
        if let Some(text) = changed.filter(|_| !self.arguments.dry_run) {
            let _lock = emit::Lock::take(self.root, "mandate", &output::wait_for)?;
            emit::replace(self.root, LOCAL_SETTINGS, text.as_bytes())?;
        }
        Ok(true)
    }

    /// Returns the model that a session start on this machine reported. The log of all deliveries is
    /// read, so only a policy is a reason to do it.
    fn session_model(&self, container: &Container) -> Option<String> {
        container.policy.as_ref()?;
        let now = jiff::Timestamp::from_second(self.now).ok()?;
        sessions::reported_model(self.root, now)
    }

    fn logged_model(&self, container: &Container) -> anyhow::Result<Option<String>> {
        let folder = container.path("logs");
        if !self.root.exists(&folder) {
            return Ok(None);
        }
        let mut newest: Option<(i64, String)> = None;
        let entries = self.root.entries(&folder).with_context(|| format!("read {folder}"))?;
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{folder}/{name}");
            let Some(bytes) = Some(name)
                .filter(|name| name.ends_with(".ndjson"))
                .and_then(|_| self.root.readable_bytes(&path, MAX_BYTES))
            else {
                continue;
            };
            for line in String::from_utf8_lossy(&bytes).lines() {
                let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
                let text = |keys: &[&str]| keys.iter().find_map(|key| value.get(*key)?.as_str());
                let time = text(&["time", "timestamp"]).and_then(timestamp::parse);
                let kind = text(&["event", "kind", "type"]);
                if let (Some("model_detected"), Some(time), Some(model)) =
                    (kind, time, text(&["model", "detected_model"]))
                    && time <= self.now
                    && newest.as_ref().is_none_or(|(known, _)| time >= *known)
                {
                    newest = Some((time, model.to_string()));
                }
            }
        }
        Ok(newest.map(|(_, model)| model))
    }

    /// Returns the request to act on a model that is not as wanted, if the policy asks for one.
    pub(super) fn notice(
        &self,
        container: &Container,
        record: Option<&ModelRecord>,
    ) -> Option<(String, String)> {
        let action = container.policy.as_ref()?.action_of(&container.id);
        let target = action.strip_prefix("notify_")?.to_string();
        let (record, time) = (record?, timestamp::format(self.now));
        let text = drift_line(record)?;
        let id = format!("req_{}_model_drift_{}", time.replace(':', "-"), container.id);
        let workspace = self.inputs.plan.responsibilities.workspace.as_deref().unwrap_or("null");
        let path = format!("queue/outbox/{id}.md");
        let header = format!(
            "---\ntype: request_for_action\nrequest_id: {id}\nstatus: created\norigin_responsibility_id: {}\ntarget_responsibility_id: {target}\nworkspace_id: {workspace}\npriority: 100\nauthored_by: ai\nauthor_id: {}\ncreated_at: {time}\nsource: mandate_run:{}@{time}\ncontext_role: request\n---\n",
            container.id,
            self.inputs.plan.responsibilities.context_worker.as_deref().unwrap_or("blue"),
            self.source()
        );
        Some((path, format!("{header}# Use another model\n\n{text}.\n")))
    }
}

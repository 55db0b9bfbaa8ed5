//! `ai_context/state.jsonl`: the live facts of a container, written by mandates and read by builds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::Digest;

/// Everything about a container that is not in its other files: requests, their deadlines and the
/// model in use. A build reads it as cargo reads `Cargo.lock`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ContainerState {
    /// The first line.
    pub head: StateHead,
    /// Requests that are open, by priority, time and id.
    pub requests: Vec<RequestLine>,
    /// The last check of the model, if there was one.
    pub model: Option<ModelRecord>,
    /// Files that may only grow, by path.
    pub append_only: Vec<AppendOnlyLine>,
}

/// First line of the state.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StateHead {
    /// Version of the format; always 1.
    pub state: u32,
    /// The container that it belongs to.
    pub responsibility_id: String,
    /// The workspace from the configuration.
    pub workspace_id: Option<String>,
    /// Status in the table `responsibilities`, if the queue has a row.
    pub status: Option<String>,
    /// Time of the last mandate that changed another field than `published_lines`.
    pub as_of: String,
    /// Digest of the rows that were selected from the queue; `null` without a queue.
    pub queue: Option<String>,
    /// Lines of the last publication by `refresh_ai_context`, which the growth gate compares with.
    pub published_lines: Option<u64>,
}

/// One open request.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct RequestLine {
    /// Its id.
    pub request: String,
    /// Its status: pending, deferred or accepted.
    pub status: String,
    /// Its priority; the lowest number comes first.
    pub priority: i64,
    /// The responsibility that asks.
    pub origin: String,
    /// Its subject, on one line.
    pub subject: String,
    /// Time of its creation.
    pub created_at: String,
    /// Time by which it has to be accepted or declined.
    pub respond_by: Option<String>,
    /// Time by which accepted work has to be done.
    pub complete_by: Option<String>,
    /// State of the deadline that applies; `null` without one.
    pub sla: Option<SlaClass>,
}

impl RequestLine {
    /// Returns the deadline that applies: accepted work has to be done, other requests answered.
    pub fn deadline(&self) -> Option<&str> {
        self.worded_deadline().map(|(_, time)| time)
    }

    /// Returns the deadline that applies, with the words before it in texts.
    pub fn worded_deadline(&self) -> Option<(&'static str, &str)> {
        match self.status.as_str() {
            "accepted" => Some(("complete by", self.complete_by.as_deref()?)),
            _ => Some(("respond by", self.respond_by.as_deref()?)),
        }
    }
}

/// State of a deadline.
#[derive(
    Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SlaClass {
    /// Less than 80 % of the window has passed.
    OnTrack,
    /// At least 80 % of the window has passed.
    AtRisk,
    /// The window has passed.
    Breached,
}

impl SlaClass {
    /// Returns the name in the state and in texts.
    pub fn as_str(self) -> &'static str {
        match self {
            SlaClass::OnTrack => "on_track",
            SlaClass::AtRisk => "at_risk",
            SlaClass::Breached => "breached",
        }
    }
}

/// Line with the last check of the model.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelLine {
    /// The check.
    pub model: ModelRecord,
}

/// The last check of the model.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRecord {
    /// The model that was detected; `null` if none was.
    pub last_detected_model: Option<String>,
    /// Time of the check. It is the only field that changes with every check.
    pub last_checked_at: String,
    /// Result of the comparison with the policy.
    pub verdict: ModelVerdict,
    /// The action that was taken; `null` if none was needed.
    pub outcome: Option<ModelOutcome>,
    /// Model to use instead, if another one is wanted.
    pub wanted: Option<String>,
}

/// Result of comparing the detected model with the policy.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelVerdict {
    /// The preferred model.
    Preferred,
    /// An approved fallback.
    Fallback,
    /// A mandate requires another model.
    Override,
    /// A model that the policy does not name.
    Drift,
    /// No model was detected, or there is no policy.
    Unknown,
}

impl ModelVerdict {
    /// Returns the name in the state and in texts.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelVerdict::Preferred => "preferred",
            ModelVerdict::Fallback => "fallback",
            ModelVerdict::Override => "override",
            ModelVerdict::Drift => "drift",
            ModelVerdict::Unknown => "unknown",
        }
    }

    /// Returns true if another model should be used.
    pub fn is_mismatch(self) -> bool {
        matches!(self, ModelVerdict::Drift | ModelVerdict::Override)
    }
}

/// Action after a mismatch.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelOutcome {
    /// The settings of the agent were changed to the wanted model.
    Switched,
    /// A notification names the wanted model.
    Notified,
}

impl ModelOutcome {
    /// Returns the name in the state and in texts.
    pub fn as_str(self) -> &'static str {
        match self {
            ModelOutcome::Switched => "switched",
            ModelOutcome::Notified => "notified",
        }
    }
}

/// A file with `refresh: append_only`, as the last mandate saw it.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AppendOnlyLine {
    /// Its path below the container.
    pub append_only: String,
    /// Its length.
    pub bytes: u64,
    /// Digest of these bytes, with which the file has to begin from now on.
    pub digest: String,
}

/// Last line of the state.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SealLine {
    /// Digest of all bytes above this line.
    pub seal: String,
}

/// One line of `state.jsonl`.
#[derive(JsonSchema)]
#[serde(untagged)]
#[schemars(title = "line of state.jsonl")]
#[allow(dead_code, reason = "only its schema is used")]
pub(super) enum StateLine {
    Head(StateHead),
    Request(RequestLine),
    Model(ModelLine),
    AppendOnly(AppendOnlyLine),
    Seal(SealLine),
}

/// Reason why a state is not used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StateError {
    /// The checksum does not match: the file was edited, cut or merged.
    Seal,
    /// A line is not in the format, or the file is that of another container.
    Format,
}

impl ContainerState {
    /// Renders the file.
    pub fn render(&self) -> String {
        let json = |value: serde_json::Result<String>| value.expect("a state is JSON") + "\n";
        let mut text = json(serde_json::to_string(&self.head));
        for request in &self.requests {
            text += &json(serde_json::to_string(request));
        }
        if let Some(model) = &self.model {
            text += &json(serde_json::to_string(&ModelLine { model: model.clone() }));
        }
        for line in &self.append_only {
            text += &json(serde_json::to_string(line));
        }
        let seal = Digest::of(text.as_bytes()).to_string();
        text + &json(serde_json::to_string(&SealLine { seal }))
    }

    /// Returns the texts that come from the queue or from telemetry.
    pub fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let requests = self.requests.iter_mut();
        let texts =
            requests.flat_map(|line| [&mut line.request, &mut line.origin, &mut line.subject]);
        let models =
            self.model.iter_mut().flat_map(|m| [&mut m.last_detected_model, &mut m.wanted]);
        texts.chain(models.flatten())
    }

    /// Parses the file of a container. Its checksum has to match.
    pub fn parse(text: &str, id: &str) -> Result<ContainerState, StateError> {
        let body = text.strip_suffix('\n').ok_or(StateError::Seal)?;
        let start = body.rfind('\n').map_or(0, |at| at + 1);
        let (lines, last) = text.split_at(start);
        let seal: SealLine = serde_json::from_str(last).map_err(|_| StateError::Seal)?;
        if seal.seal != Digest::of(lines.as_bytes()).to_string() {
            return Err(StateError::Seal);
        }
        let mut lines = lines.lines();
        let head: StateHead = serde_json::from_str(lines.next().unwrap_or_default())
            .map_err(|_| StateError::Format)?;
        if head.state != 1 || head.responsibility_id != id {
            return Err(StateError::Format);
        }
        let (requests, append_only) = (Vec::new(), Vec::new());
        let mut state = ContainerState { head, requests, model: None, append_only };
        for line in lines {
            if let Ok(request) = serde_json::from_str::<RequestLine>(line) {
                state.requests.push(request);
            } else if let Ok(line) = serde_json::from_str::<ModelLine>(line) {
                state.model = Some(line.model);
            } else if let Ok(line) = serde_json::from_str::<AppendOnlyLine>(line) {
                state.append_only.push(line);
            } else {
                return Err(StateError::Format);
            }
        }
        Ok(state)
    }
}

/// One line of `ai_context/overrides.jsonl`: a steward allowed one volume to be published.
#[derive(Clone, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "line of overrides.jsonl")]
pub struct OverrideLine {
    /// The gate.
    pub gate: GateName,
    /// The volume in lines that it is valid for.
    pub volume: u64,
    /// Why it may be published.
    pub reason: String,
    /// The steward who allowed it.
    #[serde(rename = "as")]
    pub steward: String,
    /// Time of the override.
    pub at: String,
}

/// Gates that can be overridden.
#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateName {
    /// More than 3,000 lines.
    Red,
    /// More than a tenth above the last publication.
    Growth,
}

impl GateName {
    /// Returns the name in files and flags.
    pub fn as_str(self) -> &'static str {
        match self {
            GateName::Red => "red",
            GateName::Growth => "growth",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> ContainerState {
        ContainerState {
            head: StateHead {
                state: 1,
                responsibility_id: "parenting_cos".to_string(),
                workspace_id: Some("dad_mode".to_string()),
                status: None,
                as_of: "2026-01-25T11:58:02Z".to_string(),
                queue: None,
                published_lines: None,
            },
            requests: vec![RequestLine {
                request: "req_1".to_string(),
                status: "pending".to_string(),
                priority: 100,
                origin: "finance_cos".to_string(),
                subject: "allowance".to_string(),
                created_at: "2026-01-25T09:00:00Z".to_string(),
                respond_by: None,
                complete_by: None,
                sla: Some(SlaClass::AtRisk),
            }],
            model: None,
            append_only: vec![AppendOnlyLine {
                append_only: "ai_context/journal.md".to_string(),
                bytes: 7,
                digest: Digest::of(b"journal").to_string(),
            }],
        }
    }

    #[test]
    fn a_rendered_state_can_be_parsed_and_any_changed_byte_is_noticed() {
        let text = state().render();
        assert_eq!(ContainerState::parse(&text, "parenting_cos"), Ok(state()));
        assert_eq!(ContainerState::parse(&text, "other"), Err(StateError::Format));
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            let Ok(changed) = String::from_utf8(bytes) else { continue };
            assert!(ContainerState::parse(&changed, "parenting_cos").is_err(), "byte {at}");
            assert!(ContainerState::parse(&text[..at], "parenting_cos").is_err(), "cut at {at}");
        }
    }
}

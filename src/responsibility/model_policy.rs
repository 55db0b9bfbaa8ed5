//! The models that a responsibility may use, and the comparison with the one in use.

use serde::Serialize;
use serde_yaml::Value;

use super::container::{ContainerFile, scalar};
use crate::wire::responsibility_state::{ModelRecord, ModelVerdict};

/// The models that a responsibility may use. People write it in `model_policy.yaml`.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize)]
pub struct ModelPolicy {
    /// The preferred model.
    pub preferred: String,
    /// Approved fallbacks.
    pub fallbacks: Vec<String>,
    /// Mandates that require a model.
    pub overrides: Vec<CapabilityOverride>,
    /// True if a mismatch may be corrected, false if it is only reported.
    pub is_enforced: bool,
    /// Action after a mismatch, such as `notify_parenting_cos`.
    pub action: Option<String>,
    /// Clause of the guardrails that asks for the policy.
    pub clause: Option<String>,
}

/// A mandate that requires a model.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub struct CapabilityOverride {
    /// The mandate.
    pub mandate: String,
    /// The model.
    pub model: String,
}

/// Reads `model_policy.yaml`. `None` if it names no preferred model.
pub fn read(text: &str) -> Option<ModelPolicy> {
    from_value(&serde_yaml::from_str(text).ok()?)
}

/// Reads the older spelling in `responsibility.md`: `model: {default_model, allowed_models}`.
pub fn from_responsibility(file: &ContainerFile) -> Option<ModelPolicy> {
    let model = file.header.get("model")?;
    let preferred = model.get("default_model").and_then(scalar)?;
    let allowed = list(model.get("allowed_models"));
    let fallbacks = allowed.into_iter().filter(|allowed| *allowed != preferred).collect();
    Some(ModelPolicy { preferred, fallbacks, ..ModelPolicy::default() })
}

fn list(value: Option<&Value>) -> Vec<String> {
    value.and_then(Value::as_sequence).into_iter().flatten().filter_map(scalar).collect()
}

fn from_value(value: &Value) -> Option<ModelPolicy> {
    let text = |key: &str| value.get(key).and_then(scalar);
    let overrides = value.get("capability_overrides").and_then(Value::as_sequence);
    let one = |entry: &Value| {
        let text = |key: &str| entry.get(key).and_then(scalar);
        Some(CapabilityOverride { mandate: text("mandate")?, model: text("required_model")? })
    };
    Some(ModelPolicy {
        preferred: text("preferred_model")?,
        fallbacks: list(value.get("fallback_models")),
        overrides: overrides.into_iter().flatten().filter_map(one).collect(),
        is_enforced: text("enforcement_mode").as_deref() == Some("enforce"),
        action: text("action_required"),
        clause: text("guardrail_clause"),
    })
}

impl ModelPolicy {
    /// Compares a detected model with the policy, also for one mandate. Returns the verdict and the
    /// model to use instead, if another one is wanted.
    pub fn judge(
        &self,
        detected: Option<&str>,
        mandate: Option<&str>,
    ) -> (ModelVerdict, Option<String>) {
        let Some(detected) = detected else { return (ModelVerdict::Unknown, None) };
        let required = mandate
            .and_then(|mandate| self.overrides.iter().find(|required| required.mandate == mandate));
        if let Some(required) = required.filter(|required| required.model != detected) {
            return (ModelVerdict::Override, Some(required.model.clone()));
        }
        if required.is_some() || detected == self.preferred {
            return (ModelVerdict::Preferred, None);
        }
        match self.fallbacks.iter().any(|fallback| fallback == detected) {
            true => (ModelVerdict::Fallback, None),
            false => (ModelVerdict::Drift, Some(self.preferred.clone())),
        }
    }

    /// Returns the name of the action after a mismatch.
    pub fn action_of(&self, id: &str) -> String {
        self.action.clone().unwrap_or_else(|| format!("notify_{id}"))
    }
}

/// Returns the sentence about a mismatch, or `None` if the model is one of the policy.
pub fn drift_line(record: &ModelRecord) -> Option<String> {
    if !record.verdict.is_mismatch() {
        return None;
    }
    let detected = record.last_detected_model.as_deref().unwrap_or("no model");
    let wanted = record.wanted.as_deref().unwrap_or("the preferred model");
    let outcome = record.outcome.map_or("not reported", |outcome| outcome.as_str());
    let verdict = record.verdict.as_str();
    Some(format!("Model {verdict}: {detected} is in use, use {wanted} ({outcome})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verdict_is_given() {
        let policy = read(
            "preferred_model: big\nfallback_models: [small]\ncapability_overrides:\n  - {mandate: m.design, required_model: big}\nenforcement_mode: enforce\n",
        )
        .expect("a policy");
        let verdict =
            |detected: Option<&str>, mandate: Option<&str>| policy.judge(detected, mandate);
        let big = Some("big".to_string());
        assert_eq!(verdict(Some("big"), None), (ModelVerdict::Preferred, None));
        assert_eq!(verdict(Some("small"), None), (ModelVerdict::Fallback, None));
        assert_eq!(verdict(Some("other"), None), (ModelVerdict::Drift, big.clone()));
        assert_eq!(verdict(Some("small"), Some("m.design")), (ModelVerdict::Override, big));
        assert_eq!(verdict(Some("small"), Some("m.other")), (ModelVerdict::Fallback, None));
        assert_eq!(verdict(None, None), (ModelVerdict::Unknown, None));
        assert!(policy.is_enforced);
    }

    #[test]
    fn the_older_spelling_is_read() {
        let text = "---\nmodel: {default_model: big, allowed_models: [big, small]}\n---\n";
        let policy = from_responsibility(&ContainerFile::new(text)).expect("a policy");
        assert_eq!(
            (policy.preferred.as_str(), policy.fallbacks),
            ("big", vec!["small".to_string()])
        );
    }
}

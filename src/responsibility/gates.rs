//! Hygiene gates: limits on the volume of a container's context and on its growth.

use std::collections::{BTreeMap, BTreeSet};

use super::container::Container;
use crate::model::plural::counted;
use crate::wire::responsibility_state::{GateName, OverrideLine};

/// From this volume on, people should watch it.
pub const YELLOW: u64 = 2_500;

/// Above this volume, nothing is published without an override.
pub const RED: u64 = 3_000;

/// Below this volume, growth is not limited.
pub const MIN_GROWTH: u64 = 500;

/// Heading that every critical workflow has.
pub const WHEN: &str = "When to use this workflow";

/// The size of a container's context.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Volume {
    /// Lines of `ai_context/*.md` and of each Markdown file of the container that is linked there.
    pub n_lines: u64,
    /// Lines of them that are marked as critical.
    pub n_critical: u64,
    /// Critical files without the heading that says when to use them.
    pub without_when: Vec<String>,
    /// The largest files with their lines, the largest first.
    pub largest: Vec<(String, u64)>,
    /// The two files that share most of their lines.
    pub most_alike: Option<(String, String)>,
}

/// A finding of a gate.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GateFinding {
    /// The gate, if it holds the publication.
    pub holds: Option<GateName>,
    /// Description.
    pub message: String,
}

/// Measures the context of a container. `published` are the texts of `ai_context/`, by file name,
/// and `linked` the paths below the container that they link to.
pub fn measure(
    container: &Container,
    published: &[(String, String)],
    linked: &BTreeSet<String>,
) -> Volume {
    let mut bodies: BTreeMap<String, &str> = BTreeMap::new();
    for (name, text) in published {
        bodies.insert(format!("ai_context/{name}"), text);
    }
    for path in linked {
        if let Some(file) = container.file(path) {
            bodies.entry(path.clone()).or_insert(&file.body);
        }
    }
    let mut sizes: Vec<(String, u64)> =
        bodies.iter().map(|(path, text)| (path.clone(), text.lines().count() as u64)).collect();
    let n_lines = sizes.iter().map(|(_, n)| n).sum();
    sizes.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let (n_critical, without_when) = critical(container, &bodies);
    let most_alike = if n_lines >= YELLOW { most_alike(&bodies) } else { None };
    sizes.truncate(3);
    Volume { n_lines, n_critical, without_when, largest: sizes, most_alike }
}

/// Returns the number of critical lines, and the critical parts that do not say when to use them.
fn critical(container: &Container, bodies: &BTreeMap<String, &str>) -> (u64, Vec<String>) {
    let mut parts: BTreeMap<String, &str> = BTreeMap::new();
    for (path, file) in &container.files {
        match file.header.get("critical") {
            Some(serde_yaml::Value::Bool(true)) if bodies.contains_key(path) => {
                parts.insert(path.clone(), &file.body);
            }
            Some(serde_yaml::Value::Sequence(places)) => {
                for place in places.iter().filter_map(serde_yaml::Value::as_str) {
                    let (target, heading) = place.split_once('#').unwrap_or((place, ""));
                    let Some(body) = bodies.get(target) else { continue };
                    let part = match heading {
                        "" => Some(*body),
                        heading => super::lists::section(body, &heading.replace('-', " "))
                            .or_else(|| super::lists::section(body, heading)),
                    };
                    parts.extend(part.map(|part| (place.to_string(), part)));
                }
            }
            _ => {}
        }
    }
    let n_lines = parts.values().map(|part| part.lines().count() as u64).sum();
    let has_when = |part: &str| {
        let headings = part.lines().filter(|line| line.starts_with('#'));
        headings
            .map(|line| line.trim_start_matches('#').trim())
            .any(|h| h.eq_ignore_ascii_case(WHEN))
    };
    let without = parts.iter().filter(|(_, part)| !has_when(part)).map(|(place, _)| place.clone());
    (n_lines, without.collect())
}

/// Returns the two texts that have the largest share of lines in common, if it is at least a half.
fn most_alike(bodies: &BTreeMap<String, &str>) -> Option<(String, String)> {
    let lines = |text: &&str| -> BTreeSet<String> {
        text.lines().map(|line| line.trim().to_string()).filter(|line| line.len() > 3).collect()
    };
    let sets: Vec<(&String, BTreeSet<String>)> =
        bodies.iter().map(|(path, text)| (path, lines(text))).collect();
    let mut best: Option<(usize, String, String)> = None;
    for (i, (path, set)) in sets.iter().enumerate() {
        for (other_path, other) in &sets[i + 1..] {
            let n_shared = set.intersection(other).count();
            let share = n_shared * 100 / set.len().min(other.len()).max(1);
            if share >= 50 && best.as_ref().is_none_or(|(most, ..)| share > *most) {
                best = Some((share, path.to_string(), other_path.to_string()));
            }
        }
    }
    best.map(|(_, a, b)| (a, b))
}

/// Judges a volume. `published` is the volume of the last publication, `overrides` what stewards
/// allowed.
pub fn judge(
    volume: &Volume,
    published: Option<u64>,
    overrides: &[OverrideLine],
    steward: &str,
    holds_red: bool,
) -> Vec<GateFinding> {
    let n = volume.n_lines;
    let is_overridden = |gate: GateName| {
        let allows =
            |line: &OverrideLine| line.gate == gate && line.volume == n && line.steward == steward;
        overrides.iter().any(allows)
    };
    let gate = |gate: GateName, message: String| {
        let holds = (holds_red && !is_overridden(gate)).then_some(gate);
        GateFinding { holds, message }
    };
    let warning = |message: String| GateFinding { holds: None, message };
    let mut findings = Vec::new();
    let lines = counted(n, "line");
    if n > RED {
        let files = describe(volume);
        findings.push(gate(GateName::Red, format!("{lines} of context are over {RED}{files}")));
    } else if n >= YELLOW {
        findings.push(warning(format!("{lines} of context; over {RED} nothing is published")));
    }
    if let Some(before) = published.filter(|before| n >= MIN_GROWTH && 10 * n > 11 * before) {
        let files = describe(volume);
        let message = format!("{lines} of context are over a tenth more than {before}{files}");
        findings.push(gate(GateName::Growth, message));
    }
    if volume.n_critical > 0 && 10 * volume.n_critical <= n {
        findings.push(warning(format!(
            "critical workflows have {} of {lines}; they should have more than a tenth",
            volume.n_critical
        )));
    }
    for place in &volume.without_when {
        findings.push(warning(format!("{place} is critical and has no heading \"{WHEN}\"")));
    }
    findings
}

fn describe(volume: &Volume) -> String {
    let largest: Vec<String> =
        volume.largest.iter().map(|(path, n)| format!("{path} ({n})")).collect();
    let alike = volume.most_alike.as_ref();
    let alike = alike.map_or(String::new(), |(a, b)| format!("; most alike: {a} and {b}"));
    format!("; largest: {}{alike}", largest.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(
        n_lines: u64,
        published: Option<u64>,
        overrides: &[OverrideLine],
    ) -> Vec<Option<GateName>> {
        let volume = Volume { n_lines, ..Volume::default() };
        let findings = judge(&volume, published, overrides, "jane", true);
        findings.into_iter().map(|finding| finding.holds).collect()
    }

    #[test]
    fn the_limits_of_volume_and_growth_are_exact() {
        assert!(holds(2_499, None, &[]).is_empty());
        assert_eq!(holds(2_500, None, &[]), [None]);
        assert_eq!(holds(3_000, None, &[]), [None]);
        assert_eq!(holds(3_001, None, &[]), [Some(GateName::Red)]);
        assert!(holds(550, Some(500), &[]).is_empty());
        assert_eq!(holds(551, Some(500), &[]), [Some(GateName::Growth)]);
        assert!(holds(499, Some(100), &[]).is_empty());
        assert_eq!(holds(500, Some(100), &[]), [Some(GateName::Growth)]);
    }

    #[test]
    fn an_override_is_valid_for_one_volume_gate_and_steward() {
        let line = |volume: u64, gate: GateName, steward: &str| OverrideLine {
            gate,
            volume,
            reason: "moving".to_string(),
            steward: steward.to_string(),
            at: String::new(),
        };
        let red = Some(GateName::Red);
        assert_eq!(holds(3_001, None, &[line(3_001, GateName::Red, "jane")]), [None]);
        assert_eq!(holds(3_001, None, &[line(3_002, GateName::Red, "jane")]), [red]);
        assert_eq!(holds(3_001, None, &[line(3_001, GateName::Growth, "jane")]), [red]);
        assert_eq!(holds(3_001, None, &[line(3_001, GateName::Red, "joe")]), [red]);
    }

    #[test]
    fn critical_workflows_need_more_than_a_tenth() {
        let judged = |n_critical: u64| {
            let volume = Volume { n_lines: 100, n_critical, ..Volume::default() };
            judge(&volume, None, &[], "jane", true).len()
        };
        assert_eq!((judged(0), judged(10), judged(11)), (0, 1, 0));
    }
}

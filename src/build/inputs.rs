//! Files that people write for blue: configuration, voice, workflow guide, templates.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;

use crate::guard::{self, Allowed, Guard};
use crate::model::layout::{ACCEPTED, CONFIG, GUIDE, TEMPLATES, VOICE};
use crate::model::source::with_lf;
use crate::model::{Code, Diagnostic, Digest, Plan, Policy, TrackedFile, Trigger};
use crate::render::Templates;
use crate::root::{Content, Root};
use crate::wire::accepted;
use crate::wire::config::Config;
use crate::wire::plugin::PluginForm;
use crate::wire::schema;
use crate::wire::yaml::LocatedYaml;

/// Maximum size of such a file.
const MAX_BYTES: u64 = 1 << 20;

/// Maximum size of the list of accepted findings, which has a line for each.
const MAX_ACCEPTED: u64 = 16 << 20;

/// Maximum size of a template.
const MAX_TEMPLATE: usize = 64 * 1024;

/// The files that people write for blue, read and checked.
pub struct Inputs {
    /// The checked configuration.
    pub plan: Plan,
    /// The templates, including the project's own.
    pub templates: Templates,
    /// The template of the session bundle: that of a project, or that of the user's own knowledge.
    pub session_template: &'static str,
    /// The text of `.blue/voice.md`.
    pub voice: Option<String>,
    /// The text of `.blue/workflow.md`.
    pub guide: Option<String>,
    /// The project's severities and accepted findings.
    pub policy: Policy,
    /// Hidden characters and secrets that the configuration allows.
    pub guard: Guard,
    /// Findings in these files.
    pub notes: Vec<Diagnostic>,
    /// The state of these files.
    pub files: Vec<TrackedFile>,
}

/// Reads all inputs. An invalid configuration or template is an error.
pub fn load(root: &Root) -> anyhow::Result<Inputs> {
    let (mut files, mut notes) = (Vec::new(), Vec::new());
    let config = match file(root, CONFIG, MAX_BYTES, &mut files)? {
        Some(text) => {
            let config = config(&text, &mut notes)?;
            notes.extend(plugins_not_run(&text, &config));
            config
        }
        None => Config::default(),
    };
    let plan = config.plan();
    let guard =
        Guard::new(&plan.allowance).with_context(|| format!("{CONFIG}: security.allow_hidden"))?;
    crate::discover::deny::DenyList::new(&plan.deny)
        .with_context(|| format!("{CONFIG}: security.deny"))?;
    for text in &plan.refresh_triggers {
        anyhow::ensure!(
            Trigger::parse(text).is_some(),
            "{CONFIG}: workflow.refresh_triggers: unknown trigger {text:?}\nhint: write on_rfc_change, every_<n>_turns or on_tool_call: <name>"
        );
    }
    let accepted = match file(root, ACCEPTED, MAX_ACCEPTED, &mut files)? {
        Some(text) => {
            accepted::read(&text).map_err(|findings| schema::error(ACCEPTED, &findings))?
        }
        None => Vec::new(),
    };
    let policy = Policy { severities: plan.severities.clone(), accepted };
    let mut cleaned =
        |path: &str, text: &str| clean_text(path, text, &guard.allowed_for(path), &mut notes);
    let voice = file(root, VOICE, MAX_BYTES, &mut files)?.map(|text| cleaned(VOICE, &text));
    let guide = file(root, GUIDE, MAX_BYTES, &mut files)?.map(|text| cleaned(GUIDE, &text));
    let templates = templates(root, &plan, &guard, &mut files, &mut notes)?;
    let is_global = root.machine().is_global;
    let session_template = if is_global { "session-global.md" } else { "session.md" };
    Ok(Inputs { plan, templates, session_template, voice, guide, guard, policy, notes, files })
}

/// Reads and compiles the project's templates: those that replace blue's, and those of add-ons.
fn templates(
    root: &Root,
    plan: &Plan,
    guard: &Guard,
    files: &mut Vec<TrackedFile>,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Templates> {
    let (mut overrides, mut wrappers) = (BTreeMap::new(), Vec::new());
    let replaced: Vec<&str> = Templates::names().collect();
    let addons = plan.responsibilities.addons.iter();
    let of_addons = addons.filter_map(|addon| addon.template.as_deref());
    let of_addons: BTreeSet<&str> = of_addons.filter(|name| !replaced.contains(name)).collect();
    for name in replaced.iter().chain(&of_addons).copied() {
        let path = format!("{TEMPLATES}{name}");
        if let Some(text) = file(root, &path, MAX_BYTES, files)? {
            let n_bytes = text.len();
            anyhow::ensure!(
                n_bytes <= MAX_TEMPLATE,
                "{path} has {n_bytes} bytes; the limit is {MAX_TEMPLATE}"
            );
            let cleaned = clean_text(&path, &text, &guard.allowed_for(&path), notes);
            overrides.insert(name.to_string(), cleaned);
            if name != "digest.md" && !of_addons.contains(name) {
                let lines = wrapper_lines(&text).into_iter();
                wrappers.extend(lines.map(|line| (path.clone(), line)));
            }
        }
    }
    notes.retain(|note| {
        let at = (note.path.clone(), note.line);
        note.code != Code::FakeTag || note.column != 1 || !wrappers.contains(&at)
    });
    check_addon_templates(root, plan, &overrides)?;
    Ok(Templates::new(&overrides, &plan.allowance.hidden_chars())?)
}

/// Refuses an add-on whose template does not exist, or is one that renders another file.
fn check_addon_templates(
    root: &Root,
    plan: &Plan,
    overrides: &BTreeMap<String, String>,
) -> anyhow::Result<()> {
    let mut violations = Vec::new();
    for (i, addon) in plan.responsibilities.addons.iter().enumerate() {
        let Some(name) = &addon.template else { continue };
        let (message, hint) = match overrides.contains_key(name) {
            _ if Templates::names().any(|own| own == name) => {
                (format!("`{name}` renders another file"), "choose another name".to_string())
            }
            true => continue,
            false => (format!("no template `{name}`"), format!("write {TEMPLATES}{name}")),
        };
        let text = file(root, CONFIG, MAX_BYTES, &mut Vec::new())?.unwrap_or_default();
        let lines = LocatedYaml::yaml(&text).ok();
        let pointer = format!("/responsibilities/addons/{i}/template");
        violations.push(schema::SchemaViolation {
            line: lines.map_or(0, |lines| lines.line(&pointer)),
            path: format!("$.responsibilities.addons[{i}].template"),
            message,
            hint: Some(hint),
        });
    }
    match violations.is_empty() {
        true => Ok(()),
        false => Err(schema::error(CONFIG, &violations)),
    }
}

/// Returns the first and the last line of a bundle's template if they are the wrapper tag. The tag
/// belongs there; anywhere else it is reported.
fn wrapper_lines(text: &str) -> Vec<u32> {
    let tag = text.split([' ', '>', '{', '\r', '\n']).next().unwrap_or_default();
    let closing = format!("{}>", tag.replace('<', "</"));
    let lines: Vec<&str> = text.trim_end().lines().collect();
    match tag.starts_with("<blue-") && lines.last() == Some(&closing.as_str()) {
        true => vec![1, lines.len() as u32],
        false => Vec::new(),
    }
}

/// Redacts and scans a text as documents are.
pub(super) fn clean_text(
    path: &str,
    text: &str,
    allowed: &Allowed,
    notes: &mut Vec<Diagnostic>,
) -> String {
    let clean = guard::clean(text, allowed);
    notes.extend(clean.notes.into_iter().map(|note| {
        let finding = Diagnostic::new(note.code, path, note.message).at(note.line, note.column);
        Diagnostic { hint: note.hint, ..finding }
    }));
    clean.text.into_owned()
}

/// Reads as much of the configuration as is valid, for commands that only read. The build reports what
/// is wrong with it. The deny-list applies even if the rest is invalid.
pub fn plan(root: &Root) -> Plan {
    let text = match root.read(CONFIG, MAX_BYTES) {
        Ok(Some(Content::Bytes(bytes, _))) => String::from_utf8_lossy(&bytes).into_owned(),
        _ => return Config::default().plan(),
    };
    if let Ok(Some(config)) = serde_yaml::from_str::<Option<Config>>(&text) {
        return config.plan();
    }
    let mut plan = Config::default().plan();
    plan.deny_decisions = true;
    let Ok(value) = serde_yaml::from_str::<serde_yaml::Value>(&text) else {
        // The deny-list cannot be read, so everything is denied.
        plan.deny.push("*".to_string());
        return plan;
    };
    let deny = value.get("security").and_then(|security| security.get("deny"));
    let deny = deny.and_then(serde_yaml::Value::as_sequence).into_iter().flatten();
    plan.deny.extend(deny.filter_map(|pattern| pattern.as_str().map(str::to_string)));
    plan
}

fn file(
    root: &Root,
    path: &str,
    limit: u64,
    files: &mut Vec<TrackedFile>,
) -> anyhow::Result<Option<String>> {
    match root.read(path, limit).with_context(|| format!("read {path}"))? {
        None => {
            files.push(TrackedFile::absent(path));
            Ok(None)
        }
        Some(Content::Bytes(bytes, stat)) => {
            let bytes = with_lf(&bytes).unwrap_or(bytes);
            files.push(TrackedFile { path: path.to_string(), stat, digest: Digest::of(&bytes) });
            let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
            let text =
                std::str::from_utf8(bytes).with_context(|| format!("read {path}: not UTF-8"))?;
            Ok(Some(text.to_string()))
        }
        Some(Content::TooLarge(size)) => {
            anyhow::bail!("{path} has {size} bytes; the limit is {limit}")
        }
        Some(Content::NotRegular) => anyhow::bail!("{path} is not a regular file"),
    }
}

/// Validates a configuration against its schema, then reads it.
fn config(text: &str, notes: &mut Vec<Diagnostic>) -> anyhow::Result<Config> {
    let findings = schema::validate("config", text);
    if !findings.is_empty() {
        return Err(schema::error(CONFIG, &findings));
    }
    let value: Option<Config> =
        serde_yaml::from_str(text).with_context(|| format!("read {CONFIG}"))?;
    let config = value.unwrap_or_default();
    // Strings of the configuration reach the manifest and bundles. Redacting the whole text could make it
    // invalid YAML, so the strings are redacted one by one. The whole text is scanned for the line numbers
    // of findings.
    let before = notes.len();
    clean_text(CONFIG, text, &Allowed::default(), notes);
    if notes.len() == before {
        return Ok(config);
    }
    let mut value = serde_json::to_value(&config).expect("a configuration is JSON");
    clean_strings(&mut value);
    serde_json::from_value(value).with_context(|| format!("read {CONFIG}"))
}

/// Returns a finding for every plugin: plugins are registered, but not run.
fn plugins_not_run(text: &str, config: &Config) -> Vec<Diagnostic> {
    let lines = LocatedYaml::yaml(text).ok().filter(|_| !config.plugins.is_empty());
    let not_run = |(i, plugin): (usize, &PluginForm)| {
        let message = format!(
            "the plugin `{}` is registered, not run: blue runs no plugins yet",
            plugin.name()
        );
        let line = lines.as_ref().map_or(0, |lines| lines.line(&format!("/plugins/{i}")));
        Diagnostic::new(Code::PluginNotRun, CONFIG, message).at(line, 1)
    };
    config.plugins.iter().enumerate().map(not_run).collect()
}

fn clean_strings(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => {
            *text = guard::clean(text, &Allowed::default()).text.into_owned();
        }
        serde_json::Value::Array(values) => values.iter_mut().for_each(clean_strings),
        serde_json::Value::Object(values) => values.values_mut().for_each(clean_strings),
        _ => {}
    }
}

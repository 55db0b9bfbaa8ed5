//! YAML front matter and YAML sidecars to fields.

use std::collections::BTreeMap;

use serde_yaml::Value;

use super::Lines;
use super::bound::{is_wide, start};
use super::field::{self, Field};
use crate::guard::{Allowed, Clean, clean};
use crate::model::plan::Limits;
use crate::model::yaml_depth::is_deep;
use crate::model::{Code, Note};

/// Where the front matter is: `inner` is its text, `end` where the body begins.
pub(super) struct Front {
    inner: std::ops::Range<usize>,
    pub(super) end: usize,
    kind: FrontKind,
}

enum FrontKind {
    Absent,
    Yaml,
    Toml,
    Unterminated,
}

/// Finds the front matter of a text.
pub(super) fn split(text: &str) -> Front {
    let absent = |kind| Front { inner: 0..0, end: 0, kind };
    let (fence, kind) = match text {
        t if t.starts_with("---") => ("---", FrontKind::Yaml),
        t if t.starts_with("+++") => ("+++", FrontKind::Toml),
        _ => return absent(FrontKind::Absent),
    };
    let Some(first_end) = memchr::memchr(b'\n', text.as_bytes()) else {
        return absent(FrontKind::Absent);
    };
    if text[3..first_end].trim() != "" {
        return absent(FrontKind::Absent);
    }
    let start = first_end + 1;
    // A rule followed by a blank line or a heading is a rule, not a header.
    let next = text[start..].lines().next().unwrap_or("");
    if next.trim().is_empty() || next.starts_with('#') && fence == "+++" {
        return absent(FrontKind::Absent);
    }
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let bare = line.trim_end();
        if bare == fence || (bare == "..." && fence == "---") {
            return Front { inner: start..at, end: at + line.len(), kind };
        }
        at += line.len();
    }
    absent(if next.contains(':') { FrontKind::Unterminated } else { FrontKind::Absent })
}

/// Reads the fields, noting what is no YAML.
pub(super) fn fields(
    text: &str,
    front: &Front,
    lines: &Lines,
    limits: &Limits,
    notes: &mut Vec<Note>,
) -> Vec<Field> {
    let inner = &text[front.inner.clone()];
    let mut note = |code, line, message: String, hint: &str| {
        let hint = Some(hint.to_string());
        notes.push(Note { code, line, column: 1, message, hint });
    };
    match front.kind {
        FrontKind::Absent => return Vec::new(),
        FrontKind::Unterminated => {
            let hint = "close the front matter with a line `---`";
            note(Code::FrontMatterOpen, 1, "front matter never ends".to_string(), hint);
            let head: Vec<&str> = text.lines().skip(1).take(40).collect();
            let end = head.iter().position(|line| line.trim().is_empty()).unwrap_or(head.len());
            return loose(&head[..end].join("\n"), 2);
        }
        FrontKind::Toml => return loose(inner, 2),
        FrontKind::Yaml => {}
    }
    let first = lines.line(front.inner.start);
    if let Some((code, message, hint)) = over(inner, limits) {
        note(code, first, message, &hint);
        return loose(start_of(inner, limits), first);
    }
    match serde_yaml::from_str::<Value>(inner) {
        Ok(value) => of_value(&value, inner, first),
        Err(error) => {
            let message = error.to_string();
            let what = message.split(" at line ").next().unwrap_or(&message);
            let line = error.location().map_or(0, |place| line_as_seen(inner, place.line()));
            let (line, hint) = match repeated_key(inner, what) {
                Some(line) => (line, "keep one of the two"),
                None => (line, "quote values that contain `: ` or begin with a sign"),
            };
            note(
                Code::FrontMatterYaml,
                first + line,
                format!("front matter is not YAML: {what}"),
                hint,
            );
            loose(inner, first)
        }
    }
}

/// The line, from 0, that editors count where YAML counts this one, from 1. To YAML some signs end a
/// line that end none in an editor.
fn line_as_seen(inner: &str, line: usize) -> u32 {
    let breaks = |c: char| matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let ends = inner.matches(breaks).take(line.saturating_sub(1));
    ends.filter(|end| *end == "\n").count() as u32
}

/// The line, from 0, where a key that an error calls duplicate stands for the second time.
fn repeated_key(inner: &str, what: &str) -> Option<u32> {
    let key = what.strip_prefix("duplicate entry with key \"")?.strip_suffix('"')?;
    let mut lines = inner.lines().enumerate().filter(|(_, line)| line.starts_with(key));
    lines.nth(1).map(|(i, _)| i as u32)
}

/// The limit that a YAML text is over, if it is: what is said of it, and what to do.
fn over(yaml: &str, limits: &Limits) -> Option<(Code, String, String)> {
    let depth = usize::try_from(limits.yaml_depth).unwrap_or(usize::MAX);
    let (code, message, key) = if yaml.len() as u64 > limits.front_matter_bytes {
        let (n, limit) = (yaml.len(), limits.front_matter_bytes);
        let message = format!("metadata of {n} bytes is over the limit of {limit}");
        (Code::FrontMatterLarge, message, "front_matter_bytes")
    } else if is_deep(yaml, depth) {
        let message = format!("metadata nests deeper than the limit of {depth}");
        (Code::DeepYaml, message, "yaml_depth")
    } else if is_wide(yaml, limits) {
        let limit = limits.yaml_values;
        let message = format!("aliases make the metadata larger than the limit of {limit} values");
        (Code::WideYaml, message, "yaml_values")
    } else {
        return None;
    };
    let message = format!("{message}; only lines `key: value` are read");
    let hint = format!("move it into the body, or raise limits.{key} in .blue/config.yaml");
    Some((code, message, hint))
}

/// As much of a text as may be read of it.
fn start_of<'a>(text: &'a str, limits: &Limits) -> &'a str {
    let limit = usize::try_from(limits.front_matter_bytes).unwrap_or(usize::MAX);
    start(text, limit)
}

/// Reads a YAML file that stands beside a document.
pub(super) fn sidecar(
    bytes: &[u8],
    limits: &Limits,
    allowed: &Allowed,
    notes: &mut Vec<Note>,
) -> Vec<Field> {
    let text = String::from_utf8_lossy(bytes);
    let Clean { text, notes: found } = clean(&text, allowed);
    // Lines are those of the document; what stands beside it has none.
    notes.extend(found.into_iter().map(|note| {
        let message = format!("line {} of the metadata file: {}", note.line, note.message);
        Note { line: 0, column: 0, message, ..note }
    }));
    let mut note = |code, message: String, hint| {
        notes.push(Note { code, line: 0, column: 0, message, hint });
    };
    let mut fields = match over(&text, limits) {
        Some((code, message, hint)) => {
            note(code, format!("in the file beside the document: {message}"), Some(hint));
            loose(start_of(&text, limits), 1)
        }
        None => match serde_yaml::from_str::<Value>(&text) {
            Ok(value) => of_value(&value, &text, 1),
            Err(_) => {
                let message = "the metadata file beside the document is not YAML".to_string();
                note(Code::FrontMatterYaml, message, None);
                Vec::new()
            }
        },
    };
    for field in &mut fields {
        field.line = 0;
    }
    fields
}

fn of_value(value: &Value, text: &str, first_line: u32) -> Vec<Field> {
    let mut fields = Vec::new();
    fields_of(value, &line_of_keys(text), first_line, &mut fields, 0);
    fields
}

/// The fields of a mapping, and of mappings in it: `relationships: {seeAlso: […]}`.
fn fields_of(
    value: &Value,
    lines: &BTreeMap<&str, u32>,
    first_line: u32,
    fields: &mut Vec<Field>,
    depth: usize,
) {
    let Value::Mapping(mapping) = value else { return };
    for (key, value) in mapping {
        let Some(key) = scalar(key) else { continue };
        let mut items = Vec::new();
        flatten(value, &mut items, 0);
        let line = lines.get(key.split(':').next().unwrap_or_default().trim_end());
        let line = first_line + line.copied().unwrap_or(0);
        fields.push(Field { key: field::normal_key(&key), items, line, front: true });
        if depth < 2 {
            fields_of(value, lines, first_line, fields, depth + 1);
        }
    }
}

/// The first line, from 0, that each key opens.
fn line_of_keys(text: &str) -> BTreeMap<&str, u32> {
    let mut lines = BTreeMap::new();
    for (line, text) in (0..).zip(text.lines()) {
        let Some((key, _)) = text.split_once(':') else { continue };
        let key = key.trim_start().trim_start_matches(['"', '\'']);
        let key = key.trim_end().trim_end_matches(['"', '\'']);
        lines.entry(key).or_insert(line);
    }
    lines
}

fn flatten(value: &Value, items: &mut Vec<String>, depth: usize) {
    match value {
        Value::Sequence(values) if depth < 4 => {
            for value in values {
                flatten(value, items, depth + 1);
            }
        }
        Value::Mapping(mapping) if depth < 4 => {
            for (_, value) in mapping {
                flatten(value, items, depth + 1);
            }
        }
        Value::Tagged(tagged) if depth < 4 => flatten(&tagged.value, items, depth + 1),
        other => items.extend(scalar(other)),
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Reads `key: value` or `key = value` lines where the format itself cannot be trusted.
fn loose(text: &str, first_line: u32) -> Vec<Field> {
    let mut fields = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let Some(at) = line.find([':', '=']) else { continue };
        let key = line[..at].trim();
        if key.is_empty() || key.len() > 40 || line.starts_with([' ', '\t', '#', '-']) {
            continue;
        }
        let value = line[at + 1..].trim().trim_matches(['"', '\'']).to_string();
        let items = if value.is_empty() { Vec::new() } else { vec![value] };
        let line = first_line + i as u32;
        fields.push(Field { key: field::normal_key(key), items, line, front: true });
    }
    fields
}

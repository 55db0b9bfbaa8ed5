//! YAML front matter and YAML sidecars to fields.

use serde_yaml::Value;

use super::Lines;
use super::field::{self, Field};
use crate::model::depth::{MAX_DEPTH, is_deep};
use crate::model::{Code, Note};

/// Front matter larger than this is not read: it is no header any more.
const MAX_BYTES: usize = 64 * 1024;

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
    if inner.len() > MAX_BYTES {
        let message =
            format!("front matter of {} bytes is over the limit of {MAX_BYTES}", inner.len());
        note(Code::FrontMatterLarge, 1, message, "move the text into the body");
        return Vec::new();
    }
    let first = lines.line(front.inner.start);
    if is_deep(inner) {
        let message = format!("front matter nests deeper than {MAX_DEPTH}; it is not read as YAML");
        note(Code::FrontMatterYaml, first, message, "move the text into the body");
        return loose(inner, first);
    }
    match serde_yaml::from_str::<Value>(inner) {
        Ok(value) => of_value(&value, inner, first),
        Err(error) => {
            let message = error.to_string();
            let what = message.split(" at line ").next().unwrap_or(&message);
            let line = error.location().map_or(0, |place| place.line() as u32 - 1);
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

/// The line, from 0, where a key that an error calls duplicate stands for the second time.
fn repeated_key(inner: &str, what: &str) -> Option<u32> {
    let key = what.strip_prefix("duplicate entry with key \"")?.strip_suffix('"')?;
    let mut lines = inner.lines().enumerate().filter(|(_, line)| line.starts_with(key));
    lines.nth(1).map(|(i, _)| i as u32)
}

/// Reads a YAML file that stands beside a document.
pub(super) fn sidecar(bytes: &[u8], notes: &mut Vec<Note>) -> Vec<Field> {
    let text = String::from_utf8_lossy(bytes);
    let readable = bytes.len() <= MAX_BYTES && !is_deep(&text);
    let value = if readable { serde_yaml::from_str::<Value>(&text).ok() } else { None };
    match value {
        Some(value) => {
            let mut fields = of_value(&value, &text, 1);
            for field in &mut fields {
                field.line = 0;
            }
            fields
        }
        None => {
            let message = "the metadata file beside the document is not YAML".to_string();
            let code = Code::FrontMatterYaml;
            notes.push(Note { code, line: 0, column: 0, message, hint: None });
            Vec::new()
        }
    }
}

fn of_value(value: &Value, text: &str, first_line: u32) -> Vec<Field> {
    let mut fields = Vec::new();
    fields_of(value, text, first_line, &mut fields, 0);
    fields
}

/// The fields of a mapping, and of mappings in it: `relationships: {seeAlso: […]}`.
fn fields_of(value: &Value, text: &str, first_line: u32, fields: &mut Vec<Field>, depth: usize) {
    let Value::Mapping(mapping) = value else { return };
    for (key, value) in mapping {
        let Some(key) = scalar(key) else { continue };
        let mut items = Vec::new();
        flatten(value, &mut items, 0);
        let line = first_line + line_of_key(text, &key);
        fields.push(Field { key: field::normal_key(&key), items, line, front: true });
        if depth < 2 {
            fields_of(value, text, first_line, fields, depth + 1);
        }
    }
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

fn line_of_key(text: &str, key: &str) -> u32 {
    let found = text.lines().position(|line| {
        let line = line.trim_start().trim_start_matches(['"', '\'']);
        line.strip_prefix(key)
            .is_some_and(|rest| rest.trim_start_matches(['"', '\'']).trim_start().starts_with(':'))
    });
    found.unwrap_or(0) as u32
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

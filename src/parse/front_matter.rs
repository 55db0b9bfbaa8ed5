//! Reads header fields from front matter and from YAML sidecar files.

use std::collections::BTreeMap;

use serde_yaml::Value;

use super::LineIndex;
use super::header_fields::{Field, normal_key};
use super::limits::has_too_many_values;
use crate::guard::{Allowed, Clean, clean};
use crate::model::byte_scan::prefix;
use crate::model::plan::Limits;
use crate::model::yaml_depth::is_deep;
use crate::model::{Code, Note};

/// The position of the front matter in a text.
pub(super) struct FrontMatter {
    /// The text between the delimiters.
    inner: std::ops::Range<usize>,
    /// Offset of the body, after the closing delimiter.
    pub(super) end: usize,
    kind: FrontMatterKind,
}

impl FrontMatter {
    /// Returns the YAML between the delimiters; empty if there is none.
    pub(super) fn yaml<'a>(&self, text: &'a str) -> &'a str {
        match self.kind {
            FrontMatterKind::Yaml => &text[self.inner.clone()],
            _ => "",
        }
    }
}

enum FrontMatterKind {
    Absent,
    Yaml,
    Toml,
    Unterminated,
}

/// Finds the front matter of a text.
pub(super) fn find(text: &str) -> FrontMatter {
    let absent = |kind| FrontMatter { inner: 0..0, end: 0, kind };
    let (fence, kind) = match text {
        t if t.starts_with("---") => ("---", FrontMatterKind::Yaml),
        t if t.starts_with("+++") => ("+++", FrontMatterKind::Toml),
        _ => return unopened(text).unwrap_or_else(|| absent(FrontMatterKind::Absent)),
    };
    let Some(first_end) = memchr::memchr(b'\n', text.as_bytes()) else {
        return absent(FrontMatterKind::Absent);
    };
    if text[3..first_end].trim() != "" {
        return absent(FrontMatterKind::Absent);
    }
    let start = first_end + 1;
    // A delimiter followed by a blank line or a heading is a thematic break.
    let next = text[start..].lines().next().unwrap_or("");
    if next.trim().is_empty() || next.starts_with('#') && fence == "+++" {
        return absent(FrontMatterKind::Absent);
    }
    let mut at = start;
    for line in text[start..].split_inclusive('\n') {
        let bare = line.trim_end();
        if bare == fence || (bare == "..." && fence == "---") {
            return FrontMatter { inner: start..at, end: at + line.len(), kind };
        }
        at += line.len();
    }
    absent(if next.contains(':') { FrontMatterKind::Unterminated } else { FrontMatterKind::Absent })
}

/// A longer header without a delimiter above it is not looked for, in lines.
const MAX_UNOPENED: usize = 40;

/// Finds a header of lines `key = value` that has only a delimiter below it. Markdown would read it
/// as a heading.
fn unopened(text: &str) -> Option<FrontMatter> {
    let mut at = 0;
    for line in text.split_inclusive('\n').take(MAX_UNOPENED) {
        let bare = line.trim_end();
        if matches!(bare, "---" | "+++") && at > 0 {
            let kind = FrontMatterKind::Toml;
            return Some(FrontMatter { inner: 0..at, end: at + line.len(), kind });
        }
        if !bare.is_empty() && !is_assignment(bare) || at == 0 && bare.is_empty() {
            return None;
        }
        at += line.len();
    }
    None
}

/// Returns true for `key = "value"` with a value as in TOML.
fn is_assignment(line: &str) -> bool {
    let Some((key, value)) = line.split_once('=') else { return false };
    let (key, value) = (key.trim_end(), value.trim_start());
    let is_key = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let is_value = value.starts_with(['"', '\'', '[', '{'])
        || value.starts_with(|c: char| c.is_ascii_digit())
        || matches!(value, "true" | "false");
    !key.is_empty() && key.len() <= 40 && key.bytes().all(is_key) && is_value
}

/// Reads the fields of the front matter and reports invalid YAML.
pub(super) fn fields(
    text: &str,
    front_matter: &FrontMatter,
    lines: &LineIndex,
    limits: &Limits,
    notes: &mut Vec<Note>,
) -> Vec<Field> {
    let inner = &text[front_matter.inner.clone()];
    let mut note = |code, line, message: String, hint: &str| {
        let hint = Some(hint.to_string());
        notes.push(Note { code, line, column: 1, message, hint });
    };
    match front_matter.kind {
        FrontMatterKind::Absent => return Vec::new(),
        FrontMatterKind::Unterminated => {
            let hint = "close the front matter with a line `---`";
            note(Code::FrontMatterOpen, 1, "front matter never ends".to_string(), hint);
            let head: Vec<&str> = text.lines().skip(1).take(40).collect();
            let end = head.iter().position(|line| line.trim().is_empty()).unwrap_or(head.len());
            return key_value_lines(&head[..end].join("\n"), 2);
        }
        FrontMatterKind::Toml => {
            return key_value_lines(inner, lines.line(front_matter.inner.start));
        }
        FrontMatterKind::Yaml => {}
    }
    let first = lines.line(front_matter.inner.start);
    if let Some((code, message, hint)) = limit_exceeded(inner, limits) {
        note(code, first, message, &hint);
        return key_value_lines(within_limit(inner, limits), first);
    }
    match serde_yaml::from_str::<Value>(inner) {
        Ok(value) => fields_of_yaml(&value, inner, first),
        Err(error) => {
            let message = error.to_string();
            let reason = message.split(" at line ").next().unwrap_or(&message);
            let line = error.location().map_or(0, |location| editor_line(inner, location.line()));
            let (line, hint) = match repeated_key_line(inner, reason) {
                Some(line) => (line, "keep one of the two"),
                None => (line, "quote values that contain `: ` or begin with a special character"),
            };
            note(
                Code::FrontMatterYaml,
                first + line,
                format!("front matter is not YAML: {reason}"),
                hint,
            );
            key_value_lines(inner, first)
        }
    }
}

/// Converts a line number of the YAML parser, counted from 1, to the line that an editor shows,
/// counted from 0. YAML also ends lines at characters that are not line ends in an editor.
fn editor_line(inner: &str, line: usize) -> u32 {
    let breaks = |c: char| matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let ends = inner.matches(breaks).take(line.saturating_sub(1));
    ends.filter(|end| *end == "\n").count() as u32
}

/// Returns the line, counted from 0, of the second occurrence of a key that the YAML parser
/// reports as a duplicate.
fn repeated_key_line(inner: &str, reason: &str) -> Option<u32> {
    let key = reason.strip_prefix("duplicate entry with key \"")?.strip_suffix('"')?;
    let mut lines = inner.lines().enumerate().filter(|(_, line)| line.starts_with(key));
    lines.nth(1).map(|(i, _)| i as u32)
}

/// Returns the code, message and hint of the first limit that a YAML text exceeds.
fn limit_exceeded(yaml: &str, limits: &Limits) -> Option<(Code, String, String)> {
    let depth = usize::try_from(limits.yaml_depth).unwrap_or(usize::MAX);
    let (code, message, key) = if yaml.len() as u64 > limits.front_matter_bytes {
        let (n, limit) = (yaml.len(), limits.front_matter_bytes);
        let message = format!("metadata of {n} bytes is over the limit of {limit}");
        (Code::FrontMatterLarge, message, "front_matter_bytes")
    } else if is_deep(yaml, depth) {
        let message = format!("metadata nests deeper than the limit of {depth}");
        (Code::DeepYaml, message, "yaml_depth")
    } else if has_too_many_values(yaml, limits) {
        let limit = limits.yaml_values;
        let message = format!("aliases make the metadata larger than the limit of {limit} values");
        (Code::WideYaml, message, "yaml_values")
    } else {
        return None;
    };
    let message = format!("{message}; only lines of the form `key: value` are read");
    let hint = format!("move it into the body, or raise limits.{key} in .blue/config.yaml");
    Some((code, message, hint))
}

/// Returns the part of a YAML text that is within the limit on its bytes.
fn within_limit<'a>(text: &'a str, limits: &Limits) -> &'a str {
    let limit = usize::try_from(limits.front_matter_bytes).unwrap_or(usize::MAX);
    prefix(text, limit)
}

/// A YAML file beside a document.
#[derive(Default)]
pub(super) struct Sidecar {
    /// The line of each key in the file.
    pub(super) lines: BTreeMap<String, u32>,
    /// Findings at lines of the file.
    pub(super) notes: Vec<Note>,
}

/// Reads the fields of a YAML file beside a document.
pub(super) fn sidecar(bytes: &[u8], limits: &Limits, allowed: &Allowed) -> (Vec<Field>, Sidecar) {
    let text = String::from_utf8_lossy(bytes);
    let Clean { text, mut notes } = clean(&text, allowed);
    let mut note = |code, line: u32, message: String, hint| {
        notes.push(Note { code, line, column: line.min(1), message, hint });
    };
    let mut fields = match limit_exceeded(&text, limits) {
        Some((code, message, hint)) => {
            note(code, 1, message, Some(hint));
            key_value_lines(within_limit(&text, limits), 1)
        }
        None => match serde_yaml::from_str::<Value>(&text) {
            Ok(value) => fields_of_yaml(&value, &text, 1),
            Err(error) => {
                let message = "the metadata file is not YAML".to_string();
                let line = error.location().map_or(0, |location| location.line() as u32);
                note(Code::FrontMatterYaml, line, message, None);
                Vec::new()
            }
        },
    };
    let mut lines = BTreeMap::new();
    for field in &mut fields {
        lines.entry(field.key.clone()).or_insert(std::mem::take(&mut field.line));
        field.line = 0;
    }
    (fields, Sidecar { lines, notes })
}

fn fields_of_yaml(value: &Value, text: &str, first_line: u32) -> Vec<Field> {
    let mut fields = Vec::new();
    add_fields(value, &key_lines(text), first_line, &mut fields, 0);
    fields
}

/// Adds the fields of a mapping and of the mappings in it: `relationships: {seeAlso: […]}`.
fn add_fields(
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
        match value {
            // `status: {proposed: 2020-01-02, accepted: 2020-02-03}` has the words as keys.
            Value::Mapping(entries) if key.eq_ignore_ascii_case("status") => {
                items.extend(entries.iter().filter_map(|(key, value)| {
                    Some(format!("{} {}", scalar(key)?, scalar(value).unwrap_or_default()))
                }));
            }
            _ => flatten(value, &mut items, 0),
        }
        let line = lines.get(key.split(':').next().unwrap_or_default().trim_end());
        let line = first_line + line.copied().unwrap_or(0);
        fields.push(Field { key: normal_key(&key), items, line, outside_markdown: true });
        if depth < 2 {
            add_fields(value, lines, first_line, fields, depth + 1);
        }
    }
}

/// Maps each key to the first line that starts with it, counted from 0.
fn key_lines(text: &str) -> BTreeMap<&str, u32> {
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

/// Reads lines `key: value` and `key = value`, for front matter that is not valid YAML or is over
/// a limit.
fn key_value_lines(text: &str, first_line: u32) -> Vec<Field> {
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
        fields.push(Field { key: normal_key(key), items, line, outside_markdown: true });
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_may_lack_the_delimiter_above_it() {
        for (text, end) in [
            ("title = \"A\"\ntemplate = \"main\"\n---\n# B\n", 34),
            ("title = \"A\"\r\nweight = 3\r\n\r\n+++\r\nText.\r\n", 32),
            ("title = A\n---\n", 0),
            ("a == b\n---\n", 0),
            ("Text.\n---\n", 0),
            ("title = \"A\"\nText.\n---\n", 0),
            ("title = \"A\"\n", 0),
            ("\n---\n", 0),
            ("", 0),
        ] {
            assert_eq!(find(text).end, end, "{text}");
        }
        let text = "title = \"A\"\nstatus = \"draft\"\n---\n";
        let (limits, lines) = (Limits::default(), LineIndex::new(text));
        let read = fields(text, &find(text), &lines, &limits, &mut Vec::new());
        let read: Vec<(&str, &str, u32)> =
            read.iter().map(|f| (f.key.as_str(), f.items[0].as_str(), f.line)).collect();
        assert_eq!(read, [("title", "A", 1), ("status", "draft", 2)]);
    }
}

//! Reads YAML and JSON and records the line of every value, for messages.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser};
use serde_json::Value;

use crate::model::yaml_depth::{MAX_DEPTH, is_deep};

/// A value and the line of each of its parts, by JSON pointer.
pub struct LocatedYaml {
    /// The value.
    pub value: Value,
    lines: BTreeMap<String, u32>,
}

/// A YAML syntax error.
#[derive(Debug)]
pub struct YamlError {
    /// Line, from 1.
    pub line: u32,
    /// Description.
    pub message: String,
}

impl LocatedYaml {
    /// Parses YAML. Refuses duplicate keys and excessive aliases.
    pub fn yaml(text: &str) -> Result<LocatedYaml, YamlError> {
        if is_deep(text, MAX_DEPTH) {
            let message = format!("it nests deeper than {MAX_DEPTH}");
            return Err(YamlError { line: 1, message });
        }
        let (lines, repeated) = lines(text);
        let value: serde_yaml::Value =
            serde_yaml::from_str(text).map_err(|error| yaml_error(text, &error, repeated))?;
        let value = serde_json::to_value(value)
            .map_err(|error| YamlError { line: 1, message: error.to_string() })?;
        Ok(LocatedYaml { value, lines })
    }

    /// Returns the line of a value, or of the nearest value around it.
    pub fn line(&self, pointer: &str) -> u32 {
        let mut pointer = pointer;
        loop {
            if let Some(line) = self.lines.get(pointer) {
                return *line;
            }
            match pointer.rfind('/') {
                Some(at) => pointer = &pointer[..at],
                None => return 1,
            }
        }
    }
}

/// Converts an error. A duplicate key is reported at its second occurrence.
fn yaml_error(text: &str, error: &serde_yaml::Error, repeated: Option<u32>) -> YamlError {
    let message = error.to_string();
    // The library counts line ends that editors do not, so only its offset is used.
    let above = |index: usize| text.chars().take(index).filter(|c| *c == '\n').count() as u32;
    let line = error.location().map_or(1, |place| 1 + above(place.index()));
    let line = repeated.filter(|_| message.contains("duplicate")).unwrap_or(line);
    YamlError { line, message: message.split(" at line ").next().unwrap_or(&message).to_string() }
}

enum Frame {
    Mapping { pointer: String, key: Option<String> },
    Sequence { pointer: String, index: usize },
}

/// Returns the line of every key and item, and of the first duplicate key.
fn lines(text: &str) -> (BTreeMap<String, u32>, Option<u32>) {
    let mut lines = BTreeMap::new();
    let mut repeated = None;
    let mut stack: Vec<Frame> = Vec::new();
    let editor_lines = editor_lines(text);
    for event in Parser::new_from_str(text) {
        let Ok((event, span)) = event else { break };
        let line = span.start.line().checked_sub(1).and_then(|line| editor_lines.get(line));
        let line = line.copied().unwrap_or(1);
        match event {
            Event::Scalar(value, ..) => {
                if let Some(Frame::Mapping { pointer, key }) = stack.last_mut()
                    && key.is_none()
                {
                    let known = lines.insert(format!("{pointer}/{}", escaped(&value)), line);
                    repeated = repeated.or(known.map(|_| line));
                    *key = Some(value.into_owned());
                    continue;
                }
                advance(&mut stack, &mut lines, line);
            }
            Event::Alias(_) => {
                advance(&mut stack, &mut lines, line);
            }
            Event::MappingStart(..) => {
                let pointer = advance(&mut stack, &mut lines, line);
                stack.push(Frame::Mapping { pointer, key: None });
            }
            Event::SequenceStart(..) => {
                let pointer = advance(&mut stack, &mut lines, line);
                stack.push(Frame::Sequence { pointer, index: 0 });
            }
            Event::MappingEnd | Event::SequenceEnd => {
                stack.pop();
            }
            _ => {}
        }
    }
    (lines, repeated)
}

/// Maps YAML's line numbers to those of editors: in YAML, a lone CR ends a line too.
fn editor_lines(text: &str) -> Vec<u32> {
    let mut editor_lines = vec![1];
    let mut line = 1;
    let mut bytes = text.bytes().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\n' => line += 1,
            b'\r' if bytes.peek() != Some(&b'\n') => {}
            _ => continue,
        }
        editor_lines.push(line);
    }
    editor_lines
}

/// Advances the innermost frame by a value and returns the value's pointer.
fn advance(stack: &mut [Frame], lines: &mut BTreeMap<String, u32>, line: u32) -> String {
    match stack.last_mut() {
        None => String::new(),
        Some(Frame::Mapping { pointer, key }) => {
            format!("{pointer}/{}", escaped(&key.take().unwrap_or_default()))
        }
        Some(Frame::Sequence { pointer, index }) => {
            let pointer = format!("{pointer}/{index}");
            *index += 1;
            lines.insert(pointer.clone(), line);
            pointer
        }
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_has_its_line() {
        let located =
            LocatedYaml::yaml("a: 1\nb:\n  - x: 2\n    y: [3, 4]\n  - z\n").expect("it is YAML");
        for (pointer, line) in
            [("/a", 1), ("/b/0/x", 3), ("/b/0/y", 4), ("/b/0/y/1", 4), ("/b/1", 5), ("/b/9/q", 2)]
        {
            assert_eq!(located.line(pointer), line, "{pointer}");
        }
        let line = |text: &str| LocatedYaml::yaml(text).err().map(|error| error.line);
        assert_eq!(line("a: 1\na: 2\n"), Some(2));
        // Editors count three lines, the library counts five.
        let odd = line("a: 1\nb\u{2028}\u{85}: x\nc: {d: e: f}\n");
        assert!(odd.is_some_and(|line| line <= 3), "{odd:?}");
        let located = LocatedYaml::yaml("# a\r\r\rb: 1\r\nc: 2\n").expect("it is YAML");
        assert_eq!((located.line("/b"), located.line("/c")), (1, 2));
    }
}

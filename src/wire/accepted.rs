//! `.blue/accepted.jsonl`: findings that people reviewed and accepted, one per line.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::schema::{self, SchemaViolation};
use crate::model::escape::escape;
use crate::model::{Accepted, Code};

/// One accepted finding.
#[derive(Clone, Debug, Deserialize, JsonSchema, Serialize)]
#[serde(deny_unknown_fields)]
#[schemars(title = "line of accepted.jsonl")]
pub struct AcceptedLine {
    /// The document it was found in.
    pub path: String,
    /// The code, such as BLUE-REF-001.
    #[schemars(regex(pattern = r"^BLUE-[A-Z]+-[0-9]{3}$"))]
    pub code: String,
    /// The message, word for word.
    pub message: String,
    /// Number of occurrences in that document; default 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub count: u64,
    /// Why it is accepted.
    #[schemars(regex(pattern = r"\S"))]
    pub reason: String,
}

fn one() -> u64 {
    1
}

fn is_one(count: &u64) -> bool {
    *count == 1
}

/// Parses the file. An invalid line is an error, because it is unclear which finding it accepts.
pub fn read(text: &str) -> Result<Vec<Accepted>, Vec<SchemaViolation>> {
    let mut entries = Vec::new();
    let mut violations = Vec::new();
    for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let number = i as u32 + 1;
        let read = serde_json::from_str::<AcceptedLine>(line);
        if let Some(line) = read.as_ref().ok().filter(|line| line.is_valid()) {
            match refusal(line, number) {
                Some(violation) => violations.push(violation),
                None => entries.push(line.clone().entry(number)),
            }
            continue;
        }
        let before = violations.len();
        let wrong = schema::validate("accepted", line).into_iter();
        violations.extend(wrong.map(|violation| SchemaViolation { line: number, ..violation }));
        // A schema does not detect a duplicate key, or a number that is too large.
        if violations.len() == before {
            let message = read.err().map_or("it cannot be read".to_string(), |e| e.to_string());
            violations.push(SchemaViolation {
                line: number,
                path: "$".to_string(),
                message,
                hint: None,
            });
        }
    }
    if violations.is_empty() { Ok(entries) } else { Err(violations) }
}

/// Returns an error for a code that cannot be accepted.
fn refusal(line: &AcceptedLine, number: u32) -> Option<SchemaViolation> {
    let code = Code::parse(&line.code).filter(|code| !code.may_be_accepted())?;
    let (message, hint) = why_not(code);
    Some(SchemaViolation { line: number, path: "$.code".to_string(), message, hint: Some(hint) })
}

/// Returns the message and the hint for a code that cannot be accepted.
pub fn why_not(code: Code) -> (String, String) {
    let hint = match code.area() {
        "OUT" => "run `blue knowledge build` to update the emitted files",
        "CFG" => "run `blue knowledge lint --prune`",
        "LIM" => "raise the limit in .blue/config.yaml",
        _ => {
            "allow the one secret by its fingerprint, in security.allow_secrets of .blue/config.yaml"
        }
    };
    (format!("{code} cannot be accepted"), format!("{hint}; see `blue explain {code}`"))
}

/// Renders the file, sorted, so that a diff shows the added lines.
pub fn write(entries: &[Accepted]) -> String {
    let mut entries: Vec<&Accepted> = entries.iter().collect();
    entries.sort();
    let mut text = String::new();
    for entry in entries {
        let line = AcceptedLine {
            path: escape(&entry.path).into_owned(),
            code: entry.code.clone(),
            message: escape(&entry.message).into_owned(),
            count: entry.count,
            reason: escape(&entry.reason).into_owned(),
        };
        text.push_str(&serde_json::to_string(&line).expect("a line is JSON"));
        text.push('\n');
    }
    text
}

impl AcceptedLine {
    fn is_valid(&self) -> bool {
        let mut parts = self.code.split('-');
        let area = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_uppercase());
        let number = |part: &str| part.len() == 3 && part.bytes().all(|b| b.is_ascii_digit());
        let code = parts.next() == Some("BLUE")
            && parts.next().is_some_and(area)
            && parts.next().is_some_and(number)
            && parts.next().is_none();
        code && self.count > 0 && !self.reason.trim().is_empty()
    }

    fn entry(self, line: u32) -> Accepted {
        let AcceptedLine { path, code, message, count, reason } = self;
        Accepted { path, code, message, count, reason, line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(path: &str, message: &str) -> Accepted {
        Accepted {
            path: path.to_string(),
            code: "BLUE-REF-001".to_string(),
            message: message.to_string(),
            count: 1,
            reason: "known".to_string(),
            line: 0,
        }
    }

    #[test]
    fn written_lines_are_sorted_and_can_be_read() {
        let text = write(&[entry("b.md", "x\u{202E}"), entry("a.md", "y")]);
        assert_eq!(
            text,
            "{\"path\":\"a.md\",\"code\":\"BLUE-REF-001\",\"message\":\"y\",\"reason\":\"known\"}\n\
             {\"path\":\"b.md\",\"code\":\"BLUE-REF-001\",\"message\":\"x[U+202E]\",\"reason\":\"known\"}\n"
        );
        let lines: Vec<u32> = read(&text).expect("it is valid").iter().map(|e| e.line).collect();
        assert_eq!(lines, [1, 2]);
        assert_eq!(schema::validate("accepted", &text), []);
    }

    #[test]
    fn an_invalid_line_is_reported() {
        let good = write(&[entry("a.md", "y")]);
        for bad in [
            "<<<<<<< HEAD",
            "{\"path\":\"a.md\"}",
            "{\"path\":\"a\",\"code\":\"REF-1\",\"message\":\"m\",\"reason\":\"r\"}",
            "{\"path\":\"a\",\"code\":\"BLUE-REF-001\",\"message\":\"m\",\"reason\":\" \"}",
            "{\"path\":\"a\",\"code\":\"BLUE-REF-001\",\"message\":\"m\",\"count\":0,\"reason\":\"r\"}",
            "{\"path\":\"a\",\"code\":\"BLUE-OUT-002\",\"message\":\"stale\",\"reason\":\"r\"}",
        ] {
            let violations = read(&format!("{good}\n{bad}\n")).expect_err(bad);
            assert!(
                violations.iter().all(|violation| violation.line == 3),
                "{bad}: {violations:?}"
            );
            assert!(!violations.is_empty(), "{bad}");
        }
    }
}

//! Formats findings as a SARIF 2.1.0 log.

use serde_json::{Value, json};

use super::explain::page;
use super::report::with_count;
use crate::model::{Code, Diagnostic, Severity};

/// Returns the log of a run.
pub(super) fn log(diagnostics: &[Diagnostic], accepted: &[(Diagnostic, String)]) -> Value {
    let rules: Vec<Value> = Code::ALL
        .iter()
        .map(|code| {
            json!({
                "id": code.as_str(),
                "shortDescription": { "text": code.title() },
                "defaultConfiguration": { "level": level(code.severity()) },
                "help": { "text": format!("blue explain {code}"), "markdown": page(*code) },
            })
        })
        .collect();
    // Accepted findings are in the log as suppressed, with the reason.
    let suppressed = accepted.iter().map(|(diagnostic, reason)| {
        let mut result = result(diagnostic);
        result["suppressions"] =
            json!([{ "kind": "external", "status": "accepted", "justification": reason }]);
        result
    });
    let results: Vec<Value> = diagnostics.iter().map(result).chain(suppressed).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "blue",
                "version": env!("CARGO_PKG_VERSION"),
                "informationUri": env!("CARGO_PKG_REPOSITORY"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(diagnostic: &Diagnostic) -> Value {
    let message = match &diagnostic.hint {
        Some(hint) => format!("{}; hint: {hint}", with_count(diagnostic)),
        None => with_count(diagnostic),
    };
    // A finding about a whole file is shown at its first line.
    let location = json!({
        "artifactLocation": { "uri": encoded(&diagnostic.path), "uriBaseId": "%SRCROOT%" },
        "region": { "startLine": diagnostic.line.max(1), "startColumn": diagnostic.column.max(1) },
    });
    json!({
        "ruleId": diagnostic.code.as_str(),
        "ruleIndex": Code::ALL.iter().position(|code| *code == diagnostic.code),
        "level": level(diagnostic.severity),
        "message": { "text": message },
        "locations": [{ "physicalLocation": location }],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "note",
        Severity::Warning => "warning",
        Severity::Error => "error",
    }
}

/// Percent-encodes a path as a URI reference.
fn encoded(path: &str) -> String {
    let mut uri = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                uri.push(byte as char)
            }
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri
}

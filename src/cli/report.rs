//! Prints findings as text, JSON, GitHub workflow commands or SARIF.

use std::fmt::Write;

use serde::Serialize;

use super::{ReportFormat, output, sarif};
use crate::model::{Diagnostic, Severity};

/// Maximum number of bytes of text. Further findings are only counted.
const MAX_TEXT: usize = 64 * 1024;

/// The lowest severity that is printed as text. The other formats contain all findings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum MinSeverity {
    Info,
    Warning,
}

#[derive(Serialize)]
struct JsonReport<'a> {
    version: u32,
    diagnostics: Vec<JsonFinding<'a>>,
    accepted: Vec<JsonFinding<'a>>,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u32>,
    severity: &'a str,
    code: &'a str,
    message: &'a str,
    /// Number of places; absent for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    /// The reason why it was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// Writes findings in a format. Text goes to standard error, the others to standard output, where
/// they can be redirected to a file.
pub(super) fn report(
    format: ReportFormat,
    diagnostics: &[Diagnostic],
    accepted: &[(Diagnostic, String)],
    min_severity: MinSeverity,
) -> anyhow::Result<()> {
    match format {
        ReportFormat::Text => {
            let text = text(diagnostics, min_severity);
            if !text.is_empty() {
                output::say(text.trim_end());
            }
            Ok(())
        }
        ReportFormat::Json => output::out(&format!(
            "{}\n",
            serde_json::to_string_pretty(&json(diagnostics, accepted))?
        )),
        ReportFormat::Github => output::out(&github(diagnostics)),
        ReportFormat::Sarif => {
            let log = sarif::log(diagnostics, accepted);
            output::out(&format!("{}\n", serde_json::to_string_pretty(&log)?))
        }
    }
}

/// Formats findings for people, one per line with its hint below.
pub(super) fn text(diagnostics: &[Diagnostic], min_severity: MinSeverity) -> String {
    let mut text = String::new();
    let mut n_more = 0;
    let min_severity =
        if min_severity == MinSeverity::Info { Severity::Info } else { Severity::Warning };
    for diagnostic in diagnostics.iter().filter(|diagnostic| diagnostic.severity >= min_severity) {
        if text.len() > MAX_TEXT {
            n_more += 1;
            continue;
        }
        let colour = output::style(diagnostic.severity);
        let place = match diagnostic.line {
            0 => String::new(),
            line => format!(":{line}:{}", diagnostic.column),
        };
        let word = diagnostic.severity.as_str();
        let (path, message) = (output::visible(&diagnostic.path), with_count(diagnostic));
        let message = output::visible(&message);
        writeln!(text, "{path}{place}: {colour}{word}{colour:#}: {message} [{}]", diagnostic.code)
            .expect("writing to a string never fails");
        if let Some(hint) = &diagnostic.hint {
            writeln!(text, "  hint: {}", output::visible(hint))
                .expect("writing to a string never fails");
        }
    }
    if n_more > 0 {
        writeln!(text, "… and {n_more} more; `--format json` has them all")
            .expect("writing to a string never fails");
    }
    text
}

fn json<'a>(diagnostics: &'a [Diagnostic], accepted: &'a [(Diagnostic, String)]) -> JsonReport<'a> {
    let accepted =
        accepted.iter().map(|(diagnostic, reason)| json_finding(diagnostic, Some(reason)));
    JsonReport {
        version: 1,
        diagnostics: diagnostics.iter().map(|diagnostic| json_finding(diagnostic, None)).collect(),
        accepted: accepted.collect(),
    }
}

fn json_finding<'a>(diagnostic: &'a Diagnostic, reason: Option<&'a String>) -> JsonFinding<'a> {
    let line = (diagnostic.line > 0).then_some(diagnostic.line);
    JsonFinding {
        path: &diagnostic.path,
        line,
        column: line.map(|_| diagnostic.column),
        severity: diagnostic.severity.as_str(),
        code: diagnostic.code.as_str(),
        message: &diagnostic.message,
        count: (diagnostic.count > 1).then_some(diagnostic.count),
        hint: diagnostic.hint.as_deref(),
        reason: reason.map(String::as_str),
    }
}

/// Returns the message with the number of places, if there are several.
pub(super) fn with_count(diagnostic: &Diagnostic) -> String {
    match diagnostic.count {
        1 => diagnostic.message.clone(),
        n => format!("{} ({n} times)", diagnostic.message),
    }
}

fn github(diagnostics: &[Diagnostic]) -> String {
    let data = |text: &str| text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A");
    let property = |text: &str| data(text).replace(':', "%3A").replace(',', "%2C");
    let mut text = String::new();
    for diagnostic in diagnostics {
        let command = match diagnostic.severity {
            Severity::Info => "notice",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let place = match diagnostic.line {
            0 => String::new(),
            line => format!(",line={line},col={}", diagnostic.column),
        };
        let hint = diagnostic.hint.as_ref().map_or(String::new(), |hint| format!("\nhint: {hint}"));
        let message = data(&format!("{}{hint}", with_count(diagnostic)));
        writeln!(
            text,
            "::{command} file={}{place},title={}::{message}",
            property(&diagnostic.path),
            diagnostic.code
        )
        .expect("writing to a string never fails");
    }
    text
}

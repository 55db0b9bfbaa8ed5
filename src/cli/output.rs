//! Writes to standard output and standard error, with control characters escaped.

use std::io::Write;

use anstyle::{AnsiColor, Style};
use clap::ValueEnum;

use crate::model::Severity;
pub(super) use crate::model::hidden_chars::visible;

/// Output format of a command.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, ValueEnum)]
pub(super) enum OutputFormat {
    /// Text for people
    #[default]
    Text,
    /// JSON for programs
    Json,
}

/// Writes to standard output.
pub(super) fn out(text: &str) -> anyhow::Result<()> {
    let mut stdout = anstream::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()?;
    Ok(())
}

/// Writes bytes to standard output unchanged.
pub(super) fn copy(bytes: &[u8]) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()?;
    Ok(())
}

/// Writes a line to standard error. A failure cannot be reported anywhere.
pub(super) fn say(text: &str) {
    writeln!(anstream::stderr().lock(), "{text}").ok();
}

/// Prints the process that a command waits for.
pub(super) fn wait_for(process: &str) {
    say(&format!("blue: waiting for {process}"));
}

/// Writes an error with its hints to standard error.
pub(super) fn error(message: &str) {
    let red = style(Severity::Error);
    // Errors repeat arguments and settings, which may contain a secret.
    let message = crate::guard::redacted(message);
    let mut lines = message.lines();
    say(&format!("blue: {red}error{red:#}: {}", visible(lines.next().unwrap_or_default())));
    for line in lines {
        say(&format!("  {}", visible(line)));
    }
}

/// Returns the colour of a severity.
pub(super) fn style(severity: Severity) -> Style {
    let colour = match severity {
        Severity::Info => AnsiColor::Cyan,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Error => AnsiColor::Red,
    };
    colour.on_default().bold()
}

/// Redacts secrets and escapes hidden characters, for a text that no build redacted.
pub(super) fn shown(text: &str) -> String {
    visible(&crate::guard::redacted(text))
}

/// Formats several lines like [`shown`].
pub(super) fn shown_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", shown(line))).collect()
}

//! `blue schema`.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Args, Subcommand};

use super::{Exit, output};
use crate::wire::schema;

/// The subcommands of `blue schema`.
#[derive(Debug, Subcommand)]
pub(super) enum SchemaCommand {
    /// Print a schema
    #[command(after_help = "Example:\n  blue schema print config > config.schema.json")]
    Print(PrintArgs),
    /// Check files against their schemas; each error names file, line and JSON path
    #[command(
        after_help = "Examples:\n  blue schema validate .blue/config.yaml .blue/context.manifest.yaml\n  blue schema validate --schema documents copy.jsonl\n\nExit codes: 0 valid, 1 not valid, 2 could not read."
    )]
    Validate(ValidateArgs),
}

/// The flags of `blue schema print`.
#[derive(Args, Debug)]
pub(super) struct PrintArgs {
    /// Name of the schema
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(schema::NAMES))]
    name: String,
}

/// The flags of `blue schema validate`.
#[derive(Args, Debug)]
pub(super) struct ValidateArgs {
    /// Files to check
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Use this schema [default: by the name of the file]
    #[arg(long, value_parser = clap::builder::PossibleValuesParser::new(schema::NAMES))]
    schema: Option<String>,
}

impl SchemaCommand {
    pub(super) fn run(&self) -> anyhow::Result<Exit> {
        match self {
            SchemaCommand::Print(print) => {
                output::out(&schema::text(&print.name).context("no such schema")?)?;
                Ok(Exit::Done)
            }
            SchemaCommand::Validate(validate) => validate.run(),
        }
    }
}

impl ValidateArgs {
    fn run(&self) -> anyhow::Result<Exit> {
        let mut valid = true;
        for file in &self.files {
            let shown = output::visible(&file.display().to_string());
            let name = self.schema.as_deref().or_else(|| schema::name_for(&shown));
            let name = name.with_context(|| {
                format!(
                    "{shown}: no schema for a file of this name\nhint: choose one with --schema"
                )
            })?;
            let bytes = std::fs::read(file).with_context(|| format!("read {shown}"))?;
            let text =
                String::from_utf8(bytes).with_context(|| format!("read {shown}: not UTF-8"))?;
            let findings = schema::validate(name, &text);
            for finding in &findings {
                output::say(&format!(
                    "{shown}:{}: {} at {}",
                    finding.line,
                    output::shown(&finding.message),
                    output::shown(&finding.path)
                ));
                if let Some(hint) = &finding.hint {
                    output::say(&format!("  hint: {}", output::shown(hint)));
                }
            }
            valid &= findings.is_empty();
            if findings.is_empty() {
                output::out(&format!("{shown}: valid ({name})\n"))?;
            }
        }
        Ok(if valid { Exit::Done } else { Exit::FoundSomething })
    }
}

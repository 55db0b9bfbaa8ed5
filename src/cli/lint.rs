//! `blue knowledge lint`.

use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::progress::Bar;
use super::{Exit, ReportFormat, output, project, report};
use crate::beneath::Root;
use crate::build::{self, Analysis, Options};
use crate::model::{Record, Severity};

/// The flags of `blue knowledge lint`.
#[derive(Args, Debug)]
pub(super) struct Lint {
    /// How findings are written.
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
}

impl Lint {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let folder = project::find(directory)?;
        let root = Root::open(&folder).with_context(|| format!("open {}", folder.display()))?;
        let analysis = look(&root)?;
        let mut notes = analysis.notes;
        notes.sort();
        if self.format == ReportFormat::Text {
            output::out(&report::text(&notes, report::Least::Info))?;
        } else {
            report::report(self.format, &notes, report::Least::Info)?;
        }
        let count = |severity| notes.iter().filter(|note| note.severity() == severity).count();
        let (errors, warnings, infos) =
            (count(Severity::Error), count(Severity::Warning), count(Severity::Info));
        let n_documents = analysis.graph.documents.len();
        output::say(&format!(
            "blue: {n_documents} documents; {errors} errors, {warnings} warnings, {infos} notes"
        ));
        Ok(if errors + warnings > 0 { Exit::FoundSomething } else { Exit::Done })
    }
}

/// Everything there is to know of a project without writing anything.
pub(super) fn look(root: &Root) -> anyhow::Result<Analysis> {
    let bar = Bar::new();
    let options = Options {
        check: true,
        force: false,
        explain: false,
        source_date_epoch: None,
        waiting: &|_| {},
        progress: &bar,
    };
    build::analyse(root, &build::load(root)?, &Record::default(), &options)
}

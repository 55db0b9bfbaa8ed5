//! `blue knowledge lint`.

use std::path::Path;

use clap::Args;

use super::document_changes::{ChangeFlags, Changer};
use super::progress::Bar;
use super::report::MinSeverity;
use super::{Exit, ReportFormat, accept, output, project, report};
use crate::build::{self, Inputs, Survey};
use crate::lifecycle;
use crate::model::Code;
use crate::model::plural::counted;
use crate::root::Root;

/// The flags of `blue knowledge lint`.
#[derive(Args, Debug)]
pub(super) struct LintArgs {
    /// Output format of findings
    #[arg(long, value_enum, default_value_t)]
    format: ReportFormat,
    /// Accept all warnings and errors, or those with these codes or paths
    #[arg(long, value_name = "CODE|PATH", num_args = 0.., requires = "reason")]
    accept: Option<Vec<String>>,
    /// Reason for accepting the findings
    #[arg(long, value_name = "TEXT", requires = "accept")]
    reason: Option<String>,
    /// List every place of findings that repeat
    #[arg(long)]
    each: bool,
    /// Remove accepted findings that no longer occur
    #[arg(long)]
    prune: bool,
    /// Correct the findings of a code; BLUE-REF-003 (links to renamed documents) can be corrected
    #[arg(long, value_name = "CODE", conflicts_with_all = ["accept", "prune"])]
    fix: Option<String>,
    /// With --fix: print what would change; write nothing
    #[arg(long, requires = "fix")]
    dry_run: bool,
}

impl LintArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        if let Some(code) = &self.fix {
            return self.fix(directory, code);
        }
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let lock = match self.prune || self.accept.is_some() {
            true => Some(accept::lock(&root)?),
            false => None,
        };
        let (mut survey, inputs) = survey(&root)?;
        build::judge_responsibilities(&inputs, &mut survey)?;
        let mut policy = inputs.policy;
        if self.prune {
            accept::prune(&root, &mut policy, &survey.notes)?;
        }
        if let (Some(selectors), Some(reason)) = (&self.accept, &self.reason) {
            accept::accept(&root, &mut policy, survey.notes.clone(), selectors, reason)?;
        }
        drop(lock);
        let reviewed = match self.each {
            true => policy.review_each(survey.notes),
            false => policy.review(survey.notes),
        };
        if self.format == ReportFormat::Text {
            output::out(&report::text(&reviewed.shown, MinSeverity::Info))?;
        } else {
            let (shown, accepted) = (&reviewed.shown, &reviewed.accepted);
            report::report(self.format, shown, accepted, MinSeverity::Info)?;
        }
        let counts = reviewed.counts();
        let accepted = match counts.accepted {
            0 => String::new(),
            n => format!(", {n} accepted"),
        };
        output::say(&format!(
            "blue: {}; {}, {}, {}{accepted}",
            counted(survey.graph.documents.len(), "document"),
            counted(counts.errors, "error"),
            counted(counts.warnings, "warning"),
            counted(counts.infos, "note"),
        ));
        Ok(if counts.errors + counts.warnings > 0 { Exit::FoundSomething } else { Exit::Done })
    }
}

impl LintArgs {
    /// Rewrites all links to renamed documents.
    fn fix(&self, directory: &Path, code: &str) -> anyhow::Result<Exit> {
        anyhow::ensure!(
            Code::parse(code) == Some(Code::Renamed),
            "blue cannot correct {code}\nhint: --fix {}",
            Code::Renamed.as_str()
        );
        let flags = ChangeFlags { dry_run: self.dry_run, ..ChangeFlags::default() };
        let changer = Changer::open(directory, &flags)?;
        let planned = lifecycle::mend_links(&changer.root, &changer.set)?;
        changer.apply(Code::Renamed.title(), None, planned)
    }
}

/// Reads the documents of a project and finds problems. Writes nothing.
pub(super) fn survey(root: &Root) -> anyhow::Result<(Survey, Inputs)> {
    let inputs = build::load(root)?;
    Ok((build::survey(root, &inputs, &Bar::new())?, inputs))
}

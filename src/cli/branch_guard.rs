//! `blue branch-guard`: decides whether files may be changed on the current branch.

use std::path::{Path, PathBuf};

use clap::Args;

use super::open::record;
use super::{Exit, for_path, output, project};
use crate::build;
use crate::discover::{git, git_names};
use crate::lifecycle::{EditGuard, Verdict};
use crate::root::Root;
use crate::wire::audit::AuditLine;

/// The flags of `blue branch-guard`.
#[derive(Args, Debug)]
#[group(id = "files", required = true, multiple = false, args = ["staged", "path"])]
pub(super) struct BranchGuardArgs {
    /// Check the files of the commit that is being made
    #[arg(long)]
    staged: bool,
    /// Check one file
    #[arg(long, value_name = "PATH")]
    path: Option<PathBuf>,
}

/// Name of the variable that lets a person through.
const SWITCH: &str = "BLUE_GUARD";

impl BranchGuardArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        // A guard that cannot decide must not be in the way.
        let Ok(root) = project::find(directory).and_then(|folder| project::open(&folder)) else {
            return Ok(Exit::Done);
        };
        let paths = match &self.path {
            Some(path) => for_path::path_below_root(&root, directory, path).into_iter().collect(),
            None => git_names::staged(root.path(), std::env::var_os("GIT_INDEX_FILE")),
        };
        let mut is_refused = false;
        for (path, verdict) in judge(&root, &paths) {
            match verdict {
                Verdict::Allowed => {}
                Verdict::Warned(reason) => {
                    output::say(&format!("blue: warning: {}", one_line(&reason)))
                }
                Verdict::Refused(reason) => {
                    is_refused |= !note(&root, &path, "");
                    output::say(&format!("blue: refused: {}", one_line(&reason)));
                }
            }
        }
        Ok(if is_refused { Exit::FoundSomething } else { Exit::Done })
    }
}

/// Returns the decision about each path that is not allowed without a word.
pub(super) fn judge(root: &Root, paths: &[String]) -> Vec<(String, Verdict)> {
    let branch = git::branch(root.path());
    let plan = build::plan(root);
    let Some(guard) = EditGuard::open(root, &plan, branch.as_deref()) else { return Vec::new() };
    let judged = paths.iter().map(|path| (path.clone(), guard.judge(path)));
    judged.filter(|(_, verdict)| *verdict != Verdict::Allowed).collect()
}

/// Returns the reason why a command of blue must not change a file on this branch.
pub(super) fn refusal(root: &Root, path: &str) -> Option<String> {
    let judged = judge(root, &[path.to_string()]).into_iter();
    let refused = judged.filter_map(|(_, verdict)| match verdict {
        Verdict::Refused(reason) => Some(reason),
        _ => None,
    });
    refused.into_iter().find(|_| !note(root, path, ""))
}

/// Records a refusal in the audit log, or that a person turned it off. Returns true in that case.
pub(super) fn note(root: &Root, path: &str, session: &str) -> bool {
    let is_off = std::env::var_os(SWITCH).is_some_and(|value| value == "off");
    let source = if is_off { "blue://guard/bypassed" } else { "blue://guard/refused" };
    let line = AuditLine {
        source: source.to_string(),
        artifact: crate::guard::redacted(path),
        ..AuditLine::default()
    };
    // Without a log, the decision is the same.
    record(root, line, session, "guard").ok();
    is_off
}

/// Joins reason and hint.
fn one_line(reason: &str) -> String {
    output::shown(&reason.replace("\nhint: ", "; "))
}

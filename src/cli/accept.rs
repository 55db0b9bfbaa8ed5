//! `blue knowledge lint --accept` and `--prune`.

use super::{explain, output};
use crate::emit;
use crate::guard::redacted;
use crate::model::layout::ACCEPTED;
use crate::model::plural::counted;
use crate::model::{Code, Diagnostic, Policy, Severity};
use crate::root::Root;
use crate::wire::accepted;

/// Takes the lock for changing `.blue/accepted.jsonl`.
pub(super) fn lock(root: &Root) -> anyhow::Result<emit::Lock> {
    emit::Lock::take(root, "knowledge lint", &output::wait_for)
}

/// Removes accepted findings that no longer occur.
pub(super) fn prune(
    root: &Root,
    policy: &mut Policy,
    findings: &[Diagnostic],
) -> anyhow::Result<()> {
    let n_gone = policy.prune(findings);
    if n_gone > 0 {
        write(root, policy)?;
    }
    output::say(&format!("blue: removed {} from {ACCEPTED}", counted(n_gone, "entry")));
    Ok(())
}

/// Accepts the selected findings.
pub(super) fn accept(
    root: &Root,
    policy: &mut Policy,
    findings: Vec<Diagnostic>,
    selectors: &[String],
    reason: &str,
) -> anyhow::Result<()> {
    anyhow::ensure!(
        !reason.trim().is_empty(),
        "the reason is empty\nhint: --reason \"why the finding is accepted\""
    );
    let selection = Selection::parse(selectors)?;
    // A path selects places, and a merged finding has only the first of its places.
    let found = match selection.paths.is_empty() {
        true => policy.review(findings).shown,
        false => policy.review_each(findings).shown,
    };
    if let Some(selector) = selection.find_unmatched(&found) {
        anyhow::bail!(
            "nothing to accept: no finding matches {selector:?}\nhint: `blue knowledge lint` lists them; name a code, a file, a folder or file:line"
        );
    }
    let chosen: Vec<&Diagnostic> = found.iter().filter(|found| selection.matches(found)).collect();
    if !chosen.is_empty() {
        // The reason is committed, so a secret in it is redacted.
        policy.accept(chosen.iter().copied(), &redacted(reason.trim()));
        write(root, policy)?;
    }
    output::say(&format!("blue: accepted {} in {ACCEPTED}", counted(chosen.len(), "finding")));
    Ok(())
}

fn write(root: &Root, policy: &Policy) -> anyhow::Result<()> {
    match policy.accepted.is_empty() {
        true => emit::discard(root, ACCEPTED),
        false => emit::replace(root, ACCEPTED, accepted::write(&policy.accepted).as_bytes()),
    }
}

/// Selects findings by code and path. An empty list selects all.
struct Selection {
    codes: Vec<Code>,
    paths: Vec<PathSelector>,
}

/// A file or a folder, or one line of a file.
struct PathSelector {
    path: String,
    line: Option<u32>,
}

impl Selection {
    fn parse(selectors: &[String]) -> anyhow::Result<Selection> {
        let mut selection = Selection { codes: Vec::new(), paths: Vec::new() };
        for selector in selectors {
            if let Some(code) = Code::parse(selector) {
                if !code.may_be_accepted() {
                    let (message, hint) = accepted::why_not(code);
                    anyhow::bail!("{message}\nhint: {hint}");
                }
                selection.codes.push(code);
            } else if explain::looks_like_code(selector) {
                return Err(explain::unknown_code(selector));
            } else {
                selection.paths.push(PathSelector::parse(selector));
            }
        }
        Ok(selection)
    }

    fn matches(&self, finding: &Diagnostic) -> bool {
        // Notes do not fail a run, so they are accepted only if their code is named.
        let code_matches = match self.codes.is_empty() {
            true => finding.severity >= Severity::Warning,
            false => self.codes.contains(&finding.code),
        };
        let path_matches = self.paths.is_empty() || self.paths.iter().any(|p| p.matches(finding));
        finding.code.may_be_accepted() && code_matches && path_matches
    }

    /// Returns the first selector that matches no finding, as text.
    fn find_unmatched(&self, findings: &[Diagnostic]) -> Option<String> {
        let any = |matches: &dyn Fn(&Diagnostic) -> bool| {
            findings.iter().any(|finding| finding.code.may_be_accepted() && matches(finding))
        };
        let code = self.codes.iter().find(|code| !any(&|finding| finding.code == **code));
        let path = self.paths.iter().find(|path| !any(&|finding| path.matches(finding)));
        code.map(ToString::to_string).or_else(|| path.map(|path| path.path.clone()))
    }
}

impl PathSelector {
    fn parse(text: &str) -> PathSelector {
        let bare = |path: &str| path.trim_start_matches("./").trim_end_matches('/').to_string();
        let line = text.rsplit_once(':').and_then(|(path, line)| Some((path, line.parse().ok()?)));
        match line {
            Some((path, line)) => PathSelector { path: bare(path), line: Some(line) },
            None => PathSelector { path: bare(text), line: None },
        }
    }

    fn matches(&self, finding: &Diagnostic) -> bool {
        let rest = finding.path.strip_prefix(&self.path);
        let is_inside = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        (is_inside || matches!(self.path.as_str(), "" | "."))
            && self.line.is_none_or(|line| line == finding.line)
    }
}

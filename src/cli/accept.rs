//! `blue knowledge lint --accept` and `--prune`: the accepted findings.

use super::{explain, output};
use crate::emit;
use crate::guard::shown;
use crate::model::layout::ACCEPTED;
use crate::model::plural::counted;
use crate::model::{Code, Diagnostic, Policy, Severity};
use crate::root::Root;
use crate::wire::accepted;

/// Takes the lock that every writer of the file holds.
pub(super) fn lock(root: &Root) -> anyhow::Result<emit::Lock> {
    emit::Lock::take(root, "knowledge lint", &output::wait_for)
}

/// Removes accepted findings that are gone.
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
        "a finding is accepted for a reason\nhint: --reason \"why it may stay\""
    );
    let selection = Selection::parse(selectors)?;
    let found = policy.review(findings).shown;
    for (selector, chosen) in selection.each() {
        anyhow::ensure!(
            found.iter().any(|finding| finding.code.may_be_accepted() && chosen(finding)),
            "nothing to accept: no finding is in {selector:?}\nhint: `blue knowledge lint` lists them; name a code, a file, a folder or file:line"
        );
    }
    let chosen: Vec<&Diagnostic> = found.iter().filter(|found| selection.takes(found)).collect();
    if !chosen.is_empty() {
        // The reason is committed, so a secret in it is redacted.
        policy.accept(chosen.iter().copied(), &shown(reason.trim()));
        write(root, policy)?;
    }
    output::say(&format!("blue: accepted {} in {ACCEPTED}", counted(chosen.len(), "finding")));
    Ok(())
}

fn write(root: &Root, policy: &Policy) -> anyhow::Result<()> {
    match policy.accepted.is_empty() {
        true => emit::discard(root, ACCEPTED),
        false => emit::replace(root, ACCEPTED, accepted::write(&policy.accepted).as_bytes(), false),
    }
}

/// Selects findings that have one of the codes, if any are given, and are below one of the paths, if
/// any are given.
struct Selection {
    codes: Vec<Code>,
    places: Vec<PathSelector>,
}

/// A file or a folder, or one line of a file.
struct PathSelector {
    path: String,
    line: Option<u32>,
}

type Matcher<'a> = Box<dyn Fn(&Diagnostic) -> bool + 'a>;

impl Selection {
    fn parse(selectors: &[String]) -> anyhow::Result<Selection> {
        let mut selection = Selection { codes: Vec::new(), places: Vec::new() };
        for selector in selectors {
            if let Some(code) = Code::parse(selector) {
                if !code.may_be_accepted() {
                    let (message, hint) = accepted::why_not(code);
                    anyhow::bail!("{message}\nhint: {hint}");
                }
                selection.codes.push(code);
            } else if explain::looks_like_code(selector) {
                return Err(explain::unknown(selector));
            } else {
                selection.places.push(PathSelector::parse(selector));
            }
        }
        Ok(selection)
    }

    fn takes(&self, finding: &Diagnostic) -> bool {
        // Notes fail nothing, so they are accepted only where their code is named.
        let coded = match self.codes.is_empty() {
            true => finding.severity() >= Severity::Warning,
            false => self.codes.contains(&finding.code),
        };
        let placed = self.places.is_empty() || self.places.iter().any(|place| place.holds(finding));
        finding.code.may_be_accepted() && coded && placed
    }

    /// Each selector as text, with a function that matches its findings.
    fn each(&self) -> Vec<(String, Matcher<'_>)> {
        let code = |code: &Code| {
            let code = *code;
            let chosen: Matcher<'_> = Box::new(move |finding| finding.code == code);
            (code.to_string(), chosen)
        };
        fn place(place: &PathSelector) -> (String, Matcher<'_>) {
            (place.path.clone(), Box::new(|finding| place.holds(finding)))
        }
        self.codes.iter().map(code).chain(self.places.iter().map(place)).collect()
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

    fn holds(&self, finding: &Diagnostic) -> bool {
        let below = finding.path.strip_prefix(&self.path);
        let inside = below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        (inside || matches!(self.path.as_str(), "" | "."))
            && self.line.is_none_or(|line| line == finding.line)
    }
}

//! Drafts of a responsibility's files: texts within their budgets, judged by the hygiene gates.

use std::collections::BTreeSet;

use rayon::prelude::*;

use super::Role;
use crate::build::Inputs;
use crate::condense::Fitted;
use crate::model::layout::{AI_CONTEXT, RESPONSIBILITIES};
use crate::model::plan::HOOK_BYTES;
use crate::model::{Budget, Code, Diagnostic};
use crate::responsibility::Container;
use crate::responsibility::bundle::CoreFile;
use crate::responsibility::compose::{LineSection, LinkForm, compose};
use crate::responsibility::gates::{self, GateFinding, Volume};
use crate::responsibility::registry::Lifecycle;

/// The files of one responsibility before they are published.
pub struct Draft {
    /// The text of each file, without front matter.
    pub texts: Vec<(CoreFile, Fitted)>,
    /// The size of its context.
    pub volume: Volume,
    /// Findings of the gates.
    pub findings: Vec<GateFinding>,
    /// Tokens of the guardrails with their frame, and the budget, if they do not fit.
    pub oversized: Option<(u64, u64)>,
}

/// A responsibility with its draft; `None` if it is not active or its state is broken.
pub(in crate::build) struct DraftedRole {
    pub(in crate::build) role: Role,
    pub(in crate::build) draft: Option<Draft>,
}

impl Draft {
    /// Returns true if nothing of it may be published.
    pub fn is_held(&self) -> bool {
        self.oversized.is_some() || self.findings.iter().any(|finding| finding.holds.is_some())
    }

    /// Returns the findings about a container.
    pub fn notes(&self, container: &Container) -> Vec<Diagnostic> {
        let id = &container.id;
        let mut notes = Vec::new();
        if let Some((tokens, max)) = self.oversized {
            let message = format!(
                "{id} is not published: its guardrails alone take {tokens} tokens, at most {max}"
            );
            let note = Diagnostic::new(Code::RoleHeld, &container.path("guardrails.md"), message);
            notes.push(note.hint("shorten the clauses; they are never cut"));
        }
        for finding in &self.findings {
            let path = container.path(AI_CONTEXT);
            notes.push(match finding.holds {
                None => Diagnostic::new(Code::RoleHygiene, &path, finding.message.clone())
                    .hint("consolidate files that say the same"),
                Some(gate) => {
                    let message = format!("{id} is not published: {}", finding.message);
                    let hint = format!(
                        "consolidate, or run `blue responsibility override {id} --gate {} --reason <TEXT> --as <STEWARD>`",
                        gate.as_str()
                    );
                    Diagnostic::new(Code::RoleHeld, &path, message).hint(hint)
                }
            });
        }
        notes
    }
}

/// Drafts all active responsibilities and reports what the gates found.
pub(in crate::build) fn draft_all(
    inputs: &Inputs,
    roles: Vec<Role>,
    notes: &mut Vec<Diagnostic>,
) -> Vec<DraftedRole> {
    let drafted = |role: Role| {
        let is_drafted = role.container.lifecycle == Lifecycle::Active && !role.is_state_broken;
        let draft = is_drafted.then(|| draft(&role, inputs));
        DraftedRole { role, draft }
    };
    let drafted: Vec<DraftedRole> = roles.into_par_iter().map(drafted).collect();
    for DraftedRole { role, draft } in &drafted {
        notes.extend(draft.iter().flat_map(|draft| draft.notes(&role.container)));
    }
    drafted
}

/// Returns the folder of a responsibility's files: in its container if blue may write there.
pub(in crate::build) fn folder_of_files(container: &Container, inputs: &Inputs) -> String {
    match inputs.plan.responsibilities.context_worker {
        Some(_) => container.path(AI_CONTEXT),
        None => format!("{RESPONSIBILITIES}/{}", container.id),
    }
}

fn link_form(container: &Container, inputs: &Inputs) -> LinkForm {
    LinkForm::Relative(match inputs.plan.responsibilities.context_worker {
        Some(_) => "../".to_string(),
        None => format!("../../../../{}", container.path("")),
    })
}

/// Maximum bytes of a file. The tokens limit it first.
const MAX_BYTES: u64 = 40_000;

/// Drafts the files of a responsibility.
pub fn draft(role: &Role, inputs: &Inputs) -> Draft {
    let container = &role.container;
    let plan = &inputs.plan.responsibilities;
    let form = link_form(container, inputs);
    let mut linked: BTreeSet<String> = BTreeSet::new();
    let mut texts = Vec::new();
    let mut oversized = None;
    for file in CoreFile::ALL {
        let sections = file.sections(container, plan.n_recent as usize);
        let budget = Budget::new(file.max_tokens(), plan.margin_percent, MAX_BYTES);
        let title = file.title(&container.id);
        let wrap = |text: &str| match text.starts_with('\n') {
            true => format!("# {title}\n{text}"),
            false => format!("# {title}\n\n{text}"),
        };
        match compose(&sections, &form, &budget, &wrap) {
            Ok(composed) => {
                linked.extend(composed.links);
                texts.push((file, composed.fitted));
            }
            Err(fitted) => oversized = Some((fitted.tokens, budget.tokens)),
        }
    }
    let mut published: Vec<(String, String)> =
        texts.iter().map(|(file, fitted)| (file.name().to_string(), fitted.text.clone())).collect();
    for (path, file) in container.in_folder(AI_CONTEXT) {
        let name = path.trim_start_matches("ai_context/");
        if CoreFile::ALL.iter().all(|core| core.name() != name) {
            published.push((name.to_string(), file.body.clone()));
            linked.extend(links_in(&file.body));
        }
    }
    let volume = gates::measure(container, &published, &linked);
    let before = container.state.as_ref().and_then(|state| state.head.published_lines);
    let findings = gates::judge(&volume, before, &role.overrides, &plan.steward, plan.holds_red);
    Draft { texts, volume, findings, oversized }
}

/// Returns the Markdown files of the container that a hand-written file in `ai_context/` links to.
fn links_in(text: &str) -> Vec<String> {
    let targets = text.split("](../").skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    targets.filter(|target| target.ends_with(".md")).map(str::to_string).collect()
}

/// Maximum tokens of a pack.
const PACK_TOKENS: u64 = 2_000;

/// Returns the sections of a pack, and its budget.
pub(super) fn pack(container: &Container, inputs: &Inputs) -> (Vec<LineSection>, Budget) {
    let plan = &inputs.plan.responsibilities;
    let mut sections = Vec::new();
    for file in CoreFile::ALL.into_iter().filter(|file| *file != CoreFile::Models) {
        for mut section in file.sections(container, plan.n_recent as usize) {
            if section.heading.is_empty() {
                section.heading = "Open requests";
            }
            sections.push(section);
        }
    }
    (sections, Budget::new(PACK_TOKENS, plan.margin_percent, HOOK_BYTES))
}

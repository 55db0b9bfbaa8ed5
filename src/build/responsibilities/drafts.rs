//! Drafts of a responsibility's files: texts within their budgets, judged by the hygiene gates.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rayon::prelude::*;

use super::Role;
use crate::build::Inputs;
use crate::build::artifacts::fit;
use crate::condense::{Fitted, Order};
use crate::model::layout::{AI_CONTEXT, LOCAL_RESPONSIBILITIES, RESPONSIBILITIES};
use crate::model::plan::{AddonPlan, HOOK_BYTES, ResponsibilityPlan};
use crate::model::{Budget, Candidate, Code, Diagnostic, DocId};
use crate::responsibility::addons::{self, AddonView, RoleFile, SourceView};
use crate::responsibility::bundle::CoreFile;
use crate::responsibility::compose::{Composed, Line, LineSection, LinkForm, compose};
use crate::responsibility::gates::{self, GateFinding, Volume};
use crate::responsibility::registry::Lifecycle;
use crate::responsibility::{Container, append_only};

/// The files of one responsibility before they are published.
pub struct Draft {
    /// The text of each file, without front matter.
    pub texts: Vec<(RoleFile, Fitted)>,
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
) -> anyhow::Result<Vec<DraftedRole>> {
    let drafted = |role: Role| {
        let is_drafted = role.container.lifecycle == Lifecycle::Active && !role.is_state_broken;
        let draft = is_drafted.then(|| draft(&role, inputs)).transpose()?;
        Ok(DraftedRole { role, draft })
    };
    let drafted: Vec<anyhow::Result<DraftedRole>> = roles.into_par_iter().map(drafted).collect();
    // Collected in order first, so that the error does not depend on the threads.
    let drafted: Vec<DraftedRole> = drafted.into_iter().collect::<anyhow::Result<_>>()?;
    for DraftedRole { role, draft } in &drafted {
        notes.extend(draft.iter().flat_map(|draft| draft.notes(&role.container)));
    }
    Ok(drafted)
}

/// Returns the folder of a responsibility's files: in its container if blue may write there.
pub fn folder_of_files(container: &Container, inputs: &Inputs) -> String {
    match inputs.plan.responsibilities.context_worker {
        Some(_) => container.path(AI_CONTEXT),
        None => format!("{RESPONSIBILITIES}/{}", container.id),
    }
}

/// Returns the path of a container's state.
pub fn state_path(plan: &ResponsibilityPlan, folder: &str, id: &str) -> String {
    match (plan.is_state_local, folder) {
        (true, _) => format!("{LOCAL_RESPONSIBILITIES}/{id}/state.jsonl"),
        (false, "") => format!("{AI_CONTEXT}/state.jsonl"),
        (false, folder) => format!("{folder}/{AI_CONTEXT}/state.jsonl"),
    }
}

/// Returns the container that committed files are made from: without its state if that is local.
pub(super) fn committed<'a>(
    container: &'a Container,
    plan: &ResponsibilityPlan,
) -> Cow<'a, Container> {
    match plan.is_state_local && container.state.is_some() {
        true => Cow::Owned(Container { state: None, ..container.clone() }),
        false => Cow::Borrowed(container),
    }
}

/// Returns true if a file is made from the state alone, so that it is as local as the state.
pub(super) fn is_local(file: CoreFile, plan: &ResponsibilityPlan) -> bool {
    plan.is_state_local && matches!(file, CoreFile::Requests | CoreFile::Models)
}

/// Returns the prefix of links from a responsibility's files to its container.
fn link_prefix(container: &Container, inputs: &Inputs) -> String {
    match inputs.plan.responsibilities.context_worker {
        Some(_) => "../".to_string(),
        None => far_prefix(container),
    }
}

/// Returns the prefix of links from a folder of a responsibility in `.blue/` to its container.
pub(super) fn far_prefix(container: &Container) -> String {
    format!("../../../../{}", container.path(""))
}

/// Maximum bytes of a file. The tokens limit it first.
const MAX_BYTES: u64 = 40_000;

/// Drafts the files of a responsibility. A template that cannot be rendered is an error.
pub fn draft(role: &Role, inputs: &Inputs) -> anyhow::Result<Draft> {
    let plan = &inputs.plan.responsibilities;
    let container = &*committed(&role.container, plan);
    let prefix = link_prefix(container, inputs);
    let mut linked: BTreeSet<String> = BTreeSet::new();
    let mut texts = Vec::new();
    let mut oversized = None;
    for file in CoreFile::ALL.into_iter().filter(|file| !is_local(*file, plan)) {
        // Mandates add sections to a file that may only grow. It is no artifact.
        if container.file(&format!("{AI_CONTEXT}/{}", file.name())).is_some() {
            continue;
        }
        match core_text(container, file, &prefix, plan) {
            Ok(composed) => {
                linked.extend(composed.links);
                texts.push((RoleFile::Core(file), composed.fitted));
            }
            Err((fitted, max)) => oversized = Some((fitted.tokens, max)),
        }
    }
    // A hand-written file was read; one that blue made was not.
    for addon in plan.addons.iter().filter(|addon| container.file(&addons::path(addon)).is_none()) {
        let composed = addon_text(container, addon, inputs)?;
        linked.extend(composed.links);
        texts.push((RoleFile::Addon(addon.name.clone()), composed.fitted));
    }
    let mut published: Vec<(String, String)> =
        texts.iter().map(|(file, fitted)| (file.name().to_string(), fitted.text.clone())).collect();
    for (path, file) in container.in_folder(AI_CONTEXT) {
        let name = path.trim_start_matches("ai_context/");
        published.push((name.to_string(), file.body.clone()));
        linked.extend(links_in(&file.body, "../"));
    }
    let volume = gates::measure(container, &published, &linked);
    let before = container.state.as_ref().and_then(|state| state.head.published_lines);
    let findings = gates::judge(&volume, before, &role.overrides, &plan.steward, plan.holds_red);
    Ok(Draft { texts, volume, findings, oversized })
}

/// Renders one of the five files. The error is the text with fixed lines only, and the maximum number
/// of tokens.
pub(super) fn core_text(
    container: &Container,
    file: CoreFile,
    prefix: &str,
    plan: &ResponsibilityPlan,
) -> Result<Composed, (Fitted, u64)> {
    let sections = file.sections(container, plan.n_recent as usize);
    let budget = Budget::new(file.max_tokens(), plan.margin_percent, MAX_BYTES);
    let title = file.title(&container.id);
    let form = LinkForm::Relative(prefix.to_string());
    let composed = compose(&sections, &form, &budget, &|text: &str| titled(&title, text));
    composed.map_err(|fitted| (fitted, budget.tokens))
}

/// Returns the sections that a mandate adds to the files of `ai_context/` that may only grow: the
/// path of each below the container, and the section. Files that were rewritten get none.
pub fn new_sections(
    container: &Container,
    inputs: &Inputs,
    now: i64,
) -> anyhow::Result<Vec<(String, String)>> {
    let plan = &inputs.plan.responsibilities;
    let prefix = link_prefix(container, inputs);
    let (_, rewritten) = append_only::compare(container);
    let mut sections = Vec::new();
    for role_file in RoleFile::all(&plan.addons) {
        let path = format!("{AI_CONTEXT}/{}", role_file.name());
        let file = container.file(&path).filter(|file| file.is_append_only());
        let Some(file) = file.filter(|_| rewritten.iter().all(|(other, _)| *other != path)) else {
            continue;
        };
        let text = match &role_file {
            RoleFile::Core(core) => core_text(container, *core, &prefix, plan).map_err(
                |(fitted, max)| {
                    let tokens = fitted.tokens;
                    anyhow::anyhow!("{path}: its fixed lines take {tokens} tokens, at most {max}\nhint: shorten the clauses in guardrails.md")
                },
            )?,
            RoleFile::Addon(name) => {
                let addon = plan.addons.iter().find(|addon| addon.name == *name);
                addon_text(container, addon.expect("it is one of them"), inputs)?
            }
        };
        let section = append_only::section(file, &text.fitted.text, now);
        sections.extend(section.map(|section| (path, section)));
    }
    Ok(sections)
}

fn titled(title: &str, text: &str) -> String {
    match text.starts_with('\n') {
        true => format!("# {title}\n{text}"),
        false => format!("# {title}\n\n{text}"),
    }
}

/// Renders an add-on: with its template, or as a list of the files that it is made from.
fn addon_text(
    container: &Container,
    addon: &AddonPlan,
    inputs: &Inputs,
) -> anyhow::Result<Composed> {
    let prefix = link_prefix(container, inputs);
    let margin = inputs.plan.responsibilities.margin_percent;
    let budget = Budget::new(addon.max_tokens, margin, MAX_BYTES);
    let path = format!("{}/{}", folder_of_files(container, inputs), addon.name);
    let title = addons::title(addon, &container.id);
    let Some(template) = &addon.template else {
        let (sections, form) = (addons::sections(container, addon), LinkForm::Relative(prefix));
        let composed = compose(&sections, &form, &budget, &|text: &str| titled(&title, text));
        return composed.map_err(|fitted| {
            let (tokens, max) = (fitted.tokens, budget.tokens);
            anyhow::anyhow!("{path}: its title alone takes {tokens} tokens; the budget leaves {max}\nhint: raise max_tokens in .blue/config.yaml")
        });
    };
    let sources = addons::sources(container, addon).into_iter();
    let files: Vec<SourceView> = sources.map(|file| SourceView::new(file, &prefix)).collect();
    let candidates = files.iter().enumerate().map(|(at, file)| Candidate {
        id: DocId(at as u32),
        weight: 10_000u64.saturating_sub(at as u64),
        costs: [file.n_bytes(), 0, 0],
        is_last: false,
    });
    let candidates: Vec<Candidate> = candidates.collect();
    let fitted = fit(&path, template, (&candidates, Order::TitlesFirst), &budget, &mut |bundle| {
        let shown = bundle.shown.iter().map(|(id, _)| files[id.0 as usize].clone());
        let view = AddonView {
            responsibility: container.id.clone(),
            title: title.clone(),
            files: shown.collect(),
            n_hidden: files.len() - bundle.shown.len(),
        };
        inputs.templates.render(template, &view)
    })?;
    let links = links_in(&fitted.text, &prefix).into_iter().collect();
    Ok(Composed { fitted, links })
}

/// Returns the Markdown files of the container that a text links to.
fn links_in(text: &str, prefix: &str) -> Vec<String> {
    let opening = format!("]({prefix}");
    let targets =
        text.split(&opening).skip(1).filter_map(|rest| rest.split([')', '#', ' ']).next());
    targets.filter(|target| target.ends_with(".md")).map(str::to_string).collect()
}

/// Maximum tokens of a pack.
const PACK_TOKENS: u64 = 2_000;

/// Returns the sections of a pack, and its budget. Where the state is local, a pack that is committed
/// names the place of the requests instead.
pub(super) fn pack(container: &Container, inputs: &Inputs) -> (Vec<LineSection>, Budget) {
    let plan = &inputs.plan.responsibilities;
    let mut sections = Vec::new();
    for file in CoreFile::ALL.into_iter().filter(|file| *file != CoreFile::Models) {
        if is_local(file, plan) && container.state.is_none() {
            let text = format!(
                "They are in {LOCAL_RESPONSIBILITIES}/{}/{} where mandates run.",
                container.id,
                file.name()
            );
            let lines = vec![Line::new(text).fixed()];
            sections.push(LineSection { heading: "Open requests", lines });
            continue;
        }
        for mut section in file.sections(container, plan.n_recent as usize) {
            if section.heading.is_empty() {
                section.heading = "Open requests";
            }
            sections.push(section);
        }
    }
    (sections, Budget::new(PACK_TOKENS, plan.margin_percent, HOOK_BYTES))
}

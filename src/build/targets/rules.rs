//! Rules for agents that load them by path: one file for each decision that lists paths.

use std::collections::BTreeMap;

use super::super::artifacts::{BuiltArtifact, CurrentArtifacts, source_line};
use super::super::{Corpus, workflow};
use super::{session_text, short_file};
use crate::model::build_target::{CLAUDE_RULES, COPILOT_RULES, CURSOR_RULES};
use crate::model::layout::SESSION;
use crate::model::uri::slugify;
use crate::model::{Action, Artifact, Binding, BuildTarget, DocId, Format, Listener, Naming};
use crate::render::view;
use crate::wire::path_rule::{self, PathRule};

/// Renders the session text as a rule of Cursor that always applies.
pub(super) fn session(
    corpus: &Corpus<'_>,
    built: &[BuiltArtifact],
    current: &CurrentArtifacts,
) -> anyhow::Result<BuiltArtifact> {
    let session = built.iter().find(|built| built.path == SESSION);
    let session = session.expect("the session bundle is rendered before its copies");
    let mut action = Action::new();
    action.add_fact("session", session.action.digest().as_bytes());
    let path = format!("{CURSOR_RULES}/blue.mdc");
    BuiltArtifact::unless_current(&path, action, current, |action| {
        let text = session_text(corpus.root, built)?;
        let body = path_rule::always("Decisions in force in this project", &text);
        let (uri, source) = ("blue://targets/cursor-rules/blue", SESSION.to_string());
        let body = vec![body.into_bytes()];
        Ok(Artifact::new(&path, uri, Format::FrontMatter, source, body, action.digest()))
    })
}

/// Renders a rule for each decision in force whose header lists paths.
pub(super) fn of_decisions(
    corpus: &Corpus<'_>,
    target: BuildTarget,
    current: &CurrentArtifacts,
) -> Vec<BuiltArtifact> {
    let (folder, ending) = match target {
        BuildTarget::ClaudeRules => (CLAUDE_RULES, "md"),
        BuildTarget::CopilotRules => (COPILOT_RULES, "instructions.md"),
        _ => (CURSOR_RULES, "mdc"),
    };
    let allowed = corpus.inputs.plan.allowance.hidden_chars();
    let mut rules: BTreeMap<String, BuiltArtifact> = BTreeMap::new();
    for (id, patterns) in listed_paths(corpus) {
        let document = corpus.graph.document(id);
        let head = view::head(document);
        let (line, path) = (&document.facts.line, &document.path);
        let rule = PathRule { head: &head, line, path, patterns: &patterns, allowed: &allowed };
        let Some(text) = rule.text(target) else { continue };
        let name = file_name(corpus, id, |name| rules.contains_key(name));
        let file = format!("{folder}/{name}.{ending}");
        let uri = format!("blue://targets/{}/{name}", target.as_str());
        let source = source_line(std::slice::from_ref(&document.path), 1);
        let built = short_file(&file, &uri, Format::FrontMatter, source, text, current);
        rules.insert(name, built);
    }
    rules.into_values().collect()
}

/// Returns the decisions in force whose header lists paths, with the patterns of these paths.
fn listed_paths(corpus: &Corpus<'_>) -> BTreeMap<DocId, Vec<String>> {
    let is_decision = |binding: &&Binding| {
        let document = corpus.graph.document(binding.document);
        binding.naming == Naming::Field
            && corpus.graph.is_live(binding.document)
            && !document.status.is_proposal()
            && !document.is_plan
    };
    let mut listed: BTreeMap<DocId, Vec<String>> = BTreeMap::new();
    for binding in corpus.bindings.iter().filter(is_decision) {
        let pattern = path_rule::pattern(&binding.path, binding.kind);
        listed.entry(binding.document).or_default().push(pattern);
    }
    listed
}

/// Returns the name of a decision's rule, such as `blue-adr-0001-use-rust`.
fn file_name(corpus: &Corpus<'_>, id: DocId, is_taken: impl Fn(&str) -> bool) -> String {
    let kind = corpus.graph.document(id).kind.as_str();
    let name = slugify(&format!("blue {kind} {}", workflow::name_of(&corpus.graph, id)));
    match is_taken(&name) {
        true => format!("{name}-{}", id.0),
        false => name,
    }
}

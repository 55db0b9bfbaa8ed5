//! `bundles.jsonl`: the bundles that hooks can deliver, with everything that a shell cannot compute.

use std::collections::BTreeMap;

use super::Corpus;
use super::artifacts::{BuiltArtifact, CurrentArtifacts};
use super::manifest::entry;
use super::workflow::{self, Plans};
use crate::guard::redacted;
use crate::model::layout::{BUNDLES, CONTEXT, SESSION_JSON, is_below, is_role_file};
use crate::model::{
    Action, Artifact, Code, Diagnostic, DocId, Format, Graph, Hasher, Listener, Status,
};
use crate::wire::jsonl::{self, BundleLine, ONLY_WORK, RefreshPolicy};

/// Renders the index of the bundles built so far.
pub(super) fn index(
    corpus: &Corpus<'_>,
    built: &[BuiltArtifact],
    current: &CurrentArtifacts,
) -> anyhow::Result<BuiltArtifact> {
    let mut of_work = of_work(corpus);
    let mut hasher = Hasher::new();
    let mut lines = Vec::new();
    let mut ids = Vec::new();
    // Subagents receive the text of the session bundle, and deliveries are logged as that.
    let is_bundle = |built: &&BuiltArtifact| {
        is_below(&built.path, CONTEXT) && built.path != SESSION_JSON && !is_role_file(&built.path)
    };
    for built in built.iter().filter(is_bundle) {
        let entry = entry(built, current.get(&built.path));
        let inputs = built.action.digest().short();
        let of_document = of_work.remove(&built.path);
        ids.push(of_document.as_ref().map(|(id, ..)| *id));
        let (names, refresh) = of_document
            .map_or((Vec::new(), RefreshPolicy::SessionStart), |(_, names, refresh)| {
                (names, refresh)
            });
        let line = BundleLine {
            names,
            refresh,
            triggers: match refresh {
                RefreshPolicy::OnChange => corpus.inputs.plan.refresh_triggers.clone(),
                RefreshPolicy::SessionStart | RefreshPolicy::OnRequest => Vec::new(),
            },
            work: None,
            inputs,
            source: entry.uri,
            artifact: entry.path,
            content_hash: entry.hash,
            tokens: entry.tokens,
            bytes: entry.bytes,
        };
        hasher.field(&jsonl::bundles(std::slice::from_ref(&line)));
        lines.push(line);
    }
    let mut action = Action::new();
    action.add_fact("bundles", hasher.digest().as_bytes());
    // The inputs of each bundle are hashed above and decide its work too. This fact only records that
    // work is listed.
    if ids.iter().any(Option::is_some) {
        action.add_fact("work", &[]);
    }
    BuiltArtifact::unless_current(BUNDLES, action, current, |action| {
        let plans = Plans::new(&corpus.graph);
        for (line, id) in lines.iter_mut().zip(&ids) {
            line.work = id.map(|id| workflow::state(corpus, id, &plans)).transpose()?;
        }
        let noun = if lines.len() == 1 { "bundle" } else { "bundles" };
        let source = format!("{CONTEXT} ({} {noun})", lines.len());
        let (body, digest) = (vec![jsonl::bundles(&lines)], action.digest());
        let uri = "blue://context/bundles";
        Ok(Artifact::new(BUNDLES, uri, Format::Jsonl, source, body, digest))
    })
}

/// Returns each RFC or spike with its names in branches and worktrees and its refresh policy, by the
/// path of its bundle. Names that fit two are left out. The only RFC in progress has the name
/// [`ONLY_WORK`] too.
fn of_work(corpus: &Corpus<'_>) -> BTreeMap<String, (DocId, Vec<String>, RefreshPolicy)> {
    let Corpus { inputs, graph, work, .. } = corpus;
    let prefixes = inputs.plan.branch_prefixes();
    let counts = name_counts(graph, work);
    let only = workflow::only_in_progress(graph, work);
    let mut names = BTreeMap::new();
    for id in work {
        let own: Vec<String> =
            short_names(graph, *id).into_iter().filter(|name| counts[name] == [*id]).collect();
        let mut all = own.clone();
        for prefix in &prefixes {
            all.extend(own.iter().map(|name| format!("{prefix}{name}")));
        }
        all.push(graph.document(*id).uri.to_string());
        if only == Some(*id) {
            // A branch with the prefix names an RFC, perhaps a finished one, so it is not meant here.
            all.push(ONLY_WORK.to_string());
            all.extend(prefixes.iter().map(|prefix| format!("{prefix}{ONLY_WORK}")));
        }
        all.sort();
        all.dedup();
        // Documents that are being written or worked on change during a session. Others are delivered
        // on request.
        let refresh = match graph.document(*id).status {
            Status::Draft | Status::Proposed | Status::Active => RefreshPolicy::OnChange,
            _ => RefreshPolicy::OnRequest,
        };
        names.insert(workflow::path_of(graph, *id), (*id, all, refresh));
    }
    names
}

/// Returns the names of a document in branches and worktrees, without a prefix.
fn short_names(graph: &Graph, id: DocId) -> Vec<String> {
    let document = graph.document(id);
    let mut names = vec![workflow::name_of(graph, id)];
    names.extend(document.number.as_ref().map(ToString::to_string));
    names.extend([document.number_text.clone(), document.slug.clone()]);
    names.retain(|name| !name.is_empty());
    names.sort();
    names.dedup();
    names
}

/// Returns the documents that each name fits. An RFC has its name before the spike that led to it.
fn name_counts(graph: &Graph, work: &[DocId]) -> BTreeMap<String, Vec<DocId>> {
    let mut counts: BTreeMap<String, Vec<DocId>> = BTreeMap::new();
    for id in work {
        for name in short_names(graph, *id) {
            counts.entry(name).or_default().push(*id);
        }
    }
    let is_rfc = |id: &DocId| graph.document(*id).kind.as_str() == "rfc";
    for ids in counts.values_mut().filter(|ids| ids.iter().any(is_rfc)) {
        ids.retain(is_rfc);
    }
    counts
}

/// Returns a finding for each document that has the slug of an earlier one. Numbers that are used twice
/// have a finding of their own.
pub(super) fn shared_names(graph: &Graph, work: &[DocId]) -> Vec<Diagnostic> {
    let counts = name_counts(graph, work);
    let shared = |id: &DocId| {
        let document = graph.document(*id);
        let named = counts.get(&document.slug).filter(|named| named.contains(id))?;
        let first = named.first().filter(|first| *first != id)?;
        let message = format!(
            "a branch named {:?} could be for this document or for {}, so it is for neither",
            document.slug,
            redacted(&graph.document(*first).path)
        );
        let hint =
            format!("name the branch after {}, or rename one", workflow::name_of(graph, *id));
        Some(Diagnostic::new(Code::SharedBranchName, &document.path, message).hint(hint))
    };
    work.iter().filter_map(shared).collect()
}

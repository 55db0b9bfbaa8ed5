//! The index of what hooks can deliver: all that a shell cannot work out by itself.

use std::collections::BTreeMap;

use super::artifacts::{Current, From, Made};
use super::manifest::entry;
use super::workflow::{self, Plans};
use crate::model::layout::{BUNDLES, SESSION_JSON};
use crate::model::{Action, Artifact, DocId, Format, Hasher, Listener, Status};
use crate::wire::jsonl::{self, BundleLine, Refresh};

/// The index of the bundles made so far; `rfcs` are those of tier 2.
pub(super) fn index(
    from: &From<'_>,
    made: &[Made],
    rfcs: &[DocId],
    current: &Current<'_>,
) -> anyhow::Result<Made> {
    let mut of_rfcs = of_rfcs(from, rfcs);
    let mut told = Hasher::new();
    let mut lines = Vec::new();
    let mut ids = Vec::new();
    // What a subagent is given is the text of the session bundle, and is noted as that.
    let told_apart =
        |made: &&Made| made.path.starts_with(".blue/context/") && made.path != SESSION_JSON;
    for made in made.iter().filter(told_apart) {
        let known = current.get(made.path.as_str()).copied();
        let entry = entry(made, known);
        let inputs = made.action.digest().short();
        let of_rfc = of_rfcs.remove(&made.path);
        ids.push(of_rfc.as_ref().map(|(id, ..)| *id));
        let (names, refresh) = of_rfc
            .map_or((Vec::new(), Refresh::SessionStart), |(_, names, refresh)| (names, refresh));
        let line = BundleLine {
            names,
            refresh,
            triggers: match refresh {
                Refresh::OnChange => from.inputs.plan.refresh_triggers.clone(),
                Refresh::SessionStart | Refresh::OnRequest => Vec::new(),
            },
            work: None,
            inputs,
            source: entry.uri,
            artifact: entry.path,
            content_hash: entry.hash,
            tokens: entry.tokens,
            bytes: entry.bytes,
        };
        told.field(&jsonl::bundles(std::slice::from_ref(&line)));
        lines.push(line);
    }
    let mut action = Action::new();
    action.fact("bundles", told.digest().as_bytes());
    // The inputs of each bundle are hashed above and decide its work too. This fact only records that
    // work is listed.
    if ids.iter().any(Option::is_some) {
        action.fact("work", &[]);
    }
    Made::unless_current(BUNDLES, action, current, |action| {
        let plans = Plans::new(&from.analysis.graph);
        for (line, id) in lines.iter_mut().zip(&ids) {
            line.work = id.map(|id| workflow::state(from, id, &plans)).transpose()?;
        }
        let noun = if lines.len() == 1 { "bundle" } else { "bundles" };
        let source = format!(".blue/context ({} {noun})", lines.len());
        let (body, digest) = (vec![jsonl::bundles(&lines)], action.digest());
        let uri = "blue://context/bundles";
        Ok(Artifact::new(BUNDLES, uri, Format::Jsonl, source, body, digest))
    })
}

/// Each RFC, what a branch or a worktree may call it, and when its bundle is given again, by the path
/// of the bundle. A name that fits two RFCs is left out.
fn of_rfcs(from: &From<'_>, rfcs: &[DocId]) -> BTreeMap<String, (DocId, Vec<String>, Refresh)> {
    let graph = &from.analysis.graph;
    let prefix = &from.inputs.plan.branch_prefix;
    let short_names = |id: DocId| {
        let document = graph.document(id);
        let mut names = vec![workflow::name_of(graph, id)];
        names.extend(document.number.as_ref().map(ToString::to_string));
        names.extend([document.number_text.clone(), document.slug.clone()]);
        names.retain(|name| !name.is_empty());
        names.dedup();
        names
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for id in rfcs {
        for name in short_names(*id) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let mut names = BTreeMap::new();
    for id in rfcs {
        let own: Vec<String> =
            short_names(*id).into_iter().filter(|name| counts[name] == 1).collect();
        let branches = own.iter().map(|name| format!("{prefix}{name}"));
        let mut all: Vec<String> = own.iter().cloned().chain(branches).collect();
        all.push(graph.document(*id).uri.to_string());
        all.sort();
        all.dedup();
        // What is being written or worked on changes under a session; the rest is for whoever asks.
        let refresh = match graph.document(*id).status {
            Status::Draft | Status::Proposed | Status::Active => Refresh::OnChange,
            _ => Refresh::OnRequest,
        };
        names.insert(workflow::path_of(graph, *id), (*id, all, refresh));
    }
    names
}

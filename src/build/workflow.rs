//! The workflow bundles of tier 2: tasks and related documents of RFCs and spikes that are worked on.

use rayon::prelude::*;
use serde::Serialize;

use super::artifacts::{BuiltArtifact, CurrentArtifacts, check_wrapper, fit};
use super::{Corpus, extracts};
use crate::condense::Order;
use crate::model::escape::escape_except;
use crate::model::layout::WORKFLOW;
use crate::model::{
    Action, Artifact, Bundle, Candidate, Code, Diagnostic, DocId, Document, Format, Graph, Hasher,
    Listener, Noted, Relation, Status, Work,
};
use crate::render::view;
use crate::wire::jsonl::WorkLine;

#[derive(Serialize)]
struct WorkflowView<'a> {
    uri: &'a str,
    path: &'a str,
    inputs: &'a str,
    head: &'a str,
    status: &'a str,
    summary: &'a str,
    phase: Option<&'a str>,
    n_done: usize,
    n_tasks: usize,
    tasks: Vec<&'a str>,
    criteria: Vec<&'a str>,
    plans: Vec<PlanView<'a>>,
    depends: Vec<&'a str>,
    replaces: Vec<&'a str>,
    related: Vec<&'a str>,
    n_hidden: usize,
}

#[derive(Serialize)]
struct PlanView<'a> {
    path: &'a str,
    phase: Option<&'a str>,
    n_done: usize,
    n_tasks: usize,
    tasks: Vec<&'a str>,
}

/// Part of the bundle that a line belongs to, the most needed first.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum BundlePart {
    Task,
    Depends,
    Criterion,
    Replaces,
    PlanTask(usize),
    Related,
}

/// The lines that a bundle may leave out.
type BundleItem = (BundlePart, String);

/// Returns the documents that get a bundle, and a finding if there are too many. Those in progress
/// are preferred.
pub(super) fn choose_work(graph: &Graph, max: u64) -> Noted<Vec<DocId>> {
    let states_statuses: Vec<bool> = (0..graph.collections.len())
        .map(|row| graph.of_collection(row).any(|id| graph.document(id).status != Status::Unstated))
        .collect();
    let is_work = |id: &DocId| {
        let document = graph.document(*id);
        let kind = graph.collections[document.collection].kind.as_str();
        !document.is_plan
            && graph.is_live(*id)
            && is_worked_on(kind, document.status, states_statuses[document.collection])
    };
    let mut ids: Vec<DocId> = graph.ids().filter(is_work).collect();
    let max = usize::try_from(max).unwrap_or(usize::MAX);
    if ids.len() <= max {
        return Noted::new(ids, Vec::new());
    }
    let urgency = |status: Status| match status {
        Status::Active => 0,
        Status::Accepted => 1,
        Status::Proposed | Status::Draft => 2,
        _ => 3,
    };
    ids.sort_by_key(|id| (urgency(graph.document(*id).status), std::cmp::Reverse(*id)));
    let path = graph.document(ids[max]).path.clone();
    let message = format!(
        "{} of {} unfinished RFCs {} no workflow bundle, this one too",
        ids.len() - max,
        ids.len(),
        if ids.len() - max == 1 { "has" } else { "have" }
    );
    let hint = "mark what is done as implemented or superseded, or raise workflow.max_bundles in .blue/config.yaml";
    let note = Diagnostic::new(Code::TooManyBundles, &path, message).hint(hint);
    ids.truncate(max);
    ids.sort_unstable();
    Noted::new(ids, vec![note])
}

/// Returns true for an RFC that is not finished and for a spike in progress. Where no document of a
/// collection states a status, all are merged texts, and none is known to be worked on.
fn is_worked_on(kind: &str, status: Status, states_statuses: bool) -> bool {
    match status {
        Status::Active => matches!(kind, "rfc" | "spike"),
        Status::Draft | Status::Proposed | Status::Accepted => kind == "rfc",
        Status::Unknown | Status::Unstated => kind == "rfc" && states_statuses,
        _ => false,
    }
}

/// Returns the only RFC in progress, which is the current work unless a branch or a worktree names
/// another.
pub(super) fn only_in_progress(graph: &Graph, ids: &[DocId]) -> Option<DocId> {
    let is_active = |id: &&DocId| {
        let document = graph.document(**id);
        document.status == Status::Active && document.kind.as_str() == "rfc"
    };
    let mut active = ids.iter().filter(is_active);
    let first = active.next()?;
    active.next().is_none().then_some(*first)
}

/// Renders the bundles of the chosen documents.
pub(super) fn bundles(
    corpus: &Corpus<'_>,
    current: &CurrentArtifacts,
) -> anyhow::Result<Vec<BuiltArtifact>> {
    let plans = Plans::new(&corpus.graph);
    corpus.work.par_iter().map(|id| bundle(corpus, *id, &plans, current)).collect()
}

/// Returns the name of a document's bundle: the last part of its address, with its collection's name in
/// front if an RFC of another collection has the same.
pub(super) fn name_of(graph: &Graph, id: DocId) -> String {
    let document = graph.document(id);
    let collection = &graph.collections[document.collection];
    let name = last_part(document);
    let shared = graph.collections.iter().enumerate().any(|(row, other)| {
        row != document.collection
            && other.kind == collection.kind
            && graph.of_collection(row).any(|other| last_part(graph.document(other)) == name)
    });
    if shared { format!("{}.{name}", collection.name) } else { name.to_string() }
}

fn last_part(document: &Document) -> &str {
    document.uri.as_str().rsplit('/').next().unwrap_or_default()
}

/// Returns the path of a document's bundle.
pub(super) fn path_of(graph: &Graph, id: DocId) -> String {
    format!("{WORKFLOW}/{}.md", name_of(graph, id))
}

fn bundle(
    corpus: &Corpus<'_>,
    id: DocId,
    plans: &Plans,
    current: &CurrentArtifacts,
) -> anyhow::Result<BuiltArtifact> {
    let Corpus { inputs, graph, .. } = corpus;
    let path = path_of(graph, id);
    let plans = plans.of(id);
    let about = about(corpus, id);
    let action = action(corpus, id, &plans, &about);
    BuiltArtifact::unless_current(&path, action, current, |action| {
        let inputs_id = action.digest().short();
        let material = WorkflowMaterial::read(corpus, id, &plans, about)?;
        let candidates: Vec<Candidate> = material.lines.iter().enumerate().map(candidate).collect();
        let templates = &inputs.templates;
        let mut render =
            |bundle: &Bundle| templates.render("workflow.md", &material.view(bundle, &inputs_id));
        let budget = inputs.plan.workflow.budget;
        let fitted =
            fit(&path, "workflow.md", (&candidates, Order::TitlesFirst), &budget, &mut render)?;
        check_wrapper("workflow.md", &fitted.text, &inputs_id)?;
        let uri = format!("blue://context/workflow/{}", name_of(graph, id));
        let (body, digest) = (vec![fitted.text.into_bytes()], action.digest());
        let artifact = Artifact::new(&path, &uri, Format::Bundle, String::new(), body, digest);
        Ok(Artifact { tokens: fitted.tokens, ..artifact })
    })
}

/// Returns the facts that decide a bundle.
fn action(corpus: &Corpus<'_>, id: DocId, plans: &[DocId], about: &[BundleItem]) -> Action {
    let Corpus { inputs, graph, .. } = corpus;
    let mut hasher = Hasher::new();
    for document in std::iter::once(&id).chain(plans).map(|id| graph.document(*id)) {
        hasher.field(document.uri.as_str().as_bytes()).field(document.digest.as_bytes());
        hasher.field(document.path.as_bytes());
        hasher.field(view::head(document).as_bytes());
        hasher.field(document.status.to_string().as_bytes());
    }
    inputs.plan.limits.hash_into(&mut hasher);
    for (part, line) in about {
        hasher.field(format!("{part:?}").as_bytes()).field(line.as_bytes());
    }
    let mut action = Action::new();
    action.add_fact("template", inputs.templates.digest("workflow.md").as_bytes());
    action.add_fact("budget", format!("{:?}", inputs.plan.workflow.budget).as_bytes());
    action.add_fact("documents", hasher.digest().as_bytes());
    inputs.plan.allowance.add_facts(&mut action);
    action
}

/// Everything that one bundle is rendered from.
struct WorkflowMaterial<'a> {
    document: &'a Document,
    head: String,
    status: String,
    work: Work,
    plans: Vec<(&'a str, Work)>,
    lines: Vec<BundleItem>,
}

impl<'a> WorkflowMaterial<'a> {
    fn read(
        corpus: &'a Corpus<'_>,
        id: DocId,
        plans: &[DocId],
        about: Vec<BundleItem>,
    ) -> anyhow::Result<WorkflowMaterial<'a>> {
        let graph = &corpus.graph;
        let work = extracts::work(corpus, id)?;
        let of_plan =
            |id: &DocId| Ok((graph.document(*id).path.as_str(), extracts::work(corpus, *id)?));
        let plans: Vec<(&str, Work)> = plans.iter().map(of_plan).collect::<anyhow::Result<_>>()?;
        let document = graph.document(id);
        let lines = lines(&work, &plans, about);
        let head = head_of(document);
        Ok(WorkflowMaterial {
            document,
            head,
            status: document.status.to_string(),
            work,
            plans,
            lines,
        })
    }

    fn view<'v>(&'v self, bundle: &Bundle, inputs: &'v str) -> WorkflowView<'v> {
        let shown = |part: BundlePart| -> Vec<&'v str> {
            let rows = bundle.shown.iter().map(|(row, _)| &self.lines[row.0 as usize]);
            rows.filter(|(of, _)| *of == part).map(|(_, text)| text.as_str()).collect()
        };
        let all = std::iter::once(&self.work).chain(self.plans.iter().map(|(_, work)| work));
        let n_cut: usize = all.map(|work| work.n_open - work.open.len()).sum();
        let plans = self.plans.iter().enumerate().map(|(i, (path, work))| PlanView {
            path,
            phase: work.phase.as_deref(),
            n_done: work.n_done,
            n_tasks: work.n_done + work.n_open,
            tasks: shown(BundlePart::PlanTask(i)),
        });
        WorkflowView {
            uri: self.document.uri.as_str(),
            path: &self.document.path,
            inputs,
            head: &self.head,
            status: &self.status,
            summary: &self.work.brief,
            phase: self.work.phase.as_deref(),
            n_done: self.work.n_done,
            n_tasks: self.work.n_done + self.work.n_open,
            tasks: shown(BundlePart::Task),
            criteria: shown(BundlePart::Criterion),
            plans: plans.collect(),
            depends: shown(BundlePart::Depends),
            replaces: shown(BundlePart::Replaces),
            related: shown(BundlePart::Related),
            n_hidden: bundle.hidden.len() + n_cut,
        }
    }
}

fn head_of(document: &Document) -> String {
    let kind = document.kind.as_str().to_uppercase();
    let head = [kind.as_str(), &document.number_text, &document.title];
    let head: Vec<&str> = head.into_iter().filter(|part| !part.is_empty()).collect();
    head.join(" ")
}

/// Open tasks and criteria in the index; hooks read all of it at every session start.
const MAX_LISTED: usize = 20;

/// Returns the state of an RFC's work as data, for readers that do not know the template.
pub(super) fn state(corpus: &Corpus<'_>, id: DocId, plans: &Plans) -> anyhow::Result<WorkLine> {
    let graph = &corpus.graph;
    let kept = corpus.inputs.plan.allowance.hidden_chars();
    let plain = |text: &str| escape_except(text, &kept).into_owned();
    let listed = |texts: &[String]| texts.iter().take(MAX_LISTED).map(|text| plain(text)).collect();
    let line = |id: DocId, work: &Work| WorkLine {
        uri: graph.document(id).uri.to_string(),
        path: graph.document(id).path.clone(),
        phase: work.phase.as_deref().map(plain),
        n_done: work.n_done as u64,
        n_open: work.n_open as u64,
        open: listed(&work.open),
        ..WorkLine::default()
    };
    let plan = |id: DocId| Ok(line(id, &extracts::work(corpus, id)?));
    let (document, work) = (graph.document(id), extracts::work(corpus, id)?);
    Ok(WorkLine {
        head: plain(&head_of(document)),
        status: document.status.to_string(),
        criteria: listed(&work.criteria),
        depends: depends_on(graph, id).map(|id| graph.document(id).uri.to_string()).collect(),
        plans: plans.of(id).into_iter().map(plan).collect::<anyhow::Result<_>>()?,
        ..line(id, &work)
    })
}

/// Returns the documents that one depends on.
fn depends_on(graph: &Graph, id: DocId) -> impl Iterator<Item = DocId> {
    let first = graph.edges.partition_point(|edge| edge.from < id);
    let own = graph.edges[first..].iter().take_while(move |edge| edge.from == id);
    own.filter(|edge| edge.relation == Relation::DependsOn).map(|edge| edge.to)
}

fn candidate((row, (part, text)): (usize, &BundleItem)) -> Candidate {
    let weight = match part {
        BundlePart::Task => 60,
        BundlePart::Depends => 50,
        BundlePart::Criterion => 40,
        BundlePart::Replaces => 30,
        BundlePart::PlanTask(_) => 20,
        BundlePart::Related => 10,
    };
    let costs = [text.len() as u64 + 6, 0, 0];
    Candidate { id: DocId(row as u32), weight, costs, is_last: false }
}

/// Returns every line that may be shown, in the order of the bundle.
fn lines(work: &Work, plans: &[(&str, Work)], about: Vec<BundleItem>) -> Vec<BundleItem> {
    let mut lines: Vec<BundleItem> = Vec::new();
    lines.extend(work.open.iter().map(|task| (BundlePart::Task, task.clone())));
    lines.extend(work.criteria.iter().map(|criterion| (BundlePart::Criterion, criterion.clone())));
    for (i, (_, plan)) in plans.iter().enumerate() {
        lines.extend(plan.open.iter().map(|task| (BundlePart::PlanTask(i), task.clone())));
    }
    lines.extend(about);
    lines
}

/// Plans of each document.
pub(super) struct Plans(Vec<(DocId, DocId)>);

impl Plans {
    pub(super) fn new(graph: &Graph) -> Plans {
        let plans = graph.edges.iter().filter(|edge| edge.relation == Relation::PlanOf);
        let mut plans: Vec<(DocId, DocId)> = plans.map(|edge| (edge.to, edge.from)).collect();
        plans.sort_unstable();
        Plans(plans)
    }

    /// Returns the plans of a document.
    pub(super) fn of(&self, id: DocId) -> Vec<DocId> {
        let first = self.0.partition_point(|(of, _)| *of < id);
        self.0[first..].iter().take_while(|(of, _)| *of == id).map(|(_, plan)| *plan).collect()
    }
}

/// Maximum number of related documents in a bundle. The search finds more.
const MAX_RELATED: usize = 5;

/// Returns a line for each document that one depends on, replaces or is related to.
fn about(corpus: &Corpus<'_>, id: DocId) -> Vec<BundleItem> {
    let graph = &corpus.graph;
    let line = |other: DocId, why: &str| {
        let document = graph.document(other);
        format!("{}: {}{why}", document.path, view::head(document))
    };
    let first = graph.edges.partition_point(|edge| edge.from < id);
    let own = graph.edges[first..].iter().take_while(|edge| edge.from == id);
    let mut listed = vec![id];
    let mut lines: Vec<BundleItem> = Vec::new();
    for edge in own {
        let part = match edge.relation {
            Relation::DependsOn => BundlePart::Depends,
            Relation::Supersedes => BundlePart::Replaces,
            _ => continue,
        };
        listed.push(edge.to);
        lines.push((part, line(edge.to, "")));
    }
    let neighbours = corpus.ranking.neighbours[id.0 as usize].iter();
    let related = neighbours.filter(|neighbour| {
        let is_plan = graph.document(neighbour.id).is_plan;
        graph.is_live(neighbour.id) && !is_plan && !listed.contains(&neighbour.id)
    });
    for neighbour in related.take(MAX_RELATED) {
        let reason = neighbour.reasons.first().map(|reason| reason.text(graph));
        let why = reason.map_or(String::new(), |reason| format!(" ({reason})"));
        lines.push((BundlePart::Related, line(neighbour.id, &why)));
    }
    lines
}

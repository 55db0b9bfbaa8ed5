//! The driver of `blue knowledge build`: calls the stages in order.

mod artifacts;
mod authorship;
mod bundles;
mod changes;
mod check;
mod choice;
mod decisions;
mod digest;
mod documents;
mod emitted;
mod explain;
mod extracts;
mod file_pattern;
mod inputs;
mod knowledge;
mod manifest;
pub mod responsibilities;
mod search;
mod session;
mod state;
mod targets;
mod threads;
mod workflow;

use std::collections::BTreeMap;

use crate::discover::repository_files::RepositoryFiles;
use crate::discover::{self, Discovery, git, unchanged};
use crate::model::{
    Binding, Counts, Diagnostic, Digest, DocId, Graph, Lexicon, State, Terms, TrackedFile,
};
use crate::parse::Extracts;
use crate::rank::{self, Ranking};
use crate::root::Root;
use crate::search::SearchIndex;
use crate::{emit, guard, link, parse};

use documents::{FactsStore, NewFacts};
use emitted::Emitted;
pub use inputs::{Inputs, load, plan};
use knowledge::KnowledgeFile;
use responsibilities::{DraftedRole, Role};
pub use search::search_index;
use targets::shared_files::SharedFiles;

/// Receives the progress of a long build.
pub trait Progress: Sync {
    /// Sets the number of documents that will be read.
    fn total(&self, n_documents: u64);
    /// Counts one document as read.
    fn step(&self);
}

/// Options of a build.
pub struct Options<'a> {
    /// Compare only; write nothing.
    pub check: bool,
    /// Ignore caches and the no-op check.
    pub force: bool,
    /// Find out why each artifact was rebuilt.
    pub explain: bool,
    /// The value of SOURCE_DATE_EPOCH.
    pub source_date_epoch: Option<String>,
    /// Called with the holder of the lock if it takes longer than a second to get it.
    pub waiting: &'a dyn Fn(&str),
    /// Receives the progress.
    pub progress: &'a dyn Progress,
    /// Number of threads; `None` to use those of the caller's pool.
    pub threads: Option<usize>,
}

impl Options<'static> {
    /// Returns the options of a build that reports no progress.
    pub fn quiet() -> Options<'static> {
        Options {
            check: false,
            force: false,
            explain: false,
            source_date_epoch: None,
            waiting: &|_| {},
            progress: &Silent,
            threads: None,
        }
    }
}

/// Ignores progress.
pub struct Silent;

impl Progress for Silent {
    fn total(&self, _: u64) {}
    fn step(&self) {}
}

/// Result of one artifact.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fate {
    /// Path below the root.
    pub path: String,
    /// True if it was written or removed.
    pub written: bool,
    /// The reason, for `--explain`.
    pub reason: String,
}

/// Result of a build.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Result of each artifact.
    pub fates: Vec<Fate>,
    /// Findings that were not accepted, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
    /// Accepted findings with the reason, sorted by place.
    pub accepted: Vec<(Diagnostic, String)>,
    /// Number of documents.
    pub n_documents: usize,
    /// Number of documents in force.
    pub n_live: usize,
    /// Findings of the previous build, if this one had nothing to do.
    pub known: Option<Counts>,
}

impl Outcome {
    /// Returns the outcome of a build. The project's severities and accepted findings are applied.
    fn new(corpus: &Corpus<'_>, fates: Vec<Fate>, notes: Vec<Diagnostic>) -> Outcome {
        let reviewed = corpus.inputs.policy.review(notes);
        Outcome {
            fates,
            diagnostics: reviewed.shown,
            accepted: reviewed.accepted,
            n_documents: corpus.graph.documents.len(),
            n_live: corpus.graph.live.iter().filter(|live| **live).count(),
            known: None,
        }
    }

    /// Returns true if any file was written or removed.
    pub fn wrote(&self) -> bool {
        self.fates.iter().any(|fate| fate.written)
    }

    /// Counts the findings by severity.
    pub fn counts(&self) -> Counts {
        let now = Counts::of(&self.diagnostics);
        self.known.unwrap_or(Counts { accepted: self.accepted.len() as u64, ..now })
    }

    /// Returns the findings about emitted files that are not what a build would write.
    pub fn not_current(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.code.is_about_output())
    }
}

/// The documents of a project, parsed and linked.
pub struct Survey {
    /// Documents and edges.
    pub graph: Graph,
    /// Files and folders that documents name.
    pub bindings: Vec<Binding>,
    /// Files that people wrote into `knowledge/`.
    knowledge: Vec<KnowledgeFile>,
    /// Responsibilities.
    roles: Vec<Role>,
    /// Findings so far.
    pub notes: Vec<Diagnostic>,
    /// Terms of each document, by row.
    pub terms: Vec<Terms>,
    /// Files that were read, sorted by path.
    files: Vec<TrackedFile>,
    extracts: BTreeMap<Digest, Extracts>,
    new_facts: NewFacts,
    tree: discover::Tree,
}

/// Everything that artifacts are rendered from: the documents of a project, linked and ranked.
pub(crate) struct Corpus<'a> {
    root: &'a Root,
    inputs: &'a Inputs,
    graph: Graph,
    bindings: Vec<Binding>,
    knowledge: Vec<KnowledgeFile>,
    extracts: BTreeMap<Digest, Extracts>,
    ranking: Ranking,
    /// Responsibilities with their drafts.
    roles: Vec<DraftedRole>,
    /// The RFCs and spikes that get a bundle.
    work: Vec<DocId>,
}

/// The part of a survey that artifacts are rendered from.
struct Surveyed {
    graph: Graph,
    bindings: Vec<Binding>,
    knowledge: Vec<KnowledgeFile>,
    extracts: BTreeMap<Digest, Extracts>,
    roles: Vec<Role>,
}

impl<'a> Corpus<'a> {
    /// Chooses the work that gets a bundle, and drafts the files of responsibilities.
    fn new(
        root: &'a Root,
        inputs: &'a Inputs,
        surveyed: Surveyed,
        ranking: Ranking,
        notes: &mut Vec<Diagnostic>,
    ) -> anyhow::Result<Corpus<'a>> {
        let Surveyed { graph, bindings, knowledge, extracts, roles } = surveyed;
        let work = workflow::choose_work(&graph, inputs.plan.max_bundles).into_value(notes);
        let roles = responsibilities::draft_all(inputs, roles, notes)?;
        Ok(Corpus { root, inputs, graph, bindings, knowledge, extracts, ranking, roles, work })
    }
}

/// Builds a project, or checks it.
pub fn build(root: &Root, options: &Options<'_>) -> anyhow::Result<Outcome> {
    if options.check {
        return check::check(root, options);
    }
    let previous = state::load(root, options.force);
    if !unchanged::is_small(&previous) {
        threads::start_pool(options.threads)?;
    }
    if is_unchanged(root, &previous) {
        targets::current_work::refresh(root);
        return Ok(explain::nothing_changed(&previous));
    }
    threads::start_pool(options.threads)?;
    let _lock = emit::Lock::take(root, "knowledge build", options.waiting)?;
    emit::recover(root)?;
    emit::rotate_audit_log(root);
    let looked_at = emit::file_system_time(root)?;
    let head = git::Head::ask(root.path(), options.source_date_epoch.as_deref());

    let inputs = load(root)?;
    let store = FactsStore::load(root, &inputs, options.force);
    let (force, progress) = (options.force, options.progress);
    let (survey, emitted) = rayon::join(
        || survey_with(root, &inputs, &previous, &store, progress),
        || Emitted::read(root, &previous, force),
    );
    let (survey, emitted) = (survey?, emitted?);
    let Survey { graph, bindings, knowledge, roles, mut notes, terms, files, .. } = survey;
    let (extracts, new_facts, tree) = (survey.extracts, survey.new_facts, survey.tree);
    let cached = store.save(root, new_facts);
    notes.extend(cached.err().map(state::not_written));

    let (ranking, index) = rank_and_index(&graph, terms);
    let surveyed = Surveyed { graph, bindings, knowledge, extracts, roles };
    let corpus = Corpus::new(root, &inputs, surveyed, ranking, &mut notes)?;
    let artifacts = artifacts::render(&corpus, &emitted.intact, &mut notes)?;
    let session = || targets::session_text(root, &artifacts);
    let shared = SharedFiles::plan(root, &inputs.plan.targets, session)?;
    let explainer = explain::Explainer { previous: &previous, files: &files };
    let mut planned = changes::plan(&corpus, &emitted, artifacts, head, &explainer, options)?;
    let tracked = shared.tracked.clone();
    let created = state::to_create(root, &planned.changes, &shared);
    let shared = shared.stage(root, &mut planned)?;
    let written = emit::commit(root, &planned.changes, &planned.removals);
    let written = shared.finish(root, written)?;
    targets::tidy_up(root, &planned.removals);
    planned.fates.extend(responsibilities::write_local(&corpus)?);

    notes.extend(planned.notes);
    let mut outcome = Outcome::new(&corpus, planned.fates, notes);
    let seen = state::ReadState { looked_at, files, tree: &tree, inputs: &inputs };
    let folders = state::folders(root, &tree, &created, &planned.removals);
    let outputs = state::outputs(root, &previous, &planned.actions, &tracked, written)?;
    let not_saved = search::save(root, &planned.inputs, &index);
    let saved = state::save(root, seen, folders, outputs, planned.actions, outcome.counts());
    let notes = saved.err().map(state::not_written).into_iter().chain(not_saved);
    outcome.diagnostics.extend(notes.filter_map(|note| inputs.policy.apply_severity(note)));
    Ok(outcome)
}

fn rank_and_index(graph: &Graph, terms: Vec<Terms>) -> (Ranking, SearchIndex) {
    let lexicon = Lexicon::new(&graph.documents, terms);
    rayon::join(|| rank::rank(graph, &lexicon), || SearchIndex::new(graph, &lexicon))
}

/// Returns true if no input and no output changed since the previous build.
fn is_unchanged(root: &Root, previous: &State) -> bool {
    !previous.outputs.is_empty()
        && !emit::is_pending(root)
        && unchanged::is_unchanged(root, previous)
}

/// Returns true if any file changed since the last build, even if the change has no effect. `None` if
/// there was no build, or there are more than `max_files` inputs.
pub fn has_changes(root: &Root, max_files: usize) -> Option<bool> {
    let previous = state::load(root, false);
    let few = !previous.outputs.is_empty() && previous.inputs.len() <= max_files;
    few.then(|| !is_unchanged(root, &previous))
}

/// Returns true if no file changed since the last build, and that build had no errors.
pub fn is_settled(root: &Root) -> bool {
    let previous = state::load(root, false);
    previous.counts.errors == 0 && is_unchanged(root, &previous)
}

/// Returns true if a build would start from other inputs than those of the manifest. Documents are read
/// only if files changed.
pub fn is_stale(root: &Root) -> anyhow::Result<bool> {
    threads::start_pool(None)?;
    let previous = state::load(root, false);
    if is_unchanged(root, &previous) {
        return Ok(false);
    }
    let Some(Ok((manifest, _))) = crate::verify::manifest(root)? else { return Ok(true) };
    let inputs = load(root)?;
    let store = FactsStore::load(root, &inputs, false);
    let survey = survey_with(root, &inputs, &previous, &store, &Silent)?;
    let Survey { graph, bindings, knowledge, roles, .. } = &survey;
    let roles = responsibilities::digest(&inputs, roles.iter());
    let digest = manifest::inputs_digest(&inputs, graph, bindings, knowledge, roles);
    Ok(digest.to_string() != manifest.inputs)
}

/// Judges the responsibilities of a survey by the hygiene gates, as a build does.
pub fn judge_responsibilities(inputs: &Inputs, survey: &mut Survey) -> anyhow::Result<()> {
    survey.notes.extend(responsibilities::gate_notes(inputs, &survey.roles)?);
    Ok(())
}

/// Copies the bundle of the current work to its fixed name, if the branch or a bundle changed.
pub fn refresh_current_work(root: &Root) {
    targets::current_work::refresh(root);
}

/// Returns the folders that the last build listed.
pub fn folders(root: &Root) -> Vec<String> {
    state::load(root, false).folders.into_iter().map(|folder| folder.path).collect()
}

/// Discovers, reads, parses and links all documents. Writes nothing and reads no cache.
pub fn survey(root: &Root, inputs: &Inputs, progress: &dyn Progress) -> anyhow::Result<Survey> {
    threads::start_pool(None)?;
    survey_with(root, inputs, &State::default(), &FactsStore::default(), progress)
}

fn survey_with(
    root: &Root,
    inputs: &Inputs,
    previous: &State,
    store: &FactsStore,
    progress: &dyn Progress,
) -> anyhow::Result<Survey> {
    let mut notes = inputs.notes.clone();
    let Discovery { collections, found, containers, mut tree } =
        discover::discover(root, &inputs.plan)?.into_value(&mut notes);
    let read = documents::read_all(root, inputs, found, previous, store, progress)?;
    let documents::ReadDocuments { mut parsed, mut files, extracts, new_facts } =
        read.into_value(&mut notes);
    let collections = discover::in_use(&collections, parsed.iter_mut().map(|(found, ..)| found));
    let (documents, terms) = parse::documents(&collections, parsed).into_value(&mut notes);
    let exists = |path: &str| tree.has_text_file(path).unwrap_or_else(|| root.exists(path));
    let graph = link::link(collections, documents, &exists).into_value(&mut notes);
    let present = RepositoryFiles::new(root, &inputs.plan, &tree)?;
    let repository = link::Repository {
        kind: &|path| present.kind(path),
        has_match: &|glob, folder| present.has_match(glob, folder),
        is_broad: &|folder| present.is_broad(folder),
    };
    let bindings = link::bind(&graph, &repository).into_value(&mut notes);
    // The next build has to check the folders that these answers came from.
    present.into_listed_folders().add_to(&mut tree);
    let knowledge =
        knowledge::read(root, inputs, &tree, &graph.collections, &mut files, &mut notes)?;
    let roles = responsibilities::read(root, inputs, &tree, &containers, &mut files, &mut notes)?;
    let work = workflow::choose_work(&graph, inputs.plan.max_bundles).value;
    notes.extend(bundles::shared_names(&graph, &work));
    // A path can be a secret, so findings do not repeat it.
    notes.iter_mut().for_each(|note| note.path = guard::redacted(&note.path));
    Ok(Survey { graph, bindings, knowledge, roles, notes, terms, files, extracts, new_facts, tree })
}

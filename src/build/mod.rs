//! The driver: the rooms in their order. Only it and `cli` know that order.

mod artifacts;
mod bundles;
mod choice;
mod decide;
mod edit;
mod emitted;
mod explain;
mod inputs;
mod keeping;
mod manifest;
mod merged;
mod ranked;
mod read;
pub mod reader;
mod remember;
mod session;
mod threads;
mod extracts;
mod workflow;
mod writer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::discover::present::Present;
use crate::discover::{self, Discovery, fresh, git};
use crate::model::layout::folder_of;
use crate::model::snapshot::Basis;
use crate::model::{
    Action, Binding, Calls, Counts, Diagnostic, Digest, DocId, FORMAT, Graph, Hasher, Lexicon,
    Policy, Record, Terms,
};
use crate::rank::Relevance;
use crate::root::Root;
use crate::wire::cache::{FACTS_FORMAT, FactsCache};
use crate::{emit, guard, link, parse};

pub use inputs::{Inputs, load, plan};
use ranked::Ranked;

/// Hears how far a long build is.
pub trait Progress: Sync {
    /// So many documents will be read.
    fn total(&self, n_documents: u64);
    /// One more was read.
    fn step(&self);
}

/// What a build is asked to do.
pub struct Options<'a> {
    /// Compare only; write nothing.
    pub check: bool,
    /// Ignore caches and the fast path.
    pub force: bool,
    /// Find out why each artifact is made again.
    pub explain: bool,
    /// The value of SOURCE_DATE_EPOCH.
    pub source_date_epoch: Option<String>,
    /// Told who holds the lock when it takes longer than a second.
    pub waiting: &'a dyn Fn(&str),
    /// Told how far the work is.
    pub progress: &'a dyn Progress,
    /// How many threads share the work, this one among them; `None` if others gather them.
    pub threads: Option<usize>,
}

impl Options<'static> {
    /// Looks without telling anybody how far it is.
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

/// Tells nobody how far a build is.
pub struct Silent;

impl Progress for Silent {
    fn total(&self, _: u64) {}
    fn step(&self) {}
}

/// What became of one artifact.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Fate {
    /// Path below the root.
    pub path: String,
    /// Written, removed or left alone.
    pub written: bool,
    /// Why, in words.
    pub reason: String,
}

/// What a build did and found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What became of each artifact.
    pub fates: Vec<Fate>,
    /// Everything noticed that was not accepted, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
    /// What was accepted, with the reason, sorted by place.
    pub accepted: Vec<(Diagnostic, String)>,
    /// Documents read.
    pub n_documents: usize,
    /// Documents that may be told as current.
    pub n_live: usize,
    /// What the last build found, when nothing had to be looked at again.
    pub known: Option<Counts>,
}

impl Outcome {
    /// Whether any file was written or removed.
    pub fn wrote(&self) -> bool {
        self.fates.iter().any(|fate| fate.written)
    }

    /// How many findings there are of each sort.
    pub fn counts(&self) -> Counts {
        let now = Counts::of(&self.diagnostics);
        self.known.unwrap_or(Counts { accepted: self.accepted.len() as u64, ..now })
    }

    /// The findings that say that an emitted file is not what a build would give.
    pub fn not_current(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|diagnostic| diagnostic.code.is_of_output())
    }

    /// Takes the project's word on everything noticed so far.
    fn review(&mut self, policy: &Policy) {
        let reviewed = policy.review(std::mem::take(&mut self.diagnostics));
        (self.diagnostics, self.accepted) = (reviewed.shown, reviewed.accepted);
    }
}

/// The documents of a project, linked and ranked.
struct Analysis {
    graph: Graph,
    relevance: Relevance,
    /// The live RFCs that get a bundle.
    rfcs: Vec<DocId>,
    /// The index of documents as it was, if lines of it can be used again.
    before: Option<ranked::Before>,
    /// What the ranking leaves for the next one.
    left: ranked::Left,
    bindings: Vec<Binding>,
    notes: Vec<Diagnostic>,
    reading: read::Reading,
    tree: discover::Tree,
    /// How many of the notes were there before anything was ranked.
    n_seen: usize,
    /// Artifacts that are known to be as they were, by path, with what decided them.
    stands: BTreeMap<String, Action>,
    /// What the next build goes on from.
    basis: Going,
}

/// What the next build goes on from.
enum Going {
    /// All of this, with the words of all documents and what those are called.
    On(Box<(Lexicon, Calls)>),
    /// What is kept already.
    As(Basis),
    /// Nothing: it looks at all documents.
    Nowhere,
}

/// The documents of a project and what they name, without a ranking.
pub struct Survey {
    /// Documents and edges.
    pub graph: Graph,
    /// Files and folders that documents name.
    pub bindings: Vec<Binding>,
    /// What was noticed so far.
    pub notes: Vec<Diagnostic>,
    reading: read::Reading,
    tree: discover::Tree,
    kept: Option<ranked::Kept>,
}

/// Digest of everything else that decides emitted bytes: the formats, blue itself, its templates, the
/// user's consents. Keyed, so that state that is sealed with it was written on this machine; `None`
/// without a key.
fn engine(root: &Root) -> Option<Digest> {
    let mut hasher = Hasher::new();
    hasher.number(u64::from(FORMAT)).number(u64::from(FACTS_FORMAT));
    hasher.field(env!("CARGO_PKG_VERSION").as_bytes());
    for file in &root.machine().external {
        hasher.field(file.as_os_str().as_encoded_bytes());
    }
    let engine = hasher.field(crate::render::embedded_digest().as_bytes()).digest();
    Some(root.machine().key.as_ref()?.digest("engine", engine.as_bytes()))
}

/// Builds a project, or checks it.
pub fn build(root: &Root, options: &Options<'_>) -> anyhow::Result<Outcome> {
    if options.check {
        threads::start_pool(options.threads)?;
        let inputs = load(root)?;
        let survey = survey(root, &inputs, options.progress)?;
        decide::refuse_links_without_consent(&inputs, &survey)?;
        let analysis = analysed(&inputs, survey);
        return decide::check(root, &inputs, analysis);
    }
    let engine = engine(root);
    let record = if options.force {
        Record::default()
    } else {
        read::record(root, engine.as_ref()).unwrap_or_default()
    };
    let trusted = !record.outputs.is_empty() && !emit::is_pending(root);
    if !fresh::is_small(&record) {
        threads::start_pool(options.threads)?;
    }
    let look = if trusted { fresh::look(root, &record) } else { None };
    if look.as_ref().is_some_and(|look| look.edited.is_empty()) {
        return Ok(explain::unmoved(&record));
    }
    threads::start_pool(options.threads)?;
    let lock = emit::Lock::take(root, "knowledge build", options.waiting)?;
    // Whoever had the lock before may have moved what was looked at.
    let look = look.filter(|_| !lock.was_waited_for() && !emit::is_pending(root));
    emit::recover(root)?;
    emit::make_room(root);
    let looked = emit::time(root)?;
    // git takes a while to start, and whatever is written will want its answer.
    let (path, epoch) = (root.path().to_path_buf(), options.source_date_epoch.clone());
    let asked = threads::start(move || git::head(&path, epoch.as_deref()))?;
    let inputs = load(root)?;
    let (force, progress) = (options.force, options.progress);
    let edited =
        || look.and_then(|look| edit::analysed(root, &inputs, &record, engine.as_ref()?, &look));
    // A thread apart: keeping facts waits for a thread, which none of the shared ones may do.
    let (analysis, emitted) = std::thread::scope(|scope| {
        let emitted = threads::start_in(scope, || emitted::Emitted::read(root, &record, force))?;
        let analysis = match edited() {
            Some(analysis) => Ok(analysis),
            None => anew(root, &inputs, &record, progress),
        };
        let emitted = emitted.join().expect("looking at what was emitted does not panic");
        anyhow::Ok((analysis, emitted))
    })?;
    let (mut analysis, emitted) = (analysis?, emitted?);
    let last = decide::Last { record, engine, looked, emitted };
    let outcome = decide::write(root, &inputs, &mut analysis, &last, options, asked)?;
    // Freeing every document one by one would take longer than the process has left.
    std::mem::forget(analysis);
    drop(lock);
    Ok(outcome)
}

/// Looks at all documents, and keeps the facts of a first build while they are ranked.
fn anew(
    root: &Root,
    inputs: &Inputs,
    record: &Record,
    progress: &dyn Progress,
) -> anyhow::Result<Analysis> {
    let mut linked = linked(root, inputs, record, progress, ranked::Kept::read)?;
    let first = linked.reading.keeping.first();
    let (mut analysis, kept) = std::thread::scope(|scope| {
        let limits = &inputs.plan.limits;
        let keep = || first.map_or(Ok(()), |first| first.keep(root, limits));
        let kept = threads::start_in(scope, keep)?;
        let analysis = analysed(inputs, linked);
        anyhow::Ok((analysis, kept.join().expect("keeping facts does not panic")))
    })?;
    analysis.notes.extend(kept.err().map(decide::not_kept));
    Ok(analysis)
}

/// Whether anything moved since the last build, which need not matter. `None` if nothing is known of
/// it, or there are more files than one wants to look at.
pub fn moved(root: &Root, max_files: usize) -> Option<bool> {
    let record =
        read::record(root, engine(root).as_ref()).filter(|record| !record.outputs.is_empty())?;
    let few = record.inputs.len() <= max_files;
    few.then(|| emit::is_pending(root) || !fresh::is_unmoved(root, &record))
}

/// Whether a build would begin with other inputs than those of the manifest. Where nothing moved
/// that is known at once; else the documents are read.
pub fn is_stale(root: &Root) -> anyhow::Result<bool> {
    threads::start_pool(None)?;
    if moved(root, usize::MAX) == Some(false) {
        return Ok(false);
    }
    let Some(Ok((manifest, _))) = crate::verify::manifest(root)? else { return Ok(true) };
    let inputs = load(root)?;
    let record = read::record(root, engine(root).as_ref()).unwrap_or_default();
    let Survey { graph, bindings, .. } = linked(root, &inputs, &record, &Silent, |_| None)?;
    Ok(manifest::inputs_digest(&inputs, &graph, &bindings).to_string() != manifest.inputs)
}

/// The folders that the last build looked into.
pub fn folders(root: &Root) -> Vec<String> {
    let record = read::record(root, engine(root).as_ref()).unwrap_or_default();
    record.folders.into_iter().map(|folder| folder.path).collect()
}

/// Discovers, reads, parses and links. Writes nothing and trusts no cache.
pub fn survey(root: &Root, inputs: &Inputs, progress: &dyn Progress) -> anyhow::Result<Survey> {
    threads::start_pool(None)?;
    threads::start_pool(None)?;
    linked(root, inputs, &Record::default(), progress, |_| None)
}

/// Ranks what was linked.
fn analysed(inputs: &Inputs, survey: Survey) -> Analysis {
    let Survey { mut graph, bindings, mut notes, mut reading, tree, kept } = survey;
    let (rfcs, note) = workflow::chosen(&graph, inputs.plan.max_bundles as usize);
    let n_seen = notes.len();
    notes.extend(note);
    let lexicon = Lexicon::take(&mut graph.documents);
    let Ranked { mut relevance, before, left } =
        ranked::ranked(inputs, (&graph, &lexicon), &mut reading.keeping, kept, &rfcs);
    // Words are for ranking alone, and the indexes need their room.
    graph.documents.par_iter_mut().for_each(|document| document.facts.terms = Terms::default());
    let calls = std::mem::take(&mut relevance.calls);
    Analysis {
        graph,
        relevance,
        rfcs,
        before,
        left,
        bindings,
        notes,
        reading,
        tree,
        n_seen,
        stands: BTreeMap::new(),
        basis: Going::On(Box::new((lexicon, calls))),
    }
}

/// Discovers, reads, parses and links, and meanwhile reads what a ranking can build on. Whoever trusts
/// no cache has an empty record.
fn linked(
    root: &Root,
    inputs: &Inputs,
    record: &Record,
    progress: &dyn Progress,
    last: fn(&Root) -> Option<ranked::Kept>,
) -> anyhow::Result<Survey> {
    let mut notes = inputs.notes.clone();
    let trusted = !record.outputs.is_empty();
    let (discovery, cache) = rayon::join(
        || discover::discover(root, &inputs.plan),
        || if trusted { read::cache(root, &inputs.plan.limits) } else { FactsCache::default() },
    );
    let Discovery { collections, found, mut tree } = discovery?.into_value(&mut notes);
    let reading = read::read(root, inputs, found, record, cache, progress)?;
    let mut reading = reading.into_value(&mut notes);
    let mut documents = std::mem::take(&mut reading.documents);
    let collections = discover::in_use(&collections, documents.iter_mut().map(|(found, ..)| found));
    let documents = parse::documents(&collections, documents).into_value(&mut notes);
    let asked: Mutex<BTreeSet<String>> = Mutex::default();
    let exists = |path: &str| {
        tree.holds(path).unwrap_or_else(|| {
            let mut asked = asked.lock().unwrap_or_else(PoisonError::into_inner);
            asked.insert(folder_of(path).to_string());
            root.exists(path)
        })
    };
    let (graph, kept) = rayon::join(
        || link::link(collections, documents, &exists),
        || if trusted { last(root) } else { None },
    );
    let graph = graph.into_value(&mut notes);
    let present = Present::new(root, &inputs.plan, &tree)?;
    let repository = link::Repository {
        kind: &|path| present.kind(path),
        fits: &|glob, below| present.fits(glob, below),
    };
    let bindings = link::bind(&graph, &repository).into_value(&mut notes);
    // Where the answers came from must be looked at again before the next build may stop early.
    present.finish().join(&mut tree);
    let asked = asked.into_inner().unwrap_or_else(PoisonError::into_inner);
    tree.unwatched |= reading.unwatched || asked.iter().any(|folder| !tree.watches(root, folder));
    // A name can be a secret; what is said of it must not tell it.
    notes.iter_mut().for_each(|note| note.path = guard::shown(&note.path));
    Ok(Survey { graph, bindings, notes, reading, tree, kept })
}

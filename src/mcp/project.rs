//! The current state of the project: the last build, the current work and the agent session.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::failure::Failure;
use crate::build;
use crate::discover::git;
use crate::emit;
use crate::model::Stat;
use crate::model::layout::{BUNDLES, CONFIG, DATES, DOCUMENTS, MANIFEST, USAGE};
use crate::reader::ProjectReader;
use crate::root::Root;
use crate::search::SearchIndex;
use crate::serve::dates::Dates;
use crate::serve::sessions::{self, Asking};
use crate::serve::{Built, Library, ReadError, bundles, global};
use crate::wire::audit::AuditLine;

/// Hint for a project that has no usable build.
pub(super) const BUILD: &str = "run `blue knowledge build`";

/// Maximum time for which the previous indexes are served while those on disk are inconsistent.
const PATIENCE: Duration = Duration::from_secs(2);

/// Evidence of the agent session that a server answers.
#[derive(Clone)]
pub struct Asker {
    /// The session named on the command line, which takes precedence.
    pub named: Option<String>,
    /// The session named by the agent that started the server.
    pub declared: Option<String>,
    /// The agent's process.
    pub client: Option<String>,
    /// A name for deliveries whose session is unknown.
    pub fallback: String,
}

/// A project and the indexes that were read last.
pub(super) struct Project {
    pub(super) root: Root,
    /// The user's own project, which has the addresses `blue://global/…`.
    global: Option<Box<Project>>,
    asker: Asker,
    /// Time when the server started.
    pub(super) started: Timestamp,
    warn: fn(&str),
    state: Mutex<ProjectState>,
}

#[derive(Default)]
struct ProjectState {
    /// Stats of the manifest, the configuration and the indexes when they were read.
    stats: Option<[Option<Stat>; 4]>,
    open: Option<Open>,
    /// Time since which the files on disk are inconsistent.
    torn: Option<Instant>,
    /// Commit times of documents, once they were read.
    dates: Option<Arc<Dates>>,
    /// True if the user was warned that the log cannot be written.
    warned: bool,
    /// True if the usage cache was written.
    usage_saved: bool,
}

/// The indexes of one build, and the rules for reading files.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) built: Result<Arc<Built>, Arc<str>>,
    reader: Arc<OnceLock<ProjectReader>>,
    search: Arc<OnceLock<SearchIndex>>,
    /// The name of the current work.
    pub(super) work: Option<String>,
}

impl Open {
    /// Returns the project for the functions of `serve`.
    pub(super) fn library<'a>(&'a self, project: &'a Project) -> Result<Library<'a>, Failure> {
        let built = self.built.as_ref().map_err(|why| Failure::Unbuilt(why.clone()))?;
        let root = &project.root;
        let reader = self.reader.get_or_init(|| ProjectReader::new(build::plan(root)));
        Ok(Library { root, built, reader, work: self.work.as_deref(), today: emit::today() })
    }

    /// Returns the search index of the build.
    pub(super) fn search_index(&self, library: &Library<'_>) -> anyhow::Result<&SearchIndex> {
        if let Some(index) = self.search.get() {
            return Ok(index);
        }
        let Built { manifest, catalogue, .. } = library.built;
        let row_of = |uri: &str| catalogue.row(uri);
        let n_documents = catalogue.n_documents();
        let index = build::search_index(library.root, &manifest.inputs, n_documents, &row_of)?;
        Ok(self.search.get_or_init(|| index))
    }
}

impl Project {
    pub(super) fn new(root: Root, global: Option<Root>, asker: Asker, warn: fn(&str)) -> Project {
        let global = global.map(|root| Box::new(Project::new(root, None, asker.clone(), warn)));
        let started = emit::current_time();
        Project { root, global, asker, started, warn, state: Mutex::default() }
    }

    /// Returns the user's own project.
    pub(super) fn global(&self) -> Result<&Project, Failure> {
        let nothing = || Failure::Read(ReadError::Nothing(global::NONE.to_string()), Vec::new());
        self.global.as_deref().ok_or_else(nothing)
    }

    /// Returns the agent session. Hooks may have recorded another one since the last request.
    pub(super) fn asking(&self) -> Asking {
        let Asker { named, declared, client, .. } = &self.asker;
        if let Some(named) = named {
            return Asking::Known(named.clone());
        }
        sessions::asking(&self.root, declared.as_deref(), client.as_deref())
    }

    /// Returns the session that deliveries are logged for. If it is unknown, the fallback name is used.
    pub(super) fn session(&self) -> String {
        match self.asking() {
            Asking::Known(session) => session,
            Asking::OneOf(_) | Asking::Unknown => self.asker.fallback.clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, ProjectState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens the last build. Its indexes are read again only if the manifest, an index or the
    /// configuration changed.
    pub(super) fn open(&self) -> Open {
        let open = self.open_built();
        let branch = self.branch();
        let work = match &open.built {
            Ok(built) => bundles::work_name(&self.root, branch.as_deref(), &built.bundles),
            Err(_) => bundles::stated_work(&self.root, branch.as_deref()),
        };
        Open { work, ..open }
    }

    fn open_built(&self) -> Open {
        let stat = |path| self.root.stat(path).ok().flatten().map(|(stat, _)| stat);
        let stats = [MANIFEST, CONFIG, DOCUMENTS, BUNDLES].map(stat);
        let mut state = self.state();
        if let Some(open) = state.open.as_ref().filter(|_| state.stats.as_ref() == Some(&stats)) {
            return open.clone();
        }
        let built = Built::open(&self.root).map(Arc::new);
        let built = built.map_err(|unbuilt| format!("{unbuilt}: {BUILD}").into());
        let open = Open { built, reader: Arc::default(), search: Arc::default(), work: None };
        // A build or a checkout replaces files one after the other. Until they are consistent, the
        // previous indexes are served for a short time.
        let torn = open.built.is_err() && stats[0].is_some();
        if let Some(previous) = state.open.clone().filter(|open| torn && open.built.is_ok())
            && state.torn.get_or_insert_with(Instant::now).elapsed() < PATIENCE
        {
            return previous;
        }
        state.torn = None;
        state.stats = Some(stats);
        state.open = Some(open.clone());
        open
    }

    /// Returns true if a build is replacing the files of an open build, or just did.
    pub(super) fn is_changing(&self, open: &Open) -> bool {
        emit::is_pending(&self.root) || !Arc::ptr_eq(&self.open_built().reader, &open.reader)
    }

    fn dates(&self) -> Arc<Dates> {
        let mut state = self.state();
        state.dates.get_or_insert_with(|| Arc::new(Dates::open(&self.root))).clone()
    }

    /// Returns the time of a file's last commit, if it was looked up already.
    pub(super) fn date(&self, path: &str) -> Option<String> {
        self.dates().time(path).map(|time| time.to_string())
    }

    /// Asks git for commit times, which takes a while. Returns true if any changed.
    pub(super) fn update_dates(&self) -> bool {
        let (open, previous) = (self.open(), self.dates());
        let (Ok(built), Some(head)) =
            (&open.built, git::Head::ask(self.root.path(), None).wait().commit)
        else {
            return false;
        };
        let dates = previous.update(built, &head, |paths| git::dates(self.root.path(), paths));
        let Some(dates) = dates else { return false };
        // If the cache cannot be written, the next server asks git again.
        if let Some(bytes) = dates.cache_bytes(&self.root) {
            let prepared = emit::create_local_folder(&self.root);
            prepared.and_then(|()| emit::write_local(&self.root, DATES, &bytes)).ok();
        }
        let changed = !dates.has_same_times(&previous);
        self.state().dates = Some(Arc::new(dates));
        changed
    }

    /// Writes the usage cache, once.
    pub(super) fn save_usage(&self, library: &Library<'_>) {
        if !self.state().usage_saved
            && let Some(bytes) = library.overlay().cache_bytes(&self.root)
        {
            self.state().usage_saved = true;
            emit::write_local_unlocked(&self.root, USAGE, &bytes).ok();
        }
    }

    /// Returns the branch that is checked out.
    pub(super) fn branch(&self) -> Option<String> {
        git::branch(self.root.path())
    }

    /// Logs a delivery or a refusal. If the log cannot be written, the text is delivered anyway and
    /// the user is warned once.
    pub(super) fn record(&self, event: &str, line: AuditLine) {
        let (timestamp, session_id) = (emit::now(), self.session());
        let line = AuditLine { timestamp, session_id, event: event.to_string(), ..line };
        if let Err(error) = emit::append_audit_line(&self.root, &line)
            && !std::mem::replace(&mut self.state().warned, true)
        {
            (self.warn)(&format!("{error:#}\nhint: deliveries are not recorded"));
        }
    }
}

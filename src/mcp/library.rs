//! The project as it is now: what was built, what may be read, and who reads.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::dates::Dates;
use crate::build::reader::Reader;
use crate::discover::git;
use crate::emit::{self, AUDIT, AUDIT_BEFORE};
use crate::model::Stat;
use crate::model::layout::{BUNDLES, CONFIG, DOCUMENTS, MANIFEST, USAGE};
use crate::root::Root;
use crate::serve::sessions::{self, Asking};
use crate::serve::shelf::{Shelf, Unbuilt};
use crate::serve::{Overlay, bundles};
use crate::wire::audit::AuditLine;
use crate::wire::jsonl::BundleLine;

/// What to type when nothing was built.
pub(super) const BUILD: &str = "run `blue knowledge build`";

/// How long what was read before is served while files do not fit together.
const PATIENCE: Duration = Duration::from_secs(2);

/// Evidence of the session that a server answers for.
pub struct Asker {
    /// The session that a person named; no other is asked for.
    pub named: Option<String>,
    /// The session that the agent started it for, if it said so.
    pub declared: Option<String>,
    /// The agent's process.
    pub client: Option<String>,
    /// A name of its own, for deliveries whose session is not known.
    pub own: String,
}

/// The project, with what was last read of it.
pub(super) struct Library {
    pub(super) root: Root,
    asker: Asker,
    warn: fn(&str),
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Of what is read, as it was then.
    stats: Option<[Option<Stat>; 4]>,
    open: Option<Open>,
    /// Since when what is there does not fit together.
    torn: Option<Instant>,
    /// When documents were last committed, once that was looked up.
    dates: Option<Arc<Dates>>,
    /// Whether a person was told that the log cannot be written.
    warned: bool,
    /// Whether what was read on this machine was kept.
    kept: bool,
}

/// What one build emitted, and what the configuration allows to be read.
#[derive(Clone)]
pub(super) struct Open {
    pub(super) shelf: Result<Arc<Shelf>, Arc<str>>,
    reader: Arc<OnceLock<Reader>>,
}

impl Library {
    pub(super) fn new(root: Root, asker: Asker, warn: fn(&str)) -> Library {
        Library { root, asker, warn, state: Mutex::default() }
    }

    /// The session that asks. Hooks may have recorded another since the last request.
    pub(super) fn asking(&self) -> Asking {
        let Asker { named, declared, client, .. } = &self.asker;
        if let Some(named) = named {
            return Asking::Known(named.clone());
        }
        sessions::asking(&self.root, declared.as_deref(), client.as_deref())
    }

    /// The name that deliveries are noted under: the session's, or one that no session has.
    pub(super) fn session(&self) -> String {
        match self.asking() {
            Asking::Known(session) => session,
            Asking::OneOf(_) | Asking::Unknown => self.asker.own.clone(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is built now. Nothing is read again unless the manifest or the configuration moved.
    pub(super) fn open(&self) -> Open {
        let stat = |path| self.root.stat(path).ok().flatten().map(|(stat, _)| stat);
        let stats = [MANIFEST, CONFIG, DOCUMENTS, BUNDLES].map(stat);
        let mut state = self.state();
        if let Some(open) = state.open.as_ref().filter(|_| state.stats.as_ref() == Some(&stats)) {
            return open.clone();
        }
        let open = Open { shelf: self.shelf(), reader: Arc::default() };
        // A build or a checkout replaces files one after the other. What was read before serves until
        // they fit together again, but not for long.
        let torn = open.shelf.is_err() && stats[0].is_some();
        if let Some(before) = state.open.clone().filter(|before| torn && before.shelf.is_ok())
            && state.torn.get_or_insert_with(Instant::now).elapsed() < PATIENCE
        {
            return before;
        }
        state.torn = None;
        state.stats = Some(stats);
        state.open = Some(open.clone());
        open
    }

    /// Whether a build is about to replace what was opened, or just did.
    pub(super) fn is_moving(&self, open: &Open) -> bool {
        emit::is_pending(&self.root) || !Arc::ptr_eq(&self.open().reader, &open.reader)
    }

    fn shelf(&self) -> Result<Arc<Shelf>, Arc<str>> {
        match Shelf::open(&self.root) {
            Ok(shelf) => Ok(Arc::new(shelf)),
            Err(Unbuilt::Missing) => Err(format!("nothing has been built here: {BUILD}").into()),
            Err(Unbuilt::Broken(why)) => {
                // The first line is for the client; a path of this machine is never in it.
                let why = why.lines().next().unwrap_or_default().to_string();
                Err(format!("what was built cannot be used ({why}): {BUILD}").into())
            }
        }
    }

    /// The reader of documents, made when the first is read.
    pub(super) fn reader<'a>(&self, open: &'a Open) -> &'a Reader {
        open.reader.get_or_init(|| Reader::new(&self.root))
    }

    fn dates(&self) -> Arc<Dates> {
        let mut state = self.state();
        let dates = state.dates.get_or_insert_with(|| Arc::new(Dates::remembered(&self.root)));
        dates.clone()
    }

    /// When a file was last committed, if that is known yet.
    pub(super) fn date(&self, path: &str) -> Option<String> {
        self.dates().of(path)
    }

    /// Asks git for dates, which takes a while. Whether any is new.
    pub(super) fn look_up_dates(&self) -> bool {
        let open = self.open();
        let Ok(shelf) = &open.shelf else { return false };
        match self.dates().now(&self.root, shelf) {
            Some(dates) => {
                self.state().dates = Some(Arc::new(dates));
                true
            }
            None => false,
        }
    }

    /// How documents are used on this machine. What the log said before is kept once.
    pub(super) fn overlay(&self) -> Overlay {
        let overlay = Overlay::open(&self.root, [AUDIT_BEFORE, AUDIT], emit::today());
        if let Some(bytes) = overlay.to_keep(&self.root)
            && !std::mem::replace(&mut self.state().kept, true)
        {
            emit::write_local_unlocked(&self.root, USAGE, &bytes).ok();
        }
        overlay
    }

    /// The branch that is checked out.
    pub(super) fn branch(&self) -> Option<String> {
        git::branch(self.root.path())
    }

    /// What the current work is called.
    pub(super) fn work(&self) -> Option<String> {
        bundles::work_name(&self.root, self.branch().as_deref())
    }

    /// The bundle of the current work.
    pub(super) fn current<'a>(&self, shelf: &'a Shelf) -> Option<&'a BundleLine> {
        shelf.bundles.of_work(&self.work()?)
    }

    /// Notes a delivery, or that something was refused. What cannot be noted is delivered all the
    /// same, and a person is told once.
    pub(super) fn note(&self, event: &str, delivered: &Delivered<'_>) {
        let line = AuditLine {
            timestamp: emit::now(),
            session_id: self.session(),
            event: event.to_string(),
            source: delivered.source.to_string(),
            artifact: delivered.path.to_string(),
            content_hash: delivered.hash.to_string(),
            tokens: delivered.tokens,
            bytes: delivered.bytes,
        };
        if let Err(error) = emit::append_audit_line(&self.root, &line)
            && !std::mem::replace(&mut self.state().warned, true)
        {
            (self.warn)(&format!("{error:#}\nhint: deliveries are not noted"));
        }
    }
}

/// What an audit line says of a delivery.
#[derive(Default)]
pub(super) struct Delivered<'a> {
    pub(super) source: &'a str,
    pub(super) path: &'a str,
    pub(super) hash: &'a str,
    pub(super) tokens: u64,
    pub(super) bytes: u64,
}

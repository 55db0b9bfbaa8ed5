//! Opens a built project for a command.

use std::path::Path;

use anyhow::Context;

use super::project;
use crate::build;
use crate::discover::git;
use crate::emit;
use crate::model::layout::USAGE;
use crate::reader::ProjectReader;
use crate::root::Root;
use crate::search::SearchIndex;
use crate::serve::{
    AddressError, AuditLog, Built, Bundles, Library, Overlay, ReadError, bundles, global,
};
use crate::wire::audit::AuditLine;
use crate::wire::jsonl::BundleLine;

/// A project with all indexes of its last build.
pub(super) struct BuiltProject {
    pub(super) root: Root,
    pub(super) built: Built,
    reader: ProjectReader,
    work: Option<String>,
}

impl BuiltProject {
    /// Opens the project that contains a folder.
    pub(super) fn open(directory: &Path) -> anyhow::Result<BuiltProject> {
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let built = open_built(&root)?;
        let reader = ProjectReader::new(build::plan(&root));
        let branch = git::branch(&folder);
        let work = bundles::work_name(&root, branch.as_deref(), &built.bundles);
        Ok(BuiltProject { root, built, reader, work })
    }

    /// Opens the user's own project.
    pub(super) fn open_global() -> anyhow::Result<BuiltProject> {
        BuiltProject::open(&project::global_folder().context(global::NONE)?)
    }

    /// Returns the project for the functions of `serve`.
    pub(super) fn library(&self) -> Library<'_> {
        let BuiltProject { root, built, reader, work } = self;
        Library { root, built, reader, work: work.as_deref(), today: emit::today() }
    }

    /// Returns the search index of the last build.
    pub(super) fn search_index(&self) -> anyhow::Result<SearchIndex> {
        let Built { manifest, catalogue, .. } = &self.built;
        let row_of = |uri: &str| catalogue.row(uri);
        build::search_index(&self.root, &manifest.inputs, catalogue.n_documents(), &row_of)
    }

    /// Converts an error about an address that the user typed, and adds a hint.
    pub(super) fn error(&self, typed: &str, error: impl Into<ReadError>) -> anyhow::Error {
        let error = error.into();
        if let ReadError::Address(AddressError::Malformed(_) | AddressError::NotUtf8) = error {
            return anyhow::anyhow!("{typed:?} is refused: {error}");
        }
        let is_global = global::local_address(typed).is_some();
        let hint = match &error {
            ReadError::Unreadable(..) => Some("run `blue knowledge build`".to_string()),
            ReadError::Address(AddressError::NotADocument(_)) => {
                Some("run `blue knowledge list`".to_string())
            }
            ReadError::Address(address) => match address.candidates(&self.built).as_slice() {
                [] => address.hint(),
                uris if is_global => {
                    let uris: Vec<String> =
                        uris.iter().map(|uri| global::global_address(uri)).collect();
                    Some(format!("did you mean {}?", uris.join(" or ")))
                }
                uris => Some(format!("did you mean {}?", uris.join(" or "))),
            },
            ReadError::Refused(_) | ReadError::Nothing(_) => None,
        };
        let error = if is_global { global::error(error) } else { error };
        match hint {
            Some(hint) => anyhow::anyhow!("{error}\nhint: {hint}"),
            None => anyhow::anyhow!("{error}"),
        }
    }
}

/// Opens the indexes of the last build.
pub(super) fn open_built(root: &Root) -> anyhow::Result<Built> {
    Built::open(root)
        .map_err(|unbuilt| anyhow::anyhow!("{unbuilt}\nhint: run `blue knowledge build`"))
}

/// A project without the index of documents, which can be large: hooks run often and do not need it.
pub(super) struct Delivery {
    pub(super) root: Root,
    pub(super) bundles: Bundles,
    pub(super) log: AuditLog,
    pub(super) branch: Option<String>,
    /// The name of the current work.
    pub(super) work: Option<String>,
}

impl Delivery {
    /// Opens the project that contains a folder. With a session, only the log lines that contain its
    /// name are parsed, which is much faster.
    pub(super) fn open(directory: &Path, session: Option<&str>) -> anyhow::Result<Delivery> {
        let folder = project::find(directory)?;
        let root = project::open(&folder)?;
        let bundles = Bundles::open(&root)?
            .context("nothing has been built here\nhint: run `blue knowledge build`")?;
        let log = AuditLog::open(&root, session);
        let branch = git::branch(&folder);
        let work = bundles::work_name(&root, branch.as_deref(), &bundles);
        Ok(Delivery { root, bundles, log, branch, work })
    }

    /// Returns the bundle of the current work.
    pub(super) fn current(&self) -> Option<&BundleLine> {
        self.bundles.of_work(self.work.as_deref()?)
    }
}

/// Appends a delivery to the audit log.
pub(super) fn record(
    root: &Root,
    line: AuditLine,
    session: &str,
    event: &str,
) -> anyhow::Result<()> {
    let (session_id, event) = (session.to_string(), event.to_string());
    emit::append_audit_line(root, &AuditLine { timestamp: emit::now(), session_id, event, ..line })
}

/// Updates the usage cache from the audit log, before lines are lost by its rotation.
pub(super) fn update_usage(root: &Root) -> Overlay {
    let overlay = Overlay::open(root, emit::today());
    if let Some(bytes) = overlay.cache_bytes(root) {
        // If the cache cannot be written, the next command counts the lines again.
        emit::write_local_unlocked(root, USAGE, &bytes).ok();
    }
    overlay
}

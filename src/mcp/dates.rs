//! When documents were last committed, looked up beside everything else and remembered.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::beneath::{Content, Root};
use crate::discover::git;
use crate::emit;
use crate::serve::Shelf;

/// Where they are remembered from one server to the next.
const DATES: &str = ".blue/local/dates";

/// Dates by path, as of one commit.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Dates {
    head: Option<String>,
    dates: BTreeMap<String, i64>,
}

impl Dates {
    /// What was remembered; one that cannot be read is the same as none.
    pub(super) fn remembered(root: &Root) -> Dates {
        match root.read(DATES, 1 << 28) {
            Ok(Some(Content::Bytes(bytes, _))) => {
                serde_json::from_slice(&bytes).unwrap_or_default()
            }
            _ => Dates::default(),
        }
    }

    /// Asks git, unless it was asked at the same commit about the same documents. `None` if
    /// nothing is new.
    pub(super) fn now(&self, root: &Root, shelf: &Shelf) -> Option<Dates> {
        let head = git::head(root.path(), None).commit;
        let documents = shelf.catalogue.documents.iter().map(|line| line.path.as_str());
        let artifacts = shelf.manifest.artifacts.iter().map(|entry| entry.path.as_str());
        let paths: BTreeSet<&str> = documents.chain(artifacts).collect();
        if head.is_none() || (head == self.head && paths.iter().all(|p| self.asked(p))) {
            return None;
        }
        let known = git::dates(root.path(), &paths);
        // What git does not know is remembered as such, so that it is not asked for again.
        let dates = paths
            .iter()
            .map(|path| (path.to_string(), known.get(*path).copied().unwrap_or_default()));
        let now = Dates { head, dates: dates.collect() };
        let bytes = serde_json::to_vec(&now).expect("dates are JSON");
        // Without it the next server asks again.
        emit::prepare(root).and_then(|()| emit::keep(root, DATES, &bytes)).ok();
        (now.dates != self.dates).then_some(now)
    }

    fn asked(&self, path: &str) -> bool {
        self.dates.contains_key(path)
    }

    /// A document's date, as the protocol wants it.
    pub(super) fn of(&self, path: &str) -> Option<String> {
        let seconds = self.dates.get(path).filter(|seconds| **seconds != 0)?;
        Timestamp::from_second(*seconds).ok().map(|time| time.to_string())
    }
}

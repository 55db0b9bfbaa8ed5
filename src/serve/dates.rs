//! The time of each document's last commit, cached because git takes long to find it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::Built;
use crate::model::layout::DATES;
use crate::root::Root;
use crate::wire::cache::Seal;

/// Commit times by path, as of one commit.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Dates {
    commit: String,
    /// Seconds since 1970; `None` if git does not know the file, so that git is not asked again.
    times: BTreeMap<String, Option<i64>>,
}

fn seal(root: &Root) -> Option<Seal> {
    Some(Seal::new("dates", 1, root.machine().key.as_ref()?, b""))
}

impl Dates {
    /// Reads the cache. A cache that cannot be read counts as empty.
    pub fn open(root: &Root) -> Dates {
        let bytes = root.readable_bytes(DATES, 1 << 28);
        bytes.zip(seal(root)).and_then(|(bytes, seal)| seal.decode(&bytes)).unwrap_or_default()
    }

    /// Returns the dates as of commit `head`. `None` if the cache is of that commit already and has
    /// every file of the build. `ask_git` returns the times that git knows.
    pub fn update(
        &self,
        built: &Built,
        head: &str,
        ask_git: impl FnOnce(&BTreeSet<&str>) -> BTreeMap<String, i64>,
    ) -> Option<Dates> {
        let documents = built.catalogue.by_uri().iter().map(|row| built.catalogue.path(*row));
        let artifacts = built.manifest.artifacts.iter().map(|entry| entry.path.as_str());
        let paths: BTreeSet<&str> =
            documents.chain(artifacts).filter(|path| !path.is_empty()).collect();
        if self.commit == head && paths.iter().all(|path| self.times.contains_key(*path)) {
            return None;
        }
        let known = ask_git(&paths);
        let times = paths.iter().map(|path| (path.to_string(), known.get(*path).copied()));
        Some(Dates { commit: head.to_string(), times: times.collect() })
    }

    /// Returns the bytes of the cache file; `None` without a key to seal it with.
    pub fn cache_bytes(&self, root: &Root) -> Option<Vec<u8>> {
        Some(seal(root)?.encode(self))
    }

    /// Returns true if another cache has the same times, regardless of the commit.
    pub fn has_same_times(&self, other: &Dates) -> bool {
        // A file that git does not know has no time, whether git was asked or not.
        fn known(dates: &Dates) -> impl Iterator<Item = (&String, &Option<i64>)> {
            dates.times.iter().filter(|(_, time)| time.is_some())
        }
        known(self).eq(known(other))
    }

    /// Returns the time of the last commit that changed a file.
    pub fn time(&self, path: &str) -> Option<Timestamp> {
        Timestamp::from_second((*self.times.get(path)?)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_git_does_not_know_has_no_time() {
        let times = [("a.md".to_string(), Some(1_700_000_000)), ("b.md".to_string(), None)];
        let dates = Dates { commit: "abc".to_string(), times: BTreeMap::from(times) };
        let time = |path: &str| dates.time(path).map(|time| time.to_string());
        assert_eq!(time("a.md").as_deref(), Some("2023-11-14T22:13:20Z"));
        assert_eq!((time("b.md"), time("c.md")), (None, None));
        let mut other = dates.clone();
        other.times.insert("c.md".to_string(), None);
        assert!(dates.has_same_times(&other));
        other.times.insert("c.md".to_string(), Some(1));
        assert!(!dates.has_same_times(&other));
    }
}

//! The time of each document's last commit, cached because git takes long to find it.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::Built;
use crate::model::layout::DATES;
use crate::root::{Content, Root};

/// Commit times by path, as of one commit.
///
/// The text of the cache file: the commit, then a line for each path, sorted, with its time in
/// seconds. A path that git does not know has no time, so that git is not asked for it again.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Dates(String);

impl Dates {
    /// Reads the cache. One that cannot be read is empty.
    pub fn open(root: &Root) -> Dates {
        match root.read(DATES, 1 << 28) {
            Ok(Some(Content::Bytes(bytes, _))) => {
                Dates(String::from_utf8(bytes).unwrap_or_default())
            }
            _ => Dates::default(),
        }
    }

    /// The dates as of commit `head`. `None` if these are of that commit and have every file of the
    /// build. Otherwise `ask` returns the times that git knows.
    pub fn update(
        &self,
        built: &Built,
        head: &str,
        ask: impl FnOnce(&BTreeSet<&str>) -> BTreeMap<String, i64>,
    ) -> Option<Dates> {
        let documents = built.catalogue.by_uri().iter().map(|row| built.catalogue.path(*row));
        let artifacts = built.manifest.artifacts.iter().map(|entry| entry.path.as_str());
        let plain = |path: &&str| !path.is_empty() && !path.contains(['\n', '\t']);
        let paths: BTreeSet<&str> = documents.chain(artifacts).filter(plain).collect();
        let same = self.0.lines().next() == Some(head);
        if same && paths.iter().all(|path| self.line(path).is_some()) {
            return None;
        }
        Some(Dates(cache_text(head, &paths, &ask(&paths))))
    }

    /// The bytes of the cache file.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns true if another cache has the same times, whatever its commit.
    pub fn has_times_of(&self, other: &Dates) -> bool {
        let times = |dates: &Dates| dates.0.split_once('\n').map(|(_, times)| times.to_string());
        times(self) == times(other)
    }

    /// Finds the line of a path by binary search.
    fn line(&self, path: &str) -> Option<&str> {
        let (mut low, mut high) = (self.0.find('\n')? + 1, self.0.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let bytes = self.0.as_bytes();
            let start = memchr::memrchr(b'\n', &bytes[..middle]).map_or(0, |at| at + 1).max(low);
            let end = start + memchr::memchr(b'\n', &bytes[start..])?;
            let line = self.0.get(start..end)?;
            match line.split('\t').next()?.cmp(path) {
                std::cmp::Ordering::Equal => return Some(line),
                std::cmp::Ordering::Less => low = end + 1,
                std::cmp::Ordering::Greater => high = start,
            }
        }
        None
    }

    /// The time of the last commit that changed a file.
    pub fn time(&self, path: &str) -> Option<Timestamp> {
        let seconds = self.line(path)?.split_once('\t')?.1.parse().ok()?;
        Timestamp::from_second(seconds).ok()
    }
}

fn cache_text(head: &str, paths: &BTreeSet<&str>, known: &BTreeMap<String, i64>) -> String {
    let mut text = format!("{head}\n");
    for path in paths {
        let seconds = known.get(*path).map_or(String::new(), i64::to_string);
        text.push_str(&format!("{path}\t{seconds}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_every_path_and_no_other() {
        let names: Vec<String> = (0..100).map(|i| format!("docs/{i}.md")).collect();
        let paths: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let known = names.iter().skip(1).map(|name| (name.clone(), 1_700_000_000)).collect();
        let dates = Dates(cache_text("abc", &paths, &known));
        for name in &names[1..] {
            assert_eq!(
                dates.time(name).map(|time| time.to_string()).as_deref(),
                Some("2023-11-14T22:13:20Z"),
                "{name}"
            );
        }
        assert!(dates.line(&names[0]).is_some() && dates.time(&names[0]).is_none());
        for other in ["", "a", "docs/", "docs/100.md", "z", "abc"] {
            assert!(dates.line(other).is_none(), "{other}");
        }
        assert!(Dates::default().line("docs/1.md").is_none());
        assert!(Dates("garbage".into()).line("docs/1.md").is_none());
    }
}

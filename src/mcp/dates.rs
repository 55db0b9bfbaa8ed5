//! When documents were last committed, looked up beside everything else and remembered.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::discover::git;
use crate::emit;
use crate::root::{Content, Root};
use crate::serve::Shelf;

/// Where they are remembered from one server to the next: the commit, then a line for each path,
/// sorted, with its time in seconds.
const DATES: &str = ".blue/local/dates";

/// Dates by path, as of one commit.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Dates(String);

impl Dates {
    /// What was remembered; one that cannot be read is the same as none.
    pub fn remembered(root: &Root) -> Dates {
        match root.read(DATES, 1 << 28) {
            Ok(Some(Content::Bytes(bytes, _))) => {
                Dates(String::from_utf8(bytes).unwrap_or_default())
            }
            _ => Dates::default(),
        }
    }

    /// Asks git, unless it was asked at the same commit about the same documents. `None` if
    /// nothing is new.
    pub fn now(&self, root: &Root, shelf: &Shelf) -> Option<Dates> {
        let head = git::Head::ask(root.path(), None).wait().commit?;
        let documents = shelf.catalogue.by_uri().iter().map(|row| shelf.catalogue.path(*row));
        let artifacts = shelf.manifest.artifacts.iter().map(|entry| entry.path.as_str());
        let plain = |path: &&str| !path.is_empty() && !path.contains(['\n', '\t']);
        let paths: BTreeSet<&str> = documents.chain(artifacts).filter(plain).collect();
        let same = self.0.lines().next() == Some(&head);
        if same && paths.iter().all(|path| self.line(path).is_some()) {
            return None;
        }
        let known = git::dates(root.path(), &paths);
        let now = Dates(text(&head, &paths, &known));
        // Without it the next server asks again.
        emit::create_local_folder(root)
            .and_then(|()| emit::write_local(root, DATES, now.0.as_bytes()))
            .ok();
        let below = |dates: &Dates| dates.0.split_once('\n').map(|(_, below)| below.to_string());
        (below(&now) != below(self)).then_some(now)
    }

    /// The line of a path, found by halves.
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

    /// The time of the last commit that touched a document.
    pub fn time(&self, path: &str) -> Option<Timestamp> {
        let seconds = self.line(path)?.split_once('\t')?.1.parse().ok()?;
        Timestamp::from_second(seconds).ok()
    }

    /// A document's date, as the protocol wants it.
    pub(super) fn of(&self, path: &str) -> Option<String> {
        self.time(path).map(|time| time.to_string())
    }
}

/// What git does not know is remembered as such, so that it is not asked for again.
fn text(head: &str, paths: &BTreeSet<&str>, known: &BTreeMap<String, i64>) -> String {
    let mut text = format!("{head}\n");
    for path in paths {
        text.push_str(path);
        text.push('\t');
        if let Some(seconds) = known.get(*path) {
            text.push_str(&seconds.to_string());
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_found_by_halves_and_no_other() {
        let names: Vec<String> = (0..100).map(|i| format!("docs/{i}.md")).collect();
        let paths: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let known = names.iter().skip(1).map(|name| (name.clone(), 1_700_000_000)).collect();
        let dates = Dates(text("abc", &paths, &known));
        for name in &names[1..] {
            assert_eq!(dates.of(name).as_deref(), Some("2023-11-14T22:13:20Z"), "{name}");
        }
        assert!(dates.line(&names[0]).is_some() && dates.of(&names[0]).is_none());
        for other in ["", "a", "docs/", "docs/100.md", "z", "abc"] {
            assert!(dates.line(other).is_none(), "{other}");
        }
        assert!(Dates::default().line("docs/1.md").is_none());
        assert!(Dates("garbage".into()).line("docs/1.md").is_none());
    }
}

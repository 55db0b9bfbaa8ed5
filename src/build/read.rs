//! Reads and parses every document in parallel, or remembers what it said.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::keeping::Keeping;
use super::{Inputs, Progress};
use crate::discover::judge;
use crate::emit::LOCAL;
use crate::guard::{Allowed, Guard, Named, judge_name};
use crate::model::plan::Limits;
use crate::model::source::content_digest;
use crate::model::{
    Code, Diagnostic, Digest, Facts, FoundFile, Noted, Plan, Record, Source, Stat, TrackedFile,
};
use crate::parse::{self, Extracts};
use crate::root::{Content, Root};
use crate::wire::cache::{self, FactsCache};
use crate::wire::{header, record};

/// What reading gave.
#[derive(Default)]
pub(crate) struct Reading {
    /// Each document with the digest of its content and its facts.
    pub(crate) documents: Vec<(FoundFile, Digest, Facts)>,
    /// The files that were read or known, sorted by path.
    pub(crate) watched: Vec<TrackedFile>,
    /// What the cache should hold from now on.
    pub(crate) keeping: Keeping,
    /// Whether a file was not read, and nothing would notice that it can be.
    pub(super) unwatched: bool,
    /// What can be told of the documents that were parsed, by what their facts are kept under.
    pub(super) told: BTreeMap<Digest, Extracts>,
}

/// In a larger project what can be told is read again of the few documents that it is asked of.
const MAX_TOLD: usize = 4_096;

/// One document that was read.
pub(super) struct One {
    pub(super) digest: Digest,
    /// Under what its facts are kept.
    pub(super) key: Digest,
    pub(super) facts: Facts,
    pub(super) watched: Vec<TrackedFile>,
    /// If it was parsed: its facts as an entry of the cache, and what else can be told of it.
    pub(super) fresh: Option<(Vec<u8>, Option<Extracts>)>,
    /// What is said of its name.
    note: Option<Diagnostic>,
}

/// The record of the last build.
pub(super) fn record(root: &Root, engine: Option<&Digest>) -> Option<Record> {
    let path = format!("{LOCAL}/record");
    let Ok(Some(Content::Bytes(bytes, _))) = root.read(&path, 1 << 32) else { return None };
    record::read(&bytes, engine?)
}

/// Reads every document. One that cannot be read at all stops the build.
pub(super) fn read(
    root: &Root,
    inputs: &Inputs,
    found: Vec<FoundFile>,
    record: &Record,
    cache: FactsCache,
    progress: &dyn Progress,
) -> anyhow::Result<Noted<Reading>> {
    let (plan, guard) = (&inputs.plan, &inputs.guard);
    progress.total(found.len() as u64);
    let (tells, n_bytes) = (found.len() <= MAX_TOLD, AtomicU64::new(0));
    let reader = Reader { root, plan, guard, record, cache: Some(&cache), tells, n_bytes };
    let results: Vec<(FoundFile, Answer)> = found
        .into_par_iter()
        .with_min_len(16)
        .map(|found| {
            let one = reader.one(&found.path, found.sidecar.as_deref());
            progress.step();
            (found, one)
        })
        .collect();
    let mut notes = Vec::new();
    let mut keeping = Keeping::new(cache);
    let mut reading = Reading::default();
    for (found, result) in results {
        match result? {
            Ok(one) => {
                let n_files = 1 + usize::from(found.sidecar.is_some());
                reading.unwatched |= one.watched.len() < n_files;
                let (entry, told) = one.fresh.unzip();
                keeping.add(one.key, entry);
                reading.told.extend(told.flatten().map(|told| (one.key, told)));
                notes.extend(one.note);
                reading.watched.extend(one.watched);
                reading.documents.push((found, one.digest, one.facts));
            }
            Err(refused) => {
                notes.extend(refused.note);
                reading.unwatched |= refused.watched.is_none() && !refused.for_its_name;
                reading.watched.extend(refused.watched);
            }
        }
    }
    keeping.place(&plan.limits);
    reading.keeping = keeping;
    reading.watched.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Noted::new(reading, notes))
}

/// Facts kept from the last build; absent if they cannot be read.
pub(super) fn cache(root: &Root, limits: &Limits) -> FactsCache {
    let Some(key) = &root.machine().key else { return FactsCache::default() };
    match root.read(&format!("{LOCAL}/facts"), 1 << 40) {
        Ok(Some(Content::Bytes(bytes, _))) => FactsCache::open(bytes, limits, key),
        _ => FactsCache::default(),
    }
}

/// Reads documents, or remembers what they said.
pub(super) struct Reader<'a> {
    root: &'a Root,
    plan: &'a Plan,
    guard: &'a Guard,
    record: &'a Record,
    cache: Option<&'a FactsCache>,
    /// Whether what can be told is kept.
    tells: bool,
    /// Bytes of documents so far; the sum does not depend on the order of work.
    n_bytes: AtomicU64,
}

type Answer = anyhow::Result<Result<One, Refused>>;

/// A file that is not read: what is said of it, and what it was, so that a change is noticed.
struct Refused {
    watched: Option<TrackedFile>,
    note: Option<Diagnostic>,
    /// Whatever it holds, it is not read.
    for_its_name: bool,
}

impl<'a> Reader<'a> {
    /// Reads documents that were edited, and knows nothing of what they say.
    pub(super) fn of_edit(root: &'a Root, inputs: &'a Inputs, record: &'a Record) -> Reader<'a> {
        let (plan, guard) = (&inputs.plan, &inputs.guard);
        Reader { root, plan, guard, record, cache: None, tells: true, n_bytes: AtomicU64::new(0) }
    }

    /// A document that was edited; `None` if it cannot be read any more. What is said of its name was
    /// said before.
    pub(super) fn again(&self, path: &str, sidecar: Option<&str>) -> Option<One> {
        self.one(path, sidecar).ok()?.ok()
    }

    fn facts(&self, key: &Digest) -> Option<Facts> {
        self.cache?.get(key)
    }

    fn one(&self, path: &str, sidecar: Option<&str>) -> Answer {
        // What is not read for its name is not remembered either: the name itself may be a secret.
        let note = match self.judged(path) {
            Named::Plain => None,
            Named::Noted(note) => Some(note),
            Named::Refused(note) => {
                return Ok(Err(Refused { watched: None, note: Some(note), for_its_name: true }));
            }
        };
        let allowed = self.guard.of(path);
        if let Some((digest, facts, watched)) = self.remembered(path, sidecar, &allowed) {
            self.count(facts.n_bytes)?;
            let key = allowed.key(digest);
            return Ok(Ok(One { digest, key, facts, watched, fresh: None, note }));
        }
        let (bytes, stat) = match self.bytes(path)? {
            Ok(content) => content,
            Err(note) => {
                return Ok(Err(Refused {
                    watched: self.refused(path),
                    note: Some(note),
                    for_its_name: false,
                }));
            }
        };
        // Digests that blue emitted lie beside notes that people wrote; they are no source.
        if path.starts_with("knowledge/") && header::is_emitted(&bytes) {
            return Ok(Err(Refused { watched: None, note: None, for_its_name: false }));
        }
        self.count(bytes.len() as u64)?;
        let own = Digest::of(&bytes);
        // What lies behind a link can change without the link showing it.
        let linked = self.root.stat(path).ok().flatten().is_none_or(|(known, _)| known != stat);
        let stat = if linked { Stat::default() } else { stat };
        let mut watched = vec![TrackedFile { path: path.to_string(), stat, digest: own }];
        let mut sidecar_bytes = None;
        if let Some(path) = sidecar
            && let Ok((bytes, stat)) = self.bytes(path)?
        {
            watched.push(TrackedFile { path: path.to_string(), stat, digest: Digest::of(&bytes) });
            sidecar_bytes = Some(bytes);
        }
        let digest = content_digest(own, sidecar_bytes.as_deref().map(Digest::of));
        let key = allowed.key(digest);
        if let Some(facts) = self.facts(&key) {
            return Ok(Ok(One { digest, key, facts, watched, fresh: None, note }));
        }
        let source = Source { bytes, sidecar: sidecar_bytes };
        let (facts, told) = self.parsed(&source, &allowed);
        let fresh = Some((cache::facts_entry(&key, &facts), told));
        Ok(Ok(One { digest, key, facts, watched, fresh, note }))
    }

    fn parsed(&self, source: &Source, allowed: &Allowed) -> (Facts, Option<Extracts>) {
        let limits = &self.plan.limits;
        if !self.tells {
            return (parse::parse(source, limits, allowed), None);
        }
        let (facts, told) = parse::parse_all(source, limits, allowed);
        (facts, Some(told))
    }

    /// A document that the last build read was not refused for its name; nothing else is said of
    /// one that is ASCII.
    fn judged(&self, path: &str) -> Named {
        match path.is_ascii() && self.record.input(path).is_some() {
            true => Named::Plain,
            false => judge_name(path),
        }
    }

    /// Stops the build once the documents are too large together. Some of them would be a smaller
    /// truth, and which ones would depend on the order of work.
    fn count(&self, n_bytes: u64) -> anyhow::Result<()> {
        let limit = self.plan.limits.total_bytes;
        let before = self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        anyhow::ensure!(
            before.saturating_add(n_bytes) <= limit,
            "the documents have more than {limit} bytes together [{}]\nhint: raise limits.total_bytes in .blue/config.yaml, or narrow documents:",
            Code::TooManyBytes
        );
        Ok(())
    }

    /// A document whose file did not move, and whose facts are in the cache.
    fn remembered(
        &self,
        path: &str,
        sidecar: Option<&str>,
        allowed: &Allowed,
    ) -> Option<(Digest, Facts, Vec<TrackedFile>)> {
        let paths = std::iter::once(path).chain(sidecar);
        let mut watched = Vec::new();
        for path in paths {
            let known = self.record.input(path)?;
            let (stat, _) = self.root.stat(path).ok()??;
            if stat != known.stat || stat.is_racy(self.record.looked) {
                return None;
            }
            watched.push(known.clone());
        }
        let digest =
            content_digest(watched[0].digest, watched.get(1).map(|sidecar| sidecar.digest));
        let facts = self.facts(&allowed.key(digest))?;
        Some((digest, facts, watched))
    }

    /// A file that is not read, under a digest that no content has.
    fn refused(&self, path: &str) -> Option<TrackedFile> {
        let (stat, _) = self.root.stat(path).ok()??;
        Some(TrackedFile { path: path.to_string(), stat, digest: Digest::from_bytes([0; 32]) })
    }

    fn bytes(&self, path: &str) -> anyhow::Result<Result<(Vec<u8>, Stat), Diagnostic>> {
        let limit = self.plan.limits.document_bytes;
        Ok(match judge::read(self.root, self.plan, path)? {
            Some(Content::Bytes(bytes, stat)) => Ok((bytes, stat)),
            Some(Content::TooLarge(size)) => {
                let message =
                    format!("{size} bytes are over the limit of {limit}; the document is not read");
                let hint = "split it, or raise limits.document_bytes in .blue/config.yaml";
                Err(Diagnostic::new(Code::TooLarge, path, message).hint(hint))
            }
            Some(Content::NotRegular) => Err(Diagnostic::new(
                Code::NotRegular,
                path,
                "it is not a regular file; it is not read",
            )),
            None => Err(Diagnostic::new(
                Code::Vanished,
                path,
                "it vanished while the build was reading",
            )),
        })
    }
}

//! Reads and parses all documents in parallel. Documents that did not change come from the facts cache.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::{Inputs, Progress};
use crate::discover;
use crate::discover::deny::{Access, DenyList};
use crate::emit;
use crate::guard::{Allowed, NameCheck, check_name};
use crate::model::layout::{FACTS, KNOWLEDGE};
use crate::model::plural::counted;
use crate::model::source::document_digest;
use crate::model::{
    Code, Diagnostic, Digest, FoundFile, Note, Noted, Parsed, Source, Stat, State, TextFormat,
    TrackedFile,
};
use crate::parse::{self, Extracts};
use crate::root::{Content, Root};
use crate::wire::cache::Seal;
use crate::wire::facts::{self, FactsCache};
use crate::wire::header;

/// All documents, read and parsed.
#[derive(Default)]
pub(super) struct ReadDocuments {
    /// Each document with the digest of its content.
    pub(super) parsed: Vec<(FoundFile, Digest, Parsed)>,
    /// The files that were read, sorted by path.
    pub(super) files: Vec<TrackedFile>,
    /// Longer texts of the documents that were parsed now, by their key in the facts cache.
    pub(super) extracts: BTreeMap<Digest, Extracts>,
    pub(super) new_facts: NewFacts,
}

/// Difference between the facts cache and the documents that were read.
#[derive(Default)]
pub(super) struct NewFacts {
    /// Keys of all documents.
    keys: BTreeSet<Digest>,
    /// Encoded entries of those that are not in the cache.
    entries: Vec<Vec<u8>>,
}

/// The facts cache of a project.
#[derive(Default)]
pub(super) struct FactsStore {
    /// `None` if the cache must not be used.
    seal: Option<Seal>,
    cache: FactsCache,
}

/// The cache is written when more than one in this many documents is not in it.
const MAX_NEW_SHARE: usize = 256;

impl FactsStore {
    /// Loads the cache, unless `force` says to rebuild it. Without a key for this machine there is none.
    pub(super) fn load(root: &Root, inputs: &Inputs, force: bool) -> FactsStore {
        let Some(key) = &root.machine().key else { return FactsStore::default() };
        let seal = facts::seal(key, &inputs.plan.limits);
        let cache = match root.read(FACTS, 1 << 40) {
            Ok(Some(Content::Bytes(bytes, _))) if !force => FactsCache::open(bytes, &seal),
            _ => FactsCache::default(),
        };
        FactsStore { seal: Some(seal), cache }
    }

    /// Writes the cache if there are enough new entries. Unused entries stay until they outnumber the
    /// documents: they may belong to another branch.
    pub(super) fn save(self, root: &Root, new: NewFacts) -> anyhow::Result<()> {
        // Parsing a few documents again takes less time than writing the entries of all.
        let is_worth_writing = new.entries.len() > new.keys.len() / MAX_NEW_SHARE;
        let Some(seal) = self.seal.filter(|_| is_worth_writing) else { return Ok(()) };
        let n_all = self.cache.len() + new.entries.len();
        let is_crowded = n_all > 2 * new.keys.len() + 64;
        let keeps = |key: &Digest| !is_crowded || new.keys.contains(key);
        let old = self.cache.entries().filter(|(key, _)| keeps(key)).map(|(_, entry)| entry);
        let entries: Vec<&[u8]> = old.chain(new.entries.iter().map(Vec::as_slice)).collect();
        let header = seal.header(&entries);
        emit::write_local_parts(root, FACTS, std::iter::once(header.as_slice()).chain(entries))
    }
}

/// In larger projects, longer texts are read again for the few documents that need them. Those of all
/// documents would take too much memory.
const MAX_WITH_EXTRACTS: usize = 4_096;

/// One document that was read.
struct LoadedDocument {
    digest: Digest,
    /// Its key in the facts cache.
    key: Digest,
    parsed: Parsed,
    files: Vec<TrackedFile>,
    /// If it is not in the cache: its entry, and its longer texts.
    fresh: Option<(Vec<u8>, Option<Extracts>)>,
    /// A finding about its name.
    note: Option<Diagnostic>,
}

/// A file that is not read.
struct Refused {
    /// Its state, so that the next build notices a change; empty if it is never read.
    files: Vec<TrackedFile>,
    notes: Vec<Diagnostic>,
}

/// Reads and parses every document. `previous` is the state of the last build, or empty.
pub(super) fn read_all(
    root: &Root,
    inputs: &Inputs,
    found: Vec<FoundFile>,
    previous: &State,
    store: &FactsStore,
    progress: &dyn Progress,
) -> anyhow::Result<Noted<ReadDocuments>> {
    progress.total(found.len() as u64);
    let reader = DocumentReader {
        root,
        inputs,
        previous,
        cache: &store.cache,
        with_extracts: found.len() <= MAX_WITH_EXTRACTS,
        n_bytes: AtomicU64::new(0),
        deny: DenyList::of_plan(&inputs.plan)?,
    };
    let results: Vec<(FoundFile, anyhow::Result<Result<LoadedDocument, Refused>>)> = found
        .into_par_iter()
        .with_min_len(16)
        .map(|found| {
            let document = reader.read(&found.path, found.sidecar.as_deref());
            let document =
                document.map(|read| read.and_then(|read| reader.admit(&found.path, read)));
            progress.step();
            (found, document)
        })
        .collect();
    let mut notes = Vec::new();
    let mut all = ReadDocuments::default();
    for (found, result) in results {
        match result? {
            Ok(document) => {
                let (entry, extracts) = document.fresh.unzip();
                if all.new_facts.keys.insert(document.key) {
                    all.new_facts.entries.extend(entry);
                }
                all.extracts.extend(extracts.flatten().map(|extracts| (document.key, extracts)));
                notes.extend(document.note);
                all.files.extend(document.files);
                all.parsed.push((found, document.digest, document.parsed));
            }
            Err(refused) => {
                notes.extend(refused.notes);
                all.files.extend(refused.files);
            }
        }
    }
    all.files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(Noted::new(all, notes))
}

/// Returns the key of a document in the facts cache. Facts depend on the content, on its format and on
/// the exceptions of the guard.
pub(super) fn facts_key(path: &str, content: Digest, allowed: &Allowed) -> Digest {
    allowed.cache_key(TextFormat::of_path(path).unwrap_or_default().cache_key(content))
}

struct DocumentReader<'a> {
    root: &'a Root,
    inputs: &'a Inputs,
    previous: &'a State,
    cache: &'a FactsCache,
    with_extracts: bool,
    /// Size of all documents so far. The sum does not depend on the order of reading.
    n_bytes: AtomicU64,
    deny: DenyList,
}

impl DocumentReader<'_> {
    /// Reads one document. An error stops the build; a refused file does not.
    fn read(
        &self,
        path: &str,
        sidecar: Option<&str>,
    ) -> anyhow::Result<Result<LoadedDocument, Refused>> {
        let note = match self.check_name(path) {
            NameCheck::Plain => None,
            NameCheck::Noted(note) => Some(note),
            // The state does not mention the file, because its name may be a secret.
            NameCheck::Refused(note) => {
                return Ok(Err(Refused { files: Vec::new(), notes: vec![note] }));
            }
        };
        let allowed = self.inputs.guard.allowed_for(path);
        if let Some((digest, parsed, files)) = self.unchanged(path, sidecar, &allowed) {
            self.add_size(parsed.facts.n_bytes)?;
            let key = facts_key(path, digest, &allowed);
            return Ok(Ok(LoadedDocument { digest, key, parsed, files, fresh: None, note }));
        }
        let (bytes, stat) = match self.bytes(path)? {
            Ok(content) => content,
            Err(note) => {
                let files = self.unread(path).into_iter().collect();
                return Ok(Err(Refused { files, notes: vec![note] }));
            }
        };
        // A digest that blue emitted may be in a folder of documents; it is not a source.
        if path.starts_with(KNOWLEDGE) && header::is_emitted(&bytes) {
            return Ok(Err(Refused { files: Vec::new(), notes: Vec::new() }));
        }
        self.add_size(bytes.len() as u64)?;
        let own = Digest::of(&bytes);
        // The target of a link can change while the link does not, so its stat must never match.
        let is_link = self.root.stat(path).ok().flatten().is_none_or(|(known, _)| known != stat);
        let stat = if is_link { Stat::default() } else { stat };
        let mut files = vec![TrackedFile { path: path.to_string(), stat, digest: own }];
        let mut sidecar_bytes = None;
        if let Some(path) = sidecar
            && let Ok((bytes, stat)) = self.bytes(path)?
        {
            files.push(TrackedFile { path: path.to_string(), stat, digest: Digest::of(&bytes) });
            sidecar_bytes = Some(bytes);
        }
        let digest = document_digest(own, sidecar_bytes.as_deref().map(Digest::of));
        let key = facts_key(path, digest, &allowed);
        if let Some(parsed) = self.cache.get(&key) {
            return Ok(Ok(LoadedDocument { digest, key, parsed, files, fresh: None, note }));
        }
        let source = Source::new(path, bytes, sidecar_bytes);
        let limits = &self.inputs.plan.limits;
        let (parsed, extracts) = match self.with_extracts {
            true => {
                let (parsed, extracts) = parse::parse_all(&source, limits, &allowed);
                (parsed, Some(extracts))
            }
            false => (parse::parse(&source, limits, &allowed), None),
        };
        let fresh = Some((facts::encode(&key, &parsed), extracts));
        Ok(Ok(LoadedDocument { digest, key, parsed, files, fresh, note }))
    }

    /// Refuses a document whose name is on the deny-list unless it is a decision about the matter:
    /// it has a title, and no secret in it.
    fn admit(&self, path: &str, document: LoadedDocument) -> Result<LoadedDocument, Refused> {
        let is_secret = |(_, note): &(&str, &Note)| note.code == Code::Secret;
        let sidecar = document.files.get(1).map_or(path, |file| file.path.as_str());
        let in_document = document.parsed.notes.iter().map(|note| (path, note));
        let in_sidecar = document.parsed.sidecar_notes.iter().map(|note| (sidecar, note));
        let secrets: Vec<_> = in_document.chain(in_sidecar).filter(is_secret).collect();
        if secrets.is_empty() && !document.parsed.facts.titles.is_empty() {
            return Ok(document);
        }
        let Access::Scanned(name) = self.deny.access(path) else { return Ok(document) };
        let (reason, hint) = match secrets.len() {
            0 => ("it has no title".to_string(), "give it a title, or rename it"),
            n => (
                format!("its text has {}", counted(n, "secret")),
                "remove it; if it is not a secret, allow its fingerprint: security.allow_secrets",
            ),
        };
        let message =
            format!("{name:?} is on the deny-list and {reason}; the document is not read");
        let mut notes = vec![Diagnostic::new(Code::Denied, path, message).hint(hint)];
        notes.extend(secrets.into_iter().map(|(file, note)| {
            let finding = Diagnostic::new(note.code, file, note.message.clone());
            Diagnostic { hint: note.hint.clone(), ..finding.at(note.line, note.column) }
        }));
        Err(Refused { files: document.files, notes })
    }

    /// Checks a file name. A name that the last build read was not refused, and there are no other
    /// findings about ASCII names.
    fn check_name(&self, path: &str) -> NameCheck {
        match path.is_ascii() && self.previous.input(path).is_some() {
            true => NameCheck::Plain,
            false => check_name(path),
        }
    }

    /// Stops the build when all documents together are too large. Reading only some of them would make
    /// the result depend on the order of reading.
    fn add_size(&self, n_bytes: u64) -> anyhow::Result<()> {
        let limit = self.inputs.plan.limits.total_bytes;
        let before = self.n_bytes.fetch_add(n_bytes, Ordering::Relaxed);
        anyhow::ensure!(
            before.saturating_add(n_bytes) <= limit,
            "the documents have more than {limit} bytes together [{}]\nhint: raise limits.total_bytes in .blue/config.yaml, or narrow documents:",
            Code::TooManyBytes
        );
        Ok(())
    }

    /// Returns a document whose file did not change and whose facts are cached.
    fn unchanged(
        &self,
        path: &str,
        sidecar: Option<&str>,
        allowed: &Allowed,
    ) -> Option<(Digest, Parsed, Vec<TrackedFile>)> {
        let mut files = Vec::new();
        for path in std::iter::once(path).chain(sidecar) {
            let known = self.previous.input(path)?;
            let (stat, _) = self.root.stat(path).ok()??;
            if stat != known.stat || stat.is_racy(self.previous.looked_at) {
                return None;
            }
            files.push(known.clone());
        }
        let digest = document_digest(files[0].digest, files.get(1).map(|sidecar| sidecar.digest));
        let parsed = self.cache.get(&facts_key(path, digest, allowed))?;
        Some((digest, parsed, files))
    }

    /// Returns the state of a file that is not read, with a digest that no content has.
    fn unread(&self, path: &str) -> Option<TrackedFile> {
        let (stat, _) = self.root.stat(path).ok()??;
        Some(TrackedFile { path: path.to_string(), stat, digest: Digest::from_bytes([0; 32]) })
    }

    fn bytes(&self, path: &str) -> anyhow::Result<Result<(Vec<u8>, Stat), Diagnostic>> {
        let plan = &self.inputs.plan;
        let limit = plan.limits.document_bytes;
        Ok(match discover::read_document(self.root, plan, path)? {
            Some(Content::Bytes(bytes, stat)) => Ok((bytes, stat)),
            Some(Content::TooLarge(size)) => {
                let message =
                    format!("{size} bytes are over the limit of {limit}; the document is not read");
                let hint = "split it, or raise limits.document_bytes in .blue/config.yaml";
                Err(Diagnostic::new(Code::TooLarge, path, message).hint(hint))
            }
            Some(Content::NotRegular) => {
                Err(Diagnostic::new(Code::NotRegular, path, "not a regular file; it is not read"))
            }
            None => Err(Diagnostic::new(
                Code::Vanished,
                path,
                "it vanished while the build was reading",
            )),
        })
    }
}

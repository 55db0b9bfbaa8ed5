//! What the facts cache will hold after a build, and where.

use crate::emit::{self, LOCAL};
use crate::model::plan::Limits;
use crate::model::snapshot::Basis;
use crate::model::{Digest, Terms};
use crate::root::Root;
use crate::wire::blocks;
use crate::wire::cache::{self, FactsCache};

/// What was read from the facts cache, and what it does not have yet.
#[derive(Default)]
pub(crate) struct Keeping {
    /// New facts, as entries of the cache.
    fresh: Vec<Vec<u8>>,
    /// Documents whose facts came from the cache.
    cached: Vec<Digest>,
    cache: FactsCache,
    /// Where new facts are appended, once the cache itself is no longer needed.
    end: Option<u64>,
    /// Where facts will lie once they are kept.
    placed: Placed,
}

/// Where facts lie in their file.
#[derive(Default)]
struct Placed {
    /// The block of each, sorted by what they are kept under.
    blocks: Vec<(Digest, u64)>,
    end: u64,
    n: u64,
}

/// The facts of a first build. They are written while documents are ranked, and are gone when those
/// need the room.
pub(super) struct First(Vec<Vec<u8>>);

impl First {
    pub(super) fn keep(self, root: &Root, limits: &Limits) -> anyhow::Result<()> {
        write_anew(root, limits, self.0.iter().map(Vec::as_slice))
    }
}

fn write_anew<'a>(
    root: &Root,
    limits: &Limits,
    entries: impl Iterator<Item = &'a [u8]>,
) -> anyhow::Result<()> {
    let Some(key) = &root.machine().key else { return Ok(()) };
    let parts = std::iter::once(cache::facts_head(limits)).chain(blocks::packed(entries, key));
    emit::keep_parts(root, &format!("{LOCAL}/facts"), parts)
}

impl Keeping {
    /// What a cache holds, and nothing new yet.
    pub(super) fn new(cache: FactsCache) -> Keeping {
        Keeping { cache, ..Keeping::default() }
    }

    /// Adds the facts of a document: new ones as an entry, others under what they are kept.
    pub(super) fn add(&mut self, key: Digest, fresh: Option<Vec<u8>>) {
        match fresh {
            Some(entry) => self.fresh.push(entry),
            None => self.cached.push(key),
        }
    }

    /// The words of a content that was read by an earlier build.
    pub(super) fn words(&self, key: &Digest) -> Option<Terms> {
        self.cache.get(key).map(|facts| facts.terms)
    }

    /// What there is to keep where nothing was kept before.
    pub(super) fn first(&mut self) -> Option<First> {
        self.cache.is_empty().then(|| First(std::mem::take(&mut self.fresh)))
    }

    /// Brings the cache up to date: new facts are appended, and once most of it is of documents
    /// that are gone, it is written anew.
    pub(super) fn keep(&self, root: &Root, limits: &Limits) -> anyhow::Result<()> {
        let fresh = self.fresh.iter().map(Vec::as_slice);
        match self.end {
            Some(_) if self.fresh.is_empty() => Ok(()),
            Some(end) => {
                let Some(key) = &root.machine().key else { return Ok(()) };
                emit::append(root, &format!("{LOCAL}/facts"), end, blocks::packed(fresh, key))
            }
            // Where there was none, the first facts are written already.
            None if self.cache.is_empty() => Ok(()),
            None => {
                let kept = self.cached.iter().filter_map(|digest| self.cache.entry(digest));
                write_anew(root, limits, kept.chain(fresh))
            }
        }
    }

    /// Lets go of what was read from the cache, unless it must be written anew.
    pub(super) fn let_go(&mut self) {
        if self.appends() {
            self.end = Some(self.cache.end());
            self.cache = FactsCache::default();
        }
    }

    /// Whether new facts are appended to what is there.
    fn appends(&self) -> bool {
        let n = self.cached.len() + self.fresh.len();
        !self.cache.is_empty() && !is_crowded(self.cache.len() as u64, n)
    }

    /// Notes where facts will lie.
    pub(super) fn place(&mut self, limits: &Limits) {
        let (start, known): (u64, &[Digest]) = match self.appends() {
            true => (self.cache.end(), &[]),
            false => (cache::facts_head(limits).len() as u64, &self.cached),
        };
        let known = known.iter().filter_map(|key| self.cache.entry(key));
        let entries = known.chain(self.fresh.iter().map(Vec::as_slice));
        let (mut blocks, end) = blocks::places(start, entries);
        let mut n = blocks.len();
        if self.appends() {
            let block = |key: &Digest| Some((*key, self.cache.block(key)?));
            blocks.extend(self.cached.iter().filter_map(block));
            n += self.cache.len();
        }
        blocks.sort_unstable();
        self.placed = Placed { blocks, end, n: n as u64 };
    }

    /// The blocks that facts will lie in, by what they are kept under.
    pub(super) fn blocks(&self, keys: impl Iterator<Item = Digest>) -> Vec<u64> {
        let placed = &self.placed.blocks;
        let at = |key: Digest| placed.binary_search_by_key(&key, |(key, _)| *key);
        // What cannot be found is not there.
        keys.map(|key| at(key).map_or(u64::MAX, |at| placed[at].1)).collect()
    }

    /// A snapshot with this checksum to go on from.
    pub(super) fn basis(&self, check: Digest) -> Basis {
        Basis { check, edited: Vec::new(), end: self.placed.end, n_facts: self.placed.n }
    }

    /// What an edit adds to the facts of a file that ends here.
    pub(super) fn of_edit(fresh: Vec<Vec<u8>>, end: u64) -> Keeping {
        Keeping { fresh, end: Some(end), ..Keeping::default() }
    }
}

/// Whether a facts file has so many facts of documents that are gone that it is written anew.
pub(super) fn is_crowded(n_facts: u64, n_documents: usize) -> bool {
    n_facts > 2 * n_documents as u64 + 64
}

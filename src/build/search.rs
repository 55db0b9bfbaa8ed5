//! The search index of a build, a cache in `.blue/local`.

use super::{Silent, state};
use crate::emit;
use crate::model::layout::SEARCH;
use crate::model::{Diagnostic, Lexicon};
use crate::root::Root;
use crate::search::SearchIndex;
use crate::wire::cache::Seal;

/// Raised by hand whenever [`SearchIndex`] changes, or the same documents give another index.
const FORMAT: u32 = 1;

/// Returns the seal of an index. `inputs` is the digest of the build's inputs in the manifest.
fn seal(root: &Root, inputs: &str) -> Option<Seal> {
    let context = format!("{} {inputs}", env!("CARGO_PKG_VERSION"));
    Some(Seal::new("search", FORMAT, root.machine().key.as_ref()?, context.as_bytes()))
}

/// Writes the index of a build. Without a key for this machine there is no cache.
pub(super) fn save(root: &Root, inputs: &str, index: &SearchIndex) -> Option<Diagnostic> {
    let header = seal(root, inputs)?.header(&[index.bytes()]);
    let parts = [&header[..], index.bytes()].into_iter();
    emit::write_local_parts(root, SEARCH, parts).err().map(state::not_written)
}

/// Reads the cache. `None` if it does not verify.
fn read(root: &Root, seal: &Seal) -> Option<SearchIndex> {
    let bytes = root.readable_bytes(SEARCH, 1 << 32)?;
    let start = bytes.len() - seal.payload(&bytes)?.len();
    SearchIndex::open(bytes, start)
}

/// Returns the search index of the last build. If the cache is missing, as in a fresh clone, it is
/// built from the documents and saved. `inputs` is the digest of the build's inputs, and `row_of`
/// returns the row of an address among the build's documents.
pub fn search_index(
    root: &Root,
    inputs: &str,
    n_documents: usize,
    row_of: &dyn Fn(&str) -> Option<usize>,
) -> anyhow::Result<SearchIndex> {
    let seal = seal(root, inputs);
    let cached = seal.as_ref().and_then(|seal| read(root, seal));
    if let Some(index) = cached.filter(|index| index.n_documents() == n_documents) {
        return Ok(index);
    }
    super::threads::start_pool(None)?;
    let loaded = super::load(root)?;
    let store = super::FactsStore::load(root, &loaded, false);
    let previous = state::load(root, false);
    let survey = super::survey_with(root, &loaded, &previous, &store, &Silent)?;
    let super::Survey { graph, bindings, knowledge, roles, .. } = &survey;
    let roles = super::responsibilities::digest(&loaded, roles.iter());
    let digest = super::manifest::inputs_digest(&loaded, graph, bindings, knowledge, roles);
    let lexicon = Lexicon::new(&survey.graph.documents, survey.terms);
    let rows = survey.graph.documents.iter().map(|document| row_of(document.uri.as_str()));
    let rows: Vec<Option<usize>> = rows.collect();
    let index = SearchIndex::new(&survey.graph, &lexicon).renumbered(&rows, n_documents);
    // If documents changed since the build, the index is only good for this search.
    if digest.to_string() == inputs
        && let Some(seal) = seal
    {
        // Without a cache the next search takes longer; nothing else is lost.
        let bytes = [&seal.header(&[index.bytes()]), index.bytes()].concat();
        emit::write_local_unlocked(root, SEARCH, &bytes).ok();
    }
    Ok(index)
}

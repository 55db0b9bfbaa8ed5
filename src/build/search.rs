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
    let bytes = seal(root, inputs)?.encode(index);
    emit::write_local(root, SEARCH, &bytes).err().map(state::not_written)
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
    let bytes = seal.as_ref().and_then(|_| root.readable_bytes(SEARCH, 1 << 32));
    let cached = bytes.zip(seal.as_ref()).and_then(|(bytes, seal)| seal.decode(&bytes));
    let is_usable = |index: &SearchIndex| index.n_documents() == n_documents && index.is_valid();
    if let Some(index) = cached.filter(is_usable) {
        return Ok(index);
    }
    super::threads::start_pool(None)?;
    let loaded = super::load(root)?;
    let store = super::FactsStore::load(root, &loaded, false);
    let previous = state::load(root, false);
    let survey = super::survey_with(root, &loaded, &previous, &store, &Silent)?;
    let digest = super::manifest::inputs_digest(&loaded, &survey.graph, &survey.bindings);
    let lexicon = Lexicon::new(&survey.graph.documents, survey.terms);
    let rows = survey.graph.documents.iter().map(|document| row_of(document.uri.as_str()));
    let rows: Vec<Option<usize>> = rows.collect();
    let index = SearchIndex::new(&survey.graph, &lexicon).renumbered(&rows, n_documents);
    // If documents changed since the build, the index is only good for this search.
    if digest.to_string() == inputs
        && let Some(seal) = seal
    {
        // Without a cache the next search takes longer; nothing else is lost.
        emit::write_local_unlocked(root, SEARCH, &seal.encode(&index)).ok();
    }
    Ok(index)
}

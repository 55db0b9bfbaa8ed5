//! Search by words: an index of all terms, ranked matches, and the best passage of a text.

pub mod index;
pub mod passages;
pub mod query;
mod similar_stems;

pub use index::SearchIndex;
pub use passages::{BestPassages, Passage, RatedBlocks, rate_text};
pub use query::{Match, Query};

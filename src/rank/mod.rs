//! Ranks the neighbours of every document, with reasons, and computes the weight of each document.

mod citations;
mod citing_phrases;
mod inverted_index;
mod priors;
pub mod ranker;
mod reasons;
mod references;
pub mod signals;
mod title_phrases;
mod top;

use rayon::prelude::*;

use crate::model::{DocId, Graph, Lexicon, Neighbour, Reason};

use ranker::{RankedCandidate, Ranker, Scratch};
use reasons::OwnWords;
use references::References;
use signals::{WEIGHTS, content_score, weighted_sum};

/// Maximum number of neighbours that a document refers to, and of others.
const MAX_REFERENCED: usize = 20;
const MAX_OTHERS: usize = 12;

/// Factor that turns points of explicit references into scores. Documents that are referred to come
/// before documents that are only similar.
const REFERENCE_FACTOR: u32 = 150;

/// Candidates whose content signals sum to less than this, in thousandths, are not neighbours.
const MIN_CONTENT: i32 = 500;

/// Penalty of documents that are not live.
const NOT_LIVE_PENALTY: i32 = 300;

/// Added to every score, because priors can make a sum negative.
const SCORE_OFFSET: i32 = 3_000;

/// Maximum number of parallel tasks. Each allocates memory proportional to the number of documents.
const MAX_TASKS: usize = 32;

/// The ranking of a graph, by row.
#[derive(Debug, Default)]
pub struct Ranking {
    /// The neighbours of each document, best first.
    pub neighbours: Vec<Vec<Neighbour>>,
    /// Sum of the points of references to each document.
    pub weights: Vec<u32>,
}

/// Ranks the neighbours of every document. Scores are integers, and ties are broken by row.
pub fn rank(graph: &Graph, lexicon: &Lexicon) -> Ranking {
    let ranker = Ranker::new(graph, lexicon);
    let references = References::new(graph);
    let ids: Vec<DocId> = graph.ids().collect();
    let tasks = ids.par_chunks(ids.len().div_ceil(MAX_TASKS).max(1)).map(|ids| {
        let mut scratch = ranker.scratch();
        let rank = |id: &DocId| neighbours(&ranker, &references, &mut scratch, *id);
        ids.iter().map(rank).collect::<Vec<Vec<Neighbour>>>()
    });
    let neighbours = tasks.collect::<Vec<_>>().into_iter().flatten().collect();
    let weights = ids.par_iter().map(|id| references.weight(*id)).collect();
    Ranking { neighbours, weights }
}

/// Ranks the documents that one document refers to, and the best of the others.
fn neighbours(
    ranker: &Ranker<'_>,
    references: &References<'_>,
    scratch: &mut Scratch,
    id: DocId,
) -> Vec<Neighbour> {
    let mut referenced = referenced(ranker.graph, references.votes(id));
    let ids: Vec<DocId> = referenced.iter().map(|neighbour| neighbour.id).collect();
    let candidates = ranker.candidates(id, &ids, scratch);
    let mut others: Vec<(u32, DocId, usize)> = Vec::new();
    for (row, candidate) in candidates.iter().enumerate() {
        let score = || score(ranker.graph, candidate);
        match ids.binary_search(&candidate.id) {
            Ok(at) => referenced[at].score = referenced[at].score.saturating_add(score()),
            // Priors alone do not make a neighbour.
            Err(_) => {
                let refers_here = || ranker.citations.cites(candidate.id, id);
                if content_score(&candidate.signals) >= MIN_CONTENT || refers_here() {
                    others.push((score(), candidate.id, row));
                }
            }
        }
    }
    referenced.sort_by_key(|neighbour| (std::cmp::Reverse(neighbour.score), neighbour.id));
    referenced.truncate(MAX_REFERENCED);
    let order = |(score, other, _): &(u32, DocId, usize)| (std::cmp::Reverse(*score), *other);
    if others.len() > MAX_OTHERS {
        others.select_nth_unstable_by_key(MAX_OTHERS, order);
        others.truncate(MAX_OTHERS);
    }
    let mut neighbours = referenced;
    let words = OwnWords::new(&ranker.lexicon.words[id.0 as usize]);
    let others = others.into_iter().map(|(score, other, row)| {
        let reasons = reasons::reasons(ranker, scratch, id, &words, &candidates[row]);
        Neighbour { id: other, score, reasons }
    });
    // A neighbour for which no reason can be named is of no use to a reader.
    neighbours.extend(others.filter(|neighbour| !neighbour.reasons.is_empty()));
    ranker.clear(id, scratch);
    neighbours.sort_by_key(|neighbour| (std::cmp::Reverse(neighbour.score), neighbour.id));
    neighbours
}

/// A vote of one reference for a neighbour.
struct Vote {
    id: DocId,
    points: u32,
    reason: Reason,
}

/// Adds up the votes for each neighbour, sorted by document. The reason of the strongest vote comes
/// first; of equal votes, the one whose text sorts first.
fn referenced(graph: &Graph, mut votes: Vec<Vote>) -> Vec<Neighbour> {
    votes.sort_by(|a, b| {
        let texts = || a.reason.text(graph).cmp(&b.reason.text(graph));
        (a.id, b.points).cmp(&(b.id, a.points)).then_with(texts)
    });
    let mut neighbours: Vec<Neighbour> = Vec::new();
    for Vote { id, points, reason } in votes {
        let score = points.saturating_mul(REFERENCE_FACTOR);
        match neighbours.last_mut().filter(|last| last.id == id) {
            Some(last) => {
                last.score = last.score.saturating_add(score);
                if last.reasons.len() < reasons::MAX_REASONS {
                    last.reasons.push(reason);
                }
            }
            None => neighbours.push(Neighbour { id, score, reasons: vec![reason] }),
        }
    }
    neighbours
}

/// Sums the signals of a candidate to a score in hundredths, which is at least 1.
fn score(graph: &Graph, candidate: &RankedCandidate) -> u32 {
    let penalty = if graph.is_live(candidate.id) { 0 } else { NOT_LIVE_PENALTY };
    u32::try_from((weighted_sum(&candidate.signals, &WEIGHTS) - penalty + SCORE_OFFSET) / 10)
        .unwrap_or(0)
        .max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::word::{bigrams, stems};
    use crate::model::{Collection, Document, Edge, Kind, Number, Relation, Terms};

    /// Returns a graph of ADRs with these titles and edges.
    pub(super) fn graph(titles: &[&str], edges: &[(u32, u32, Relation)]) -> Graph {
        let document = |(row, title): (usize, &&str)| Document {
            number: Number::new(&row.to_string()),
            number_text: format!("{row:04}"),
            title: title.to_string(),
            ..Document::sample(&format!("docs/adrs/{row:04}-x.md"))
        };
        let (name, kind) = ("adrs".to_string(), Kind::new("adr"));
        let edge = |(from, to, relation): &(u32, u32, Relation)| {
            let (from, to, relation) = (DocId(*from), DocId(*to), *relation);
            Edge { from, to, relation, line: 9, count: 1, ambiguous: false }
        };
        let mut edges: Vec<Edge> = edges.iter().map(edge).collect();
        edges.sort();
        Graph {
            collections: vec![Collection { name, kind, series: Vec::new(), globs: Vec::new() }],
            documents: titles.iter().enumerate().map(document).collect(),
            edges,
            live: vec![true; titles.len()],
            replaced_by: vec![Vec::new(); titles.len()],
        }
    }

    /// Returns the lexicon of documents with these texts.
    fn lexicon(graph: &Graph, texts: &[&str]) -> Lexicon {
        let terms = |text: &&str| {
            let mut terms = Terms { bigrams: bigrams(text, 100), ..Terms::default() };
            let words = text.split(' ').filter(|word| word.len() > 3);
            for (word, hash) in words.zip(stems(text, 100)) {
                terms.push(word, hash, 1);
            }
            terms
        };
        Lexicon::new(&graph.documents, texts.iter().map(terms).collect())
    }

    fn ids(neighbours: &[Neighbour]) -> Vec<u32> {
        neighbours.iter().map(|neighbour| neighbour.id.0).collect()
    }

    #[test]
    fn referenced_documents_come_before_similar_ones() {
        let graph = graph(&["a", "b", "c", "d"], &[(0, 3, Relation::Mention)]);
        let similar = "lantern harbour moraine quorum ledger";
        let texts = [similar, similar, "glacier tundra", "umbrella kettle"];
        let ranking = rank(&graph, &lexicon(&graph, &texts));
        assert_eq!(ids(&ranking.neighbours[0]), [3, 1]);
        let reason = |at: usize| ranking.neighbours[0][at].reasons[0].text(&graph);
        assert_eq!(reason(0), "mentions it, line 9");
        assert!(reason(1).starts_with("shares: "), "{}", reason(1));
        assert_eq!(ranking.weights, [0, 0, 0, 24]);
    }

    #[test]
    fn unrelated_documents_are_not_neighbours() {
        let graph = graph(&["a", "b", "c"], &[]);
        let texts = ["lantern harbour", "glacier tundra", "umbrella kettle"];
        let ranking = rank(&graph, &lexicon(&graph, &texts));
        assert!(ranking.neighbours.iter().all(Vec::is_empty), "{:?}", ranking.neighbours);
    }

    #[test]
    fn a_successor_inherits_references_and_names_what_it_replaces() {
        let mut graph = graph(&["old", "new", "c"], &[(2, 0, Relation::DependsOn)]);
        (graph.live[0], graph.replaced_by[0]) = (false, vec![DocId(1)]);
        let ranking = rank(&graph, &lexicon(&graph, &["x", "y", "z"]));
        let neighbours = &ranking.neighbours[2];
        let neighbour = |id: u32| neighbours.iter().find(|neighbour| neighbour.id == DocId(id));
        let reasons = |id: u32| neighbour(id).expect("a neighbour").reasons[0].text(&graph);
        assert_eq!(reasons(0), "depends on it, line 9");
        assert_eq!(reasons(1), "replaces old");
    }

    #[test]
    fn an_empty_project_has_an_empty_ranking() {
        let graph = Graph::default();
        let ranking = rank(&graph, &Lexicon::default());
        assert!(ranking.neighbours.is_empty() && ranking.weights.is_empty());
    }
}

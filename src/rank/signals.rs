//! What each signal says of every candidate, side by side, and how they are made one number.

use super::log::log2_16;
use super::words::Words;
use crate::model::{DocId, Graph};

/// A document with more references than this is no hint of what belongs together.
const MAX_DEGREE: usize = 300;

/// Documents with like words that are asked what they refer to.
const MAX_PEERS: usize = 20;

/// What is said of one candidate, each up to a thousand or so.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Signals {
    /// How alike the words are.
    pub words: u32,
    /// How much of a name the text has of it: all words of its title.
    pub title: u32,
    /// How many references away it is, by how many ways.
    pub graph: u32,
    /// How much documents with like words refer to it.
    pub peers: u32,
    /// How often it is referred to at all.
    pub hub: u32,
    /// How near its number is.
    pub number: u32,
}

/// What each signal counts for, in hundredths.
pub type Weights = Signals;

/// Chosen by `cargo run --release --example measure`; the numbers are in ADR 0017.
pub const WEIGHTS: Weights =
    Weights { words: 100, title: 20, graph: 4, peers: 54, hub: 7, number: 24 };

impl Signals {
    /// One number.
    pub fn fused(&self, weights: &Weights) -> u32 {
        let sum = self.words * weights.words
            + self.title * weights.title
            + self.graph * weights.graph
            + self.peers * weights.peers
            + self.hub * weights.hub
            + self.number * weights.number;
        sum / 100
    }
}

/// Everything that signals are read from.
pub struct Reader<'a> {
    graph: &'a Graph,
    words: Words,
    /// Who refers to whom or is referred to by whom, each once.
    linked: Vec<Vec<DocId>>,
    /// Who refers to whom, each once.
    outgoing: Vec<Vec<DocId>>,
    /// How often each is referred to, as a logarithm.
    hubs: Vec<u32>,
    /// The documents that are referred to most.
    most: Vec<DocId>,
}

/// Room for one document's candidates, used again for the next one.
pub struct Scratch {
    signals: Vec<Signals>,
    /// Whether anything was said of one yet.
    seen: Vec<bool>,
    shared: Vec<u32>,
    titles: Vec<(u16, u32)>,
    touched: Vec<DocId>,
    /// The documents most like the last one asked for.
    peers: Vec<DocId>,
}

impl<'a> Reader<'a> {
    /// Reads the documents' words and references.
    pub fn new(graph: &'a Graph) -> Reader<'a> {
        let mut linked: Vec<Vec<DocId>> = vec![Vec::new(); graph.documents.len()];
        let mut outgoing: Vec<Vec<DocId>> = vec![Vec::new(); graph.documents.len()];
        let mut incoming = vec![0u64; graph.documents.len()];
        for pair in graph.edges.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
            let (from, to) = (pair[0].from, pair[0].to);
            linked[from.0 as usize].push(to);
            outgoing[from.0 as usize].push(to);
            linked[to.0 as usize].push(from);
            incoming[to.0 as usize] += 1;
        }
        for others in &mut linked {
            others.sort_unstable();
            others.dedup();
        }
        let most_incoming = incoming.iter().copied().max().unwrap_or(0);
        let top = log2_16(most_incoming + 1, 1).max(1);
        let hubs: Vec<u32> = incoming.iter().map(|n| log2_16(n + 1, 1) * 1_000 / top).collect();
        let mut most: Vec<DocId> = graph.ids().filter(|id| incoming[id.0 as usize] > 1).collect();
        most.sort_by_key(|id| (std::cmp::Reverse(incoming[id.0 as usize]), *id));
        most.truncate(40);
        Reader { graph, words: Words::new(graph), linked, outgoing, hubs, most }
    }

    /// Room for candidates.
    pub fn scratch(&self) -> Scratch {
        let n = self.graph.documents.len();
        Scratch {
            signals: vec![Signals::default(); n],
            seen: vec![false; n],
            shared: vec![0; n],
            titles: vec![(0, 0); n],
            touched: Vec::new(),
            peers: Vec::new(),
        }
    }

    /// The candidates of a document with what is said of each, in no order.
    pub fn candidates(&self, id: DocId, scratch: &mut Scratch) -> Vec<(DocId, Signals)> {
        let Scratch { signals, seen, shared, titles, touched, peers } = scratch;
        self.words.share(id, shared, touched);
        for other in touched.iter() {
            let row = other.0 as usize;
            seen[row] = true;
            signals[row].words = self.words.likeness(id, *other, std::mem::take(&mut shared[row]));
        }
        let alike = self.most_alike(id, signals, touched);
        let mut at = |other: DocId, change: &dyn Fn(&mut Signals)| {
            let row = other.0 as usize;
            if !std::mem::replace(&mut seen[row], true) {
                touched.push(other);
            }
            change(&mut signals[row]);
        };
        for (words, peer) in &alike {
            for other in &self.outgoing[peer.0 as usize] {
                at(*other, &|s| s.peers += words);
            }
        }
        *peers = alike.into_iter().map(|(_, peer)| peer).collect();
        for (other, rarity) in self.by_title(id, titles) {
            at(other, &|s| s.title = (rarity * 4).min(1_000));
        }
        for near in &self.linked[id.0 as usize] {
            let others = &self.linked[near.0 as usize];
            if others.len() <= MAX_DEGREE {
                // A reference of one with few counts for more.
                let share = 1_600 / (16 + log2_16(others.len() as u64, 1));
                for other in others {
                    at(*other, &|s| s.graph += share);
                }
            }
        }
        for other in &self.most {
            at(*other, &|_| {});
        }
        self.by_number(id, &mut |other, n| at(other, &|s| s.number = n));
        let mut all = Vec::with_capacity(touched.len());
        for other in touched.drain(..) {
            seen[other.0 as usize] = false;
            let mut said = std::mem::take(&mut signals[other.0 as usize]);
            said.graph = said.graph.min(1_000);
            said.peers = said.peers.min(1_000);
            said.hub = self.hubs[other.0 as usize];
            if other != id {
                all.push((other, said));
            }
        }
        all
    }

    /// Those whose whole title a document has the words of, with how rare they are together.
    fn by_title(&self, id: DocId, titles: &mut [(u16, u32)]) -> Vec<(DocId, u32)> {
        let mut found: Vec<DocId> = Vec::new();
        self.words.named(id, &mut |other, rarity| {
            let known = &mut titles[other.0 as usize];
            if known.0 == 0 {
                found.push(other);
            }
            *known = (known.0 + 1, known.1 + rarity);
        });
        let whole = |other: DocId| {
            let (n, rarity) = std::mem::take(&mut titles[other.0 as usize]);
            let all = usize::from(n) == self.words.titles[other.0 as usize].len();
            all.then_some((other, rarity))
        };
        found.into_iter().filter_map(whole).collect()
    }

    /// The documents whose words are most alike.
    fn most_alike(&self, id: DocId, signals: &[Signals], touched: &[DocId]) -> Vec<(u32, DocId)> {
        let mut alike: Vec<(u32, DocId)> = touched
            .iter()
            .filter(|other| **other != id)
            .map(|other| (signals[other.0 as usize].words, *other))
            .collect();
        let by = |(words, other): &(u32, DocId)| (std::cmp::Reverse(*words), *other);
        if alike.len() > MAX_PEERS {
            alike.select_nth_unstable_by_key(MAX_PEERS, by);
            alike.truncate(MAX_PEERS);
        }
        alike.sort_unstable_by_key(by);
        alike
    }

    /// Those with the next numbers of the same collection. Documents are sorted by them.
    fn by_number(&self, id: DocId, tell: &mut dyn FnMut(DocId, u32)) {
        let own = self.graph.document(id);
        let Some(number) = own.number.as_ref().and_then(crate::model::Number::value) else {
            return;
        };
        let row = id.0 as usize;
        let near = row.saturating_sub(8)..(row + 9).min(self.graph.documents.len());
        for other in near.filter(|other| *other != row) {
            let document = &self.graph.documents[other];
            let value = document.number.as_ref().and_then(crate::model::Number::value);
            if document.collection == own.collection
                && let Some(away) = value.map(|value| value.abs_diff(number)).filter(|n| *n <= 16)
            {
                tell(DocId(other as u32), 1_000 / (1 + away as u32));
            }
        }
    }

    /// The words that two documents share, as the first writes them; those that bind them most first.
    pub(super) fn shared(&self, one: DocId, other: DocId, n: usize) -> Vec<&'a str> {
        let (mine, theirs) = (&self.words.of[one.0 as usize], &self.words.of[other.0 as usize]);
        let mut both: Vec<(u64, u16)> = mine
            .iter()
            .filter_map(|term| {
                let at = theirs.binary_search_by_key(&term.id, |term| term.id).ok()?;
                Some((u64::from(term.weight) * u64::from(theirs[at].weight), term.at))
            })
            .filter(|(weight, _)| *weight > 0)
            .collect();
        both.sort_unstable_by_key(|(weight, at)| (std::cmp::Reverse(*weight), *at));
        let words = &self.graph.document(one).facts.terms.words;
        let word = |(_, at): &(u64, u16)| words.split_terminator(' ').nth(usize::from(*at));
        both.iter().take(n).filter_map(word).collect()
    }

    /// What both refer to.
    pub(super) fn both_refer_to(&self, one: DocId, other: DocId) -> Vec<DocId> {
        common(&self.outgoing[one.0 as usize], &self.outgoing[other.0 as usize])
    }

    /// What refers to both.
    pub(super) fn both_referred_to_by(&self, one: DocId, other: DocId) -> Vec<DocId> {
        let refers =
            |from: &DocId, to: &DocId| self.outgoing[from.0 as usize].binary_search(to).is_ok();
        let mut between = self.between(one, other);
        between.retain(|id| refers(id, &one) && refers(id, &other));
        between
    }

    /// What is linked with both.
    pub(super) fn between(&self, one: DocId, other: DocId) -> Vec<DocId> {
        common(&self.linked[one.0 as usize], &self.linked[other.0 as usize])
    }

    /// The documents most like the last one asked for that refer to another.
    pub(super) fn peers_for(&self, scratch: &Scratch, other: DocId) -> Vec<DocId> {
        let peers = scratch.peers.iter().copied();
        let refers = |id: &DocId| self.outgoing[id.0 as usize].binary_search(&other).is_ok();
        peers.filter(refers).take(2).collect()
    }
}

/// What two sorted lists have in common.
fn common(one: &[DocId], other: &[DocId]) -> Vec<DocId> {
    let (one, other) = if one.len() > other.len() { (other, one) } else { (one, other) };
    one.iter().copied().filter(|id| other.binary_search(id).is_ok()).collect()
}

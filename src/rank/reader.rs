//! Reads what each signal says of every candidate, side by side.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::best::Best;
use super::citations::Citations;
use super::habits::Habits;
use super::marks::Marks;
use super::names::Names;
use super::phrases::{Known, Phrases};
use super::profiles::{Citing, Profile, profiles};
use super::sayings::Sayings;
use super::shift::Shift;
use super::signals::{
    BACK, CITED, COLLECTION, DISTANCE, EARLIER, FOLDER, HUB, MARKS, N_SIGNALS, NAMES_ALIKE,
    NAMES_MOST, PEERS, PHRASE, SAYING, Signals, TITLE, WORDS, by_words,
};
use super::words::{Index, Term, Vocabulary, likeness};
use crate::model::{Cutoffs, DocId, Graph, Lexicon, Terms};

/// Documents most like another that are asked what they refer to.
const MAX_PEERS: usize = 30;

/// Candidates that are known by their words alone; the rest is too far down to rise.
const MAX_BY_WORDS: usize = 64;

/// Words that a text is found by, those that tell most. With all of its words one in two hundred more
/// of the hidden references is found, and the index is three times as large.
const MAX_FOUND_BY: usize = 64;

/// A title of which so much is said makes a candidate, in thousandths.
const SAID: i32 = 500;

/// Documents whose names of code are so much alike are candidates, in thousandths.
const ALIKE: i32 = 200;

/// Everything that signals are read from.
pub struct Reader<'a> {
    pub(super) graph: &'a Graph,
    pub(super) lexicon: &'a Lexicon,
    /// What documents say as they write it, where that is not in the graph.
    pub(super) own: BTreeMap<DocId, Terms>,
    pub(super) vocabulary: Vocabulary,
    /// The words of each text, those that tell most first.
    pub(super) texts: Vec<Vec<Term>>,
    pub(super) by_text: Index,
    pub(super) profiles: Vec<Profile>,
    pub(super) citing: Citing,
    pub(super) by_profile: Index,
    pub(super) citations: Citations,
    pub(super) marks: Marks<'a>,
    pub(super) phrases: Phrases,
    pub(super) names: Names,
    sayings: Sayings,
    habits: Habits,
    /// Which words count differently than before.
    pub(super) shift: Shift,
}

/// Room for one document's candidates, used again for the next one.
pub struct Scratch {
    /// Whether the document has a word, by row of the vocabulary; its place in `texts` plus one.
    pub(super) own: Vec<u16>,
    rows: Vec<Row>,
    /// What each text shares with the document's, and what each profile does.
    shared: Vec<u32>,
    known: Vec<u32>,
    touched: Vec<DocId>,
    best: Best,
    alike: Best,
    coupled: Vec<u32>,
    /// What is said of each title and file name.
    said: Vec<u32>,
    /// The documents most like it.
    pub(super) peers: Vec<DocId>,
    /// Where each of its words begins.
    pub(super) starts: Vec<u32>,
    /// How much it takes to be a candidate by words, or alike.
    pub(super) cutoffs: Cutoffs,
}

/// What was found of one candidate so far.
#[derive(Clone, Copy, Default)]
struct Row {
    seen: bool,
    words: i32,
    cited: i32,
    peers: i32,
    back: i32,
    marks: i32,
    phrase: i32,
    saying: i32,
    names: i32,
    most: i32,
}

pub(super) fn found_by(text: &[Term]) -> &[Term] {
    &text[..text.len().min(MAX_FOUND_BY)]
}

impl<'a> Reader<'a> {
    /// Reads the documents' words and references.
    pub fn new(graph: &'a Graph, lexicon: &'a Lexicon) -> Reader<'a> {
        Reader::since(graph, lexicon, &[], None)
    }

    /// Reads the same where some documents had other words before.
    pub(super) fn since(
        graph: &'a Graph,
        lexicon: &'a Lexicon,
        changed: &[(DocId, Terms)],
        known: Option<Known>,
    ) -> Reader<'a> {
        let (vocabulary, rows) = Vocabulary::new(lexicon);
        let shift = Shift::new(lexicon, &vocabulary, changed);
        let weighed = |row: usize| {
            let counts = lexicon.counts.of(row).iter().map(|n| u32::from(*n));
            let rows = &rows[lexicon.hashes.start(row)..];
            vocabulary.weighed(rows.iter().copied().zip(counts))
        };
        let by_words = || {
            let texts = (0..graph.documents.len()).into_par_iter().map(weighed);
            let texts: Vec<Vec<Term>> = texts.collect();
            let citing = Citing::new(graph);
            let profiles = profiles(lexicon, &citing, &vocabulary, &shift.moved);
            let sayings = Sayings::new(graph, lexicon, &citing);
            (texts, citing, profiles, sayings)
        };
        let by_graph = || {
            let citations = Citations::new(graph);
            let habits = Habits::new(graph, &citations.pairs);
            let (marks, phrases) = (Marks::new(graph), Phrases::new(graph, known));
            (citations, habits, marks, phrases, Names::new(lexicon))
        };
        let ((texts, citing, profiles, sayings), (citations, habits, marks, phrases, names)) =
            rayon::join(by_words, by_graph);
        let (by_text, by_profile) = rayon::join(
            || Index::new(texts.iter().map(|text| found_by(text)), vocabulary.len()),
            || Index::new(profiles.iter().map(|known| known.words.as_slice()), vocabulary.len()),
        );
        Reader {
            graph,
            lexicon,
            own: BTreeMap::new(),
            vocabulary,
            texts,
            by_text,
            profiles,
            citing,
            by_profile,
            citations,
            marks,
            phrases,
            names,
            sayings,
            habits,
            shift,
        }
    }

    /// What a document says as it writes it.
    pub(super) fn terms(&self, id: DocId) -> &Terms {
        self.own.get(&id).unwrap_or(&self.graph.document(id).facts.terms)
    }

    /// Room for candidates.
    pub fn scratch(&self) -> Scratch {
        let n = self.graph.documents.len();
        Scratch {
            own: vec![0; self.vocabulary.len()],
            rows: vec![Row::default(); n],
            shared: vec![0; n],
            known: vec![0; n],
            touched: Vec::new(),
            best: Best::new(MAX_BY_WORDS),
            alike: Best::new(MAX_PEERS),
            coupled: vec![0; n],
            said: self.phrases.sums(),
            peers: Vec::new(),
            starts: Vec::new(),
            cutoffs: Cutoffs::default(),
        }
    }

    /// The candidates of a document with what is said of each, in no order. What is given besides is
    /// among them. The words of the document stay known until [`Reader::forget`].
    pub fn candidates(
        &self,
        id: DocId,
        besides: &[DocId],
        scratch: &mut Scratch,
    ) -> Vec<(DocId, Signals)> {
        let mut found = Vec::new();
        self.by_words(id, scratch, &mut found);
        self.by_peers(id, scratch, &mut found);
        let Scratch { own, rows, shared, known, said, starts, .. } = scratch;
        starts.clear();
        // Changes what is known of a candidate; who is none yet becomes one if it is told to.
        let mut add_if = |is_one: bool, other: DocId, change: &dyn Fn(&mut Row)| {
            let row = &mut rows[other.0 as usize];
            if !row.seen && is_one {
                row.seen = true;
                found.push(other);
            }
            if row.seen {
                change(row);
            }
        };
        let mut add = |other: DocId, change: &dyn Fn(&mut Row)| add_if(true, other, change);
        for (other, points) in self.citations.citing(id) {
            add(other, &|row| row.back = row.back.max(points));
        }
        self.marks.share(id, &mut |other, rare| add(other, &|row| row.marks = row.marks.max(rare)));
        besides.iter().for_each(|other| add(*other, &|_| {}));
        self.phrases.share((id, &self.terms(id).bigrams), said, &mut |other, title, file| {
            // A file's name is often an older or a shorter title, and half as telling.
            let points = (title * title / 1_000).max(file * file / 2_000);
            add_if(title.max(file) >= SAID, other, &|row| row.phrase = row.phrase.max(points));
        });
        self.names.share(id, (shared, known), &mut |other, shared| {
            add_if(shared.alike >= ALIKE, other, &|row| {
                (row.names, row.most) = (shared.alike, shared.most);
            });
        });
        self.sayings.share(&self.terms(id).bigrams, shared, &mut |other, own| {
            add_if(false, other, &|row| row.saying = own);
        });
        self.mark(id, own, true);
        let mut all = Vec::with_capacity(found.len());
        for other in found {
            let row = std::mem::take(&mut rows[other.0 as usize]);
            if other != id {
                all.push((other, self.signals(id, other, &row, own)));
            }
        }
        all
    }

    /// Ends what [`Reader::candidates`] began: the words of the document are no longer known.
    pub fn forget(&self, id: DocId, scratch: &mut Scratch) {
        self.mark(id, &mut scratch.own, false);
    }

    fn mark(&self, id: DocId, own: &mut [u16], has: bool) {
        for (term, at) in self.texts[id.0 as usize].iter().zip(1..) {
            own[term.id as usize] = if has { at } else { 0 };
        }
    }

    fn signals(&self, id: DocId, other: DocId, row: &Row, own: &[u16]) -> Signals {
        let known = &self.profiles[other.0 as usize];
        let has = |word: &&u32| own[**word as usize] > 0;
        let has =
            known.title.iter().filter(has).map(|word| self.vocabulary.rarity(*word)).sum::<u32>();
        // Half a title says much less than half of what a whole one does.
        let covered = (has * 1_000 / known.rarity.max(1)) as i32;
        let habit = self.habits.of(id, other);
        let mut signals = [0; N_SIGNALS];
        signals[WORDS] = row.words;
        signals[CITED] = row.cited;
        signals[TITLE] = covered * covered / 1_000;
        signals[PEERS] = row.peers.min(1_000);
        signals[BACK] = row.back;
        signals[MARKS] = row.marks;
        signals[HUB] = self.citations.hub(other);
        signals[EARLIER] = habit.earlier;
        signals[DISTANCE] = habit.distance;
        signals[COLLECTION] = habit.collection;
        signals[FOLDER] = habit.folder;
        signals[PHRASE] = row.phrase;
        signals[SAYING] = row.saying;
        signals[NAMES_ALIKE] = row.names;
        signals[NAMES_MOST] = row.most;
        signals
    }

    /// What is alike in words, or known by words that the document has; and those most alike, who are
    /// asked what they refer to.
    fn by_words(&self, id: DocId, scratch: &mut Scratch, found: &mut Vec<DocId>) {
        let terms = &self.texts[id.0 as usize];
        let Scratch { rows, shared, known, touched, best, alike, cutoffs, .. } = scratch;
        best.clear();
        alike.clear();
        self.by_text.share(terms, shared, touched);
        let n_touched = touched.len();
        self.by_profile.share(terms, known, touched);
        for (i, other) in touched.iter().enumerate().filter(|(_, other)| **other != id) {
            let (both, known) = (shared[other.0 as usize], known[other.0 as usize]);
            // What is in both lists was met in the first.
            if i < n_touched || both == 0 {
                best.offer(by_words(both, known), *other);
                alike.offer(u64::from(both), *other);
            }
        }
        *cutoffs = Cutoffs { best: best.cutoff(), alike: alike.cutoff() };
        for (_, other) in best.best() {
            let row = &mut rows[other.0 as usize];
            row.seen = true;
            row.words = likeness(shared[other.0 as usize]);
            row.cited = likeness(known[other.0 as usize]);
            found.push(*other);
        }
    }

    /// What documents like this one refer to: alike in words, or in what they refer to.
    fn by_peers(&self, id: DocId, scratch: &mut Scratch, found: &mut Vec<DocId>) {
        let Scratch { rows, shared, known, touched, coupled, alike, peers, .. } = scratch;
        let mut close: Vec<DocId> = alike.best().iter().map(|(_, other)| *other).collect();
        self.citations.couple(id, coupled, &mut |other| close.push(other));
        let mut points: Vec<(i32, DocId)> = close
            .into_iter()
            .map(|other| {
                let both = std::mem::take(&mut coupled[other.0 as usize]);
                let coupling = self.citations.coupling(id, other, both) * 3 / 10;
                (likeness(shared[other.0 as usize]) + coupling, other)
            })
            .filter(|(points, _)| *points > 0)
            .collect();
        for other in touched.drain(..) {
            shared[other.0 as usize] = 0;
            known[other.0 as usize] = 0;
        }
        points.sort_unstable_by_key(|(points, other)| (*other, std::cmp::Reverse(*points)));
        points.dedup_by_key(|(_, other)| *other);
        points.sort_unstable_by_key(|(points, other)| (std::cmp::Reverse(*points), *other));
        points.truncate(MAX_PEERS);
        // Who is twice as alike has four times as much to say.
        let all: i32 = points.iter().map(|(points, _)| points * points / 16).sum::<i32>().max(1);
        for (points, peer) in &points {
            let share = points * points / 16 * 1_000 / all;
            for other in self.citations.cited(*peer) {
                let row = &mut rows[other.0 as usize];
                if !std::mem::replace(&mut row.seen, true) {
                    found.push(*other);
                }
                row.peers += share;
            }
        }
        peers.clear();
        peers.extend(points.into_iter().map(|(_, peer)| peer));
    }
}

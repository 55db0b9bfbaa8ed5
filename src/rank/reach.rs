//! What an edit reaches: whose neighbours can be others than before.
//!
//! Nobody's neighbours depend on all documents. A document has candidates by its words, and who is
//! not among the best of them plays no part. So it is enough to know how much it took to be one of
//! them, and what those documents have to offer that count differently than before.

use rayon::prelude::*;

use super::Again;
use super::profiles::Has;
use super::reader::{Reader, found_by};
use super::shift::{GONE, summed, then};
use super::signals::by_words;
use super::words::{Index, MAX_LOOKED, Term, product, size_class, weighed};
use crate::model::{Cutoffs, DocId};

/// More documents than this that count differently are not followed one by one.
const MAX_MOVED: usize = 48;

/// What a document is found by, before and now.
struct Moved {
    id: DocId,
    texts: [Vec<Term>; 2],
    known: [Vec<Term>; 2],
}

/// What a word brings to one of the moved documents, before and now.
#[derive(Clone, Copy, Default)]
struct Touch {
    moved: u32,
    texts: [u16; 2],
    known: [u16; 2],
}

/// What a document shares with one of the moved ones, before and now.
#[derive(Clone, Copy, Default)]
struct Sums {
    shared: [u32; 2],
    known: [u32; 2],
}

impl Sums {
    /// Whether the moved document was or is a candidate by words, alike, or a peer with another say.
    fn reach(&self, cutoffs: &Cutoffs, coupled: bool) -> bool {
        let is_one = |(shared, known): (&u32, &u32)| {
            let points = by_words(*shared, *known);
            points > 0 && points >= cutoffs.best
                || *shared > 0 && u64::from(*shared) >= cutoffs.alike
        };
        self.shared.iter().zip(&self.known).any(is_one)
            || coupled && self.shared[0] != self.shared[1]
    }
}

/// Whose neighbours must be looked for again, by row. `None` if that may be anybody's.
pub(super) fn reached(reader: &Reader<'_>, again: &Again<'_>) -> Option<Vec<bool>> {
    let is_title = |profile: &super::profiles::Profile| profile.has == Has::Title;
    if reader.profiles.iter().any(is_title)
        || !reader.phrases.are_as_rare(reader.graph, &again.changed)
    {
        return None;
    }
    let moved = moved(reader, again)?;
    let resized = Resized::new(reader, &moved);
    let touches = Touches::new(reader, &moved);
    let coupled = coupled(reader, &moved);
    let is_reached = |sums: &mut Vec<Sums>, id: &DocId| {
        sums.fill(Sums::default());
        let row = id.0 as usize;
        let looks_alike = touches.add(reader, &resized, *id, sums);
        let coupled = coupled.iter().map(|coupled| coupled[row]);
        let is_near = |(sums, coupled): (&Sums, bool)| sums.reach(&again.cutoffs[row], coupled);
        !looks_alike || sums.iter().zip(coupled).any(is_near)
    };
    let ids: Vec<DocId> = reader.graph.ids().collect();
    let none = || vec![Sums::default(); moved.len()];
    let mut reached: Vec<bool> = ids.par_iter().map_init(none, is_reached).collect();
    super::names::reach(reader.lexicon, &again.changed, &mut reached);
    for moved in &moved {
        reached[moved.id.0 as usize] = true;
        (again.told)(moved.id).into_iter().for_each(|id| reached[id.0 as usize] = true);
    }
    Some(reached)
}

/// The documents that are found by other words than before, or by the same with other weights.
fn moved(reader: &Reader<'_>, again: &Again<'_>) -> Option<Vec<Moved>> {
    let (graph, shift) = (reader.graph, &reader.shift);
    let had = |id: DocId| again.changed.iter().find(|(changed, _)| *changed == id);
    let is_moved = |id: &DocId| {
        had(*id).is_some()
            || reader.profiles[id.0 as usize].has == Has::Said
            || (!shift.moved.is_empty() && shift.reaches(reader.lexicon.hashes.of(id.0 as usize)))
    };
    let ids: Vec<DocId> = graph.ids().collect();
    let ids: Vec<DocId> = ids.into_par_iter().filter(is_moved).collect();
    if ids.len() > MAX_MOVED {
        return None;
    }
    let rarity = |hash: u32| shift.rarity(&reader.vocabulary, hash);
    let moved = ids.into_iter().map(|id| {
        let row = id.0 as usize;
        let before = match had(id) {
            Some((_, terms)) => text_before(terms.iter(), &rarity),
            None => text_before(reader.lexicon.text(row), &rarity),
        };
        let texts = [before, reader.texts[row].clone()];
        let texts = texts.map(|text| found_by(&text).to_vec());
        let known =
            [reader.citing.words(reader.lexicon, row, rarity), reader.profiles[row].words.clone()];
        Moved { id, texts, known }
    });
    Some(moved.collect())
}

fn text_before(
    words: impl Iterator<Item = (u32, u16)>,
    rarity: &impl Fn(u32) -> Option<(u32, u32)>,
) -> Vec<Term> {
    let counted = words.map(|(hash, n)| {
        let (id, rarity) = rarity(hash).unwrap_or((GONE, 0));
        (id, u32::from(n), rarity)
    });
    weighed(counted)
}

/// Who refers to something that a moved document refers to, by row, for each of them.
fn coupled(reader: &Reader<'_>, moved: &[Moved]) -> Vec<Vec<bool>> {
    let n = reader.graph.documents.len();
    let mut sums = vec![0; n];
    let of = |moved: &Moved| {
        let mut coupled = vec![false; n];
        reader.citations.couple(moved.id, &mut sums, &mut |other| coupled[other.0 as usize] = true);
        sums.fill(0);
        coupled
    };
    moved.iter().map(of).collect()
}

/// Words whose entries in an index are so many more or fewer that others are looked at instead.
struct Resized(Vec<bool>);

impl Resized {
    fn new(reader: &Reader<'_>, moved: &[Moved]) -> Resized {
        let mut resized = vec![false; reader.vocabulary.len()];
        let mut note = |index: &Index, of: &dyn Fn(&Moved) -> &[Vec<Term>; 2]| {
            let mut more: Vec<(u32, i64)> = Vec::new();
            for moved in moved {
                let [before, now] = of(moved);
                more.extend(before.iter().map(|term| (term.id, 1)));
                more.extend(now.iter().map(|term| (term.id, -1)));
            }
            more.retain(|(id, _)| *id != GONE);
            for (id, more) in summed(more) {
                let now = index.size(id);
                let before = then(now as u32, more) as usize;
                resized[id as usize] |= size_class(now) != size_class(before);
            }
        };
        note(&reader.by_text, &|moved| &moved.texts);
        note(&reader.by_profile, &|moved| &moved.known);
        Resized(resized)
    }
}

/// What each word brings to the moved documents.
struct Touches {
    starts: Vec<u32>,
    all: Vec<Touch>,
}

impl Touches {
    fn new(reader: &Reader<'_>, moved: &[Moved]) -> Touches {
        let mut all: Vec<(u32, Touch)> = Vec::new();
        for (at, moved) in moved.iter().enumerate() {
            for when in [0, 1] {
                let none = Touch { moved: at as u32, ..Touch::default() };
                for term in &moved.texts[when] {
                    let mut touch = none;
                    touch.texts[when] = term.weight;
                    all.push((term.id, touch));
                }
                for term in &moved.known[when] {
                    let mut touch = none;
                    touch.known[when] = term.weight;
                    all.push((term.id, touch));
                }
            }
        }
        all.retain(|(id, _)| *id != GONE);
        all.sort_by_key(|(id, touch)| (*id, touch.moved));
        let mut starts = vec![0u32; reader.vocabulary.len() + 1];
        all.iter().for_each(|(id, _)| starts[*id as usize + 1] += 1);
        (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
        Touches { starts, all: all.into_iter().map(|(_, touch)| touch).collect() }
    }

    /// Adds up what a document shares with the moved ones, looking where [`Index::share`] looks.
    /// `false` if it would now look elsewhere.
    fn add(&self, reader: &Reader<'_>, resized: &Resized, id: DocId, sums: &mut [Sums]) -> bool {
        let (mut left, mut left_known) = (MAX_LOOKED, MAX_LOOKED);
        for term in &reader.texts[id.0 as usize] {
            let row = term.id as usize;
            if resized.0[row] {
                return false;
            }
            let looks = reader.by_text.affords(term.id, &mut left);
            let looks_known = reader.by_profile.affords(term.id, &mut left_known);
            let touches = &self.all[self.starts[row] as usize..self.starts[row + 1] as usize];
            for touch in touches {
                let sums = &mut sums[touch.moved as usize];
                let add = |sum: &mut u32, weight: u16| {
                    if weight > 0 {
                        *sum += product(u32::from(term.weight), u32::from(weight));
                    }
                };
                for when in [0, 1] {
                    if looks {
                        add(&mut sums.shared[when], touch.texts[when]);
                    }
                    if looks_known {
                        add(&mut sums.known[when], touch.known[when]);
                    }
                }
            }
        }
        true
    }
}

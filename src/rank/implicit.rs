//! Why a document lies near another that does not name it, in words.

use super::reader::{Reader, Scratch};
use super::signals::{
    BACK, CITED, MARKS, NAMES_ALIKE, PEERS, PHRASE, SAYING, Signals, TITLE, WEIGHTS, WORDS,
};
use super::words::Term;
use crate::model::{DocId, Graph};

/// Words told of one reason, and reasons of one neighbour.
const MAX_WORDS: usize = 3;
const MAX_REASONS: usize = 2;

/// Why, from the signals that put it there, strongest first.
pub(super) fn reason<'a>(
    reader: &'a Reader<'a>,
    scratch: &mut Scratch,
    (id, other): (DocId, DocId),
    said: &Signals,
) -> Vec<String> {
    let mut parts = [WORDS, CITED, TITLE, PEERS, MARKS, PHRASE, SAYING, NAMES_ALIKE]
        .map(|which| (said[which] * WEIGHTS[which], which));
    let all: i32 = parts.iter().map(|(points, _)| points).sum();
    parts.sort_by_key(|(points, which)| (std::cmp::Reverse(*points), *which));
    if scratch.starts.is_empty() {
        let words = &reader.terms(id).words;
        let ends = memchr::memchr_iter(b' ', words.as_bytes()).map(|end| end as u32 + 1);
        scratch.starts.extend(std::iter::once(0).chain(ends));
    }
    let scratch = &*scratch;
    let mut reasons = Vec::new();
    if said[BACK] > 0 {
        reasons.extend(super::explicit::incoming(reader.graph, other, id));
    }
    for (points, which) in parts {
        // What adds less than a sixth did not put it there.
        if points == 0 || (points < all / 6 && !reasons.is_empty()) || reasons.len() >= MAX_REASONS
        {
            continue;
        }
        let reason = match which {
            WORDS => shared(reader, scratch, id, other),
            CITED => {
                cited_for(reader, scratch, id, other).or_else(|| shared(reader, scratch, id, other))
            }
            PHRASE => said_whole(said[PHRASE]),
            TITLE => titled(said[TITLE]),
            PEERS => peers(reader, scratch, other),
            SAYING => Some("has phrases that others cite it with".to_string()),
            NAMES_ALIKE => names_shared(reader.names.n_shared(id, other)),
            _ => reader
                .marks
                .shared(id, other)
                .map(|mark| format!("same {}", mark.replacen(' ', ": ", 1))),
        };
        reasons.extend(reason.filter(|reason| !reasons.contains(reason)));
    }
    reasons.extend(between(reader, id, other));
    if reasons.is_empty() {
        reasons.extend(shared(reader, scratch, id, other));
    }
    reasons
}

fn titled(covered: i32) -> Option<String> {
    (covered >= 1_000).then(|| "has the words of its title".to_string())
}

/// `shares 3 names of code`.
fn names_shared(n: usize) -> Option<String> {
    match n {
        0 => None,
        1 => Some("shares a name of code".to_string()),
        n => Some(format!("shares {n} names of code")),
    }
}

fn said_whole(share: i32) -> Option<String> {
    (share >= 1_000).then(|| "says its title".to_string())
}

/// The words of a list that the document has, as it writes them; those that tell most of both first.
fn own_words<'a>(
    reader: &'a Reader<'_>,
    scratch: &Scratch,
    id: DocId,
    theirs: impl Iterator<Item = &'a Term>,
) -> Vec<&'a str> {
    let own = &reader.texts[id.0 as usize];
    let mut best: Vec<(u32, u16)> = Vec::with_capacity(MAX_WORDS + 1);
    let most = own.first().map_or(0, |term| u32::from(term.weight));
    for term in theirs {
        // They come with the strongest first; from here on none can be among the best.
        if best.len() == MAX_WORDS && best[MAX_WORDS - 1].0 > u32::from(term.weight) * most {
            break;
        }
        let Some(at) = scratch.own[term.id as usize].checked_sub(1) else { continue };
        let mine = &own[usize::from(at)];
        let both = u32::from(term.weight) * u32::from(mine.weight);
        let place = best.partition_point(|(other, at)| (*other, mine.at) >= (both, *at));
        if place < MAX_WORDS {
            best.insert(place, (both, mine.at));
            best.truncate(MAX_WORDS);
        }
    }
    let words = reader.terms(id).words.as_str();
    let word = |at: u16| {
        let start = *scratch.starts.get(usize::from(at))? as usize;
        words[start..].split(' ').next()
    };
    best.iter().filter_map(|(_, at)| word(*at)).collect()
}

/// `shares: manifest, injection, tier`.
fn shared<'a>(
    reader: &'a Reader<'a>,
    scratch: &Scratch,
    id: DocId,
    other: DocId,
) -> Option<String> {
    let words = own_words(reader, scratch, id, reader.texts[other.0 as usize].iter());
    (!words.is_empty()).then(|| format!("shares: {}", words.join(", ")))
}

/// `cited elsewhere for: sendable, isolation`.
fn cited_for<'a>(
    reader: &'a Reader<'a>,
    scratch: &Scratch,
    id: DocId,
    other: DocId,
) -> Option<String> {
    let known = &reader.profiles[other.0 as usize];
    let said = known.words.iter().filter(|term| !known.title.contains(&term.id));
    let words = own_words(reader, scratch, id, said);
    (!words.is_empty()).then(|| format!("cited elsewhere for: {}", words.join(", ")))
}

/// `both cite RFC 0016 and ADR 0005`.
fn between(reader: &Reader<'_>, id: DocId, other: DocId) -> Option<String> {
    let cited = reader.citations.both_cite(id, other);
    if !cited.is_empty() {
        return Some(format!("both cite {}", names(reader.graph, &cited)));
    }
    let citing = reader.citations.citing_both(id, other);
    (!citing.is_empty()).then(|| format!("cited together by {}", names(reader.graph, &citing)))
}

/// `cited by ADR 0005, which is alike`.
fn peers(reader: &Reader<'_>, scratch: &Scratch, other: DocId) -> Option<String> {
    let peers = scratch.peers.iter().copied();
    let peers: Vec<DocId> =
        peers.filter(|peer| reader.citations.names(*peer, other)).take(2).collect();
    let verb = if peers.len() == 1 { "is" } else { "are" };
    let names = names(reader.graph, &peers);
    (!peers.is_empty()).then(|| format!("cited by {names}, which {verb} alike"))
}

/// At most two, as a reader would say them.
fn names(graph: &Graph, ids: &[DocId]) -> String {
    let name = |id: &DocId| {
        let document = graph.document(*id);
        match document.number_text.is_empty() {
            true => document.title.chars().take(40).collect(),
            false => format!("{} {}", document.kind.as_str().to_uppercase(), document.number_text),
        }
    };
    ids.iter().take(2).map(name).collect::<Vec<String>>().join(" and ")
}

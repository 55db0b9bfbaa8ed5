//! What lies near a document without being named by it, and why.

use super::Opinion;
use super::signals::{Reader, Scratch, Signals, WEIGHTS};
use crate::model::{DocId, Graph};

/// Candidates whose reasons are worked out.
const MAX_TOLD: usize = 20;

/// Less than this is chance.
const LEAST: u32 = 40;

/// What the signals say of the best candidates of a document.
pub(super) fn opinions(
    graph: &Graph,
    reader: &Reader<'_>,
    scratch: &mut Scratch,
    id: DocId,
) -> Vec<Opinion> {
    let candidates = reader.candidates(id, scratch);
    let mut best: Vec<(u32, DocId, Signals)> = candidates
        .into_iter()
        .filter(|(_, said)| said.words + said.title + said.graph + said.peers > 0)
        .map(|(other, said)| {
            let points = said.fused(&WEIGHTS);
            (if graph.is_live(other) { points } else { points / 2 }, other, said)
        })
        .filter(|(points, ..)| *points >= LEAST)
        .collect();
    let by = |(points, other, _): &(u32, DocId, Signals)| (std::cmp::Reverse(*points), *other);
    if best.len() > MAX_TOLD {
        best.select_nth_unstable_by_key(MAX_TOLD, by);
        best.truncate(MAX_TOLD);
    }
    best.sort_unstable_by_key(by);
    let told = |(points, other, said): (u32, DocId, Signals)| Opinion {
        id: other,
        named: false,
        points,
        reason: reason(graph, reader, scratch, (id, other), &said),
    };
    best.into_iter().map(told).collect()
}

/// Why, from the signals that put it there, strongest first.
fn reason(
    graph: &Graph,
    reader: &Reader<'_>,
    scratch: &Scratch,
    (id, other): (DocId, DocId),
    said: &Signals,
) -> String {
    let mut parts = [
        (said.words * WEIGHTS.words, 0),
        (said.title * WEIGHTS.title, 1),
        (said.graph * WEIGHTS.graph, 2),
        (said.peers * WEIGHTS.peers, 3),
    ];
    let all: u32 = parts.iter().map(|(points, _)| points).sum();
    parts.sort_by_key(|(points, which)| (std::cmp::Reverse(*points), *which));
    let mut reasons = Vec::new();
    for (points, which) in parts {
        // What adds less than a sixth did not put it there.
        if points == 0 || (points < all / 6 && !reasons.is_empty()) || reasons.len() == 2 {
            continue;
        }
        let reason = match which {
            0 => shared(reader, id, other),
            1 => Some("has the words of its title".to_string()),
            2 => between(graph, reader, id, other),
            _ => peers(graph, &reader.peers_for(scratch, other)),
        };
        reasons.extend(reason);
    }
    match reasons.is_empty() {
        true => "near in words and references".to_string(),
        false => reasons.join("; "),
    }
}

/// `shares: manifest, injection, tier`.
fn shared(reader: &Reader<'_>, id: DocId, other: DocId) -> Option<String> {
    let words = reader.shared(id, other, 3);
    (!words.is_empty()).then(|| format!("shares: {}", words.join(", ")))
}

/// `both cite RFC 0016 and ADR 0005`.
fn between(graph: &Graph, reader: &Reader<'_>, id: DocId, other: DocId) -> Option<String> {
    let cited = reader.both_refer_to(id, other);
    if !cited.is_empty() {
        return Some(format!("both cite {}", names(graph, &cited)));
    }
    let citing = reader.both_referred_to_by(id, other);
    if !citing.is_empty() {
        return Some(format!("cited together by {}", names(graph, &citing)));
    }
    let way = reader.between(id, other);
    (!way.is_empty()).then(|| format!("linked through {}", names(graph, &way)))
}

/// `cited by ADR 0005, which is alike`.
fn peers(graph: &Graph, peers: &[DocId]) -> Option<String> {
    let verb = if peers.len() == 1 { "is" } else { "are" };
    (!peers.is_empty()).then(|| format!("cited by {}, which {verb} alike", names(graph, peers)))
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

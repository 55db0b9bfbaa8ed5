//! Follows chains of supersession and determines which documents are live.

use crate::model::{Code, Collection, Diagnostic, DocId, Document, Edge, Graph, Relation, Status};

/// Builds the graph, including which documents are live and which ones finally replace each.
pub(super) fn build_graph(
    collections: Vec<Collection>,
    documents: Vec<Document>,
    edges: Vec<Edge>,
    notes: &mut Vec<Diagnostic>,
) -> Graph {
    let mut next: Vec<Vec<DocId>> = vec![Vec::new(); documents.len()];
    let mut stated = vec![false; documents.len()];
    for edge in edges.iter().filter(|edge| !edge.ambiguous) {
        match edge.relation {
            Relation::Supersedes if can_supersede(&documents[edge.from.0 as usize]) => {
                next[edge.to.0 as usize].push(edge.from);
            }
            Relation::SupersededBy => {
                next[edge.from.0 as usize].push(edge.to);
                stated[edge.from.0 as usize] = true;
            }
            _ => {}
        }
    }
    for (row, successors) in next.iter_mut().enumerate() {
        successors.sort_unstable();
        successors.dedup();
        successors.retain(|successor| successor.0 as usize != row);
    }
    let cyclic = mark_cycles(&documents, &next, notes);
    let replaced_by = chain_ends(&next, &cyclic);
    let mut live: Vec<bool> = documents
        .iter()
        .enumerate()
        .map(|(row, document)| document.status.is_live() && (cyclic[row] || next[row].is_empty()))
        .collect();
    // A plan is live only as long as the document it plans.
    for edge in edges.iter().filter(|edge| edge.relation == Relation::PlanOf) {
        let planned_is_live = live[edge.to.0 as usize];
        live[edge.from.0 as usize] &= planned_is_live;
    }
    report_live_but_superseded(&documents, &next, &cyclic, &stated, notes);
    Graph { collections, documents, edges, live, replaced_by }
}

/// Returns true if a document supersedes others by stating so. A draft does not yet, and notes and
/// records of a discussion never do.
fn can_supersede(document: &Document) -> bool {
    let is_record =
        matches!(document.kind.as_str(), "dialogue" | "spike" | "note" | "plan" | "publication");
    document.status.is_live()
        && !matches!(document.status, Status::Draft | Status::Proposed)
        && !is_record
}

/// Maximum number of replacements that are listed for one document.
const MAX_ENDS: usize = 8;

/// Returns, for each row, the documents at the ends of its chains of supersession. A depth-first
/// search handles each row after the rows that supersede it.
fn chain_ends(next: &[Vec<DocId>], cyclic: &[bool]) -> Vec<Vec<DocId>> {
    let mut ends: Vec<Option<Vec<DocId>>> = vec![None; next.len()];
    for start in 0..next.len() {
        let mut open = vec![start];
        while let Some(row) = open.last().copied() {
            let rows = next[row].iter().map(|id| id.0 as usize);
            let is_unknown = |at: &usize| ends[*at].is_none() && !cyclic[*at];
            let unknown: Vec<usize> = match ends[row].is_some() || cyclic[row] {
                true => Vec::new(),
                false => rows.filter(is_unknown).collect(),
            };
            if !unknown.is_empty() {
                open.extend(unknown);
                continue;
            }
            if ends[row].is_none() {
                ends[row] = Some(joined_ends(next, cyclic, &ends, row));
            }
            open.pop();
        }
    }
    ends.into_iter().map(Option::unwrap_or_default).collect()
}

/// Returns the ends of a row's chains from those of the rows that supersede it. A member of a cycle
/// has none.
fn joined_ends(
    next: &[Vec<DocId>],
    cyclic: &[bool],
    ends: &[Option<Vec<DocId>>],
    row: usize,
) -> Vec<DocId> {
    let mut found = Vec::new();
    for id in next[row].iter().filter(|_| !cyclic[row]) {
        match &ends[id.0 as usize] {
            Some(further) if !further.is_empty() => found.extend(further),
            _ => found.push(*id),
        }
    }
    found.sort_unstable();
    found.dedup();
    found.truncate(MAX_ENDS);
    found
}

/// Marks the members of every cycle and reports each cycle once.
fn mark_cycles(
    documents: &[Document],
    next: &[Vec<DocId>],
    notes: &mut Vec<Diagnostic>,
) -> Vec<bool> {
    let mut cyclic = vec![false; next.len()];
    let mut done = vec![false; next.len()];
    let mut on_path = vec![false; next.len()];
    for start in 0..next.len() {
        if done[start] || next[start].is_empty() {
            continue;
        }
        // Depth-first search; the stack has each row with the number of successors tried.
        let mut path: Vec<(usize, usize)> = vec![(start, 0)];
        on_path[start] = true;
        while let Some((row, tried)) = path.last_mut() {
            let row = *row;
            let Some(successor) = next[row].get(*tried).map(|id| id.0 as usize) else {
                done[row] = true;
                on_path[row] = false;
                path.pop();
                continue;
            };
            *tried += 1;
            if on_path[successor] {
                let at = path.iter().position(|(row, _)| *row == successor).unwrap_or(0);
                let members: Vec<usize> = path[at..].iter().map(|(row, _)| *row).collect();
                report_cycle(documents, &members, notes);
                members.iter().for_each(|member| cyclic[*member] = true);
            } else if !done[successor] {
                on_path[successor] = true;
                path.push((successor, 0));
            }
        }
    }
    cyclic
}

fn report_cycle(documents: &[Document], members: &[usize], notes: &mut Vec<Diagnostic>) {
    let names: Vec<&str> = members.iter().map(|row| documents[*row].path.as_str()).collect();
    let message = format!("documents supersede each other: {} → {}", names.join(" → "), names[0]);
    let hint = "remove one of these `supersedes`";
    notes.push(Diagnostic::new(Code::SupersessionCycle, names[0], message).hint(hint));
}

fn report_live_but_superseded(
    documents: &[Document],
    next: &[Vec<DocId>],
    cyclic: &[bool],
    stated: &[bool],
    notes: &mut Vec<Diagnostic>,
) {
    for (row, document) in documents.iter().enumerate() {
        let expected = stated[row] || cyclic[row] || matches!(document.status, Status::Unstated);
        let Some(by) = next[row].first().filter(|_| document.status.is_live() && !expected) else {
            continue;
        };
        let by = &documents[by.0 as usize].path;
        let message =
            format!("status is {}, but {by} supersedes it; listed as history", document.status);
        let (path, line) = document.status_place();
        let hint = "set its status to superseded";
        notes.push(Diagnostic::new(Code::LiveButSuperseded, path, message).at(line, 1).hint(hint));
    }
}

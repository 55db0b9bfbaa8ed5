//! Whether others can see an edit.

use crate::model::document::HEADER_END;
use crate::model::{Facts, Reference};

/// Where the lines of a text are now that something refers to something on.
pub(super) struct Moves(Vec<(u32, u32)>);

impl Moves {
    /// `None` if the text says anything else than before to anybody but whoever reads it: its title,
    /// its status, what it refers to and in which words, or what is noticed in it.
    pub(super) fn new(old: &Facts, new: &Facts) -> Option<Moves> {
        // What stands in a file beside the document has no line.
        let status =
            |facts: &Facts| facts.status.as_ref().map(|(word, line)| (word.clone(), *line == 0));
        let same = old.title == new.title
            && old.label == new.label
            && status(old) == status(new)
            && old.date == new.date
            && old.marks == new.marks
            && old.notes.is_empty()
            && new.notes.is_empty()
            && old.references.len() == new.references.len()
            && old.references.iter().zip(&new.references).all(|(old, new)| alike(old, new))
            && old.paths.len() == new.paths.len()
            && old
                .paths
                .iter()
                .zip(&new.paths)
                .all(|(old, new)| (&old.path, old.naming) == (&new.path, new.naming))
            && old.citing_lines.hashes == new.citing_lines.hashes
            && old.citing_lines.lines.len() == new.citing_lines.lines.len()
            && old
                .citing_lines
                .lines
                .iter()
                .zip(&new.citing_lines.lines)
                .all(|(old, new)| old.1 == new.1);
        if !same {
            return None;
        }
        let references = old.references.iter().zip(&new.references);
        let paths = old.paths.iter().zip(&new.paths).map(|(old, new)| (old.line, new.line));
        let citing_lines = old.citing_lines.lines.iter().zip(&new.citing_lines.lines);
        let mut moves: Vec<(u32, u32)> = references
            .map(|(old, new)| (old.line, new.line))
            .chain(paths)
            .chain(citing_lines.map(|((old, _), (new, _))| (*old, *new)))
            .collect();
        moves.sort_unstable();
        moves.dedup();
        // What stood in one line still does, and what came first comes first.
        let in_order = moves.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1);
        let same_part = |(old, new): &(u32, u32)| {
            (*old == 0) == (*new == 0) && (*old < HEADER_END) == (*new < HEADER_END)
        };
        (in_order && moves.iter().all(same_part)).then_some(Moves(moves))
    }

    /// Where a line is now.
    pub(super) fn now(&self, line: u32) -> u32 {
        self.0.binary_search_by_key(&line, |(old, _)| *old).map_or(line, |at| self.0[at].1)
    }
}

/// Whether two references are the same but for their places.
fn alike(one: &Reference, other: &Reference) -> bool {
    (&one.target, one.relation, &one.label, one.count)
        == (&other.target, other.relation, &other.label, other.count)
}

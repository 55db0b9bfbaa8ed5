//! The names of a collection's files as one pattern, so that a reader finds the file of a number.

use std::collections::BTreeMap;

use crate::model::{DocId, Document, Graph};

/// Returns the most frequent shape of some documents' paths: `docs/adr/NNNN-*.md`. If no shape has
/// half of them, returns the globs of the collection.
pub(super) fn file_pattern(graph: &Graph, collection: usize, ids: &[DocId]) -> String {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for id in ids {
        *counts.entry(shape(graph.document(*id))).or_default() += 1;
    }
    // Of shapes with equal counts the first by name is taken.
    let most = counts.iter().max_by_key(|(shape, n)| (**n, std::cmp::Reverse(shape.as_str())));
    match most {
        Some((shape, n)) if *n * 2 >= ids.len() => shape.clone(),
        _ => graph.collections[collection].globs.join(", "),
    }
}

/// Returns the path of a document with `N` for each digit of its number and `*` for its name.
fn shape(document: &Document) -> String {
    let parts: Vec<&str> = document.path.split('/').collect();
    let number = document.number_text.as_str();
    let with_number = (!number.is_empty())
        .then(|| parts.iter().rposition(|part| part.contains(number)))
        .flatten()
        // One document per folder has its number in the name of the folder.
        .filter(|at| *at + 2 >= parts.len());
    let shapes = parts.iter().enumerate().map(|(at, part)| match with_number {
        Some(numbered) if at == numbered => numbered_name(part, number, at + 1 == parts.len()),
        _ if at + 1 == parts.len() && with_number.is_none() => format!("*{}", extension(part)),
        _ => part.to_string(),
    });
    shapes.collect::<Vec<String>>().join("/")
}

/// Returns a name with `N` for the digits of its number and `*` for what follows.
fn numbered_name(name: &str, number: &str, is_file: bool) -> String {
    let (before, after) = name.split_once(number).expect("the caller found the number");
    let digits = |c: char| if c.is_ascii_alphanumeric() { 'N' } else { c };
    let number: String = number.chars().map(digits).collect();
    let extension = if is_file { extension(name) } else { "" };
    let rest = after.strip_suffix(extension).unwrap_or_default();
    let separator: String = rest.chars().take_while(|c| !c.is_alphanumeric()).collect();
    let star = if rest.is_empty() { "" } else { "*" };
    format!("{before}{number}{separator}{star}{extension}")
}

fn extension(name: &str) -> &str {
    name.rfind('.').map_or("", |at| &name[at..])
}

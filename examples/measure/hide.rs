//! Copies a tree without a part of its references, which a ranking should find.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use blue::build::{self, Silent, Survey};
use blue::model::{DocId, Document, Graph, Lexicon, Number};
use blue::root::Root;

use super::baselines::{Counts, counts};

/// A tree with hidden references.
pub(crate) struct Case {
    pub(crate) graph: Graph,
    pub(crate) lexicon: Lexicon,
    /// Term counts of each whole text.
    pub(crate) texts: Vec<Counts>,
    /// Hidden references, by source.
    pub(crate) hidden: BTreeMap<DocId, Vec<DocId>>,
    /// Words of the links that were removed, each with the path of the target.
    pub(crate) labels: BTreeSet<(String, String)>,
    /// The copy of the tree.
    pub(crate) copy: tempfile::TempDir,
}

/// Whether the words of a hidden link are removed with it.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum LinkWords {
    Remove,
    Keep,
}

/// Returns each pair of documents with a reference once.
pub(crate) fn referring(graph: &Graph) -> BTreeSet<(DocId, DocId)> {
    graph.edges.iter().map(|edge| (edge.from, edge.to)).collect()
}

/// Reads and links the documents of a project without writing anything.
fn survey(folder: &Path) -> Survey {
    let root = Root::open(folder).unwrap();
    let inputs = build::load(&root).unwrap();
    build::survey(&root, &inputs, &Silent).unwrap()
}

/// Hides a seeded random fifth of a tree's references. The tree itself is not changed.
pub(crate) fn case(folder: &Path, seed: u64, words: LinkWords) -> Option<Case> {
    let folder = folder.canonicalize().ok()?;
    let before = survey(&folder).graph;
    let copy = tempfile::tempdir().ok()?;
    let chosen = choose(&before, seed);
    let mut labels = BTreeSet::new();
    for (row, document) in before.documents.iter().enumerate() {
        let text = std::fs::read(folder.join(&document.path)).ok()?;
        let mut text = String::from_utf8_lossy(&text).into_owned();
        for target in chosen.get(&DocId(row as u32)).into_iter().flatten() {
            let mut removed = Vec::new();
            text = without(&text, &before, *target, words, &mut removed);
            let path = &before.document(*target).path;
            labels.extend(removed.into_iter().map(|label| (path.clone(), label)));
        }
        let place: PathBuf = copy.path().join(&document.path);
        std::fs::create_dir_all(place.parent()?).ok()?;
        std::fs::write(place, text).ok()?;
        if let Some(sidecar) = &document.sidecar {
            std::fs::copy(folder.join(sidecar), copy.path().join(sidecar)).ok()?;
        }
    }
    if let Ok(config) = std::fs::read(folder.join(".blue/config.yaml")) {
        std::fs::create_dir_all(copy.path().join(".blue")).ok()?;
        std::fs::write(copy.path().join(".blue/config.yaml"), config).ok()?;
    }
    let Survey { graph: after, terms, .. } = survey(copy.path());
    let text = |document: &Document| std::fs::read(copy.path().join(&document.path)).ok();
    let texts = after.documents.iter().map(|document| Some(counts(&text(document)?)));
    Some(Case {
        texts: texts.collect::<Option<_>>()?,
        lexicon: Lexicon::new(&after.documents, terms),
        hidden: still_hidden(&before, &after, chosen),
        graph: after,
        labels,
        copy,
    })
}

fn choose(graph: &Graph, seed: u64) -> BTreeMap<DocId, Vec<DocId>> {
    let mut chosen: BTreeMap<DocId, Vec<DocId>> = BTreeMap::new();
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1;
    // A number that two documents share does not show which of them was meant.
    let certain = graph.edges.iter().filter(|edge| !edge.ambiguous && edge.from != edge.to);
    let certain: BTreeSet<(DocId, DocId)> = certain.map(|edge| (edge.from, edge.to)).collect();
    for (from, to) in certain {
        if super::random(&mut state).is_multiple_of(5) {
            chosen.entry(from).or_default().push(to);
        }
    }
    chosen
}

/// Returns the chosen references that the copy no longer has, with the copy's ids.
fn still_hidden(
    before: &Graph,
    after: &Graph,
    chosen: BTreeMap<DocId, Vec<DocId>>,
) -> BTreeMap<DocId, Vec<DocId>> {
    let row_of: BTreeMap<&str, DocId> =
        after.ids().map(|id| (after.document(id).path.as_str(), id)).collect();
    let path = |id: DocId| row_of.get(before.document(id).path.as_str()).copied();
    let seen = referring(after);
    let mut hidden: BTreeMap<DocId, Vec<DocId>> = BTreeMap::new();
    for (from, to) in
        chosen.into_iter().flat_map(|(from, to)| to.into_iter().map(move |to| (from, to)))
    {
        if let (Some(from), Some(to)) = (path(from), path(to))
            && !seen.contains(&(from, to))
        {
            hidden.entry(from).or_default().push(to);
        }
    }
    hidden
}

/// Removes the references to a document from a text: links to its file, URLs with its number, and
/// its id. Adds the words of the links to `labels`.
fn without(
    text: &str,
    graph: &Graph,
    target: DocId,
    words: LinkWords,
    labels: &mut Vec<String>,
) -> String {
    let document = graph.document(target);
    let (folder, file) = document.path.rsplit_once('/').unwrap_or(("", &document.path));
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    // The file of a folder for one document is referred to by the name of the folder.
    let is_generic = ["readme", "index"].contains(&stem.to_ascii_lowercase().as_str());
    let names = match is_generic {
        true => vec![folder.rsplit('/').next().unwrap_or_default()],
        false => vec![file, stem],
    };
    let text = without_links(text, &names, words, labels);
    let Some(number) = document.number.as_ref().and_then(Number::value) else { return text };
    without_listed_number(&without_ids(&without_urls(&text, number), number), number)
}

/// Removes URLs in which a part of the path is a number.
fn without_urls(text: &str, number: u64) -> String {
    let mut text = text.to_string();
    let mut from = 0;
    while let Some(at) = text[from..].find("://").map(|at| from + at + 3) {
        let ends = |c: char| c.is_whitespace() || "()<>[]\"'`|,".contains(c);
        let end = at + text[at..].find(ends).unwrap_or(text.len() - at);
        let names_it = |part: &str| {
            let digits = part.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
            digits.parse() == Ok(number)
                && matches!(part.as_bytes().get(digits.len()), None | Some(b'-' | b'.'))
        };
        match text[at..end].split(['/', '#']).any(names_it) {
            true => text.replace_range(at..end, " "),
            false => from = end,
        }
        from = from.max(at);
    }
    text
}

/// Removes ids with a number, such as `ADR-7` or `rfc #0007`: the number and the word before it.
fn without_ids(text: &str, number: u64) -> String {
    let (mut rest, mut kept) = (text, String::with_capacity(text.len()));
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let end = at + rest[at..].find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len() - at);
        let before = &rest[..at];
        let word = before.trim_end_matches([' ', '-', '#', ':', '_']);
        let start = word.trim_end_matches(|c: char| c.is_ascii_alphabetic()).len();
        let is_id = before.len() - word.len() <= 2
            && (start < word.len() || before.ends_with('#'))
            && rest[at..end].parse() == Ok(number)
            && !rest[end..].starts_with(|c: char| c.is_ascii_alphabetic());
        kept.push_str(if is_id { &rest[..start] } else { &rest[..end] });
        rest = &rest[end..];
    }
    kept + rest
}

/// Removes a bare number from the lists of a header: `requires: 20, 165`.
fn without_listed_number(text: &str, number: u64) -> String {
    let lists = ["requires", "replaces", "superseded", "supersedes", "depends", "related"];
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for line in lines.iter_mut().take(40) {
        let lower = line.to_lowercase();
        let key = lower.trim_start_matches(['-', '*', '|', ' ']);
        if lists.iter().any(|list| key.starts_with(list)) {
            let has = |part: &&str| {
                part.split(|c: char| !c.is_ascii_digit()).any(|n| n.parse() == Ok(number))
            };
            let others: Vec<&str> = line.split(',').filter(|part| !has(part)).collect();
            *line = others.join(",");
        }
    }
    lines.join("\n")
}

/// Removes links to files with these names, and the names themselves, from a text. Adds the words of
/// the links to `labels`.
fn without_links(text: &str, names: &[&str], words: LinkWords, labels: &mut Vec<String>) -> String {
    let mut text = text.to_string();
    for name in names.iter().filter(|name| !name.is_empty()) {
        let mut from = 0;
        while let Some(at) = text[from..].find(name).map(|at| from + at) {
            let end = at + name.len();
            // `eip-20` must not match in `eip-2015`.
            if text[end..].starts_with(|c: char| c.is_ascii_alphanumeric()) {
                from = end;
                continue;
            }
            let open = text[..at].rfind('[').filter(|open| {
                let between = &text[*open..at];
                between.contains("](") && !between.contains('\n') && !between.contains(')')
            });
            match open {
                Some(open) => {
                    let close = text[end..].find(')').map_or(end, |close| end + close + 1);
                    let label = text[open + 1..at].split("](").next().unwrap_or_default();
                    labels.push(label.to_string());
                    // A link text that repeats the name would give the target away.
                    let label = match words {
                        LinkWords::Keep => label.replace(name, " "),
                        LinkWords::Remove => " ".to_string(),
                    };
                    text.replace_range(open..close, &label);
                }
                None => text.replace_range(at..end, " "),
            }
        }
    }
    text
}

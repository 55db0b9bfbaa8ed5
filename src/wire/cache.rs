//! Facts by content hash, kept in `.blue/local/facts`.
//!
//! The file begins with a format line and its [`blocks`] carry checksums, so that a corrupt or foreign
//! cache is the same as none. The checksums are keyed, so a cache that came with a clone is foreign.

use std::borrow::Cow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::blocks::{self, Place};
use super::lists::{packed, unpacked, whole};
use crate::model::plan::Limits;
use crate::model::{
    CitingLines, Code, Digest, Facts, Key, Label, NamedPath, Naming, Note, Number, Reference,
    Relation, Size, Sizes, Target, Terms,
};

/// Raised by hand whenever parsing gives other facts for the same bytes.
pub const FACTS_FORMAT: u32 = 13;

/// The first bytes of a facts file. Limits decide what is read of a document's bytes, so facts that
/// were found under other limits are another blue's.
pub fn facts_head(limits: &Limits) -> Vec<u8> {
    let limits = limits.of_document().map(|limit| limit.to_string()).join(" ");
    [magic("facts"), limits.into_bytes(), b"\n".to_vec()].concat()
}

/// The first bytes of a cache file; another blue's cache is not read.
pub(super) fn magic(kind: &str) -> Vec<u8> {
    format!("blue {kind} {} {FACTS_FORMAT}\n", env!("CARGO_PKG_VERSION")).into_bytes()
}

#[derive(Deserialize, Serialize)]
struct FactsMirror<'a> {
    #[serde(borrow)]
    title: Option<&'a str>,
    #[serde(borrow)]
    label: Option<(&'a str, &'a str)>,
    #[serde(borrow)]
    status: Option<(&'a str, u32)>,
    #[serde(borrow)]
    date: Option<&'a str>,
    line: &'a str,
    sizes: [(u32, [u8; 16]); 3],
    repeats: bool,
    #[serde(borrow)]
    references: Vec<ReferenceMirror<'a>>,
    #[serde(borrow)]
    paths: Vec<(&'a str, u8, u32)>,
    #[serde(borrow)]
    notes: Vec<NoteMirror<'a>>,
    #[serde(borrow)]
    words: &'a str,
    #[serde(borrow, serialize_with = "whole")]
    hashes: Cow<'a, [u8]>,
    counts: Vec<u16>,
    #[serde(borrow, serialize_with = "whole")]
    bigrams: Cow<'a, [u8]>,
    #[serde(borrow, serialize_with = "whole")]
    names: Cow<'a, [u8]>,
    citing_lines: (Vec<(u32, u32)>, Vec<u32>),
    #[serde(borrow)]
    marks: Vec<&'a str>,
    n_bytes: u64,
    n_served: u64,
    n_tokens: u64,
}

#[derive(Deserialize, Serialize)]
struct ReferenceMirror<'a> {
    #[serde(borrow)]
    target: TargetMirror<'a>,
    relation: u8,
    #[serde(borrow)]
    label: Option<(&'a str, &'a str)>,
    place: (u32, u32),
    count: u32,
}

#[derive(Deserialize, Serialize)]
enum TargetMirror<'a> {
    Path(&'a str),
    Url(&'a str),
    Address(&'a str),
    Label(&'a str, &'a str),
    Number(Option<&'a str>, &'a str),
    Name(Option<&'a str>, &'a str),
}

#[derive(Deserialize, Serialize)]
struct NoteMirror<'a> {
    code: u16,
    place: (u32, u32),
    #[serde(borrow)]
    message: &'a str,
    #[serde(borrow)]
    hint: Option<&'a str>,
}

/// Facts by content hash, read from one file without copying.
#[derive(Default)]
pub struct FactsCache {
    bytes: Vec<u8>,
    /// Sorted by what they are kept under.
    entries: Vec<Place>,
    /// Where the last whole block ends.
    end: usize,
}

impl FactsCache {
    /// Opens the bytes of a cache file. A block that does not verify is absent.
    pub fn open(bytes: Vec<u8>, limits: &Limits, key: &Key) -> FactsCache {
        let head = facts_head(limits);
        if !bytes.starts_with(&head) {
            return FactsCache { bytes, ..FactsCache::default() };
        }
        let (blocks, end) = blocks::blocks(&bytes, head.len());
        let found = blocks.into_par_iter().filter_map(|block| blocks::entries(&bytes, block, key));
        let mut entries: Vec<Place> = found.flatten_iter().collect();
        entries.par_sort_unstable_by_key(|place| place.key);
        FactsCache { bytes, entries, end }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Where new blocks may be appended.
    pub fn end(&self) -> u64 {
        self.end as u64
    }

    /// The facts of a content, if they are here whole.
    pub fn get(&self, key: &Digest) -> Option<Facts> {
        facts_of(self.entry(key)?)
    }

    /// The bytes of an entry, its head included.
    pub fn entry(&self, key: &Digest) -> Option<&[u8]> {
        Some(&self.bytes[self.place(key)?.entry.clone()])
    }

    /// Where the block of an entry begins.
    pub fn block(&self, key: &Digest) -> Option<u64> {
        Some(self.place(key)?.block as u64)
    }

    fn place(&self, key: &Digest) -> Option<&Place> {
        let at = self.entries.binary_search_by(|place| place.key.cmp(key)).ok()?;
        Some(&self.entries[at])
    }
}

fn facts_of(entry: &[u8]) -> Option<Facts> {
    facts(&postcard::from_bytes(blocks::payload(entry)).ok()?)
}

/// The facts of a content that is in a block, which is as this machine wrote it.
pub fn facts_in(block: &[u8], digest: &Digest, key: &Key) -> Option<Facts> {
    let entries = blocks::entries(block, 0, key)?;
    let place = entries.into_iter().find(|place| place.key == *digest)?;
    facts_of(&block[place.entry])
}

/// One entry of a facts file: a document's facts under the digest of its content.
pub fn facts_entry(key: &Digest, facts: &Facts) -> Vec<u8> {
    let write = |bytes| postcard::to_extend(&mirror(facts), bytes).expect("facts can be written");
    blocks::entry(key, write)
}

fn mirror(facts: &Facts) -> FactsMirror<'_> {
    let sizes = &facts.sizes;
    FactsMirror {
        title: facts.title.as_deref(),
        label: facts.label.as_ref().map(label_mirror),
        status: facts.status.as_ref().map(|(word, line)| (word.as_str(), *line)),
        date: facts.date.as_deref(),
        line: &facts.line,
        sizes: [sizes.brief, sizes.sections, sizes.full].map(|size| (size.len, size.print)),
        repeats: sizes.repeats,
        references: facts.references.iter().map(reference_mirror).collect(),
        paths: facts.paths.iter().map(|p| (p.path.as_str(), p.naming as u8, p.line)).collect(),
        notes: facts.notes.iter().map(note_mirror).collect(),
        words: &facts.terms.words,
        hashes: packed(&facts.terms.hashes).into(),
        counts: facts.terms.counts.clone(),
        bigrams: packed(&facts.terms.bigrams).into(),
        names: packed(&facts.terms.names).into(),
        citing_lines: (facts.citing_lines.lines.clone(), facts.citing_lines.hashes.clone()),
        marks: facts.marks.iter().map(String::as_str).collect(),
        n_bytes: facts.n_bytes,
        n_served: facts.n_served,
        n_tokens: facts.n_tokens,
    }
}

fn label_mirror(label: &Label) -> (&str, &str) {
    (&label.series, label.number.as_str())
}

fn reference_mirror(reference: &Reference) -> ReferenceMirror<'_> {
    let target = match &reference.target {
        Target::Path(path) => TargetMirror::Path(path),
        Target::Url(url) => TargetMirror::Url(url),
        Target::Address(address) => TargetMirror::Address(address),
        Target::Label(label) => TargetMirror::Label(&label.series, label.number.as_str()),
        Target::Number(kind, number) => TargetMirror::Number(kind.as_deref(), number.as_str()),
        Target::Name(kind, name) => TargetMirror::Name(kind.as_deref(), name),
    };
    ReferenceMirror {
        target,
        relation: reference.relation as u8,
        label: reference.label.as_ref().map(label_mirror),
        place: (reference.line, reference.column),
        count: reference.count,
    }
}

fn note_mirror(note: &Note) -> NoteMirror<'_> {
    let (message, hint) = (note.message.as_str(), note.hint.as_deref());
    NoteMirror { code: note.code as u16, place: (note.line, note.column), message, hint }
}

fn facts(mirror: &FactsMirror<'_>) -> Option<Facts> {
    let [brief, sections, full] = mirror.sizes.map(|(len, print)| Size { len, print });
    Some(Facts {
        title: mirror.title.map(str::to_string),
        label: maybe_label(mirror.label)?,
        status: mirror.status.map(|(word, line)| (word.to_string(), line)),
        date: mirror.date.map(str::to_string),
        line: mirror.line.to_string(),
        sizes: Sizes { brief, sections, full, repeats: mirror.repeats },
        references: mirror.references.iter().map(reference).collect::<Option<_>>()?,
        paths: mirror.paths.iter().map(named_path).collect::<Option<_>>()?,
        notes: mirror.notes.iter().map(note).collect::<Option<_>>()?,
        terms: Terms {
            words: mirror.words.to_string(),
            hashes: unpacked(&mirror.hashes),
            counts: mirror.counts.clone(),
            bigrams: unpacked(&mirror.bigrams),
            names: unpacked(&mirror.names),
        },
        citing_lines: CitingLines {
            lines: mirror.citing_lines.0.clone(),
            hashes: mirror.citing_lines.1.clone(),
        },
        marks: mirror.marks.iter().map(|mark| (*mark).to_string()).collect(),
        n_bytes: mirror.n_bytes,
        n_served: mirror.n_served,
        n_tokens: mirror.n_tokens,
    })
}

/// `None` tells the caller that the entry is not one of ours.
fn label((series, number): (&str, &str)) -> Option<Label> {
    Some(Label { series: series.to_string(), number: Number::new(number)? })
}

/// A label that may be absent; the outer `None` is that of [`label`].
fn maybe_label(mirror: Option<(&str, &str)>) -> Option<Option<Label>> {
    mirror.map_or(Some(None), |mirror| label(mirror).map(Some))
}

fn reference(mirror: &ReferenceMirror<'_>) -> Option<Reference> {
    let target = match &mirror.target {
        TargetMirror::Path(path) => Target::Path(path.to_string()),
        TargetMirror::Url(url) => Target::Url(url.to_string()),
        TargetMirror::Address(address) => Target::Address(address.to_string()),
        TargetMirror::Label(series, number) => Target::Label(label((series, number))?),
        TargetMirror::Number(kind, number) => {
            Target::Number(kind.map(str::to_string), Number::new(number)?)
        }
        TargetMirror::Name(kind, name) => Target::Name(kind.map(str::to_string), name.to_string()),
    };
    Some(Reference {
        target,
        relation: *Relation::ALL.get(mirror.relation as usize)?,
        label: maybe_label(mirror.label)?,
        line: mirror.place.0,
        column: mirror.place.1,
        count: mirror.count,
    })
}

fn named_path((path, naming, line): &(&str, u8, u32)) -> Option<NamedPath> {
    let naming = *Naming::ALL.get(usize::from(*naming))?;
    Some(NamedPath { path: path.to_string(), naming, line: *line })
}

fn note(mirror: &NoteMirror<'_>) -> Option<Note> {
    Some(Note {
        code: *Code::ALL.get(mirror.code as usize)?,
        line: mirror.place.0,
        column: mirror.place.1,
        message: mirror.message.to_string(),
        hint: mirror.hint.map(str::to_string),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_survive_the_cache_and_damage_is_absence() {
        let facts = Facts {
            title: Some("T".into()),
            label: Some(Label {
                series: "rfc".into(),
                number: Number::new("16").expect("a number"),
            }),
            references: vec![Reference {
                target: Target::Name(None, "x".into()),
                relation: Relation::Mention,
                label: None,
                line: 3,
                column: 4,
                count: 2,
            }],
            paths: vec![NamedPath { path: "src/x".into(), naming: Naming::Link, line: 5 }],
            ..Facts::default()
        };
        let digest = Digest::of(b"content");
        let entry = facts_entry(&digest, &facts);
        let key = Key::new([7; 32]);
        let blocks = blocks::packed(std::iter::once(entry.as_slice()), &key);
        let blocks: Vec<Vec<u8>> = blocks.collect();
        let limits = Limits::default();
        let file = [facts_head(&limits), blocks.concat()].concat();
        assert_eq!(FactsCache::open(file.clone(), &limits, &key).get(&digest), Some(facts));
        for i in 0..file.len() {
            let mut damaged = file.clone();
            damaged[i] ^= 0x40;
            let found = FactsCache::open(damaged, &limits, &key).get(&digest);
            assert!(found.is_none(), "byte {i} was not checked");
        }
        assert!(FactsCache::open(b"another file".to_vec(), &limits, &key).is_empty());
    }
}

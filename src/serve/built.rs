//! The indexes that one build emitted, and the list of everything in them.

use std::fmt;

use super::{Bundles, Catalogue};
use crate::model::Format;
use crate::model::artifact::content_digest;
use crate::model::layout::{
    BUNDLES, DOCUMENTS, GUIDE, KNOWLEDGE, MANIFEST, SESSION, VOICE, WORKFLOW,
};
use crate::root::Root;
use crate::wire::header;
use crate::wire::jsonl::DocumentLine;
use crate::wire::manifest::{Manifest, ManifestEntry, Unusable};

/// The indexes of one build.
pub struct Built {
    /// `context.manifest.yaml`.
    pub manifest: Manifest,
    /// `documents.jsonl`.
    pub catalogue: Catalogue,
    /// `bundles.jsonl`.
    pub bundles: Bundles,
    /// Everything that a client can list, in order.
    items: Vec<Listed>,
}

/// An entry of the list.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Listed {
    /// An emitted file, by its row in the manifest.
    Artifact(usize),
    /// A file that people wrote for blue.
    Handwritten(Handwritten),
    /// A document, by its row in the catalogue.
    Document(usize),
}

/// The files that people write for blue and an agent may read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Handwritten {
    /// `.blue/workflow.md`: how people work in this project.
    Guide,
    /// `.blue/voice.md`: the project's voice.
    Voice,
}

impl Handwritten {
    const ALL: [Handwritten; 2] = [Handwritten::Guide, Handwritten::Voice];

    /// Returns the address of the file.
    pub fn uri(self) -> &'static str {
        match self {
            Handwritten::Guide => "blue://context/guide",
            Handwritten::Voice => "blue://context/voice",
        }
    }

    /// Returns the path of the file below the root.
    pub fn path(self) -> &'static str {
        match self {
            Handwritten::Guide => GUIDE,
            Handwritten::Voice => VOICE,
        }
    }
}

/// The parts of the list, in order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum ListPart {
    /// The session bundle.
    Session,
    /// The digests of collections.
    Digest,
    /// The files that people wrote for blue.
    Handwritten,
    /// The bundles of RFCs and spikes that are worked on.
    Work,
    /// Live documents.
    Live,
    /// All others.
    History,
}

impl ListPart {
    /// Every part, in order.
    pub const ALL: [ListPart; 6] = [
        ListPart::Session,
        ListPart::Digest,
        ListPart::Handwritten,
        ListPart::Work,
        ListPart::Live,
        ListPart::History,
    ];
}

/// The reason why the indexes cannot be opened.
#[derive(Debug)]
pub enum Unbuilt {
    /// There is no manifest.
    Missing,
    /// The manifest or an index is damaged; with the reason.
    Broken(String),
}

impl fmt::Display for Unbuilt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unbuilt::Missing => f.write_str("nothing has been built here"),
            // The rest of the text may name a path of this machine.
            Unbuilt::Broken(why) => {
                let why = why.lines().next().unwrap_or_default();
                write!(f, "the last build cannot be used ({why})")
            }
        }
    }
}

/// Returns true if an index was written by the same build as the manifest.
fn matches_manifest(manifest: &Manifest, path: &str, bytes: &[u8]) -> bool {
    let file = header::parse(Format::Jsonl, bytes);
    manifest.entry(path).zip(file).is_some_and(|(entry, file)| {
        let digest = content_digest(Format::Jsonl, &file.source, &[file.body]);
        digest.to_string() == entry.hash
    })
}

impl Built {
    /// Opens the indexes of the last build.
    pub fn open(root: &Root) -> Result<Built, Unbuilt> {
        let broken = |error: anyhow::Error| Unbuilt::Broken(format!("{error:#}"));
        let text = super::text(root, MANIFEST, 1 << 28).map_err(broken)?;
        let text = text.ok_or(Unbuilt::Missing)?;
        let manifest = Manifest::read(&text).map_err(|unusable| {
            Unbuilt::Broken(match unusable {
                Unusable::HandWritten => format!("{MANIFEST} was written by hand"),
                Unusable::NotAManifest => format!("{MANIFEST} is not a manifest"),
                Unusable::Broken(why) => format!("{MANIFEST}: {why}"),
            })
        })?;
        let index = |path: &str| -> Result<String, Unbuilt> {
            let text = super::text(root, path, 1 << 32).map_err(broken)?;
            let text = text.filter(|text| matches_manifest(&manifest, path, text.as_bytes()));
            text.ok_or_else(|| Unbuilt::Broken(format!("{path} differs from the last build")))
        };
        let catalogue = Catalogue::new(index(DOCUMENTS)?).map_err(broken)?;
        let bundles = Bundles::new(&index(BUNDLES)?).map_err(broken)?;
        let mut built = Built { manifest, catalogue, bundles, items: Vec::new() };
        built.items = built.list(root);
        Ok(built)
    }

    fn list(&self, root: &Root) -> Vec<Listed> {
        let is_listed = |entry: &ManifestEntry| {
            entry.path == SESSION
                || entry.path.starts_with(KNOWLEDGE)
                || entry.path.starts_with(WORKFLOW)
        };
        let artifacts = self.manifest.artifacts.iter().enumerate();
        let artifacts =
            artifacts.filter(|(_, entry)| is_listed(entry)).map(|(i, _)| Listed::Artifact(i));
        let handwritten = Handwritten::ALL.into_iter().filter(|file| root.exists(file.path()));
        let handwritten = handwritten.map(Listed::Handwritten);
        let mut items: Vec<Listed> = artifacts.chain(handwritten).collect();
        items.sort_by(|a, b| self.place(*a).cmp(&self.place(*b)));
        // The catalogue is sorted already.
        let (live, history): (Vec<usize>, Vec<usize>) =
            self.catalogue.by_uri().iter().partition(|row| self.catalogue.is_live(**row));
        items.extend(live.into_iter().chain(history).map(Listed::Document));
        items
    }

    /// Returns the place of an item in the list. It does not depend on other items, so a cursor stays valid
    /// when the list changes.
    pub fn place(&self, item: Listed) -> (ListPart, &str) {
        let part = match item {
            Listed::Artifact(row) if self.manifest.artifacts[row].path == SESSION => {
                ListPart::Session
            }
            Listed::Artifact(row) if self.manifest.artifacts[row].path.starts_with(WORKFLOW) => {
                ListPart::Work
            }
            Listed::Artifact(_) => ListPart::Digest,
            Listed::Handwritten(_) => ListPart::Handwritten,
            Listed::Document(row) if self.catalogue.is_live(row) => ListPart::Live,
            Listed::Document(_) => ListPart::History,
        };
        (part, self.uri(item))
    }

    /// Returns the address of an item.
    pub fn uri(&self, item: Listed) -> &str {
        match item {
            Listed::Artifact(row) => &self.manifest.artifacts[row].uri,
            Listed::Handwritten(file) => file.uri(),
            Listed::Document(row) => self.catalogue.uri(row),
        }
    }

    /// Returns the items after a place, at most `n`.
    pub fn page(&self, after: Option<(ListPart, &str)>, n: usize) -> &[Listed] {
        let start =
            after.map_or(0, |after| self.items.partition_point(|item| self.place(*item) <= after));
        &self.items[start..self.items.len().min(start + n)]
    }

    /// Returns the line of a document by its permanent address.
    pub fn document(&self, uri: &str) -> Option<DocumentLine> {
        self.catalogue.line(self.catalogue.row(uri)?)
    }

    /// Returns the row of an emitted file in the manifest by its path.
    pub fn artifact(&self, path: &str) -> Option<usize> {
        self.manifest.artifacts.iter().position(|entry| entry.path == path)
    }
}

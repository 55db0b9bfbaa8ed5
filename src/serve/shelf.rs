//! Everything one build emitted that can be looked up, read once and kept until the next build.

use super::{Bundles, Catalogue, Lookup};
use crate::model::Format;
use crate::model::artifact::content_digest;
use crate::model::layout::{BUNDLES, DOCUMENTS, GUIDE, MANIFEST, SESSION, VOICE, WORKFLOW};
use crate::root::Root;
use crate::wire::header;
use crate::wire::jsonl::DocumentLine;
use crate::wire::manifest::{Manifest, ManifestEntry, Unusable};

/// One build's indexes.
pub struct Shelf {
    /// What was built.
    pub manifest: Manifest,
    /// The documents.
    pub catalogue: Catalogue,
    /// The bundles.
    pub bundles: Bundles,
    /// Everything that is listed, in order.
    items: Vec<Item>,
}

/// Something that is listed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Item {
    /// An emitted file, by its row in the manifest.
    Artifact(usize),
    /// A file that people wrote for blue.
    Own(Own),
    /// A document, by its row in the catalogue.
    Document(usize),
}

/// What people write for blue that an agent may read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Own {
    /// How people work here.
    Guide,
    /// The project's voice.
    Voice,
}

impl Own {
    /// Its address.
    pub fn uri(self) -> &'static str {
        match self {
            Own::Guide => "blue://context/guide",
            Own::Voice => "blue://context/voice",
        }
    }

    /// Its path.
    pub fn path(self) -> &'static str {
        match self {
            Own::Guide => GUIDE,
            Own::Voice => VOICE,
        }
    }
}

/// In which part of the list something stands; what was superseded comes last.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Part {
    /// The session bundle.
    Session,
    /// The digests of collections.
    Digest,
    /// What people wrote for blue.
    Own,
    /// The bundles of live RFCs.
    Work,
    /// Live documents.
    Live,
    /// All others.
    History,
}

impl Part {
    /// Every part, in order.
    pub const ALL: [Part; 6] =
        [Part::Session, Part::Digest, Part::Own, Part::Work, Part::Live, Part::History];
}

/// Why there is nothing to look up.
#[derive(Debug)]
pub enum Unbuilt {
    /// There is no manifest.
    Missing,
    /// There is one, but it or an index cannot be used: why.
    Broken(String),
}

/// Whether an index is the one that the manifest was written with: two builds are never mixed.
fn is_whole(manifest: &Manifest, path: &str, bytes: &[u8]) -> bool {
    let entry = manifest.artifacts.iter().find(|entry| entry.path == path);
    entry.zip(header::parse(Format::Jsonl, bytes)).is_some_and(|(entry, undressed)| {
        let digest = content_digest(Format::Jsonl, &undressed.source, &[undressed.body]);
        digest.to_string() == entry.hash
    })
}

impl Shelf {
    /// Reads what the last build emitted.
    pub fn open(root: &Root) -> Result<Shelf, Unbuilt> {
        let broken = |error: anyhow::Error| Unbuilt::Broken(format!("{error:#}"));
        let text = super::text(root, MANIFEST, 1 << 28).map_err(broken)?;
        let text = text.ok_or(Unbuilt::Missing)?;
        let manifest = Manifest::read(&text).map_err(|unusable| {
            Unbuilt::Broken(match unusable {
                Unusable::HandWritten => format!("{MANIFEST} is written by hand"),
                Unusable::NotAManifest => format!("{MANIFEST} is not a manifest"),
                Unusable::Broken(why) => format!("{MANIFEST}: {why}"),
            })
        })?;
        let index = |path: &str| -> Result<String, Unbuilt> {
            let text = super::text(root, path, 1 << 32).map_err(broken)?;
            let text = text.filter(|text| is_whole(&manifest, path, text.as_bytes()));
            text.ok_or_else(|| Unbuilt::Broken(format!("{path} is not what was built")))
        };
        let catalogue = Catalogue::new(index(DOCUMENTS)?).map_err(broken)?;
        let bundles = Bundles::new(&index(BUNDLES)?).map_err(broken)?;
        let mut shelf = Shelf { manifest, catalogue, bundles, items: Vec::new() };
        shelf.items = shelf.all(root);
        Ok(shelf)
    }

    fn all(&self, root: &Root) -> Vec<Item> {
        let told = |entry: &ManifestEntry| {
            entry.path == SESSION
                || entry.path.starts_with("knowledge/")
                || entry.path.starts_with(WORKFLOW)
        };
        let artifacts = self.manifest.artifacts.iter().enumerate();
        let artifacts = artifacts.filter(|(_, entry)| told(entry)).map(|(i, _)| Item::Artifact(i));
        let own = [Own::Guide, Own::Voice].into_iter().filter(|own| root.exists(own.path()));
        let mut items: Vec<Item> = artifacts.chain(own.map(Item::Own)).collect();
        items.sort_by(|a, b| self.place(*a).cmp(&self.place(*b)));
        // These are sorted already, and many.
        let (live, history): (Vec<usize>, Vec<usize>) =
            self.catalogue.by_uri().iter().partition(|row| self.catalogue.is_live(**row));
        items.extend(live.into_iter().chain(history).map(Item::Document));
        items
    }

    /// Where an item stands in the list. It does not depend on other items, so a place keeps its
    /// meaning when the list changes.
    pub fn place(&self, item: Item) -> (Part, &str) {
        let part = match item {
            Item::Artifact(row) if self.manifest.artifacts[row].path == SESSION => Part::Session,
            Item::Artifact(row) if self.manifest.artifacts[row].path.starts_with(WORKFLOW) => {
                Part::Work
            }
            Item::Artifact(_) => Part::Digest,
            Item::Own(_) => Part::Own,
            Item::Document(row) if self.catalogue.is_live(row) => Part::Live,
            Item::Document(_) => Part::History,
        };
        (part, self.uri(item))
    }

    /// The address of an item.
    pub fn uri(&self, item: Item) -> &str {
        match item {
            Item::Artifact(row) => &self.manifest.artifacts[row].uri,
            Item::Own(own) => own.uri(),
            Item::Document(row) => self.catalogue.uri(row),
        }
    }

    /// At most so many items behind a place.
    pub fn page(&self, after: Option<(Part, &str)>, n: usize) -> &[Item] {
        let start =
            after.map_or(0, |after| self.items.partition_point(|item| self.place(*item) <= after));
        &self.items[start..self.items.len().min(start + n)]
    }

    /// What the index says of a document, by its lasting address.
    pub fn document(&self, uri: &str) -> Option<DocumentLine> {
        self.catalogue.line(self.catalogue.row(uri)?)
    }

    /// The emitted file of a path.
    pub fn artifact(&self, path: &str) -> Option<usize> {
        self.manifest.artifacts.iter().position(|entry| entry.path == path)
    }

    /// What an address means, if it is neither computed nor chosen at run time.
    pub fn look_up(&self, address: &str) -> Result<Item, Lookup> {
        if let Some(row) = self.manifest.artifacts.iter().position(|entry| entry.uri == address) {
            return Ok(Item::Artifact(row));
        }
        match self.catalogue.look_up(address) {
            Lookup::Document(row) => Ok(Item::Document(row)),
            Lookup::File(path) => {
                let own = [Own::Guide, Own::Voice].into_iter().find(|own| own.path() == path);
                let item = self.artifact(&path).map(Item::Artifact).or(own.map(Item::Own));
                item.ok_or(Lookup::Nothing)
            }
            other => Err(other),
        }
    }
}

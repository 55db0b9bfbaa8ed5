//! The indexes that one build emitted.

use std::fmt;

use super::resource_index::ResourceIndex;
use super::{Bundles, Catalogue};
use crate::model::Format;
use crate::model::artifact::content_digest;
use crate::model::layout::{BUNDLES, DOCUMENTS, GUIDE, MANIFEST, VOICE};
use crate::root::Root;
use crate::wire::header;
use crate::wire::jsonl::DocumentLine;
use crate::wire::manifest::{Manifest, Unusable};

/// The indexes of one build.
pub struct Built {
    /// `context.manifest.yaml`.
    pub manifest: Manifest,
    /// `documents.jsonl`.
    pub catalogue: Catalogue,
    /// `bundles.jsonl`.
    pub bundles: Bundles,
    /// The resources that a client lists.
    pub resources: ResourceIndex,
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
    /// Both files.
    pub const ALL: [Handwritten; 2] = [Handwritten::Guide, Handwritten::Voice];

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
        let resources = ResourceIndex::new(root, &manifest, &catalogue);
        Ok(Built { manifest, catalogue, bundles, resources })
    }

    /// Returns the address of an item.
    pub fn uri(&self, item: Listed) -> &str {
        match item {
            Listed::Artifact(row) => &self.manifest.artifacts[row].uri,
            Listed::Handwritten(file) => file.uri(),
            Listed::Document(row) => self.catalogue.uri(row),
        }
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

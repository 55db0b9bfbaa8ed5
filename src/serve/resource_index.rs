//! Chooses the resources that a client lists. Templates of addresses reach the others.

use std::cmp::Reverse;

use super::Catalogue;
use super::built::{Handwritten, Listed};
use crate::model::layout::{
    KNOWLEDGE, KNOWLEDGE_BUNDLE, RESPONSIBILITIES, SESSION, WORKFLOW, folder_of,
};
use crate::root::Root;
use crate::wire::manifest::Manifest;

/// Maximum number of resources in the list. A client loads the whole list at its start, and a model
/// that asks for it reads all of it.
pub const MAX_LISTED: usize = 100;

/// The resources of a build, without the current work, which can change between builds.
pub struct ResourceIndex {
    /// The first ones, at most [`MAX_LISTED`]. Within a part, those with more weight come first.
    first: Vec<(ListPart, Listed)>,
    n_all: usize,
}

/// The parts of the list, in order.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum ListPart {
    /// The bundles that every session receives.
    Identity,
    /// The digests of collections.
    Digest,
    /// The bundle of the current work.
    CurrentWork,
    /// The packs of responsibilities.
    Role,
    /// The files that people wrote for blue.
    Handwritten,
    /// Live decisions.
    Decision,
    /// The bundles of other RFCs and spikes that are worked on.
    Work,
    /// Other live documents.
    Live,
    /// All others.
    History,
}

/// The resources in the list.
#[derive(Debug)]
pub struct ResourceSelection {
    /// In the order of the list.
    pub items: Vec<Listed>,
    /// Number of resources that are not in it.
    pub n_more: usize,
}

impl ResourceIndex {
    /// Chooses the resources of a build.
    pub(super) fn new(root: &Root, manifest: &Manifest, catalogue: &Catalogue) -> ResourceIndex {
        let artifacts = manifest.artifacts.iter().enumerate().filter_map(|(row, entry)| {
            let part = match entry.path.as_str() {
                SESSION | KNOWLEDGE_BUNDLE => ListPart::Identity,
                path if path.starts_with(KNOWLEDGE) => ListPart::Digest,
                path if path.starts_with(WORKFLOW) => ListPart::Work,
                path if folder_of(path) == RESPONSIBILITIES => ListPart::Role,
                _ => return None,
            };
            Some((part, 0, entry.uri.as_str(), Listed::Artifact(row)))
        });
        let handwritten = Handwritten::ALL.into_iter().filter(|file| root.exists(file.path()));
        let handwritten = handwritten
            .map(|file| (ListPart::Handwritten, 0, file.uri(), Listed::Handwritten(file)));
        let documents = (0..catalogue.n_documents()).map(|row| {
            let part = match catalogue.is_live(row) {
                true if catalogue.is_kind(row, "adr") => ListPart::Decision,
                true => ListPart::Live,
                false => ListPart::History,
            };
            (part, catalogue.weight(row), catalogue.uri(row), Listed::Document(row))
        });
        let mut all: Vec<_> = artifacts.chain(handwritten).chain(documents).collect();
        let n_all = all.len();
        all.sort_unstable_by_key(|(part, weight, uri, _)| (*part, Reverse(*weight), *uri));
        all.truncate(MAX_LISTED);
        let first = all.into_iter().map(|(part, _, _, item)| (part, item)).collect();
        ResourceIndex { first, n_all }
    }

    /// Returns the list, sorted by part and address. `current` is the bundle of the current work.
    pub fn list<'a>(
        &self,
        current: Option<Listed>,
        uri: impl Fn(Listed) -> &'a str,
    ) -> ResourceSelection {
        let mut first = self.first.clone();
        if let Some(current) = current {
            first.retain(|(_, item)| *item != current);
            let at = first.partition_point(|(part, _)| *part < ListPart::CurrentWork);
            first.insert(at, (ListPart::CurrentWork, current));
            first.truncate(MAX_LISTED);
        }
        first.sort_unstable_by_key(|(part, item)| (*part, uri(*item)));
        let items: Vec<Listed> = first.into_iter().map(|(_, item)| item).collect();
        ResourceSelection { n_more: self.n_all - items.len(), items }
    }
}

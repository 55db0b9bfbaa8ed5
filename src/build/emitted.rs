//! What the last build emitted, and whether it lies there as it was written.

use std::collections::BTreeMap;

use crate::beneath::Root;
use crate::discover::fresh;
use crate::model::Record;
use crate::model::place::MANIFEST;
use crate::verify::{self, OnDisk};
use crate::wire::manifest::{Entry, Manifest, Unusable};

/// What the last build emitted, as it lies there.
#[derive(Default)]
pub(super) struct Emitted {
    /// The manifest, if blue wrote it and it is whole.
    pub(super) manifest: Option<Manifest>,
    /// Artifacts that are exactly what the manifest says.
    pub(super) intact: BTreeMap<String, Entry>,
}

impl Emitted {
    /// Looks at the manifest and what it lists; by force nothing of that is believed.
    pub(super) fn read(root: &Root, record: &Record, force: bool) -> anyhow::Result<Emitted> {
        let manifest = manifest(root)?;
        let intact = match force {
            true => BTreeMap::new(),
            false => intact(root, record, manifest.as_ref())?,
        };
        Ok(Emitted { manifest, intact })
    }
}

/// The manifest on disk, if blue wrote it and it is whole.
pub(super) fn manifest(root: &Root) -> anyhow::Result<Option<Manifest>> {
    match verify::manifest(root)? {
        None | Some(Err(Unusable::Broken(_))) => Ok(None),
        Some(Ok((manifest, _))) => Ok(Some(manifest)),
        Some(Err(Unusable::HandWritten)) => anyhow::bail!(
            "{MANIFEST} was written by hand; blue does not overwrite it\nhint: run `blue init`, which moves it into .blue/config.yaml"
        ),
    }
}

/// Artifacts on disk that are exactly what the manifest says.
fn intact(
    root: &Root,
    record: &Record,
    manifest: Option<&Manifest>,
) -> anyhow::Result<BTreeMap<String, Entry>> {
    let mut intact = BTreeMap::new();
    for entry in manifest.iter().flat_map(|manifest| &manifest.artifacts) {
        let watched = record.outputs.iter().find(|watched| watched.path == entry.path);
        let unmoved = watched
            .is_some_and(|watched| fresh::file_same(root, record.settled, watched).is_some());
        if unmoved || matches!(verify::on_disk(root, &entry.path, Some(entry))?, OnDisk::Ours(..)) {
            intact.insert(entry.path.clone(), entry.clone());
        }
    }
    Ok(intact)
}

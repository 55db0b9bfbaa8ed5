//! What the last build emitted, and whether it lies there as it was written.

use std::collections::BTreeMap;

use crate::discover::fresh;
use crate::model::Record;
use crate::model::layout::MANIFEST;
use crate::root::Root;
use crate::verify::{self, OnDisk};
use crate::wire::manifest::{Entry, Manifest, Unusable};

/// What the last build emitted, as it lies there.
#[derive(Default)]
pub(super) struct Emitted {
    /// The manifest, if blue wrote it and it is whole.
    pub(super) manifest: Option<Manifest>,
    /// The text of that manifest with LF, if it has other line ends on disk.
    pub(super) converted: Option<String>,
    /// Artifacts that are exactly what the manifest says.
    pub(super) intact: BTreeMap<String, Entry>,
}

impl Emitted {
    /// Looks at the manifest and what it lists; by force nothing of that is believed.
    pub(super) fn read(root: &Root, record: &Record, force: bool) -> anyhow::Result<Emitted> {
        let (manifest, converted) = manifest(root, force)?.unzip();
        let intact = match force {
            true => BTreeMap::new(),
            false => intact(root, record, manifest.as_ref())?,
        };
        Ok(Emitted { manifest, converted: converted.flatten(), intact })
    }
}

/// The manifest on disk, if blue wrote it and it is whole; and its text with LF, if it has other line
/// ends on disk. What is no manifest at all is replaced only by force.
pub(super) fn manifest(
    root: &Root,
    force: bool,
) -> anyhow::Result<Option<(Manifest, Option<String>)>> {
    match verify::manifest(root)? {
        None | Some(Err(Unusable::Broken(_))) => Ok(None),
        Some(Ok((manifest, text))) => {
            let size = root.stat(MANIFEST)?.map(|(stat, _)| stat.size);
            let is_converted = size != Some(text.len() as u64);
            Ok(Some((manifest, is_converted.then_some(text))))
        }
        Some(Err(Unusable::NotAManifest)) if force => Ok(None),
        Some(Err(Unusable::NotAManifest)) => anyhow::bail!(
            "{MANIFEST} is not a manifest; blue does not overwrite it\nhint: run `blue knowledge build --force`, which keeps a copy in .blue/local/rescued/ and replaces it"
        ),
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

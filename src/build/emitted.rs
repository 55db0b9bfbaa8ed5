//! The emitted files on disk, compared with the manifest.

use std::collections::BTreeMap;

use super::artifacts::CurrentArtifacts;
use crate::discover::unchanged;
use crate::model::State;
use crate::model::layout::MANIFEST;
use crate::root::Root;
use crate::verify::{self, OnDisk};
use crate::wire::manifest::{Manifest, Unusable};

/// The emitted files on disk.
#[derive(Default)]
pub(super) struct Emitted {
    /// The manifest, if blue wrote it and it is intact.
    pub(super) manifest: Option<Manifest>,
    /// The text of that manifest with LF, if it has other line ends on disk.
    pub(super) converted: Option<String>,
    /// Artifacts that are exactly what the manifest lists.
    pub(super) intact: CurrentArtifacts,
}

impl Emitted {
    /// Reads the manifest and verifies the files that it lists. With `force`, nothing is trusted.
    pub(super) fn read(root: &Root, previous: &State, force: bool) -> anyhow::Result<Emitted> {
        let (manifest, converted) = manifest(root, force)?.unzip();
        let intact = match force {
            true => BTreeMap::new(),
            false => intact(root, previous, manifest.as_ref())?,
        };
        Ok(Emitted { manifest, converted: converted.flatten(), intact })
    }
}

/// Reads the manifest, if blue wrote it and it is intact. Also returns its text with LF, if it has other
/// line ends on disk. A file that is not a manifest is an error without `force`.
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

/// Returns the artifacts on disk that are exactly what the manifest lists.
pub(super) fn intact(
    root: &Root,
    previous: &State,
    manifest: Option<&Manifest>,
) -> anyhow::Result<CurrentArtifacts> {
    let mut intact = BTreeMap::new();
    for entry in manifest.iter().flat_map(|manifest| &manifest.artifacts) {
        let is_unchanged = previous
            .output(&entry.path)
            .is_some_and(|file| unchanged::is_file_unchanged(root, previous.written_at, file));
        if is_unchanged
            || matches!(verify::on_disk(root, &entry.path, Some(entry))?, OnDisk::Ours(..))
        {
            intact.insert(entry.path.clone(), entry.clone());
        }
    }
    Ok(intact)
}

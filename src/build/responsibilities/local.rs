//! Files that are made from a local state, in `.blue/local/responsibilities/`.
//!
//! They are no artifacts, because the manifest is committed and they are not.

use std::collections::BTreeMap;

use anyhow::Context;

use super::drafts::{DraftedRole, core_text, far_prefix, is_local};
use super::render::{Pack, is_held, local_file, pack_uri};
use crate::build::{Corpus, Fate, Inputs};
use crate::emit;
use crate::model::layout::{LOCAL_BUNDLES, LOCAL_RESPONSIBILITIES};
use crate::model::{Artifact, Format};
use crate::responsibility::Container;
use crate::responsibility::bundle::CoreFile;
use crate::responsibility::registry::Lifecycle;
use crate::root::Root;
use crate::wire::jsonl::{self, BundleLine, RefreshPolicy};

/// Returns the path of the pack of a responsibility that is made from a local state.
pub fn local_pack(id: &str) -> String {
    format!("{LOCAL_RESPONSIBILITIES}/{id}/pack.md")
}

/// Writes the files made from local states, and removes those that nothing is made from any more.
pub(in crate::build) fn write_local(corpus: &Corpus<'_>) -> anyhow::Result<Vec<Fate>> {
    let Corpus { root, inputs, roles, .. } = corpus;
    let mut wanted: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut lines = Vec::new();
    if inputs.plan.responsibilities.is_state_local {
        for DraftedRole { role, draft } in roles {
            let container = &role.container;
            if is_held(role, draft.as_ref()) {
                wanted.extend(unchanged(root, &container.id));
            } else if container.lifecycle == Lifecycle::Active && container.state.is_some() {
                lines.push(add_files(inputs, container, &mut wanted)?);
            }
        }
    }
    let is_used = !wanted.is_empty();
    wanted.extend(is_used.then(|| (LOCAL_BUNDLES.to_string(), jsonl::bundles(&lines))));
    let mut fates = Vec::new();
    let fate = |path: &str, reason: &str| Fate {
        path: path.to_string(),
        written: true,
        reason: reason.to_string(),
    };
    for (path, bytes) in &wanted {
        if root.readable_bytes(path, 1 << 28).as_ref() != Some(bytes) {
            emit::create_local_folder(root)?;
            emit::write_local(root, path, bytes)?;
            fates.push(fate(path, "the local state changed"));
        }
    }
    for path in written_before(root)?.into_iter().filter(|path| !wanted.contains_key(path)) {
        emit::discard(root, &path)?;
        fates.push(fate(&path, "removed: no local state asks for it any more"));
    }
    Ok(fates)
}

/// Renders the files of a responsibility. Returns the line of its pack in the index.
fn add_files(
    inputs: &Inputs,
    container: &Container,
    wanted: &mut BTreeMap<String, Vec<u8>>,
) -> anyhow::Result<BundleLine> {
    let plan = &inputs.plan.responsibilities;
    let folder = format!("{LOCAL_RESPONSIBILITIES}/{}", container.id);
    for file in CoreFile::ALL.into_iter().filter(|file| is_local(*file, plan)) {
        let path = format!("{folder}/{}", file.name());
        let composed = core_text(container, file, &far_prefix(container), plan);
        let composed = composed.map_err(|(fitted, max)| {
            anyhow::anyhow!("{path}: its frame takes {} tokens, at most {max}", fitted.tokens)
        })?;
        let text = local_file(inputs, container, file, &composed.fitted);
        wanted.insert(path, text.into_bytes());
    }
    let path = local_pack(&container.id);
    let pack = Pack::new(inputs, container);
    let fitted = pack.render(container, &path)?;
    let bytes = fitted.text.into_bytes();
    let digest = pack.action.digest();
    let (uri, body) = (pack_uri(container), vec![bytes.clone()]);
    let artifact = Artifact::new(&path, &uri, Format::Bundle, String::new(), body, digest);
    let line = BundleLine {
        names: Vec::new(),
        refresh: RefreshPolicy::SessionStart,
        triggers: Vec::new(),
        work: None,
        inputs: digest.short(),
        source: uri,
        artifact: path.clone(),
        content_hash: artifact.hash.to_string(),
        tokens: fitted.tokens,
        bytes: bytes.len() as u64,
    };
    wanted.insert(path, bytes);
    Ok(line)
}

/// Returns the files of a responsibility as they are on disk.
fn unchanged(root: &Root, id: &str) -> Vec<(String, Vec<u8>)> {
    let paths = names().map(|name| format!("{LOCAL_RESPONSIBILITIES}/{id}/{name}"));
    let read = |path: String| Some((path.clone(), root.readable_bytes(&path, 1 << 20)?));
    paths.filter_map(read).collect()
}

fn names() -> impl Iterator<Item = &'static str> {
    [CoreFile::Requests.name(), CoreFile::Models.name(), "pack.md"].into_iter()
}

/// Returns the paths of the files that earlier builds wrote.
fn written_before(root: &Root) -> anyhow::Result<Vec<String>> {
    if !root.exists(LOCAL_RESPONSIBILITIES) {
        return Ok(Vec::new());
    }
    let entries = root.entries(LOCAL_RESPONSIBILITIES);
    let entries = entries.with_context(|| format!("read {LOCAL_RESPONSIBILITIES}"))?;
    let folders = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut paths: Vec<String> = folders
        .flat_map(|id| names().map(move |name| format!("{LOCAL_RESPONSIBILITIES}/{id}/{name}")))
        .chain([LOCAL_BUNDLES.to_string()])
        .collect();
    paths.retain(|path| root.exists(path));
    Ok(paths)
}

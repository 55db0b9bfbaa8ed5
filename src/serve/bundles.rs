//! The bundles that can be delivered, and which of them the current work asks for.

use crate::model::Digest;
use crate::model::layout::{BUNDLES, SESSION, WORKFLOW, WORKFLOW_BEFORE};
use crate::root::{Content, Root};
use crate::wire::jsonl::BundleLine;

/// Every bundle of the last build.
pub struct Bundles(Vec<BundleLine>);

impl Bundles {
    /// Reads the index. `None` if nothing was built yet.
    pub fn open(root: &Root) -> anyhow::Result<Option<Bundles>> {
        Ok(super::lines(root, BUNDLES, 1 << 28, "bundle")?.map(Bundles))
    }

    /// Reads an index that was read already.
    pub(super) fn new(text: &str) -> anyhow::Result<Bundles> {
        super::parsed(text, BUNDLES, "bundle").map(Bundles)
    }

    /// The session bundle.
    pub fn session(&self) -> Option<&BundleLine> {
        self.0.iter().find(|line| line.artifact == SESSION)
    }

    /// The bundle of the work that has a name.
    pub fn of_work(&self, name: &str) -> Option<&BundleLine> {
        self.0.iter().find(|line| line.names.iter().any(|known| known == name))
    }

    /// Every bundle, in the order of the index.
    pub fn all(&self) -> &[BundleLine] {
        &self.0
    }
}

/// The address of the document that a bundle is about.
pub fn document(line: &BundleLine) -> Option<&str> {
    line.names.iter().find(|name| name.starts_with("blue://")).map(String::as_str)
}

/// What the current work is called: by `.blue/worktree.json`, else by the branch.
pub fn work_name(root: &Root, branch: Option<&str>) -> Option<String> {
    let path = ".blue/worktree.json";
    let told = match root.read(path, 1 << 16) {
        Ok(Some(Content::Bytes(bytes, _))) => serde_json::from_slice(&bytes).ok(),
        _ => None,
    };
    let told = told.as_ref().and_then(|value: &serde_json::Value| match &value["rfc"] {
        serde_json::Value::String(name) if !name.is_empty() => Some(name.clone()),
        serde_json::Value::Number(number) => Some(number.to_string()),
        _ => None,
    });
    told.or_else(|| branch.map(str::to_string))
}

/// A bundle of tier 2 as it was before it last changed, if that is what a digest is of.
pub fn before(root: &Root, line: &BundleLine, hash: &str) -> Option<Vec<u8>> {
    let name = line.artifact.strip_prefix(WORKFLOW)?;
    bytes_of(root, &format!("{WORKFLOW_BEFORE}{name}"), hash)
}

/// The bytes of a bundle, if they are those that the index was made for.
pub fn bytes(root: &Root, line: &BundleLine) -> Option<Vec<u8>> {
    bytes_of(root, &line.artifact, &line.content_hash)
}

/// The bytes of a file, if they are those of a digest.
pub fn bytes_of(root: &Root, path: &str, hash: &str) -> Option<Vec<u8>> {
    match root.read(path, 1 << 20) {
        Ok(Some(Content::Bytes(bytes, _))) => {
            (Digest::of(&bytes).to_string() == hash).then_some(bytes)
        }
        _ => None,
    }
}

//! The bundles that can be delivered, and the bundle of the current work.

use super::Built;
use crate::model::Digest;
use crate::model::layout::{
    BUNDLES, KNOWLEDGE_BUNDLE, LOCAL_BUNDLES, SESSION, WORKFLOW, WORKFLOW_BEFORE, WORKTREE,
};
use crate::root::Root;
use crate::wire::jsonl::{self, BundleLine, DocumentLine};
use crate::wire::worktree;

/// Every bundle of the last build.
pub struct Bundles(Vec<BundleLine>);

impl Bundles {
    /// Reads the index. `None` if nothing was built yet.
    pub fn open(root: &Root) -> anyhow::Result<Option<Bundles>> {
        Ok(super::lines(root, BUNDLES, 1 << 28, "bundle")?.map(Bundles))
    }

    /// Parses the index.
    pub(super) fn new(text: &str) -> anyhow::Result<Bundles> {
        super::parse_lines(text, BUNDLES, "bundle").map(Bundles)
    }

    /// The session bundle.
    pub fn session(&self) -> Option<&BundleLine> {
        self.0.iter().find(|line| line.artifact == SESSION)
    }

    /// The bundle of hand-written knowledge.
    pub fn knowledge(&self) -> Option<&BundleLine> {
        self.0.iter().find(|line| line.artifact == KNOWLEDGE_BUNDLE)
    }

    /// The bundles that every session receives.
    pub fn identity(&self) -> impl Iterator<Item = &BundleLine> {
        self.session().into_iter().chain(self.knowledge())
    }

    /// Returns the bundle of an RFC by one of its names.
    pub fn of_work(&self, name: &str) -> Option<&BundleLine> {
        self.0.iter().find(|line| line.has_name(name))
    }

    /// Returns true if any RFC or spike has a bundle.
    pub fn has_work(&self) -> bool {
        self.0.iter().any(|line| !line.names.is_empty())
    }

    /// The bundles of RFCs and spikes that are worked on.
    pub fn works(&self) -> impl Iterator<Item = &BundleLine> {
        self.0.iter().filter(|line| !line.names.is_empty())
    }

    /// Every bundle, in the order of the index.
    pub fn all(&self) -> &[BundleLine] {
        &self.0
    }
}

/// Returns the pack of a responsibility: of the given name, else of the one in
/// `.blue/worktree.json`. A pack made from a local state is newer than the one that is committed.
pub fn of_responsibility(
    root: &Root,
    bundles: &Bundles,
    name: Option<String>,
) -> Option<BundleLine> {
    let worktree = || worktree::responsibility_name(&root.readable_bytes(WORKTREE, 1 << 16)?);
    let source = format!("blue://responsibility/{}", name.or_else(worktree)?);
    let local = root.readable_bytes(LOCAL_BUNDLES, 1 << 24).unwrap_or_default();
    let local = String::from_utf8_lossy(&local).into_owned();
    let mut lines = local.lines().filter_map(|line| serde_json::from_str(line).ok());
    let found = lines.find(|line: &BundleLine| line.source == source);
    found.or_else(|| bundles.0.iter().find(|line| line.source == source).cloned())
}

/// Returns the address of a bundle's RFC.
pub fn document(line: &BundleLine) -> Option<&str> {
    line.names.iter().find(|name| name.starts_with("blue://")).map(String::as_str)
}

/// Returns the name of the current work, from `.blue/worktree.json` or else from the branch.
pub fn stated_work(root: &Root, branch: Option<&str>) -> Option<String> {
    worktree_work(root).or_else(|| branch.map(str::to_string))
}

/// Returns the name of the current work: from `.blue/worktree.json`, else from the branch, else the
/// only RFC in progress.
pub fn work_name(root: &Root, branch: Option<&str>, bundles: &Bundles) -> Option<String> {
    if let Some(name) = worktree_work(root) {
        return Some(name);
    }
    let bundle = jsonl::current_bundle(&bundles.0, None, branch);
    bundle.and_then(document).or(branch).map(str::to_string)
}

fn worktree_work(root: &Root) -> Option<String> {
    worktree::work_name(&root.readable_bytes(WORKTREE, 1 << 16)?)
}

/// Returns the RFC that a branch or the name in a worktree file means, finished ones too. `prefixes` are
/// those of branches that name an RFC. `None` if it fits none or several.
pub fn document_of_work(built: &Built, prefixes: &[&str], name: &str) -> Option<DocumentLine> {
    if let Some(uri) = built.bundles.of_work(name).and_then(document) {
        return built.document(uri);
    }
    let short = prefixes.iter().filter_map(|prefix| name.strip_prefix(prefix)).chain([name]);
    short.filter(|name| !name.is_empty() && !name.contains('/')).find_map(|name| {
        let mut rows = built.catalogue.by_short_id(Some("rfc"), name);
        rows.retain(|row| built.catalogue.is_kind(*row, "rfc"));
        match rows.as_slice() {
            [row] => built.catalogue.line(*row),
            _ => None,
        }
    })
}

/// Reads the previous version of a tier 2 bundle, if it has a digest.
pub fn before(root: &Root, line: &BundleLine, hash: &str) -> Option<Vec<u8>> {
    let name = line.artifact.strip_prefix(WORKFLOW)?;
    bytes_of(root, &format!("{WORKFLOW_BEFORE}{name}"), hash)
}

/// Reads the bytes of a bundle, if they have the digest in the index.
pub fn bytes(root: &Root, line: &BundleLine) -> Option<Vec<u8>> {
    bytes_of(root, &line.artifact, &line.content_hash)
}

/// Reads the bytes of a file, if they have a digest.
pub fn bytes_of(root: &Root, path: &str, hash: &str) -> Option<Vec<u8>> {
    let bytes = root.readable_bytes(path, 1 << 20);
    bytes.filter(|bytes| Digest::of(bytes).to_string() == hash)
}

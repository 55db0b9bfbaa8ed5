//! The manifest of a build.

use super::artifacts::BuiltArtifact;
use super::decisions::{self, SourceMeaning};
use super::knowledge::{self, KnowledgeFile};
use super::{Corpus, Inputs};
use crate::model::layout::{DOCUMENTS, RELEVANCE, SESSION, VOICE, WORKFLOW, digest_path};
use crate::model::{Binding, Digest, FORMAT, Graph, Hasher};
use crate::wire::manifest::{
    DocumentCounts, Generator, IdentityTier, Manifest, ManifestEntry, ReferenceTier, TierSource,
    WorkflowTier,
};

/// Returns an artifact's entry in the manifest: `current` if it was not rendered again.
pub(super) fn entry(built: &BuiltArtifact, current: Option<&ManifestEntry>) -> ManifestEntry {
    match (&built.artifact, current) {
        (None, Some(entry)) => entry.clone(),
        (Some(artifact), _) => ManifestEntry {
            path: artifact.path.clone(),
            uri: artifact.uri.clone(),
            hash: artifact.hash.to_string(),
            bytes: artifact.body.iter().map(|part| part.len() as u64).sum(),
            tokens: artifact.tokens,
            action: artifact.action.to_string(),
            seal: None,
        },
        (None, None) => unreachable!("only a current artifact is not rendered"),
    }
}

/// Returns the manifest of a build, without dates.
pub(super) fn new_manifest(
    corpus: &Corpus<'_>,
    digest: Digest,
    artifacts: Vec<ManifestEntry>,
) -> Manifest {
    let Corpus { inputs, graph, .. } = corpus;
    let plan = &inputs.plan;
    let bare =
        |uri: &String| TierSource { uri: uri.clone(), artifact: None, hash: None, tokens: None };
    let tokens =
        artifacts.iter().find(|entry| entry.path == SESSION).map_or(0, |entry| entry.tokens);
    let sources = plan
        .identity
        .sources
        .iter()
        .map(|source| tier_source(inputs, graph, &artifacts, source))
        .collect();
    Manifest {
        version: 1,
        generated_at: None,
        source_commit: None,
        generator: Generator { name: "blue".to_string(), format: FORMAT },
        inputs: digest.to_string(),
        identity: IdentityTier { max_tokens: plan.identity.budget.max_tokens, tokens, sources },
        workflow: WorkflowTier {
            max_tokens: plan.workflow.budget.max_tokens,
            sources: plan.workflow.sources.iter().map(bare).collect(),
            refresh_triggers: plan.refresh_triggers.clone(),
            bundles: artifacts.iter().filter(|entry| entry.path.starts_with(WORKFLOW)).count()
                as u64,
        },
        reference: ReferenceTier {
            max_tokens: plan.reference.budget.max_tokens,
            graph: plan.graph.clone(),
            index: RELEVANCE.to_string(),
            staleness_days: plan.staleness_days,
        },
        plugins: plan.plugins.clone(),
        documents: DocumentCounts {
            count: graph.documents.len() as u64,
            live: graph.live.iter().filter(|live| **live).count() as u64,
            index: DOCUMENTS.to_string(),
        },
        artifacts,
        checksum: String::new(),
        seal: None,
    }
}

fn tier_source(
    inputs: &Inputs,
    graph: &Graph,
    artifacts: &[ManifestEntry],
    source: &str,
) -> TierSource {
    let mut answer =
        TierSource { uri: source.to_string(), artifact: None, hash: None, tokens: None };
    if let Some(collection) =
        graph.collections.iter().find(|collection| decisions::means_collection(source, collection))
    {
        let path = digest_path(&collection.name);
        if let Some(entry) = artifacts.iter().find(|entry| entry.path == path) {
            answer.artifact = Some(path);
            answer.hash = Some(entry.hash.clone());
            answer.tokens = Some(entry.tokens);
        }
        return answer;
    }
    match decisions::meaning(graph, source) {
        SourceMeaning::Documents(ids) => {
            let document = graph.document(ids[0]);
            answer.artifact = Some(document.path.clone());
            answer.hash = Some(document.digest.to_string());
            answer.tokens = Some(document.facts.n_tokens);
        }
        SourceMeaning::Voice => {
            let voice = inputs.files.iter().find(|file| file.path == VOICE && !file.is_absent());
            answer.artifact = voice.map(|file| file.path.clone());
            answer.hash = voice.map(|file| file.digest.to_string());
        }
        SourceMeaning::Nothing => {}
    }
    answer
}

/// Hashes all inputs: configuration, templates, the path and content of every document, and the code that
/// they name.
pub(super) fn inputs_digest(
    inputs: &Inputs,
    graph: &Graph,
    bindings: &[Binding],
    knowledge: &[KnowledgeFile],
    roles: Option<Digest>,
) -> Digest {
    let mut hasher = Hasher::new();
    hasher.number(u64::from(FORMAT)).field(inputs.plan.digest.as_bytes());
    let is_used = |name: &&str| !name.starts_with("session") || *name == inputs.session_template;
    for name in crate::render::Templates::names().filter(is_used) {
        hasher.field(inputs.templates.digest(name).as_bytes());
    }
    for name in inputs.plan.responsibilities.addons.iter().filter_map(|a| a.template.as_deref()) {
        hasher.field(inputs.templates.digest(name).as_bytes());
    }
    hasher.field(inputs.voice.as_deref().unwrap_or_default().as_bytes());
    hasher.field(inputs.guide.as_deref().unwrap_or_default().as_bytes());
    hasher.field(knowledge::digest(knowledge).as_bytes());
    for document in &graph.documents {
        hasher.field(document.path.as_bytes()).field(document.digest.as_bytes());
    }
    // Code is not a source, but its existence decides the bindings.
    for binding in bindings {
        hasher.field(binding.path.as_bytes()).field(binding.kind.as_str().as_bytes());
        hasher.number(u64::from(binding.folder_only));
    }
    if let Some(roles) = roles {
        hasher.field(b"responsibilities").field(roles.as_bytes());
    }
    hasher.digest()
}

//! The bundle of hand-written knowledge: files that people put into `knowledge/`.

use serde::Serialize;

use super::artifacts::{BuiltArtifact, CurrentArtifacts, check_wrapper, fit};
use super::inputs::clean_text;
use super::{Corpus, Inputs};
use crate::condense::Order;
use crate::discover::deny::DenyList;
use crate::discover::walk::FileKind;
use crate::discover::{self, Tree};
use crate::model::layout::{KNOWLEDGE_BUNDLE, KNOWLEDGE_FOLDER, digest_path, folder_of};
use crate::model::{
    Action, Artifact, Bundle, Candidate, Code, Collection, Diagnostic, Digest, DocId, Format,
    Hasher, Level, Listener, Source, TextFormat, TrackedFile,
};
use crate::parse;
use crate::root::{Content, Root};
use crate::wire::header;

/// A file that people wrote into `knowledge/`.
pub(super) struct KnowledgeFile {
    path: String,
    /// Its text, with secrets redacted.
    text: String,
    /// Its first sentence.
    summary: String,
}

/// Reads the files in `knowledge/` that blue did not write, and adds them to the inputs. They are
/// documents of a collection too, unless the configuration lists other documents.
pub(super) fn read(
    root: &Root,
    inputs: &Inputs,
    tree: &Tree,
    collections: &[Collection],
    files: &mut Vec<TrackedFile>,
    notes: &mut Vec<Diagnostic>,
) -> anyhow::Result<Vec<KnowledgeFile>> {
    let deny = DenyList::of_plan(&inputs.plan)?;
    // A digest with conflict markers does not look like a file of blue's.
    let is_digest = |path: &str| collections.iter().any(|c| digest_path(&c.name) == path);
    let candidates = tree.files.iter().filter(|file| {
        folder_of(&file.path) == KNOWLEDGE_FOLDER
            && file.kind == FileKind::Regular
            && TextFormat::of_path(&file.path).is_some()
            && !is_digest(&file.path)
            && deny.denied_part(&file.path).is_none()
    });
    let is_document = |path: &String| files.binary_search_by(|file| file.path.cmp(path)).is_ok();
    let (mut knowledge, mut tracked) = (Vec::new(), Vec::new());
    for file in candidates {
        let path = &file.path;
        let (bytes, stat) = match discover::read_document(root, &inputs.plan, path)? {
            Some(Content::Bytes(bytes, stat)) if !header::is_emitted(&bytes) => (bytes, stat),
            Some(Content::TooLarge(size)) => {
                let limit = inputs.plan.limits.document_bytes;
                let message = format!("{size} bytes; the limit is {limit}");
                notes.push(Diagnostic::new(Code::TooLarge, path, message));
                continue;
            }
            _ => continue,
        };
        let allowed = inputs.guard.allowed_for(path);
        let mut found = Vec::new();
        let text = clean_text(path, &String::from_utf8_lossy(&bytes), &allowed, &mut found);
        // The findings of a document were reported when it was parsed.
        if !is_document(path) {
            notes.extend(found);
            tracked.push(TrackedFile { path: path.clone(), stat, digest: Digest::of(&bytes) });
        }
        let source = Source::new(path, bytes, None);
        let summary = parse::parse(&source, &inputs.plan.limits, &allowed).facts.line;
        knowledge.push(KnowledgeFile {
            path: path.clone(),
            text: text.trim().to_string(),
            summary,
        });
    }
    knowledge.retain(|file| !file.text.is_empty());
    files.extend(tracked);
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(knowledge)
}

/// Hashes the files.
pub(super) fn digest(knowledge: &[KnowledgeFile]) -> Digest {
    let mut hasher = Hasher::new();
    for file in knowledge {
        hasher.field(file.path.as_bytes()).field(file.text.as_bytes());
        hasher.field(file.summary.as_bytes());
    }
    hasher.digest()
}

#[derive(Serialize)]
struct KnowledgeView<'a> {
    inputs: &'a str,
    whole: Vec<FileView<'a>>,
    listed: Vec<FileView<'a>>,
    n_hidden: usize,
}

#[derive(Serialize)]
struct FileView<'a> {
    path: &'a str,
    text: &'a str,
}

/// Renders the bundle. Files that fit are in it whole, the others by path and first sentence.
pub(super) fn bundle(
    corpus: &Corpus<'_>,
    current: &CurrentArtifacts,
) -> anyhow::Result<Option<BuiltArtifact>> {
    let Corpus { inputs, knowledge, .. } = corpus;
    if knowledge.is_empty() {
        return Ok(None);
    }
    let budget = inputs.plan.knowledge;
    let mut action = Action::new();
    action.add_fact("template", inputs.templates.digest("knowledge.md").as_bytes());
    action.add_fact("budget", format!("{budget:?}").as_bytes());
    action.add_fact("files", digest(knowledge).as_bytes());
    inputs.plan.allowance.add_facts(&mut action);
    let candidates: Vec<Candidate> = knowledge.iter().enumerate().map(candidate).collect();
    BuiltArtifact::unless_current(KNOWLEDGE_BUNDLE, action, current, |action| {
        let inputs_id = action.digest().short();
        let mut render = |bundle: &Bundle| {
            inputs.templates.render("knowledge.md", &view(knowledge, bundle, &inputs_id))
        };
        let candidates = (candidates.as_slice(), Order::TitlesFirst);
        let fitted = fit(KNOWLEDGE_BUNDLE, "knowledge.md", candidates, &budget, &mut render)?;
        check_wrapper("knowledge.md", &fitted.text, &inputs_id)?;
        let (body, digest) = (vec![fitted.text.into_bytes()], action.digest());
        let (uri, source) = ("blue://context/knowledge", String::new());
        let artifact = Artifact::new(KNOWLEDGE_BUNDLE, uri, Format::Bundle, source, body, digest);
        Ok(Artifact { tokens: fitted.tokens, ..artifact })
    })
    .map(Some)
}

fn candidate((row, file): (usize, &KnowledgeFile)) -> Candidate {
    let listed = (file.path.len() + file.summary.len() + 5) as u64;
    let costs = [listed, (file.text.len() as u64).saturating_sub(listed).max(1), 0];
    Candidate { id: DocId(row as u32), weight: 0, costs, is_last: false }
}

fn view<'a>(knowledge: &'a [KnowledgeFile], bundle: &Bundle, inputs: &'a str) -> KnowledgeView<'a> {
    let (mut whole, mut listed) = (Vec::new(), Vec::new());
    for (id, level) in &bundle.shown {
        let file = &knowledge[id.0 as usize];
        match level {
            Level::Title => listed.push(FileView { path: &file.path, text: &file.summary }),
            _ => whole.push(FileView { path: &file.path, text: &file.text }),
        }
    }
    KnowledgeView { inputs, whole, listed, n_hidden: bundle.hidden.len() }
}

//! Targets: files for other agents, each off until the configuration asks for it.

pub(super) mod current_work;
mod llms_txt;
mod opencode;
mod rules;
pub(super) mod shared_files;

use anyhow::Context;

use super::Corpus;
use super::artifacts::{BuiltArtifact, CurrentArtifacts};
use crate::emit::{self, Removal};
use crate::model::layout::{SESSION, folder_of};
use crate::model::{Action, Artifact, BuildTarget, Format, Listener};
use crate::root::{Content, Root};

/// Renders the files that only blue writes. They are artifacts like all others.
pub(super) fn artifacts(
    corpus: &Corpus<'_>,
    built: &[BuiltArtifact],
    current: &CurrentArtifacts,
) -> anyhow::Result<Vec<BuiltArtifact>> {
    let mut files = Vec::new();
    for target in &corpus.inputs.plan.targets {
        match target {
            BuildTarget::CursorRules => {
                // Cursor reads AGENTS.md too, and an agent gets the text once.
                if !corpus.inputs.plan.targets.contains(&BuildTarget::AgentsMd) {
                    files.push(rules::session(corpus, built, current)?);
                }
                files.extend(rules::of_decisions(corpus, *target, current));
            }
            BuildTarget::ClaudeRules | BuildTarget::CopilotRules => {
                files.extend(rules::of_decisions(corpus, *target, current));
            }
            BuildTarget::LlmsTxt => files.push(llms_txt::index(corpus, current)),
            BuildTarget::AgentsMd
            | BuildTarget::ClaudeMd
            | BuildTarget::CopilotInstructions
            | BuildTarget::GeminiMd
            | BuildTarget::Opencode => {}
        }
    }
    Ok(files)
}

/// Returns the session text of this build: as rendered, or from the disk if it is current.
pub(super) fn session_text(root: &Root, built: &[BuiltArtifact]) -> anyhow::Result<String> {
    let session = built.iter().find(|built| built.path == SESSION);
    let bytes = match session.and_then(|built| built.artifact.as_ref()) {
        Some(artifact) => artifact.body.concat(),
        None => match root.read(SESSION, 1 << 20).with_context(|| format!("read {SESSION}"))? {
            Some(Content::Bytes(bytes, _)) => bytes,
            _ => {
                anyhow::bail!("read {SESSION}: it vanished\nhint: run `blue knowledge build` again")
            }
        },
    };
    let text = String::from_utf8(bytes).with_context(|| format!("read {SESSION}: not UTF-8"))?;
    Ok(text.replace("\r\n", "\n"))
}

/// Returns a file whose text is short, so that it is always rendered and decides itself.
fn short_file(
    path: &str,
    uri: &str,
    format: Format,
    source: String,
    text: String,
    current: &CurrentArtifacts,
) -> BuiltArtifact {
    let mut action = Action::new();
    action.add_fact("source", source.as_bytes());
    action.add_fact("text", text.as_bytes());
    let built = BuiltArtifact::unless_current(path, action, current, |action| {
        let body = vec![text.into_bytes()];
        Ok(Artifact::new(path, uri, format, source, body, action.digest()))
    });
    built.expect("a short file is always rendered")
}

/// Removes the folders of removed files, if nothing else is in them, and updates the copy of the
/// current work.
pub(super) fn tidy_up(root: &Root, removals: &[Removal]) {
    current_work::refresh(root);
    let is_target = |path: &str| {
        let mut all = BuildTarget::ALL.into_iter();
        all.any(|target| target.owns(path) || target.shared_file() == Some(path))
    };
    for removal in removals.iter().filter(|removal| is_target(&removal.path)) {
        let mut folder = folder_of(&removal.path);
        // An empty folder that stays is no error.
        while !folder.is_empty() && emit::discard_folder(root, folder).unwrap_or(false) {
            folder = folder_of(folder);
        }
    }
}

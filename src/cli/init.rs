//! `blue init`.

use std::path::Path;

use anyhow::Context;
use clap::Args;

use super::installation::{ScriptState, read_bytes, script_state};
use super::lint::survey;
use super::next_steps::NextSteps;
use super::{Exit, build, output, project};
use crate::build::Outcome;
use crate::emit::{self, Change, LOCAL};
use crate::model::layout::{
    BLUE, CONFIG, IGNORE, KNOWLEDGE, KNOWLEDGE_FOLDER, MANIFEST, OLD_MANIFEST,
};
use crate::model::plural::counted;
use crate::model::{Collection, DocId, Graph};
use crate::root::Root;
use crate::serve::status::{LARGE_SESSION, MANY_DECISIONS};
use crate::verify;
use crate::wire::agent::SCRIPTS;
use crate::wire::attributes::{self, ATTRIBUTES};
use crate::wire::manifest::Unusable;
use crate::wire::older::{self, Intent};
use crate::wire::schema;

/// Flags of `blue init`.
#[derive(Args, Debug)]
pub(super) struct InitArgs {}

impl InitArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let root = project::open_to_write(&project::find(directory)?)?;
        let (had_blue, had_local) = (root.exists(BLUE), root.exists(LOCAL));
        let lock = emit::Lock::take(&root, "init", &output::wait_for)?;
        emit::recover(&root)?;
        let files = [CONFIG, IGNORE, MANIFEST, OLD_MANIFEST, ATTRIBUTES];
        let scripts = SCRIPTS.iter().map(|(path, _)| *path);
        let files: Vec<&str> = files.into_iter().chain(scripts).collect();
        let undo = emit::Undo::new(&root, &files, had_local)?;
        let mut report = String::new();
        let outcome = match adopt(&root, lock, &mut report) {
            Ok(outcome) => outcome,
            Err(error) => {
                undo_all(&root, &undo, had_blue);
                return Err(error);
            }
        };
        output::out(&report)?;
        for fate in outcome.fates.iter().filter(|fate| fate.written) {
            output::out(&format!("built    {}\n", output::visible(&fate.path)))?;
        }
        output::out(&next_steps(root.path(), &outcome))?;
        Ok(Exit::Done)
    }
}

/// Restores the files that were written, unless a build passed its commit point: then the next build
/// finishes it. An error here is printed, not returned, so that it does not hide the first one.
fn undo_all(root: &Root, undo: &emit::Undo, had_blue: bool) {
    let restored = emit::Lock::take(root, "init", &output::wait_for).and_then(|_lock| {
        if emit::is_pending(root) {
            return Ok(());
        }
        undo.restore(root)?;
        if !had_blue {
            emit::discard_folder(root, BLUE)?;
        }
        Ok(())
    });
    if let Err(error) = restored {
        output::error(&format!("{error:#}"));
    }
}

/// Writes blue's files into the project and builds. Adds a line for each file to the report.
fn adopt(root: &Root, lock: emit::Lock, report: &mut String) -> anyhow::Result<Outcome> {
    let graph = survey(root)?.0.graph;
    report.push_str(&found_lines(&graph));
    let older = older_manifest(root)?;
    let name = root.path().file_name().and_then(|name| name.to_str()).unwrap_or("project");
    let name = &crate::guard::redacted(name);
    let intent = older.as_deref().map(intent).transpose()?;
    let mut files = vec![
        (CONFIG, config_text(name, &graph, intent.as_ref()).into_bytes()),
        (IGNORE, ignore_bytes(root)?),
    ];
    files.extend(SCRIPTS.iter().map(|(path, bytes)| (*path, bytes.to_vec())));
    if let Some(text) = &older {
        files.push((OLD_MANIFEST, text.clone().into_bytes()));
    }
    let mut changes = Vec::new();
    for (path, bytes) in files {
        let script = SCRIPTS.iter().find(|(script, _)| *script == path);
        let state = script.map(|(path, shipped)| script_state(root, path, shipped)).transpose()?;
        let is_current = match path {
            IGNORE => read_bytes(root, IGNORE, IGNORE)?.as_ref() == Some(&bytes),
            _ => root.exists(path) && state != Some(ScriptState::Older),
        };
        match is_current {
            true => report.push_str(&format!("kept     {path} (it exists)\n")),
            false => {
                report.push_str(&format!("wrote    {path}\n"));
                changes.push(Change { path: path.to_string(), parts: vec![bytes] });
            }
        }
    }
    report.push_str(&write_attributes(root)?);
    emit::commit(root, &changes, &[])?;
    if let Some(intent) = &intent {
        emit::remove_copied(root, MANIFEST, OLD_MANIFEST)?;
        let is_in_config = changes.iter().any(|change| change.path == CONFIG);
        report.push_str(&moved_lines(intent, is_in_config));
    }
    for (path, _) in SCRIPTS {
        emit::make_executable(root, path)?;
    }
    drop(lock);
    build::BuildArgs::default().build(root)
}

/// Returns the bytes of `.blue/.gitignore`. An existing file is extended by the worktree file, which
/// would make every clone claim to be one worktree.
fn ignore_bytes(root: &Root) -> anyhow::Result<Vec<u8>> {
    let Some(mut bytes) = read_bytes(root, IGNORE, IGNORE)? else {
        let text = "# Caches, logs and locks of blue, and the RFC of one worktree.\n/local/\n/worktree.json\n";
        return Ok(text.as_bytes().to_vec());
    };
    let line: &[u8] = b"/worktree.json";
    if !bytes.split(|byte| *byte == b'\n').any(|other| other.trim_ascii() == line) {
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        bytes.extend([line, b"\n"].concat());
    }
    Ok(bytes)
}

/// Adds blue's lines to `.gitattributes`, so that git checks out its files with LF in every clone.
fn write_attributes(root: &Root) -> anyhow::Result<String> {
    let bytes = read_bytes(root, ATTRIBUTES, ATTRIBUTES)?.unwrap_or_default();
    let Ok(text) = String::from_utf8(bytes) else {
        return Ok(format!("kept     {ATTRIBUTES} (it is not UTF-8)\n"));
    };
    let after = attributes::add(&text);
    if after == text {
        return Ok(format!("kept     {ATTRIBUTES} (it is current)\n"));
    }
    emit::replace(root, ATTRIBUTES, after.as_bytes())?;
    Ok(format!("wrote    {ATTRIBUTES}\n"))
}

fn found_lines(graph: &Graph) -> String {
    if graph.documents.is_empty() {
        return format!(
            "found    no documents by convention; name yours under `documents:` in {CONFIG}\n"
        );
    }
    let line = |(row, collection): (usize, &Collection)| {
        let n_documents = counted(graph.of_collection(row).count(), "document");
        let places = output::visible(&collection.globs.join(", "));
        format!("found    {n_documents} in {places} ({})\n", collection.kind)
    };
    graph.collections.iter().enumerate().map(line).collect()
}

/// Reads a hand-written manifest of the older format.
fn older_manifest(root: &Root) -> anyhow::Result<Option<String>> {
    match verify::manifest(root)? {
        Some(Err(Unusable::HandWritten)) => {
            let content =
                root.read(MANIFEST, 1 << 20).with_context(|| format!("read {MANIFEST}"))?;
            let Some(crate::root::Content::Bytes(bytes, _)) = content else { return Ok(None) };
            let text = String::from_utf8(bytes);
            let text = text.with_context(|| format!("read {MANIFEST}: not UTF-8"))?;
            Ok(Some(text))
        }
        _ => Ok(None),
    }
}

/// Reads the settings of an older manifest. Errors have their line.
fn intent(text: &str) -> anyhow::Result<Intent> {
    older::intent(text).map_err(|findings| schema::error(MANIFEST, &findings))
}

/// Reports an older manifest that was moved, and its unknown keys.
fn moved_lines(intent: &Intent, is_in_config: bool) -> String {
    let settings = match is_in_config {
        true => format!("its tiers and plugins are in {CONFIG}"),
        false => format!("{CONFIG} exists already; copy the settings that you need"),
    };
    let mut lines = format!("moved    {MANIFEST} to {OLD_MANIFEST}; {settings}\n");
    for (line, name) in intent.unknown.iter().filter(|_| is_in_config) {
        let name = output::visible(name);
        lines.push_str(&format!(
            "unknown  {OLD_MANIFEST}:{line}: {name}; it is a comment in {CONFIG}\n"
        ));
    }
    lines
}

/// Formats the number of findings and the commands to run next.
fn next_steps(folder: &Path, outcome: &Outcome) -> String {
    let counts = outcome.counts();
    let found = [(counts.errors, "error"), (counts.warnings, "warning")];
    let found: Vec<String> =
        found.into_iter().filter(|(n, _)| *n > 0).map(|(n, noun)| counted(n, noun)).collect();
    let mut text = match found.is_empty() {
        true => String::new(),
        false => format!(
            "found    {} in the documents; `blue knowledge lint` lists them\n",
            found.join(", ")
        ),
    };
    let mut next = NextSteps::new(folder);
    let has_knowledge = outcome.fates.iter().any(|fate| fate.path.starts_with(KNOWLEDGE));
    let mut paths = vec![BLUE];
    paths.extend(has_knowledge.then_some(KNOWLEDGE_FOLDER));
    paths.extend(Some(ATTRIBUTES).filter(|path| folder.join(path).exists()));
    next.git(&format!("add {}", paths.join(" ")), "commit what was built");
    if counts.errors == 0 {
        next.blue("knowledge build --check", "in CI and before each commit");
    }
    next.blue("install", "connect a coding agent");
    text.push_str(&next.text());
    text
}

/// Renders a configuration with the project's name and all defaults as comments.
fn config_text(name: &str, graph: &Graph, intent: Option<&Intent>) -> String {
    let quoted = serde_json::to_string(name).expect("a name is JSON");
    let mut documents = String::new();
    for collection in &graph.collections {
        documents.push_str(&format!(
            "#   - type: {}\n#     collection: {}\n#     paths:\n",
            collection.kind, collection.name
        ));
        for place in &collection.globs {
            let place = serde_json::to_string(place).expect("a path is JSON");
            documents.push_str(&format!("#       - {place}\n"));
        }
    }
    let tiers = match intent {
        Some(intent) => intent.yaml.clone(),
        None => larger_session(graph),
    };
    include_str!("../../templates/config.yaml")
        .replace("@project@", &quoted)
        .replace("@documents@\n", &documents)
        .replace("@tiers@\n", &tiers)
}

/// Returns a setting for the size of the session bundle if the default has no room for what most
/// decisions say.
fn larger_session(graph: &Graph) -> String {
    let is_decision = |id: &DocId| {
        let document = graph.document(*id);
        graph.is_live(*id) && document.kind.as_str() == "adr" && !document.status.is_proposal()
    };
    let n_decisions = graph.ids().filter(is_decision).count();
    if n_decisions <= MANY_DECISIONS {
        return String::new();
    }
    format!(
        "# {n_decisions} decisions are in force. The default of 500 tokens has room for what about 15 of them\n\
         # decide, and this one for about 60. It costs each session at most 1,500 tokens more.\n\
         identity:\n  max_tokens: {LARGE_SESSION}\n"
    )
}

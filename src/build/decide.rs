//! What to write, what to leave alone, and what is in the way.

use std::collections::BTreeMap;

use rustix::fs::FileType;

use super::artifacts::{Current, DOCUMENTS, Made, RELEVANCE, SESSION};
use super::session::{self, Meaning};
use super::{Analysis, Fate, Inputs, Options, Outcome, explain};
use crate::beneath::Root;
use crate::discover::{fresh, git, walk};
use crate::emit::{self, Change, LOCAL, Removal};
use crate::model::{
    Code, Diagnostic, Digest, FORMAT, Folder, Format, Hasher, Record, Severity, Stat, Watched,
};
use crate::verify::{self, MANIFEST, OnDisk};
use crate::wire::cache;
use crate::wire::header::{self, Provenance};
use crate::wire::manifest::{
    Documents, Entry, Generator, IdentityTier, Manifest, ReferenceTier, TierSource, Unusable,
    WorkflowTier,
};

/// What is known of the last build.
pub(super) struct Last {
    pub(super) record: Record,
    pub(super) engine: Digest,
    pub(super) looked: i64,
}

/// The manifest on disk, if blue wrote it and it is whole.
fn known_manifest(root: &Root) -> anyhow::Result<Option<Manifest>> {
    match verify::manifest(root)? {
        None | Some(Err(Unusable::Broken(_))) => Ok(None),
        Some(Ok((manifest, _))) => Ok(Some(manifest)),
        Some(Err(Unusable::HandWritten)) => anyhow::bail!(
            "{MANIFEST} was written by hand; blue does not overwrite it\nhint: run `blue init`, which moves it into .blue/config.yaml"
        ),
    }
}

fn entry_of<'a>(manifest: Option<&'a Manifest>, path: &str) -> Option<&'a Entry> {
    manifest?.artifacts.iter().find(|entry| entry.path == path)
}

/// Compares a project with what a build would give. Writes nothing.
pub(super) fn check(
    root: &Root,
    inputs: &Inputs,
    mut analysis: Analysis,
) -> anyhow::Result<Outcome> {
    let manifest = known_manifest(root)?;
    let made = super::artifacts(inputs, &mut analysis, &Current::new())?;
    let entries: Vec<Entry> = made.iter().map(|made| entry(made, None)).collect();
    let mut outcome = outcome(&analysis);
    for artifact in super::made(made) {
        let on_disk =
            verify::on_disk(root, &artifact.path, entry_of(manifest.as_ref(), &artifact.path))?;
        outcome.diagnostics.extend(verify::finding(&artifact.path, &on_disk, &artifact.digest()));
    }
    let wanted = new_manifest(inputs, &analysis, entries);
    let hint = "run `blue knowledge build` and commit the result";
    let found = match &manifest {
        None if root.exists(MANIFEST) => {
            Some(Diagnostic::new(Code::Edited, MANIFEST, "edited by hand, or broken").hint(hint))
        }
        None => Some(Diagnostic::new(Code::Missing, MANIFEST, "missing").hint(hint)),
        Some(manifest) if manifest.checksum != wanted.computed_checksum() => {
            Some(Diagnostic::new(Code::Stale, MANIFEST, "stale").hint(hint))
        }
        Some(_) => None,
    };
    outcome.diagnostics.extend(found);
    for orphan in manifest.iter().flat_map(|manifest| &manifest.artifacts) {
        let gone = !wanted.artifacts.iter().any(|entry| entry.path == orphan.path);
        if gone && root.exists(&orphan.path) {
            outcome.diagnostics.push(
                Diagnostic::new(Code::Orphan, &orphan.path, "no document asks for it any more")
                    .hint(hint),
            );
        }
    }
    outcome.diagnostics.sort();
    Ok(outcome)
}

/// Brings the disk up to date.
pub(super) fn write(
    root: &Root,
    inputs: &Inputs,
    mut analysis: Analysis,
    last: &Last,
    options: &Options<'_>,
) -> anyhow::Result<Outcome> {
    let manifest = known_manifest(root)?;
    let intact = if options.force {
        BTreeMap::new()
    } else {
        intact(root, &last.record, manifest.as_ref())?
    };
    let current: Current<'_> =
        intact.iter().map(|(path, entry)| (path.as_str(), entry.action.as_str())).collect();
    let made = super::artifacts(inputs, &mut analysis, &current)?;
    let entries: Vec<Entry> = made.iter().map(|made| entry(made, intact.get(&made.path))).collect();
    let wanted = new_manifest(inputs, &analysis, entries);
    let mut outcome = outcome(&analysis);
    let mut writer =
        Writer { root, head: None, options, changes: Vec::new(), outcome: &mut outcome };
    for made in &made {
        writer.artifact(made, manifest.as_ref(), &last.record, &analysis)?;
    }
    let removals = writer.orphans(manifest.as_ref(), &wanted)?;
    writer.manifest(manifest.as_ref(), &wanted)?;
    let changes = std::mem::take(&mut writer.changes);
    let created = to_create(root, &changes);
    let written = emit::commit(root, &changes, &removals)?;
    outcome.diagnostics.sort();
    let folders = folders(root, &analysis, &created, &removals);
    remember(
        root,
        inputs,
        &analysis,
        last,
        &made,
        folders,
        outputs(root, last, &made, written)?,
        &outcome,
    )?;
    Ok(outcome)
}

fn outcome(analysis: &Analysis) -> Outcome {
    Outcome {
        fates: Vec::new(),
        diagnostics: analysis.notes.clone(),
        n_documents: analysis.graph.documents.len(),
        n_live: analysis.graph.live.iter().filter(|live| **live).count(),
        n_known_warnings: None,
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

fn entry(made: &Made, kept: Option<&Entry>) -> Entry {
    match (&made.artifact, kept) {
        (None, Some(entry)) => entry.clone(),
        (Some(artifact), _) => Entry {
            path: artifact.path.clone(),
            uri: artifact.uri.clone(),
            hash: artifact.digest().to_string(),
            bytes: artifact.body.len() as u64,
            tokens: artifact.tokens,
            action: artifact.action.to_string(),
        },
        (None, None) => unreachable!("what is not made was kept"),
    }
}

fn new_manifest(inputs: &Inputs, analysis: &Analysis, artifacts: Vec<Entry>) -> Manifest {
    let plan = &inputs.plan;
    let bare =
        |uri: &String| TierSource { uri: uri.clone(), artifact: None, hash: None, tokens: None };
    let tokens =
        artifacts.iter().find(|entry| entry.path == SESSION).map_or(0, |entry| entry.tokens);
    let sources = plan
        .identity
        .sources
        .iter()
        .map(|source| tier_source(inputs, analysis, &artifacts, source))
        .collect();
    Manifest {
        version: 1,
        generated_at: None,
        source_commit: None,
        generator: Generator { name: "blue".to_string(), format: FORMAT },
        inputs: inputs_digest(inputs, analysis).to_string(),
        identity: IdentityTier { max_tokens: plan.identity.budget.max_tokens, tokens, sources },
        workflow: WorkflowTier {
            max_tokens: plan.workflow.budget.max_tokens,
            sources: plan.workflow.sources.iter().map(bare).collect(),
            refresh_triggers: plan.refresh_triggers.clone(),
            bundles: 0,
        },
        reference: ReferenceTier {
            max_tokens: plan.reference.budget.max_tokens,
            graph: plan.graph.clone(),
            index: RELEVANCE.to_string(),
            staleness_days: plan.staleness_days,
        },
        plugins: plan.plugins.clone(),
        documents: Documents {
            count: analysis.graph.documents.len() as u64,
            live: analysis.graph.live.iter().filter(|live| **live).count() as u64,
            index: DOCUMENTS.to_string(),
        },
        artifacts,
        checksum: String::new(),
    }
}

fn tier_source(
    inputs: &Inputs,
    analysis: &Analysis,
    artifacts: &[Entry],
    source: &str,
) -> TierSource {
    let mut answer =
        TierSource { uri: source.to_string(), artifact: None, hash: None, tokens: None };
    let graph = &analysis.graph;
    if let Some(collection) =
        graph.collections.iter().find(|collection| session::means_collection(source, collection))
    {
        let path = format!("knowledge/{}.md", collection.name);
        if let Some(entry) = artifacts.iter().find(|entry| entry.path == path) {
            answer.artifact = Some(path);
            answer.hash = Some(entry.hash.clone());
            answer.tokens = Some(entry.tokens);
        }
        return answer;
    }
    match session::meaning(graph, source) {
        Meaning::Documents(ids) => {
            let document = graph.document(ids[0]);
            answer.artifact = Some(document.path.clone());
            answer.hash = Some(document.digest.to_string());
            answer.tokens = Some(document.facts.n_tokens);
        }
        Meaning::Voice => {
            let voice = inputs.watched.iter().find(|watched| watched.path == super::inputs::VOICE);
            answer.artifact = voice.map(|watched| watched.path.clone());
            answer.hash = voice.map(|watched| watched.digest.to_string());
        }
        Meaning::Nothing => {}
    }
    answer
}

/// One digest over configuration, templates and every document's path and content.
fn inputs_digest(inputs: &Inputs, analysis: &Analysis) -> Digest {
    let mut hasher = Hasher::new();
    hasher.number(u64::from(FORMAT)).field(inputs.plan.digest.as_bytes());
    for name in crate::render::Templates::names() {
        hasher.field(inputs.templates.digest(name).as_bytes());
    }
    hasher.field(inputs.voice.as_deref().unwrap_or_default().as_bytes());
    for document in &analysis.graph.documents {
        hasher.field(document.path.as_bytes()).field(document.digest.as_bytes());
    }
    hasher.digest()
}

struct Writer<'a> {
    root: &'a Root,
    head: Option<Provenance>,
    options: &'a Options<'a>,
    changes: Vec<Change>,
    outcome: &'a mut Outcome,
}

impl Writer<'_> {
    /// HEAD and its date, asked for only when something is written.
    fn head(&mut self) -> Provenance {
        let head = self.head.get_or_insert_with(|| {
            let head = git::head(self.root.path(), self.options.source_date_epoch.as_deref());
            Provenance { generated: head.generated, commit: head.commit }
        });
        head.clone()
    }

    fn artifact(
        &mut self,
        made: &Made,
        manifest: Option<&Manifest>,
        record: &Record,
        analysis: &Analysis,
    ) -> anyhow::Result<()> {
        let known = entry_of(manifest, &made.path);
        let Some(artifact) = &made.artifact else {
            let reason = "current: nothing that decides it changed".to_string();
            self.outcome.fates.push(Fate { path: made.path.clone(), written: false, reason });
            return Ok(());
        };
        let on_disk = verify::on_disk(self.root, &artifact.path, known)?;
        let mut reason = explain::reason(made, known.is_some(), record, analysis);
        match on_disk {
            OnDisk::Ours(_, digest, _) if digest == artifact.digest() => {
                let reason = format!("current: made again ({reason}), with the same bytes");
                self.outcome.fates.push(Fate { path: made.path.clone(), written: false, reason });
                return Ok(());
            }
            OnDisk::Absent => {
                reason = if known.is_some() { "it was missing".to_string() } else { reason }
            }
            OnDisk::Ours(..) => {}
            OnDisk::Edited(bytes) => reason = self.rescued(&artifact.path, &bytes)?,
            OnDisk::Foreign => anyhow::bail!(
                "{} was not made by blue; it is not overwritten\nhint: move it away, or give the collection another name in .blue/config.yaml",
                artifact.path
            ),
        }
        let head = self.head();
        let mut bytes = header::header(artifact.format, &head, &artifact.source).into_bytes();
        bytes.extend_from_slice(&artifact.body);
        self.changes.push(Change { path: artifact.path.clone(), bytes });
        self.outcome.fates.push(Fate { path: made.path.clone(), written: true, reason });
        Ok(())
    }

    fn rescued(&mut self, path: &str, bytes: &[u8]) -> anyhow::Result<String> {
        let copy = emit::rescue(self.root, path, bytes)?;
        let message = format!("edited by hand; the edit is kept in {copy}");
        let hint = "edit the documents instead: this file is made from them";
        self.outcome.diagnostics.push(Diagnostic::new(Code::HandEdited, path, message).hint(hint));
        Ok("it was edited by hand".to_string())
    }

    /// Artifacts whose cause is gone: removed if they are as blue wrote them, else left and noted.
    fn orphans(
        &mut self,
        manifest: Option<&Manifest>,
        wanted: &Manifest,
    ) -> anyhow::Result<Vec<Removal>> {
        let mut removals = Vec::new();
        for old in manifest.iter().flat_map(|manifest| &manifest.artifacts) {
            if wanted.artifacts.iter().any(|entry| entry.path == old.path) {
                continue;
            }
            match verify::on_disk(self.root, &old.path, Some(old))? {
                OnDisk::Ours(_, _, bytes) => {
                    removals.push(Removal { path: old.path.clone(), digest: Digest::of(&bytes) });
                    let reason = "removed: no document asks for it any more".to_string();
                    self.outcome.fates.push(Fate { path: old.path.clone(), written: true, reason });
                }
                OnDisk::Edited(_) | OnDisk::Foreign => {
                    let message = "no document asks for it any more, but it was edited by hand; it is left alone";
                    self.outcome.diagnostics.push(
                        Diagnostic::new(Code::KeptOrphan, &old.path, message).hint("remove it"),
                    );
                }
                OnDisk::Absent => {}
            }
        }
        Ok(removals)
    }

    /// The manifest comes last, and only if something in it changed besides its dates.
    fn manifest(&mut self, known: Option<&Manifest>, wanted: &Manifest) -> anyhow::Result<()> {
        let path = MANIFEST.to_string();
        let checksum = wanted.computed_checksum();
        if known.is_some_and(|known| known.checksum == checksum) {
            let reason = "current: nothing in it changed".to_string();
            self.outcome.fates.push(Fate { path, written: false, reason });
            return Ok(());
        }
        let head = self.head();
        let dated = Manifest {
            generated_at: head.generated.clone(),
            source_commit: head.commit.clone(),
            ..wanted.clone()
        };
        let source = format!(".blue/config.yaml and {} documents", wanted.documents.count);
        let text = format!("{}{}", header::header(Format::Yaml, &head, &source), dated.text());
        self.changes.push(Change { path: path.clone(), bytes: text.into_bytes() });
        let reason =
            if known.is_some() { "what it lists changed" } else { "there was none to trust" };
        self.outcome.fates.push(Fate { path, written: true, reason: reason.to_string() });
        Ok(())
    }
}

/// The emitted files as they are now: written just now, known from before, or hashed again.
fn outputs(
    root: &Root,
    last: &Last,
    made: &[Made],
    written: Vec<Watched>,
) -> anyhow::Result<Vec<Watched>> {
    let mut outputs = written;
    for path in made.iter().map(|made| made.path.as_str()).chain([MANIFEST]) {
        if outputs.iter().any(|watched| watched.path == path) {
            continue;
        }
        let known = last.record.outputs.iter().find(|watched| watched.path == path);
        match known.filter(|known| fresh::file_same(root, last.record.settled, known).is_some()) {
            Some(known) => outputs.push(known.clone()),
            None => outputs.extend(watched(root, path)?),
        }
    }
    outputs.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(outputs)
}

fn watched(root: &Root, path: &str) -> anyhow::Result<Option<Watched>> {
    let Some((stat, _)) = root.stat(path)? else { return Ok(None) };
    Ok(fresh::digest_of(root, path).map(|digest| Watched { path: path.to_string(), stat, digest }))
}

/// Keeps what the next build can skip.
#[expect(clippy::too_many_arguments, reason = "the record is made of everything the build knows")]
fn remember(
    root: &Root,
    inputs: &Inputs,
    analysis: &Analysis,
    last: &Last,
    made: &[Made],
    folders: Vec<Folder>,
    outputs: Vec<Watched>,
    outcome: &Outcome,
) -> anyhow::Result<()> {
    let mut read: Vec<Watched> =
        analysis.reading.watched.iter().chain(&inputs.watched).cloned().collect();
    for path in &analysis.discovery_tree.ignores {
        read.extend(watched(root, path)?);
    }
    read.sort_by(|a, b| a.path.cmp(&b.path));
    read.dedup_by(|a, b| a.path == b.path);
    let record = Record {
        folders,
        inputs: read,
        outputs,
        looked: last.looked,
        settled: emit::time(root)?,
        n_warnings: outcome.diagnostics.iter().filter(|d| d.severity() >= Severity::Warning).count()
            as u64,
        actions: made
            .iter()
            .map(|made| (made.path.clone(), made.action.facts().to_vec()))
            .collect(),
    };
    analysis.reading.keep(root)?;
    emit::keep(root, &format!("{LOCAL}/record"), &cache::record_file(&record, &last.engine))
}

/// The folders as the walk saw them, with the names that this build added or took away. A folder
/// in which anything else happened meanwhile will not match, and is walked again next time.
fn folders(
    root: &Root,
    analysis: &Analysis,
    created: &[(String, FileType)],
    removals: &[Removal],
) -> Vec<Folder> {
    let hash_in = |folder: &str, path: &str, kind: FileType| -> u128 {
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        if parent != folder {
            return 0;
        }
        walk::entry_hash(name.as_bytes(), kind)
    };
    let mut folders = analysis.discovery_tree.folders.clone();
    for folder in &mut folders {
        let added = created
            .iter()
            .fold(0u128, |sum, (path, kind)| sum.wrapping_add(hash_in(&folder.path, path, *kind)));
        let gone = removals.iter().filter(|removal| !root.exists(&removal.path));
        let gone = gone.fold(0u128, |sum, removal| {
            sum.wrapping_add(hash_in(&folder.path, &removal.path, FileType::RegularFile))
        });
        if added != 0 || gone != 0 {
            folder.listing = folder.listing.wrapping_add(added).wrapping_sub(gone);
            folder.stat = Stat::default();
        }
    }
    folders
}

/// The files and folders that a commit will create.
fn to_create(root: &Root, changes: &[Change]) -> Vec<(String, FileType)> {
    let mut created = Vec::new();
    for change in changes {
        let folders =
            change.path.match_indices('/').map(|(at, _)| (&change.path[..at], FileType::Directory));
        let file = (change.path.as_str(), FileType::RegularFile);
        let missing = folders.chain([file]).filter(|(path, _)| !root.exists(path));
        created.extend(missing.map(|(path, kind)| (path.to_string(), kind)));
    }
    created.sort_by(|a, b| a.0.cmp(&b.0));
    created.dedup();
    created
}

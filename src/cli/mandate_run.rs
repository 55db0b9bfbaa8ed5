//! One mandate for one responsibility: reads, decides, and writes state, memory and logs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use super::mandate::{MandateArgs, MandateName};
use super::output;
use crate::build::Inputs;
use crate::build::responsibilities::{self, Role};
use crate::emit;
use crate::guard::{self, Allowed};
use crate::model::{Severity, timestamp};
use crate::queue::SelectedRequests;
use crate::responsibility::events::{CONTEXT_REFRESHED, Event, RenderedEvent};
use crate::responsibility::model_policy::drift_line;
use crate::responsibility::refresh::{self, QueueFacts};
use crate::responsibility::{Container, append_only, compaction};
use crate::root::Root;
use crate::verify;
use crate::wire::manifest::Manifest;
use crate::wire::responsibility_state::{ContainerState, SlaClass};

/// Result of a mandate for one responsibility.
#[derive(Debug, Default, Serialize)]
pub(super) struct RoleOutcome {
    pub(super) id: String,
    #[serde(skip)]
    pub(super) folder: String,
    #[serde(skip)]
    pub(super) pack: String,
    /// The container after a refresh, if a guardrail asks for the digests of its files.
    #[serde(skip)]
    digest_container: Option<Container>,
    /// Time of the state.
    pub(super) as_of: Option<String>,
    /// Number of open requests.
    pub(super) n_requests: usize,
    /// Lines of context, after a refresh.
    pub(super) volume: Option<u64>,
    /// Files that were written, or would be.
    pub(super) written: Vec<String>,
    /// Everything that a person should look at.
    pub(super) findings: Vec<String>,
    /// The reason why it could not be run.
    pub(super) error: Option<String>,
}

/// A mandate with everything that it reads besides containers.
pub(super) struct MandateRun<'a> {
    pub(super) root: &'a Root,
    pub(super) inputs: &'a Inputs,
    pub(super) arguments: &'a MandateArgs,
    pub(super) queue: Option<&'a QueueRows>,
    pub(super) now: i64,
    /// True if no file changed since the last build, and that build had no errors.
    pub(super) is_built: bool,
}

/// The rows of each responsibility by its id, or the error of reading them.
pub(super) type QueueRows = BTreeMap<String, Result<SelectedRequests, String>>;

/// A file to append to: path, opening of a new file, lines.
type Append = (String, String, String);

/// Files to append to, in order.
type Appends = Vec<Append>;

/// Maximum size of a memory or log that is read.
pub(super) const MAX_BYTES: u64 = 64 << 20;

impl MandateRun<'_> {
    /// Runs the mandate for one responsibility. An error becomes a part of the result.
    pub(super) fn role(&self, role: Role) -> RoleOutcome {
        let mut outcome = RoleOutcome {
            id: role.container.id.clone(),
            folder: role.container.folder.clone(),
            pack: role.container.pack_path(),
            ..RoleOutcome::default()
        };
        let rewritten = append_only::compare(&role.container).1.into_iter();
        let finding = |(path, message): (String, String)| {
            // A build words it in the same way.
            format!("{}: {message}", role.container.path(&path))
        };
        outcome.findings.extend(rewritten.map(finding));
        let done = match self.arguments.name {
            MandateName::CompactMemoryEvents => self.compact(&role.container, &mut outcome),
            _ => self.refresh(role, &mut outcome),
        };
        outcome.error = done.err().map(|error| format!("{error:#}"));
        outcome
    }

    pub(super) fn source(&self) -> String {
        let worker = self.inputs.plan.responsibilities.context_worker.as_deref();
        format!("{}.{}", worker.unwrap_or("blue"), self.arguments.name.as_str())
    }

    /// Writes the next state, and the events and the telemetry that belong to it.
    fn refresh(&self, mut role: Role, outcome: &mut RoleOutcome) -> anyhow::Result<()> {
        let name = self.arguments.name;
        let queue = self.queue_facts(&role.container, outcome)?;
        let old_model = role.container.state.as_ref().and_then(|state| state.model.clone());
        let model = match name {
            MandateName::UpdateOpenRequests => old_model,
            _ => self.model(&role.container)?,
        };
        let mut events: Vec<RenderedEvent> = Vec::new();
        let drift = model.as_ref().filter(|_| name != MandateName::UpdateOpenRequests);
        let drift =
            drift.and_then(|record| refresh::drift_event(&role.container, record, &self.source()));
        let notice =
            drift.is_some().then(|| self.notice(&role.container, model.as_ref())).flatten();
        events.extend(drift);
        let mut next = refresh::next_state(&role.container, &queue, model, self.now);
        if self.arguments.alerts {
            let source = self.source();
            events.extend(refresh::alerts(&role.container, &next.requests, self.now, &source));
        }
        if !events.is_empty() {
            next.head.as_of = timestamp::format(self.now);
        }
        self.report_deadlines(&next, outcome);
        if next.model.as_ref().is_some_and(|model| model.verdict.is_mismatch())
            && name != MandateName::UpdateOpenRequests
        {
            outcome.findings.extend(next.model.as_ref().and_then(drift_line));
        }
        let mut appends = self.event_appends(&role.container, &events);
        role.container.add_events(&events);
        let old = role.container.state.replace(next.clone());
        appends.extend(self.section_appends(&mut role.container, &mut next)?);
        let is_idle = self.is_built && events.is_empty() && old.as_ref() == Some(&next);
        if name == MandateName::RefreshAiContext && !is_idle {
            let logged = self.measure(&role, old.as_ref(), &mut next, outcome)?;
            appends.extend(logged);
        }
        outcome.as_of = Some(next.head.as_of.clone());
        outcome.n_requests = next.requests.len();
        let is_changed = old.as_ref() != Some(&next);
        self.write(&role.container, is_changed.then_some(&next), appends, notice, outcome)?;
        let container = Some(role.container);
        outcome.digest_container =
            container.filter(|container| container.has_clause("context.log_refresh_hashes"));
        Ok(())
    }

    /// Drafts the files, judges their volume and records it in the next state. Returns the line of the
    /// log about it, unless the state stays as it is.
    fn measure(
        &self,
        role: &Role,
        old: Option<&ContainerState>,
        next: &mut ContainerState,
        outcome: &mut RoleOutcome,
    ) -> anyhow::Result<Option<Append>> {
        let draft = responsibilities::draft(role, self.inputs)?;
        outcome.volume = Some(draft.volume.n_lines);
        let notes = draft.notes(&role.container).into_iter();
        let held = notes.filter(|note| note.severity == Severity::Error);
        outcome.findings.extend(held.map(|note| format!("{}: {}", note.path, note.message)));
        if !draft.is_held() {
            next.head.published_lines = Some(draft.volume.n_lines);
        }
        let fields =
            [("lines", json!(draft.volume.n_lines)), ("published", json!(!draft.is_held()))];
        let is_new = old.is_none_or(|old| old.head != next.head);
        Ok(is_new.then(|| self.log_line(&role.container, "context_volume", &fields)))
    }

    /// Returns the sections of files that may only grow. They become part of the container and of its
    /// state.
    fn section_appends(
        &self,
        container: &mut Container,
        next: &mut ContainerState,
    ) -> anyhow::Result<Appends> {
        let sections = responsibilities::new_sections(container, self.inputs, self.now)?;
        if sections.is_empty() {
            return Ok(Appends::new());
        }
        for (path, section) in &sections {
            container.append(path, section);
        }
        next.append_only = append_only::compare(container).0;
        container.state = Some(next.clone());
        let append = |(path, section)| (container.path(path), String::new(), section);
        Ok(sections.iter().map(|(path, text)| append((path.as_str(), text.clone()))).collect())
    }

    /// Selects the rows of a responsibility, or reads its inbox where there is no queue.
    fn queue_facts(
        &self,
        container: &Container,
        outcome: &mut RoleOutcome,
    ) -> anyhow::Result<QueueFacts> {
        let workspace = self.inputs.plan.responsibilities.workspace.clone();
        let Some(queue) = self.queue else {
            let requests = container.inbox();
            return Ok(QueueFacts { workspace, requests, status: None, digest: None });
        };
        let selected = queue.get(&container.id).expect("rows were selected for every role");
        let selected = selected.as_ref().map_err(|error| anyhow::anyhow!("{error}"))?;
        outcome.findings.extend(selected.findings.iter().cloned());
        let digest = Some(selected.digest().to_string());
        let requests = selected.requests.values().cloned().collect();
        let status = selected.status.clone();
        Ok(QueueFacts { workspace, requests, status, digest })
    }

    fn report_deadlines(&self, state: &ContainerState, outcome: &mut RoleOutcome) {
        let breached = state.requests.iter().filter(|line| line.sla == Some(SlaClass::Breached));
        outcome.findings.extend(breached.map(|line| {
            format!("{} missed its deadline {}", line.request, line.deadline().unwrap_or("?"))
        }));
    }

    /// Returns the appends of events to memory and log.
    fn event_appends(&self, container: &Container, events: &[RenderedEvent]) -> Appends {
        let mut appends = Appends::new();
        for RenderedEvent { kind, line } in events {
            let logged = self.log_line(container, kind, &[("text", json!(line))]);
            if !self.is_logged(container, &logged.0, line) {
                appends.push(logged);
            }
            let memory = container.path("memory/events.md");
            appends.push((memory, self.opening("log", "# Events\n\n"), format!("{line}\n")));
        }
        appends
    }

    /// Returns true if a log has the line of an event that memory does not have: the mandate that
    /// wrote it was killed in between.
    fn is_logged(&self, container: &Container, log: &str, line: &str) -> bool {
        let without_time = |line: &str| line.splitn(3, ' ').nth(2).map(str::to_string);
        let bytes = self.root.readable_bytes(log, MAX_BYTES).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut values = text.lines().rev().filter_map(|line| serde_json::from_str(line).ok());
        let same = values.find_map(|value: Value| {
            let logged = value.get("text")?.as_str()?;
            (without_time(logged) == without_time(line)).then(|| logged.to_string())
        });
        let memory = container.file("memory/events.md").map_or("", |file| file.text.as_str());
        same.is_some_and(|logged| memory.lines().all(|line| line != logged))
    }

    /// Returns the front matter and the title of a file that a mandate creates and appends to.
    fn opening(&self, role: &str, title: &str) -> String {
        let author = self.inputs.plan.responsibilities.context_worker.as_deref();
        format!(
            "---\nauthored_by: hybrid\nauthor_id: {}\nsource: mandate_run:{}\ncontext_role: {role}\nrefresh: append_only\n---\n{title}",
            author.unwrap_or("blue"),
            self.source()
        )
    }

    /// Returns a line of the log of the month.
    fn log_line(&self, container: &Container, kind: &str, fields: &[(&str, Value)]) -> Append {
        let time = timestamp::format(self.now);
        let path = container.path(&format!("logs/events_{}.ndjson", time.get(..7).unwrap_or("")));
        let mut line = json!({"time": time, "event": kind, "responsibility_id": container.id});
        for (key, value) in fields {
            line[*key] = value.clone();
        }
        (path, String::new(), format!("{line}\n"))
    }

    /// Writes everything under the lock. The event in memory comes after its notice and its line in
    /// the log, and before the state: a mandate that was killed writes again what is missing, and an
    /// event that is there is not written twice.
    fn write(
        &self,
        container: &Container,
        state: Option<&ContainerState>,
        appends: Appends,
        notice: Option<(String, String)>,
        outcome: &mut RoleOutcome,
    ) -> anyhow::Result<()> {
        let plan = &self.inputs.plan.responsibilities;
        let path = responsibilities::state_path(plan, &container.folder, &container.id);
        outcome.written.extend(appends.iter().map(|(path, ..)| path.clone()));
        outcome.written.extend(notice.iter().map(|(path, _)| path.clone()));
        outcome.written.extend(state.map(|_| path.clone()));
        outcome.written.sort();
        outcome.written.dedup();
        if self.arguments.dry_run || outcome.written.is_empty() {
            return Ok(());
        }
        let _lock = emit::Lock::take(self.root, "mandate", &output::wait_for)?;
        if let Some((path, text)) = &notice {
            emit::replace(self.root, path, text.as_bytes())?;
        }
        for (path, opening, lines) in &appends {
            emit::append(self.root, path, opening, lines)?;
        }
        if let Some(state) = state {
            if plan.is_state_local {
                emit::create_local_folder(self.root)?;
            }
            emit::replace(self.root, &path, state.render().as_bytes())?;
        }
        Ok(())
    }

    /// Appends a section to `memory/insights.md`.
    fn compact(&self, container: &Container, outcome: &mut RoleOutcome) -> anyhow::Result<()> {
        let read = |below: &str| {
            let bytes = self.root.readable_bytes(&container.path(below), MAX_BYTES);
            String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned()
        };
        let (memory, insights) = (read("memory/events.md"), read("memory/insights.md"));
        let n_kept = self.inputs.plan.responsibilities.n_recent as usize;
        outcome.n_requests = container.requests().len();
        let section = match compaction::section(&memory, &insights, n_kept, self.now) {
            Ok(Some(section)) => guard::clean(&section, &Allowed::default()).text.into_owned(),
            Ok(None) => return Ok(()),
            Err(range) => {
                outcome.findings.push(format!(
                    "memory/events.md was rewritten: bytes {}-{} do not have their digest in memory/insights.md",
                    range.start, range.end
                ));
                return Ok(());
            }
        };
        let opening = self.opening("long_term_memory", "# Insights\n");
        let append = (container.path("memory/insights.md"), opening, section);
        self.write(container, None, vec![append], None, outcome)
    }

    /// Appends the digests of the published files to memory where a guardrail asks for it and they
    /// differ from the last ones.
    pub(super) fn log_digests(&self, outcomes: &mut [RoleOutcome]) -> anyhow::Result<()> {
        if outcomes.iter().all(|outcome| outcome.digest_container.is_none()) {
            return Ok(());
        }
        let Some(Ok((manifest, _))) = verify::manifest(self.root)? else { return Ok(()) };
        for outcome in outcomes.iter_mut() {
            let Some(container) = outcome.digest_container.take() else { continue };
            if let Err(error) = self.append_digests(&container, &manifest, outcome) {
                outcome.error = Some(format!("{error:#}"));
            }
        }
        Ok(())
    }

    fn append_digests(
        &self,
        container: &Container,
        manifest: &Manifest,
        outcome: &mut RoleOutcome,
    ) -> anyhow::Result<()> {
        let folder = format!("{}/", container.path("ai_context"));
        let files = manifest.artifacts.iter().filter_map(|entry| {
            Some(format!("{} {}", entry.path.strip_prefix(&folder)?, entry.hash))
        });
        let text = files.collect::<Vec<_>>().join("; ");
        let events = container.events().all;
        let last = events.iter().rev().find(|event| event.kind == CONTEXT_REFRESHED);
        if last.is_some_and(|event| event.text == text) {
            return Ok(());
        }
        let line = Event::render(self.now, CONTEXT_REFRESHED, &[("source", &self.source())], &text);
        let appends = self.event_appends(container, &[line]);
        self.write(container, None, appends, None, outcome)
    }
}

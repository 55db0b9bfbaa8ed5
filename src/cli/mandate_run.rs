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
use crate::model::timestamp;
use crate::queue::SelectedRequests;
use crate::responsibility::events::{CONTEXT_REFRESHED, Event};
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
    /// True if a guardrail asks for the digests of each refresh.
    #[serde(skip)]
    pub(super) logs_digests: bool,
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
    /// True if no file changed since the last build.
    pub(super) is_built: bool,
}

/// The rows of each responsibility by its id, or the error of reading them.
pub(super) type QueueRows = BTreeMap<String, Result<SelectedRequests, String>>;

/// Files to append to, in order: path, opening of a new file, lines.
type Appends = Vec<(String, String, String)>;

/// Maximum size of a memory or log that is read.
pub(super) const MAX_BYTES: u64 = 64 << 20;

impl MandateRun<'_> {
    /// Runs the mandate for one responsibility. An error becomes a part of the result.
    pub(super) fn role(&self, role: Role) -> RoleOutcome {
        let mut outcome = RoleOutcome {
            id: role.container.id.clone(),
            folder: role.container.folder.clone(),
            pack: role.container.pack_path(),
            logs_digests: role.container.has_clause("context.log_refresh_hashes"),
            ..RoleOutcome::default()
        };
        outcome.findings.extend(append_only::compare(&role.container).1);
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
        let mut events: Vec<String> = Vec::new();
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
        let is_idle = self.is_built && events.is_empty() && old.as_ref() == Some(&next);
        if name == MandateName::RefreshAiContext && !is_idle {
            let draft = responsibilities::draft(&role, self.inputs)?;
            outcome.volume = Some(draft.volume.n_lines);
            if !draft.is_held() {
                next.head.published_lines = Some(draft.volume.n_lines);
            }
            let is_new = old.as_ref().is_none_or(|old| old.head != next.head);
            if is_new {
                let fields = [
                    ("lines", json!(draft.volume.n_lines)),
                    ("published", json!(!draft.is_held())),
                ];
                appends.push(self.log_line(&role.container, "context_volume", &fields));
            }
        }
        outcome.as_of = Some(next.head.as_of.clone());
        outcome.n_requests = next.requests.len();
        let is_changed = old.as_ref() != Some(&next);
        self.write(&role.container, is_changed.then_some(&next), appends, notice, outcome)
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
    fn event_appends(&self, container: &Container, events: &[String]) -> Appends {
        let mut appends = Appends::new();
        for line in events {
            let kind = line.split(' ').nth(2).unwrap_or_default().to_string();
            appends.push(self.log_line(container, &kind, &[("text", json!(line))]));
            let memory = container.path("memory/events.md");
            appends.push((memory, self.opening("log", "# Events\n\n"), format!("{line}\n")));
        }
        appends
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
    fn log_line(
        &self,
        container: &Container,
        kind: &str,
        fields: &[(&str, Value)],
    ) -> (String, String, String) {
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
        let path = container.path("ai_context/state.jsonl");
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
        let is_wanted = |outcome: &RoleOutcome| outcome.error.is_none() && outcome.logs_digests;
        if !outcomes.iter().any(is_wanted) {
            return Ok(());
        }
        let Some(Ok((manifest, _))) = verify::manifest(self.root)? else { return Ok(()) };
        let (roles, _) = responsibilities::read_all(self.root, self.inputs)?;
        for outcome in outcomes.iter_mut().filter(|outcome| is_wanted(outcome)) {
            let role = roles.iter().find(|role| role.container.id == outcome.id);
            let Some(role) = role else { continue };
            if let Err(error) = self.append_digests(&role.container, &manifest, outcome) {
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

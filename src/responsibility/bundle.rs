//! The files of `ai_context/`: what each is made from.

use serde_json::Value;

use super::compose::{Line, LineSection};
use super::container::{Container, ContainerFile, INBOXES};
use super::model_policy;
use super::registry::RoleTool;
use super::{events, lists};
use crate::model::escape::escape_line;
use crate::model::layout::CORE_FILES;
use crate::model::timestamp;

/// A file of `ai_context/` that blue makes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CoreFile {
    /// Kernel, guardrails, persona and lasting mandates.
    System,
    /// Projects, runs, tasks and checkpoints.
    Focus,
    /// The last events and insights.
    Recent,
    /// Open requests.
    Requests,
    /// Models: policy and the one in use.
    Models,
}

impl CoreFile {
    /// All files. The first four are the core, which the pack contains.
    pub const ALL: [CoreFile; 5] =
        [CoreFile::System, CoreFile::Focus, CoreFile::Recent, CoreFile::Requests, CoreFile::Models];

    /// Returns the name of the file.
    pub fn name(self) -> &'static str {
        CORE_FILES[self as usize]
    }

    /// Returns the role in its front matter.
    pub fn role(self) -> &'static str {
        match self {
            CoreFile::System => "long_term_memory",
            CoreFile::Focus | CoreFile::Recent => "short_term_memory",
            CoreFile::Requests => "request",
            CoreFile::Models => "guardrail",
        }
    }

    /// Returns its budget in tokens, without the front matter.
    pub fn max_tokens(self) -> u64 {
        match self {
            CoreFile::System => 800,
            CoreFile::Focus | CoreFile::Recent | CoreFile::Requests => 400,
            CoreFile::Models => 300,
        }
    }

    /// Returns its title.
    pub fn title(self, id: &str) -> String {
        let subject = match self {
            CoreFile::System => "System context",
            CoreFile::Focus => "Current focus",
            CoreFile::Recent => "Recent activity",
            CoreFile::Requests => "Open requests",
            CoreFile::Models => "Model preferences",
        };
        format!("{subject} of {id}")
    }

    /// Returns its sections. `n_recent` is the number of events.
    pub fn sections(self, container: &Container, n_recent: usize) -> Vec<LineSection> {
        match self {
            CoreFile::System => system(container),
            CoreFile::Focus => focus(container),
            CoreFile::Recent => recent(container, n_recent),
            CoreFile::Requests => requests(container),
            CoreFile::Models => models(container),
        }
    }
}

/// Returns a line with the title and the first sentence of a file, and a link to it.
pub(super) fn about((path, file): (&str, &ContainerFile)) -> Line {
    let name = file.title().unwrap_or(path);
    line(&format!("{name}: {}", file.sentence())).file(path)
}

fn line(text: &str) -> Line {
    Line::new(escape_line(text.trim()))
}

/// Returns the list items and paragraphs of a file as lines.
fn statements(container: &Container, path: &str) -> Vec<Line> {
    let Some(file) = container.file(path) else { return Vec::new() };
    let paragraphs = lists::paragraphs(&file.body);
    let items = lists::items(&file.body).into_iter().map(|item| named(item.id, &item.text));
    paragraphs.iter().map(|text| line(text)).chain(items).collect()
}

/// Returns a line that begins with an id.
fn named(id: Option<String>, text: &str) -> Line {
    match (id, text) {
        (None, text) => line(text),
        (Some(id), "") => line(&format!("`{id}`")),
        (Some(id), text) => line(&format!("`{id}`: {text}")),
    }
}

fn system(container: &Container) -> Vec<LineSection> {
    let clauses = container.clauses().into_iter();
    let clauses = clauses.map(|clause| named(clause.id, &clause.text).fixed()).collect();
    let mandates = container.lasting_mandates().into_iter().map(about);
    let canonical = ["kernel.md", "guardrails.md", "persona.md", "persona/golden_identity.md"];
    let canonical = canonical.into_iter().chain(["responsibility.md"]);
    let canonical = canonical.filter(|path| container.file(path).is_some());
    let mut sections = vec![
        LineSection { heading: "Kernel", lines: statements(container, "kernel.md") },
        LineSection { heading: "Guardrails", lines: clauses },
        LineSection { heading: "Voice", lines: voice(container) },
        LineSection { heading: "Mandates", lines: mandates.collect() },
        LineSection {
            heading: "Canonical files",
            lines: canonical.map(|path| Line::default().file(path).fixed()).collect(),
        },
    ];
    // Most containers have neither.
    let optional = [("Tools", tools(container)), ("Knowledge", knowledge(container))];
    for (heading, lines) in optional.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        sections.insert(sections.len() - 1, LineSection { heading, lines });
    }
    sections
}

/// Returns the tools of the manifest, each with the clause that limits it.
fn tools(container: &Container) -> Vec<Line> {
    let tools = container.capabilities.tools.iter();
    let text = |tool: &RoleTool| {
        let clause = tool.guardrail_clause.as_ref();
        let clause = clause.map_or(String::new(), |clause| format!(" (clause `{clause}`)"));
        format!("`{}`: {}{clause}", tool.name, tool.resource)
    };
    tools.map(|tool| line(&text(tool))).collect()
}

/// Returns the files about lasting knowledge, and the packs. A pack is input for a task and not for
/// every session, so it is named and not linked.
fn knowledge(container: &Container) -> Vec<Line> {
    let packs = container.in_folder("context/packs").map(|(path, file)| {
        line(&format!("Pack {}", file.title().unwrap_or(path))).place(path.to_string())
    });
    container.in_folder("context/knowledge").map(about).chain(packs).collect()
}

/// Returns the lines about the voice of the persona: its section or key if there is one, else all.
fn voice(container: &Container) -> Vec<Line> {
    let Some(file) = container.file("persona.md") else { return Vec::new() };
    let keys = ["voice", "tone", "style"];
    let stated = file.body.lines().filter(|text| {
        let key = text.split(':').next().unwrap_or_default().trim_start_matches(['-', ' ', '*']);
        text.contains(':') && keys.contains(&key.trim_end_matches('*').to_lowercase().as_str())
    });
    let mut lines: Vec<Line> = stated.map(|text| line(text.trim_start_matches("- "))).collect();
    let section = keys.iter().find_map(|name| lists::section(&file.body, name));
    if let Some(section) = section {
        lines.extend(lists::paragraphs(section).iter().map(|text| line(text)));
        lines.extend(lists::items(section).into_iter().map(|item| named(item.id, &item.text)));
    }
    if lines.is_empty() {
        lines = statements(container, "persona.md");
    }
    lines.extend(statements(container, "persona/golden_identity.md"));
    lines
}

fn focus(container: &Container) -> Vec<LineSection> {
    let projects = container.live_projects();
    let mut checkpoints: Vec<(String, Line)> = Vec::new();
    let since = container.state.as_ref().map_or("", |state| state.head.as_of.as_str());
    let since = since.get(..10).unwrap_or_default();
    for (path, file) in &projects {
        for item in lists::items(&file.body) {
            let text = item.text.trim_start_matches(['[', ' ', ']', '*']);
            let date = text.get(..10).filter(|date| timestamp::parse(date).is_some());
            if let Some(date) = date.filter(|date| *date >= since && date.contains('-')) {
                checkpoints.push((date.to_string(), line(text).file(path)));
            }
        }
    }
    checkpoints.sort_by(|a, b| a.0.cmp(&b.0));
    vec![
        LineSection { heading: "Projects", lines: projects.into_iter().map(about).collect() },
        LineSection {
            heading: "Mandate runs without an outcome",
            lines: container.open_runs().into_iter().map(about).collect(),
        },
        LineSection { heading: "Open tasks", lines: tasks(container) },
        LineSection {
            heading: "Checkpoints",
            lines: checkpoints.into_iter().map(|(_, line)| line).collect(),
        },
    ]
}

/// Returns the open tasks of `tasks/index.json`, by priority, due date and id.
fn tasks(container: &Container) -> Vec<Line> {
    let index: Value = container
        .tasks
        .as_deref()
        .and_then(|text| serde_json::from_str(text).ok())
        .unwrap_or_default();
    let list = index.get("tasks").unwrap_or(&index);
    let entries: Vec<&Value> = match list {
        Value::Array(entries) => entries.iter().collect(),
        Value::Object(entries) => entries.values().collect(),
        _ => Vec::new(),
    };
    let mut open: Vec<(i64, String, String, Line)> = Vec::new();
    for task in entries {
        let text = |key: &str| task.get(key).and_then(Value::as_str).unwrap_or_default();
        let status = text("status").to_lowercase();
        if ["completed", "done", "cancelled", "closed"].contains(&status.as_str()) {
            continue;
        }
        let priority = match task.get("priority") {
            Some(Value::Number(number)) => number.as_i64().unwrap_or(200),
            Some(Value::String(name)) => match name.as_str() {
                "urgent" | "critical" => 50,
                "high" => 100,
                "low" => 300,
                _ => 200,
            },
            _ => 200,
        };
        let id = [text("task_id"), text("id")].concat();
        let due = [text("due_date"), text("due_at")].concat();
        let until = if due.is_empty() { String::new() } else { format!(", due {due}") };
        let shown = line(&format!("{} ({status}{until})", text("title")));
        open.push((priority, if due.is_empty() { "~".to_string() } else { due }, id, shown));
    }
    open.sort_by(|a, b| (a.0, &a.1, &a.2).cmp(&(b.0, &b.1, &b.2)));
    open.into_iter().map(|(.., line)| line).collect()
}

fn recent(container: &Container, n_recent: usize) -> Vec<LineSection> {
    let all = container.events().all;
    let events = events::newest(&all, n_recent).into_iter().map(|event| {
        let time = timestamp::format(event.time);
        let sentence = lists::first_sentence(&event.text);
        let shown = line(&format!("{time} {}: {sentence}", event.kind));
        (event.time, shown.place(format!("memory/events.md#L{}", event.line)))
    });
    // A report is named and not linked, as an event is: the volume counts linked files.
    let reports = container.reports().into_iter().map(|(seconds, path, file)| {
        let (time, title) = (timestamp::format(seconds), file.title().unwrap_or(path));
        let shown = line(&format!("{time} report: {title}: {}", file.sentence()));
        (seconds, shown.place(path.to_string()))
    });
    let mut entries: Vec<(i64, Line)> = events.chain(reports).collect();
    entries.sort_by_key(|(time, _)| std::cmp::Reverse(*time));
    entries.truncate(n_recent);
    let insights = container.file("memory/insights.md").map(|file| newest_section(&file.body));
    let insights = insights.into_iter().flatten();
    vec![
        LineSection {
            heading: "Events",
            lines: entries.into_iter().map(|(_, line)| line).collect(),
        },
        LineSection { heading: "Insights", lines: insights.map(|item| line(&item)).collect() },
    ]
}

/// Returns the list items of the last second-level section, one for each group.
fn newest_section(text: &str) -> Vec<String> {
    let start = text.rfind("\n## ").map_or(0, |at| at + 1);
    let items = lists::items(&text[start..]).into_iter();
    items
        .map(|item| [item.id.map(|id| id + ": ").unwrap_or_default(), item.text].concat())
        .collect()
}

fn requests(container: &Container) -> Vec<LineSection> {
    let lines = container.requests().into_iter().map(|request| {
        let mut views =
            INBOXES.map(|folder| format!("{folder}/{}.md", request.request)).into_iter();
        let view = views.clone().find(|path| container.file(path).is_some());
        let shared = views.find(|path| container.workspace_inbox.contains_key(path));
        // The link has the id.
        let id = view.as_ref().map_or_else(|| format!("{}: ", request.request), |_| String::new());
        let origin = if request.origin.is_empty() { "unknown" } else { &request.origin };
        let mut text = format!("[{}] {id}{}, from {origin}", request.status, request.subject);
        let deadline = request.worded_deadline();
        text += &deadline.map_or(String::new(), |(words, time)| format!(", {words} {time}"));
        text += &request.sla.map_or(String::new(), |sla| format!(", {}", sla.as_str()));
        let line = line(&text);
        match (view, shared) {
            (Some(path), _) => line.file(&path),
            (None, Some(path)) => line.place(format!("{path} of the workspace")),
            (None, None) => line,
        }
    });
    let lines: Vec<Line> = lines.collect();
    match lines.is_empty() {
        true => vec![LineSection { heading: "", lines: vec![Line::new("None.").fixed()] }],
        false => vec![LineSection { heading: "", lines }],
    }
}

fn models(container: &Container) -> Vec<LineSection> {
    let mut lines = Vec::new();
    match &container.policy {
        None => lines.push(Line::new("No policy: write model_policy.yaml with preferred_model.")),
        Some(policy) => {
            lines.push(line(&format!("Use {}.", policy.preferred)));
            if !policy.fallbacks.is_empty() {
                lines.push(line(&format!("Approved fallbacks: {}.", policy.fallbacks.join(", "))));
            }
            for required in &policy.overrides {
                lines.push(line(&format!("{} requires {}.", required.mandate, required.model)));
            }
        }
    }
    let record = container.state.as_ref().and_then(|state| state.model.as_ref());
    if let Some(record) = record {
        let text = model_policy::drift_line(record);
        let text = text.unwrap_or_else(|| format!("Verdict: {}.", record.verdict.as_str()));
        lines.push(line(&text).fixed());
    }
    vec![LineSection { heading: "", lines }]
}

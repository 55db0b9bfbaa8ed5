//! The container of a responsibility: its files, by their path below its folder.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_yaml::Value;

use super::events::{self, Events, RenderedEvent};
use super::inbox::{self, Request};
use super::lists::{self, Item};
use super::model_policy::ModelPolicy;
use super::registry::{Capabilities, Lifecycle};
use crate::model::layout::RESPONSIBILITIES;
use crate::model::timestamp;
use crate::model::yaml_depth::{MAX_DEPTH, is_deep};
use crate::parse::split_front_matter;
use crate::wire::responsibility_state::{ContainerState, RequestLine};

/// Roles that the front matter of a file may state.
pub const ROLES: [&str; 12] = [
    "kernel",
    "guardrail",
    "persona",
    "mandate_definition",
    "mandate_run",
    "request",
    "long_term_memory",
    "short_term_memory",
    "report",
    "ui_view",
    "log",
    "scratch",
];

/// Folders with Markdown files that are read, below a container.
pub const FOLDERS: [&str; 9] = [
    "ai_context",
    "context/knowledge",
    "context/packs",
    "context/projects",
    "mandates/definitions",
    "mandates/runs",
    "queue/inbox",
    "reports",
    "requests/inbox",
];

/// Folders with requests as Markdown files, below a container and below the root.
pub const INBOXES: [&str; 2] = ["queue/inbox", "requests/inbox"];

/// Single files that are read, below a container.
pub const FILES: [&str; 7] = [
    "kernel.md",
    "guardrails.md",
    "persona.md",
    "persona/golden_identity.md",
    "responsibility.md",
    "memory/events.md",
    "memory/insights.md",
];

/// The files of one role.
#[derive(Clone, Debug)]
pub struct Container {
    /// Its id.
    pub id: String,
    /// Its folder below the root.
    pub folder: String,
    /// Its Markdown files, by their path below the folder.
    pub files: BTreeMap<String, ContainerFile>,
    /// The text of `tasks/index.json`.
    pub tasks: Option<String>,
    /// The models that it may use.
    pub policy: Option<ModelPolicy>,
    /// Its state, if it verifies.
    pub state: Option<ContainerState>,
    /// Whether it is in use.
    pub lifecycle: Lifecycle,
    /// The contents of its `manifest.json`.
    pub capabilities: Capabilities,
    /// Files in the inboxes of the workspace, by their path below the root. They are for all roles.
    /// With a queue they are views, and empty here.
    pub workspace_inbox: Arc<BTreeMap<String, ContainerFile>>,
}

/// One Markdown file of a container, scanned by `guard`.
#[derive(Clone, Debug, Default)]
pub struct ContainerFile {
    /// Its front matter; null if it has none.
    pub header: Value,
    /// Its text below the front matter.
    pub body: String,
    /// Its whole text.
    pub text: String,
}

impl ContainerFile {
    /// Splits a file into front matter and text. Front matter that is no YAML counts as none.
    pub fn new(text: &str) -> ContainerFile {
        let (yaml, body) = split_front_matter(text);
        let is_sane = yaml.len() <= 64 << 10 && !is_deep(yaml, MAX_DEPTH);
        let header = is_sane.then(|| serde_yaml::from_str(yaml).ok()).flatten();
        let header = header.unwrap_or(Value::Null);
        ContainerFile { header, body: body.to_string(), text: text.to_string() }
    }

    /// Returns a string, number or truth value of the front matter as text.
    pub fn field(&self, key: &str) -> Option<String> {
        scalar(self.header.get(key)?)
    }

    /// Returns the role that the front matter states.
    pub fn role(&self) -> Option<String> {
        self.field("context_role")
    }

    /// Returns true if the file may only grow.
    pub fn is_append_only(&self) -> bool {
        self.field("refresh").as_deref() == Some("append_only")
    }

    /// Returns the first heading, without a prefix such as `mandate.` that names the kind of file.
    pub fn title(&self) -> Option<&str> {
        let headings = self.body.lines().filter_map(|line| line.strip_prefix("# "));
        headings.map(str::trim).find(|title| !title.is_empty())
    }

    /// Returns the first sentence of the file, from its intent if it states one.
    pub fn sentence(&self) -> String {
        let stated = ["Intent", "Objective", "Summary", "Title"]
            .iter()
            .find_map(|name| lists::section(&self.body, name));
        let paragraphs = lists::paragraphs(stated.unwrap_or(&self.body));
        paragraphs.first().map(|text| lists::first_sentence(text)).unwrap_or_default()
    }

    /// Returns the number of lines below the front matter.
    pub fn n_lines(&self) -> u64 {
        self.body.lines().count() as u64
    }

    /// Returns true if one of the keys has a value that means an end.
    fn has_ended(&self) -> bool {
        let status = self.field("status").unwrap_or_default().to_lowercase();
        let ended = ["done", "completed", "closed", "archived", "cancelled", "retired", "rejected"];
        ended.contains(&status.as_str())
    }
}

/// Returns a string, number or truth value as text.
pub fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}

impl Container {
    /// Returns a file by its path below the folder.
    pub fn file(&self, path: &str) -> Option<&ContainerFile> {
        self.files.get(path)
    }

    /// Returns the path below the root of a path below the folder.
    pub fn path(&self, below: &str) -> String {
        match self.folder.as_str() {
            "" => below.to_string(),
            folder => format!("{folder}/{below}"),
        }
    }

    /// Returns the path of the pack.
    pub fn pack_path(&self) -> String {
        format!("{RESPONSIBILITIES}/{}.md", self.id)
    }

    /// Returns the files of a folder of the container, sorted by path.
    pub fn in_folder<'a>(
        &'a self,
        folder: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a ContainerFile)> {
        let is_in =
            move |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let files = self.files.iter().map(|(path, file)| (path.as_str(), file));
        files.filter(move |(path, _)| is_in(path))
    }

    /// Returns the clauses of the guardrails.
    pub fn clauses(&self) -> Vec<Item> {
        self.file("guardrails.md").map(|file| lists::items(&file.body)).unwrap_or_default()
    }

    /// Returns true if the guardrails have a clause.
    pub fn has_clause(&self, id: &str) -> bool {
        self.clauses().iter().any(|clause| clause.id.as_deref() == Some(id))
    }

    /// Returns the events of its memory.
    pub fn events(&self) -> Events {
        self.file("memory/events.md").map(|file| events::parse(&file.text)).unwrap_or_default()
    }

    /// Adds lines to the events, as a mandate is about to append them to the file.
    pub fn add_events(&mut self, added: &[RenderedEvent]) {
        if added.is_empty() {
            return;
        }
        let file = self.files.entry("memory/events.md".to_string()).or_default();
        for event in added {
            file.text = format!("{}\n{}\n", file.text.trim_end_matches('\n'), event.line);
        }
        file.body = file.text.clone();
    }

    /// Adds a text to a file, as a mandate is about to append it.
    pub fn append(&mut self, path: &str, text: &str) {
        if let Some(file) = self.files.get_mut(path) {
            let end = if file.text.ends_with('\n') { "" } else { "\n" };
            *file = ContainerFile::new(&format!("{}{end}{text}", file.text));
        }
    }

    /// Returns the open requests in the inboxes of the container, and those in the inboxes of the
    /// workspace that are for it.
    pub fn inbox(&self) -> Vec<Request> {
        let files = INBOXES.into_iter().flat_map(|folder| self.in_folder(folder));
        let requests = files.filter_map(|(path, file)| Request::from_file(path, file));
        let own = requests.filter(|request| request.target.is_empty() || request.target == self.id);
        let shared = self.shared_inbox().filter_map(|(path, file)| Request::from_file(path, file));
        own.chain(shared).collect()
    }

    /// Returns the files in the inboxes of the workspace that name this role as their target.
    pub fn shared_inbox(&self) -> impl Iterator<Item = (&str, &ContainerFile)> {
        let files = self.workspace_inbox.iter().map(|(path, file)| (path.as_str(), file));
        files.filter(|(_, file)| {
            file.field("target_responsibility_id").as_deref() == Some(self.id.as_str())
        })
    }

    /// Returns true if a mandate that the manifest names has a definition: by its id, its file or its
    /// title.
    pub fn defines(&self, mandate: &str) -> bool {
        let last = mandate.rsplit('.').next().unwrap_or(mandate);
        self.in_folder("mandates/definitions").any(|(path, file)| {
            let stem = path.rsplit('/').next().unwrap_or(path).trim_end_matches(".md");
            let stated = ["mandate_id", "id"].iter().find_map(|key| file.field(key));
            [mandate, last].contains(&stem)
                || stated.as_deref() == Some(mandate)
                || file.title() == Some(mandate)
        })
    }

    /// Returns the open requests: of the state, or of the inbox while there is none.
    pub fn requests(&self) -> Vec<RequestLine> {
        match &self.state {
            Some(state) => state.requests.clone(),
            None => inbox::lines(&self.inbox(), None),
        }
    }

    /// Returns the mandates without an end, with their paths.
    pub fn lasting_mandates(&self) -> Vec<(&str, &ContainerFile)> {
        let has_end = |file: &ContainerFile| {
            let keys = ["ends_at", "end_date", "end", "until", "expires_at", "due_at"];
            keys.iter().any(|key| file.field(key).is_some())
        };
        let mandates = self.in_folder("mandates/definitions");
        mandates.filter(|(_, file)| !has_end(file) && !file.has_ended()).collect()
    }

    /// Returns the projects that are not finished, with their paths.
    pub fn live_projects(&self) -> Vec<(&str, &ContainerFile)> {
        self.in_folder("context/projects").filter(|(_, file)| !file.has_ended()).collect()
    }

    /// Returns the reports with a date in their front matter or their name, newest first.
    pub fn reports(&self) -> Vec<(i64, &str, &ContainerFile)> {
        let stated = |file: &ContainerFile| {
            let dates = ["created_at", "date"].into_iter().filter_map(|key| file.field(key));
            dates.filter(|date| date.contains('-')).find_map(|date| timestamp::parse(&date))
        };
        let reports = self.in_folder("reports");
        let dated = reports.filter_map(|(path, file)| {
            let time = stated(file).or_else(|| date_in(path))?;
            Some((time, path, file))
        });
        let mut dated: Vec<(i64, &str, &ContainerFile)> = dated.collect();
        dated.sort_by(|a, b| (b.0, b.1).cmp(&(a.0, a.1)));
        dated
    }

    /// Returns the runs of mandates without an outcome, with their paths.
    pub fn open_runs(&self) -> Vec<(&str, &ContainerFile)> {
        let has_outcome = |file: &ContainerFile| {
            let section = lists::section(&file.body, "Outcome");
            file.field("outcome").is_some_and(|outcome| !outcome.is_empty())
                || section.is_some_and(|text| !text.trim().is_empty())
        };
        let runs = self.in_folder("mandates/runs");
        runs.filter(|(_, file)| !has_outcome(file) && !file.has_ended()).collect()
    }
}

/// Returns the first date such as 2026-01-25 in a path.
fn date_in(path: &str) -> Option<i64> {
    let parts = (0..path.len()).filter_map(|at| path.get(at..at + 10));
    let dates = parts.filter(|part| matches!(part.as_bytes(), [_, _, _, _, b'-', _, _, b'-', ..]));
    dates.into_iter().find_map(timestamp::parse)
}

/// Returns true if a text is an id that can be part of a path and an address.
pub fn is_id(text: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '@');
    !text.is_empty()
        && text.len() <= 100
        && text.chars().all(is_allowed)
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !text.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_leave_its_folder() {
        for id in ["parenting_cos", "jane@dadmode", "a-b.c", "7"] {
            assert!(is_id(id), "{id}");
        }
        for id in ["", "..", "a/b", "../x", ".hidden", "a..b", "a b", "é"] {
            assert!(!is_id(id), "{id}");
        }
    }

    #[test]
    fn front_matter_that_is_no_yaml_counts_as_none() {
        let file = ContainerFile::new("---\ncontext_role: kernel\n---\n# K\n\nText. More.\n");
        assert_eq!(file.role().as_deref(), Some("kernel"));
        assert_eq!((file.title(), file.sentence().as_str()), (Some("K"), "Text."));
        assert_eq!(ContainerFile::new("---\na: [\n---\nx\n").header, Value::Null);
    }
}

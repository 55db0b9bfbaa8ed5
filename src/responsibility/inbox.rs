//! Requests as Markdown files, which are the record where there is no database.

use super::container::{ContainerFile, is_id};
use super::sla::Window;
use crate::model::escape::escape_line;
use crate::model::timestamp;
use crate::wire::responsibility_state::{RequestLine, SlaClass};

/// Statuses of open requests.
pub const OPEN: [&str; 3] = ["pending", "deferred", "accepted"];

/// A request as it is recorded, with the facts that its deadlines follow from.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Request {
    /// Its id.
    pub id: String,
    /// The responsibility that it is for.
    pub target: String,
    /// The responsibility that asks.
    pub origin: String,
    /// Its status.
    pub status: String,
    /// Its priority; the lowest number comes first.
    pub priority: i64,
    /// Its subject.
    pub subject: String,
    /// Time of its creation.
    pub created: Option<i64>,
    /// Time from which it can be selected.
    pub available: Option<i64>,
    /// Time at which the target first touched it.
    pub acknowledged: Option<i64>,
    /// Seconds in which it has to be accepted or declined.
    pub response_seconds: Option<i64>,
    /// Seconds in which accepted work has to be done.
    pub completion_seconds: Option<i64>,
}

/// Characters of a subject or an origin that are shown.
const MAX_CHARACTERS: usize = 200;

impl Request {
    /// Reads a request from a file in an inbox. `None` if it is not open or has no usable id.
    pub fn from_file(path: &str, file: &ContainerFile) -> Option<Request> {
        let stem = path.rsplit('/').next()?.strip_suffix(".md")?;
        let field = |key: &str| file.field(key);
        let number = |key: &str| field(key).and_then(|text| text.parse::<i64>().ok());
        let time = |key: &str| field(key).and_then(|text| timestamp::parse(&text));
        let id = field("request_id").unwrap_or_else(|| stem.to_string());
        let status = field("status").unwrap_or_else(|| "pending".to_string());
        let is_open = OPEN.contains(&status.as_str()) && is_id(&id);
        is_open.then(|| Request {
            id,
            status,
            target: field("target_responsibility_id").unwrap_or_default(),
            origin: field("origin_responsibility_id").unwrap_or_default(),
            priority: number("priority").unwrap_or(100),
            subject: field("subject")
                .or_else(|| file.title().map(str::to_string))
                .unwrap_or_else(|| file.sentence()),
            created: time("created_at"),
            available: time("available_at").or_else(|| time("created_at")),
            acknowledged: time("acknowledged_at"),
            response_seconds: number("sla_response_seconds"),
            completion_seconds: number("sla_completion_seconds"),
        })
    }

    fn response(&self) -> Option<Window> {
        Window::new(self.available, self.response_seconds)
    }

    fn completion(&self) -> Option<Window> {
        Window::new(self.acknowledged, self.completion_seconds)
    }

    /// Returns the state of the deadline that applies: for the response until the request is
    /// accepted, then for the completion.
    fn class(&self, now: i64) -> Option<SlaClass> {
        let window = if self.status == "accepted" { self.completion() } else { self.response() };
        window.map(|window| window.class(now))
    }

    /// Returns the line of the state. Without a time, deadlines have no class.
    pub fn line(&self, now: Option<i64>) -> RequestLine {
        let short = |text: &str| -> String {
            let line = escape_line(text);
            let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
            line.chars().take(MAX_CHARACTERS).collect()
        };
        RequestLine {
            request: self.id.clone(),
            status: self.status.clone(),
            priority: self.priority,
            origin: short(&self.origin),
            subject: short(&self.subject),
            created_at: self.created.map(timestamp::format).unwrap_or_default(),
            respond_by: self.response().map(|window| timestamp::format(window.end())),
            complete_by: self.completion().map(|window| timestamp::format(window.end())),
            sla: now.and_then(|now| self.class(now)),
        }
    }
}

/// Returns the lines of an earlier state with the deadlines of now, if they are about the same
/// requests. Only what depends on the time is computed. `requests` are sorted by id.
pub fn renewed(lines: &[RequestLine], requests: &[Request], now: i64) -> Option<Vec<RequestLine>> {
    let renew = |line: &RequestLine| {
        let at =
            requests.binary_search_by(|request| request.id.as_str().cmp(&line.request)).ok()?;
        Some(RequestLine { sla: requests[at].class(now), ..line.clone() })
    };
    (lines.len() == requests.len()).then(|| lines.iter().map(renew).collect()).flatten()
}

/// Returns the lines of the state for some requests, by priority, time and id.
pub fn lines(requests: &[Request], now: Option<i64>) -> Vec<RequestLine> {
    let mut lines: Vec<RequestLine> = requests.iter().map(|request| request.line(now)).collect();
    lines.sort_by(|a, b| {
        let times = || a.created_at.cmp(&b.created_at);
        a.priority.cmp(&b.priority).then_with(times).then_with(|| a.request.cmp(&b.request))
    });
    lines.dedup_by(|a, b| a.request == b.request);
    lines
}

//! Usage of documents on this machine, which adjusts the ranking of neighbours.

use std::cmp::Reverse;
use std::fs::File;
use std::os::unix::fs::FileExt;

use jiff::Timestamp;

use crate::model::Digest;
use crate::model::layout::{AUDIT, ROTATED_AUDIT, USAGE};
use crate::root::Root;
use crate::wire::audit::{self, AuditLine};
use crate::wire::usage::{self, Reads, Usage};

/// Minimum number of days from the first delivery to the last before usage changes any score.
const MIN_DAYS: i64 = 30;

/// Minimum number of deliveries before documents that are read together become neighbours.
const MIN_EVENTS: u64 = 1_000;

/// Minimum number of sessions in which two documents are read together to become neighbours.
const MIN_TOGETHER: u32 = 3;

/// Number of sessions at which two documents that are read together get the full score.
const MAX_TOGETHER: u32 = 20;

/// Maximum number of neighbours that only usage adds.
const MAX_LEARNED: usize = 5;

/// Number of days after which a read counts half.
const HALF_LIFE: i64 = 30;

/// Maximum number of bytes that are read of a log. Older lines of a larger log are not counted.
const MAX_TAIL: u64 = 16 << 20;

/// Size limit of the first line of a log.
const MAX_LINE: usize = 4_096;

/// Limits of the cache: sessions, documents of one session, pairs of documents, documents.
const MAX_SESSIONS: usize = 64;
const MAX_READ: usize = 64;
const MAX_PAIRS: usize = 20_000;
const MAX_DOCUMENTS: usize = 100_000;

/// Number of seconds in a day.
pub const SECONDS_PER_DAY: i64 = 86_400;

/// Usage of documents, which adjusts the ranking of the build.
#[derive(Debug, Default)]
pub struct Overlay {
    usage: Usage,
    /// The current day, counted from 1970.
    today: i64,
    n_pairs: usize,
    /// True if the log has lines that the cache does not have.
    is_outdated: bool,
}

/// The amount of usage data, which decides the adjustments in effect.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Phase {
    /// Number of days from the first delivery to the last.
    pub days: i64,
    /// Number of deliveries.
    pub events: u64,
}

impl Phase {
    /// Returns true if documents that are read often and lately are raised.
    pub fn is_weighted(self) -> bool {
        self.days >= MIN_DAYS
    }

    /// Returns true if documents that are read together become neighbours.
    pub fn is_learned(self) -> bool {
        self.events > MIN_EVENTS
    }

    /// Returns the name of the phase.
    pub fn name(self) -> &'static str {
        match (self.is_weighted(), self.is_learned()) {
            (false, false) => "off",
            (true, false) => "weighted",
            (false, true) => "learned",
            (true, true) => "weighted, learned",
        }
    }

    /// Formats the phase: `off, 12 of 30 days, 340 of 1,000 events`.
    pub fn text(self) -> String {
        let days = match self.is_weighted() {
            true => format!("{} days", self.days),
            false => format!("{} of {MIN_DAYS} days", self.days),
        };
        let events = match self.is_learned() {
            true => format!("{} events", thousands(self.events)),
            false => format!("{} of {} events", thousands(self.events), thousands(MIN_EVENTS)),
        };
        format!("{}, {days}, {events}", self.name())
    }
}

fn thousands(n: u64) -> String {
    if n < 1_000 { n.to_string() } else { format!("{},{:03}", thousands(n / 1_000), n % 1_000) }
}

impl Overlay {
    /// Reads the cache, and the lines of the audit log that are newer. A log that cannot be read
    /// counts as empty. `today` is counted from 1970.
    pub fn open(root: &Root, today: i64) -> Overlay {
        let bytes = root.readable_bytes(USAGE, 1 << 28);
        let cached = bytes.zip(root.machine().key.as_ref());
        let cached = cached.and_then(|(bytes, key)| usage::seal(key).decode(&bytes));
        let usage: Usage = cached.unwrap_or_default();
        let n_pairs = usage.together.values().map(|others| others.len()).sum();
        let mut overlay = Overlay { usage, today, n_pairs, is_outdated: false };
        let logs = [ROTATED_AUDIT, AUDIT].iter().filter_map(|path| LogFile::open(root, path));
        let logs: Vec<LogFile> = logs.collect();
        let last_read = logs.iter().position(|log| log.id == overlay.usage.log);
        for (i, log) in logs.iter().enumerate().skip(last_read.unwrap_or(0)) {
            let from = if last_read == Some(i) { overlay.usage.offset } else { 0 };
            overlay.read(log, from);
        }
        overlay
    }

    /// Returns the bytes of the cache; `None` if it is current, or there is no key to seal it with.
    pub fn cache_bytes(&self, root: &Root) -> Option<Vec<u8>> {
        let key = root.machine().key.as_ref()?;
        self.is_outdated.then(|| usage::seal(key).encode(&self.usage))
    }

    /// The amount of usage data.
    pub fn phase(&self) -> Phase {
        let days = (self.usage.last - self.usage.first) / SECONDS_PER_DAY;
        Phase { days, events: self.usage.n_events }
    }

    /// Returns the percentage by which reads raise the score of a document, at most 50.
    pub(super) fn boost(&self, uri: &str) -> u32 {
        let reads = self.usage.documents.get(uri).filter(|_| self.phase().is_weighted());
        let heat = reads.map_or(0, |reads| heat_on(reads, self.today));
        ((heat / 1_000 + 1).ilog2() * 10).min(50)
    }

    /// Returns the number of times that a document was read.
    pub(super) fn n_reads(&self, uri: &str) -> u64 {
        self.usage.documents.get(uri).map_or(0, |reads| reads.n)
    }

    /// Returns each document's address and the day of its last read, counted from 1970.
    pub fn last_reads(&self) -> impl Iterator<Item = (String, i64)> {
        self.usage.documents.iter().map(|(uri, reads)| (uri.clone(), reads.day))
    }

    /// Returns the documents that are often read in the same sessions as a document, the most frequent
    /// first: address, number of sessions, and score in percent of the nearest neighbour's.
    pub(super) fn read_together(&self, uri: &str) -> Vec<(&str, u32, u32)> {
        if !self.phase().is_learned() {
            return Vec::new();
        }
        // A pair is stored under the smaller address.
        let before = self.usage.together.iter().filter_map(|(smaller, others)| {
            others.get(uri).map(|n| (smaller.as_str(), *n)).filter(|(other, _)| *other != uri)
        });
        let after = self.usage.together.get(uri).into_iter().flatten();
        let after = after.map(|(other, n)| (other.as_str(), *n));
        let often = before.chain(after).filter(|(_, n)| *n >= MIN_TOGETHER);
        let scored = |(uri, n): (_, u32)| (uri, n, n.min(MAX_TOGETHER) * 50 / MAX_TOGETHER);
        let mut learned: Vec<_> = often.map(scored).collect();
        learned.sort_by_key(|(uri, n, _)| (Reverse(*n), *uri));
        learned.truncate(MAX_LEARNED);
        learned
    }

    fn read(&mut self, log: &LogFile, from: u64) {
        let Some((bytes, end)) = log.tail(from) else { return };
        // The first line has the earliest time, even if only the end of a log is read.
        if self.usage.first == 0
            && let Some(line) = audit::read(&log.head, None).0.first()
        {
            self.usage.first = seconds(line).unwrap_or(0);
        }
        for line in &audit::read(&bytes, None).0 {
            self.count(line);
        }
        self.is_outdated |= self.usage.log != log.id || self.usage.offset != end;
        (self.usage.log, self.usage.offset) = (log.id.clone(), end);
    }

    fn count(&mut self, line: &AuditLine) {
        // A refusal delivers nothing.
        let delivered = !line.content_hash.is_empty();
        let Some(at) = seconds(line).filter(|_| delivered) else { return };
        let usage = &mut self.usage;
        usage.n_events += 1;
        usage.first = if usage.first == 0 { at } else { usage.first.min(at) };
        usage.last = usage.last.max(at);
        let is_document = line.source.starts_with("blue://docs/") && !line.source.ends_with('/');
        // Deliveries that blue chose itself would only confirm its own ranking.
        if !is_document || line.event.starts_with("reference") {
            return;
        }
        let is_known = usage.documents.contains_key(&line.source);
        if is_known || usage.documents.len() < MAX_DOCUMENTS {
            let reads = usage.documents.entry(line.source.clone()).or_default();
            let day = (at / SECONDS_PER_DAY).max(reads.day);
            *reads = Reads { n: reads.n + 1, heat: heat_on(reads, day) + 1_000, day };
        }
        if !line.session_id.is_empty() {
            self.add_to_session(&line.session_id, &line.source);
        }
    }

    /// Adds a document to a session, and counts it together with each other document of the session.
    fn add_to_session(&mut self, session: &str, uri: &str) {
        let usage = &mut self.usage;
        let position = usage.sessions.iter().position(|(name, _)| name == session);
        let mut read = position.map_or_else(Vec::new, |at| usage.sessions.remove(at).1);
        if read.len() < MAX_READ && !read.iter().any(|other| other == uri) {
            for other in &read {
                let (smaller, larger) = (uri.min(other.as_str()), uri.max(other.as_str()));
                let others = usage.together.entry(smaller.to_string()).or_default();
                let n = others.entry(larger.to_string()).or_default();
                self.n_pairs += usize::from(*n == 0);
                *n += 1;
            }
            read.push(uri.to_string());
        }
        usage.sessions.push((session.to_string(), read));
        let n_excess = usage.sessions.len().saturating_sub(MAX_SESSIONS);
        usage.sessions.drain(..n_excess);
        if self.n_pairs > MAX_PAIRS {
            self.drop_rare_pairs();
        }
    }

    /// Drops the rarer half of the pairs.
    fn drop_rare_pairs(&mut self) {
        let together = &mut self.usage.together;
        let mut counts: Vec<u32> = together.values().flat_map(|o| o.values().copied()).collect();
        counts.sort_unstable();
        let median = counts[counts.len() / 2];
        together.values_mut().for_each(|others| others.retain(|_, n| *n > median));
        together.retain(|_, others| !others.is_empty());
        self.n_pairs = together.values().map(|others| others.len()).sum();
    }
}

fn seconds(line: &AuditLine) -> Option<i64> {
    line.timestamp.parse::<Timestamp>().ok().map(Timestamp::as_second).filter(|at| *at > 0)
}

/// Returns the heat of a document on a day. It halves with every half-life, and is linear in between.
fn heat_on(reads: &Reads, day: i64) -> u64 {
    let days = day.saturating_sub(reads.day).max(0);
    let halvings = (days / HALF_LIFE).min(63);
    let rest = (days % HALF_LIFE) as u64;
    let whole = 2 * HALF_LIFE as u64;
    (reads.heat >> halvings) * (whole - rest) / whole
}

/// An open log file.
struct LogFile {
    file: File,
    size: u64,
    /// The first line.
    head: Vec<u8>,
    /// Digest of the first line, which identifies the log after it was renamed.
    id: String,
}

impl LogFile {
    /// Opens a log. `None` if it does not exist or is empty.
    fn open(root: &Root, path: &str) -> Option<LogFile> {
        let file = root.open_file(path).ok()??;
        let size = file.metadata().ok()?.len();
        let mut head = vec![0; usize::try_from(size).ok()?.min(MAX_LINE)];
        file.read_exact_at(&mut head, 0).ok()?;
        head.truncate(memchr::memchr(b'\n', &head).unwrap_or(head.len()));
        let id = Digest::of(&head).to_string();
        (!head.is_empty()).then_some(LogFile { file, size, head, id })
    }

    /// Returns the complete lines from an offset on, at most the last [`MAX_TAIL`] bytes, and the
    /// offset of their end.
    fn tail(&self, from: u64) -> Option<(Vec<u8>, u64)> {
        let from = from.min(self.size);
        let start = from.max(self.size.saturating_sub(MAX_TAIL));
        let mut bytes = vec![0; usize::try_from(self.size - start).ok()?];
        self.file.read_exact_at(&mut bytes, start).ok()?;
        // The last line may still be written.
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1));
        let end = start + bytes.len() as u64;
        if start > from {
            bytes.drain(..memchr::memchr(b'\n', &bytes).map_or(0, |at| at + 1));
        }
        Some((bytes, end))
    }
}

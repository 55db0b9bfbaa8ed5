//! Finds documents that may need a review: neither changed nor delivered for a long time.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::output;
use crate::discover::git;
use crate::emit;
use crate::model::layout::DATES;
use crate::model::plural::counted;
use crate::model::source;
use crate::root::{Content, Root};
use crate::serve::dates::Dates;
use crate::serve::usage::SECONDS_PER_DAY;
use crate::serve::{AuditLog, Built, Overlay, bundles};
use crate::wire::jsonl::DocumentLine;

/// Maximum number of candidates in the text output.
const MAX_LISTED: usize = 10;

/// Live documents that may need a review. This is a suggestion only, and is in no emitted file.
pub(super) struct Review {
    /// The setting `reference.staleness_days`; 0 turns the review off.
    days: u64,
    /// `None` if git has no dates for the documents.
    candidates: Option<Vec<ReviewCandidate>>,
}

struct ReviewCandidate {
    document: DocumentLine,
    /// Time of the last commit that changed the document.
    changed: Timestamp,
    /// Day of the last delivery on this machine, counted from 1970.
    delivered: Option<i64>,
}

impl Review {
    /// Finds the candidates by git's dates and the audit log.
    pub(super) fn find(root: &Root, built: &Built, log: &AuditLog) -> Review {
        let days = built.manifest.reference.staleness_days;
        if days == 0 {
            return Review { days, candidates: None };
        }
        let dates = dates(root, built);
        let delivered = delivered(built, log, &Overlay::open(root, emit::today()));
        let last_day = emit::today() - i64::try_from(days).unwrap_or(i64::MAX);
        let mut has_dates = false;
        let mut candidates = Vec::new();
        for row in built.catalogue.by_uri().iter().filter(|row| built.catalogue.is_live(**row)) {
            let Some(document) = built.catalogue.line(*row) else { continue };
            let Some(changed) = dates.time(&document.path) else { continue };
            has_dates = true;
            let delivered = delivered.get(&document.uri).copied();
            let is_old = |day: i64| day <= last_day;
            if is_old(changed.as_second().div_euclid(SECONDS_PER_DAY))
                && delivered.is_none_or(is_old)
            {
                candidates.push(ReviewCandidate { document, changed, delivered });
            }
        }
        drop_edited(root, &mut candidates);
        candidates.sort_by_key(|candidate| candidate.changed);
        Review { days, candidates: has_dates.then_some(candidates) }
    }

    /// Formats a line for `blue status`; empty if there are no candidates.
    pub(super) fn line(&self) -> String {
        match self.candidates.as_deref() {
            None | Some([]) => String::new(),
            Some(all) => format!(
                "Review     {} neither changed nor delivered for {}: `blue context show` lists them\n",
                counted(all.len(), "live document"),
                counted(self.days, "day"),
            ),
        }
    }

    /// Formats the candidates for `blue context show`, the longest unchanged first.
    pub(super) fn text(&self) -> String {
        let days = counted(self.days, "day");
        let all = match self.candidates.as_deref() {
            _ if self.days == 0 => return String::new(),
            None => {
                return "  review: unknown; git has no dates for these documents\n".to_string();
            }
            Some(all) => all,
        };
        let mut text = format!(
            "  review: {} neither changed nor delivered for {days}\n",
            counted(all.len(), "live document")
        );
        for ReviewCandidate { document, changed, delivered } in all.iter().take(MAX_LISTED) {
            let delivered = delivered
                .map_or("never delivered".into(), |day| format!("delivered {}", date(day)));
            let line = format!(
                "    {}  changed {}, {delivered}",
                document.uri,
                date(changed.as_second().div_euclid(SECONDS_PER_DAY))
            );
            text += &format!("{}\n", output::visible(&line));
        }
        if all.len() > MAX_LISTED {
            text +=
                &format!("    and {} more; `--format json` has them all\n", all.len() - MAX_LISTED);
        }
        text
    }

    /// Returns the candidates as JSON; `documents` is null if git has no dates.
    pub(super) fn json(&self) -> Value {
        let document = |candidate: &ReviewCandidate| {
            json!({
                "uri": candidate.document.uri, "path": candidate.document.path,
                "title": candidate.document.title, "changed": candidate.changed.to_string(),
                "delivered": candidate.delivered.map(date),
            })
        };
        let documents: Option<Vec<Value>> =
            self.candidates.as_ref().map(|all| all.iter().map(document).collect());
        json!({"days": self.days, "documents": documents})
    }
}

/// Returns the commit times of documents, from the cache or from git.
fn dates(root: &Root, built: &Built) -> Dates {
    let cached = Dates::open(root);
    let Some(head) = git::Head::ask(root.path(), None).wait().commit else { return cached };
    let dates = cached.update(built, &head, |paths| git::dates(root.path(), paths));
    let Some(dates) = dates else { return cached };
    // If the cache cannot be written, the next command asks git again.
    if let Some(bytes) = dates.cache_bytes(root) {
        emit::create_local_folder(root).and_then(|()| emit::write_local(root, DATES, &bytes)).ok();
    }
    dates
}

/// Drops documents with uncommitted edits.
fn drop_edited(root: &Root, candidates: &mut Vec<ReviewCandidate>) {
    let paths: Vec<&str> =
        candidates.iter().map(|candidate| candidate.document.path.as_str()).collect();
    let committed = git::committed(root.path(), &paths);
    let with_lf = |bytes: Vec<u8>| source::with_lf(&bytes).unwrap_or(bytes);
    candidates.retain(|candidate| {
        let path = &candidate.document.path;
        match (committed.get(path), root.read(path, 1 << 26)) {
            (Some(before), Ok(Some(Content::Bytes(now, _)))) => {
                with_lf(before.clone()) == with_lf(now)
            }
            _ => true,
        }
    });
}

/// Returns the day of the last delivery of each document, by address. The usage cache has the lines
/// that were rotated out of the log. The bundle of an RFC counts as the RFC.
fn delivered(built: &Built, log: &AuditLog, overlay: &Overlay) -> BTreeMap<String, i64> {
    let mut last: BTreeMap<String, i64> = overlay.last_reads().collect();
    let of_bundle = |source: &str| {
        let bundle = built.bundles.all().iter().find(|bundle| bundle.source == source);
        bundle.and_then(bundles::document).map(str::to_string)
    };
    for line in log.lines.iter().filter(|line| !line.content_hash.is_empty()) {
        let Ok(time) = line.timestamp.parse::<Timestamp>() else { continue };
        let uri = of_bundle(&line.source).unwrap_or_else(|| line.source.clone());
        let day = last.entry(uri).or_insert(i64::MIN);
        *day = time.as_second().div_euclid(SECONDS_PER_DAY).max(*day);
    }
    last
}

/// Formats a day, counted from 1970, as `2026-01-25`.
fn date(day: i64) -> String {
    let time = Timestamp::from_second(day.saturating_mul(SECONDS_PER_DAY)).unwrap_or_default();
    time.to_string().chars().take(10).collect()
}

//! Documents neither changed nor delivered for long: candidates for a review.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::delivery::Delivery;
use super::{output, usage};
use crate::discover::git;
use crate::emit;
use crate::mcp::dates::Dates;
use crate::model::plural::counted;
use crate::model::source;
use crate::root::{Content, Root};
use crate::serve::{Overlay, Shelf, bundles};
use crate::wire::jsonl::DocumentLine;

const SECONDS_A_DAY: i64 = 86_400;

/// Candidates listed for people.
const MAX_LISTED: usize = 10;

/// The live documents that may need a review. Their content decides whether they are stale; the days
/// only suggest to look, and reach no emitted file.
pub(super) struct Review {
    /// `reference.staleness_days`; 0 turns it off.
    days: u64,
    /// `None` where git has no dates: then nothing is known of any document.
    candidates: Option<Vec<Candidate>>,
}

struct Candidate {
    document: DocumentLine,
    /// The time of the last commit that touched it.
    changed: Timestamp,
    /// The day of its last delivery on this machine, since 1970.
    delivered: Option<i64>,
}

impl Review {
    /// Asks git and the audit log.
    pub(super) fn of(delivery: &Delivery) -> Review {
        let root = &delivery.root;
        let Ok(shelf) = Shelf::open(root) else { return Review { days: 0, candidates: None } };
        let days = shelf.manifest.reference.staleness_days;
        if days == 0 {
            return Review { days, candidates: None };
        }
        let remembered = Dates::remembered(root);
        let dates = remembered.now(root, &shelf).unwrap_or(remembered);
        let delivered = delivered(delivery, &usage::overlay(root), &shelf);
        let first = emit::today() - i64::try_from(days).unwrap_or(i64::MAX);
        let mut any = false;
        let mut candidates = Vec::new();
        for row in shelf.catalogue.by_uri().iter().filter(|row| shelf.catalogue.is_live(**row)) {
            let Some(document) = shelf.catalogue.line(*row) else { continue };
            let Some(changed) = dates.time(&document.path) else { continue };
            any = true;
            let delivered = delivered.get(&document.uri).copied();
            let is_old = |day: i64| day <= first;
            if is_old(changed.as_second().div_euclid(SECONDS_A_DAY)) && delivered.is_none_or(is_old)
            {
                candidates.push(Candidate { document, changed, delivered });
            }
        }
        drop_edited(root, &mut candidates);
        candidates.sort_by_key(|candidate| candidate.changed);
        Review { days, candidates: any.then_some(candidates) }
    }

    /// One line, for `blue status`; empty if there are none.
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

    /// Every candidate, the longest unchanged first, for `blue context show`.
    pub(super) fn text(&self) -> String {
        let days = counted(self.days, "day");
        let all = match self.candidates.as_deref() {
            _ if self.days == 0 => return String::new(),
            None => {
                return "  review: not known; git has no dates of these documents\n".to_string();
            }
            Some(all) => all,
        };
        let mut text = format!(
            "  review: {} neither changed nor delivered for {days}\n",
            counted(all.len(), "live document")
        );
        for Candidate { document, changed, delivered } in all.iter().take(MAX_LISTED) {
            let delivered = delivered
                .map_or("never delivered".into(), |day| format!("delivered {}", date(day)));
            let line = format!(
                "    {}  changed {}, {delivered}",
                document.uri,
                date(changed.as_second().div_euclid(SECONDS_A_DAY))
            );
            text += &format!("{}\n", output::visible(&line));
        }
        if all.len() > MAX_LISTED {
            text +=
                &format!("    and {} more; `--format json` has them all\n", all.len() - MAX_LISTED);
        }
        text
    }

    /// The same for programs; `documents` is null where nothing is known.
    pub(super) fn json(&self) -> Value {
        let document = |candidate: &Candidate| {
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

/// Drops documents with edits that are not committed: they changed just now.
fn drop_edited(root: &Root, candidates: &mut Vec<Candidate>) {
    let paths: Vec<&str> = candidates.iter().map(|one| one.document.path.as_str()).collect();
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

/// The day of the last delivery of each document, by its address. What the log has made room for is
/// known from what was added up before. The bundle of an RFC delivers the RFC.
fn delivered(delivery: &Delivery, overlay: &Overlay, shelf: &Shelf) -> BTreeMap<String, i64> {
    let mut last: BTreeMap<String, i64> = overlay.last_reads().collect();
    let of_bundle = |source: &str| {
        let bundle = shelf.bundles.all().iter().find(|bundle| bundle.source == source);
        bundle.and_then(bundles::document).map(str::to_string)
    };
    for line in delivery.log.lines.iter().filter(|line| !line.content_hash.is_empty()) {
        let Ok(time) = line.timestamp.parse::<Timestamp>() else { continue };
        let uri = of_bundle(&line.source).unwrap_or_else(|| line.source.clone());
        let day = last.entry(uri).or_insert(i64::MIN);
        *day = time.as_second().div_euclid(SECONDS_A_DAY).max(*day);
    }
    last
}

/// A day since 1970 as `2026-01-25`.
fn date(day: i64) -> String {
    let time = Timestamp::from_second(day.saturating_mul(SECONDS_A_DAY)).unwrap_or_default();
    time.to_string().chars().take(10).collect()
}

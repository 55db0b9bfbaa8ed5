//! `blue context refresh`: prints the current work if it changed since its last delivery.

use std::collections::BTreeSet;
use std::path::Path;

use clap::Args;

use super::hook_input::HookInput;
use super::open::{Delivery, record};
use super::{Exit, output};
use crate::emit;
use crate::model::Trigger;
use crate::model::escape::escape;
use crate::model::plural::counted;
use crate::serve::log::bundle_line;
use crate::serve::{AuditLog, Staleness, bundles};
use crate::wire::header::{self, HookForm};
use crate::wire::jsonl::{BundleLine, RefreshPolicy as Policy};
use crate::wire::session::short_id;

/// The flags of `blue context refresh`.
#[derive(Args, Debug)]
pub(super) struct RefreshArgs {
    /// Session of the agent [default: from the JSON on standard input]
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// The occasion on which a refresh is considered.
pub(super) enum Occasion<'a> {
    /// The n-th prompt of a session.
    Prompt(u64),
    /// A call of a tool, by its name.
    Tool(&'a str),
    /// The command.
    Command,
}

/// A bundle that is due for delivery to a session.
pub(super) struct DueBundle {
    bundle: BundleLine,
    bytes: Vec<u8>,
    note: String,
    // Held until the delivery is recorded, so that two prompts at once deliver it once.
    _gate: emit::BriefLock,
}

impl RefreshArgs {
    pub(super) fn run(&self, directory: &Path) -> anyhow::Result<Exit> {
        let session = match &self.session {
            Some(session) => short_id(session),
            None => HookInput::read().session_id,
        };
        let delivery = Delivery::open(directory, Some(&session))?;
        match due(&delivery, &session, &Occasion::Command)? {
            Some(due) => due.deliver(&delivery, &session, "refresh", HookForm::Plain)?,
            None => output::say(&format!("blue: {}", why_not(&delivery, &session))),
        }
        Ok(Exit::Done)
    }
}

/// Returns the reason why no bundle is due.
fn why_not(delivery: &Delivery, session: &str) -> &'static str {
    match delivery.current() {
        None => {
            "there is no current work: no unfinished RFC is named like the worktree or the branch"
        }
        Some(bundle) if delivery.log.staleness(bundle, Some(session)) == Staleness::Fresh => {
            "nothing changed since it was delivered"
        }
        Some(bundle) if bundles::bytes(&delivery.root, bundle).is_none() => {
            "the bundle differs from the last build; run `blue knowledge build`"
        }
        Some(_) => "it was delivered less than half a minute ago",
    }
}

/// Returns the bundle of the current work if it is due: a trigger fires, its policy allows it, the
/// session has another version, and the last delivery is long enough ago.
pub(super) fn due(
    delivery: &Delivery,
    session: &str,
    occasion: &Occasion<'_>,
) -> anyhow::Result<Option<DueBundle>> {
    let Some(bundle) = delivery.current() else { return Ok(None) };
    if !is_triggered(bundle, occasion) {
        return Ok(None);
    }
    let allowed = match bundle.refresh {
        Policy::OnChange => true,
        Policy::OnRequest | Policy::SessionStart => matches!(occasion, Occasion::Command),
    };
    if !allowed || delivery.log.staleness(bundle, Some(session)) == Staleness::Fresh {
        return Ok(None);
    }
    let gate = emit::BriefLock::take(&delivery.root, "refresh")?;
    let log = AuditLog::open(&delivery.root, Some(session));
    let staleness = log.staleness(bundle, Some(session));
    let cooling = log.is_cooling(&bundle.source, session, emit::current_time());
    if staleness == Staleness::Fresh || cooling {
        return Ok(None);
    }
    let Some(bytes) = bundles::bytes(&delivery.root, bundle) else { return Ok(None) };
    let note = match log.last(&bundle.source, Some(session)) {
        None => format!("{} is new to this session.", bundle.source),
        Some(line) => {
            let before = bundles::before(&delivery.root, bundle, &line.content_hash);
            let changed = before.map_or(String::new(), |before| changes(&before, &bytes));
            format!(
                "{} changed since {}; this version replaces it.{changed}",
                bundle.source, line.timestamp
            )
        }
    };
    // Addresses and times come from files of the repository, which are not trusted.
    let note: Vec<String> =
        note.lines().map(|line| output::visible(&escape(line)).replace(['<', '>'], "'")).collect();
    Ok(Some(DueBundle { bundle: bundle.clone(), bytes, note: note.join("\n"), _gate: gate }))
}

/// Maximum number of listed lines.
const MAX_CHANGES: usize = 6;

/// Lists the lines that only one of two texts has, removed lines first.
fn changes(before: &[u8], now: &[u8]) -> String {
    let (before, now) = (String::from_utf8_lossy(before), String::from_utf8_lossy(now));
    let lines = |text: &str| text.lines().skip(1).map(str::to_string).collect::<BTreeSet<_>>();
    let (old, new) = (lines(&before), lines(&now));
    let removed = before.lines().filter(|line| old.contains(*line) && !new.contains(*line));
    let added = now.lines().filter(|line| new.contains(*line) && !old.contains(*line));
    let all: Vec<(&str, &str)> =
        removed.map(|line| ("gone", line)).chain(added.map(|line| ("new", line))).collect();
    // A hook may print 10,000 characters. The lines share the space that the bundle leaves.
    let share = 9_700usize.saturating_sub(now.len()) / all.len().clamp(1, MAX_CHANGES);
    let width = share.saturating_sub(12).clamp(24, 240);
    let listed = all.iter().take(MAX_CHANGES);
    let listed = listed.map(|(label, line)| format!("\n{label}: {}", clipped(line, width)));
    let more = all.len().saturating_sub(MAX_CHANGES);
    let more =
        if more > 0 { format!("\nand {}", counted(more, "more line")) } else { String::new() };
    listed.collect::<String>() + &more
}

/// Cuts a line to at most `width` bytes.
fn clipped(line: &str, width: usize) -> String {
    let mut end = line.len().min(width);
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    let dots = if end < line.len() { "…" } else { "" };
    format!("{}{dots}", &line[..end])
}

/// Returns true if a configured trigger fires on an occasion.
fn is_triggered(bundle: &BundleLine, occasion: &Occasion<'_>) -> bool {
    let mut triggers = bundle.triggers.iter().filter_map(|text| Trigger::parse(text));
    match occasion {
        Occasion::Prompt(turn) => triggers.any(|trigger| trigger.fires_on_prompt(*turn)),
        Occasion::Tool(name) => triggers.any(|trigger| trigger.fires_on_tool_call(name)),
        Occasion::Command => true,
    }
}

impl DueBundle {
    fn text(&self) -> String {
        format!("{}{}\n", String::from_utf8_lossy(&self.bytes), self.note)
    }

    /// Prints the bundle with a note of what changed, in the form that the agent takes, and records
    /// the delivery.
    pub(super) fn deliver(
        &self,
        delivery: &Delivery,
        session: &str,
        event: &str,
        form: HookForm,
    ) -> anyhow::Result<()> {
        output::copy(form.output(event, &self.text()).as_bytes())?;
        record(&delivery.root, bundle_line(&self.bundle), session, event)
    }

    /// Prints the bundle as JSON, which some events require, and records the delivery.
    pub(super) fn deliver_as_json(
        &self,
        delivery: &Delivery,
        session: &str,
        event: &str,
    ) -> anyhow::Result<()> {
        output::copy(header::hook_json(event, &self.text()).as_bytes())?;
        record(&delivery.root, bundle_line(&self.bundle), session, event)
    }
}
